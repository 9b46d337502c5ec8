import type {
  Endpoint,
  EndpointAnswer,
  ErrorCode,
  FieldError,
  getCase,
  getClose,
  getOperation,
  getOverview,
  getReconciliation,
  getSession,
  getSystem,
  listApprovals,
  listAudit,
  listCases,
  listCloses,
  listEntries,
  listOperations,
  listOperators,
  listProposals,
  listSessions,
  sandboxEndpoints,
  searchOperations,
  sharedWithOperators,
} from '@pixgate/spec'
import { infiniteQueryOptions, QueryClient, queryOptions } from '@tanstack/react-query'

/** Calls to the service, and the reads that pages share. */

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export type Query = Readonly<Record<string, string | number | undefined>>

interface CallOptions {
  readonly body?: unknown
  readonly query?: Query
  /** `Idempotency-Key` of the intent. */
  readonly key?: string
  /** Polling without a person: it does not keep the session open. */
  readonly isBackground?: boolean
  readonly signal?: AbortSignal
}

/** A refusal of the service, or no answer: then `code` is `unreachable`. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: ErrorCode | 'unreachable' | 'unknown'
  readonly correlationId: string | undefined
  readonly fields: readonly FieldError[]
  /** Nothing was ordered, so nothing is unknown. */
  readonly isOfRead: boolean

  constructor(method: Method, status: number, problem: Partial<Problem>) {
    super(problem.detail ?? problem.code ?? String(status))
    this.status = status
    this.code = problem.code ?? (status === 0 ? 'unreachable' : 'unknown')
    this.correlationId = problem.correlationId
    this.fields = problem.errors ?? []
    this.isOfRead = method === 'GET'
  }
}

interface Problem {
  readonly code: ErrorCode
  readonly detail: string
  readonly correlationId: string
  readonly errors: readonly FieldError[]
}

const ACTIVITY_MS = 60_000

let activeAt = performance.now()

function noticeActivity(): void {
  activeAt = performance.now()
}

for (const type of ['pointerdown', 'keydown', 'wheel'] as const) {
  addEventListener(type, noticeActivity, { passive: true, capture: true })
}

/** Reads that follow from a change at the service, not from a person, do not count as activity. */
function isUnattended(method: Method): boolean {
  return method === 'GET' && performance.now() - activeAt > ACTIVITY_MS
}

async function send(method: Method, path: string, options: CallOptions): Promise<Response> {
  const { body, query = {}, key, isBackground = isUnattended(method), signal } = options
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  )
  const address = given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
  const headers = new Headers({ 'X-Pixgate-Console': isBackground ? 'background' : '1' })
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  if (key !== undefined) headers.set('Idempotency-Key', key)
  let response: Response
  try {
    response = await fetch(address, {
      method,
      headers,
      credentials: 'same-origin',
      cache: 'no-store',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(method, 0, {})
  }
  if (response.ok) return response
  const problem: Partial<Problem> = await response.json().catch(() => ({}))
  const correlationId = problem.correlationId ?? response.headers.get('x-correlation-id') ?? undefined
  throw new ApiError(method, response.status, { ...problem, ...(correlationId !== undefined && { correlationId }) })
}

/** Calls an endpoint; its type says the answer. */
export async function call<E extends Endpoint>(
  method: E['method'],
  path: string,
  options: CallOptions = {},
): Promise<EndpointAnswer<E>> {
  const response = await send(method, path, options)
  return (response.status === 204 ? undefined : await response.json()) as EndpointAnswer<E>
}

/** Reads an answer that is no JSON. */
async function readText(path: string, query: Query, signal?: AbortSignal): Promise<string> {
  return (await send('GET', path, { query, ...(signal && { signal }) })).text()
}

/** A file of the service, with the name that the service gives it. */
export async function readFile(path: string, query: Query = {}): Promise<{ name: string; content: Blob }> {
  const response = await send('GET', path, { query })
  const [, name = 'pixgate'] = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? []
  return { name, content: await response.blob() }
}

/** Sends an order with an `Idempotency-Key`: the same one for the same order, also after a reload, until its answer is known. */
export async function callOnce<E extends Endpoint>(
  method: E['method'],
  path: string,
  body: unknown,
): Promise<EndpointAnswer<E>> {
  const name = `order:${method} ${path} ${JSON.stringify(body)}`
  const key = sessionStorage.getItem(name) ?? crypto.randomUUID()
  sessionStorage.setItem(name, key)
  try {
    const answer = await call<E>(method, path, { body, key })
    sessionStorage.removeItem(name)
    return answer
  } catch (error) {
    if (error instanceof ApiError && isDefinite(error)) sessionStorage.removeItem(name)
    throw error
  }
}

/** The order was refused and will not be carried out. */
function isDefinite({ status, code }: ApiError): boolean {
  return status >= 400 && status < 500 && code !== 'request_in_progress' && code !== 'rate_limited' && status !== 401
}

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && (error.status === 0 || error.status === 503),
      retryDelay: (failures) => 400 * 2 ** failures,
    },
    mutations: { retry: false },
  },
})

