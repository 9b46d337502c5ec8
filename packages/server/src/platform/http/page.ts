import { limits, Refusal } from '@pixgate/spec'

/** Lists read by page: what was asked for, and the envelope around what was found. */

const DAY_MS = 24 * 60 * 60 * 1_000

/** The day after it would have a year of five digits, which nobody reads. */
const LAST_DAY = '9999-12-31'

/** The part of a query that every list understands. */
export interface PageQuery {
  readonly page?: number | undefined
  readonly limit?: number | undefined
  readonly start_date?: string | undefined
  readonly end_date?: string | undefined
}

/** A page to read: which rows, of which days. Times are epoch milliseconds. */
export interface Page {
  readonly page: number
  readonly limit: number
  readonly skip: number
  /** Inclusive. */
  readonly from?: number
  /** Exclusive. */
  readonly to?: number
}

/**
 * Reads a query. Days are UTC days, both inclusive.
 * @throws validation_error (400) days in the wrong order
 * @source rules#lists.1, rules#lists.2
 */
export function pageOf({ start_date, end_date, ...query }: PageQuery): Page {
  const page = query.page ?? limits.pageDefault
  const limit = query.limit ?? limits.pageLimitDefault
  return { page, limit, skip: (page - 1) * limit, ...daysOf(start_date, end_date) }
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
 * @source rules#lists.1
 */
export function pageView<Row, Item>(
  { page, limit }: Page,
  rows: readonly Row[],
  counted: number,
  view: (row: Row) => Item,
) {
  const isExact = counted <= limits.exactTotalMax
  return {
    data: rows.slice(0, limit).map(view),
    pagination: {
      page,
      limit,
      total: isExact ? counted : null,
      totalPages: isExact ? Math.ceil(counted / limit) : null,
      hasMore: rows.length > limit,
    },
  }
}
