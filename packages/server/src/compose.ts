import { endpoints } from '@pixgate/spec'
import { createApiKeysModule } from './api-keys/index.ts'
import { createBalanceHandlers } from './balance/index.ts'
import { createStatementModule } from './bank-statement/index.ts'
import { withBreaker } from './banks/breaker.ts'
import { createEventQueryBudget } from './banks/event-query-budget.ts'
import { createHttpPartner } from './banks/pixgate/http-partner.ts'
import { openPartnerLink } from './banks/pixgate/link.ts'
import { createSimulatorControl } from './banks/pixgate/simulator-control.ts'
import { createCashInModule } from './cash-in/index.ts'
import { createCashOutModule } from './cash-out/index.ts'
import type { Config } from './config.ts'
import { createEngine, type Engine } from './engine/engine.ts'
import { FORGET_EVERY_MS, forgetBatches } from './engine/forget-batches.ts'
import { createHealthHandlers, createHealthStore, createMetrics } from './health/index.ts'
import { createPartnerInboxModule } from './inbox/index.ts'
import { createLedgerModule, createLedgerVerifier } from './ledger/index.ts'
import { createOperatorModule } from './operator/index.ts'
import type { DatabaseClock } from './platform/clock.ts'
import { APPLICATION_ROLE, type DatabaseOptions, openDatabase, statement } from './platform/db/database.ts'
import { watchEventLoop } from './platform/event-loop.ts'
import { createHttpServer, type HttpServer } from './platform/http/http-server.ts'
import { createIds } from './platform/ids.ts'
import type { Pause } from './platform/jobs/pause.ts'
import { startWorker, type Worker } from './platform/jobs/worker.ts'
import type { Logger } from './platform/log.ts'
import { createRefundInModule, type RefundInModule } from './refund-in/index.ts'
import { createSandboxHandlers } from './sandbox/index.ts'
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
export interface Surroundings {
  readonly config: Config
  readonly databaseUrl: string
  readonly adminToken: string
  readonly encryptionKey: string
  readonly partner: { readonly url: string; readonly token: string; readonly secret: string }
  readonly clock: DatabaseClock
  readonly pause: Pause
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly logger: Logger
}

/** How often a worker that nobody woke looks for work. */
const POLL_MS = 1_000

/**
 * Builds everything, by the database's time from the first moment on. The schema must be up to date.
 * @source failure-modes#P10
 */
