import { url as inspectorUrl } from 'node:inspector'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { startTimer } from './clock.ts'
import type { Environment } from './variables.ts'

export interface Runtime {
  readonly flags: readonly string[]
  /** Address of an open debugger; `undefined` without one. */
  readonly debuggerUrl: string | undefined
}

function thisRuntime(): Runtime {
  return { flags: process.execArgv, debuggerUrl: inspectorUrl() }
}

/** Settings of Node.js that break production's guarantees, each by name. @source rules#production.5 */
export function runtimeFaults(environment: Environment, runtime: Runtime = thisRuntime()): string[] {
  const faults = [
    ...variableFaults(environment),
    ...runtime.flags.flatMap((flag) => flagFaults(flag, 'on the command line')),
    ...optionsIn(environment.NODE_OPTIONS).flatMap((flag) => flagFaults(flag, 'in NODE_OPTIONS')),
  ]
  if (runtime.debuggerUrl === undefined || faults.some((fault) => fault.endsWith(DEBUGGER))) return faults
  return [...faults, `a debugger is open in this process: ${DEBUGGER}`]
}

/** Any value but 1 was meant to disable verification. */
function variableFaults({ NODE_TLS_REJECT_UNAUTHORIZED, NODE_DEBUG }: Environment): string[] {
  const isVerifying = !NODE_TLS_REJECT_UNAUTHORIZED || NODE_TLS_REJECT_UNAUTHORIZED === '1'
  return [
    ...(isVerifying
      ? []
      : ['NODE_TLS_REJECT_UNAUTHORIZED must not be set: the bank, receivers and the database are verified']),
    ...(NODE_DEBUG ? ['NODE_DEBUG must not be set: it prints what is sent and received'] : []),
  ]
}

const DEBUGGER = 'whoever connects reads every secret and runs what they like'

/** Prefixes of flags with their consequences. */
const REFUSED: readonly (readonly [pattern: RegExp, consequence: string])[] = [
  [/^(inspect|debug)(-|$)/, DEBUGGER],
  [/^insecure-http-parser$/, 'two servers could read one request as two'],
  [/^tls-(keylog|min-v1\.[01]$)/, 'others could read along'],
  [/^trace-tls$/, 'it prints what is sent and received'],
  [/^(heapsnapshot-|heap-prof|report-)/, 'it writes secrets to a file'],
  [/^experimental-(default-)?config-file$/, 'it could set flags that are not checked here'],
]

function flagFaults(flag: string, where: string): string[] {
  const name = nameOf(flag)
  const consequence = REFUSED.find(([pattern]) => name !== undefined && pattern.test(name))?.[1]
  return consequence === undefined ? [] : [`--${name} must not be set ${where}: ${consequence}`]
}

/** Follows Node.js: `_` is `-`, and the value follows `=`. */
function nameOf(flag: string): string | undefined {
  return /^--?([a-z][\w.-]*)/i.exec(flag)?.[1]?.replaceAll('_', '-').toLowerCase()
}

