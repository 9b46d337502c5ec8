/** Callers in a closed loop: each makes its next call when the previous one is answered. */
export interface Load {
  readonly callers: number
  /** Not counted: caches are filled, code is compiled. */
  readonly warmUpMs: number
  readonly measuredMs: number
}

/** Calls per second, and percentiles of the duration of a call in milliseconds. */
export interface Figures {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

/** Figures of a measurement without calls. */
export const NO_FIGURES: Figures = { perSecond: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0 }

/** Runs a load. Counts calls that end within the measured time; a failing call ends the measurement. */
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

export function figuresOf(latenciesMs: readonly number[], measuredMs: number): Figures {
  const sorted = Float64Array.from(latenciesMs).sort()
  return {
    perSecond: (sorted.length * 1_000) / measuredMs,
    p50Ms: percentile(sorted, 0.5),
    p95Ms: percentile(sorted, 0.95),
    p99Ms: percentile(sorted, 0.99),
  }
}

/** The usual load of a measurement. */
export function from(callers: number): Load {
  return { callers, warmUpMs: 500, measuredMs: 2_000 }
}

/** Repeats a round of measurements. The contestants of a round take turns, so that all have the same noise. */
export async function inRounds<Round>(rounds: number, round: () => Promise<Round>): Promise<Round[]> {
  const done: Round[] = []
  for (let turn = 1; turn <= rounds; turn++) done.push(await round())
  return done
}

/** Rows of a table: each contestant's medians. */
export function tableOf<Name extends string>(rounds: readonly Readonly<Record<Name, Figures>>[]) {
  const [first] = rounds
  return (Object.keys(first ?? {}) as Name[]).map((name) => ({
    'load, callers': name,
    ...medianFigures(rounds.map((round) => round[name])),
  }))
}

/** Median of each figure. */
export function medianFigures(rounds: readonly Figures[]): Figures {
  return {
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
    p95Ms: median(rounds.map(({ p95Ms }) => p95Ms)),
    p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
  }
}

/**
 * Ratio of a figure of two contestants: the median over the rounds, since both have the same noise within a round.
 */
export function ratio<Name extends string>(
  rounds: readonly Readonly<Record<Name, Figures>>[],
  figure: keyof Figures,
  one: NoInfer<Name>,
  other: NoInfer<Name>,
): number {
  return median(rounds.map((round) => round[one][figure] / round[other][figure]))
}

/** The middle value; for an even number of values the lower one. */
export function median(values: readonly number[]): number {
  return percentile(Float64Array.from(values).sort(), 0.5)
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}
