import { randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { sha256 } from '../../platform/crypto.ts'
import type { Database } from '../../platform/db/database.ts'
import type { Ids } from '../../platform/ids.ts'
import { type ApiKeyMode, displayOf, formatKey, SECRET_BYTES } from './key.ts'
import { insertAudit, insertKey } from './store.ts'

/** What making a key needs. */
export interface GenerateDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly mode: ApiKeyMode
}

/** A key in the one moment in which it exists as text. */
export interface GeneratedKey {
  readonly apiKey: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/**
 * Makes a key and tells the audit trail who asked for it, from where. Where the answer is lost, the key stays behind
 * unknown to anybody; the caller makes another.
 * @throws DatabaseUnavailable
 * @source rules#api-keys.1, failure-modes PL-4
 */
export async function generateKey(
  { database, clock, ids, mode }: GenerateDependencies,
  { actor, address }: { readonly actor: string; readonly address: string },
): Promise<GeneratedKey> {
  const apiKey = formatKey(mode, randomBytes(SECRET_BYTES))
  const display = displayOf(apiKey)
  const keyId = ids.uuid()
  const at = clock.now()
  await database.transaction(async (queries) => {
    await insertKey(queries, { id: keyId, hash: sha256(apiKey), display, createdAt: at })
    await insertAudit(queries, { id: ids.uuid(), at, actor, action: 'api_key.generated', keyId, address, display })
  })
  return { apiKey, createdAt: at }
}
