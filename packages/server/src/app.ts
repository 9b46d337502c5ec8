import type { OperatorRole } from '@pixgate/spec'
import { type AccessModule, createAccessModule } from './access/index.ts'
import { createAlertsModule } from './alerts/index.ts'
import { createAuditKeeper } from './audit/chain.ts'
import { auditLogins } from './audit/logins.ts'
import { auditLimits } from './audit/trail.ts'
import { createStatementModule, type StatementModule } from './bank-statement/index.ts'
import { type Bank, faultInProduction } from './banks/bank.ts'
import { breakerStateOf } from './banks/breaker.ts'
import { BANK_CALLS, type GuardedBank, guardCalls } from './banks/calls.ts'
import { createEventQueryBudget } from './banks/event-query-budget.ts'
import type { BalancePartner } from './banks/port.ts'
import { reportDrifts } from './cases/drifts.ts'
import { createCashInModule } from './cash-in/index.ts'
import { createCashOutModule } from './cash-out/index.ts'
import { createClosesModule } from './closes/closes.ts'
import { type Config, consoleUrlOf } from './config.ts'
import { createConsoleReads } from './console/reads.ts'
import { Sessions } from './console/sessions.ts'
import { createEngine, type Engine } from './engine/engine.ts'
import {
  createBacklogReader,
  createHealthStore,
  createMetrics,
  createWriteWatch,
  type Metrics,
  type WriteWatch,
} from './health/index.ts'
import { createPartnerInboxModule } from './inbox/index.ts'
import { createLedgerHandlers, createLedgerVerifier } from './ledger/index.ts'
import { type AddEndpoints, type Answers, openServers } from './listeners.ts'
import { createLimitReports } from './operations/caps.ts'
import { createPageTokens } from './payment-page/routes.ts'
import {
  APPLICATION_ROLE,
  assertSession,
  type DatabaseOptions,
  openDatabase,
  statement,
  withPools,
} from './platform/db/database.ts'
import { endLockHolders } from './platform/db/lock-holders.ts'
import type { HttpServer } from './platform/http/server.ts'
import { createIds, type Ids } from './platform/ids.ts'
import { createFailureReport } from './platform/jobs/worker.ts'
import type { Logger } from './platform/log.ts'
import { type WatchedEventLoop, watchEventLoop } from './platform/runtime.ts'
import { createPreviousSecretReports, type OnPreviousSecretUsed } from './platform/secrets.ts'
import { StartupError } from './platform/startup-error.ts'
import type { ProcessDependencies } from './process.ts'
import { apiInfo } from './reference/info.ts'
import { createRefundInModule } from './refund-in/index.ts'
import { createIdentityStore, createIdentityWatch, type IdentityWatch } from './restored/watch.ts'
import { createFeedModule } from './webhooks/feed.ts'
import { createWebhooksModule, openSigning } from './webhooks/index.ts'
import { processNext, startWatch, startWorkers, type Workers } from './workers.ts'

/** Builds the service from its modules. */

export interface Service {
  readonly http: HttpServer
  /** Server of the operator's endpoints, if they have their own port. */
  readonly operatorHttp: HttpServer | undefined
  readonly engine: Engine
  startWorkers(): void
  /** Starts the periodic checks for overdue work and this machine's clock. */
  startWatch(): void
  /** Processes due work once, except deliveries, for callers that step the work instead of starting workers. */
  processNext(): Promise<void>
  /** The operators of the sandbox, each with a code that logs them in to the console once. @source rules#console.3 */
  sandboxOperators(): Promise<readonly SandboxOperator[]>
  /** Closes ended days, for callers that step the work instead of starting workers. */
  closeDays(): Promise<void>
  stop(): Promise<void>
}

export interface SandboxOperator {
  readonly name: string
  readonly role: OperatorRole
  /** Logs them in to the console once. */
  readonly link: string
}

export interface Dependencies extends ProcessDependencies {
  readonly config: Config
  readonly bank?: Bank
}

export interface Base extends Dependencies {
  readonly ids: Ids
  readonly metrics: Metrics
  readonly databases: Databases
  readonly databaseNow: () => Promise<number>
  readonly writes: WriteWatch
}

/** Builds everything on the database's time. The schema must be up to date. @source failure-modes#P10 */
export async function createService(
  dependencies: Dependencies,
  addEndpoints?: AddEndpoints,
  answers: Answers = 'all',
): Promise<Service> {
  const metrics = createMetrics(BANK_CALLS)
  const databases = openDatabases(dependencies.config.databaseUrl, dependencies.logger, metrics)
  try {
    return await assemble(await openBase(dependencies, metrics, databases), addEndpoints, answers)
  } catch (error) {
    // No caller has the pools yet, and an open connection keeps the process alive.
    await closeDatabases(databases)
    throw error
  }
}

