import type { Readable } from 'node:stream'
import { type endpoints, limits, Refusal } from '@pixgate/spec'
import { insertAudit } from '../audit/trail.ts'
import type { BalancePartner } from '../banks/port.ts'
import type { Document } from '../engine/operation.ts'
import { journalMeaning } from '../ledger/index.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256Hex } from '../platform/crypto.ts'
import { type Database, instantParameter, type Queries, statement } from '../platform/db/database.ts'
import { workAsApplication } from '../platform/db/login.ts'
import { withSnapshot } from '../platform/db/snapshot.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { invalidField } from '../platform/http/request.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { boundsOf, type DayBounds, dayAfter, dayOf, isDay } from '../platform/sao-paulo.ts'
import { type Dialect, statementCsv } from './csv.ts'
import { createExporter } from './export.ts'
import { type CloseContent, contentOf, type DayToClose, lacksMore, readFigures, readReadiness } from './figures.ts'
import { statementOfx } from './ofx.ts'

/** The daily closes: the worker that makes them, how they are stored, and their endpoints. */

/** A stored close. */
export interface Close {
  /** A day of America/Sao_Paulo. */
  readonly day: string
  /** Epoch milliseconds. */
  readonly madeAt: number
  readonly content: CloseContent
  /** SHA-256 of the stored content, as the audit trail has it. */
  readonly hash: string
}

const COLUMNS = `day::text AS day, floor(extract(epoch FROM made_at) * 1000)::float8 AS "madeAt", content,
  encode(sha256(convert_to(content, 'UTF8')), 'hex') AS hash`

interface CloseRow extends Omit<Close, 'content'> {
  readonly content: string
}

const selectDay = statement<[day: string], CloseRow>(
  'closes.of_day',
  `SELECT ${COLUMNS} FROM daily_close WHERE day = $1::date`,
)

const selectBefore = statement<[before: string | null, limit: number], CloseRow>(
  'closes.before',
  `SELECT ${COLUMNS} FROM daily_close d WHERE $1::date IS NULL OR d.day < $1::date ORDER BY d.day DESC LIMIT $2`,
)

/** The first day is that of the first entry. A day begins where the close before it ended. */
const selectNext = statement<[], { day: string | null; from: number | null }>(
  'closes.next_day',
  `SELECT coalesce(d.day + 1, (SELECT (min(e.at) AT TIME ZONE 'America/Sao_Paulo')::date
                                 FROM account a JOIN entry e ON e.account_id = a.id AND e.version = 1))::text AS day,
          floor(extract(epoch FROM (d.content::jsonb ->> 'to')::timestamptz) * 1000)::float8 AS "from"
     FROM (SELECT) AS one LEFT JOIN (SELECT day, content FROM daily_close ORDER BY day DESC LIMIT 1) d ON true`,
)

const insertCloseStatement = statement<[day: string, madeAt: string, content: string], { day: string }>(
  'closes.insert',
  `INSERT INTO daily_close (day, made_at, content) VALUES ($1::date, $2, $3) ON CONFLICT DO NOTHING RETURNING day::text`,
)

const selectIsAudited = statement<[day: string, madeAt: string, hash: string], { isAudited: boolean }>(
  'closes.is_audited',
  `SELECT coalesce(bool_and(facts ->> 'hash' = $3 AND at = $2), false) AS "isAudited"
     FROM audit WHERE action = 'day.closed' AND subject = $1`,
)

/** Kind of the case about an unexplained difference. Its reference is the day. */
const CLOSE_DIFFERS = 'close_differs'

/** Closes the cases of earlier days where the difference has ended or has a new case, and that of the day where it has none. */
const closeCases = statement<[day: string, hasCase: boolean, isOver: boolean, now: string]>(
  'closes.close_cases',
  `UPDATE "case" SET closed_at = $4
    WHERE operation_id IS NULL AND kind = '${CLOSE_DIFFERS}' AND closed_at IS NULL
      AND (reference = $1 AND NOT $2 OR reference < $1 AND $3)`,
)

/** The close of a day. */
export async function closeOfDay(queries: Queries, day: string): Promise<Close | undefined> {
  return (await queries.rows(selectDay, [day])).map(closeOf)[0]
}

function closeOf({ content, ...row }: CloseRow): Close {
  return { ...row, content: JSON.parse(content) as CloseContent }
}

