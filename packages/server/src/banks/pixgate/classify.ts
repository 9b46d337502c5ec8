import type {
  AnyReported,
  BalanceAnswer,
  BankBalance,
  CancelAnswer,
  Contradicted,
  NotSent,
  QrCode,
  QrCodeAnswer,
  QueryAnswer,
  Rejected,
  SendAnswer,
  StatementAnswer,
  StatementPage,
  Unknown,
} from '../port.ts'
import { visibleText } from '../visible-text.ts'
import type { Outcome } from './link.ts'
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

/** An answer that came, whole. */
export type Answered = Extract<Outcome, { kind: 'answered' }>

/** Says what the body of a 2xx means. */
export type Judge<Report extends AnyReported> = (answered: Answered) => Report | Unknown

/** How the bank tells of one kind of thing: a charge, a payout or a refund. */
export interface Telling<Body, Terms, Thing, Report extends AnyReported> {
  readonly isBody: (json: unknown) => json is Body
  readonly read: (body: Body) => Thing
  /** What must be as it was asked for, as far as the bank tells it. */
  readonly echo: (thing: Thing) => Partial<Terms> & { readonly id: string }
  /** Where it stands, or, in words for people, what it lacks to stand there. */
  readonly stand: (thing: Thing) => Report | string
}

/** Judges what is told of the thing that was asked for under `id`, on `terms`. */
export function judgeReported<Body, Terms extends object, Thing extends object, Report extends AnyReported>(
  { isBody, read, echo, stand }: Telling<Body, Terms, Thing, Report>,
  id: string,
  terms: Terms,
): Judge<Report | Contradicted<Thing>> {
  return (answered) => {
    if (!isBody(answered.json)) return unknown(answered, UNREADABLE)
    const thing = read(answered.json)
    const differences = differencesOf({ ...terms, id }, echo(thing))
    // First of all: another payout than ours proves nothing about ours, whatever its status.
    if (differences.length > 0) return { kind: 'CONTRADICTED', reason: `other ${differences.join(', ')}`, ...thing }
    const standing = stand(thing)
    return typeof standing === 'string' ? unknown(answered, standing) : standing
  }
}

const UNREADABLE = 'unreadable body'

/** The fields that both sides tell, and tell differently. */
function differencesOf(asked: object, told: object): string[] {
  const wanted = new Map<string, unknown>(Object.entries(asked))
  const differs = (field: string, value: unknown) =>
    value !== undefined && wanted.get(field) !== undefined && wanted.get(field) !== value
  return Object.entries(told).flatMap(([field, value]) => (differs(field, value) ? [field] : []))
}

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

function rejection({ json }: Answered): Rejected | undefined {
  if (!isError(json)) return undefined
  return { kind: 'REJECTED', errorCode: visibleText(json.errorCode), errorMessage: printable(json.errorMessage) }
}

const REASON_MAX_LENGTH = 200

/** What a log and a database can hold of a bank's free text. */
function printable(text: string | undefined): string | undefined {
  return visibleText(text?.slice(0, REASON_MAX_LENGTH).replaceAll(/\p{Cc}/gu, ' '))
}