export type Session = EndpointAnswer<typeof getSession>
export type Overview = EndpointAnswer<typeof getOverview>
export type Operation = EndpointAnswer<typeof getOperation>
export type OperationSummary = EndpointAnswer<typeof listOperations>['data'][number]
export type OperationKind = OperationSummary['kind']
export type SearchHit = EndpointAnswer<typeof searchOperations>['data'][number]
export type CaseSummary = EndpointAnswer<typeof listCases>['data'][number]
export type WholeCase = EndpointAnswer<typeof getCase>
export type Timeline = Operation['timeline']
export type Approval = EndpointAnswer<typeof listApprovals>['data'][number]
export type ApiKey = EndpointAnswer<(typeof sharedWithOperators)['listOperatorApiKeys']>['data'][number]
export type OperatorRow = EndpointAnswer<typeof listOperators>['data'][number]
export type SessionRow = EndpointAnswer<typeof listSessions>['data'][number]
export type AuditRow = EndpointAnswer<typeof listAudit>['data'][number]
export type System = EndpointAnswer<typeof getSystem>
export type BankBehavior = EndpointAnswer<(typeof sandboxEndpoints)['getBankBehavior']>
export type Proposal = EndpointAnswer<typeof listProposals>['data'][number]
export type WebhookSummary = EndpointAnswer<(typeof sharedWithOperators)['listOperatorWebhooks']>['data'][number]
export type Webhook = EndpointAnswer<(typeof sharedWithOperators)['getOperatorWebhook']>
export type DeliverySummary = EndpointAnswer<(typeof sharedWithOperators)['listOperatorDeliveries']>['data'][number]
export type LedgerLine = EndpointAnswer<typeof listEntries>['data'][number]
export type Reconciliation = EndpointAnswer<typeof getReconciliation>
export type CloseSummary = EndpointAnswer<typeof listCloses>['data'][number]
export type Close = EndpointAnswer<typeof getClose>

/** Reads by one address. The first part of the key says the kind, the second the id: `live.ts` renews by them. */
function read<E extends Endpoint>(kind: string, path: string, query: Query = {}) {
  return queryOptions({
    queryKey: [kind, path, query] as const,
    queryFn: ({ signal }) => call<E>('GET', path, { query, signal }),
  })
}

interface Page {
  readonly pagination: { readonly nextCursor: string | null }
}

