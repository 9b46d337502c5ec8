/** The process cannot start. The message is written for a person. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError'
  readonly code?: string
}
