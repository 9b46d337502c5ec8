import { limits } from '@pixgate/spec'
import type { Chance } from '../fuzz/chance.ts'
import { ActsOver } from './load.ts'
import { exchange } from './merchant.ts'
import type { NotificationRow } from './store.ts'

/** An event of the feed, as a merchant's program read it. */
export interface FeedEvent {
  readonly position: number
  readonly id: string
  readonly body: string
}

/** A merchant's program that reads the feed of events on from its cursor, at either server, all the while. */
export interface FeedReader {
  /** In the order in which they were read. */
  readonly events: readonly FeedEvent[]
  /** Reads on until the pauses say that it is over. */
  follow(pause: (ms: number) => Promise<void>): Promise<void>
  /** Reads what is left. */
  readToEnd(): Promise<void>
}

const PAUSE_MS = 200

/** Makes it. */
export function createFeedReader(apiUrls: readonly string[], apiKey: string, chance: Chance): FeedReader {
  const events: FeedEvent[] = []
  let cursor = ''
  /** @returns whether there is more; `undefined`: no answer, so that the same page is asked for again */
  async function next(): Promise<boolean | undefined> {
    const query = `limit=${limits.pageLimitMax}${cursor === '' ? '' : `&cursor=${cursor}`}`
    const answer = await exchange(`${chance.pick(apiUrls)}/api/pix/events?${query}`, apiKey, 'GET')
    if (answer?.status !== 200) return undefined
    const { data, pagination } = answer.body
    events.push(...data)
    cursor = pagination.nextCursor
    return pagination.hasMore
  }
  return {
    events,
    follow: async (pause) => {
      try {
        for (;;) {
          await pause(chance.below(PAUSE_MS))
          await next()
        }
      } catch (error) {
        if (!(error instanceof ActsOver)) throw error
      }
    },
    readToEnd: async () => {
      while ((await next()) !== false);
    },
  }
}

/** What is not so of what was read: each notification once, in places without a gap, with its bytes. Pure. */
export function feedFaults(events: readonly FeedEvent[], notifications: readonly NotificationRow[]): string[] {
  const bodies = new Map(notifications.map(({ id, body }) => [id, body.toString()]))
  const read = new Set(events.map(({ id }) => id))
  return [
    ...events.flatMap(({ position }, index) => (position === index + 1 ? [] : [`place ${index + 1} has ${position}`])),
    ...(read.size === events.length ? [] : [`${events.length - read.size} were read twice`]),
    ...events.flatMap(({ id, body }) => (bodies.get(id) === body ? [] : [`${id} was read with other bytes`])),
    ...[...bodies.keys()].flatMap((id) => (read.has(id) ? [] : [`${id} was not read`])),
  ]
}
