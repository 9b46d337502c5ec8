import { apiKeyScopes, type Endpoint, getBalance } from '@pixgate/spec'
import { createApiKeyAuthenticator, createApiKeyAuthorizer } from '../../src/access/authenticate.ts'
import {
  apiKeyFormat,
  createCredentialCache,
  createLastUsed,
  type FoundCredential,
  type Mode,
} from '../../src/access/credentials.ts'
import { createRefusalReports } from '../../src/access/refusals.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import type { Database } from '../../src/platform/db/database.ts'
import type { Caller, IncomingRequest } from '../../src/platform/http/handler.ts'
import type { Logger } from '../../src/platform/log.ts'
import { capturedLog } from '../support/captured-log.ts'

/** A key that the tests know, another one, and one that nobody does. */
export const KEY = apiKeyFormat.format('sandbox', Buffer.alloc(32, 7))
export const OTHER_KEY = apiKeyFormat.format('sandbox', Buffer.alloc(32, 9))
export const UNKNOWN_KEY = apiKeyFormat.format('sandbox', Buffer.alloc(32, 8))

/** What the administrator of the tests shows. */
export const ADMIN_TOKEN = 'the-administrative-token-of-this-test'

/** Finds out who sent a request, and whether it may be made. */
export type Authenticate = (
  request: Pick<IncomingRequest, 'headers' | 'remoteAddress'> & Partial<Pick<IncomingRequest, 'endpoint'>>,
) => Promise<Caller>

type FoundKey = Extract<FoundCredential, { kind: 'api_key' }>

/** A key that may do everything. */
const EVERYTHING: Omit<FoundKey, 'id' | 'hash'> = {
  kind: 'api_key',
  name: null,
  scopes: apiKeyScopes,
  cidrs: null,
  expiresAt: null,
  paymentCents: null,
  hourCents: null,
  dayCents: null,
  nightCents: null,
  newRecipientCents: null,
  createdBy: null,
  deactivatedAt: null,
}

/** A key, and in what it differs from one that may do everything. */
export type Given = string | ({ readonly key: string } & Partial<FoundKey>)

/** A database that knows these keys, `key 1` and so on; what it was asked about, and how often. */
export function databaseKnowing(...keys: readonly Given[]) {
  const known = keys.map((given, index): FoundKey => {
    const { key, ...terms } = typeof given === 'string' ? { key: given } : given
    return { ...EVERYTHING, id: `key ${index + 1}`, hash: sha256(key), ...terms }
  })
  const asked: Buffer[] = []
  const counted = { statements: 0 }
  const database = {
    rows: async (_: unknown, [hashes]: readonly [readonly Buffer[]]) => {
      counted.statements += 1
      asked.push(...hashes)
      return known.filter(({ hash }) => hashes.some((one) => one.equals(hash)))
    },
  } as unknown as Database
  return { database, asked, counted }
}

/** How an authenticator differs from an ordinary one. */
interface Settings {
  readonly mode?: Mode
  readonly rateLimitPerMinute?: number
  readonly logger?: Logger
  readonly onRefused?: (credential: string, reason: string) => void
}

/** An authenticator of API keys as one process has it: in the sandbox, and without a limit unless one is given. */
export function keyAuthenticator(
  database: Database,
  clock: { now(): number },
  { mode = 'sandbox', rateLimitPerMinute = 0, logger = capturedLog().logger, onRefused }: Settings = {},
): Authenticate {
  const cache = createCredentialCache(database, clock, 10)
  const lastUsed = createLastUsed(clock, 10, async () => undefined)
  const reports = createRefusalReports(logger, onRefused)
  const authenticate = createApiKeyAuthenticator({ clock, mode, cache, lastUsed, reports })
  const authorize = createApiKeyAuthorizer({ clock, reports, rateLimitPerMinute, keysMax: 10 })
  return async (request) => {
    const caller = await authenticate(request)
    const endpoint: Endpoint = request.endpoint ?? getBalance
    authorize({ ...request, endpoint }, caller)
    return caller
  }
}
