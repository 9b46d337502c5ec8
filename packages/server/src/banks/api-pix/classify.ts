import { type Answered, isSuccess, type Judge, printable, UNREADABLE, unanswered, unknown } from '../answers.ts'
import type { Outcome } from '../link.ts'
import type { AnyReported, CancelAnswer, QueryAnswer, Rejected, SendAnswer } from '../port.ts'
import { itemsOf, textIn } from '../values.ts'
import { visibleText } from '../visible-text.ts'
import { isCob, isProblem, isViolation, type Problem } from './bodies.ts'

/**
 * What an outcome of a call of API Pix means. A 4xx refuses nothing by itself: it is a refusal only after the bank, asked
 * about the same id, says that it has nothing there.
 * @source rules#api-pix.3
 */

/** Statuses by which banks of the standard refuse a PUT. */
const REFUSAL_STATUSES: ReadonlySet<number> = new Set([400, 404, 409, 412, 422])

/** The types of problem, at the end of their address, that say that there is nothing under an id. */
const ABSENT = /\/(?:Cob|Pix|PixDevolucao|PixEnviado)?NaoEncontrad[oa]$/

/** The outcome of a PUT that the bank refused, perhaps because of an earlier one whose answer was lost. */
export type Refused = { readonly kind: 'REFUSED'; readonly refusal: Rejected; readonly isDuplicate: boolean }

/** Reads a refusal that says why; `undefined`: it is none. */
export type RefusalReader = (json: unknown) => Omit<Rejected, 'kind'> | undefined

/** How a bank refuses. */
export interface Refusals {
  /** Of a PUT. */
  readonly statuses: ReadonlySet<number>
  readonly read: RefusalReader
}

/** How the standard has it. */
export const STANDARD_REFUSALS: Refusals = { statuses: REFUSAL_STATUSES, read: problemOf }

/** Judges the outcome of a PUT. */
export function classifySend<Report extends AnyReported>(
  outcome: Outcome,
  judge: Judge<Report>,
  { statuses, read }: Refusals = STANDARD_REFUSALS,
): SendAnswer<Report> | Refused {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  if (isSuccess(outcome)) return judge(outcome)
  const refusal = statuses.has(outcome.httpStatus) ? read(outcome.json) : undefined
  if (!refusal) return unknown(outcome)
  return { kind: 'REFUSED', refusal: { kind: 'REJECTED', ...refusal }, isDuplicate: outcome.httpStatus === 409 }
}

/** Judges the outcome of a GET. @source rules#api-pix.4 */
export function classifyQuery<Report extends AnyReported>(outcome: Outcome, judge: Judge<Report>): QueryAnswer<Report> {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  if (isSuccess(outcome)) return judge(outcome)
  return isAbsence(outcome) ? { kind: 'NOT_FOUND' } : unknown(outcome)
}

/** Judges the outcome of withdrawing a charge. */
export function classifyCancel(outcome: Outcome): CancelAnswer {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  const { json } = outcome
  if (isSuccess(outcome)) {
    return isCob(json) && json.status.startsWith('REMOVIDA_') ? { kind: 'CANCELLED' } : unknown(outcome, UNREADABLE)
  }
  if (isAbsence(outcome)) return { kind: 'NOT_FOUND' }
  const refusal = REFUSAL_STATUSES.has(outcome.httpStatus) ? problemOf(json) : undefined
  return refusal ? { kind: 'REJECTED', ...refusal } : unknown(outcome)
}

/**
 * What a refused PUT comes to, once the bank was asked about its id. A bank that calls an id used and knows nothing under it
 * has proved nothing, where money would be released.
 * @source rules#api-pix.3, failure-modes#P6
 */
export function settleRefusal<Report extends AnyReported>(
  { refusal, isDuplicate }: Refused,
  known: QueryAnswer<Report>,
  holdsMoney: boolean,
): SendAnswer<Report> {
  if (known.kind === 'NOT_FOUND') {
    return isDuplicate && holdsMoney
      ? { kind: 'UNKNOWN', reason: 'a duplicate of an id never seen', httpStatus: 409 }
      : refusal
  }
  // The question was not sent; what it is about was.
  if (known.kind === 'NOT_SENT') return { kind: 'UNKNOWN', reason: known.reason, httpStatus: undefined }
  return known.kind === 'UNKNOWN' ? known : { ...known, isEarlier: true }
}

/** Whether the bank itself says that there is nothing: a proxy's 404, or that of a wrong path, is none of its words. */
function isAbsence({ httpStatus, json }: Answered): boolean {
  return httpStatus === 404 && isProblem(json) && ABSENT.test(json.type ?? '')
}

/** The texts of RFC 7807, one of which, or a violation, tells a refusal from any other JSON. */
const PROBLEM_TEXTS = ['type', 'title', 'detail'] as const

/** A refusal as the standard has it: by the end of its type, where it has one, and every violation that it names. */
export function problemOf(json: unknown): Omit<Rejected, 'kind'> | undefined {
  if (!isProblem(json)) return undefined
  if (json.violacoes === undefined && PROBLEM_TEXTS.every((name) => textIn(json, name) === undefined)) return undefined
  const word = json.type?.split('/').at(-1) || 'refused'
  return { errorCode: visibleText(printable(word)), errorMessage: printable(reasonsIn(json)) }
}

function reasonsIn(problem: Problem): string | undefined {
  const violations = itemsOf(problem.violacoes)
    .filter(isViolation)
    .map(({ propriedade, razao }) => [propriedade, razao].filter(Boolean).join(': '))
  return violations.length > 0 ? violations.join('; ') : (textIn(problem, 'detail') ?? textIn(problem, 'title'))
}
