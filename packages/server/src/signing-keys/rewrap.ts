import { hostname } from 'node:os'
import { insertAudit } from '../audit/store.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queries } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { createSealer, type EncryptionKeys, type Opened } from '../platform/sealing.ts'
import { sealedValues } from './sealed.ts'
import { SecretUnreadable } from './secrets/secret.ts'
import { Unreadable } from './unreadable.ts'

/** What is sealed at rest, and sealing it anew with the key that is configured now. */

/**
 * What the operator should know of the encryption keys: which is still needed, and which is set for nothing. Nothing where
 * all is as it should be. A receiver's secret that was changed where it is stored is told and stops nothing.
 * @throws Unreadable where neither key opens something that is stored
 * @source rules#encryption.4, rules#webhook-secrets.4
 */
export async function sealingAdvice(queries: Queries, keys: EncryptionKeys): Promise<readonly string[]> {
  const sealer = createSealer(keys)
  const damaged: string[] = []
  const opened = (await sealedValues(queries)).flatMap((value) => {
    try {
      return [value.open(sealer)]
    } catch (error) {
      // Of one receiver only: what it gets has the signing key's signature all the same.
      if (!(error instanceof SecretUnreadable && error.reason === 'changed')) throw error
      damaged.push(error.message)
      return []
    }
  })
  const count = (of: (value: Opened) => boolean) => `${opened.filter(of).length} of ${opened.length}`
  const isByPrevious = ({ by }: Opened) => by === 'previous'
  const isNeeded = opened.some(isByPrevious)
  return [
    ...damaged,
    ...(isNeeded ? [`PIXGATE_ENCRYPTION_KEY_PREVIOUS is needed still, by ${count(isByPrevious)} ${REWRAP}`] : []),
    ...(keys.previous !== undefined && !isNeeded ? [SET_FOR_NOTHING] : []),
  ]
}

const REWRAP = 'sealed secrets: run rewrap-keys'

const SET_FOR_NOTHING =
  'PIXGATE_ENCRYPTION_KEY_PREVIOUS is set for nothing: all that is sealed opens without it; remove it'

/** What became of a sealed value. */
export interface Rewrapped {
  /** `signing_key brBF9ATMQOcuvXdP`; of a receiver's secret `webhook_secret` and its id. */
  readonly what: string
  /** `unreadable`: no configured key opens it; it is as it was. `gone`: erased, or sealed anew by another, meanwhile. */
  readonly outcome: 'rewrapped' | 'current_already' | 'gone' | 'unreadable'
  /** Of what could not be read, why. */
  readonly reason?: string
}

/** What {@link rewrapKeys} works with. */
export interface RewrapDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly keys: EncryptionKeys
}

/**
 * Seals everything anew with the current key, each value in a transaction of its own with its row in the audit trail: what
 * was done stays done where it is ended halfway. Processes that run are not disturbed.
 * @source rules#encryption.3
 */
export async function rewrapKeys({ database, clock, ids, keys }: RewrapDependencies): Promise<readonly Rewrapped[]> {
  const sealer = createSealer(keys)
  const results: Rewrapped[] = []
  for (const value of await sealedValues(database)) {
    const what = `${value.kind} ${value.id}`
    try {
      const { plain, by } = value.open(sealer)
      if (by === 'current') {
        results.push({ what, outcome: 'current_already' })
        continue
      }
      const isStillThere = await database.transaction(async (queries) => {
        if (!(await value.reseal(queries, plain, sealer))) return false
        const row = { id: ids.uuid(), at: clock.now(), action: `${value.kind}.rewrapped`, subject: value.id }
        await insertAudit(queries, { ...row, ...PROGRAM, facts: { openedBy: by } })
        return true
      })
      results.push({ what, outcome: isStillThere ? 'rewrapped' : 'gone' })
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      results.push({ what, outcome: 'unreadable', reason: error.message })
    }
  }
  return results
}

/** Whom the audit trail names: it runs on the machine, with the configuration. */
const PROGRAM = { actor: 'rewrap-keys', address: hostname() }
