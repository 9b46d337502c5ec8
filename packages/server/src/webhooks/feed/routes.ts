import { type EndpointInput, type endpoints, limits, Refusal } from '@pixgate/spec'
import type { Database } from '../../platform/db/database.ts'
import type { Handlers, RequestContext } from '../../platform/http/handler.ts'
import type { Pause } from '../../platform/jobs/pause.ts'
import type { Keyring } from '../../signing-keys/index.ts'
import { cursorText, type FeedCursor, type FeedPage, pageOf, readCursor } from './page.ts'
import { type FeedRow, selectPart } from './store.ts'
import { WaitingRoom } from './waiting.ts'

/** The endpoints of the feed, each with its handler. */
export type FeedHandlers = Handlers<Pick<typeof endpoints, 'listEvents'>>

/** What the feed works with. */
export interface FeedDependencies {
  readonly database: Database
  /** What events are signed with. */
  readonly keyring: Keyring
  readonly pause: Pick<Pause, 'for'>
}

/** The feed of events as merchants read it. */
export interface FeedModule {
  readonly handlers: FeedHandlers
  /** Answers whoever waits for events, and lets nobody wait any more. */
  close(): void
}

type Query = EndpointInput<typeof endpoints.listEvents>['query']

/** Makes the module. */
export function createFeedModule(dependencies: FeedDependencies): FeedModule {
  const { database, keyring } = dependencies
  const room = new WaitingRoom(dependencies)
  return {
    handlers: {
      listEvents: async ({ query, context }) => {
        const page = await readPage(database, room, query, context)
        const { hasMore, firstPosition, lastPosition } = page
        const body = {
          data: await signed(page, keyring),
          pagination: { limit: limitOf(query), hasMore, nextCursor: cursorText(page.next) },
          feed: { firstPosition: Number(firstPosition), lastPosition: Number(lastPosition) },
        }
        return { status: 200, body }
      },
    },
    close: () => room.close(),
  }
}

function limitOf({ limit = limits.pageLimitDefault }: Query): number {
  return limit
}

/**
 * Reads the page after a cursor; where it is empty, waits for events as long as was asked for.
 * @throws Refusal validation_error (400) the cursor is none of ours · events_erased (410) · cursor_unknown (422) ·
 *   rate_limited (429) the key has too many that wait
 * @source rules#feed.3, rules#feed.6
 */
async function readPage(
  database: Database,
  room: WaitingRoom,
  query: Query,
  { caller, isGone = () => false }: RequestContext,
): Promise<FeedPage> {
  const read = async (cursor: FeedCursor | undefined) => {
    const bounds = { after: cursor?.position ?? null, eventType: query.type ?? null, limit: limitOf(query) }
    return pageOf(await selectPart(database, bounds), cursor, bounds.limit)
  }
  let page = await read(cursorOf(query))
  // At the end of the feed only: who has places before it goes on from there.
  if (page.events.length > 0 || page.hasMore || !query.wait) return page
  const waiting = room.begin(query.wait * 1_000, caller.id, isGone)
  try {
    while (page.events.length === 0 && !page.hasMore && !waiting.isOver()) {
      if (await waiting.moreThan(page.lastPosition)) page = await read(page.next)
    }
    return page
  } finally {
    waiting.end()
  }
}

function cursorOf({ cursor: text }: Query): FeedCursor | undefined {
  if (text === undefined) return undefined
  const cursor = readCursor(text)
  if (cursor !== undefined) return cursor
  const message = 'cursor must be the nextCursor of the page before'
  throw new Refusal('validation_error', { message, fields: [{ field: 'cursor', code: 'invalid', message }] })
}

/** Signs the bytes of each, with the key that was current when they were read. @source rules#feed.7 */
async function signed({ events, signingKeyId }: FeedPage, keyring: Keyring) {
  if (keyring.signer().keyId !== signingKeyId) await keyring.refresh()
  const signer = keyring.signer()
  return events.map((event: FeedRow) => ({
    position: Number(event.position),
    id: event.id,
    type: event.eventType,
    createdAt: new Date(event.createdAt).toISOString(),
    body: event.body.toString('utf8'),
    signature: signer.sign(event.body),
    signatureKeyId: signer.keyId,
  }))
}