/** Node.js allows quotes and backslashes anywhere in it. */
function optionsIn(text = ''): string[] {
  return text.replace(/["\\]/g, '').split(/\s+/)
}

/** Last day of fixes per major of Node.js, in UTC. Unknown for missing majors. */
const LAST_DAYS: ReadonlyMap<number, string> = new Map([[24, '2028-04-30']])

export interface EndedRuntime {
  readonly version: string
  /** Last day of fixes, in UTC: `2028-04-30`. */
  readonly lastDay: string
}

const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * Returns this Node.js if its major no longer gets fixes; `undefined` if it does or that is unknown.
 * @param nowMs epoch milliseconds
 * @source rules#production.8
 */
export function endedRuntime(nowMs: number, version = process.versions.node): EndedRuntime | undefined {
  const lastDay = LAST_DAYS.get(Number.parseInt(version, 10))
  if (lastDay === undefined || nowMs < Date.parse(lastDay) + DAY_MS) return undefined
  return { version, lastDay }
}

/**
 * Limits repeated log lines: the first of a kind is written at once, then one a minute with the number of further ones,
 * until a minute passes without any.
 * @source rules#logs.3
 */
export interface LogThrottle {
  /**
   * Reports an event.
   * @param kind groups equal events; must have few values
   * @param write writes the line; `more` is the number left out in the last minute
   */
  report(kind: string, write: (more: number) => void): void
}

const EVERY_MS = 60_000

/** Beyond this number, all further kinds count as one. */
const KINDS_MAX = 200

/**
 * @param start timer that calls back once
 * @param everyMs length of the interval, by default a minute
 */
export function createLogThrottle(
  start: (ms: number, run: () => void) => unknown = startTimer,
  everyMs = EVERY_MS,
): LogThrottle {
  const leftOut = new Map<string, { count: number; write: (more: number) => void }>()

  function writeLeftOut(kind: string): void {
    const last = leftOut.get(kind)
    if (!last?.count) return void leftOut.delete(kind)
    const { count, write } = last
    last.count = 0
    start(everyMs, () => writeLeftOut(kind))
    write(count)
  }

  return {
    report: (given, write) => {
      const kind = leftOut.has(given) || leftOut.size < KINDS_MAX ? given : 'any other'
      const known = leftOut.get(kind)
      if (known) return void Object.assign(known, { count: known.count + 1, write })
      leftOut.set(kind, { count: 0, write })
      start(everyMs, () => writeLeftOut(kind))
      write(0)
    },
  }
}

/** Ending of a log sentence with the number of events left out. They may be over when the line is written. */
export function andMore(more: number, last = 'minute'): string {
  return more === 0 ? '' : ` (happened ${more} more times within the past ${last})`
}

/**
 * Notices when the process did not run: stopped, machine paused, or event loop blocked. Data that arrived meanwhile
 * looks new to Node, but its sender may have given up long ago.
 */
export interface EventLoop {
  /** Milliseconds from any origin, on a clock that goes on while the process is stopped. */
  now(): number
  /** Mark for {@link EventLoop.hasStoodStillSince}, taken when something is read. */
  mark(): LoopMark
  /**
   * Whether the loop stood still for more than 2 s after the mark, or the marked data may itself have waited during a
   * gap.
   * @source rules#http.14
   */
  hasStoodStillSince(mark: LoopMark): boolean
  noteConnection(): void
}

export interface LoopMark {
  readonly gaps: number
  /** Whether the loop was just waking, so that data read then may be old. */
  readonly isWaking: boolean
}

export interface LoopSenses {
  /** Milliseconds; goes on while the process is stopped, but perhaps not while its machine is. */
  readonly monotonic: () => number
  /** Epoch milliseconds; jumps when a suspended machine wakes. */
  readonly wall: () => number
  /** Calls back after this turn has read everything that had arrived at its start. */
  readonly afterReading: (run: () => void) => void
  /** Called after a gap, with its length in milliseconds. */
  readonly onGap: (ms: number) => void
}

/** Gaps longer than this make waiting data old. */
const STILL_MS = 2_000

/** Interval of the check when nothing else causes one. */
const LOOK_MS = 250

/** Node's backlog of connections. Once more than these were accepted since waking, the next is new. */
const BACKLOG = 511

/**
 * Detects gaps between two checks. Every query causes a check, because a waking loop first reads the data that has
 * arrived, before its timers.
 */
export class LoopWatch implements EventLoop {
  readonly #senses: LoopSenses
  readonly now: () => number
  #gaps = 0
  #isWaking = false
  /** Connections accepted since waking, and whether one was accepted in this turn. */
  #accepted = 0
  #hasAccepted = false
  #monotonicAt: number
  #wallAt: number

  constructor(senses: LoopSenses) {
    this.#senses = senses
    this.now = senses.monotonic
    this.#monotonicAt = senses.monotonic()
    this.#wallAt = senses.wall()
  }

  mark(): LoopMark {
    this.look()
    return { gaps: this.#gaps, isWaking: this.#isWaking }
  }

  hasStoodStillSince({ gaps, isWaking }: LoopMark): boolean {
    this.look()
    return isWaking || gaps !== this.#gaps
  }

  noteConnection(): void {
    this.look()
    this.#accepted += 1
    this.#hasAccepted = true
  }

  look(): void {
    const [monotonicAt, wallAt] = [this.#senses.monotonic(), this.#senses.wall()]
    const stillMs = Math.max(monotonicAt - this.#monotonicAt, wallAt - this.#wallAt)
    this.#monotonicAt = monotonicAt
    this.#wallAt = wallAt
    if (stillMs > STILL_MS) this.#wake(stillMs)
  }

  #wake(stillMs: number): void {
    this.#gaps += 1
    const wasWaking = this.#isWaking
    this.#isWaking = true
    this.#accepted = 0
    this.#senses.onGap(stillMs)
    // The current read phase may have begun before the gap: only the next one sees everything that arrived meanwhile.
    if (!wasWaking) this.#senses.afterReading(() => this.#awaitNextReading())
  }

  #awaitNextReading(): void {
    this.#hasAccepted = false
    const gaps = this.#gaps
    this.#senses.afterReading(() => {
      // Node accepts one connection per turn and reads from it in the next. The loop is awake after a turn without one.
      if (gaps === this.#gaps && (!this.#hasAccepted || this.#accepted > BACKLOG)) this.#isWaking = false
      else this.#awaitNextReading()
    })
  }
}

export interface WatchedEventLoop extends EventLoop {
  delays(): LoopDelays
  stop(): void
}

export interface LoopDelays {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
}

const DELAY_RESOLUTION_MS = 20

/** Half of the window: figures cover the current half and the previous one. */
const HALF_MS = 30_000

export type DelayHistogram = Pick<ReturnType<typeof monitorEventLoopDelay>, 'percentile' | 'reset'>

export class DelayMemory {
  readonly #histogram: DelayHistogram
  readonly #monotonic: () => number
  #before: LoopDelays = { p50Ms: 0, p99Ms: 0, longestMs: 0 }
  #halfBeganAt: number

  constructor(histogram: DelayHistogram, monotonic: () => number) {
    this.#histogram = histogram
    this.#monotonic = monotonic
    this.#halfBeganAt = monotonic()
  }

  /** Starts another half when it is due; called regularly. */
  look(): void {
    if (this.#monotonic() - this.#halfBeganAt < HALF_MS) return
    this.#before = this.#present()
    this.#histogram.reset()
    this.#halfBeganAt = this.#monotonic()
  }

  /** The worse of both halves. */
  delays(): LoopDelays {
    const [before, present] = [this.#before, this.#present()]
    return {
      p50Ms: Math.max(before.p50Ms, present.p50Ms),
      p99Ms: Math.max(before.p99Ms, present.p99Ms),
      longestMs: Math.max(before.longestMs, present.longestMs),
    }
  }

  #present(): LoopDelays {
    const [p50Ms = 0, p99Ms = 0, longestMs = 0] = [50, 99, 100].map((percentile) =>
      delayMs(this.#histogram.percentile(percentile)),
    )
    return { p50Ms, p99Ms, longestMs }
  }
}

/** Watches the event loop of this process. @param onGap gets the length of a gap in milliseconds */
export function watchEventLoop(onGap: (ms: number) => void): WatchedEventLoop {
  const watch = new LoopWatch({
    monotonic: () => performance.now(),
    wall: () => Date.now(),
    afterReading: (run) => void setImmediate(run),
    onGap,
  })
  const histogram = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS })
  const memory = new DelayMemory(histogram, watch.now)
  histogram.enable()
  const looking = setInterval(() => {
    watch.look()
    memory.look()
  }, LOOK_MS).unref()
  return Object.assign(watch, {
    delays: () => memory.delays(),
    stop: () => {
      histogram.disable()
      clearInterval(looking)
    },
  })
}

/** The histogram records the time between two checks, in nanoseconds. */
function delayMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - DELAY_RESOLUTION_MS)
}

/**
 * Runs code that only observes and discards its errors: reporting must not fail a payment, and there is nowhere left to
 * report to.
 * @source rules#logs.2
 */
export function withoutFault(watch: () => void): void {
  try {
    watch()
  } catch {
    // Discarded: see above.
  }
}

type Observer = Readonly<Record<string, (...given: never[]) => void>>

/** Wraps an observer so that its errors are discarded. @source rules#logs.2 */
export function harmless<Given extends Observer>(observer: Given): Given {
  const methods = Object.entries(observer).map(([name, method]) => [
    name,
    // Does not use `withoutFault`, which would allocate a function per call: some observers run for each request.
    (...given: never[]) => {
      try {
        method(...given)
      } catch {
        // Discarded, as above.
      }
    },
  ])
  return Object.fromEntries(methods)
}