async function assemble(base: Base, addEndpoints: AddEndpoints | undefined, answers: Answers): Promise<Service> {
  await assertSession(base.databases.work, APPLICATION_ROLE)
  // The first statements may need locks that a stolen login holds, and this may be the only process.
  await endLockHolders(base.databases.work, base.logger)
  await auditLimits({ ...base, database: base.databases.work }, limitsOf(base.config))
  const workers: Workers = new Map()
  const modules = await buildModules(base, workers)
  // Runs before anything is sent.
  await modules.identityWatch.look()
  const eventLoop = watchEventLoop((ms) =>
    base.logger.warn(
      { ms: Math.round(ms) },
      'the event loop stood still; answering the requests of that time with 503',
    ),
  )
  measure(base, modules, eventLoop)
  let isDraining = false
  const servers = openServers(base, modules, { eventLoop, answers, addEndpoints, isDraining: () => isDraining })
  const all = Object.values(servers).filter((server) => server !== undefined)
  return {
    ...servers,
    engine: modules.engine,
    startWorkers: () => startWorkers(base, modules, workers),
    startWatch: () => startWatch(base, modules, workers),
    processNext: () => processNext(modules),
    sandboxOperators: async () => {
      const operators = await modules.access.sandboxOperators()
      return operators.map(({ id, ...operator }) => ({ ...operator, link: modules.sessions.link(id) }))
    },
    closeDays: async () => {
      while (await modules.closes.processNext());
    },
    stop: async () => {
      const { logger } = base
      isDraining = true
      for (const server of all) server.beginDrain()
      modules.feed.close()
      modules.consoleReads.close()
      logger.info('stopping: no longer ready; every answer closes its connection')
      await base.pause.for(base.config.drainDelayMs)
      modules.auditKeeper.stop()
      modules.closes.stop()
      const working = [...workers.values()]
      // Later payouts are left to other processes' workers, or to the next start.
      workers.clear()
      await Promise.all([...working.map((worker) => worker.stop()), modules.alerts.close()])
      await modules.verifier.stop()
      logger.info('stopping: the workers have finished')
      await Promise.all(all.map((server) => server.close()))
      // A failed write must not block the shutdown.
      await modules.access.writeLastUsed().catch((error: unknown) => {
        logger.warn({ reason: String(error) }, 'the last-used times of keys and tokens could not be written')
      })
      eventLoop.stop()
      logger.info('stopping: all requests are finished, and no more are accepted')
      await close(base, modules)
      logger.info('stopped: all accepted work is in the database')
    },
  }
}

/** Called when nothing new comes in: finishes running work and closes resources. */
async function close({ databases, logger }: Base, modules: Modules): Promise<void> {
  const { inbox, cashIns, cashOuts, engine, webhooks, bank, logins } = modules
  await logins.flush().catch((error: unknown) => {
    logger.error(
      { reason: String(error) },
      'refused log-ins of the last minute could not be written to the audit trail',
    )
  })
  await inbox.drained()
  await cashIns.drained()
  await cashOuts.drained()
  await engine.drained()
  // Stopped last, to send the notifications of the other modules.
  await webhooks.stop()
  logger.info('stopping: events, commands and deliveries are finished')
  await bank.close()
  await closeDatabases(databases)
}

async function openBase(dependencies: Dependencies, metrics: Metrics, databases: Databases): Promise<Base> {
  const { clock, logger } = dependencies
  const writes = createWriteWatch({ clock, logger })
  const databaseNow = async () => (await databases.api.rows(selectNow, []))[0]?.now ?? Number.NaN
  // Must precede every decision: a fast wall clock would expire charges that can still be paid.
  clock.observe(await databaseNow())
  return { ...dependencies, ids: createIds(clock), metrics, databases, databaseNow, writes }
}

export type Modules = Awaited<ReturnType<typeof buildModules>>

