import { type Answered, isSuccess } from '../answers.ts'
import { lacking } from '../lacking.ts'
import type { Outcome } from '../link.ts'
import type { ChargeQueryAnswer, ChargeRequest, ChargeTerms, Partner, PartnerCapability } from '../port.ts'
import { instantOf, itemsOf } from '../values.ts'
import { createStamps } from './bank-clock.ts'
import { type Cob, isCob, isPage, isPix } from './bodies.ts'
import { type CobReading, cobRequest, judgeCob, judgeMadeCob } from './charge.ts'
import { classifyCancel, classifyQuery } from './classify.ts'
import type { Exchange } from './exchange.ts'
import { devolucaoPath, devolucaoRequest, judgeDevolucao } from './refund.ts'
import {
  createStatementReader,
  LISTED_WITHIN_MS,
  listedUntil,
  listQuery,
  type StatementList,
  widened,
} from './statement.ts'

/** What a bank of this standard is connected with. */
export interface ApiPixOptions {
  readonly exchange: Exchange
  readonly merchant: ChargeRequest['merchant']
  /** Epoch milliseconds, by the bank's clock. */
  readonly bankNow: () => number
  /** A clock that goes on while the process sleeps, milliseconds. */
  readonly monotonic: () => number
  /** Whether an order that it gets twice is carried out once. */
  readonly hasIdempotentOrders: boolean
  /** The bank's lists are asked for by whole seconds. */
  readonly hasWholeSeconds?: boolean
  /** What the statement is made of besides the lists of what came in. */
  readonly lists?: readonly StatementList[]
}

/** What every bank of this standard promises, and more: the id of a return is used once for its payment, for ever. */
const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000

/**
 * So long after the seconds that are left were counted the request for a charge may still leave: by so much it outlives ours at the
 * bank, well within the time for which a payment that settles late is on time.
 * @source rules#api-pix.2
 */
const LEAVES_WITHIN_MS = 5_000

/** How far the bank's time may be from its own. */
const SKEW_MS = 300_000

/**
 * A bank that speaks the Central Bank's API Pix 2.9.0: it takes charges and refunds, and pays nothing out.
 * @source rules#api-pix
 */
export function createApiPixPartner(options: ApiPixOptions): Partner {
  const { exchange, merchant, bankNow, monotonic, hasIdempotentOrders, hasWholeSeconds = false, lists = [] } = options
  const stamps = createStamps()
  const reading: CobReading = { merchant, bankNow, stamps }

  async function getCharge(id: string, terms: ChargeTerms, deadline?: AbortSignal): Promise<ChargeQueryAnswer> {
    const outcome = await exchange.raw({ method: 'GET', path: cobPath(id) }, deadline)
    return classifyQuery(await withPayments(outcome, deadline), judgeCob(id, terms, reading))
  }

  /** What a charge was paid with, where the charge itself does not tell. @source rules#api-pix.5 */
  async function withPayments(outcome: Outcome, deadline: AbortSignal | undefined): Promise<Outcome> {
    const cob = paidWithoutPayments(outcome)
    if (!cob) return outcome
    const window = widened(paymentWindow(cob, listedUntil(bankNow(), hasWholeSeconds)), stamps.offsetMs())
    const query = new URLSearchParams({ ...listQuery(window, 0, hasWholeSeconds), txid: cob.txid })
    const listed = await exchange.raw({ method: 'GET', path: `/pix?${query}` }, deadline)
    if (!isAnswer(listed) || !isPage(listed.json)) return outcome
    const pix = itemsOf(listed.json.pix).filter(isPix)
    // A bank that does not look at the filter tells the payments of others.
    return pix.every(({ txid }) => txid === cob.txid) ? { ...listed, json: { ...cob, pix } } : outcome
  }

  return {
    ...lacking,
    capabilities: capabilitiesOf(hasIdempotentOrders),
    idempotencyWindowMs: IDEMPOTENCY_WINDOW_MS,
    listedWithinMs: LISTED_WITHIN_MS,
    createCharge: (id, request, deadline) => {
      const endsAt = monotonic() + LEAVES_WITHIN_MS
      return exchange.send({
        path: cobPath(id),
        body: cobRequest(request),
        judge: judgeMadeCob(id, request, reading),
        query: () => getCharge(id, request, deadline),
        holdsMoney: false,
        deadline,
        window: { isOver: () => monotonic() > endsAt },
      })
    },
    getCharge,
    cancelCharge: async (id, deadline) =>
      classifyCancel(await exchange.raw({ method: 'PATCH', path: cobPath(id), body: CANCELLATION }, deadline)),
    sendRefund: (id, request, window) => {
      const [path, judge] = [devolucaoPath(id, request), judgeDevolucao(id, request, stamps.offsetMs() ?? 0)]
      const query = () => exchange.query(path, judge)
      return exchange.send({ path, body: devolucaoRequest(request), judge, query, holdsMoney: true, window })
    },
    getRefund: (id, terms, deadline) => {
      const judge = judgeDevolucao(id, terms, stamps.offsetMs() ?? 0)
      return exchange.query(devolucaoPath(id, terms), judge, deadline)
    },
    stamps,
    readStatement: createStatementReader({ exchange, bankNow, stamps, lists, hasWholeSeconds }),
  }
}

function capabilitiesOf(hasIdempotentOrders: boolean): ReadonlySet<PartnerCapability> {
  const idempotent: readonly PartnerCapability[] = hasIdempotentOrders ? ['idempotent-refund'] : []
  return new Set([
    'charge',
    'idempotent-charge',
    'query-charge',
    'cancel-charge',
    'refund',
    ...idempotent,
    'query-refund',
    'statement',
  ])
}

/** All that may stand in the body. */
const CANCELLATION = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }

function cobPath(id: string): string {
  return `/cob/${id}`
}

function paidWithoutPayments(outcome: Outcome): Cob | undefined {
  if (!isAnswer(outcome) || !isCob(outcome.json)) return undefined
  const { status, pix } = outcome.json
  return status === 'CONCLUIDA' && !itemsOf(pix).some(isPix) ? outcome.json : undefined
}

/** In which a charge can have been paid. What is paid after `until` is found when the bank is asked again. */
function paymentWindow({ calendario }: Cob, until: number) {
  return { from: instantOf(calendario.criacao) - SKEW_MS, to: until + 1 }
}

function isAnswer(outcome: Outcome): outcome is Answered {
  return outcome.kind === 'answered' && isSuccess(outcome)
}
