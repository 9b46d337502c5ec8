import { type ReadFrom, Refusal } from '@pixgate/spec'
import type { FeedPart, FeedRow } from './store.ts'

/** Where a page ended: a place, and by what it is known again which notification is there. */
export interface FeedCursor {
  /** 0: before the first. */
  readonly position: bigint
  /** The end of that notification's id; empty where the place is 0. */
  readonly idEnd: string
}

/** A page of the feed. */
export interface FeedPage {
  readonly events: readonly FeedRow[]
  /** Where the next page begins. */
  readonly next: FeedCursor
  /** Whether there are places behind it already. */
  readonly hasMore: boolean
  /** The first place whose event, and all that follow, are there. */
  readonly firstPosition: bigint
  readonly lastPosition: bigint
  readonly signingKeyId: string
}

const CURSOR = /^v1:(0|[1-9]\d{0,15}):([0-9a-f]{12})?$/

/** A cursor as a client sends it back. */
export function cursorText({ position, idEnd }: FeedCursor): string {
  return Buffer.from(`v1:${position}:${idEnd}`).toString('base64url')
}

/** Reads one; `undefined` where it is none of ours. */
export function readCursor(text: string): FeedCursor | undefined {
  const [, digits, idEnd = ''] = CURSOR.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? []
  return digits === undefined || (digits === '0') !== (idEnd === '') ? undefined : { position: BigInt(digits), idEnd }
}

/**
 * The page that was asked for. After a restore from a backup a place may have another event than when the cursor was made:
 * events in between would be missed without a word.
 * @param cursor what was read after; `undefined`: from the first that is there
 * @throws Refusal events_erased (410) something behind it is gone · cursor_unknown (422) it was not made here
 * @source rules#feed.4, rules#feed.5
 */
export function pageOf(part: FeedPart, cursor: FeedCursor | undefined, limit: number): FeedPage {
  if (cursor !== undefined) {
    const isKnown = cursor.position <= part.last && cursor.idEnd === idEnd(part.afterId)
    if (!isKnown) throw new Refusal('cursor_unknown', { readFrom: readFrom(part) })
    if (cursor.position < part.erased) throw new Refusal('events_erased', { readFrom: readFrom(part) })
  }
  const next = nextCursor(part, limit)
  return {
    events: part.events,
    next,
    hasMore: next.position < part.last,
    firstPosition: part.erased + 1n,
    lastPosition: part.last,
    signingKeyId: part.signingKeyId,
  }
}

/** A full page ends with its last event; any other with the last place that was looked at. */
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
