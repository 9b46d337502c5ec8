import assert from 'node:assert/strict'
import type { decideCase } from '@pixgate/spec'
import type { Static } from 'typebox'
import { type Database, statement } from '../../src/platform/db/database.ts'

/** What a decision of a case wrote, read from the tables, to be compared with what a dry run told. */

type Effects = NonNullable<Static<(typeof decideCase)['responses'][200]['schema']>['effects']>

/** The effects that rows show. */
type Shown = Omit<Effects, 'amountCents' | 'accounts' | 'journals'> & {
  readonly journals: readonly Omit<Effects['journals'][number], 'meaning'>[]
}

interface Row {
  readonly of: 'entry' | 'move' | 'notification' | 'case'
  readonly key: string
  readonly row: Readonly<Record<string, string>>
}

const ROWS = statement<[], Row>(
  'test.written',
  `SELECT 'entry' AS of, account_id || ' ' || e.version AS key,
          jsonb_build_object('operationId', operation_id, 'journal', journal, 'reference', reference,
                             'posting', posting, 'account', a.code, 'amountCents', amount_cents) AS row
     FROM entry e JOIN account a ON a.id = account_id
    UNION ALL
   SELECT 'move', operation_id || to_char(version, ' 0000000'),
          jsonb_build_object('id', operation_id, 'from', from_status, 'to', to_status) FROM move
    UNION ALL
   SELECT 'notification', id::text,
          jsonb_build_object('operationId', operation_id, 'eventType', event_type, 'status', status) FROM notification
    UNION ALL
   SELECT 'case', id::text, jsonb_build_object('id', id, 'kind', kind, 'reference', reference)
     FROM "case" WHERE closed_at IS NULL
    ORDER BY 1, 2`,
)

/** Carries something out. @returns its answer, and what it wrote */
export async function writing<Answer>(
  database: Database,
  act: () => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly written: Shown }> {
  const before = await database.rows(ROWS, [])
  const answer = await act()
  return { answer, written: shownBy(before, await database.rows(ROWS, [])) }
}

function shownBy(before: readonly Row[], after: readonly Row[]): Shown {
  const added = (of: Row['of'], rows = after, others = before) => {
    const known = new Set(others.filter((row) => row.of === of).map(({ key }) => key))
    return rows.filter((row) => row.of === of && !known.has(row.key)).map(({ row }) => row)
  }
  const journals = Map.groupBy(added('entry'), ({ operationId, journal, reference }) =>
    JSON.stringify({ operationId, journal, reference }),
  )
  return {
    journals: [...journals].map(([name, postings]) => ({
      ...JSON.parse(name),
      postings: postings
        .toSorted((one, other) => Number(one.posting) - Number(other.posting))
        .map(({ account, amountCents }) => ({ account, amountCents })),
    })),
    operations: [...Map.groupBy(added('move'), ({ id }) => id)].map(([id = '', moves]) => ({
      id,
      statusBefore: moves[0]?.from ?? null,
      statusAfter: moves.at(-1)?.to ?? '',
    })),
    notifications: added('notification') as unknown as Shown['notifications'],
    closes: added('case', before, after).map(({ id = '' }) => id),
    opens: added('case').map(({ kind = '', reference = '' }) => ({ kind, reference })),
  }
}

/** What was told is what was written, whatever ids what was made has. */
export function assertWritten(told: Effects | null, written: Shown): void {
  assert.ok(told)
  const { amountCents: _, accounts, journals, ...others } = told
  const sums = new Map<string, number>()
  for (const { account, amountCents } of written.journals.flatMap(({ postings }) => postings)) {
    sums.set(account, (sums.get(account) ?? 0) + Number(amountCents))
  }
  const changed = [...sums].filter(([, cents]) => cents !== 0).toSorted()
  assert.deepEqual(accounts.map(({ account, changeCents }) => [account, changeCents]).toSorted(), changed)
  const plain = journals.map(({ meaning: _, ...journal }) => journal)
  assert.deepEqual(inOrder({ ...others, journals: plain }), inOrder(written), 'what was told is written')
}

/** Ids of what was made are replaced by its place, and lists are in order. */
function inOrder({ operations, ...others }: Shown): Record<string, string[]> {
  const made = operations.flatMap(({ id, statusBefore }) => (statusBefore === null ? [id] : [])).toSorted()
  const known = (value: unknown) =>
    made.reduce((text, id, index) => text.replaceAll(id, `made ${index}`), stable(value))
  const all: Readonly<Record<string, readonly unknown[]>> = { operations, ...others }
  return Object.fromEntries(Object.entries(all).map(([name, list]) => [name, list.map(known).toSorted()]))
}

/** As JSON, whatever order its fields are in. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_key, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}

const TABLES = statement<[], { name: string }>(
  'test.tables',
  `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'template') ORDER BY 1`,
)

/** What stands in every table, as a hash of each: to see that nothing changed. */
export async function everyTable(database: Database): Promise<Record<string, string | undefined>> {
  const hashes: Record<string, string | undefined> = {}
  for (const { name } of await database.rows(TABLES, [])) {
    const hash = statement<[], { hash: string }>(
      `test.hash ${name}`,
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' ORDER BY t::text)), '') AS hash FROM ${name} t`,
    )
    hashes[name] = (await database.rows(hash, []))[0]?.hash
  }
  return hashes
}
