import type { EventType } from '@pixgate/spec'
import { type Database, statement } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { createFeedModule, type FeedNeeds, type FeedRow, fanOut, selectPart } from '../../src/webhooks/feed.ts'
import { administer } from './database.ts'
import { requestContext, type WebhookProcess, type WebhookWorld } from './webhook-world.ts'

/** What is asked of the feed. */
interface Asked {
  readonly cursor?: string
  readonly limit?: number
  readonly type?: EventType
  readonly wait?: number
}

/** The feed as a process of the service answers it. */
export function feedOf(
  { database }: Pick<WebhookWorld, 'database'>,
  { keyring }: Pick<WebhookProcess, 'keyring'>,
  pause: FeedNeeds['pause'] = realPause,
) {
  const { handlers, close } = createFeedModule({ database, keyring, pause })
  return {
    close,
    /** One page. @param isGone whether who asked has gone @param keyId of the API key that asks */
    read: async (query: Asked = {}, isGone = () => false, keyId = 'test') => {
      const context = { ...requestContext, isGone, caller: { ...requestContext.caller, id: keyId } }
      return (await handlers.listEvents({ params: undefined, query, body: undefined, context })).body
    },
  }
}

/** All events there are, as of one instant. */
export async function eventsIn(database: Database): Promise<readonly FeedRow[]> {
  const { events } = await selectPart(database, null, null, 1_000_000)
  return events
}

/** The place of each event. */
export async function positionsIn(database: Database): Promise<number[]> {
  return (await eventsIn(database)).map(({ position }) => Number(position))
}

const lockFeed = statement<[]>('test.lock_feed', 'SELECT FROM feed FOR UPDATE')

/** Fans out as a process does, but is held when it has the lock of the feed, or has given places and not committed them. */
export function heldFanOut(
  { database, clock, ids }: Pick<WebhookWorld, 'database' | 'clock' | 'ids'>,
  when: 'locked' | 'placed',
  mayGoOn: () => Promise<void>,
): Promise<void> {
  return database.transaction(async (queries) => {
    await queries.rows(lockFeed, [])
    if (when === 'locked') await mayGoOn()
    await fanOut(queries, clock.now(), 500, ids.uuid())
    if (when === 'placed') await mayGoOn()
  })
}

/** Adds an event to the feed of which only its place is left. */
export function addErasedEvent(databaseUrl: string): Promise<void> {
  return administer(
    databaseUrl,
    `UPDATE feed SET last_position = last_position + 1;
     INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at, fanned_out_at, erased_at,
                               position)
     SELECT gen_random_uuid(), gen_random_uuid(), 'pix_cash_in', 'PAID', '', '', now(), now(), now(), last_position FROM feed`,
  )
}

/** Erases the events up to a place, as their time is over. */
export function eraseEvents(databaseUrl: string, upTo: number): Promise<void> {
  return administer(databaseUrl, `UPDATE notification SET erased_at = now(), body = '' WHERE position <= ${upTo}`)
}

/** The cursor of a place at which there is another notification, or none. */
export function foreignCursor(position: number): string {
  return Buffer.from(`v1:${position}:abcdefabcdef`).toString('base64url')
}
