import { limits } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Job } from '../platform/jobs/job.ts'
import type { Logger } from '../platform/log.ts'
import type { ReceiverSecrets } from '../signing-keys/index.ts'
import { sweepReplays } from './replays/store.ts'
import { endHeld, sweepRemoved } from './store.ts'

/** What it works with. */
export interface HousekeepingDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
  readonly secrets: ReceiverSecrets
}

/** Of what waits to be sent again and never will be, so much at once. */
const SWEPT_AT_ONCE = 500

/**
 * Ends what is not sent any more, a few hundred at a time: what was pending for receivers that were removed, and what was held
 * for longer than it is kept, and replays of either. Erases the secrets that sign no more.
 * @source rules#webhooks.3, rules#webhooks.14, rules#webhooks.23, rules#webhook-secrets.3
 */
export function createHousekeeping({ database, clock, logger, secrets }: HousekeepingDependencies): Job {
  return {
    processNext: async () => {
      const now = clock.now()
      await secrets.erase(database, now)
      const isMore = await sweepRemoved(database, now)
      const ended = await endHeld(database, now, now - limits.webhookHeldMs)
      for (const { subscriptionId, count } of ended) {
        logger.error({ webhookId: subscriptionId, count }, 'deliveries were held for too long and are given up')
      }
      const isMoreReplays = (await sweepReplays(database, now, SWEPT_AT_ONCE)) === SWEPT_AT_ONCE
      return isMore || isMoreReplays || ended.length > 0
    },
  }
}
