import { limits } from '@pixgate/spec'

/** Where a row stands in a list that has the newest first. */
export interface Place {
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** A UUID. */
  readonly id: string
}

/** What a cursor says: the page that is behind a row. */
interface PageBehind {
  readonly page: number
  readonly after: Place
}

/** Version, number of the page, when the row was made, its id. */
const LAYOUT = { version: 0, page: 1, createdAt: 5, id: 11, end: 27 } as const

const VERSION = 1

/** The place behind the last row of a page, as a client sends it back. @source rules#lists.3 */
export function cursorAfter({ createdAt, id }: Place, page: number): string {
  const bytes = Buffer.alloc(LAYOUT.end)
  bytes.writeUInt8(VERSION, LAYOUT.version)
  bytes.writeUInt32BE(Math.min(page + 1, limits.pageMax), LAYOUT.page)
  bytes.writeUIntBE(createdAt, LAYOUT.createdAt, 6)
  bytes.write(id.replaceAll('-', ''), LAYOUT.id, 'hex')
  return bytes.toString('base64url')
}

/** What a cursor says; `undefined` where it is none of ours. */
export function placeOf(cursor: string): PageBehind | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  if (bytes.length !== LAYOUT.end || bytes.toString('base64url') !== cursor) return undefined
  if (bytes[LAYOUT.version] !== VERSION) return undefined
  const page = bytes.readUInt32BE(LAYOUT.page)
  const createdAt = bytes.readUIntBE(LAYOUT.createdAt, 6)
  if (page < 1 || page > limits.pageMax || createdAt > LATEST) return undefined
  const id = bytes.toString('hex', LAYOUT.id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return { page, after: { createdAt, id } }
}

/** Later years have more than four digits, which the database reads otherwise. */
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')
