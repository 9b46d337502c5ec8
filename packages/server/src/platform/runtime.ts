import { url as inspectorUrl } from 'node:inspector'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { startTimer } from './clock.ts'
import type { Environment } from './variables.ts'

/** How this Node.js was started. */
export interface Runtime {
  /** Before the program's name. */
  readonly flags: readonly string[]
  /** Where a debugger may connect; `undefined`: nowhere. */
  readonly debuggerUrl: string | undefined
}

/** Of this process. */
function thisRuntime(): Runtime {
  return { flags: process.execArgv, debuggerUrl: inspectorUrl() }
}

/**
 * What of Node.js's own settings takes away what production promises, each with its name.
 * @source rules#production.5
 */
export function runtimeFaults(environment: Environment, runtime: Runtime = thisRuntime()): string[] {
  const faults = [
    ...variableFaults(environment),
    ...runtime.flags.flatMap((flag) => flagFaults(flag, 'on the command line')),
    ...optionsIn(environment.NODE_OPTIONS).flatMap((flag) => flagFaults(flag, 'in NODE_OPTIONS')),
  ]
  if (runtime.debuggerUrl === undefined || faults.some((fault) => fault.endsWith(DEBUGGER))) return faults
  return [...faults, `a debugger is open in this process: ${DEBUGGER}`]
}

/** Any other value than 1 was meant to switch it off. */
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

/** Beginnings of flags, and what each would do. */
const REFUSED: readonly (readonly [pattern: RegExp, consequence: string])[] = [
  [/^(inspect|debug)(-|$)/, DEBUGGER],
  [/^insecure-http-parser$/, 'two servers could read one request as two'],
  [/^tls-(keylog|min-v1\.[01]$)/, 'others could read along'],
  [/^trace-tls$/, 'it prints what is sent and received'],
  [/^(heapsnapshot-|heap-prof|report-)/, 'it writes secrets to a file'],
  [/^experimental-(default-)?config-file$/, 'flags that nobody looks at could stand there'],
]

function flagFaults(flag: string, where: string): string[] {
  const name = nameOf(flag)
  const consequence = REFUSED.find(([pattern]) => name !== undefined && pattern.test(name))?.[1]
  return consequence === undefined ? [] : [`--${name} must not be set ${where}: ${consequence}`]
}

/** As Node.js reads it: `_` is `-`, and what follows `=` is its value. */
function nameOf(flag: string): string | undefined {
  return /^--?([a-z][\w.-]*)/i.exec(flag)?.[1]?.replaceAll('_', '-').toLowerCase()
}