/** Whether the audit trail has this close, and no other one of its day. @source rules#close.5 */
export async function isAudited(queries: Queries, { day, madeAt, hash }: Close): Promise<boolean> {
  return (await queries.rows(selectIsAudited, [day, instantParameter(madeAt), hash]))[0]?.isAudited ?? false
}

/**
 * Stores a close with its row in the audit trail, and closes the cases that it ends. One transaction.
 * @returns false: the day is closed, and stays as it is
 * @source rules#close.5, rules#close.7
 */
function insertClose(
  database: Database,
  content: CloseContent,
  { madeAt, auditId }: { readonly madeAt: number; readonly auditId: string },
): Promise<boolean> {
  const { id: day, status, unexplainedCents, caseReference } = content
  const [now, text] = [instantParameter(madeAt), JSON.stringify(content)]
  return database.transaction(async (queries) => {
    if ((await queries.rows(insertCloseStatement, [day, now, text])).length === 0) return false
    const hasCase = caseReference !== null
    if (unexplainedCents !== null) {
      await queries.rows(closeCases, [day, hasCase, hasCase || unexplainedCents === 0, now])
    }
    const facts = { status, hash: sha256Hex(text) }
    const row = { id: auditId, at: madeAt, actor: 'daily-close', subject: day, address: '', facts }
    await insertAudit(queries, { ...row, action: 'day.closed' })
    return true
  })
}

/** An unexplained difference of a close. */
export interface CloseDifference {
  readonly kind: typeof CLOSE_DIFFERS
  readonly reference: string
  readonly facts: Document & { readonly rule: string }
  /** The bank has less than is explained: payouts and refunds are suspended. */
  readonly isDanger: boolean
}

/** Dependencies of the worker that closes days. */
export interface CloserOptions {
  readonly databaseUrl: string
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  /** A day waits for the bank's statement and balance, where it has them. */
  readonly partner: BalancePartner
  /** Opens a case about a difference, and suspends payouts and refunds where it is a danger. */
  readonly report: (differences: readonly CloseDifference[]) => Promise<void>
  /** Others pay from the account too: money that is missing may be theirs. */
  readonly isBankAccountShared: boolean
  /** Resolves once all that was accepted so far is booked. */
  readonly drained: () => Promise<void>
}

/** Balances are read no more often. */
const BALANCE_EVERY_MS = 60_000

/** Longest wait for a comparable balance: after the end of the day or, for a missed day, after the first balance since. */
const BALANCE_WAIT_MS = 3_600_000

/** Makes the worker. */
export function createCloser(options: CloserOptions) {
  const stopping = new AbortController()
  const { signal } = stopping
  const readBalance = createBalanceReader(options)
  return {
    /**
     * Closes the first day that is over, not closed, and completely known.
     * @returns whether more may be due right away
     * @source rules#close.1, rules#close.4
     */
    processNext: async (): Promise<boolean> => {
      try {
        return await closeNext(options, readBalance, signal)
      } catch (error) {
        if (signal.aborted) return false
        throw error
      }
    },
    closeToday: () => closeToday(options, signal),
    /** Aborts a close under way: it is made again. */
    stop: () => stopping.abort(),
  }
}

const insertBalance = statement<
  [now: string, asOf: string | null, availableCents: bigint, blockedCents: bigint, reservedCents: bigint]
>(
  'closes.keep_balance',
  `INSERT INTO bank_balance (read_at, as_of, available_cents, set_aside_cents)
   SELECT $1, $2, $3, $4 + greatest($5, balance_cents) FROM account WHERE code = 'reserved'
   ON CONFLICT DO NOTHING`,
)

const selectReserved = statement<[], { cents: bigint }>(
  'closes.reserved',
  `SELECT balance_cents AS cents FROM account WHERE code = 'reserved'`,
)

/** Whether the bank's balance can be compared: without a statement it cannot. */
function hasBalance({ capabilities }: BalancePartner): boolean {
  return capabilities.has('statement') && capabilities.has('balance')
}

/** Reads and stores the bank's balance, at most once a minute. The larger reservation, before or after the reading, counts. */
function createBalanceReader({ database, clock, partner }: CloserOptions): () => Promise<void> {
  let readAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (!hasBalance(partner) || clock.now() - readAt < BALANCE_EVERY_MS) return
    readAt = clock.now()
    const reservedCents = (await database.rows(selectReserved, []))[0]?.cents ?? 0n
    const answer = await partner.readBalance()
    if (answer.kind !== 'READ') return
    const { availableCents, asOf, blockedCents = 0n } = answer.balance
    const instants = [instantParameter(clock.now()), asOf === null ? null : instantParameter(asOf)] as const
    await database.rows(insertBalance, [...instants, availableCents, blockedCents, reservedCents])
  }
}