/** @param workers are woken if running; filled later */
async function buildModules(base: Base, workers: Workers) {
  const { config, databases, metrics } = base
  const signing = await openSigning({ ...base, database: databases.api, keys: config.encryptionKeys })
  const webhooks = createWebhooksModule({
    ...base,
    database: databases.work,
    deliveryDatabase: databases.deliveries,
    apiDatabase: databases.api,
    keyring: signing.keyring,
    sealer: signing.sealer,
    observer: metrics.deliveries,
    allowPrivate: config.webhookAllowPrivate,
    allowedNetworks: config.webhookAllowedNetworks,
  })
  const engine = createEngine({
    ...base,
    database: databases.engine,
    observer: { ...metrics.engine, ...base.writes },
    onNotifications: () => webhooks.wake(),
  })
  const bank = base.bank ?? config.bank.open(base.clock)
  const fault = config.mode === 'production' ? faultInProduction(bank) : undefined
  if (fault !== undefined) throw new StartupError(fault)
  const partner = guardCalls(bank, { ...base, configured: config.bank, onCall: base.metrics.onBankCall })
  const onPreviousSecretUsed = createPreviousSecretReports(base.logger, metrics.onPreviousSecretUsed)
  const { access, logins, sessions } = buildAccess(base, onPreviousSecretUsed)
  const { identityWatch, installation } = await buildIdentity(base, engine)
  const operations = buildOperations(base, { engine, partner, access, identityWatch, installation }, workers)
  const evidence = buildEvidence(base, { ...operations, engine, bank, partner, onPreviousSecretUsed })
  return {
    ...operations,
    signing,
    webhooks,
    feed: createFeedModule({ ...base, database: databases.api, keyring: signing.keyring }),
    engine,
    bank,
    bankStanding: partner.standing,
    partner,
    ...evidence,
    access,
    logins,
    sessions,
    closes: buildCloses(base, partner, evidence.statements, engine),
    ledger: { handlers: await createLedgerHandlers(databases.api) },
    verifier: createLedgerVerifier({
      ...base,
      databaseUrl: config.databaseUrl,
      onVerified: (verification) => reportDrifts({ engine, database: databases.work }, verification),
    }),
    consoleReads: buildConsoleReads(base, bank, partner),
    auditKeeper: createAuditKeeper({ ...base, ...config, database: databases.work }),
    alerts: buildAlerts(base),
    identityWatch,
    pageTokens: createPageTokens(installation),
  }
}

function buildAlerts(base: Base) {
  const { config, databases, metrics } = base
  return createAlertsModule({
    ...base,
    database: databases.work,
    settings: config.alerts,
    consoleUrl: consoleUrlOf(config),
    isProduction: config.mode === 'production',
    allowPrivate: config.webhookAllowPrivate,
    allowedNetworks: config.webhookAllowedNetworks,
    observer: metrics.alerts,
  })
}

function buildConsoleReads(base: Base, bank: Bank, partner: GuardedBank) {
  return createConsoleReads({
    ...base,
    database: base.databases.console,
    bank: partner.standing,
    approvalFromCents: base.config.caseApprovalFromCents,
    version: apiInfo.version,
    capabilities: bank.capabilities,
    certificates: () => bank.certificates?.() ?? [],
  })
}

async function buildIdentity(base: Base, engine: Engine) {
  const store = createIdentityStore(base.databases.work)
  return { identityWatch: createIdentityWatch({ ...base, engine, store }), installation: await store.installation() }
}

function buildCloses(
  base: Base,
  partner: BalancePartner,
  { report }: Pick<StatementModule, 'report'>,
  { drained }: Engine,
) {
  const { config, databases } = base
  return createClosesModule({ ...base, ...config, partner, report, drained, database: databases.work })
}

interface EvidenceNeeds extends ReturnType<typeof buildOperations> {
  readonly engine: Engine
  readonly bank: Bank
  readonly partner: GuardedBank
  readonly onPreviousSecretUsed: OnPreviousSecretUsed
}

function buildEvidence(base: Base, { bank, onPreviousSecretUsed, ...needs }: EvidenceNeeds) {
  const { config, databases, metrics } = base
  const inbox = createPartnerInboxModule({
    ...base,
    ...needs,
    database: databases.inbox,
    inbound: bank.inbound,
    observer: { ...metrics.inbox, onPreviousSecretUsed },
  })
  const statements = createStatementModule({
    ...base,
    ...needs,
    database: databases.work,
    isAccountShared: config.isBankAccountShared,
    onTrip: metrics.onTrip,
  })
  return { inbox, statements }
}

function buildAccess(base: Base, onPreviousSecretUsed: OnPreviousSecretUsed) {
  const { config, metrics } = base
  const database = base.databases.api
  const { onRefused } = metrics
  const access = createAccessModule({ ...base, ...config, database, onRefused, onPreviousSecretUsed })
  const logins = auditLogins(access.authenticateOperator, { ...base, database })
  const sessions = new Sessions({ ...base, ...config, database, authenticate: logins.authenticate })
  return { access, logins, sessions }
}

interface OperationsNeeds {
  readonly engine: Engine
  readonly partner: GuardedBank
  readonly access: AccessModule
  readonly identityWatch: Pick<IdentityWatch, 'isNearRestore'>
  readonly installation: string
}

