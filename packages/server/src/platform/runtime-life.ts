/** The last day, in UTC, on which a major of Node.js gets fixes. Of those that are not here it is not known. */
const LAST_DAYS: ReadonlyMap<number, string> = new Map([[24, '2028-04-30']])

/** A Node.js whose time is over. */
export interface EndedRuntime {
  /** Such as `24.18.1`. */
  readonly version: string
  /** The last day on which it got fixes, in UTC: `2028-04-30`. */
  readonly lastDay: string
}

const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * This Node.js, where its major gets no fixes any more; `undefined` where it does, or nobody knows.
 * @param nowMs epoch milliseconds
 * @source rules#production.8
 */
export function endedRuntime(nowMs: number, version = process.versions.node): EndedRuntime | undefined {
  const lastDay = LAST_DAYS.get(Number.parseInt(version, 10))
  if (lastDay === undefined || nowMs < Date.parse(lastDay) + DAY_MS) return undefined
  return { version, lastDay }
}
