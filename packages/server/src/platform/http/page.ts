import { limits } from '@pixgate/spec'
import { invalidField } from './request.ts'

/** Paged lists: reading the query, and the envelope of the rows. */

const DAY_MS = 24 * 60 * 60 * 1_000

/** The next day would have a five-digit year, which few parsers accept. */
const LAST_DAY = '9999-12-31'

export interface PageQuery {
  readonly page?: number | undefined
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
  readonly start_date?: string | undefined
  readonly end_date?: string | undefined
}

/** The page to read. Times are epoch milliseconds. */
export interface Page {
  readonly page: number
  readonly limit: number
  /** 0 when the page is read from a cursor. */
  readonly skip: number
  readonly after?: Place
  /** Inclusive. */
  readonly from?: number
  /** Exclusive. */
  readonly to?: number
}

/**
 * Reads a query.
 * @throws validation_error (400) times in the wrong order · an invalid cursor, or one beside a page
 * @source rules#lists.1, rules#lists.2, rules#lists.3
 */
export function pageOf({ start_date, end_date, cursor, ...query }: PageQuery): Page {
  const limit = query.limit ?? limits.pageLimitDefault
  const times = timesOf(start_date, end_date)
  if (cursor !== undefined) return { ...behind(cursor, query.page), limit, skip: 0, ...times }
  const page = query.page ?? limits.pageDefault
  return { page, limit, skip: (page - 1) * limit, ...times }
}

function behind(cursor: string, page: number | undefined) {
  const place = placeOf(cursor)
  if (!place) throw invalidField('cursor', 'invalid', 'cursor must be nextCursor of a page before')
  if (page !== undefined) throw invalidField('page', 'invalid', 'page must be left out where cursor is given')
  return place
}

/**
 * Bounds as instants. A UTC day as the end is in the range, an instant is not.
 * @param names of both parameters
 * @throws validation_error (400) times in the wrong order
 * @source rules#lists.2
 */
export function timesOf(
  start: string | undefined,
  end: string | undefined,
  [nameOfStart, nameOfEnd] = ['start_date', 'end_date'],
): Pick<Page, 'from' | 'to'> {
  const from = start === undefined ? undefined : instantOf(start)
  const to = end === undefined || end === LAST_DAY ? undefined : instantOf(end) + (isDay(end) ? DAY_MS : 0)
  if (from !== undefined && to !== undefined && to <= from) {
    throw invalidField(nameOfEnd, 'out_of_range', `${nameOfEnd} must be after ${nameOfStart}`)
  }
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

function isDay(text: string): boolean {
  return text.length === LAST_DAY.length
}

/**
 * The envelope of a page.
 * @param rows one more than the limit if there are more
 * @param counted number of rows, counted to one past the exact maximum
 * @param placeOf place of a row in the order of the list
 * @source rules#lists.1, rules#lists.3
 */
export function pageView<Row, Item>(
  { page, limit }: Page,
  rows: readonly Row[],
  counted: number,
  view: (row: Row) => Item,
  placeOf: (row: Row) => Place,
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
      nextCursor: last ? cursorAfter(placeOf(last), page) : null,
    },
  }
}

export interface Place {
  /** The time that orders the list, epoch milliseconds. */
  readonly at: number
  readonly id: string
}

interface PageBehind {
  readonly page: number
  readonly after: Place
}

/** Byte offsets of version, page number, time and id. */
const LAYOUT = { version: 0, page: 1, at: 5, id: 11, end: 27 } as const

const VERSION = 1

/** Cursor of the next page, after its predecessor's last row. @source rules#lists.3 */
export function cursorAfter({ at, id }: Place, page: number): string {
  const bytes = Buffer.alloc(LAYOUT.end)
  bytes.writeUInt8(VERSION, LAYOUT.version)
  bytes.writeUInt32BE(Math.min(page + 1, limits.pageMax), LAYOUT.page)
  bytes.writeUIntBE(at, LAYOUT.at, 6)
  bytes.write(id.replaceAll('-', ''), LAYOUT.id, 'hex')
  return bytes.toString('base64url')
}

export function placeOf(cursor: string): PageBehind | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  if (bytes.length !== LAYOUT.end || bytes.toString('base64url') !== cursor) return undefined
  if (bytes[LAYOUT.version] !== VERSION) return undefined
  const page = bytes.readUInt32BE(LAYOUT.page)
  const at = bytes.readUIntBE(LAYOUT.at, 6)
  if (page < 1 || page > limits.pageMax || at > YEARS[1]) return undefined
  const id = bytes.toString('hex', LAYOUT.id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return { page, after: { at, id } }
}

/** First and last instant with a four-digit year. PostgreSQL parses others differently, or not at all. */
const YEARS = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')] as const

/**
 * Parses an instant that filters a list, in epoch milliseconds. Instants beyond four-digit years are clamped, since no
 * row is there.
 * @param text a date-time of RFC 3339
 * @source rules#cases.31, rules#webhooks.18
 */
export function instantOf(text: string): number {
  return Math.min(Math.max(Date.parse(text), YEARS[0]), YEARS[1])
}

export function instantText(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString()
}
