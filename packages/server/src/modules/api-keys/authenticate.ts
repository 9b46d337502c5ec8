import { Refusal } from '@pixgate/spec'
import type { Clock } from '../../platform/clock.ts'
import { secretsEqual, sha256 } from '../../platform/crypto.ts'
import type { Database } from '../../platform/db/database.ts'
import type { Caller, IncomingRequest } from '../../platform/http/handler.ts'
import { type ApiKeyMode, modeOf } from './key.ts'
import { findActiveKey } from './store.ts'
import { createVerifiedKeys } from './verified-keys.ts'

/**
 * Finds out who sent a bearer token.
 * @throws Refusal `unauthorized`, one and the same whatever is wrong · DatabaseUnavailable, which says nothing of the key
 * @source rules#http.6
 */
export type Authenticate = (request: Pick<IncomingRequest, 'headers'>) => Promise<Caller>

/** More keys than anybody uses within five seconds. */
const VERIFIED_KEYS_MAX = 1_000

/**
 * Takes API keys of one mode. What is no such key never reaches the database.
 * @source rules#api-keys.2, rules#api-keys.4
 */
export function createApiKeyAuthenticator(database: Database, clock: Clock, mode: ApiKeyMode): Authenticate {
  const verified = createVerifiedKeys(clock, VERIFIED_KEYS_MAX)

  async function find(hash: Buffer): Promise<string | undefined> {
    const askedAt = clock.now()
    const id = await findActiveKey(database, hash)
    if (id !== undefined) verified.put(hash, id, askedAt)
    return id
  }

  return async ({ headers }) => {
    const token = bearerToken(headers.authorization)
    if (token === undefined || modeOf(token) !== mode) throw new Refusal('unauthorized')
    const hash = sha256(token)
    const id = verified.get(hash) ?? (await find(hash))
    if (id === undefined) throw new Refusal('unauthorized')
    return { credential: 'api-key', id }
  }
}

/** Takes the administrative token, and nothing else. */
export function createAdminAuthenticator(adminToken: string): Authenticate {
  return async ({ headers }) => {
    const token = bearerToken(headers.authorization)
    if (token === undefined || !secretsEqual(token, adminToken)) throw new Refusal('unauthorized')
    return { credential: 'admin', id: 'admin' }
  }
}

/** One space, then visible ASCII to the end. The scheme's letters may be of either case (RFC 9110). */
const BEARER = /^Bearer ([!-~]+)$/i

function bearerToken(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}
