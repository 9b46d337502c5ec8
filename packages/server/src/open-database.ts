/** A database for a command, with its cleanup. */
export interface OpenDatabase {
  readonly url: string
  readonly stop: () => Promise<void>
}
