/** A start that cannot go on, with a message for a person. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError'
  /** A stable name of the fault, where it has one. */
  readonly code?: string
}
