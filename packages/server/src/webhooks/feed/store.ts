import type { EventType } from '@pixgate/spec'
import { type Queries, statement } from '../../platform/db/database.ts'

/** All SQL of the feed, but for what gives places while notifications are fanned out. */

const selectEndStatement = statement<[], { last: bigint }>('feed.selectEnd', 'SELECT last_position AS last FROM feed')

/** The place that was given last; 0 where none was. */
export async function endOfFeed(queries: Queries): Promise<bigint> {
  const [end] = await queries.rows(selectEndStatement, [])
  if (end === undefined) throw new Error('feed row is missing')
  return end.last
}

/** An event of the feed. */
export interface FeedRow {
  readonly position: bigint
  /** Of the notification: its `webhook-id`. */
  readonly id: string
  readonly eventType: EventType
  readonly createdAt: number
  /** What is signed and sent to receivers, byte for byte. */
  readonly body: Buffer
}

/** A part of the feed, and where it stands in the whole, all as of one instant. */
export interface FeedPart {
  readonly events: readonly FeedRow[]
  /** The place that was given last; 0 where none was. */
  readonly last: bigint
  /** The last place whose event was erased; 0 where none was. From the next one on everything is there. */
  readonly erased: bigint
  /** The notification there. */
  readonly erasedId: string | null
  /** The notification at the place after which was to be read. */
  readonly afterId: string | null
  /** The last place that was looked at. */
  readonly reached: bigint
  readonly reachedId: string | null
  /** The key that is current. */
  readonly signingKeyId: string
}

/** What to read. */
export interface FeedQuery {
  /** Exclusive; `null`: from the first that is there. */
  readonly after: bigint | null
  /** `null`: all. */
  readonly eventType: EventType | null
  readonly limit: number
}

/** So many places are looked at for what a filter wants: some ten milliseconds. */
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
     JOIN signing_key key ON key.state = 'current'
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

/** Reads the next part of the feed, in order. @source rules#feed.3 */
export async function selectPart(queries: Queries, { after, eventType, limit }: FeedQuery): Promise<FeedPart> {
  const parameters = [after === null ? null : String(after), eventType, limit, LOOKED_AT_MAX] as const
  const rows = await queries.rows(selectPartStatement, [...parameters])
  const [first] = rows
  if (first === undefined) throw new Error('no signing key is current')
  return { ...first, events: rows.filter((row) => row.position !== null) }
}
