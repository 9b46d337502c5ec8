/** A benchmark starts its own servers and measures its baseline in the same run. */
export interface Benchmark {
  readonly name: string
  /** One line for the list. */
  readonly summary: string
  /** Options of the command line that it supports. */
  readonly options?: readonly (keyof BenchmarkOptions)[]
  run(after: After, options: BenchmarkOptions): Promise<Findings>
}

/** Restricts a run; a restricted run is printed and not stored. */
export interface BenchmarkOptions {
  readonly rounds?: number
  /** Numbers of concurrent callers. */
  readonly callers?: readonly number[]
  /** Names of subjects. */
  readonly of?: readonly string[]
  /** Another checkout with installed packages, measured side by side. */
  readonly against?: string
}

/** Registers a clean-up that runs when the benchmark ends, last registered first. */
export type After = (stop: () => Promise<unknown>) => void

/** Runs work with clean-ups of its own. */
export async function scoped<Result>(after: After, work: (after: After) => Promise<Result>): Promise<Result> {
  const stops: (() => Promise<unknown>)[] = []
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  after(stopAll)
  return work((stop) => stops.push(stop)).finally(stopAll)
}

/** Result of a benchmark. */
export interface Findings {
  /** Rows of its table: medians over the rounds. */
  readonly figures: readonly Readonly<Record<string, string | number>>[]
  readonly targets: readonly Target[]
}

/** A measured figure with its limit: a ratio within the run, or a time. */
export interface Target {
  readonly what: string
  readonly value: number
  readonly atLeast?: number
  readonly atMost?: number
}

export function isMet({
  value,
  atLeast = Number.NEGATIVE_INFINITY,
  atMost = Number.POSITIVE_INFINITY,
}: Target): boolean {
  return value >= atLeast && value <= atMost
}