/** The day after the last closed one, or that of the first entry; `undefined`: nothing was ever booked. */
async function nextDay({ database }: CloserOptions): Promise<DayToClose | undefined> {
  const [{ day, from } = { day: null, from: null }] = await database.rows(selectNext, [])
  return day === null ? undefined : { day, ...boundsOf(day), ...(from !== null && { from }) }
}

/** @source rules#close.1, rules#close.4 */
async function closeNext(
  options: CloserOptions,
  readBalance: () => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const { database, clock, partner } = options
  const next = await nextDay(options)
  if (next === undefined || clock.now() < next.to) return false
  await readBalance()
  const { to } = next
  const knownFrom = to + limits.statementClockSkewMs
  if (clock.now() < knownFrom) return false
  const { readUntil, isBalanceKnown, firstBalanceAt } = await readReadiness(database, to)
  if (partner.capabilities.has('statement') && (readUntil === null || readUntil < knownFrom)) return false
  const mayWait = hasBalance(partner) && clock.now() < (firstBalanceAt ?? to) + BALANCE_WAIT_MS
  return isBalanceKnown || !mayWait ? makeClose(options, next, mayWait, signal) : false
}

/**
 * Ends today now and closes it, without the bank's balance; the next day begins now. For the sandbox.
 * @throws not_possible_in_state (409) nothing was booked yet, an earlier day is not closed yet, or today is
 * @source rules#close.13
 */
async function closeToday(options: CloserOptions, signal: AbortSignal): Promise<Close> {
  const { clock, database, drained } = options
  const to = clock.now()
  const today = dayOf(to)
  // An entry is of the time at which its batch began.
  await drained()
  const next = await nextDay(options)
  const isMade = next?.day === today && (await makeClose(options, { ...next, to }, false, signal))
  const close = isMade ? await closeOfDay(database, today) : undefined
  if (!close) {
    throw new Refusal('not_possible_in_state', {
      message: 'today is closed, an earlier day is not, or nothing was booked yet',
    })
  }
  return close
}

/** @param mayWait whether a day of which no balance proves anything still waits for one @returns whether the close was made */
async function makeClose(
  options: CloserOptions,
  next: DayToClose,
  mayWait: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const { databaseUrl: url, database, report, ids, logger, partner, isBankAccountShared } = options
  const madeAt = options.clock.now()
  const figures = await withSnapshot({ url, name: 'pixgate close', signal }, async (queries) => {
    await workAsApplication(queries)
    return readFigures(queries, next)
  })
  const content = contentOf(next, figures)
  const { status, bank, unexplainedCents, caseReference } = content
  if (bank === null && mayWait) return false
  // Before the close is stored: after a crash in between, the next attempt opens the case again, under the same reference.
  if (caseReference !== null) {
    const isDanger = !isBankAccountShared && lacksMore(unexplainedCents, figures.carried, partner.unlistedFees)
    await report([{ kind: CLOSE_DIFFERS, reference: caseReference, facts: factsOf(content), isDanger }])
  }
  if (!(await insertClose(database, content, { madeAt, auditId: ids.uuid() }))) return false
  logger[status === 'DIFFERS' ? 'warn' : 'info']({ day: next.day, status, unexplainedCents }, 'the day was closed')
  return true
}

function factsOf({ id: day, unexplainedCents, bank, booksCents, differenceCents }: CloseContent) {
  return {
    rule: 'close.3',
    reason: 'at the end of the day the bank had another balance than our books, and no open case explains it',
    day,
    valueCents: unexplainedCents,
    differenceCents,
    bankCents: bank?.closingCents ?? null,
    booksCents,
  }
}

/** The endpoints of the closes and of what is exported. */
type CloseHandlers = Handlers<
  Pick<typeof endpoints, 'listCloses' | 'getClose' | 'exportCloseCsv' | 'exportCloseOfx' | 'exportStatement'>
>

export interface ClosesOptions extends CloserOptions {
  /** `PIXGATE_OFX_ACCOUNT`. */
  readonly ofxAccount: string | undefined
}

