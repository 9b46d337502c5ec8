import { andMore, createHeartbeat } from '../../platform/heartbeat.ts'
import type { Logger } from '../../platform/log.ts'
import { type ReceiverSecrets, type SealedSecret, SecretUnreadable } from '../../signing-keys/index.ts'

/** Opens what a notification is signed with beside the signing key. */
export type OpenSecrets = (sealed: readonly SealedSecret[]) => Buffer[]

/**
 * Makes it. A secret that was changed where it is stored is left out, with an error in the log: the signing key vouches for the
 * notification all the same.
 * @source rules#webhook-secrets.4
 */
export function openingSecrets(secrets: Pick<ReceiverSecrets, 'open'>, logger: Logger): OpenSecrets {
  const unreadable = createHeartbeat()
  return (sealed) =>
    sealed.flatMap((one) => {
      try {
        return [secrets.open(one)]
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
