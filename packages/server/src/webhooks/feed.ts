import { type EndpointInput, type EventType, type endpoints, limits, type ReadFrom, Refusal } from '@pixgate/spec'
import { type Database, instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { invalidField } from '../platform/http/request.ts'
import type { Job } from '../platform/jobs/job.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import type { ChangeNeeds } from './change.ts'
import type { Keyring } from './signing.ts'

/** The feed of events: the fan-out assigns positions, and merchants read from a position. */

const FAN_OUT_MAX = 500

/**
 * Creates a delivery of every notification for every endpoint registered before it. Repeated or concurrent runs change
 * nothing.
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

// The feed row is locked first, so that one process at a time assigns positions and the next sees its work through the
// locks of the notifications. A statement sees both notifications of an operation or only the first, so the first has
// the earlier position. Ids and positions have the same order. An endpoint removed meanwhile gets deliveries that
// `endUnsent` cancels.
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
     INSERT INTO delivery (id, notification_id, endpoint_id, created_at, due_at, schedule_left)
     SELECT (left($3::text, 24) || lpad(to_hex(row_number() OVER (ORDER BY n.nth, e.id)), 4, '0')
              || left(gen_random_uuid()::text, 8))::uuid,
            n.id, e.id, $2, least(n.created_at, $2), ${limits.webhookRetryDelaysMs.length + 1}
       FROM numbered n
       JOIN endpoint e ON e.deleted_at IS NULL AND e.created_at <= n.created_at AND n.event_type = ANY (e.events)
         ON CONFLICT (notification_id, endpoint_id) DO NOTHING
     RETURNING id)
   SELECT (SELECT count(*) FROM numbered)::integer AS notifications, (SELECT count(*) FROM made)::integer AS deliveries`,
)

/**
 * Fans out the next notifications.
 * @param nowMs epoch milliseconds
 * @param deliveryIds a UUID of now, the prefix of the deliveries' ids
 */
export async function fanOut(queries: Queries, nowMs: number, max: number, deliveryIds: string) {
  const [made] = await queries.rows(fanOutStatement, [max, instantParameter(nowMs), deliveryIds])
  return made ?? { notifications: 0, deliveries: 0 }
}

export interface FeedRow {
  readonly position: bigint
  /** Id of the notification: its `webhook-id`. */
  readonly id: string
  readonly eventType: EventType
  readonly createdAt: number
  readonly body: Buffer
}

export interface FeedPart {
  readonly events: readonly FeedRow[]
  /** The last position, or 0. */
  readonly last: bigint
  /** The last erased position, or 0. All later ones exist. */
  readonly erased: bigint
  readonly erasedId: string | null
  /** The notification at the position before the requested part. */
  readonly afterId: string | null
  readonly reached: bigint
  readonly reachedId: string | null
  readonly signingKeyId: string
}

/** Positions examined for a filter: about ten milliseconds. */
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
 * Reads the next part of the feed in order.
 * @param after exclusive; `null` for the first existing position
 * @param eventType `null` for all
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

/** End of a page: a position and its notification. */
interface FeedCursor {
  /** 0: before the first. */
  readonly position: bigint
  /** End of the notification's id; empty for position 0. */
  readonly idEnd: string
}

interface FeedPage extends FeedPart {
  readonly next: FeedCursor
}

const CURSOR = /^v1:(0|[1-9]\d{0,15}):([0-9a-f]{12})?$/

function cursorText({ position, idEnd }: FeedCursor): string {
  return Buffer.from(`v1:${position}:${idEnd}`).toString('base64url')
}

function readCursor(text: string): FeedCursor | undefined {
  const [, digits, idEnd = ''] = CURSOR.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? []
  return digits === undefined || (digits === '0') !== (idEnd === '') ? undefined : { position: BigInt(digits), idEnd }
}

/**
 * The requested page. After a restore from a backup a position may have another event than when the cursor was made:
 * continuing from it would skip events silently.
 * @param cursor `undefined` for the first existing event
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

function hasMore({ next, last }: FeedPage): boolean {
  return next.position < last
}

/** A full page ends with its last event; any other with the last examined position. */
function nextCursor({ events, reached, reachedId }: FeedPart, limit: number): FeedCursor {
  const last = events.at(-1)
  if (last !== undefined && events.length === limit) return { position: last.position, idEnd: idEnd(last.id) }
  return { position: reached, idEnd: idEnd(reachedId) }
}

function readFrom({ erased, erasedId }: FeedPart): ReadFrom {
  return { cursor: cursorText({ position: erased, idEnd: idEnd(erasedId) }), position: Number(erased) + 1 }
}

function idEnd(id: string | null): string {
  return id === null ? '' : id.slice(-12)
}

export interface FeedNeeds {
  readonly database: Database
  readonly keyring: Keyring
  readonly pause: Pick<Pause, 'for'>
}

type Query = EndpointInput<typeof endpoints.listEvents>['query']

/** The module. Its `close` answers all waiting requests and refuses new waits. */
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
        // Waits only at the end of the feed: an empty page before it is answered at once.
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

/** @throws Refusal validation_error (400) for an invalid cursor */
function cursorOf({ cursor: text }: Query): FeedCursor | undefined {
  if (text === undefined) return undefined
  const cursor = readCursor(text)
  if (cursor !== undefined) return cursor
  throw invalidField('cursor', 'invalid', 'cursor must be the nextCursor of an earlier page')
}

const LOOK_EVERY_MS = 100

/** Counts waiting requests. Each polls the end of the feed and holds no connection in between. */
class Waits {
  readonly #needs: FeedNeeds
  readonly #ofKey = new Map<string, number>()
  #all = 0
  #isClosed = false

  constructor(needs: FeedNeeds) {
    this.#needs = needs
  }

  /**
   * Waits for events after an empty page. Returns at once when too many requests wait or the process stops.
   * @throws Refusal rate_limited (429) when the API key has too many waiting requests
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

/** Signs the bytes of each event with the key that was current when they were read. @source rules#feed.7, rules#feed.8 */
async function signed({ events, signingKeyId }: FeedPage, keyring: Keyring) {
  if (keyring.signer().keyId !== signingKeyId) await keyring.refresh()
  const signer = keyring.signer()
  return events.map((event) => ({
    position: Number(event.position),
    id: event.id,
    type: event.eventType,
    cursor: cursorText({ position: event.position, idEnd: idEnd(event.id) }),
    createdAt: new Date(event.createdAt).toISOString(),
    body: event.body.toString('utf8'),
    signature: signer.sign(event.body),
    signatureKeyId: signer.keyId,
  }))
}