/** Node.js lets quotes and backslashes stand anywhere in it. */
function optionsIn(text = ''): string[] {
  return text.replace(/["\\]/g, '').split(/\s+/)
}

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

/**
 * Keeps what happens again and again from flooding the log: the first of a kind is written at once, and from then on one
 * line a minute says how many more there were, until a minute passes without any.
 * @source rules#logs.3
 */
export interface Heartbeat {
  /**
   * Reports something.
   * @param kind what counts as the same thing; of few different ones
   * @param write writes the line; `more` is how many were left out in the last minute
   */
  report(kind: string, write: (more: number) => void): void
}

const EVERY_MS = 60_000

/** More kinds at a time than these are one. */
const KINDS_MAX = 200

/**
 * @param start calls back once, after a while
 * @param everyMs how long a minute is, where it is to be another time
 */
export function createHeartbeat(
  start: (ms: number, run: () => void) => unknown = startTimer,
  everyMs = EVERY_MS,
): Heartbeat {
  const leftOut = new Map<string, { count: number; write: (more: number) => void }>()

  function beat(kind: string): void {
    const last = leftOut.get(kind)
    if (!last?.count) return void leftOut.delete(kind)
    const { count, write } = last
    last.count = 0
    start(everyMs, () => beat(kind))
    write(count)
  }

  return {
    report: (given, write) => {
      const kind = leftOut.has(given) || leftOut.size < KINDS_MAX ? given : 'any other'
      const known = leftOut.get(kind)
      if (known) return void Object.assign(known, { count: known.count + 1, write })
      leftOut.set(kind, { count: 0, write })
      start(everyMs, () => beat(kind))
      write(0)
    },
  }
}

/** How a sentence of the log ends after which others were left out. */
export function andMore(more: number, last = 'minute'): string {
  return more === 0 ? '' : ` (and ${more} more in the last ${last})`
}

/**
 * Notices that this process did not run: it was stopped, its machine was paused, or something held the event loop. What
 * arrived meanwhile looks new to Node and may be long forgotten by whoever sent it.
 */
export interface EventLoop {
  /** Milliseconds, from any origin, on a clock that goes on while the process is stopped. */
  now(): number
  /** What {@link EventLoop.hasStoodStillSince} compares with, for something that was just read. */
  mark(): LoopMark
  /**
   * Whether the loop stood still for more than 2 s after a mark, or whether what got the mark may itself have waited
   * while it did.
   * @source rules#http.14
   */
  hasStoodStillSince(mark: LoopMark): boolean
  /** Tells it that a connection was accepted just now. */
  noteConnection(): void
}

/** The loop as it was when something was read. */
export interface LoopMark {
  /** How often the loop had stood still. */
  readonly gaps: number
  /** Whether it was just waking up, so that what was read then may be old. */
  readonly isWaking: boolean
}

/** What an event loop is seen by. */
export interface LoopSenses {
  /** Milliseconds; goes on while the process is stopped, but perhaps not while its machine is. */
  readonly monotonic: () => number
  /** Epoch milliseconds; jumps when a machine that was suspended wakes up. */
  readonly wall: () => number
  /** Calls back when this turn of the loop has read all that was there when it began to read. */
  readonly afterReading: (run: () => void) => void
  /** Called when it has stood still, with for how long in milliseconds. */
  readonly onGap: (ms: number) => void
}

/** How long the loop may stand still before what waited meanwhile counts as old. */
const STILL_MS = 2_000

/** How often it is looked at where nothing else does. */
const LOOK_MS = 250

/**
 * As many connections as may wait to be accepted: Node's own backlog. One more than these has come since the loop woke
 * up.
 */
const BACKLOG = 511

/**
 * Sees gaps between two looks. It is looked at each time that something asks, because what a loop does first after it
 * woke up is to read what has arrived, ahead of its timers.
 */
export class LoopWatch implements EventLoop {
  readonly #senses: LoopSenses
  readonly now: () => number
  #gaps = 0
  #isWaking = false
  /** Connections accepted since it woke up, and whether there was one in this turn. */
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

  /** Compares with the look before. */
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
    // The reading that is under way may have begun before the gap: only the next one sees all that came meanwhile.
    if (!wasWaking) this.#senses.afterReading(() => this.#awaitNextReading())
  }

  #awaitNextReading(): void {
    this.#hasAccepted = false
    const gaps = this.#gaps
    this.#senses.afterReading(() => {
      // Node accepts one connection a turn and reads from it in the next: awake is who had none to accept.
      if (gaps === this.#gaps && (!this.#hasAccepted || this.#accepted > BACKLOG)) this.#isWaking = false
      else this.#awaitNextReading()
    })
  }
}

/** The event loop of this process, until nobody is interested any more. */
export interface WatchedEventLoop extends EventLoop {
  /** How late the loop was in the last minute, whoever asks how often. */
  delays(): LoopDelays
  stop(): void
}

/** How late a loop was, in milliseconds. */
export interface LoopDelays {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
}

const DELAY_RESOLUTION_MS = 20

/** Half of what is remembered: what is asked for is of the present half and of the one before. */
const HALF_MS = 30_000

/** What measures delays, in nanoseconds. */
export type DelayHistogram = Pick<ReturnType<typeof monitorEventLoopDelay>, 'percentile' | 'reset'>

/** Remembers delays for a minute. */
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

  /** Begins another half where it is time to; asked now and then. */
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

/**
 * Watches the event loop of this process.
 * @param onGap called with how many milliseconds it stood still
 */
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

/** What is measured is the time from one look to the next: nanoseconds. */
function delayMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - DELAY_RESOLUTION_MS)
}
