import { type ErrorDetails, PixgateError, type PixgateErrorCode } from './errors.ts'
import type { EventType, FeedEvent, FeedPage, ListEventsQuery, Notification } from './generated/types.ts'
import { LONGEST_RETRY_AFTER_MS, type RequestOptions, type Runtime } from './transport.ts'

export interface FollowOptions extends Pick<RequestOptions, 'signal'> {
  /** Where to go on: the `cursor` of the last event that you stored. Without one the feed begins with its first event. */
  readonly cursor?: string | undefined
  /** Only events of this type. Gaps are found without it only. */
  readonly type?: EventType | undefined
  /** Called for each failed read, before the wait for the next one. */
  readonly onRetry?: ((error: PixgateError, waitMs: number) => void) | undefined
}

/** An event of the feed, and what to store together with its effects. */
export interface Followed {
  /** Its notification, as endpoints receive it. */
  readonly event: Notification
  /** Stands behind this event. Store it in the same transaction as the effects of the event, and go on there after a restart. */
  readonly cursor: string
  /** The same as `webhook-id` of its deliveries. */
  readonly id: string
  readonly position: number
  /** With the bytes that were signed, and the signature. */
  readonly entry: FeedEvent
}

interface Feed {
  readonly runtime: Runtime
  read(query: ListEventsQuery, options: RequestOptions): Promise<FeedPage>
  fail(code: PixgateErrorCode, details: ErrorDetails): PixgateError
}

/** Long poll of a read, and its time-out, which is longer. */
const [WAIT_SECONDS, READ_TIMEOUT_MS] = [20, 30_000]

const PAGE_MAX = 100

const [FIRST_DELAY_MS, LONGEST_DELAY_MS] = [500, 30_000]

/**
 * All events in the order of the feed, for ever. It ends when the signal aborts, and outlasts outages of any length.
 * @source rules#sdk.10
 * @throws PixgateError cursor_unknown · events_erased (both with `readFrom`) · events_missing · a refusal
 */
export async function* follow(feed: Feed, options: FollowOptions = {}): AsyncGenerator<Followed, void, undefined> {
  const { type, signal } = options
  let { cursor } = options
  let position: number | undefined
  let wait = 0
  while (!signal?.aborted) {
    const page = await patiently(feed, options, (limit) =>
      feed.read({ cursor, type, wait, limit }, { signal, timeoutMs: READ_TIMEOUT_MS, maxRetries: 0 }),
    )
    if (page === undefined) return
    for (const entry of page.data) {
      if (type === undefined && position !== undefined && entry.position !== position + 1) {
        const detail = `after position ${position} of the feed comes ${entry.position}`
        throw feed.fail('events_missing', { operation: 'events.follow', detail })
      }
      position = entry.position
      yield { event: JSON.parse(entry.body), cursor: entry.cursor, id: entry.id, position, entry }
      if (signal?.aborted) return
    }
    cursor = page.pagination.nextCursor
    wait = page.pagination.hasMore ? 0 : WAIT_SECONDS
  }
}

/**
 * Repeats a read until it succeeds; `undefined` when the signal aborts. Each attempt asks for half as many events: a
 * connection may always break before the end of a large page.
 */
async function patiently(
  feed: Feed,
  { signal, onRetry }: FollowOptions,
  read: (limit: number) => Promise<FeedPage>,
): Promise<FeedPage | undefined> {
  let limit = PAGE_MAX
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 2)) {
    try {
      return await read(limit)
    } catch (error) {
      if (signal?.aborted) return undefined
      if (!(error instanceof PixgateError) || !error.isSafeToRetry) throw error
      const waitMs = Math.min(LONGEST_RETRY_AFTER_MS, error.retryAfterMs ?? 0) + feed.runtime.random() * delayMs
      onRetry?.(error, waitMs)
      await feed.runtime.sleep(waitMs, signal).catch(() => undefined)
      limit = Math.ceil(limit / 2)
      if (signal?.aborted) return undefined
    }
  }
}
