import { type PartnerCharge, type PartnerError, type PartnerPayment, partnerCharge, partnerError } from '@pixgate/spec'
import { Ajv } from 'ajv'
import { formats } from '../platform/http/formats.ts'
import type { Outcome } from './link.ts'
import type {
  Accepted,
  CancelAnswer,
  Charge,
  ChargeAnswer,
  ChargeQueryAnswer,
  ChargeTerms,
  Contradicted,
  Final,
  NotSent,
  Payment,
  Rejected,
  Unknown,
} from './port.ts'

/**
 * What an outcome of a call to the bank means. Whatever is not certain is `UNKNOWN`.
 * @source rules#partner.3
 */

/** Refusals are definite only with these statuses and an `errorCode`: a proxy's page refuses nothing. */
const REFUSAL_STATUSES = new Set([400, 403, 404, 422])

/** The bank has another charge under this id. */
export const CONFLICT = 'conflict'

/** Judges the outcome of `PUT /charges/{id}`. */
export function classifyCreate(id: string, terms: ChargeTerms, outcome: Outcome): ChargeAnswer {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  if (isSuccess(outcome)) return chargeAnswer(id, terms, outcome)
  const refusal = rejection(outcome)
  const isDefinite =
    REFUSAL_STATUSES.has(outcome.httpStatus) || (outcome.httpStatus === 409 && refusal?.errorCode === CONFLICT)
  return refusal && isDefinite ? refusal : unknown(outcome)
}

/** Judges the outcome of `GET /charges/{id}`. */
export function classifyQuery(id: string, terms: ChargeTerms, outcome: Outcome): ChargeQueryAnswer {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  if (isSuccess(outcome)) return chargeAnswer(id, terms, outcome)
  return outcome.httpStatus === 404 && rejection(outcome) ? { kind: 'NOT_FOUND' } : unknown(outcome)
}

/** Judges the outcome of `DELETE /charges/{id}`. */
export function classifyCancel(outcome: Outcome): CancelAnswer {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  if (isSuccess(outcome)) return isCancellation(outcome.json) ? { kind: 'CANCELLED' } : unknown(outcome, UNREADABLE)
  const refusal = rejection(outcome)
  if (refusal && outcome.httpStatus === 404) return { kind: 'NOT_FOUND' }
  return refusal && outcome.httpStatus === 409 ? refusal : unknown(outcome)
}

type Answered = Extract<Outcome, { kind: 'answered' }>

const UNREADABLE = 'unreadable body'

function unanswered(outcome: Exclude<Outcome, Answered>): NotSent | Unknown {
  return outcome.kind === 'not sent'
    ? { kind: 'NOT_SENT', reason: outcome.reason }
    : { kind: 'UNKNOWN', reason: outcome.reason, httpStatus: undefined }
}

function unknown({ httpStatus }: Answered, reason = `HTTP ${httpStatus}`): Unknown {
  return { kind: 'UNKNOWN', reason, httpStatus }
}

function isSuccess({ httpStatus }: Answered): boolean {
  return httpStatus >= 200 && httpStatus < 300
}

function chargeAnswer(id: string, terms: ChargeTerms, outcome: Answered): Accepted | Final | Contradicted | Unknown {
  if (!isCharge(outcome.json)) return unknown(outcome, UNREADABLE)
  const { status, ...charge } = chargeOf(outcome.json)
  const difference = differenceOf(charge, { ...terms, id })
  if (difference) return { kind: 'CONTRADICTED', reason: difference, charge: { ...charge, status } }
  if (status === 'ACTIVE') return { kind: 'ACCEPTED', charge: { ...charge, status } }
  // A status word books no money: PUT does not tell payments, so GET has to.
  if (status === 'PAID' && charge.payments.length === 0) return unknown(outcome, 'PAID without a payment')
  return { kind: 'FINAL', charge: { ...charge, status } }
}

const ECHOED = ['id', 'valueCents', 'expiresAt'] as const
type Echo = Pick<Charge, (typeof ECHOED)[number]>

function differenceOf(told: Echo, asked: Echo): string | undefined {
  const fields = ECHOED.filter((field) => told[field] !== asked[field])
  return fields.length > 0 ? `other ${fields.join(', ')}` : undefined
}

function chargeOf(body: PartnerCharge): Charge {
  return {
    id: body.id,
    transactionId: body.transactionId,
    status: body.status,
    valueCents: BigInt(body.valueCents),
    pixCode: body.pixCode,
    expiresAt: Date.parse(body.expiresAt),
    payments: (body.payments ?? []).map(paymentOf),
  }
}

function paymentOf({ endToEndId, valueCents, occurredAt, payer }: PartnerPayment): Payment {
  return {
    endToEndId,
    valueCents: BigInt(valueCents),
    occurredAt: Date.parse(occurredAt),
    payer: { name: payer?.name, document: payer?.document, ispb: payer?.ispb },
  }
}

function rejection({ json }: Answered): Rejected | undefined {
  if (!isError(json)) return undefined
  return { kind: 'REJECTED', errorCode: json.errorCode, errorMessage: printable(json.errorMessage) }
}

const REASON_MAX_LENGTH = 200

/** What a log and a database can hold of a bank's free text. */
function printable(text: string | undefined): string | undefined {
  return text
    ?.slice(0, REASON_MAX_LENGTH)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
}

const ajv = new Ajv({ formats })
const isCharge = ajv.compile<PartnerCharge>(partnerCharge)
const isError = ajv.compile<PartnerError>(partnerError)
const isCancellation = ajv.compile({
  type: 'object',
  properties: { status: { const: 'CANCELLED' } },
  required: ['status'],
})
