import { limits, Refusal } from '@pixgate/spec'
import { cursorAfter, type Place, placeOf } from './page-cursor.ts'

/** Lists read by page: what was asked for, and the envelope around what was found. */

const DAY_MS = 24 * 60 * 60 * 1_000

/** The day after it would have a year of five digits, which nobody reads. */
const LAST_DAY = '9999-12-31'

/** The part of a query that every list understands. */
export interface PageQuery {
  readonly page?: number | undefined
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
  readonly start_date?: string | undefined
  readonly end_date?: string | undefined
}

/** A page to read: which rows, of which days. Times are epoch milliseconds. */
export interface Page {
  readonly page: number
  readonly limit: number
  /** 0 where the page is the one after a row. */
  readonly skip: number
  /** The last row of the page before. */
  readonly after?: Place
  /** Inclusive. */
  readonly from?: number
  /** Exclusive. */
  readonly to?: number
}

/**
 * Reads a query. Days are UTC days, both inclusive.
 * @throws validation_error (400) days in the wrong order · a cursor that is none, or beside a page
 * @source rules#lists.1, rules#lists.2, rules#lists.3
 */
export function pageOf({ start_date, end_date, cursor, ...query }: PageQuery): Page {
  const limit = query.limit ?? limits.pageLimitDefault
  const days = daysOf(start_date, end_date)
  if (cursor !== undefined) return { ...behind(cursor, query.page), limit, skip: 0, ...days }
  const page = query.page ?? limits.pageDefault
  return { page, limit, skip: (page - 1) * limit, ...days }
}

function behind(cursor: string, page: number | undefined) {
  const place = placeOf(cursor)
  if (!place) throw invalid('cursor', 'cursor must be nextCursor of a page before')
  if (page !== undefined) throw invalid('page', 'page must be left out where cursor is given')
  return place
}

function invalid(field: string, message: string): Refusal {
  return new Refusal('validation_error', { message, fields: [{ field, code: 'invalid', message }] })
}

/**
 * The instants between which the days lie.
 * @throws validation_error (400) days in the wrong order
 * @source rules#lists.2
 */
export function daysOf(start: string | undefined, end: string | undefined): Pick<Page, 'from' | 'to'> {
  if (start !== undefined && end !== undefined && end < start) {
    const message = 'end_date must not be before start_date'
    throw new Refusal('validation_error', { message, fields: [{ field: 'end_date', code: 'out_of_range', message }] })
  }
  return {
    ...(start === undefined ? {} : { from: Date.parse(start) }),
    ...(end === undefined || end === LAST_DAY ? {} : { to: Date.parse(end) + DAY_MS }),
  }
}

/**
 * The envelope of a page.
 * @param rows one more than the limit where there are more
 * @param counted how many there are, counted no further than one past the exact maximum
 * @source rules#lists.1, rules#lists.3
 */
export function pageView<Row extends Place, Item>(
  { page, limit }: Page,
  rows: readonly Row[],
  counted: number,
  view: (row: Row) => Item,
) {
  const isExact = counted <= limits.exactTotalMax
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return {
    data: rows.slice(0, limit).map(view),
    pagination: {
      page,
      limit,
      total: isExact ? counted : null,
      totalPages: isExact ? Math.ceil(counted / limit) : null,
      hasMore: rows.length > limit,
      nextCursor: last ? cursorAfter(last, page) : null,
    },
  }
}
