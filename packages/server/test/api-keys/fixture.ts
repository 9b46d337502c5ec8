import { type Authenticate, createApiKeyAuthenticator } from '../../src/api-keys/authenticate.ts'
import { type ApiKeyMode, formatKey } from '../../src/api-keys/key.ts'
import { createVerifiedKeys } from '../../src/api-keys/verified-keys.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import type { Database } from '../../src/platform/db/database.ts'

/** A key that the tests know, another one, and one that nobody does. */
export const KEY = formatKey('sandbox', Buffer.alloc(32, 7))
export const OTHER_KEY = formatKey('sandbox', Buffer.alloc(32, 9))
export const UNKNOWN_KEY = formatKey('sandbox', Buffer.alloc(32, 8))

/** What the administrator of the tests shows. */
export const ADMIN_TOKEN = 'the-administrative-token-of-this-test'

/** A database that knows these keys, `key 1` and so on, and the hashes it was asked about. */
export function databaseKnowing(...keys: readonly string[]): { database: Database; asked: Buffer[] } {
  const known = keys.map(sha256)
  const asked: Buffer[] = []
  const database = {
    rows: async (_: unknown, [hash]: readonly [Buffer]) => {
      asked.push(hash)
      return known.flatMap((one, index) => (one.equals(hash) ? [{ id: `key ${index + 1}` }] : []))
    },
  } as unknown as Database
  return { database, asked }
}

/** An authenticator of API keys as one process has it: in the sandbox, and without a limit unless one is given. */
export function keyAuthenticator(
  database: Database,
  clock: { now(): number },
  { mode = 'sandbox' as ApiKeyMode, rateLimitPerMinute = 0 } = {},
): Authenticate {
  const verified = createVerifiedKeys(clock, 10)
  return createApiKeyAuthenticator({ database, clock, mode, verified, rateLimitPerMinute, keysMax: 10 })
}
