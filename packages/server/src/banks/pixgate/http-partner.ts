import type { PartnerLink } from '../link.ts'
import type { AnyReported, ListedWithin, Partner, QueryAnswer, Rejected, SendAnswer, SendWindow } from '../port.ts'
import {
  CONFLICT,
  classifyBalance,
  classifyCancel,
  classifyDecode,
  classifyQuery,
  classifySend,
  classifyStatement,
} from './classify.ts'
import { balanceOf } from './protocol/balance.ts'
import { charges } from './protocol/charge.ts'
import { payouts } from './protocol/payout.ts'
import { qrCodeOf } from './protocol/qr-code.ts'
import { refunds } from './protocol/refund.ts'
import type { Resource } from './protocol/resource.ts'
import { statementPageOf, statementPath } from './protocol/statement.ts'

/** What every bank that speaks this protocol promises, at the least. @source partner-protocol#calls */
const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000

/** A movement is in the statement as soon as it has happened; a minute is for two clocks and a cache. */
const LISTED_WITHIN_MS: ListedWithin = {
  PAYMENT_RECEIVED: 60_000,
  PAYMENT_TAKEN_BACK: 60_000,
  REFUND_SENT: 60_000,
  PAYOUT_SENT: 60_000,
  PAYOUT_RETURNED: 60_000,
}

const IDEMPOTENT_ORDERS = ['idempotent-payout', 'idempotent-refund'] as const

/**
 * A bank that speaks Pixgate's own partner protocol, as the simulator does.
 * @param hasIdempotentOrders whether it carries out once a payout or refund that it gets twice
 * @source rules#partner.1, rules#partner.3, rules#partner.8
 */
export function createHttpPartner(link: PartnerLink, hasIdempotentOrders = true): Partner {
  const charge = callsTo(link, charges)
  const payout = callsTo(link, payouts)
  const refund = callsTo(link, refunds)
  return {
    capabilities: new Set([
      'charge',
      'idempotent-charge',
      'query-charge',
      'cancel-charge',
      'payout',
      'query-payout',
      'decode-qr-code',
      'refund',
      'query-refund',
      'statement',
      'balance',
      ...(hasIdempotentOrders ? IDEMPOTENT_ORDERS : []),
    ]),
    idempotencyWindowMs: IDEMPOTENCY_WINDOW_MS,
    listedWithinMs: LISTED_WITHIN_MS,
    createCharge: charge.send,
    getCharge: charge.query,
    cancelCharge: async (id, deadline) =>
      classifyCancel(await link.exchange({ method: 'DELETE', path: pathOf(charges, id) }, deadline)),
    sendPayout: (id, request, window) => payout.send(id, request, undefined, window),
    getPayout: payout.query,
    decodeQrCode: async (pixCode, deadline) =>
      classifyDecode(
        await link.exchange({ method: 'POST', path: '/qr-codes/decode', body: { pixCode } }, deadline),
        qrCodeOf,
      ),
    sendRefund: (id, request, window) => refund.send(id, request, undefined, window),
    getRefund: refund.query,
    readStatement: async (query, deadline) =>
      classifyStatement(await link.exchange({ method: 'GET', path: statementPath(query) }, deadline), statementPageOf),
    readBalance: async (deadline) =>
      classifyBalance(await link.exchange({ method: 'GET', path: '/balance' }, deadline), balanceOf),
  }
}

/** The two calls that every kind of thing has. */
function callsTo<Request, Terms, Report extends AnyReported>(
  link: PartnerLink,
  resource: Resource<Request, Terms, Report>,
) {
  async function send(
    id: string,
    request: Request,
    deadline?: AbortSignal,
    window?: SendWindow,
  ): Promise<SendAnswer<Report>> {
    const terms = resource.termsOf(request)
    const call = { method: 'PUT', path: pathOf(resource, id), body: resource.bodyOf(request) } as const
    const answer = classifySend(await link.exchange(call, deadline, window), resource.judge(id, terms))
    const isConflict = answer.kind === 'REJECTED' && answer.errorCode === CONFLICT
    return isConflict ? settleConflict(resource, answer, await query(id, terms, deadline)) : answer
  }
  async function query(id: string, terms: Terms, deadline?: AbortSignal): Promise<QueryAnswer<Report>> {
    const outcome = await link.exchange({ method: 'GET', path: pathOf(resource, id) }, deadline)
    return classifyQuery(outcome, resource.judge(id, terms))
  }
  return { send, query }
}

/**
 * A conflict says that the bank knows our id, perhaps from an attempt whose answer was lost: what it has there counts,
 * and the refusal only where it has nothing. Where money would be released even that is too little: a bank that knows an
 * id and never saw it has proved nothing (failure-modes#P6).
 */
function settleConflict<Report extends AnyReported>(
  { holdsMoney }: { readonly holdsMoney: boolean },
  refusal: Rejected,
  known: QueryAnswer<Report>,
): SendAnswer<Report> {
  if (known.kind === 'NOT_FOUND') {
    return holdsMoney ? { kind: 'UNKNOWN', reason: 'conflict about an id never seen', httpStatus: 409 } : refusal
  }
  // The question was not sent; what it is about was.
  if (known.kind === 'NOT_SENT') return { kind: 'UNKNOWN', reason: known.reason, httpStatus: undefined }
  return known.kind === 'UNKNOWN' ? known : { ...known, isEarlier: true }
}

function pathOf({ path }: { readonly path: string }, id: string): string {
  return `${path}/${encodeURIComponent(id)}`
}
