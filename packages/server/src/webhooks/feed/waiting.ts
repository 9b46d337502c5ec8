import { limits, Refusal } from '@pixgate/spec'
import type { Database } from '../../platform/db/database.ts'
import type { Pause } from '../../platform/jobs/pause.ts'
import { startTimer } from '../../platform/timer.ts'
import { endOfFeed } from './store.ts'

/** How often it is looked whether there are more events, as long as somebody waits for them. */
const LOOK_EVERY_MS = 100

/** Somebody who waits for events. */
export interface Waiting {
  /** Resolves when the feed has more than that place; with `false` when the wait is over. */
  moreThan(position: bigint): Promise<boolean>
  isOver(): boolean
  /** Has to be called, however the wait ended. */
  end(): void
}

/** What waiting works with. */
export interface WaitingDependencies {
  readonly database: Database
  readonly pause: Pick<Pause, 'for'>
}

/**
 * Lets requests wait for events. None of them holds a connection to the database: one statement now and then looks for all of a
 * process, whichever process gives places.
 * @source rules#feed.6, failure-modes#NO-20
 */
export class WaitingRoom {
  readonly #dependencies: WaitingDependencies
  readonly #waiting = new Set<Waiter>()
  #isLooking = false
  #isClosed = false

  constructor(dependencies: WaitingDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Somebody begins to wait. Where too many do already, or the process stops, it is over at once.
   * @param keyId whose request it is: no API key has the places of all others
   * @param isGone whether nobody waits for the answer any more
   * @throws Refusal rate_limited (429) where as many of the key wait as may
   */
  begin(waitMs: number, keyId: string, isGone: () => boolean): Waiting {
    if (this.#waitingOf(keyId) >= limits.eventsWaitingOfKeyMax) throw tooManyOfKey()
    const waiter = new Waiter(keyId, isGone, (ended) => this.#waiting.delete(ended))
    if (this.#isClosed || this.#waiting.size >= limits.eventsWaitingMax) waiter.end()
    else {
      this.#waiting.add(waiter)
      waiter.endAfter(waitMs)
      if (!this.#isLooking) void this.#look()
    }
    return waiter
  }

  #waitingOf(keyId: string): number {
    return [...this.#waiting].filter((waiter) => waiter.keyId === keyId && !waiter.endIfGone()).length
  }

  /** Everybody's wait is over, and nobody begins to. */
  close(): void {
    this.#isClosed = true
    for (const waiter of this.#waiting) waiter.end()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    while (this.#waiting.size > 0) {
      await this.#dependencies.pause.for(LOOK_EVERY_MS)
      for (const waiter of this.#waiting) waiter.endIfGone()
      if (this.#waiting.size === 0) break
      // Where this cannot be known each finds out by itself, and says so in its answer.
      const last = await endOfFeed(this.#dependencies.database).catch(() => undefined)
      for (const waiter of this.#waiting) waiter.tell(last)
    }
    this.#isLooking = false
  }
}

/** A second later one of them may have been answered. */
function tooManyOfKey(): Refusal {
  const message = `this API key has ${limits.eventsWaitingOfKeyMax} requests waiting for events already`
  return new Refusal('rate_limited', { message, retryAfterSeconds: 1 })
}

class Waiter implements Waiting {
  readonly keyId: string
  readonly #isGone: () => boolean
  readonly #onEnd: (waiter: Waiter) => void
  #isOver = false
  #callOff: () => void = () => undefined
  #asked: { readonly position: bigint; readonly answer: (hasMore: boolean) => void } | undefined

  constructor(keyId: string, isGone: () => boolean, onEnd: (waiter: Waiter) => void) {
    this.keyId = keyId
    this.#isGone = isGone
    this.#onEnd = onEnd
  }

  endAfter(waitMs: number): void {
    this.#callOff = startTimer(waitMs, () => this.end())
  }

  moreThan(position: bigint): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false)
    return new Promise((answer) => {
      this.#asked = { position, answer }
    })
  }

  /** @param last the last place of the feed, where it is known */
  tell(last: bigint | undefined): void {
    if (last === undefined || (this.#asked !== undefined && last > this.#asked.position)) this.#answer(true)
  }

  /** @returns whether nobody waits for the answer any more */
  endIfGone(): boolean {
    const isGone = this.#isGone()
    if (isGone) this.end()
    return isGone
  }

  isOver(): boolean {
    return this.#isOver
  }

  end(): void {
    this.#isOver = true
    this.#callOff()
    this.#onEnd(this)
    this.#answer(false)
  }

  #answer(hasMore: boolean): void {
    const asked = this.#asked
    this.#asked = undefined
    asked?.answer(hasMore)
  }
}
