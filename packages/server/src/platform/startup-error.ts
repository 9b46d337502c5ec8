/** The process cannot start. The message is written for a person. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError'
  /** Stable code of the fault, if it has one. */
  readonly code?: string
}