export async function compose(surroundings: Surroundings): Promise<Service> {
  const { config, clock, logger } = surroundings
  const ids = createIds(clock)
  const open = (name: string, connections: number, more: Pick<DatabaseOptions, 'planCacheMode'> = {}) =>
    openDatabase({
      ...more,
      url: surroundings.databaseUrl,
      name: `pixgate ${name}`,
      connections,
      logger,
      role: APPLICATION_ROLE,
    })
  // Pools of their own: a flood at one door must not starve the others.
  const databases = {
    engine: open('engine', 1, { planCacheMode: 'force_generic_plan' }),
    api: open('api', 10),
    inbox: open('inbox', 4),
    work: open('work', 6),
  }
  const databaseNow = async () => (await databases.api.rows(selectNow, []))[0]?.now ?? Number.NaN
  // Ahead of all that looks at the clock: a wall clock that is fast would let charges expire that can still be paid.
  clock.observe(await databaseNow())

  const engine = createEngine({
    ...surroundings,
    ids,
    database: databases.engine,
    onNotifications: () => webhooks.wake(),
  })
  const link = openPartnerLink({ ...surroundings.partner, timeoutMs: config.partner.timeoutMs })
  const partner = withBreaker(createHttpPartner(link, config.partner.hasIdempotentOrders), clock)
  const eventQueries = createEventQueryBudget()
  const bounds = { callTimeoutMs: config.partner.timeoutMs, eventQueries }
  const cashIns = createCashInModule({
    ...surroundings,
    engine,
    ids,
    database: databases.api,
    partner,
    terms: { merchant: config.merchant, fee: config.feeCashIn, maxValueCents: config.maxValueCents },
    createBudgetMs: config.partner.createBudgetMs,
    returns: {
      take: (cashIn, returned) => refunds.takeTold(cashIn.id, returned),
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
    onReserved: () => payoutWorker?.wake(),
  })
  const refunds: RefundInModule = createRefundInModule({
    engine,
    database: databases.api,
    partner,
    clock,
    ids,
    bounds,
    onReserved: () => refundWorker?.wake(),
  })
  const inbox = createPartnerInboxModule({
    ...surroundings,
    engine,
    ids,
    cashIns,
    cashOuts,
    refunds,
    database: databases.inbox,
    credentials: {
      secrets: [surroundings.partner.secret, config.partner.secretPrevious].filter((secret) => secret !== undefined),
      apiKey: config.partner.inboundApiKey,
    },
  })
  const statements = createStatementModule({
    ...surroundings,
    engine,
    ids,
    cashIns,
    cashOuts,
    refunds,
    partner,
    database: databases.work,
  })
  const webhooks = await createWebhooksModule({
    ...surroundings,
    ids,
    database: databases.work,
    allowPrivate: config.webhookAllowPrivate,
  })
  const apiKeys = createApiKeysModule({
    ...surroundings,
    ids,
    database: databases.api,
    mode: config.mode,
    rateLimitPerMinute: config.rateLimitPerMinute,
  })
  const ledger = await createLedgerModule(databases.api)
  const verifier = createLedgerVerifier({ databaseUrl: surroundings.databaseUrl, logger, pause: surroundings.pause })

  const eventLoop = watchEventLoop((ms) =>
    logger.warn({ ms }, 'the event loop stood still; requests from then are 503'),
  )

  let isDraining = false
  const http = createHttpServer({
    endpoints,
    handlers: {
      ...apiKeys.handlers,
      ...cashIns.handlers,
      ...cashOuts.handlers,
      ...refunds.handlers,
      ...createBalanceHandlers(databases.api),
      ...ledger.handlers,
      ...webhooks.handlers,
      ...inbox.handlers,
      ...createOperatorModule({ engine, database: databases.api, clock, ids }).handlers,
      ...createSandboxHandlers(createSimulatorControl(link), cashIns, cashOuts, refunds),
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
    omit: ({ sandboxOnly }) => sandboxOnly === true && config.mode === 'production',
  })

  let payoutWorker: Worker | undefined
  let refundWorker: Worker | undefined
  const workers: Worker[] = []
  return {
    http,
    engine,
    startWorkers: () => {
      payoutWorker = startWorker({ name: 'cash-out', idleMs: POLL_MS, logger, processNext: cashOuts.processNext })
      refundWorker = startWorker({ name: 'refund-in', idleMs: POLL_MS, logger, processNext: refunds.processNext })
      workers.push(
        payoutWorker,
        refundWorker,
        startWorker({ name: 'cash-in', idleMs: POLL_MS, logger, processNext: cashIns.processNext }),
        startWorker({ name: 'partner-inbox', idleMs: POLL_MS, logger, processNext: inbox.processNext }),
        startWorker({ name: 'statement', idleMs: POLL_MS, logger, processNext: statements.processNext }),
        startWorker({
          name: 'engine-batches',
          idleMs: FORGET_EVERY_MS,
          logger,
          processNext: () => forgetBatches(databases.work).then(() => false),
        }),
      )
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
      await Promise.all(workers.map((worker) => worker.stop()))
      await verifier.stop()
      await http.close()
      eventLoop.stop()
      await inbox.drained()
      await cashIns.drained()
      await engine.drained()
      await webhooks.stop()
      await link.close()
      await Promise.all(Object.values(databases).map((database) => database.close()))
    },
  }
}

const selectNow = statement<[], { now: number }>('database.now', 'SELECT clock_timestamp() AS now')
