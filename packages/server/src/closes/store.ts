import { limits } from '@pixgate/spec'
import { insertAudit, readHead } from '../audit/trail.ts'
import type { BankBalance } from '../banks/port.ts'
import { type Database, instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { DayBounds } from '../platform/sao-paulo.ts'
import type { CloseSignature, HashedClose } from './chain.ts'
import type { Carried, CloseContent, Figures } from './content.ts'

/** All SQL of the closes themselves. Wide numbers come as text, so that a snapshot reads them as the pools do. */

/** A close as it is kept. */
export interface Close extends HashedClose {
  readonly hash: Buffer
}

/** What is not the case's own: cases of this kind are opened and closed by closes. */
export const CLOSE_DIFFERS = 'close_differs'

interface CloseRow {
  readonly seq: string
  readonly day: string
  readonly version: number
  readonly supersedes: string | null
  readonly previousHash: Buffer
  readonly auditSeq: string
  readonly auditHash: Buffer
  readonly madeAtMs: string
  readonly content: string
  readonly hash: Buffer
}

/** Wide numbers as text: whoever orders by one has to say that the column is meant (`d.seq`), and not this text. */
const COLUMNS = `seq::text AS seq, day::text AS day, version, supersedes::text AS supersedes,
  previous_hash AS "previousHash", audit_seq::text AS "auditSeq", audit_hash AS "auditHash",
  ((extract(epoch FROM made_at) * 1000)::bigint)::text AS "madeAtMs", content, hash`

const selectLast = statement<[], CloseRow>(
  'closes.last',
  `SELECT ${COLUMNS} FROM daily_close d ORDER BY d.seq DESC LIMIT 1`,
)

const selectDay = statement<[day: string, version: number | null], CloseRow>(
  'closes.of_day',
  `SELECT ${COLUMNS} FROM daily_close
    WHERE day = $1::date AND ($2::integer IS NULL OR version = $2) ORDER BY version DESC LIMIT 1`,
)

const selectAfter = statement<[after: string, limit: number], CloseRow>(
  'closes.after',
  `SELECT ${COLUMNS} FROM daily_close d WHERE d.seq > $1 ORDER BY d.seq LIMIT $2`,
)

const selectBefore = statement<[before: string | null, limit: number], CloseRow>(
  'closes.before',
  `SELECT ${COLUMNS} FROM daily_close d WHERE $1::bigint IS NULL OR d.seq < $1 ORDER BY d.seq DESC LIMIT $2`,
)

/** By the unique index: the days that are closed last. */
const selectDays = statement<[limit: number], { day: string }>(
  'closes.days',
  `SELECT DISTINCT ON (d.day) d.day::text AS day FROM daily_close d ORDER BY d.day DESC LIMIT $1`,
)

const selectKnownDifference = statement<[day: string], { content: string }>(
  'closes.known_difference',
  `SELECT content FROM daily_close
    WHERE day < $1::date AND content::jsonb ->> 'unexplainedCents' IS NOT NULL
    ORDER BY day DESC, version DESC LIMIT 1`,
)

const selectMoved = statement<[from: string, to: string], { count: number; cents: string }>(
  'closes.moved',
  `SELECT count(*)::integer AS count, coalesce(sum(abs(e.amount_cents)), 0)::text AS cents
     FROM entry e JOIN account a ON a.id = e.account_id
    WHERE a.code = 'settlement' AND e.at >= $1 AND e.at < $2`,
)

/** By the primary key: each account's first entry. */
const selectFirstEntry = statement<[], { at: string | null }>(
  'closes.first_entry',
  `SELECT ((extract(epoch FROM min(e.at)) * 1000)::bigint)::text AS at
     FROM account a JOIN entry e ON e.account_id = a.id AND e.version = 1`,
)

const selectReadUntil = statement<[], { until: string | null }>(
  'closes.read_until',
  `SELECT ((extract(epoch FROM matched_until) * 1000)::bigint)::text AS until FROM statement_mark`,
)

const insertCloseStatement = statement<
  [
    seq: string,
    day: string,
    version: number,
    supersedes: string | null,
    previousHash: Buffer,
    auditSeq: string,
    auditHash: Buffer,
    madeAt: string,
    content: string,
    hash: Buffer,
  ],
  { seq: unknown }
>(
  'closes.insert',
  `INSERT INTO daily_close (seq, day, version, supersedes, previous_hash, audit_seq, audit_hash, made_at, content, hash)
   VALUES ($1, $2::date, $3, $4, $5, $6, $7, $8, $9, $10)
   ON CONFLICT DO NOTHING RETURNING seq`,
)

const insertSignatureStatement = statement<[seq: string, keyId: string, mac: Buffer, at: string]>(
  'closes.sign',
  `INSERT INTO daily_close_signature (seq, key_id, mac, signed_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
)

const selectUnsigned = statement<[keyId: string, after: string, limit: number], CloseRow>(
  'closes.unsigned',
  `SELECT ${COLUMNS} FROM daily_close d
    WHERE NOT EXISTS (SELECT FROM daily_close_signature s WHERE s.seq = d.seq AND s.key_id = $1)
      AND d.seq > $2
    ORDER BY d.seq LIMIT $3`,
)

const selectSignatures = statement<[seqs: readonly string[]], { seq: string; keyId: string; mac: Buffer }>(
  'closes.signatures',
  `SELECT seq::text AS seq, key_id AS "keyId", mac FROM daily_close_signature WHERE seq = ANY ($1::bigint[])`,
)

const selectAudited = statement<[], { seq: string | null; hash: string | null }>(
  'closes.audited',
  `SELECT facts ->> 'seq' AS seq, facts ->> 'hash' AS hash FROM audit WHERE action = 'day.closed' ORDER BY id`,
)

/** One is open at most: a new one is about all that is unexplained, and where nothing is any more there is none. */
const closeCases = statement<[day: string, reference: string | null, isOver: boolean, now: string]>(
  'closes.close_cases',
  `UPDATE "case" SET closed_at = $4
    WHERE operation_id IS NULL AND kind = '${CLOSE_DIFFERS}' AND closed_at IS NULL
      AND reference IS DISTINCT FROM $2
      AND (split_part(reference, ' ', 1) = $1 OR $3 AND split_part(reference, ' ', 1) < $1)`,
)

/** The close that was made last, whichever day it is of. */
export async function lastClose(queries: Queries): Promise<Close | undefined> {
  return (await queries.rows(selectLast, [])).map(closeOf)[0]
}

/** A day's close: the last version, or the one that is asked for. */
export async function closeOfDay(queries: Queries, day: string, version: number | null = null) {
  return (await queries.rows(selectDay, [day, version])).map(closeOf)[0]
}

/** The closes after a place of the chain, in its order. */
export async function closesAfter(queries: Queries, seq: bigint, limit: number): Promise<Close[]> {
  return (await queries.rows(selectAfter, [String(seq), limit])).map(closeOf)
}

/** The closes before a place of the chain, newest first; `null`: the newest ones. */
export async function closesBefore(queries: Queries, seq: bigint | null, limit: number): Promise<Close[]> {
  return (await queries.rows(selectBefore, [seq === null ? null : String(seq), limit])).map(closeOf)
}

/** The days that are closed, the last first. */
export async function closedDays(queries: Queries, limit: number): Promise<string[]> {
  return (await queries.rows(selectDays, [limit])).map(({ day }) => day)
}

/** What was unexplained at the end of the last day before this one of which it is known, and what moved from then to its end. */
export async function unexplainedBefore(queries: Queries, { to }: DayBounds, day: string): Promise<Carried> {
  const [row] = await queries.rows(selectKnownDifference, [day])
  const known = row && (JSON.parse(row.content) as CloseContent)
  const [moved] = await queries.rows(selectMoved, [known?.to ?? '-infinity', instantParameter(to)])
  return {
    cents: known?.unexplainedCents ?? 0,
    moved: { count: moved?.count ?? 0, cents: BigInt(moved?.cents ?? 0) },
  }
}

/** When the first money was booked, epoch milliseconds; `undefined` before. */
export async function firstEntryAt(queries: Queries): Promise<number | undefined> {
  const [row] = await queries.rows(selectFirstEntry, [])
  return row?.at == null ? undefined : Number(row.at)
}

/** How far the bank's statement is read and matched, epoch milliseconds; `undefined` before the first time. */
export async function statementReadUntil(queries: Queries): Promise<number | undefined> {
  const [row] = await queries.rows(selectReadUntil, [])
  return row?.until == null ? undefined : Number(row.until)
}

/** Signatures by the place of what they sign. */
export async function signaturesOf(queries: Queries, closes: readonly Close[]): Promise<Map<bigint, CloseSignature[]>> {
  const rows = await queries.rows(selectSignatures, [closes.map(({ seq }) => String(seq))])
  return Map.groupBy(rows, ({ seq }) => BigInt(seq))
}

/** Closes after a place of the chain that a key has not signed, in its order. */
export async function unsignedBy(queries: Queries, keyId: string, after: bigint, limit: number): Promise<Close[]> {
  return (await queries.rows(selectUnsigned, [keyId, String(after), limit])).map(closeOf)
}

/** What the audit trail tells of closes. */
export function auditedCloses(queries: Queries) {
  return queries.rows(selectAudited, [])
}

export { readHead }

/** Adds a signature, unless it is there. */
export async function insertSignature(
  queries: Queries,
  { seq }: Pick<Close, 'seq'>,
  { keyId, mac }: CloseSignature,
  nowMs: number,
): Promise<void> {
  await queries.rows(insertSignatureStatement, [String(seq), keyId, mac, instantParameter(nowMs)])
}

/** A close to be kept. */
export interface NewClose {
  readonly close: Close
  readonly content: CloseContent
  readonly signature: CloseSignature
  /** The id of its row in the audit trail. */
  readonly auditId: string
}

/** Who closes days, in the audit trail. */
const ACTOR = 'daily-close'

/**
 * Keeps a close with its signature and its row in the audit trail, and closes the cases about its day that it does away with.
 * @returns whether it was kept: not where another process was first, with this day or with another one
 */
export function insertClose(database: Database, { close, content, signature, auditId }: NewClose): Promise<boolean> {
  const { seq, day, version, supersedes, previousHash, audit, madeAt, hash } = close
  return database.transaction(async (queries) => {
    const kept = await queries.rows(insertCloseStatement, [
      String(seq),
      day,
      version,
      supersedes === null ? null : String(supersedes),
      previousHash,
      String(audit.seq),
      audit.hash,
      instantParameter(madeAt),
      close.content,
      hash,
    ])
    if (kept.length === 0) return false
    await insertSignature(queries, close, signature, madeAt)
    const isOver = content.unexplainedCents === 0 || content.caseReference !== null
    if (content.unexplainedCents !== null)
      await queries.rows(closeCases, [day, content.caseReference, isOver, instantParameter(madeAt)])
    const facts = { seq: Number(seq), version, status: content.status, hash: hash.toString('hex') }
    const row = { id: auditId, at: madeAt, actor: ACTOR, action: 'day.closed', subject: day, address: '', facts }
    await insertAudit(queries, row)
    return true
  })
}

function closeOf({ seq, supersedes, auditSeq, auditHash, madeAtMs, ...row }: CloseRow): Close {
  return {
    ...row,
    seq: BigInt(seq),
    supersedes: supersedes === null ? null : BigInt(supersedes),
    audit: { seq: BigInt(auditSeq), hash: auditHash },
    madeAt: Number(madeAtMs),
  }
}

/** SQL for the bank's balance, which is read for the close of a day. */

const selectReserved = statement<[], { cents: string }>(
  'closes.reserved',
  `SELECT balance_cents::text AS cents FROM account WHERE code = 'reserved'`,
)

const insertBalance = statement<
  [now: string, asOf: string | null, availableCents: bigint, blockedCents: bigint, reservedCents: bigint]
>(
  'closes.keep_balance',
  `INSERT INTO bank_balance (read_at, as_of, available_cents, set_aside_cents)
   SELECT $1, $2, $3, $4 + greatest($5, balance_cents) FROM account WHERE code = 'reserved'
   ON CONFLICT DO NOTHING`,
)

const SKEW = `interval '${limits.statementClockSkewMs} ms'`

/** End of what a balance includes: `as_of` counts whole. */
const AFTER = `b.as_of + interval '1 ms'`

/**
 * Comparable balances `b` since the end of a day: the statement is read and matched up to each. Without `as_of` a movement near the
 * reading may or may not be included, so there must be none within the clock skew.
 */
const COMPARABLE = `bank_balance b, statement_mark m
    WHERE coalesce(b.as_of, b.read_at) >= $1 AND m.matched_until >= coalesce(${AFTER}, b.read_at + ${SKEW})
      AND (b.as_of IS NOT NULL
           OR NOT EXISTS (SELECT FROM statement_entry s
                           WHERE s.occurred_at >= b.read_at - ${SKEW} AND s.occurred_at < b.read_at + ${SKEW}))`

const selectIsKnown = statement<[dayEnd: string], { known: boolean }>(
  'closes.balance_known',
  `SELECT EXISTS (SELECT FROM ${COMPARABLE}) AS known`,
)

const selectFirst = statement<[dayEnd: string], { at: string | null }>(
  'closes.first_balance',
  `SELECT ((extract(epoch FROM min(read_at)) * 1000)::bigint)::text AS at FROM bank_balance WHERE read_at >= $1`,
)

/** Prefers a balance with nothing set aside, then the first. Subtracts the movements between the end of the day and the balance. */
const selectClosing = statement<[dayEnd: string], { cents: string; setAside: string }>(
  'closes.bank',
  `SELECT (b.available_cents
           - coalesce((SELECT sum(CASE s.direction WHEN 'in' THEN s.value_cents ELSE -s.value_cents END)
                         FROM statement_entry s
                        WHERE s.occurred_at >= $1 AND s.occurred_at < coalesce(${AFTER}, b.read_at)), 0))::text AS cents,
          b.set_aside_cents::text AS "setAside"
     FROM ${COMPARABLE}
    ORDER BY b.set_aside_cents <> 0, b.read_at LIMIT 1`,
)

/** Money reserved for orders under way, centavos. */
export async function reservedNow(queries: Queries): Promise<bigint> {
  return BigInt((await queries.rows(selectReserved, []))[0]?.cents ?? 0)
}

/**
 * Stores a balance with the most that the bank may have deducted from it.
 * @param reservedCents reserved before the reading; what is reserved now counts where it is more
 */
export async function keepBalance(
  queries: Queries,
  { availableCents, asOf, blockedCents = 0n }: BankBalance,
  reservedCents: bigint,
  nowMs: number,
): Promise<void> {
  const instants = [instantParameter(nowMs), asOf === null ? null : instantParameter(asOf)] as const
  await queries.rows(insertBalance, [...instants, availableCents, blockedCents, reservedCents])
}

/** Whether there is a comparable balance since the end of a day. @param dayEnd epoch milliseconds */
export async function isBalanceKnown(queries: Queries, dayEnd: number): Promise<boolean> {
  return (await queries.rows(selectIsKnown, [instantParameter(dayEnd)]))[0]?.known ?? false
}

/** Time of the first balance since the end of a day, epoch milliseconds; `undefined`: none yet. */
export async function firstBalanceAt(queries: Queries, dayEnd: number): Promise<number | undefined> {
  const [row] = await queries.rows(selectFirst, [instantParameter(dayEnd)])
  return row?.at == null ? undefined : Number(row.at)
}

/** The bank's balance at the end of a day; `null`: unknown. @param dayEnd an instant for SQL @source rules#close.11 */
export async function bankAt(queries: Queries, dayEnd: string): Promise<Figures['bank']> {
  const [row] = await queries.rows(selectClosing, [dayEnd])
  return row === undefined ? null : { closingCents: BigInt(row.cents), setAsideCents: BigInt(row.setAside) }
}
