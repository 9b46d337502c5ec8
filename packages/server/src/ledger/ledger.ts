import {
  type EndpointInput,
  type EntryOperation,
  type endpoints,
  type getLedgerEntry,
  type JournalKind,
  type JournalTemplate,
  journals,
  limits,
  Refusal,
} from '@pixgate/spec'
import type { Static } from 'typebox'
import { sha256 } from '../platform/crypto.ts'
import { instantOrNull, type Queries, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { timesOf } from '../platform/http/page.ts'
import { invalidField } from '../platform/http/request.ts'
import { isUuid, uuidText } from '../platform/ids.ts'

/**
 * Derives an entry's public id: a UUIDv8 with the version in its last 62 bits, and a hash of account and version in the
 * others, so ids cannot be guessed.
 * @source rules#ledger.get
 */
export function entryId(accountId: string, version: bigint): string {
  const bytes = sha256(`${accountId} ${version}`).subarray(0, 16)
  bytes.writeBigUInt64BE(version, 8)
  return uuidText(bytes, 8)
}

/** The version of an entry's id; `undefined` if the id is not this account's. */
export function entryVersion(accountId: string, id: string): bigint | undefined {
  if (!isUuid(id)) return undefined
  const version = BigInt(`0x${id.slice(19).replace('-', '')}`) & VERSION_BITS
  return entryId(accountId, version) === id.toLowerCase() ? version : undefined
}

const VERSION_BITS = (1n << 62n) - 1n

/** Event that a journal records; `null`: the specification no longer has it. */
export function journalMeaning(journal: string): string | null {
  const template: JournalTemplate | undefined = journals[journal as JournalKind]
  return template?.meaning ?? null
}

/** `null`: any. */
export interface LedgerFilter {
  readonly before: bigint | null
  readonly type: 'CREDIT' | 'DEBIT' | null
  readonly operation: EntryOperation | null
  readonly referenceId: string | null
  /** Epoch milliseconds, inclusive. */
  readonly from: number | null
  /** Epoch milliseconds, exclusive. */
  readonly to: number | null
  readonly limit: number
}

export interface LedgerRow {
  readonly version: bigint
  readonly amount_cents: bigint
  readonly balance_after_cents: bigint
  readonly operation: EntryOperation
  readonly reference_id: string
  readonly at: number
  readonly currency: 'BRL'
  readonly external_id: string | null
  readonly transaction_id: string | null
  readonly end_to_end_id: string | null
  readonly description: string | null
}

const selectAccount = statement<[], { public_id: string }>(
  'ledger.account',
  `SELECT public_id FROM account WHERE code = 'available'`,
)

const selectEntry = statement<[version: string], LedgerRow>(
  'ledger.get',
  'SELECT * FROM ledger_entry WHERE version = $1',
)

const selectEntries = statement<
  [
    before: string | null,
    type: string | null,
    operation: string | null,
    referenceId: string | null,
    from: string | null,
    to: string | null,
    limit: number,
  ],
  LedgerRow
>(
  'ledger.list',
  `SELECT * FROM ledger_entry
    WHERE ($1::bigint IS NULL OR version < $1)
      AND ($2::text IS NULL OR (amount_cents > 0) = ($2 = 'CREDIT'))
      AND ($3::text IS NULL OR operation = $3)
      AND ($4::uuid IS NULL OR reference_id = $4)
      AND ($5::timestamptz IS NULL OR at >= $5)
      AND ($6::timestamptz IS NULL OR at < $6)
    ORDER BY version DESC LIMIT $7`,
)

/** Entries before the given version, newest first. */
export function listEntries(queries: Queries, filter: LedgerFilter): Promise<LedgerRow[]> {
  const { before, type, operation, referenceId, from, to, limit } = filter
  const instants = [instantOrNull(from), instantOrNull(to)] as const
  return queries.rows(selectEntries, [
    before === null ? null : String(before),
    type,
    operation,
    referenceId,
    ...instants,
    limit,
  ])
}

type LedgerEntry = Static<(typeof getLedgerEntry)['responses'][200]['schema']>

/** @source rules#ledger.entries */
function entryView(row: LedgerRow, accountId: string): LedgerEntry {
  const isCredit = row.amount_cents > 0n
  return {
    id: entryId(accountId, row.version),
    type: isCredit ? 'CREDIT' : 'DEBIT',
    operation: row.operation,
    amountCents: Number(isCredit ? row.amount_cents : -row.amount_cents),
    balanceAfterCents: Number(row.balance_after_cents),
    currency: row.currency,
    referenceId: row.reference_id,
    externalId: row.external_id,
    transactionId: row.transaction_id,
    endToEndId: row.end_to_end_id,
    description: row.description,
    createdAt: new Date(row.at).toISOString(),
  }
}

/** @source rules#ledger.list */
export function cursorAfter(version: bigint): string {
  return Buffer.from(`${CURSOR_PREFIX}${version}`).toString('base64url')
}

/** `undefined` for a foreign cursor. */
export function cursorVersion(cursor: string): bigint | undefined {
  const digits = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1]
  return digits === undefined ? undefined : BigInt(digits)
}

const CURSOR_PREFIX = 'v1:'
const CURSOR = /^v1:(\d{1,18})$/

export async function createLedgerHandlers(queries: Queries) {
  const [account] = await queries.rows(selectAccount, [])
  if (!account) throw new Error('the available account is missing')
  const accountId = account.public_id
  return {
    getLedgerEntry: async ({ params }) => {
      const version = entryVersion(accountId, params.id)
      const [row] = version === undefined ? [] : await queries.rows(selectEntry, [String(version)])
      if (!row) throw new Refusal('not_found')
      return { status: 200, body: entryView(row, accountId) }
    },
    listLedgerEntries: async ({ query }) => {
      const limit = query.limit ?? limits.pageLimitDefault
      // One extra row shows whether there are more.
      const rows = await listEntries(queries, { ...filterOf(query), limit: limit + 1 })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      const hasMore = rows.length > limit
      const body = {
        data: page.map((row) => entryView(row, accountId)),
        pagination: { limit, hasMore, nextCursor: hasMore && last ? cursorAfter(last.version) : null },
      }
      return { status: 200, body }
    },
  } satisfies Handlers<Pick<typeof endpoints, 'getLedgerEntry' | 'listLedgerEntries'>>
}

/**
 * @throws validation_error (400) foreign cursor, or days in the wrong order
 * @source rules#ledger.list
 */
function filterOf(query: EndpointInput<typeof endpoints.listLedgerEntries>['query']): Omit<LedgerFilter, 'limit'> {
  const before = query.cursor === undefined ? null : cursorVersion(query.cursor)
  if (before === undefined) throw invalidField('cursor', 'invalid', 'cursor must be nextCursor of the previous page')
  const { from = null, to = null } = timesOf(query.start_date, query.end_date)
  return {
    before,
    type: query.type ?? null,
    operation: query.operation ?? null,
    referenceId: query.reference_id ?? null,
    from,
    to,
  }
}
