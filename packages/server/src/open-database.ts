/** A database to look at, and what to do with it afterwards. */
export interface OpenDatabase {
  readonly url: string
  readonly stop: () => Promise<void>
}
