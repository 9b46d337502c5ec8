import { getHealth, getMetrics, getReadiness, serviceEndpoints } from '@pixgate/spec'
import { createApiKeysModule } from './api-keys/index.ts'
import { createAuditKeeper, KEPT_EVERY_MS } from './audit/chain.ts'
import { auditLogins } from './audit/logins.ts'
import { auditLimits } from './audit/trail.ts'
import { createBalanceHandlers } from './balance/index.ts'
import { createStatementModule, type StatementModule } from './bank-statement/index.ts'
import { type Bank, faultInProduction } from './banks/bank.ts'
import { breakerStateOf } from './banks/breaker.ts'
import { BANK_CALLS, type GuardedBank, guardCalls } from './banks/calls.ts'
import { createCertificateWatch } from './banks/certificates.ts'
import { createEventQueryBudget } from './banks/event-query-budget.ts'
import type { BalancePartner } from './banks/port.ts'
import { createCaseHandlers } from './cases/api.ts'
import { createDriftCases } from './cases/drifts.ts'
import { createCashInModule } from './cash-in/index.ts'
import { cashOutDecider, createCashOutModule } from './cash-out/index.ts'
import { CLOSE_EVERY_MS, createClosesModule } from './closes/closes.ts'
import type { Config } from './config.ts'
import { createOperatorModule } from './controls/index.ts'
import { createRefusalReports } from './credentials/credentials.ts'
import { createDryRun } from './engine/dry-run.ts'
import { createEngine, type Engine, FORGET_EVERY_MS, forgetPast } from './engine/engine.ts'
import {
  createBacklogReader,
  createClockWatch,
  createHealthHandlers,
  createHealthStore,
  createLateWorkWatch,
  createMetrics,
  createWriteWatch,
  type Metrics,
  type WriteWatch,
} from './health/index.ts'
import { createPartnerInboxModule } from './inbox/index.ts'
import { createLedgerModule, createLedgerVerifier } from './ledger/index.ts'
import { createLimitReports } from './operations/caps.ts'
import { createOperatorsModule } from './operators/index.ts'
import {
  APPLICATION_ROLE,
  assertSession,
  type DatabaseOptions,
  openDatabase,
  statement,
  withKeyedStatements,
  withLongStatements,
} from './platform/db/database.ts'
import { endLockHolders, HOLDERS_EVERY_MS } from './platform/db/lock-holders.ts'
import { type BoundEndpoint, bindEndpoints } from './platform/http/endpoint-route.ts'
import type { Caller, IncomingRequest } from './platform/http/handler.ts'
import { isForOperators } from './platform/http/openapi.ts'
import { createHttpServer, type HttpServer, listeningUrl } from './platform/http/server.ts'
import { createIds, type Ids } from './platform/ids.ts'
import { createFailureReport, type StartWorker, startWorker, type Worker } from './platform/jobs/worker.ts'
import type { Logger } from './platform/log.ts'
import { type WatchedEventLoop, watchEventLoop } from './platform/runtime.ts'
import { createPreviousSecretReports, type OnPreviousSecret } from './platform/secrets.ts'
import { StartupError } from './platform/startup-error.ts'
import type { ProcessDependencies } from './process.ts'
import { createReferenceRoutes } from './reference/index.ts'
import { createRefundInModule, refundInDecider } from './refund-in/index.ts'
import { createIdentityStore, createIdentityWatch, type IdentityWatch } from './restored/watch.ts'
import { createErasing, ERASE_EVERY_MS } from './retention/index.ts'
import { createFeedModule, createWebhooksModule, openSigning } from './webhooks/index.ts'

/** Composes the service. The only file that depends on every module. */

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
  /** Closes ended days, for callers that step the work instead of starting workers. */
  closeDays(): Promise<void>
  stop(): Promise<void>
}

export interface Dependencies extends ProcessDependencies {
  readonly config: Config
  readonly bank?: Bank
}

/** Ids of operations at the bank; `undefined` if the operation does not exist. */
export interface KnownOperations {
  readonly cashIns: { orderIdOf(id: string): Promise<string | undefined> }
  readonly cashOuts: { orderIdOf(id: string): Promise<string | undefined> }
  readonly refunds: { orderIdOf(id: string): Promise<string | undefined> }
}

export type AddEndpoints = (operations: KnownOperations) => readonly BoundEndpoint[]

