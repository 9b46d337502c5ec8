/** Something that must hold of the books, and the query that finds where it does not. */
export interface Check {
  readonly name: string
  /** What must hold, in a sentence. */
  readonly meaning: string
  /** One row per fault, with one column, `what`. Reads only. */
  readonly sql: string
}
