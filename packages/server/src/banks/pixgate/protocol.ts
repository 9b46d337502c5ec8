import {
  type PartnerPayment,
  type PartnerStatement,
  partnerBalance,
  partnerCharge,
  partnerEntrySigns,
  partnerError,
  partnerPayout,
  partnerQrCode,
  partnerRefund,
  partnerStatement,
} from '@pixgate/spec'
import { Type } from 'typebox'
import { type Answered, answerOf, type Protocol, UNREADABLE, unknown } from '../exchange.ts'
import type { Outcome } from '../link.ts'
import type {
  BalanceAnswer,
  CancelAnswer,
  Charge,
  ChargeRequest,
  Payment,
  Payout,
  PayoutRequest,
  QrCodeAnswer,
  Refund,
  RefundRequest,
  Rejected,
  StatementAnswer,
  StatementEntry,
  StatementQuery,
} from '../port.ts'
import { bodyTest, printable, visibleParty, visibleText } from '../values.ts'

/** Requests and answers of our own protocol. Pure. @source partner-protocol#calls */

const isCharge = bodyTest(partnerCharge)
const isPayout = bodyTest(partnerPayout)
const isRefund = bodyTest(partnerRefund)
const isQrCode = bodyTest(partnerQrCode)
const isStatement = bodyTest(partnerStatement)
const isBalance = bodyTest(partnerBalance)
const isError = bodyTest(partnerError)
const isCancellation = bodyTest(Type.Object({ status: Type.Literal('CANCELLED') }))

/** A refusal has an `errorCode`; a proxy's error page has none. */
function rejection({ json }: Answered): Rejected | undefined {
  if (!isError(json)) return undefined
  return { kind: 'REJECTED', errorCode: visibleText(json.errorCode), errorMessage: printable(json.errorMessage) }
}

const REFUSAL_STATUSES: ReadonlySet<number> = new Set([400, 403, 404, 409, 422])

/**
 * A conflict means that the bank knows our id, perhaps from an attempt whose answer was lost.
 * @source rules#partner.3
 */
export const PROTOCOL: Protocol = {
  ofOrder: (answered) => {
    const rejected = REFUSAL_STATUSES.has(answered.httpStatus) ? rejection(answered) : undefined
    const isConflict = rejected?.errorCode === 'conflict'
    if (!rejected || (answered.httpStatus === 409 && !isConflict)) return undefined
    return { rejected, isDefinite: !isConflict, isDuplicate: isConflict }
  },
  isAbsence: (answered) => answered.httpStatus === 404 && rejection(answered) !== undefined,
}

/** Body of `PUT /charges/{id}`. */
export function chargeRequest({ valueCents, expiresAt, description, payer, merchant }: ChargeRequest): object {
  return {
    valueCents: Number(valueCents),
    expiresAt: new Date(expiresAt).toISOString(),
    merchant,
    ...(description !== undefined && { description }),
    ...(payer && { payer }),
  }
}

/** Reads a charge. The answer to PUT has no payments, so a paid charge is queried. */
export function readCharge(json: unknown): Charge | undefined {
  if (!isCharge(json)) return undefined
  const { id, transactionId, status, valueCents, pixCode, expiresAt, payments = [], createdAt } = json
  const chargedAt = createdAt === undefined ? undefined : Date.parse(createdAt)
  return {
    id,
    transactionId,
    status,
    valueCents: BigInt(valueCents),
    pixCode,
    expiresAt: Date.parse(expiresAt),
    payments: payments.map((payment) => paymentOf(payment, chargedAt)),
  }
}

function paymentOf({ payer, returns, ...payment }: PartnerPayment, chargedAt: number | undefined): Payment {
  return {
    endToEndId: payment.endToEndId,
    ...moved(payment),
    payer: visibleParty(payer),
    ...(chargedAt !== undefined && { chargedAt }),
    ...(returns && {
      returns: returns.map(({ returnId, transactionId, origin, ...back }) => ({
        returnId,
        transactionId,
        origin,
        ...moved(back),
      })),
    }),
  }
}

function moved({ valueCents, occurredAt }: { readonly valueCents: number; readonly occurredAt: string }) {
  return { valueCents: BigInt(valueCents), occurredAt: Date.parse(occurredAt) }
}

export function cancelAnswer(outcome: Outcome): CancelAnswer {
  return answerOf<CancelAnswer, CancelAnswer>(
    outcome,
    (answered) => (isCancellation(answered.json) ? { kind: 'CANCELLED' } : unknown(answered, UNREADABLE)),
    (answered) => {
      if (PROTOCOL.isAbsence(answered)) return { kind: 'NOT_FOUND' }
      return answered.httpStatus === 409 ? rejection(answered) : undefined
    },
  )
}

