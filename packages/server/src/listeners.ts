import { sandboxForOperators, serviceEndpoints } from '@pixgate/spec'
import type { Base, Modules, Service } from './app.ts'
import { createBalanceHandlers } from './balance/index.ts'
import { createCaseHandlers } from './cases/api.ts'
import { cashOutDecider } from './cash-out/index.ts'
import type { Config } from './config.ts'
import { createRefundHandlers } from './console/refunds.ts'
import { createSessionHandlers } from './console/sessions.ts'
import { createSandboxHandlers, createSharedHandlers } from './console/shared.ts'
import { createConsoleRoutes } from './console/site.ts'
import { createOperatorModule } from './controls/index.ts'
import { createDryRun } from './engine/dry-run.ts'
import { createHealthHandlers } from './health/index.ts'
import { createPaymentPageHandlers } from './payment-page/routes.ts'
import { statement } from './platform/db/database.ts'
import { type BoundEndpoint, bindEndpoints } from './platform/http/endpoint-route.ts'
import type { Caller, IncomingRequest } from './platform/http/handler.ts'
import { isForOperators } from './platform/http/openapi.ts'
import { createHttpServer, type HttpServer, listeningUrl } from './platform/http/server.ts'
import type { WatchedEventLoop } from './platform/runtime.ts'
import { createReceiptHandlers } from './receipts/index.ts'
import { createReferenceRoutes } from './reference/index.ts'
import { apiInfo } from './reference/info.ts'
import { refundInDecider } from './refund-in/index.ts'

/** The endpoints of each listener, with their handlers. */

/** Parts of the service that the sandbox's controls use: operations with their ids at the bank, and the daily close. */
export type KnownOperations = Readonly<
  Record<'cashIns' | 'cashOuts' | 'refunds', { get(id: string): Promise<{ readonly orderId: string } | undefined> }>
> & { readonly closes: Pick<Modules['closes'], 'closeToday'> }

export type AddEndpoints = (operations: KnownOperations) => readonly BoundEndpoint[]

/** The connector defines the endpoints that the bank calls; payment pages are optional. */
const { receiveCashInEvent, receiveCashOutEvent, getPaymentPage, getPaymentState, ...ownEndpoints } = serviceEndpoints

/** Every listener serves health. */
const { getHealth, getReadiness, getMetrics, ...otherEndpoints } = ownEndpoints

/** Endpoints of the process: all, or health only. @source rules#health.6 */
export type Answers = 'all' | 'health'

interface Listening {
  readonly addEndpoints: AddEndpoints | undefined
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
  const { config } = base
  const isSandbox = config.mode === 'sandbox'
  const paymentUrl = paymentUrls(config, modules, () => listeningUrl(http.server))
  const handlers = withPaymentUrl(handlersOf(base, modules, addEndpoints !== undefined), paymentUrl)
  const added = [
    ...modules.inbox.routes,
    ...paymentPages(base, modules, isDraining),
    ...(isSandbox ? sandboxOrders(base, handlers) : []),
    ...(addEndpoints?.(modules) ?? []),
  ]
  const bound = [...bindEndpoints(otherEndpoints, handlers).filter(isServed(config)), ...added]
  const pages = config.isConsoleServed ? createConsoleRoutes(config.consoleHosts) : []
  const isApart = config.operatorPort !== undefined
  const operatorHttp = isApart ? open([...bound.filter(isOfOperators), ...pages]) : undefined
  const operatorUrl = operatorHttp && (() => listeningUrl(operatorHttp.server))
  const endpoints = [...Object.values(ownEndpoints), ...added.map(({ endpoint }) => endpoint)]
  const reference = createReferenceRoutes({ endpoints, isSandbox, url: () => listeningUrl(http.server), operatorUrl })
  const here = isApart ? bound.filter((one) => !isOfOperators(one)) : [...bound, ...pages]
  const http: HttpServer = open([...here, ...reference])
  return { http, operatorHttp }
}

function isOfOperators({ endpoint }: BoundEndpoint): boolean {
  return isForOperators(endpoint)
}

/** Without the console nobody logs in to it. @source rules#console.17 */
function isServed({ isConsoleServed }: Pick<Config, 'isConsoleServed'>): (bound: BoundEndpoint) => boolean {
  return ({ endpoint }) => isConsoleServed || !endpoint.path.startsWith('/console/')
}

type PaymentUrl = (id: string) => string | undefined

