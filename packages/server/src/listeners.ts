import { serviceEndpoints } from '@pixgate/spec'
import type { Base, Modules, Service } from './app.ts'
import { createBalanceHandlers } from './balance/index.ts'
import { createCaseHandlers } from './cases/api.ts'
import { cashOutDecider } from './cash-out/index.ts'
import { createOperatorModule } from './controls/index.ts'
import { createDryRun } from './engine/dry-run.ts'
import { createHealthHandlers } from './health/index.ts'
import { statement } from './platform/db/database.ts'
import { type BoundEndpoint, bindEndpoints } from './platform/http/endpoint-route.ts'
import type { Caller, IncomingRequest } from './platform/http/handler.ts'
import { isForOperators } from './platform/http/openapi.ts'
import { createHttpServer, type HttpServer, listeningUrl } from './platform/http/server.ts'
import type { WatchedEventLoop } from './platform/runtime.ts'
import { createReferenceRoutes } from './reference/index.ts'
import { refundInDecider } from './refund-in/index.ts'

/** What the service answers: the endpoints of each listener, with their handlers. */

/** Parts of the service that the sandbox's controls use: operations with their ids at the bank, and the daily close. */
export type KnownOperations = Readonly<
  Record<'cashIns' | 'cashOuts' | 'refunds', { get(id: string): Promise<{ readonly orderId: string } | undefined> }>
> & { readonly closes: Pick<Modules['closes'], 'closeToday'> }

export type AddEndpoints = (operations: KnownOperations) => readonly BoundEndpoint[]

/** The connector defines the endpoints that the bank calls. */
const { receiveCashInEvent, receiveCashOutEvent, ...ownEndpoints } = serviceEndpoints

/** Every listener serves health. */
const { getHealth, getReadiness, getMetrics, ...otherEndpoints } = ownEndpoints

/** Endpoints of the process: all, or health only. @source rules#health.6 */
export type Answers = 'all' | 'health'

interface Listening extends Pick<Adding, 'addEndpoints'> {
  readonly eventLoop: WatchedEventLoop
  readonly answers: Answers
  readonly isDraining: () => boolean
}

/** Creates the servers without listening. @source rules#health.6, rules#operators.8 */
export function openServers(
  base: Base,
  modules: Modules,
  { eventLoop, answers, addEndpoints, isDraining }: Listening,
): Pick<Service, 'http' | 'operatorHttp'> {
  const shared = httpOptions(base, modules, eventLoop)
  const health = bindEndpoints({ getHealth, getReadiness, getMetrics }, healthHandlersOf(base, modules, isDraining))
  const open = (others: readonly BoundEndpoint[]) => createHttpServer({ ...shared, endpoints: [...health, ...others] })
  if (answers === 'health') return { http: open([]), operatorHttp: undefined }
  const bound = bindEndpoints(otherEndpoints, handlersOf(base, modules))
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

function httpOptions({ config, metrics, logger, ids, pause }: Base, modules: Modules, eventLoop: WatchedEventLoop) {
  const { access, logins, inbox } = modules
  return {
    onRequest: metrics.onRequest,
    onUnreadable: metrics.onUnreadable,
    onStranger: metrics.onStranger,
    pause,
    authenticate: {
      'api-key': access.authenticateKey,
      admin: logins.authenticate,
      partner: inbox.authenticatePartner,
      authorize: (request: IncomingRequest, caller: Caller) => {
        const judge = caller.credential === 'api-key' ? access.authorizeKey : access.authorizeOperator
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
  const { clock, databases, databaseNow, writes, metrics } = base
  const isStandby = async () => (await databases.api.rows(selectStandby, []))[0]?.isStandby ?? false
  const sources = { clock, databaseNow, isStandby, isDraining, writeProblem: writes.problem, bank: bankStanding }
  return createHealthHandlers(sources, metrics)
}

const selectStandby = statement<[], { isStandby: boolean }>(
  'database.is_standby',
  'SELECT pg_is_in_recovery() AS "isStandby"',
)

function handlersOf(base: Base, modules: Modules) {
  return {
    ...modules.access.handlers,
    ...modules.cashIns.handlers,
    ...modules.cashOuts.handlers,
    ...modules.refunds.handlers,
    ...createBalanceHandlers(base.databases.api),
    ...modules.ledger.handlers,
    ...modules.webhooks.handlers,
    ...modules.feed.handlers,
    ...modules.signing.handlers,
    ...operatorHandlersOf(base, modules),
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

/** All operators, and the counter of deactivations of keys and operators. */
function operatorsOf({ access }: Pick<Modules, 'access'>) {
  return { people: access.allOperators, deactivations: access.deactivationCount }
}