/** Makes the daily close, and the exports for a finance department. @source rules#close.8, rules#export.1 */
export function createClosesModule({ ofxAccount, ...options }: ClosesOptions) {
  const { database, clock } = options
  const closer = createCloser(options)
  const exporter = createExporter(options.databaseUrl)
  const find = async (day: string): Promise<Close> => {
    const close = isDay(day) ? await closeOfDay(database, day) : undefined
    if (!close) throw new Refusal('not_found')
    return close
  }
  const csv = async (name: string, period: DayBounds, dialect: Dialect = 'rfc4180') =>
    fileOf(
      `${name}${dialect === 'excel' ? '-excel' : ''}.csv`,
      await exporter.stream((queries) => statementCsv(queries, period, dialect)),
    )
  const handlers: CloseHandlers = {
    listCloses: async ({ query: { limit = limits.pageLimitDefault, cursor } }) => {
      const before = cursor === undefined ? null : dayIn(cursor)
      const rows = (await database.rows(selectBefore, [before, limit + 1])).map(closeOf)
      const page = rows.slice(0, limit)
      const hasMore = rows.length > limit
      const last = page.at(-1)
      const nextCursor = hasMore && last ? Buffer.from(`v1:${last.day}`).toString('base64url') : null
      return { status: 200, body: { data: page.map(summaryView), pagination: { limit, hasMore, nextCursor } } }
    },
    getClose: async ({ params }) => ({ status: 200, body: closeView(await find(params.id)) }),
    exportCloseCsv: async ({ params, query }) => {
      const { day, content } = await find(params.id)
      return csv(day, boundsOfClose(content), query.dialect)
    },
    exportCloseOfx: async ({ params }) => {
      const close = await find(params.id)
      return fileOf(`${close.day}.ofx`, await exporter.stream((queries) => statementOfx(queries, close, ofxAccount)))
    },
    exportStatement: async ({ query }) => {
      const { to = query.from ?? dayOf(clock.now()) } = query
      const { from = `${to.slice(0, 8)}01` } = query
      return csv(`${from}-${to}`, periodOf(from, to), query.dialect)
    },
  }
  return {
    processNext: closer.processNext,
    closeToday: async () => summaryView(await closer.closeToday()),
    stop: () => {
      closer.stop()
      exporter.stop()
    },
    handlers,
  }
}

/** An answer that browsers save under this name. */
function fileOf(name: string, body: Readable) {
  return { status: 200, headers: { 'Content-Disposition': `attachment; filename="pixgate-${name}"` }, body } as const
}

/** The bounds of a close: those of its day, unless the sandbox ended that day or the one before early. */
export function boundsOfClose({ from, to }: Pick<CloseContent, 'from' | 'to'>): DayBounds {
  return { from: Date.parse(from), to: Date.parse(to) }
}

/** A close as it is read, and as the program prints it. @source rules#close.8 */
export function closeView({ madeAt, content, hash }: Close) {
  const named = content.journals.map((one) => ({ ...one, meaning: journalMeaning(one.journal) }))
  return { ...content, journals: named, madeAt: new Date(madeAt).toISOString(), hash }
}

function summaryView(close: Close) {
  const { id, status, differenceCents, unexplainedCents, bank, booksCents, madeAt, hash } = closeView(close)
  return { id, status, differenceCents, unexplainedCents, bank, booksCents, madeAt, hash }
}

/** @throws validation_error (400) not a cursor of this list */
function dayIn(cursor: string): string {
  const [, day = ''] = /^v1:(.*)$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (!isDay(day)) throw invalidField('cursor', 'invalid', 'cursor must be nextCursor of a page before')
  return day
}

const PERIOD_MAX_DAYS = 366

/** @throws validation_error (400) not days, in the wrong order, or too many @source rules#export.3 */
function periodOf(from: string, to: string): DayBounds {
  for (const [field, text] of Object.entries({ from, to })) {
    if (!isDay(text)) throw invalidField(field, 'invalid', `${field} must be a day as 2026-11-22`)
  }
  if (to < from) throw invalidField('to', 'invalid', 'to must not be before from')
  if (to > dayAfter(from, PERIOD_MAX_DAYS - 1)) {
    throw invalidField('to', 'invalid', `at most ${PERIOD_MAX_DAYS} days at once`)
  }
  return { from: boundsOf(from).from, to: boundsOf(to).to }
}
