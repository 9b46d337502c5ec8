import type { Outcome } from './link.ts'
import type { AnyReported, Contradicted, NotSent, Unknown } from './port.ts'
import { visibleText } from './visible-text.ts'

/**
 * What every connector does with the outcome of a call. Whatever is not certain is `UNKNOWN`.
 * @source rules#partner.3
 */

/** An answer that came, whole. */
export type Answered = Extract<Outcome, { kind: 'answered' }>

/** Says what the body of a 2xx means. */
export type Judge<Report extends AnyReported> = (answered: Answered) => Report | Unknown

/** How a bank tells of one kind of thing: a charge, a payout or a refund. */
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

/** Why a 2xx says nothing. */
export const UNREADABLE = 'unreadable body'

/** The fields that both sides tell, and tell differently. */
function differencesOf(asked: object, told: object): string[] {
  const wanted = new Map<string, unknown>(Object.entries(asked))
  const differs = (field: string, value: unknown) =>
    value !== undefined && wanted.get(field) !== undefined && wanted.get(field) !== value
  return Object.entries(told).flatMap(([field, value]) => (differs(field, value) ? [field] : []))
}

/** A call without an answer. */
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

/** Whether the bank did what it was asked. */
export function isSuccess({ httpStatus }: Answered): boolean {
  return httpStatus >= 200 && httpStatus < 300
}

const REASON_MAX_LENGTH = 200

/** What a log and a database can hold of a bank's free text. */
export function printable(text: string): string
export function printable(text: string | undefined): string | undefined
export function printable(text: string | undefined): string | undefined {
  return visibleText(text?.slice(0, REASON_MAX_LENGTH).replaceAll(/\p{Cc}/gu, ' '))
}