/** @source rules#payment-page.2 */
function paymentUrls({ paymentPage }: Config, { pageTokens }: Modules, here: () => string | undefined): PaymentUrl {
  if (paymentPage === undefined) return () => undefined
  return (id) => `${paymentPage.url ?? here() ?? ''}/pay/${pageTokens.of(id)}`
}

type Handled = ReturnType<typeof handlersOf>

/** Adds the address of the page to the answers that have one. @source rules#payment-page.2 */
function withPaymentUrl(handlers: Handled, paymentUrl: PaymentUrl): Handled {
  return {
    ...handlers,
    createCashIn: async (input) => {
      const { body, ...answer } = await handlers.createCashIn(input)
      const url = paymentUrl(body.id)
      return { ...answer, body: { ...body, ...(url !== undefined && { paymentUrl: url }) } }
    },
    getOperation: async (input) => {
      const { body, ...answer } = await handlers.getOperation(input)
      const url = body.kind === 'cash_in' ? paymentUrl(body.id) : undefined
      return { ...answer, body: { ...body, ...(url !== undefined && { paymentUrl: url }) } }
    },
  }
}

/** @source rules#payment-page.1 */
function paymentPages(base: Base, { pageTokens: tokens }: Modules, isDraining: () => boolean) {
  const { config, databases } = base
  const { merchant, paymentPage: look } = config
  if (look === undefined) return []
  const needs = { ...base, database: databases.console, tokens, merchant, look, isDraining }
  return bindEndpoints({ getPaymentPage, getPaymentState }, createPaymentPageHandlers(needs))
}

/** @source rules#console.15 */
function sandboxOrders(base: Base, handlers: ReturnType<typeof handlersOf>): readonly BoundEndpoint[] {
  return bindEndpoints(sandboxForOperators, createSandboxHandlers({ ...base, database: base.databases.api }, handlers))
}

function httpOptions({ config, metrics, logger, ids, pause }: Base, modules: Modules, eventLoop: WatchedEventLoop) {
  const { access, logins, sessions, inbox } = modules
  return {
    onRequest: metrics.onRequest,
    onUnreadable: metrics.onUnreadable,
    onStranger: metrics.onStranger,
    pause,
    authenticate: {
      'api-key': access.authenticateKey,
      admin: async (request: IncomingRequest) => {
        const isTokenSent = request.headers.authorization !== undefined
        return (isTokenSent ? undefined : await sessions.callerOf(request)) ?? logins.authenticate(request)
      },
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

function handlersOf(base: Base, modules: Modules, hasSimulatedBank: boolean) {
  const { mode, caseApprovalFromCents: approvalFromCents, merchant, merchantDocument } = base.config
  const ofMerchant = {
    ...modules.access.handlers,
    ...modules.cashIns.handlers,
    ...modules.cashOuts.handlers,
    ...modules.refunds.handlers,
    ...createReceiptHandlers({ ...base, ...modules, merchant: { ...merchant, document: merchantDocument } }),
    ...createBalanceHandlers(base.databases.api),
    ...modules.ledger.handlers,
    ...modules.webhooks.handlers,
    ...modules.feed.handlers,
    ...modules.signing.handlers,
    ...operatorHandlersOf(base, modules),
    ...modules.closes.handlers,
  }
  const facts = { mode, version: apiInfo.version, hasSimulatedBank, approvalFromCents }
  return {
    ...ofMerchant,
    ...createSessionHandlers(modules.sessions, facts),
    ...createSharedHandlers({ ...base, database: base.databases.api }, ofMerchant),
    ...modules.consoleReads.handlers,
  }
}

function operatorHandlersOf(base: Base, modules: Modules) {
  const { engine, inbox, statements, cashIns, refunds } = modules
  const shared = { ...base, engine, database: base.databases.api, operators: operatorsOf(modules) }
  const cases = {
    ...shared,
    withoutOperation: { ...base, events: inbox.setAside, statement: statements.lines, charges: cashIns, refunds },
    deciders: {
      cash_in: modules.refunds.cashInDecider,
      cash_out: cashOutDecider,
      refund_in: refundInDecider,
      adjustment: modules.refunds.heldDecider(statements.lines),
    },
    approvalFromCents: base.config.caseApprovalFromCents,
    dryRun: createDryRun(shared),
    onRefundOrdered: refunds.onOrdered,
  }
  return {
    ...createOperatorModule({ ...shared, cases }).handlers,
    ...createCaseHandlers(cases),
    ...createRefundHandlers({ cases, refunds }),
  }
}

/** All operators, and the counter of deactivations of keys and operators. */
function operatorsOf({ access }: Pick<Modules, 'access'>) {
  return { people: access.allOperators, deactivations: access.deactivationCount }
}
