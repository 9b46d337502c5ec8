import { serviceEndpoints } from '@pixgate/spec'
import { createApiKeysModule } from './api-keys/index.ts'
import { createBalanceHandlers } from './balance/index.ts'
import { createStatementModule } from './bank-statement/index.ts'
import type { Bank } from './banks/bank.ts'
import { withBreaker } from './banks/breaker.ts'
import { createEventQueryBudget } from './banks/event-query-budget.ts'
import { withinCapabilities } from './banks/lacking.ts'
import { createCashInModule } from './cash-in/index.ts'
import { createCashOutModule } from './cash-out/index.ts'
import type { Config } from './config.ts'
import { createEngine, type Engine } from './engine/engine.ts'
import { FORGET_EVERY_MS, forgetBatches } from './engine/forget-batches.ts'
import { createHealthHandlers, createHealthStore, createMetrics } from './health/index.ts'
import { createPartnerInboxModule } from './inbox/index.ts'
import { createLedgerModule, createLedgerVerifier } from './ledger/index.ts'
import { createOperatorModule } from './operator/index.ts'
import { APPLICATION_ROLE, type DatabaseOptions, openDatabase, statement } from './platform/db/database.ts'
import { watchEventLoop } from './platform/event-loop.ts'
import type { BoundEndpoint } from './platform/http/endpoint-route.ts'
import { createHttpServer, type HttpServer } from './platform/http/http-server.ts'
import { createIds } from './platform/ids.ts'
import { startWorker, type Worker } from './platform/jobs/worker.ts'
import type { Logger } from './platform/log.ts'
import type { ProcessDependencies } from './process.ts'
import { createRefundInModule, type RefundInModule } from './refund-in/index.ts'
import { createWebhooksModule } from './webhooks/index.ts'

/**
 * Builds the service by hand. The only file that sees every module.
 */

/** A service, not yet listening. */
export interface Service {
  readonly http: HttpServer
  readonly engine: Engine
  /** Starts the workers. */
  startWorkers(): void
  /** Does once what is due, for whoever steps the work instead of starting workers. Deliveries are not part of it. */
  processNext(): Promise<void>
  /** Finishes what is under way, takes nothing new, and lets go of everything. */
  stop(): Promise<void>
}

/** Everything the environment provides. */
export interface Dependencies extends ProcessDependencies {
  readonly config: Config
  /** Another bank than the configured one. */
  readonly bank?: Bank
}

/** Whether an operation exists, by its kind. */
export interface KnownOperations {
  readonly cashIns: { exists(id: string): Promise<boolean> }
  readonly cashOuts: { exists(id: string): Promise<boolean> }
  readonly refunds: { exists(id: string): Promise<boolean> }
}

/** Makes endpoints that the service answers besides its own. */
export type AddEndpoints = (operations: KnownOperations) => readonly BoundEndpoint[]

/** What the bank calls is the bank's to say. */
const { receiveCashInEvent, receiveCashOutEvent, ...ownEndpoints } = serviceEndpoints

/** How often a worker that nobody woke looks for work. */
const POLL_MS = 1_000

/**
 * Builds everything, by the database's time from the first moment on. The schema must be up to date.
 * @source failure-modes#P10
 */
