import { type EndpointInput, type EventType, type endpoints, limits, type ReadFrom, Refusal } from '@pixgate/spec'
import { type Database, instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { invalidField } from '../platform/http/request.ts'
import type { Job } from '../platform/jobs/job.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import type { ChangeNeeds } from './change.ts'
import type { Keyring } from './signing.ts'

/** The feed of events: the fan-out gives positions, merchants read on from one. */

const FAN_OUT_MAX = 500

/**
 * Makes a delivery of every notification for every endpoint that was registered before it. Running it twice, or in several processes
 * at once, changes nothing.
 * @source rules#webhooks.9, rules#feed.1, failure-modes#NO-9, failure-modes#NO-11, failure-modes#NO-18
 */
export function createFanOut(needs: ChangeNeeds & { readonly onDeliveries: () => void }): Job {
  const { database, clock, ids, onDeliveries } = needs
  return {
    processNext: async () => {
      const { notifications, deliveries } = await fanOut(database, clock.now(), FAN_OUT_MAX, ids.uuid())
      if (deliveries > 0) onDeliveries()
      return notifications === FAN_OUT_MAX
    },
  }
}

// The feed is locked first: one process at a time gives positions, and what it did is seen by the next one through the locks of the
// notifications. Of two notifications of one operation a statement sees both or the first alone, so the first has the earlier
// position. The order of the ids is that of the positions. An endpoint that is removed meanwhile gets deliveries that are never sent:
// `endUnsent` cancels them.
const fanOutStatement = statement<
  [max: number, now: string, deliveryIds: string],
  { notifications: number; deliveries: number }
>(
  'webhooks.fanOut',
  `WITH held AS (
     SELECT FROM feed WHERE EXISTS (SELECT FROM notification WHERE fanned_out_at IS NULL) FOR UPDATE),
   fresh AS (
     SELECT id, event_type, created_at FROM notification
      WHERE fanned_out_at IS NULL AND EXISTS (SELECT FROM held)
      ORDER BY created_at, id
      LIMIT $1
        FOR UPDATE),
   numbered AS (SELECT *, row_number() OVER (ORDER BY created_at, id) AS nth FROM fresh),
   placed AS (
     UPDATE feed
        SET last_position = last_position + counted.fresh
       FROM (SELECT count(*) AS fresh FROM numbered) AS counted
      WHERE counted.fresh > 0
     RETURNING last_position - counted.fresh AS before),
   marked AS (
     UPDATE notification n
        SET fanned_out_at = $2, position = (SELECT before FROM placed) + numbered.nth
       FROM numbered
      WHERE n.id = numbered.id),
   made AS (
     INSERT INTO delivery (id, notification_id, endpoint_id, created_at, due_at)
     SELECT (left($3::text, 24) || lpad(to_hex(row_number() OVER (ORDER BY n.nth, e.id)), 4, '0')
              || left(gen_random_uuid()::text, 8))::uuid,
            n.id, e.id, $2, least(n.created_at, $2)
       FROM numbered n
       JOIN endpoint e ON e.deleted_at IS NULL AND e.created_at <= n.created_at AND n.event_type = ANY (e.events)
         ON CONFLICT (notification_id, endpoint_id) DO NOTHING
     RETURNING id)
   SELECT (SELECT count(*) FROM numbered)::integer AS notifications, (SELECT count(*) FROM made)::integer AS deliveries`,
)

/**
 * Fans out the next notifications.
 * @param nowMs epoch milliseconds
 * @param deliveryIds a UUID of now, which the ids of the deliveries begin with
 */
export async function fanOut(queries: Queries, nowMs: number, max: number, deliveryIds: string) {
  const [made] = await queries.rows(fanOutStatement, [max, instantParameter(nowMs), deliveryIds])
  return made ?? { notifications: 0, deliveries: 0 }
}

/** An event of the feed. */
export interface FeedRow {
  readonly position: bigint
  /** Of the notification: its `webhook-id`. */
  readonly id: string
  readonly eventType: EventType
  readonly createdAt: number
  /** The bytes that are signed and sent. */
  readonly body: Buffer
}

/** A part of the feed, and where it stands in the whole, all as of one instant. */
export interface FeedPart {
  readonly events: readonly FeedRow[]
  /** The last position; 0 where there is none. */
  readonly last: bigint
  /** The last erased position; 0 where there is none. Everything after it is there. */
  readonly erased: bigint
  readonly erasedId: string | null
  /** The notification at the position after which was to be read. */
  readonly afterId: string | null
  /** The last position that was looked at. */
  readonly reached: bigint
  readonly reachedId: string | null
  /** The key that is current. */
  readonly signingKeyId: string
}

/** Positions that are looked at for a filter: some ten milliseconds. */
export const LOOKED_AT_MAX = 5_000

type PartRow = Omit<FeedPart, 'events'> & (FeedRow | { readonly [Field in keyof FeedRow]: null })

const selectPartStatement = statement<
  [after: string | null, eventType: string | null, limit: number, lookedAtMax: number],
  PartRow
>(
  'feed.selectPart',
  `WITH bounds AS (
     SELECT feed.last_position AS last, coalesce(erased.position, 0) AS erased, erased.id AS erased_id,
            coalesce($1::bigint, erased.position, 0) AS after
       -- It has one row. Not analysed, it is taken for hundreds, for which all notifications would be read.
       FROM (SELECT last_position FROM feed LIMIT 1) AS feed
       LEFT JOIN LATERAL (
         SELECT position, id FROM notification WHERE erased_at IS NOT NULL AND position IS NOT NULL
          ORDER BY position DESC LIMIT 1) AS erased ON true),
   looked AS (SELECT *, greatest(after, least(after + $4, last)) AS reached FROM bounds)
   SELECT looked.last, looked.erased, looked.erased_id AS "erasedId", looked.reached, here.id AS "afterId",
          reached.id AS "reachedId", key.id AS "signingKeyId",
          event.position, event.id, event.event_type AS "eventType", event.created_at AS "createdAt", event.body
     FROM looked
     JOIN signing_key key ON key.private_key IS NOT NULL AND key.signs_from IS NOT NULL
     LEFT JOIN notification here ON here.position = looked.after
     LEFT JOIN notification reached ON reached.position = looked.reached
     LEFT JOIN LATERAL (
       SELECT position, id, event_type, created_at, body
         FROM notification
        WHERE position > looked.after AND position <= looked.reached AND ($2::text IS NULL OR event_type = $2)
        ORDER BY position
        LIMIT $3) AS event ON true
    ORDER BY event.position`,
)

/**
 * Reads the next part of the feed, in order.
 * @param after exclusive; `null`: from the first that is there
 * @param eventType `null`: all
 * @source rules#feed.3
 */
export async function selectPart(
  queries: Queries,
  after: bigint | null,
  eventType: EventType | null,
  limit: number,
): Promise<FeedPart> {
  const from = after === null ? null : String(after)
  const rows = await queries.rows(selectPartStatement, [from, eventType, limit, LOOKED_AT_MAX])
  const [first] = rows
  if (first === undefined) throw new Error('no signing key is current')
  return { ...first, events: rows.filter((row) => row.position !== null) }
}

const selectEndStatement = statement<[], { last: bigint }>('feed.selectEnd', 'SELECT last_position AS last FROM feed')

/** Where a page ended: a position, and the notification there. */
interface FeedCursor {
  /** 0: before the first. */
  readonly position: bigint
  /** End of the notification's id; empty where the position is 0. */
  readonly idEnd: string
}

/** A page of the feed. */
interface FeedPage extends FeedPart {
  readonly next: FeedCursor
}

const CURSOR = /^v1:(0|[1-9]\d{0,15}):([0-9a-f]{12})?$/

/** Writes a cursor for a client. */
function cursorText({ position, idEnd }: FeedCursor): string {
  return Buffer.from(`v1:${position}:${idEnd}`).toString('base64url')
}

/** Reads a cursor; `undefined` where it is not ours. */
function readCursor(text: string): FeedCursor | undefined {
  const [, digits, idEnd = ''] = CURSOR.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? []
  return digits === undefined || (digits === '0') !== (idEnd === '') ? undefined : { position: BigInt(digits), idEnd }
}

/**
 * The page that was asked for. After a restore from a backup a position may have another event than when the cursor was made: going on
 * from it would skip events silently.
 * @param cursor `undefined`: from the first that is there
 * @throws Refusal events_erased (410) an event after it is gone · cursor_unknown (422) it was not made here
 * @source rules#feed.4, rules#feed.5, failure-modes#NO-19
 */
function pageOf(part: FeedPart, cursor: FeedCursor | undefined, limit: number): FeedPage {
  if (cursor !== undefined) {
    const isKnown = cursor.position <= part.last && cursor.idEnd === idEnd(part.afterId)
    if (!isKnown) throw new Refusal('cursor_unknown', { readFrom: readFrom(part) })
    if (cursor.position < part.erased) throw new Refusal('events_erased', { readFrom: readFrom(part) })
  }
  return { ...part, next: nextCursor(part, limit) }
}

/** Whether there are positions after it already. */
function hasMore({ next, last }: FeedPage): boolean {
  return next.position < last
}

/** A full page ends with its last event; any other with the last position that was looked at. */
function nextCursor({ events, reached, reachedId }: FeedPart, limit: number): FeedCursor {
  const last = events.at(-1)
  if (last !== undefined && events.length === limit) return { position: last.position, idEnd: idEnd(last.id) }
  return { position: reached, idEnd: idEnd(reachedId) }
}

function readFrom({ erased, erasedId }: FeedPart): ReadFrom {
  return { cursor: cursorText({ position: erased, idEnd: idEnd(erasedId) }), position: Number(erased) + 1 }
}

/** Random, and so of one notification only. */
function idEnd(id: string | null): string {
  return id === null ? '' : id.slice(-12)
}

/** Dependencies of the feed. */
export interface FeedNeeds {
  readonly database: Database
  readonly keyring: Keyring
  readonly pause: Pick<Pause, 'for'>
}

type Query = EndpointInput<typeof endpoints.listEvents>['query']

/** Makes the module. Its `close` answers all that wait, and lets none wait any more. */
export function createFeedModule(needs: FeedNeeds) {
  const waits = new Waits(needs)
  const read = async (query: Query, cursor: FeedCursor | undefined) => {
    const part = await selectPart(needs.database, cursor?.position ?? null, query.type ?? null, limitOf(query))
    return pageOf(part, cursor, limitOf(query))
  }
  return {
    handlers: {
      listEvents: async ({ query, context: { caller, isGone = () => false } }) => {
        let page = await read(query, cursorOf(query))
        // At the end of the feed only: a page before it is answered at once.
        if (page.events.length === 0 && !hasMore(page) && query.wait) {
          const readOn = (from: FeedPage) => read(query, from.next)
          page = await waits.until(page, query.wait * 1_000, caller.id, isGone, readOn)
        }
        const body = {
          data: await signed(page, needs.keyring),
          pagination: { limit: limitOf(query), hasMore: hasMore(page), nextCursor: cursorText(page.next) },
          feed: { firstPosition: Number(page.erased + 1n), lastPosition: Number(page.last) },
        }
        return { status: 200, body }
      },
    } satisfies Partial<Handlers<typeof endpoints>>,
    close: () => waits.close(),
  }
}

function limitOf({ limit = limits.pageLimitDefault }: Query): number {
  return limit
}

/** @throws Refusal validation_error (400) the cursor is not ours */
function cursorOf({ cursor: text }: Query): FeedCursor | undefined {
  if (text === undefined) return undefined
  const cursor = readCursor(text)
  if (cursor !== undefined) return cursor
  throw invalidField('cursor', 'invalid', 'cursor must be the nextCursor of an earlier page')
}

/** How often a request that waits looks at the end of the feed. */
const LOOK_EVERY_MS = 100

/** Counts the requests that wait: each polls the end of the feed, and none holds a connection between its looks. */
class Waits {
  readonly #needs: FeedNeeds
  readonly #ofKey = new Map<string, number>()
  #all = 0
  #isClosed = false

  constructor(needs: FeedNeeds) {
    this.#needs = needs
  }

  /**
   * Waits for events after an empty page. Where too many wait already, or the process stops, it is over at once.
   * @throws Refusal rate_limited (429) where the API key has its share waiting
   * @source rules#feed.6, failure-modes#NO-20
   */
  async until(
    empty: FeedPage,
    waitMs: number,
    keyId: string,
    isGone: () => boolean,
    readOn: (page: FeedPage) => Promise<FeedPage>,
  ): Promise<FeedPage> {
    const ofKey = this.#ofKey.get(keyId) ?? 0
    if (ofKey >= limits.eventsWaitingOfKeyMax) throw tooManyOfKey()
    if (this.#all >= limits.eventsWaitingMax) return empty
    this.#all += 1
    this.#ofKey.set(keyId, ofKey + 1)
    let page = empty
    try {
      const endsAt = performance.now() + waitMs
      while (!this.#isClosed && !isGone() && performance.now() < endsAt) {
        await this.#needs.pause.for(Math.min(LOOK_EVERY_MS, Math.max(0, endsAt - performance.now())))
        const [end] = await this.#needs.database.rows(selectEndStatement, [])
        if (isGone() || end === undefined || end.last <= page.last) continue
        page = await readOn(page)
        if (page.events.length > 0 || hasMore(page)) break
      }
      return page
    } finally {
      this.#all -= 1
      const left = (this.#ofKey.get(keyId) ?? 1) - 1
      if (left > 0) this.#ofKey.set(keyId, left)
      else this.#ofKey.delete(keyId)
    }
  }

  close(): void {
    this.#isClosed = true
  }
}

function tooManyOfKey(): Refusal {
  const message = `this API key has ${limits.eventsWaitingOfKeyMax} requests waiting for events already`
  return new Refusal('rate_limited', { message, retryAfterSeconds: 1 })
}

/** Signs the bytes of each event with the key that was current when they were read. @source rules#feed.7 */
async function signed({ events, signingKeyId }: FeedPage, keyring: Keyring) {
  if (keyring.signer().keyId !== signingKeyId) await keyring.refresh()
  const signer = keyring.signer()
  return events.map((event) => ({
    position: Number(event.position),
    id: event.id,
    type: event.eventType,
    createdAt: new Date(event.createdAt).toISOString(),
    body: event.body.toString('utf8'),
    signature: signer.sign(event.body),
    signatureKeyId: signer.keyId,
  }))
}
