import type { EventType, FeedEvent, Followed, Pixgate } from '@pixgate/sdk'
import type { Context } from './command.ts'
import { Failure, usageError } from './failure.ts'

export const EVENT_TYPES = ['pix_cash_in', 'pix_cash_out', 'pix_cash_in_reversal', 'pix_cash_out_reversal'] as const

/** The rarest type: a page of a filtered feed skips up to thousands of places, so its end is soon reached. */
const RAREST: EventType = 'pix_cash_out_reversal'

/** The cursor behind the newest event. */
export async function endOfFeed({ events }: Pixgate, signal: AbortSignal): Promise<string> {
  for (let cursor: string | undefined; ; ) {
    const { pagination } = await events.list({ cursor, type: RAREST, limit: 100 }, { signal }).page()
    if (!pagination.hasMore) return pagination.nextCursor
    cursor = pagination.nextCursor
  }
}

/** @throws Failure used wrongly */
export function eventType(text: string | undefined): EventType | undefined {
  const type = EVENT_TYPES.find((known) => known === text)
  if (text !== undefined && !type) throw usageError('there is no such type', `Known: ${EVENT_TYPES.join(', ')}.`)
  return type
}

interface FollowSettings {
  readonly cursor: string | undefined
  readonly type: EventType | undefined
}

/** Follows the feed, with a line about each outage. @throws Failure with the cursor to go on from */
export async function* followed(
  pixgate: Pixgate,
  context: Context,
  settings: FollowSettings,
): AsyncGenerator<Followed> {
  let isReported = false
  const onRetry = (error: Error) => {
    if (!isReported) context.out.note(`Pixgate does not answer; retrying. ${error.message}`)
    isReported = true
  }
  try {
    for await (const found of pixgate.events.follow({ ...settings, signal: context.signal, onRetry })) {
      isReported = false
      yield found
    }
  } catch (error) {
    const { code, readFrom } = error as { readonly code?: string; readonly readFrom?: { readonly cursor: string } }
    if (!code || !readFrom) throw error
    const fix = `Events were lost to this reader. Compare your books, then go on with --from ${readFrom.cursor}`
    throw new Failure('the feed does not know the cursor any more', { exit: 'refused', code, fix })
  }
}

interface Operation {
  readonly id?: string
  readonly status?: string
  readonly external_id?: string
}

/** The operation of an event. */
export function operationOf({ body }: FeedEvent): Operation {
  return JSON.parse(body).event ?? {}
}
