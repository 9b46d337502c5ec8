/** Callers in a closed loop: each makes its next call as soon as the one before is answered. */
export interface Load {
  readonly callers: number
  /** Not counted: caches fill, code is compiled. */
  readonly warmUpMs: number
  readonly measuredMs: number
}

/** What callers saw: calls per second, and percentiles of the time a call took, in milliseconds. */
export interface Figures {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

/** The figures of what no caller waits for. */
export const NOBODY_SAW: Figures = { perSecond: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0 }

/** Puts a load on `call`. Calls that end within the measured time count; one that fails ends the measurement. */
export async function measure(call: () => Promise<unknown>, load: Load): Promise<Figures> {
  const countsFrom = performance.now() + load.warmUpMs
  const endsAt = countsFrom + load.measuredMs
  const latenciesMs: number[] = []

  async function caller(): Promise<void> {
    for (let startedAt = performance.now(); startedAt < endsAt; ) {
      await call()
      const endedAt = performance.now()
      if (endedAt >= countsFrom && endedAt < endsAt) latenciesMs.push(endedAt - startedAt)
      startedAt = endedAt
    }
  }

  await Promise.all(Array.from({ length: load.callers }, caller))
  return figuresOf(latenciesMs, load.measuredMs)
}

/** What calls that took these times within a measured time are told by. */
export function figuresOf(latenciesMs: readonly number[], measuredMs: number): Figures {
  const sorted = Float64Array.from(latenciesMs).sort()
  return {
    perSecond: (sorted.length * 1_000) / measuredMs,
    p50Ms: percentile(sorted, 0.5),
    p95Ms: percentile(sorted, 0.95),
    p99Ms: percentile(sorted, 0.99),
  }
}

/** What the contestants of a round are put under. */
export function from(callers: number): Load {
  return { callers, warmUpMs: 500, measuredMs: 2_000 }
}

/** Repeats a round of measurements. The contestants of one round follow each other, so that all see the same noise. */
export async function inRounds<Round>(rounds: number, round: () => Promise<Round>): Promise<Round[]> {
  const done: Round[] = []
  for (let turn = 1; turn <= rounds; turn++) done.push(await round())
  return done
}

/** The lines of a table: each contestant's medians. */
export function tableOf<Name extends string>(rounds: readonly Readonly<Record<Name, Figures>>[]) {
  const [first] = rounds
  return (Object.keys(first ?? {}) as Name[]).map((name) => ({
    'who, callers': name,
    ...medianFigures(rounds.map((round) => round[name])),
  }))
}

/** The median of each figure by itself. */
export function medianFigures(rounds: readonly Figures[]): Figures {
  return {
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
    p95Ms: median(rounds.map(({ p95Ms }) => p95Ms)),
    p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
  }
}

/**
 * A figure of one contestant as a part, or a multiple, of another's: the median over the rounds, as the two of one round
 * saw the same noise.
 */
export function ratio<Name extends string>(
  rounds: readonly Readonly<Record<Name, Figures>>[],
  figure: keyof Figures,
  one: NoInfer<Name>,
  other: NoInfer<Name>,
): number {
  return median(rounds.map((round) => round[one][figure] / round[other][figure]))
}

/** The middle value; of an even number the lower of the two in the middle. */
export function median(values: readonly number[]): number {
  return percentile(Float64Array.from(values).sort(), 0.5)
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}
