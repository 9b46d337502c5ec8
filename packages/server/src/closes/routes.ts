import { type endpoints, limits, Refusal } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queries } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { boundsOf, type DayBounds, dayAfter, dayOf, isDay } from '../platform/sao-paulo.ts'
import type { EncryptionKeys } from '../platform/sealing.ts'
import { closeKeys, verifyCloses } from './chain.ts'
import { closeView, contentOfClose, cursorAfter, placeIn, summaryView } from './content.ts'
import { closeCsv, type Exporter, ledgerCsv, statementOfx } from './export.ts'
import { type Close, closeOfDay, closesBefore } from './store.ts'

/** The endpoints of the closes and of what is exported. */
export type CloseHandlers = Handlers<
  Pick<
    typeof endpoints,
    'listCloses' | 'getClose' | 'verifyClose' | 'exportCloseCsv' | 'exportCloseOfx' | 'exportLedger'
  >
>

/** What the handlers work with. */
export interface CloseHandlersOptions {
  readonly database: Database
  readonly exporter: Exporter
  readonly clock: Clock
  readonly encryptionKeys: EncryptionKeys
  /** Reads the database as it is at one moment. */
  readonly snapshot: <Result>(work: (queries: Queries) => Promise<Result>) => Promise<Result>
}

/** Makes the handlers. @source rules#close.8, rules#export.1 */
export function createCloseHandlers(options: CloseHandlersOptions): CloseHandlers {
  const { database, exporter, clock, encryptionKeys, snapshot } = options
  const find = async (id: string, version?: number): Promise<Close> => {
    const close = isDay(id) ? await closeOfDay(database, id, version ?? null) : undefined
    if (!close) throw new Refusal('not_found')
    return close
  }
  return {
    listCloses: async ({ query }) => {
      const limit = query.limit ?? limits.pageLimitDefault
      const before = query.cursor === undefined ? null : placeIn(query.cursor)
      if (before === undefined) throw invalid('cursor', 'cursor must be nextCursor of a page before')
      const rows = await closesBefore(database, before, limit + 1)
      const page = rows.slice(0, limit)
      const hasMore = rows.length > limit
      const last = page.at(-1)
      const nextCursor = hasMore && last ? cursorAfter(last) : null
      return { status: 200, body: { data: page.map(summaryView), pagination: { limit, hasMore, nextCursor } } }
    },
    getClose: async ({ params, query }) => ({ status: 200, body: closeView(await find(params.id, query.version)) }),
    verifyClose: async ({ params }) => {
      const { day, seq } = await find(params.id)
      const { closes, head, faults } = await snapshot((queries) => verifyCloses(queries, closeKeys(encryptionKeys)))
      const told = faults.slice(0, FAULTS_MAX).map((fault) => ({ ...fault, seq: Number(fault.seq) }))
      // What stands before it carries it.
      const isGenuine = faults.every((fault) => fault.seq > seq)
      return { status: 200, body: { id: day, isGenuine, closes, head: head.toString('hex'), faults: told } }
    },
    exportCloseCsv: async ({ params, query }) => {
      const close = await find(params.id, query.version)
      return { status: 200, body: closeCsv(close, contentOfClose(close)) }
    },
    exportCloseOfx: async ({ params }) => {
      const { day } = await find(params.id)
      return {
        status: 200,
        body: await exporter.stream((queries) => statementOfx(queries, boundsOf(day), clock.now())),
      }
    },
    exportLedger: async ({ query }) => {
      const { to = query.from ?? dayOf(clock.now()) } = query
      const { from = `${to.slice(0, 8)}01` } = query
      const period = periodOf(from, to)
      return { status: 200, body: await exporter.stream((queries) => ledgerCsv(queries, period)) }
    },
  }
}

const FAULTS_MAX = 100

const PERIOD_MAX_DAYS = 366

/** @throws validation_error (400) days that are none, in the wrong order, or too many @source rules#export.3 */
function periodOf(from: string, to: string): DayBounds {
  for (const [field, text] of Object.entries({ from, to })) {
    if (!isDay(text)) throw invalid(field, `${field} must be a day as 2026-11-22`)
  }
  if (to < from) throw invalid('to', 'to must not be before from')
  if (to > dayAfter(from, PERIOD_MAX_DAYS - 1)) throw invalid('to', `at most ${PERIOD_MAX_DAYS} days at once`)
  return { from: boundsOf(from).from, to: boundsOf(to).to }
}

function invalid(field: string, message: string): Refusal {
  return new Refusal('validation_error', { message, fields: [{ field, code: 'invalid', message }] })
}
