import { type Concurrency, concurrencyAfter, NEW, RECOVERED } from './concurrency.ts'
import { type LaneAttempt, type LaneFacts, type LaneMove, moveAfter } from './state.ts'
import { NO_TROUBLE, reasonForProbes, type Trouble, troubleAfter } from './trouble.ts'

/** Attempts that one process makes at the same time, half of them first attempts and half of them later ones. @source rules#webhooks.10 */
const SLOTS = 512
const SLOTS_OF_A_KIND = SLOTS / 2

/** A lane of which nothing was heard for so long begins anew. */
const FORGOTTEN_AFTER_MS = 3_600_000

/** What of a lane may be started. */
export interface Room {
  readonly subscriptionId: string
  readonly underWay: number
  readonly free: number
  /** Of them, how many may be later attempts: half of the lane at most. */
  readonly freeForRetries: number
  /** The lane as the process knows it: where it has moved since, one attempt may be started. */
  readonly version: number
}

/** An attempt and its lane. */
export interface LaneClaim {
  readonly subscriptionId: string
  /** From 1. */
  readonly attempt: number
  readonly lane: LaneFacts
}

interface Lane {
  concurrency: Concurrency
  trouble: Trouble
  version: number
  underWay: number
  retriesUnderWay: number
  seenAt: number
}

/** What a new lane may start: as {@link Lanes.room} tells of the others. */
export const ROOM_OF_NEW = roomOf(NEW, 0, 0)

function roomOf(
  { limit }: Concurrency,
  underWay: number,
  retriesUnderWay: number,
): Omit<Room, 'subscriptionId' | 'version'> {
  const free = Math.max(0, limit - underWay)
  const freeForRetries = Math.min(free, Math.max(0, Math.ceil(limit / 2) - retriesUnderWay))
  return { underWay, free, freeForRetries }
}

/**
 * The attempts that this process makes, by receiver: how many each may have under way, and how it answered them.
 * @source rules#webhooks.10
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  #firsts = 0
  #retries = 0

  /** How many first attempts and how many later ones may be started, over all lanes. */
  free(): { readonly firsts: number; readonly retries: number } {
    return { firsts: SLOTS_OF_A_KIND - this.#firsts, retries: SLOTS_OF_A_KIND - this.#retries }
  }

  /** What may be started of every lane that is known. */
  room(): Room[] {
    return [...this.#lanes].map(([subscriptionId, { concurrency, underWay, retriesUnderWay, version }]) => ({
      subscriptionId,
      version,
      ...roomOf(concurrency, underWay, retriesUnderWay),
    }))
  }

  /** An attempt was claimed. @param nowMs epoch milliseconds */
  started({ subscriptionId, attempt, lane: facts }: LaneClaim, nowMs: number): void {
    const lane = this.#laneOf(subscriptionId, facts, nowMs)
    lane.underWay += 1
    if (attempt === 1) this.#firsts += 1
    else {
      lane.retriesUnderWay += 1
      this.#retries += 1
    }
  }

  /** Its place is free again, whatever came of it. */
  freed({ subscriptionId, attempt }: LaneClaim): void {
    const lane = this.#lanes.get(subscriptionId)
    if (lane !== undefined) lane.underWay -= 1
    if (attempt === 1) this.#firsts -= 1
    else {
      if (lane !== undefined) lane.retriesUnderWay -= 1
      this.#retries -= 1
    }
  }

  /**
   * Takes a place among the later attempts of a lane, for what tells nothing of its receiver.
   * @param version of the lane, as it was claimed with
   * @param nowMs epoch milliseconds
   * @source rules#webhooks.23
   */
  occupy(subscriptionId: string, version: number, nowMs: number): { free(): void } {
    const lane = this.#laneOf(subscriptionId, { version }, nowMs)
    lane.underWay += 1
    lane.retriesUnderWay += 1
    this.#retries += 1
    return {
      free: () => {
        lane.underWay -= 1
        lane.retriesUnderWay -= 1
        this.#retries -= 1
      },
    }
  }

  /**
   * What an attempt tells of its receiver.
   * @param isTimeout whether the receiver took longer than it may
   * @returns what becomes of its lane, where that changes
   */
  ended({ subscriptionId, lane: facts }: LaneClaim, ended: LaneAttempt, isTimeout: boolean): LaneMove | undefined {
    const lane = this.#laneOf(subscriptionId, facts, ended.endedAt)
    const outcome = ended.outcome === 'success' ? 'success' : isTimeout ? 'timeout' : 'other'
    lane.concurrency = concurrencyAfter(lane.concurrency, outcome)
    lane.trouble = troubleAfter(lane.trouble, ended.outcome, ended.endedAt)
    return moveAfter(facts, ended, reasonForProbes(lane.trouble))
  }

  #laneOf(subscriptionId: string, { version }: Pick<LaneFacts, 'version'>, nowMs: number): Lane {
    const known = this.#lanes.get(subscriptionId)
    if (known === undefined) return this.#add(subscriptionId, version, nowMs)
    known.seenAt = nowMs
    // Some process has moved it since: what was known of it before is no longer so.
    if (known.version < version) Object.assign(known, { version, concurrency: RECOVERED, trouble: NO_TROUBLE })
    return known
  }

  #add(subscriptionId: string, version: number, nowMs: number): Lane {
    for (const [id, { underWay, seenAt }] of this.#lanes) {
      if (underWay === 0 && nowMs - seenAt > FORGOTTEN_AFTER_MS) this.#lanes.delete(id)
    }
    const concurrency = version > 0 ? RECOVERED : NEW
    const lane = { concurrency, trouble: NO_TROUBLE, version, underWay: 0, retriesUnderWay: 0, seenAt: nowMs }
    this.#lanes.set(subscriptionId, lane)
    return lane
  }
}