export async function compose(dependencies: Dependencies, addEndpoints?: AddEndpoints): Promise<Service> {
  const { config, clock, logger } = dependencies
  const ids = createIds(clock)
  const databases = openDatabases(config.databaseUrl, logger)
  const databaseNow = async () => (await databases.api.rows(selectNow, []))[0]?.now ?? Number.NaN
  // Ahead of all that looks at the clock: a wall clock that is fast would let charges expire that can still be paid.
  clock.observe(await databaseNow())

  const engine = createEngine({
    ...dependencies,
    ids,
    database: databases.engine,
    onNotifications: () => webhooks.wake(),
  })
  const bank = dependencies.bank ?? config.bank.open()
  const partner = withBreaker(withinCapabilities(bank), clock)
  const eventQueries = createEventQueryBudget()
  const bounds = { callTimeoutMs: config.bank.timeoutMs, eventQueries }
  const cashIns = createCashInModule({
    ...dependencies,
    engine,
    ids,
    database: databases.api,
    partner,
    terms: { merchant: config.merchant, fee: config.feeCashIn, maxValueCents: config.maxValueCents },
    createBudgetMs: config.bank.createBudgetMs,
    returns: {
      take: (cashIn, returned) => refunds.applyEvent(cashIn.id, returned),
      settle: (cashIn) => refunds.settleReturns(cashIn),
    },
    eventQueries,
    credits: config.credits,
  })
  const cashOuts = await createCashOutModule({
    engine,
    database: databases.api,
    partner,
    clock,
    ids,
    terms: {
      fee: config.feeCashOut,
      maxValueCents: config.maxValueCents,
      cashOutMaxCents: config.cashOutMaxCents,
      cashOutDailyMaxCents: config.cashOutDailyMaxCents,
    },
    bounds,
    onReserved: () => workers.get('cash-out')?.wake(),
  })
  const refunds: RefundInModule = createRefundInModule({
    engine,
    database: databases.api,
    partner,
    clock,
    ids,
    bounds,
    onReserved: () => workers.get('refund-in')?.wake(),
  })
  const inbox = createPartnerInboxModule({
    ...dependencies,
    engine,
    ids,
    cashIns,
    cashOuts,
    refunds,
    database: databases.inbox,
    inbound: bank.inbound,
  })
  const statements = createStatementModule({
    ...dependencies,
    engine,
    ids,
    cashIns,
    cashOuts,
    refunds,
    partner,
    database: databases.work,
  })
  const webhooks = await createWebhooksModule({
    ...dependencies,
    ids,
    database: databases.work,
    encryptionKey: config.encryptionKey,
    allowPrivate: config.webhookAllowPrivate,
  })
  const apiKeys = createApiKeysModule({
    ...dependencies,
    ids,
    database: databases.api,
    mode: config.mode,
    adminToken: config.adminToken,
    rateLimitPerMinute: config.rateLimitPerMinute,
  })
  const ledger = await createLedgerModule(databases.api)
  const verifier = createLedgerVerifier({ databaseUrl: config.databaseUrl, logger, pause: dependencies.pause })

  const eventLoop = watchEventLoop((ms) =>
    logger.warn({ ms }, 'the event loop stood still; requests from then are 503'),
  )

  let isDraining = false
  const http = createHttpServer({
    endpoints: ownEndpoints,
    handlers: {
      ...apiKeys.handlers,
      ...cashIns.handlers,
      ...cashOuts.handlers,
      ...refunds.handlers,
      ...createBalanceHandlers(databases.api),
      ...ledger.handlers,
      ...webhooks.handlers,
      ...createOperatorModule({ engine, database: databases.api, clock, ids }).handlers,
      ...createHealthHandlers(
        {
          clock,
          databaseNow,
          isDraining: () => isDraining,
        },
        createMetrics({
          ...createHealthStore(databases.api),
          engineWaiting: () => engine.waiting,
          lastVerification: verifier.lastVerification,
        }),
      ),
    },
    added: [...inbox.routes, ...(addEndpoints?.({ cashIns, cashOuts, refunds }) ?? [])],
    authenticate: {
      'api-key': apiKeys.authenticateApiKey,
      admin: apiKeys.authenticateAdmin,
      partner: inbox.authenticatePartner,
    },
    logger,
    ids,
    eventLoop,
    trustProxy: config.trustProxy,
    strictTransportSecurity: config.mode === 'production',
  })

  const work = {
    'cash-out': cashOuts.processNext,
    'refund-in': refunds.processNext,
    'cash-in': cashIns.processNext,
    'partner-inbox': inbox.processNext,
    statement: statements.processNext,
  }
  const workers = new Map<string, Worker>()
  const start = (name: string, idleMs: number, processNext: () => Promise<boolean>) =>
    workers.set(name, startWorker({ name, idleMs, logger, processNext }))
  return {
    http,
    engine,
    startWorkers: () => {
      for (const [name, processNext] of Object.entries(work)) start(name, POLL_MS, processNext)
      start('engine-batches', FORGET_EVERY_MS, () => forgetBatches(databases.work).then(() => false))
      webhooks.start()
      verifier.start()
    },
    processNext: async () => {
      await inbox.drained()
      await inbox.processNext()
      await cashIns.drained()
      await cashIns.processNext()
      await cashOuts.processNext()
      await refunds.processNext()
      while (await statements.processNext());
    },
    stop: async () => {
      isDraining = true
      http.beginDrain()
      await Promise.all([...workers.values()].map((worker) => worker.stop()))
      await verifier.stop()
      await http.close()
      eventLoop.stop()
      await inbox.drained()
      await cashIns.drained()
      await engine.drained()
      await webhooks.stop()
      await bank.close()
      await Promise.all(Object.values(databases).map((database) => database.close()))
    },
  }
}

/** Pools of their own: a flood at one door must not starve the others. */
function openDatabases(url: string, logger: Logger) {
  const open = (name: string, connections: number, more: Pick<DatabaseOptions, 'planCacheMode'> = {}) =>
    openDatabase({ ...more, url, name: `pixgate ${name}`, connections, logger, role: APPLICATION_ROLE })
  return {
    engine: open('engine', 1, { planCacheMode: 'force_generic_plan' }),
    api: open('api', 10),
    inbox: open('inbox', 4),
    work: open('work', 6),
  }
}

const selectNow = statement<[], { now: number }>('database.now', 'SELECT clock_timestamp() AS now')
