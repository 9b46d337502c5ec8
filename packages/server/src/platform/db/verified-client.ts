import pg from 'pg'

/** What node-postgres hands to Node.js for TLS. It shows this to nobody; a test with real servers notices if it moves. */
interface Connecting {
  readonly connection: { ssl: boolean | { rejectUnauthorized?: boolean } }
}

/**
 * A connection that verifies who is there wherever its address asks for TLS and does not say otherwise: node-postgres leaves
 * that to Node.js, and Node.js to `NODE_TLS_REJECT_UNAUTHORIZED`.
 * @source rules#production.6
 */
export class VerifiedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    const { connection } = this as unknown as Connecting
    if (connection.ssl === true) connection.ssl = { rejectUnauthorized: true }
    else if (connection.ssl) connection.ssl.rejectUnauthorized ??= true
  }
}
