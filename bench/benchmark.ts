/** A benchmark: starts what it needs itself, and measures its yardstick in the same run. */
export interface Benchmark {
  readonly name: string
  /** One line for the list. */
  readonly summary: string
  run(after: After): Promise<Findings>
}

/** Registers what must be stopped afterwards, however the benchmark ends; the last one first. */
export type After = (stop: () => Promise<unknown>) => void

/** What a benchmark found. */
export interface Findings {
  /** The lines of its table: medians over the rounds. */
  readonly figures: readonly Readonly<Record<string, string | number>>[]
  readonly targets: readonly Target[]
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
