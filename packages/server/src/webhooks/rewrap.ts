import { hostname } from 'node:os'
import { insertAudit } from '../audit/trail.ts'
import { commandOf } from '../platform/command.ts'
import type { Queries } from '../platform/db/database.ts'
import { createSealer, type EncryptionKeys } from '../platform/sealing.ts'
import type { ChangeNeeds } from './change.ts'
import { type SealedValue, Unreadable, unseal } from './sealed.ts'
import { readSealedSecrets } from './secrets.ts'
import { readSealedKeys } from './signing.ts'

/** Rotation of the encryption key: which keys the stored values need, and sealing them anew. */

/** All sealed values, signing keys first. @source rules#encryption.3 */
async function readSealed(queries: Queries): Promise<readonly SealedValue[]> {
  return [...(await readSealedKeys(queries)), ...(await readSealedSecrets(queries))]
}

/**
 * Advises which encryption key is still needed and which can be removed; empty without advice. A changed secret of an
 * endpoint is reported but stops nothing.
 * @throws Unreadable when neither key opens a value
 * @source rules#encryption.4, rules#webhook-secrets.4
 */
export async function adviseOn(queries: Queries, keys: EncryptionKeys): Promise<readonly string[]> {
  const sealer = createSealer(keys)
  const damaged: string[] = []
  const opened = (await readSealed(queries)).flatMap((value) => {
    try {
      return [unseal(value, sealer)]
    } catch (error) {
      // One endpoint lacks one signature; that of the signing key is still there.
      const isOneSecret = error instanceof Unreadable && error.reason === 'changed' && value.kind === 'webhook_secret'
      if (!isOneSecret) throw error
      damaged.push(error.message)
      return []
    }
  })
  const byPrevious = opened.filter(({ by }) => by === 'previous').length
  if (byPrevious > 0) {
    const needs = `${byPrevious} of ${opened.length} sealed secrets`
    return [...damaged, `PIXGATE_ENCRYPTION_KEY_PREVIOUS is needed by ${needs}: run \`${commandOf('rewrap-keys')}\``]
  }
  if (keys.previous === undefined) return damaged
  return [...damaged, 'PIXGATE_ENCRYPTION_KEY_PREVIOUS is no longer needed; remove it']
}

export interface Rewrapped {
  /** `signing_key brBF9ATMQOcuvXdP`, or `webhook_secret` and its id. */
  readonly what: string
  /**
   * - `unreadable`: no configured key opens it; unchanged.
   * - `gone`: erased, or sealed anew by another process meanwhile.
   */
  readonly outcome: 'rewrapped' | 'current_already' | 'gone' | 'unreadable'
  readonly reason?: string
}

/**
 * Seals every value with the current key, each in its own transaction with an audit row. Can be stopped and repeated,
 * beside running processes.
 * @source rules#encryption.3
 */
export async function rewrap({
  database,
  clock,
  ids,
  keys,
}: ChangeNeeds & { readonly keys: EncryptionKeys }): Promise<readonly Rewrapped[]> {
  const sealer = createSealer(keys)
  const results: Rewrapped[] = []
  for (const value of await readSealed(database)) {
    const what = `${value.kind} ${value.id}`
    try {
      const { plain, by } = unseal(value, sealer)
      if (by === 'current') {
        results.push({ what, outcome: 'current_already' })
        continue
      }
      const isStillThere = await database.transaction(async (queries) => {
        if (!(await value.reseal(queries, sealer.seal(plain, value.place)))) return false
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

/** Actor in the audit trail: a command on the machine, with its configuration. */
const PROGRAM = { actor: 'rewrap-keys', address: hostname() }
