import { type AccountCode, accounts } from '@pixgate/spec'
import { accountId } from '../account-id.ts'
import type { AccountChange, Draft } from '../draft.ts'
import { boundsOf } from './bounds.ts'
import { jsonOrNull, type Parameters } from './parameters.ts'
import type { Batch } from './part.ts'

/** Rows that a batch locks and compares. */
interface LockedRows {
  /** Of these they are locked in this order; the letter is in the statement's name. */
  readonly letter: 'A' | 'O' | 'C' | 'K'
  readonly isWanted: (draft: Draft) => boolean
  /** What is wanted, locked behind the rows before it. @param before the locked rows before, if there are any */
  readonly sql: (draft: Draft, p: Parameters, before: string | undefined) => string
  readonly name: 'ac' | 'oc' | 'cc' | 'kc'
  /** What holds where nothing is stale. */
  readonly compare: string
}

/** `id` and `version` are hashed as sets: joined, each was held against each other one of the batch, as the planner knows no sizes. */
const operations: LockedRows = {
  letter: 'O',
  name: 'oc',
  // Cases close only of an operation that was compared, or of none.
  isWanted: ({ readVersions, cases }) => readVersions.size > 0 || cases.closedIds.length > 0,
  sql: ({ readVersions }, p, before) => `
  wanted_operation AS (
    SELECT * FROM ${p.rows('w', {
      id: ['uuid', [...readVersions.keys()]],
      version: ['integer', [...readVersions.values()]],
    })}
  ),
  oc AS MATERIALIZED (
    SELECT id, version FROM operation
     WHERE id IN (SELECT id FROM wanted_operation)${behind(before)} ORDER BY id FOR UPDATE
  )`,
  compare: 'NOT EXISTS (SELECT id, version FROM wanted_operation EXCEPT SELECT id, version FROM oc)',
}

const accountRows: LockedRows = {
  letter: 'A',
  name: 'ac',
  isWanted: ({ accountChanges }) => accountChanges.size > 0,
  sql: (draft, p, before) => {
    const changes = [...draft.accountChanges]
    const each = <Value>(value: (code: AccountCode, change: AccountChange) => Value) =>
      changes.map(([code, change]) => value(code, change))
    return `
  wanted_account AS (
    SELECT * FROM ${p.rows('w', {
      id: ['smallint', each(accountId)],
      version: ['bigint', each((code) => draft.accountVersion(code))],
      exact: ['boolean', each((_, { exact }) => exact)],
      floored: ['boolean', each((code) => accounts[code].bound === 'not negative')],
      lowest: ['bigint', each((_, { lowest }) => lowest)],
      delta: ['bigint', each((_, { delta }) => delta)],
      added: ['bigint', each((_, { entries }) => entries.length)],
    })}
  ),
  ac AS MATERIALIZED (
    SELECT id, version, balance_cents FROM account
     WHERE id IN (SELECT id FROM wanted_account)${behind(before)} ORDER BY id FOR UPDATE
  )`
  },
  // All are counted, so that they are locked before anything is written: what is unique is waited for behind them only.
  compare: `(SELECT count(*) FROM ac) = (SELECT count(*) FROM wanted_account)
       AND NOT EXISTS (
             SELECT FROM wanted_account w JOIN ac USING (id)
              WHERE (w.exact AND ac.version <> w.version) OR (w.floored AND ac.balance_cents + w.lowest < 0)
           )`,
}

const controlRows: LockedRows = {
  letter: 'C',
  name: 'cc',
  // What was used is looked at behind them.
  isWanted: (draft) => draft.readControls.size > 0 || boundsOf(draft).length > 0,
  sql: (draft, p, before) => {
    const controls = [...draft.readControls]
    return `
  wanted_control AS (
    SELECT * FROM ${p.rows('w', {
      name: ['text', controls],
      version: ['bigint', controls.map((name) => draft.controlVersion(name))],
      next: ['bigint', controls.map((name) => draft.changedControls.get(name)?.version ?? null)],
      changed: ['jsonb', controls.map((name) => jsonOrNull(draft.changedControls.get(name)?.value))],
    })}
  ),
  cc AS MATERIALIZED (
    SELECT name, version, value FROM control
     WHERE name IN (SELECT name FROM wanted_control)${behind(before)} ORDER BY name FOR UPDATE
  )`
  },
  compare: 'NOT EXISTS (SELECT FROM wanted_control w JOIN cc USING (name) WHERE cc.version <> w.version)',
}

/** Cases without an operation that are decided. Those of operations are compared with these. */
const caseRows: LockedRows = {
  letter: 'K',
  name: 'kc',
  isWanted: ({ readCases }) => readCases.size > 0,
  sql: ({ readCases }, p, before) => `
  wanted_case AS (
    SELECT * FROM ${p.rows('w', {
      id: ['uuid', [...readCases.keys()]],
      version: ['integer', [...readCases.values()]],
    })}
  ),
  kc AS MATERIALIZED (
    SELECT id, version FROM "case"
     WHERE id IN (SELECT id FROM wanted_case) AND closed_at IS NULL${behind(before)} ORDER BY id FOR UPDATE
  )`,
  compare: 'NOT EXISTS (SELECT id, version FROM wanted_case EXCEPT SELECT id, version FROM kc)',
}

/** In the order of their locks, which is the same for everybody. */
const LOCKED: readonly LockedRows[] = [accountRows, operations, controlRows, caseRows]

/** The letters of the rows that a batch locks: `A` accounts, `O` operations, `C` controls, `K` cases. */
export function lockedBy(draft: Draft): string {
  return wantedOf(draft)
    .map(({ letter }) => letter)
    .join('')
}

/**
 * Lock and compare. `ac` locks the accounts in id order, `oc` the operations after them, `cc` the controls, and
 * `kc` cases last, so that no two batches can wait for each other in a circle. `go` holds where every one of these still has
 * the version its decision saw, and every account can bear the batch; deltas commute, so
 * two processes never conflict on an account as such. What was used of allowances is read behind the accounts' locks, which everything
 * that takes of them waits for.
 *
 * Kinds of rows of which a batch has none are left out: a lone move's statement is set up and torn down for most of its time.
 * @source rules#engine.5, rules#engine.8
 */
export function locks(batch: Batch, p: Parameters): string {
  const { draft } = batch
  const wanted = wantedOf(draft)
  const bounds = boundsOf(draft)
  const compared = [
    ...wanted.map(({ compare }) => compare),
    ...bounds.map(({ name }) => `NOT EXISTS (SELECT FROM ${name} WHERE used > headroom)`),
  ]
  const expressions = [
    ...wanted.map((rows, index) => rows.sql(draft, p, wanted[index - 1]?.name)),
    ...bounds.map((bound) => bound.sql(batch, p)),
    `
  go AS (
    SELECT ${compared.join('\n       AND ') || 'true'} AS yes
  )`,
  ]
  return expressions.join(',')
}

function wantedOf(draft: Draft): readonly LockedRows[] {
  return LOCKED.filter(({ isWanted }) => isWanted(draft))
}

function behind(before: string | undefined): string {
  return before === undefined ? '' : ` AND (SELECT count(*) FROM ${before}) >= 0`
}