/** The connector defines the endpoints that the bank calls. */
const { receiveCashInEvent, receiveCashOutEvent, ...ownEndpoints } = serviceEndpoints

const healthEndpoints = { getHealth, getReadiness, getMetrics } as const

/** Polling interval of idle workers. */
const POLL_MS = 1_000

interface Base extends Dependencies {
  readonly ids: Ids
  readonly metrics: Metrics
  readonly databases: Databases
  readonly databaseNow: () => Promise<number>
  readonly writes: WriteWatch
}

type Workers = Map<string, Worker>

/** Endpoints of the process: all, or health only. @source rules#health.6 */
export type Answers = 'all' | 'health'

/** Builds everything on the database's time. The schema must be up to date. @source failure-modes#P10 */
export async function compose(
  dependencies: Dependencies,
  addEndpoints?: AddEndpoints,
  answers: Answers = 'all',
): Promise<Service> {
  const metrics = createMetrics(BANK_CALLS)
  const databases = openDatabases(dependencies.config.databaseUrl, dependencies.logger, metrics)
  try {
    return await composeOn(await openBase(dependencies, metrics, databases), addEndpoints, answers)
  } catch (error) {
    // No caller has the pools yet, and an open connection keeps the process alive.
    await closeDatabases(databases)
    throw error
  }
}

async function composeOn(base: Base, addEndpoints: AddEndpoints | undefined, answers: Answers): Promise<Service> {
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
    closeDays: async () => {
      while (await modules.closes.processNext());
    },
    stop: async () => {
      const { logger } = base
      isDraining = true
      for (const server of all) server.beginDrain()
      modules.feed.close()
      logger.info('stopping: no longer ready; every answer closes its connection')
      modules.auditKeeper.stop()
      modules.closes.stop()
      const working = [...workers.values()]
      // Later payouts are left to other processes' workers, or to the next start.
      workers.clear()
      await Promise.all(working.map((worker) => worker.stop()))
      await modules.verifier.stop()
      logger.info('stopping: the workers have finished')
      await Promise.all(all.map((server) => server.close()))
      // A failed write must not block the shutdown.
      await writeLastUsed(modules).catch((error: unknown) => {
        logger.warn({ reason: String(error) }, 'the last-used times of keys and tokens could not be written')
      })
      eventLoop.stop()
      logger.info('stopping: all requests are finished, and no more are accepted')
      await close(base, modules)
      logger.info('stopped: all accepted work is in the database')
    },
  }
}

interface Listening extends Pick<Adding, 'addEndpoints'> {
  readonly eventLoop: WatchedEventLoop
  readonly answers: Answers
  readonly isDraining: () => boolean
}

/** Creates the servers without listening. @source rules#health.6, rules#operators.8 */
function openServers(
  base: Base,
  modules: Modules,
  { eventLoop, answers, addEndpoints, isDraining }: Listening,
): Pick<Service, 'http' | 'operatorHttp'> {
  const shared = httpOptions(base, modules, eventLoop)
  const handlers = healthHandlersOf(base, modules, isDraining)
  const open = (added: readonly BoundEndpoint[]) =>
    createHttpServer({ ...shared, endpoints: healthEndpoints, handlers, added })
  if (answers === 'health') return { http: open([]), operatorHttp: undefined }
  // Every listener serves health.
  const bound = bindEndpoints(ownEndpoints, { ...handlersOf(base, modules), ...handlers }).filter(
    ({ endpoint }) => endpoint.tag !== 'Health',
  )
  const isApart = base.config.operatorPort !== undefined
  const operatorHttp = isApart ? open(bound.filter(({ endpoint }) => isForOperators(endpoint))) : undefined
  const here = isApart ? bound.filter(({ endpoint }) => !isForOperators(endpoint)) : bound
  const operatorUrl = operatorHttp && (() => listeningUrl(operatorHttp.server))
  const http: HttpServer = open([
    ...here,
    ...addedTo(base, modules, { addEndpoints, url: () => listeningUrl(http.server), operatorUrl }),
  ])
  return { http, operatorHttp }
}

async function openBase(dependencies: Dependencies, metrics: Metrics, databases: Databases): Promise<Base> {
  const { clock, logger } = dependencies
  const writes = createWriteWatch({ clock, logger })
  const databaseNow = async () => (await databases.api.rows(selectNow, []))[0]?.now ?? Number.NaN
  // Must precede every decision: a fast wall clock would expire charges that can still be paid.
  clock.observe(await databaseNow())
  return { ...dependencies, ids: createIds(clock), metrics, databases, databaseNow, writes }
}

