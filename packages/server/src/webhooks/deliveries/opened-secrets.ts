import { createSecretKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { andMore, createHeartbeat } from '../../platform/heartbeat.ts'
import type { Logger } from '../../platform/log.ts'
import { type ReceiverSecrets, type SealedSecret, SecretUnreadable } from '../../signing-keys/index.ts'

/** Opens what a notification is signed with beside the signing key. */
export type OpenSecrets = (sealed: readonly SealedSecret[]) => KeyObject[]

/** More than the receivers of an installation have. */
const OPENED_MAX = 256

/**
 * Makes it. What was opened is kept: it is the same at every attempt, and opening it costs more than signing with it. A secret that was changed where it is stored is left out, with an error in the log: the signing key vouches for the
 * notification all the same.
 * @source rules#webhook-secrets.4
 */
export function openingSecrets(secrets: Pick<ReceiverSecrets, 'open'>, logger: Logger): OpenSecrets {
  const unreadable = createHeartbeat()
  const opened = new LRUCache<string, KeyObject>({ max: OPENED_MAX })
  return (sealed) =>
    sealed.flatMap((one) => {
      const name = `${one.subscriptionId} ${one.id} ${one.secret.toString('base64')}`
      try {
        const key = opened.get(name) ?? createSecretKey(secrets.open(one))
        opened.set(name, key)
        return [key]
      } catch (error) {
        if (!(error instanceof SecretUnreadable)) throw error
        unreadable.report(one.id, (more) =>
          logger.error(
            { webhookId: one.subscriptionId, reason: error.message },
            `a notification is sent without the signature of a secret${andMore(more)}`,
          ),
        )
        return []
      }
    })
}
