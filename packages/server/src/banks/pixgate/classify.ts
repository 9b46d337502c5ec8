import { type Answered, isSuccess, type Judge, printable, UNREADABLE, unanswered, unknown } from '../answers.ts'
import type { Outcome } from '../link.ts'
import type {
  AnyReported,
  BalanceAnswer,
  BankBalance,
  CancelAnswer,
  QrCode,
  QrCodeAnswer,
  QueryAnswer,
  Rejected,
  SendAnswer,
  StatementAnswer,
  StatementPage,
} from '../port.ts'
import { visibleText } from '../visible-text.ts'
import { isCancellation, isError } from './protocol/bodies.ts'

/**
 * What an outcome of a call to the bank means. Whatever is not certain is `UNKNOWN`.
 * @source rules#partner.3
 */

/** Refusals are definite only with these statuses and an `errorCode`: a proxy's page refuses nothing. */
const REFUSAL_STATUSES = new Set([400, 403, 404, 422])

/** The bank has something else under this id. */
export const CONFLICT = 'conflict'

/** Judges the outcome of a PUT. */
export function classifySend<Report extends AnyReported>(outcome: Outcome, judge: Judge<Report>): SendAnswer<Report> {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  if (isSuccess(outcome)) return judge(outcome)
  const refusal = rejection(outcome)
  const isDefinite =
    REFUSAL_STATUSES.has(outcome.httpStatus) || (outcome.httpStatus === 409 && refusal?.errorCode === CONFLICT)
  return refusal && isDefinite ? refusal : unknown(outcome)
}

/** Judges the outcome of a GET. */
export function classifyQuery<Report extends AnyReported>(outcome: Outcome, judge: Judge<Report>): QueryAnswer<Report> {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  if (isSuccess(outcome)) return judge(outcome)
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

/**
 * Judges the outcome of `POST /qr-codes/decode`.
 * @param read `undefined` where the body is no QR code
 */
export function classifyDecode(outcome: Outcome, read: (json: unknown) => QrCode | undefined): QrCodeAnswer {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  if (isSuccess(outcome)) {
    const qrCode = read(outcome.json)
    return qrCode ? { kind: 'DECODED', qrCode } : unknown(outcome, UNREADABLE)
  }
  return (outcome.httpStatus === 422 && rejection(outcome)) || unknown(outcome)
}

/**
 * Judges the outcome of `GET /statement`. Nothing that the bank could refuse here is a fact: all but a page is `UNKNOWN`.
 * @param read the page, or, in words for people, why the body is none
 */
export function classifyStatement(outcome: Outcome, read: (json: unknown) => StatementPage | string): StatementAnswer {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  if (!isSuccess(outcome)) return unknown(outcome)
  const page = read(outcome.json)
  return typeof page === 'string' ? unknown(outcome, page) : { kind: 'READ', page }
}

/**
 * Judges the outcome of `GET /balance`: all but a balance is `UNKNOWN`.
 * @param read `undefined` where the body is none
 */
export function classifyBalance(outcome: Outcome, read: (json: unknown) => BankBalance | undefined): BalanceAnswer {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  const balance = isSuccess(outcome) ? read(outcome.json) : undefined
  if (balance) return { kind: 'READ', balance }
  return isSuccess(outcome) ? unknown(outcome, UNREADABLE) : unknown(outcome)
}

function rejection({ json }: Answered): Rejected | undefined {
  if (!isError(json)) return undefined
  return { kind: 'REJECTED', errorCode: visibleText(json.errorCode), errorMessage: printable(json.errorMessage) }
}