function buildOperations(
  base: Base,
  { engine, partner, access, identityWatch, installation }: OperationsNeeds,
  workers: Workers,
) {
  const { config } = base
  const wake = (worker: string) => workers.get(worker)?.wake()
  const eventQueries = createEventQueryBudget()
  const onLimitExceeded = createLimitReports(base.logger, base.metrics.onLimitExceeded)
  const isAskedFirst = (createdAt: number) => identityWatch.isNearRestore(createdAt, partner.idempotencyWindowMs)
  const shared = { ...base, engine, database: base.databases.api, partner, onLimitExceeded, isAskedFirst }
  const bounds = { callTimeoutMs: config.bank.timeoutMs, eventQueries }
  const { limits } = config
  const refunds = createRefundInModule({
    ...shared,
    bounds,
    terms: { installation, limits },
    onReserved: () => wake('refund-in'),
  })
  const cashOuts = createCashOutModule({
    ...shared,
    bounds,
    terms: {
      installation,
      fee: config.feeCashOut,
      maxValueCents: config.maxValueCents,
      limits,
      approvalFromCents: config.approvalFromCents,
    },
    holders: {
      people: access.allOperators,
      version: access.deactivationCount,
      deactivatedAt: access.deactivatedAt,
    },
    refunds,
    onReserved: () => wake('cash-out'),
    sending: {
      isHere: () => workers.has('cash-out'),
      onFailure: createFailureReport({
        ...{ name: 'cash-out', logger: base.logger },
        onFailure: base.metrics.failuresOf('cash-out'),
      }),
    },
  })
  const cashIns = createCashInModule({
    ...shared,
    terms: { installation, merchant: config.merchant, fee: config.feeCashIn, maxValueCents: config.maxValueCents },
    createBudgetMs: config.bank.createBudgetMs,
    returns: {
      take: (cashIn, returned) => refunds.applyEvent(cashIn.id, returned),
      settle: refunds.settleReturns,
    },
    eventQueries,
    credits: config.credits,
  })
  return { cashIns, cashOuts, refunds }
}

function limitsOf(config: Config) {
  const { limits, approvalFromCents, caseApprovalFromCents, maxValueCents, credits } = config
  const { caps, newRecipientMs } = limits
  const named = { ...caps, newRecipientMs, approvalFromCents, caseApprovalFromCents, maxValueCents, ...credits }
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, value === null ? null : String(value)]))
}

/** Connects the gauges to their sources. */
function measure(
  { metrics, databases, clock, logger, writes }: Base,
  modules: Modules,
  eventLoop: WatchedEventLoop,
): void {
  const { engine, partner, verifier, auditKeeper } = modules
  const breakers = () => ({
    orders: breakerStateOf(partner.allowedSends()),
    charges: breakerStateOf(partner.allowedCharges()),
    qr_codes: breakerStateOf(partner.allowedQrCodes()),
  })
  const pools = () => Object.fromEntries(Object.entries(databases).map(([pool, database]) => [pool, database.use()]))
  metrics.measure(
    {
      backlog: createBacklogReader({ store: createHealthStore(databases.api), logger }),
      engineWaiting: () => engine.waiting,
      ledger: verifier.standing,
      audit: auditKeeper.standing,
      breakers,
      certificates: certificatesOf(modules),
      writeProblem: writes.problem,
      pools,
      loopDelays: eventLoop.delays,
    },
    clock,
  )
}

export function certificatesOf({ bank }: Modules) {
  return () => bank.certificates?.() ?? []
}

type Databases = ReturnType<typeof openDatabases>

/** The deepest page of a hundred million rows is read from an index alone. @source rules#lists.4 */
const DEEP_PAGE_TIMEOUT_MS = 60_000

const CONSOLE_TIMEOUT_MS = 2_000

/** Separate pools: a flood of one kind of work must not starve the others. */
function openDatabases(url: string, logger: Logger, { onSlowStatement }: Metrics) {
  const shared = { url, logger, role: APPLICATION_ROLE, onSlowStatement }
  const open = (
    name: string,
    connections: number,
    more: Pick<DatabaseOptions, 'planCacheMode' | 'isByIndex' | 'statementTimeoutMs'> = {},
  ) => openDatabase({ ...shared, ...more, name, connections })
  const pages = open('pages', 1, { statementTimeoutMs: DEEP_PAGE_TIMEOUT_MS })
  const planned = { planCacheMode: 'force_generic_plan' } as const
  const inbox = open('inbox', 4, planned)
  return {
    // One connection for the queue, one for urgent statements.
    engine: open('engine', 2, planned),
    api: withPools(open('api', 10), { keyed: inbox, long: pages }),
    pages,
    // Stores and looks up the bank's events.
    inbox,
    // Plans depend on the parameters: an endpoint may have a backlog or nothing.
    deliveries: open('deliveries', 4, { isByIndex: true }),
    work: open('work', 6),
    // No screen delays a payment.
    console: open('console', 2, { statementTimeoutMs: CONSOLE_TIMEOUT_MS }),
  }
}

async function closeDatabases(databases: Databases): Promise<void> {
  await Promise.all(Object.values(databases).map((database) => database.close()))
}

const selectNow = statement<[], { now: number }>('database.now', 'SELECT clock_timestamp() AS now')