/** Body of `PUT /payouts/{id}`. */
export function payoutRequest(request: PayoutRequest): object {
  return { ...request, valueCents: Number(request.valueCents) }
}

export function readPayout(json: unknown): Payout | undefined {
  if (!isPayout(json)) return undefined
  const { recipient, returns = [], ...body } = json
  return {
    id: body.id,
    transactionId: body.transactionId,
    status: body.status,
    valueCents: BigInt(body.valueCents),
    feeCents: body.feeCents === undefined ? undefined : BigInt(body.feeCents),
    endToEndId: body.endToEndId,
    recipient: recipient && { ...visibleParty(recipient), pixKey: recipient.pixKey },
    errorCode: visibleText(body.errorCode),
    errorMessage: visibleText(body.errorMessage),
    returns: returns.map(({ returnId, ...back }) => ({ returnId, ...moved(back) })),
    occurredAt: body.occurredAt === undefined ? undefined : Date.parse(body.occurredAt),
  }
}

export function qrCodeAnswer(outcome: Outcome): QrCodeAnswer {
  return answerOf<QrCodeAnswer, Rejected>(
    outcome,
    (answered) => {
      if (!isQrCode(answered.json)) return unknown(answered, UNREADABLE)
      const { decodeId, valueCents, txid, status, expiresAt, recipient } = answered.json
      const { name, document, pixKey } = recipient
      return {
        kind: 'DECODED',
        qrCode: {
          decodeId,
          valueCents: valueCents === undefined ? undefined : BigInt(valueCents),
          txid,
          status,
          expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
          recipient: { name: visibleText(name), document: visibleText(document), pixKey },
        },
      }
    },
    (answered) => (answered.httpStatus === 422 ? rejection(answered) : undefined),
  )
}

/** Body of `PUT /refunds/{id}`. */
export function refundRequest({ endToEndId, valueCents, reason }: RefundRequest): object {
  return { endToEndId, valueCents: Number(valueCents), ...(reason !== undefined && { reason }) }
}

/** Reads a refund. Banks of this protocol do not repeat the payment. */
export function readRefund(json: unknown): Refund | undefined {
  if (!isRefund(json)) return undefined
  const { id, transactionId, status, valueCents, returnId, errorCode, errorMessage, occurredAt } = json
  return {
    id,
    transactionId,
    status,
    valueCents: BigInt(valueCents),
    returnId,
    errorCode: visibleText(errorCode),
    errorMessage: visibleText(errorMessage),
    occurredAt: occurredAt === undefined ? undefined : Date.parse(occurredAt),
  }
}

/** Path of a page of `GET /statement`. @source partner-protocol#statement */
export function statementPath({ from, to, cursor }: StatementQuery): string {
  const window = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  return `/statement?${new URLSearchParams({ ...window, ...(cursor === null ? {} : { cursor }) })}`
}

/**
 * Evaluates the outcome of `GET /statement`. One wrong entry makes the whole page wrong: skipping it would hide money.
 */
export function statementAnswer(outcome: Outcome): StatementAnswer {
  return answerOf(outcome, (answered) => {
    if (!isStatement(answered.json)) return unknown(answered, 'unreadable statement')
    const { entries, nextCursor } = answered.json
    const [fault] = entries.flatMap((entry) => faultOf(entry) ?? [])
    if (fault !== undefined) return unknown(answered, fault)
    return { kind: 'READ', page: { entries: entries.map(entryOf), nextCursor } } as const
  })
}

type ReportedEntry = PartnerStatement['entries'][number]

/** These have their own id besides the end-to-end id. */
const RETURNS: ReadonlySet<ReportedEntry['kind']> = new Set(['PAYMENT_TAKEN_BACK', 'REFUND_SENT', 'PAYOUT_RETURNED'])

function faultOf({ kind, sign, returnId }: ReportedEntry): string | undefined {
  if (sign !== partnerEntrySigns[kind]) return `${kind} with the sign ${sign}`
  return RETURNS.has(kind) && returnId === undefined ? `${kind} without a returnId` : undefined
}

function entryOf({ kind, endToEndId, returnId, reference, sign, ...entry }: ReportedEntry): StatementEntry {
  return {
    kind,
    direction: sign === '+' ? 'in' : 'out',
    movementId: kind === 'TARIFF' ? reference : (RETURNS.has(kind) && returnId) || endToEndId,
    endToEndId,
    reference,
    ...moved(entry),
  }
}

/** @source partner-protocol#balance */
export function balanceAnswer(outcome: Outcome): BalanceAnswer {
  return answerOf(outcome, (answered) => {
    if (!isBalance(answered.json)) return unknown(answered, UNREADABLE)
    const { availableCents, asOf } = answered.json
    const balance = { availableCents: BigInt(availableCents), asOf: asOf === undefined ? null : Date.parse(asOf) }
    return { kind: 'READ', balance } as const
  })
}
