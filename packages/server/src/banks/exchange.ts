import type { Outcome, PartnerCall, PartnerLink } from './link.ts'
import type {
  AnyReported,
  Charge,
  ChargeTerms,
  NotSent,
  Payout,
  PayoutRequest,
  PayoutTerms,
  QueryAnswer,
  Refund,
  RefundTerms,
  Rejected,
  ReportedCharge,
  ReportedPayout,
  ReportedRefund,
  SendAnswer,
  SendWindow,
  Unknown,
} from './port.ts'

/**
 * Turns the outcome of an HTTP call into an answer of the bank, for every connector. Anything uncertain is `UNKNOWN`.
 * @source rules#partner.3
 */

export type Answered = Extract<Outcome, { kind: 'answered' }>

/** Evaluates the body of a 2xx. */
export type Judge<Report extends AnyReported> = (answered: Answered) => Report | Unknown

export interface Order<Report extends AnyReported> {
  readonly path: string
  readonly body: object
  readonly judge: Judge<Report>
  /** Queries the same id; by default with `path` and `judge`. */
  readonly query?: () => Promise<QueryAnswer<Report>>
  /** Whether a refusal releases reserved money. */
  readonly holdsMoney: boolean
  readonly deadline?: AbortSignal | undefined
  readonly window?: SendWindow | undefined
}

export interface Refusal {
  readonly rejected: Rejected
  /**
   * Whether the refusal counts without a query of our id. Otherwise an earlier attempt, whose answer was lost, may have
   * placed the order.
   */
  readonly isDefinite: boolean
  /** Whether the bank reports that it knows the id. */
  readonly isDuplicate: boolean
}

/** Interpretation of the answers of a protocol. */
export interface Protocol {
  readonly readJson?: (json: unknown) => unknown
  /** Reads the refusal of a PUT; `undefined` if it is none, and the result unknown. */
  ofOrder(answered: Answered): Refusal | undefined
  /** Whether the bank itself reports an unknown id; a proxy's 404 does not. */
  isAbsence(answered: Answered): boolean
}

export interface Exchange {
  raw(call: PartnerCall, deadline?: AbortSignal, window?: SendWindow): Promise<Outcome>
  query<Report extends AnyReported>(
    path: string,
    judge: Judge<Report>,
    deadline?: AbortSignal,
  ): Promise<QueryAnswer<Report>>
  send<Report extends AnyReported>(order: Order<Report>): Promise<SendAnswer<Report>>
}

/** Makes the calls of a protocol. @param prefix of every path: `/v2` */
export function createExchange(link: Pick<PartnerLink, 'exchange'>, protocol: Protocol, prefix = ''): Exchange {
  const { readJson = (json) => json, ofOrder, isAbsence } = protocol
  const raw: Exchange['raw'] = async (call, deadline, window) => {
    const outcome = await link.exchange({ ...call, path: prefix + call.path }, deadline, window)
    return outcome.kind === 'answered' ? { ...outcome, json: readJson(outcome.json) } : outcome
  }
  const query: Exchange['query'] = async (path, judge, deadline) =>
    queryAnswer(await raw({ method: 'GET', path }, deadline), judge, isAbsence)
  return {
    raw,
    query,
    send: async ({ path, body, judge, holdsMoney, deadline, window, ...order }) => {
      const outcome = await raw({ method: 'PUT', path, body }, deadline, window)
      const refusal = outcome.kind === 'answered' && !isSuccess(outcome) ? ofOrder(outcome) : undefined
      if (!refusal) return answerOf(outcome, judge)
      if (refusal.isDefinite) return refusal.rejected
      const known = await (order.query?.() ?? query(path, judge, deadline))
      return settleRefusal(refusal, known, holdsMoney)
    },
  }
}

export function queryAnswer<Report extends AnyReported>(
  outcome: Outcome,
  judge: Judge<Report>,
  isAbsence: Protocol['isAbsence'],
): QueryAnswer<Report> {
  return answerOf(outcome, judge, (answered) => (isAbsence(answered) ? { kind: 'NOT_FOUND' } : undefined))
}

/**
 * Evaluates an outcome.
 * @param onSuccess reads a 2xx
 * @param onRefusal reads any other status; `undefined` if it proves nothing
 */
export function answerOf<Good, Bad = never>(
  outcome: Outcome,
  onSuccess: (answered: Answered) => Good | Unknown,
  onRefusal: (answered: Answered) => Bad | undefined = () => undefined,
): Good | Bad | NotSent | Unknown {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  return isSuccess(outcome) ? onSuccess(outcome) : (onRefusal(outcome) ?? unknown(outcome))
}

/**
 * Answer to a refused order after the query of its id. A bank that reports a duplicate id but does not know it has
 * proved nothing; the refusal must not release money.
 * @source rules#api-pix.3, failure-modes#P6
 */
export function settleRefusal<Report extends AnyReported>(
  { rejected, isDuplicate }: Refusal,
  known: QueryAnswer<Report>,
  holdsMoney: boolean,
): SendAnswer<Report> {
  if (known.kind === 'NOT_FOUND') {
    return isDuplicate && holdsMoney
      ? { kind: 'UNKNOWN', reason: 'a duplicate of an id never seen', httpStatus: 409 }
      : rejected
  }
  // The query was not sent, but the order was.
  if (known.kind === 'NOT_SENT') return { kind: 'UNKNOWN', reason: known.reason, httpStatus: undefined }
  return known.kind === 'UNKNOWN' ? known : { ...known, alreadyExisted: true }
}

