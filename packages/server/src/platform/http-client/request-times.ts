import { AsyncLocalStorage } from 'node:async_hooks'

/** What a request spends its time on, in this order. One on a connection that was kept has the last of them alone. */
export const requestParts = ['dns', 'connect', 'tls', 'wait'] as const

/** See {@link requestParts}. `wait` is from the connection to the end of the answer's headers. */
export type RequestPart = (typeof requestParts)[number]

/** Whole milliseconds; `null` where a request did not come to it, or did not need it. */
export type TimeSplit = Readonly<Record<`${RequestPart}Ms`, number | null>> & {
  /** From the start of the look-up to the end of the headers, or to the failure. */
  readonly totalMs: number
}

/** Times one request. The connection that is made for it tells it what it is at. */
export class RequestTimes {
  readonly #startedAt: number
  readonly #spent = new Map<RequestPart, number>()
  readonly #now: () => number
  #part: RequestPart | undefined = 'wait'
  #since: number

  /** @param now milliseconds, from any origin, of a clock that nobody sets */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#startedAt = now()
    this.#since = this.#startedAt
  }

  /** A connection is made for it: what went by until then is of no part. */
  connecting(): void {
    this.#part = undefined
  }

  /** It is at this part from now on. */
  enter(part: RequestPart): void {
    this.#close()
    this.#part = part
  }

  /** It has ended, or failed. */
  split(): TimeSplit {
    this.#close()
    const msOf = (part: RequestPart) => {
      const spent = this.#spent.get(part)
      return spent === undefined ? null : Math.round(spent)
    }
    return {
      dnsMs: msOf('dns'),
      connectMs: msOf('connect'),
      tlsMs: msOf('tls'),
      waitMs: msOf('wait'),
      totalMs: Math.round(this.#since - this.#startedAt),
    }
  }

  #close(): void {
    const nowMs = this.#now()
    if (this.#part !== undefined) {
      this.#spent.set(this.#part, (this.#spent.get(this.#part) ?? 0) + nowMs - this.#since)
    }
    this.#since = nowMs
  }
}

/** The client tells a connector nothing of the request that it connects for. */
const current = new AsyncLocalStorage<RequestTimes>()

/** Does something for the request that these time. */
export function timed<Result>(times: RequestTimes, work: () => Result): Result {
  return current.run(times, work)
}

/** Those of the request that is worked for; `undefined` where none is timed. */
export function currentTimes(): RequestTimes | undefined {
  return current.getStore()
}
