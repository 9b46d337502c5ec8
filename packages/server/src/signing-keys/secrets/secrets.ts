import type { Queries } from '../../platform/db/database.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Sealer } from '../../platform/sealing.ts'
import { endOfOverlap } from './rules.ts'
import { makeSecret, type NewSecret, type SealedSecret, unsealSecret } from './secret.ts'
import { endSecrets, eraseSecrets, insertSecret, listSecrets, type SigningSecret, sealedOf } from './store.ts'

/** What receivers share with the service, and their notifications are signed with beside the signing key. */
export interface ReceiverSecrets {
  /**
   * Makes the newest secret of a receiver; those before it sign until the overlap is over. The caller holds off who else would.
   * @throws Refusal too_many_webhook_secrets (409)
   */
  make(queries: Queries, subscriptionId: string, nowMs: number, overlapSeconds: number): Promise<NewSecret>
  /** Those that sign, the newest first. */
  list(queries: Queries, subscriptionId: string, nowMs: number): Promise<readonly SigningSecret[]>
  /** The same of several receivers, as they are stored. */
  sealedOf(queries: Queries, subscriptionIds: readonly string[], nowMs: number): Promise<readonly SealedSecret[]>
  /** None of a receiver's signs any more: they are erased. */
  end(queries: Queries, subscriptionId: string, nowMs: number): Promise<void>
  /** Erases what signs no more. */
  erase(queries: Queries, nowMs: number): Promise<void>
  /** The bytes of a secret. @throws SecretUnreadable */
  open(sealed: SealedSecret): Buffer
  /** What everything begins with that this process can open. */
  readonly openedHeaders: readonly Buffer[]
}

/** Binds the secrets to what seals them. @source rules#webhook-secrets.1, rules#webhook-secrets.2, rules#webhook-secrets.3 */
export function createReceiverSecrets({ ids, sealer }: { ids: Ids; sealer: Sealer }): ReceiverSecrets {
  return {
    make: async (queries, subscriptionId, nowMs, overlapSeconds) => {
      const signing = await listSecrets(queries, subscriptionId, nowMs)
      const made = makeSecret(sealer, { subscriptionId, id: ids.uuid() })
      await endSecrets(queries, subscriptionId, endOfOverlap(signing.length, overlapSeconds, nowMs), nowMs)
      await insertSecret(queries, made, nowMs)
      return made
    },
    list: listSecrets,
    sealedOf,
    end: (queries, subscriptionId, nowMs) => endSecrets(queries, subscriptionId, nowMs, nowMs),
    erase: eraseSecrets,
    open: (sealed) => unsealSecret(sealed, sealer).plain,
    openedHeaders: sealer.headers,
  }
}