export function unanswered(outcome: Exclude<Outcome, Answered>): NotSent | Unknown {
  const { reason } = outcome
  if (outcome.kind === 'lost') return { kind: 'UNKNOWN', reason, httpStatus: undefined }
  const { httpStatus, retryAfterMs } = outcome
  return { kind: 'NOT_SENT', reason, httpStatus, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

/** An answer that proves nothing. */
export function unknown({ httpStatus }: Answered, reason = `HTTP ${httpStatus}`): Unknown {
  return { kind: 'UNKNOWN', reason, httpStatus }
}

/** Reason of an answer with an unexpected body. */
export const UNREADABLE = 'unreadable body'

export function isSuccess({ httpStatus }: Answered): boolean {
  return httpStatus >= 200 && httpStatus < 300
}

export type Reader<Thing> = (json: unknown) => Thing | undefined

/**
 * Evaluates the charge under our id at the bank. Its expiry is not compared: a charge from an earlier attempt keeps
 * that attempt's expiry.
 * @param pixKeys our key, and a reader of the bank's
 */
export function judgeCharge(
  id: string,
  { valueCents }: Pick<ChargeTerms, 'valueCents'>,
  read: Reader<Charge>,
  pixKeys: { readonly ours?: string; readonly of?: (json: unknown) => string | undefined } = {},
): Judge<ReportedCharge> {
  return (answered) => {
    const charge = read(answered.json)
    if (!charge) return unknown(answered, UNREADABLE)
    const echoed = { id: charge.id, valueCents: charge.valueCents, pixKey: pixKeys.of?.(answered.json) }
    const reason = differenceOf({ id, valueCents, pixKey: pixKeys.ours }, echoed)
    if (reason !== undefined) return { kind: 'CONTRADICTED', reason, charge }
    const { status } = charge
    if (status === 'ACTIVE') {
      // Payers must not see a code that cannot be paid.
      if (charge.pixCode === undefined) return unknown(answered, 'ACTIVE without a code of its own')
      return { kind: 'ACCEPTED', charge: { ...charge, status } }
    }
    // A status alone books no money.
    if (status === 'PAID' && charge.payments.length === 0) return unknown(answered, 'PAID without a payment')
    return { kind: 'FINAL', charge: { ...charge, status } }
  }
}

export function judgePayout(id: string, terms: PayoutTerms, read: Reader<Payout>): Judge<ReportedPayout> {
  return (answered) => {
    const payout = read(answered.json)
    if (!payout) return unknown(answered, UNREADABLE)
    const { status, valueCents, endToEndId, occurredAt, recipient, returns } = payout
    const reason = differenceOf({ ...terms, id }, { id: payout.id, valueCents, pixKey: recipient?.pixKey })
    if (reason !== undefined) return { kind: 'CONTRADICTED', reason, payout }
    if (status === 'PROCESSING') return { kind: 'ACCEPTED', payout: { ...payout, status } }
    if (status === 'FAILED') return { kind: 'FINAL', payout: { ...payout, status } }
    // A status alone books no money.
    if (endToEndId === undefined) return unknown(answered, `${status} without an endToEndId`)
    if (occurredAt === undefined) return unknown(answered, `${status} without an occurredAt`)
    if (status === 'RETURNED' && returns.length === 0) return unknown(answered, 'RETURNED without a return')
    return { kind: 'FINAL', payout: { ...payout, status, endToEndId, occurredAt } }
  }
}

export function judgeRefund(id: string, terms: RefundTerms, read: Reader<Refund>): Judge<ReportedRefund> {
  return (answered) => {
    const refund = read(answered.json)
    if (!refund) return unknown(answered, UNREADABLE)
    const { status, valueCents, returnId, occurredAt } = refund
    const reason = differenceOf({ ...terms, id }, { id: refund.id, valueCents })
    if (reason !== undefined) return { kind: 'CONTRADICTED', reason, refund }
    if (status === 'PROCESSING') return { kind: 'ACCEPTED', refund: { ...refund, status } }
    if (status === 'FAILED') return { kind: 'FINAL', refund: { ...refund, status } }
    // A status alone books no money.
    if (returnId === undefined) return unknown(answered, 'CONFIRMED without a returnId')
    if (occurredAt === undefined) return unknown(answered, 'CONFIRMED without an occurredAt')
    return { kind: 'FINAL', refund: { ...refund, status, returnId, occurredAt } }
  }
}

/**
 * Names fields that both sides have and that differ. Checked before the status: another order proves nothing about
 * ours.
 */
function differenceOf(asked: object, echoed: object): string | undefined {
  const wanted = new Map<string, unknown>(Object.entries(asked))
  const different = Object.entries(echoed).flatMap(([field, value]) => {
    const isSame = value === undefined || wanted.get(field) === undefined || wanted.get(field) === value
    return isSame ? [] : [field]
  })
  return different.length > 0 ? `other ${different.join(', ')}` : undefined
}

export function payoutTerms(request: PayoutRequest): PayoutTerms {
  const { valueCents } = request
  return 'recipient' in request ? { valueCents, pixKey: request.recipient.pixKey } : { valueCents }
}