type Modules = Awaited<ReturnType<typeof buildModules>>

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
  const onPreviousSecret = createPreviousSecretReports(base.logger, metrics.onPreviousSecret)
  const access = buildAccess(base, onPreviousSecret)
  const { identityWatch, installation } = await buildIdentity(base, engine)
  const operations = buildOperations(base, { engine, partner, access, identityWatch, installation }, workers)
  const drifts = createDriftCases({ engine, database: databases.work })
  const evidence = buildEvidence(base, { ...operations, engine, bank, partner, onPreviousSecret })
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
    ...access,
    closes: buildCloses(base, partner, evidence.statements),
    ledger: await createLedgerModule(databases.api),
    verifier: createLedgerVerifier({ ...base, databaseUrl: config.databaseUrl, onVerified: drifts.report }),
    auditKeeper: createAuditKeeper({ ...base, ...config, database: databases.work }),
    identityWatch,
  }
}

async function buildIdentity(base: Base, engine: Engine) {
  const store = createIdentityStore(base.databases.work)
  return { identityWatch: createIdentityWatch({ ...base, engine, store }), installation: await store.installation() }
}

function buildCloses(base: Base, partner: BalancePartner, { report }: Pick<StatementModule, 'report'>) {
  const { config, databases } = base
  return createClosesModule({ ...base, ...config, partner, report, database: databases.work })
}

interface EvidenceNeeds extends ReturnType<typeof buildOperations> {
  readonly engine: Engine
  readonly bank: Bank
  readonly partner: GuardedBank
  readonly onPreviousSecret: OnPreviousSecret
}

