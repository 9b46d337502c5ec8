import { Refusal } from '@pixgate/spec'
import type { Inbound } from '../banks/inbound.ts'
import type { CashInModule } from '../cash-in/index.ts'
import type { CashOutModule } from '../cash-out/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { IncomingRequest } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import type { RefundInModule } from '../refund-in/index.ts'
import { createInboxJobs, createInboxReports, type InboxObserver } from './jobs.ts'
import { createBankAuthenticator, createInboxCommands, createInboxRoutes } from './receive.ts'
import { createReceivers } from './receivers.ts'
import { createSetAsideEvents } from './set-aside.ts'
import { createInboxStore } from './store.ts'

interface PartnerInboxOptions {
  readonly database: Database
  readonly engine: Engine
  readonly cashIns: CashInModule
  readonly cashOuts: CashOutModule
  readonly refunds: RefundInModule
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly inbound: Inbound
  readonly observer?: InboxObserver
}

/** The bank's events: stored, then applied. */
export function createPartnerInboxModule(options: PartnerInboxOptions) {
  const { inbound, clock, logger } = options
  const store = createInboxStore(options.database)
  const receivers = createReceivers(options)
  const reports = createInboxReports(logger, options.observer)
  const jobs = createInboxJobs({ ...options, store, receivers, reports })
  const applying = new Set<Promise<void>>()
  const commands = createInboxCommands({
    ...options,
    store,
    receivers,
    reports,
    onStored: (rows) => {
      // After a failure the events are claimed again once the lease ends.
      const work = jobs
        .apply(rows)
        .catch((error) =>
          logger.warn({ error: String(error) }, 'events were not applied; retrying when their lease ends'),
        )
        .finally(() => applying.delete(work))
      applying.add(work)
    },
  })
  return {
    routes: createInboxRoutes(inbound, commands),
    authenticatePartner: createBankAuthenticator(inbound, clock, reports, commands.queryInstead),
    onUnread: ({ endpoint }: Pick<IncomingRequest, 'endpoint'>, error: unknown) =>
      reports.unread(endpoint.path, error instanceof Refusal ? error.message : String(error)),
    setAside: createSetAsideEvents({ ...options, receivers }),
    processNext: jobs.processNext,
    drained: async (): Promise<void> => {
      await Promise.all(applying)
    },
  }
}
