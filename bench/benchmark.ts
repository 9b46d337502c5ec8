/** A benchmark: starts what it needs itself, and measures its yardstick in the same run. */
export interface Benchmark {
  readonly name: string
  /** One line for the list. */
  readonly summary: string
  /** What the command line may ask of it; absent: nothing. */
  readonly options?: readonly (keyof BenchmarkOptions)[]
  /** Whether a run of the whole is written to `results`; by default it is. */
  readonly isKept?: boolean
  run(after: After, options: BenchmarkOptions): Promise<Findings>
}

/** What a run is to be instead of the whole. */
export interface BenchmarkOptions {
  readonly rounds?: number
  /** How many at once. */
  readonly callers?: readonly number[]
  /** Of what is measured, these. */
  readonly of?: readonly string[]
  /** Another checkout of the repository, with its packages installed, that does the same side by side. */
  readonly against?: string
}

/** Registers what must be stopped afterwards, however the benchmark ends; the last one first. */
export type After = (stop: () => Promise<unknown>) => void

/** Does work, and stops at its end what it has started, the last one first. */
export async function scoped<Result>(after: After, work: (after: After) => Promise<Result>): Promise<Result> {
  const stops: (() => Promise<unknown>)[] = []
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  after(stopAll)
  return work((stop) => stops.push(stop)).finally(stopAll)
}

/** What a benchmark found. */
export interface Findings {
  /** The lines of its table: medians over the rounds. */
  readonly figures: readonly Readonly<Record<string, string | number>>[]
  readonly targets: readonly Target[]
  /** What its table has no place for, such as where the time goes. */
  readonly notes?: readonly Note[]
}

/** A table of another kind. */
export interface Note {
  readonly title: string
  readonly lines: readonly Readonly<Record<string, string | number>>[]
}

/** A figure that is asked for, as measured: a ratio within the run, or a time. */
export interface Target {
  /** Its number in the performance programme, where it has one. */
  readonly id?: string
  readonly what: string
  readonly value: number
  readonly atLeast?: number
  readonly atMost?: number
}

/** Whether a target was met. */
export function isMet({
  value,
  atLeast = Number.NEGATIVE_INFINITY,
  atMost = Number.POSITIVE_INFINITY,
}: Target): boolean {
  return value >= atLeast && value <= atMost
}