function buildEvidence(base: Base, { bank, onPreviousSecret, ...needs }: EvidenceNeeds) {
  const { config, databases, metrics } = base
  const inbox = createPartnerInboxModule({
    ...base,
    ...needs,
    database: databases.inbox,
    inbound: bank.inbound,
    observer: { ...metrics.inbox, onPreviousSecret },
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

function buildAccess(base: Base, onPreviousSecret: OnPreviousSecret) {
  const { config, metrics } = base
  const database = base.databases.api
  const reports = createRefusalReports(base.logger, metrics.onRefused)
  const operators = createOperatorsModule({ ...base, ...config, database, onPreviousSecret, reports })
  return {
    apiKeys: createApiKeysModule({ ...base, ...config, database, reports }),
    operators,
    logins: auditLogins(operators.authenticate, { ...base, database }),
  }
}

/** All operators, and the counter of deactivations of keys and operators. */
function operatorsOf({ operators }: Pick<ReturnType<typeof buildAccess>, 'operators'>) {
  return { people: operators.everybody, deactivations: operators.holdersVersion }
}

interface OperationsNeeds {
  readonly engine: Engine
  readonly partner: GuardedBank
  readonly access: Pick<ReturnType<typeof buildAccess>, 'operators' | 'apiKeys'>
  readonly identityWatch: Pick<IdentityWatch, 'isNearRestore'>
  readonly installation: string
}

function buildOperations(
  base: Base,
  { engine, partner, access: { operators, apiKeys }, identityWatch, installation }: OperationsNeeds,
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
      people: operators.everybody,
      version: operators.holdersVersion,
      keysDeactivatedAt: apiKeys.deactivatedAt,
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

/** Connects the gauges to their sources. */
function measure(
  { metrics, databases, clock, logger, writes }: Base,
  modules: Modules,
  eventLoop: WatchedEventLoop,
): void {
  const { engine, partner, verifier, auditKeeper } = modules
  const breakers = () => ({
    orders: breakerStateOf(partner.sendsWanted()),
    charges: breakerStateOf(partner.chargesWanted()),
    qr_codes: breakerStateOf(partner.qrCodesWanted()),
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

function certificatesOf({ bank }: Modules) {
  return () => bank.certificates?.() ?? []
}

function httpOptions({ config, metrics, logger, ids, pause }: Base, modules: Modules, eventLoop: WatchedEventLoop) {
  const { apiKeys, operators, logins, inbox } = modules
  return {
    onRequest: metrics.onRequest,
    onUnreadable: metrics.onUnreadable,
    onStranger: metrics.onStranger,
    pause,
    authenticate: {
      'api-key': apiKeys.authenticate,
      admin: logins.authenticate,
      partner: inbox.authenticatePartner,
      admit: (request: IncomingRequest, caller: Caller) => {
        const judge = caller.credential === 'api-key' ? apiKeys.admit : operators.admit
        judge(request, caller)
      },
      onUnreadPartner: inbox.onUnread,
    },
    logger,
    ids,
    eventLoop,
    trustProxy: config.trustProxy,
    strictTransportSecurity: config.mode === 'production',
  }
}

interface Adding {
  readonly addEndpoints: AddEndpoints | undefined
  /** URL of the service; to be called once it listens. */
  readonly url: () => string | undefined
  /** URL of the operator's endpoints; `undefined` if they have no port of their own. */
  readonly operatorUrl: (() => string | undefined) | undefined
}

/** Additional endpoints: those of the bank, of the sandbox, and the reference about all of them. */
function addedTo(
  { config }: Base,
  modules: Modules,
  { addEndpoints, url, operatorUrl }: Adding,
): readonly BoundEndpoint[] {
  const added = [...modules.inbox.routes, ...(addEndpoints?.(modules) ?? [])]
  const endpoints = [...Object.values(ownEndpoints), ...added.map(({ endpoint }) => endpoint)]
  const isSandbox = config.mode === 'sandbox'
  return [...added, ...createReferenceRoutes({ endpoints, isSandbox, url, operatorUrl })]
}

function healthHandlersOf(base: Base, { bankStanding }: Modules, isDraining: () => boolean) {
  const { clock, databaseNow, writes, metrics } = base
  const sources = { clock, databaseNow, isDraining, writeProblem: writes.problem, bank: bankStanding }
  return createHealthHandlers(sources, metrics)
}

function handlersOf(base: Base, modules: Modules) {
  return {
    ...modules.apiKeys.handlers,
    ...modules.cashIns.handlers,
    ...modules.cashOuts.handlers,
    ...modules.refunds.handlers,
    ...createBalanceHandlers(base.databases.api),
    ...modules.ledger.handlers,
    ...modules.webhooks.handlers,
    ...modules.feed.handlers,
    ...modules.signing.handlers,
    ...operatorHandlersOf(base, modules),
    ...modules.operators.handlers,
    ...modules.closes.handlers,
  }
}

function operatorHandlersOf(base: Base, modules: Modules) {
  const { engine, inbox, statements, cashIns } = modules
  const shared = { ...base, engine, database: base.databases.api, operators: operatorsOf(modules) }
  const cases = {
    ...shared,
    withoutOperation: { ...base, events: inbox.setAside, statement: statements.lines, charges: cashIns },
    deciders: {
      cash_in: modules.refunds.cashInDecider,
      cash_out: cashOutDecider,
      refund_in: refundInDecider,
      adjustment: modules.refunds.heldDecider(statements.lines),
    },
    approvalFromCents: base.config.caseApprovalFromCents,
    dryRun: createDryRun(shared),
  }
  return {
    ...createOperatorModule({ ...shared, cases }).handlers,
    ...createCaseHandlers(cases),
  }
}

function startWorkers(base: Base, modules: Modules, workers: Workers): void {
  const { cashOuts, refunds, cashIns, inbox, statements, webhooks, verifier, auditKeeper, identityWatch, closes } =
    modules
  const work = {
    'cash-out': cashOuts.processNext,
    'refund-in': refunds.processNext,
    'cash-in': cashIns.processNext,
    'partner-inbox': inbox.processNext,
    statement: statements.processNext,
  }
  const start = starting(base)
  const processForget = () => forgetPast(base.databases.work).then(() => false)
  for (const [name, processNext] of Object.entries(work)) {
    workers.set(name, start({ name, idleMs: POLL_MS, processNext }))
  }
  workers.set('engine-past', start({ name: 'engine-past', idleMs: FORGET_EVERY_MS, processNext: processForget }))
  workers.set('retention', start({ name: 'retention', idleMs: ERASE_EVERY_MS, processNext: erasingOf(base) }))
  const processIdentity = () => identityWatch.look().then(() => false)
  workers.set('database-identity', start({ name: 'database-identity', idleMs: POLL_MS, processNext: processIdentity }))
  auditKeeper.begin()
  workers.set('audit', start({ name: 'audit', idleMs: KEPT_EVERY_MS, processNext: auditKeeper.processNext }))
  workers.set('daily-close', start({ name: 'daily-close', idleMs: CLOSE_EVERY_MS, processNext: closes.processNext }))
  webhooks.start(start)
  verifier.start()
}

function erasingOf({ config, databases, logger, metrics }: Base): () => Promise<boolean> {
  const { keptDays } = config
  return createErasing({ database: databases.work, logger, keptDays, observer: metrics.retention })
}

function starting({ logger, metrics }: Base): StartWorker {
  return (worker) => startWorker({ ...worker, logger, onFailure: metrics.failuresOf(worker.name) })
}

/** @source rules#logs.5 */
const WATCH_EVERY_MS = 60_000

function startWatch(base: Base, modules: Modules, workers: Workers): void {
  const { partner, logins } = modules
  const { databases, clock, databaseNow, logger } = base
  const lookAtWork = createLateWorkWatch({
    ...createHealthStore(databases.api),
    orders: () => breakerStateOf(partner.sendsWanted()),
    logger,
  })
  const lookAtClock = createClockWatch({ clock, databaseNow, logger })
  const lookAtCertificates = createCertificateWatch({ certificates: certificatesOf(modules), clock, logger })
  const processNext = async () => {
    lookAtCertificates()
    await lookAtClock()
    await lookAtWork()
    return false
  }
  const start = starting(base)
  workers.set('watch', start({ name: 'watch', idleMs: WATCH_EVERY_MS, processNext }))
  const tellLogins = () => logins.flush().then(() => false)
  workers.set('log-ins', start({ name: 'log-ins', idleMs: WATCH_EVERY_MS, processNext: tellLogins }))
  const processHolders = () => endLockHolders(databases.work, logger).then(() => false)
  workers.set('lock-holders', start({ name: 'lock-holders', idleMs: HOLDERS_EVERY_MS, processNext: processHolders }))
  const processUses = () => writeLastUsed(modules).then(() => false)
  workers.set('last-used', start({ name: 'last-used', idleMs: LAST_USED_EVERY_MS, processNext: processUses }))
}

/** Uses that are not written yet are lost in a crash. */
const LAST_USED_EVERY_MS = 10_000

async function writeLastUsed({ apiKeys, operators }: Modules): Promise<void> {
  await apiKeys.writeLastUsed()
  await operators.writeLastUsed()
}

async function processNext(modules: Modules): Promise<void> {
  const { inbox, cashIns, cashOuts, refunds, statements } = modules
  await writeLastUsed(modules)
  await inbox.drained()
  await inbox.processNext()
  await cashIns.drained()
  await cashIns.processNext()
  await cashOuts.drained()
  await cashOuts.processNext()
  await refunds.processNext()
  while (await statements.processNext());
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

function limitsOf(config: Config) {
  const { limits, approvalFromCents, caseApprovalFromCents, maxValueCents, credits } = config
  const { caps, newRecipientMs } = limits
  const named = { ...caps, newRecipientMs, approvalFromCents, caseApprovalFromCents, maxValueCents, ...credits }
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, value === null ? null : String(value)]))
}

async function closeDatabases(databases: Databases): Promise<void> {
  await Promise.all(Object.values(databases).map((database) => database.close()))
}

type Databases = ReturnType<typeof openDatabases>

/** The deepest page of a hundred million rows is read from an index alone. @source rules#lists.4 */
const DEEP_PAGE_TIMEOUT_MS = 60_000

/** Separate pools: a flood of one kind of work must not starve the others. */
function openDatabases(url: string, logger: Logger, { onSlowStatement }: Metrics) {
  const shared = { url, logger, role: APPLICATION_ROLE, onSlowStatement }
  const open = (
    name: string,
    connections: number,
    more: Pick<DatabaseOptions, 'planCacheMode' | 'statementTimeoutMs'> = {},
  ) => openDatabase({ ...shared, ...more, name, connections })
  const pages = open('pages', 1, { statementTimeoutMs: DEEP_PAGE_TIMEOUT_MS })
  const planned = { planCacheMode: 'force_generic_plan' } as const
  const inbox = open('inbox', 4, planned)
  return {
    // One connection for the queue, one for urgent statements.
    engine: open('engine', 2, planned),
    api: withKeyedStatements(withLongStatements(open('api', 10), pages), inbox),
    pages,
    // Stores and looks up the bank's events.
    inbox,
    // Plans depend on the parameters: an endpoint may have a backlog or nothing.
    deliveries: open('deliveries', 4),
    work: open('work', 6),
  }
}

const selectNow = statement<[], { now: number }>('database.now', 'SELECT clock_timestamp() AS now')
