/**
 * What becomes of the calls about single operations for a while, as an episode has it: where nothing is written here, chance
 * alone decides.
 */

/** What becomes of a call that orders something. `refuses`: in words, and in deed; `refuses falsely`: in words alone. */
export type CallLine =
  | 'unreachable'
  | 'silent'
  | 'refuses'
  | 'refuses falsely'
  | 'contradicts'
  | 'another amount'
  | 'accepts'

/** What becomes of a question. `has it`: the bank has it under way, whatever it has. */
export type AskLine = 'unreachable' | 'silent' | 'denies' | 'fails' | 'contradicts' | 'renames' | 'has it' | 'truth'

/** What becomes of the calls about an operation until an instant, epoch milliseconds. */
export interface Line {
  readonly until: number
  readonly call?: CallLine
  readonly ask?: AskLine
  /** The process that has the first answer in its hand stands still for this long. */
  readonly standsMs?: number
}

/** What is written about operations. */
export class Script {
  readonly #lines = new Map<string, Line[]>()
  readonly #next = new Map<string, (nowMs: number) => Line[]>()
  readonly #stood = new Set<Line>()
  #each: ((kind: string, id: string, nowMs: number) => Line[]) | undefined

  /** Writes lines about an operation, one after the other in time. */
  write(id: string, lines: readonly Line[]): void {
    this.#lines.set(id, [...lines])
  }

  /** Writes them about the next one of a kind of which the bank is told. */
  writeNext(kind: string, lines: (nowMs: number) => Line[]): void {
    this.#next.set(kind, lines)
  }

  /** Writes them about each of which the bank is told, and nothing is written yet. */
  writeEach(lines: (kind: string, id: string, nowMs: number) => Line[]): void {
    this.#each = lines
  }

  /** What is to become of a call now; `undefined`: whatever chance decides. */
  lineOf(kind: string, id: string, nowMs: number): Line | undefined {
    const next = this.#lines.has(id) ? undefined : this.#next.get(kind)
    if (next) {
      this.#next.delete(kind)
      this.#lines.set(id, next(nowMs))
    }
    if (this.#each && !this.#lines.has(id)) this.#lines.set(id, this.#each(kind, id, nowMs))
    return this.#lines.get(id)?.find(({ until }) => nowMs < until)
  }

  /** Whether the process that got this answer stands still now: once for each line. */
  standsMs(line: Line | undefined): number {
    if (!line?.standsMs || this.#stood.has(line)) return 0
    this.#stood.add(line)
    return line.standsMs
  }
}