function pages<E extends Endpoint>(kind: string, path: string, query: Query) {
  return infiniteQueryOptions({
    queryKey: [kind, path, query] as const,
    queryFn: ({ signal, pageParam }) =>
      call<E>('GET', path, { query: { ...query, cursor: pageParam, limit: 50 }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last as Page).pagination.nextCursor ?? undefined,
  })
}

const NEWEST_MAX = 30
/** The health of the service changes without a change of an operation. */
const HEALTH_EVERY_MS = 30_000
/** An attempt changes no operation, so `listChanges` does not name it. */
const ATTEMPTS_EVERY_MS = 15_000
/** While an attempt is due, or was just now. */
const ATTEMPT_EVERY_MS = 1_500

function attemptsEvery(deliveries: readonly { readonly nextAttemptAt: string | null }[] = []): number {
  const isDue = deliveries.some(
    ({ nextAttemptAt: at }) => at !== null && Math.abs(Date.parse(at) - Date.now()) < ATTEMPTS_EVERY_MS,
  )
  return isDue ? ATTEMPT_EVERY_MS : ATTEMPTS_EVERY_MS
}

export const reads = {
  session: () => ({
    ...read<typeof getSession>('session', '/console/session'),
    staleTime: Number.POSITIVE_INFINITY,
  }),
  overview: () => ({
    ...read<typeof getOverview>('overview', '/operator/overview'),
    refetchInterval: HEALTH_EVERY_MS,
  }),
  operations: (filters: Query) => pages<typeof listOperations>('operations', '/operator/operations', filters),
  /** The first page alone. */
  newest: (filters: Query) =>
    read<typeof listOperations>('operations', '/operator/operations', { ...filters, limit: NEWEST_MAX }),
  operation: (id: string) => read<typeof getOperation>('operation', `/operator/operations/${id}`),
  search: (q: string) => read<typeof searchOperations>('search', '/operator/search', { q }),
  cases: (filters: Query) => pages<typeof listCases>('cases', '/operator/cases', filters),
  case: (id: string) => read<typeof getCase>('case', `/operator/cases/${id}`),
  approvals: () => pages<typeof listApprovals>('approvals', '/operator/approvals', {}),
  proposals: () => read<typeof listProposals>('proposals', '/operator/proposals'),
  delivery: (id: string) => {
    const options = read<(typeof sharedWithOperators)['getOperatorDelivery']>(
      'delivery',
      `/operator/webhook-deliveries/${id}`,
    )
    return queryOptions({ ...options, refetchInterval: ({ state: { data } }) => attemptsEvery(data && [data]) })
  },
  apiKeys: () => pages<(typeof sharedWithOperators)['listOperatorApiKeys']>('api-keys', '/operator/api-keys', {}),
  operators: () => pages<typeof listOperators>('operators', '/operator/operators', {}),
  sessions: () => read<typeof listSessions>('sessions', '/operator/sessions'),
  audit: (filters: Query) => pages<typeof listAudit>('audit', '/operator/audit', filters),
  system: () => read<typeof getSystem>('system', '/operator/system'),
  bankBehavior: () => read<(typeof sandboxEndpoints)['getBankBehavior']>('behavior', '/operator/sandbox/behavior'),
  bankBook: () => read<(typeof sandboxEndpoints)['getBankBook']>('book', '/operator/sandbox/book'),
  webhooks: () => read<(typeof sharedWithOperators)['listOperatorWebhooks']>('webhooks', '/operator/webhooks'),
  webhook: (id: string) => ({
    ...read<(typeof sharedWithOperators)['getOperatorWebhook']>('webhook', `/operator/webhooks/${id}`),
    refetchInterval: ATTEMPTS_EVERY_MS,
  }),
  deliveries: (filters: Query) => {
    const options = pages<(typeof sharedWithOperators)['listOperatorDeliveries']>(
      'deliveries',
      '/operator/webhook-deliveries',
      filters,
    )
    return infiniteQueryOptions({
      ...options,
      refetchInterval: ({ state: { data } }) => attemptsEvery(data?.pages.flatMap((page) => page.data)),
    })
  },
  reconciliation: () => read<typeof getReconciliation>('reconciliation', '/operator/reconciliation'),
  entries: (filters: Query) => pages<typeof listEntries>('entries', '/operator/entries', filters),
  closes: () => pages<typeof listCloses>('closes', '/operator/closes', {}),
  close: (day: string) => read<typeof getClose>('close', `/operator/closes/${day}`),
  qrCode: (id: string) =>
    queryOptions({
      queryKey: ['qrcode', id] as const,
      queryFn: ({ signal }) => readText(`/operator/cash-ins/${id}/qrcode`, { format: 'svg' }, signal),
      staleTime: Number.POSITIVE_INFINITY,
    }),
}
