/** Why no connection came about. */
export type NotConnectedReason = 'address_not_allowed' | 'dns' | 'connect' | 'tls' | 'timeout'

/** No connection was made, so not a byte of the request left. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'
  readonly reason: NotConnectedReason

  constructor(reason: NotConnectedReason, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}
