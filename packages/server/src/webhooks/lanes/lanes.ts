import { startTimer } from '../../platform/timer.ts'
import { type AttemptEnd, type Concurrency, concurrencyAfter, NEW, RECOVERED } from './concurrency.ts'
import { type LaneAttempt, type LaneFacts, type LaneMove, moveAfter } from './state.ts'
import { NO_TROUBLE, reasonForProbes, type Trouble, troubleAfter } from './trouble.ts'

/** Attempts that one process makes at the same time, half of them first attempts and half of them later ones. @source rules#webhooks.10 */
const SLOTS = 512
const SLOTS_OF_A_KIND = SLOTS / 2

/** Replays that one process makes at the same time, beside those: they have none of the places that what is due has. @source rules#webhooks.25 */
const SLOTS_OF_REPLAYS = 64

/** Longer than any claim that waits for nobody. */
const CLAIMING_MS = 100

/** A lane of which nothing was heard for so long begins anew. */
const FORGOTTEN_AFTER_MS = 3_600_000

/** What of a lane may be started. */
export interface Room {
  readonly subscriptionId: string
  readonly underWay: number
  readonly free: number
  /** Of them, how many may be later attempts: half of the lane at most. */
  readonly freeForRetries: number
  /** And of these, how many may be replays: a quarter of the lane at most. @source rules#webhooks.25 */
  readonly freeForReplays: number
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
  /** Replays among them. */
  retriesUnderWay: number
  replaysUnderWay: number
  seenAt: number
}

/** What a new lane may start: as {@link Lanes.room} tells of the others. */
export const ROOM_OF_NEW = roomOf({ concurrency: NEW, underWay: 0, retriesUnderWay: 0, replaysUnderWay: 0 })

function roomOf(lane: Omit<Lane, 'trouble' | 'version' | 'seenAt'>): Omit<Room, 'subscriptionId' | 'version'> {
  const { underWay, retriesUnderWay, replaysUnderWay } = lane
  const { limit } = lane.concurrency
  const free = Math.max(0, limit - underWay)
  const freeForRetries = Math.min(free, Math.max(0, Math.ceil(limit / 2) - retriesUnderWay))
  const freeForReplays = Math.min(freeForRetries, Math.max(0, Math.ceil(limit / 4) - replaysUnderWay))
  return { underWay, free, freeForRetries, freeForReplays }
}

/** The place that a replay has in its lane. */
export interface ReplayPlace {
  /** How its receiver answered: of how much it can bear that tells as much as any attempt. */
  answered(outcome: AttemptEnd): void
  /** The place is free again; called once. */
  free(): void
}

/**
 * The attempts that this process makes, by receiver: how many each may have under way, and how it answered them.
 * @source rules#webhooks.10
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  #firsts = 0
  #retries = 0
  #replays = 0
  #claiming: Promise<void> = Promise.resolve()

  /**
   * Claims one after the other, so that what each may start is what those before have left. One that waits, for a lock of another
   * process, holds up the next for a moment only: then a lane may get some more than it has room for.
   */
  exclusively<Claimed>(claim: () => Promise<Claimed>): Promise<Claimed> {
    const claimed = this.#claiming.then(claim)
    this.#claiming = new Promise<void>((resolve) => {
      const stopTimer = startTimer(CLAIMING_MS, resolve)
      const end = () => {
        stopTimer()
        resolve()
      }
      claimed.then(end, end)
    })
    return claimed
  }

  /** How many first attempts, later ones and replays may be started, over all lanes. */
  free(): { readonly firsts: number; readonly retries: number; readonly replays: number } {
    return {
      firsts: SLOTS_OF_A_KIND - this.#firsts,
      retries: SLOTS_OF_A_KIND - this.#retries,
      replays: SLOTS_OF_REPLAYS - this.#replays,
    }
  }

  /** What may be started of every lane that is known. */
  room(): Room[] {
    return [...this.#lanes].map(([subscriptionId, lane]) => ({
      subscriptionId,
      version: lane.version,
      ...roomOf(lane),
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
   * A replay was claimed: it has a place among the later attempts of its lane, and tells nothing of whether its receiver is well.
   * @param version of the lane, as it was claimed with
   * @param nowMs epoch milliseconds
   * @source rules#webhooks.25
   */
  replayStarted(subscriptionId: string, version: number, nowMs: number): ReplayPlace {
    const lane = this.#laneOf(subscriptionId, { version }, nowMs)
    const add = (count: 1 | -1) => {
      lane.underWay += count
      lane.retriesUnderWay += count
      lane.replaysUnderWay += count
      this.#replays += count
    }
    add(1)
    return {
      answered: (outcome) => {
        lane.concurrency = concurrencyAfter(lane.concurrency, outcome)
      },
      free: () => add(-1),
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
    const idle = { underWay: 0, retriesUnderWay: 0, replaysUnderWay: 0 }
    const lane = { concurrency, trouble: NO_TROUBLE, version, seenAt: nowMs, ...idle }
    this.#lanes.set(subscriptionId, lane)
    return lane
  }
}
