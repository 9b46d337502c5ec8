import type { NotFound, NotSent, Rejected, Unknown } from '../banks/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Again, SendFacts } from './attempts.ts'

/** What sending an order and asking about it teaches, whatever kind of order it is. Pure. */

/**
 * What can happen to any order after its creation. `isVerified`: the bank said it when asked, not only in an event.
 */
export type OrderInput =
  | WorkInput
  /** `isShown`: because the bank's statement shows money that left for it. */
  | { readonly on: 'work.requested'; readonly isShown?: boolean }
  | { readonly on: 'send.accepted'; readonly transactionId: string }
  | {
      readonly on: 'send.rejected'
      readonly attempt: number
      readonly errorCode: string
      readonly errorMessage: string | null
    }
  | {
      readonly on: 'send.not_sent'
      readonly attempt: number
      readonly reason: string
      /** For a reason of this order alone: another may well leave. */
      readonly isOfOrderAlone?: boolean
    }
  | { readonly on: 'send.unknown'; readonly reason: string }
  | {
      readonly on: 'send.contradicted'
      readonly reason: string
      /** The bank's reference, where what it told is about our id. */
      readonly transactionId: string | null
    }
  | FailureInput
  | {
      readonly on: 'partner.not_found'
      readonly windowMs: number
      readonly askedAt: number
      /** As {@link Clock.steadySince} of the process that asked. */
      readonly steadySince?: number
    }

/** The bank says that an operation came to nothing. */
export interface FailureInput {
  readonly on: 'partner.failed'
  readonly errorCode: string
  readonly errorMessage: string | null
  readonly transactionId: string | null
  readonly occurredAt: number | null
  /** The bank said it when asked, or cannot be asked. */
  readonly isVerified: boolean
}

/** Who claims an order sends it, within {@link SEND_WITHIN_MS}. */
export interface SendClaim {
  readonly on: 'send.claimed'
  readonly leaseMs: number
  readonly again?: Again
}

/** What a worker does with an order, as it saw it. */
export type WorkInput =
  | SendClaim
  | { readonly on: 'work.claimed'; readonly leaseMs: number }
  | { readonly on: 'work.done'; readonly isUnanswered?: boolean }
  | { readonly on: 'clock.overdue' }
  | { readonly on: 'clock.released' }

/**
 * What became of an input. `IGNORED`: nothing to change, known already or too late. `IMPLAUSIBLE`: the partner's time
 * lies in the future, so it is not believed. `EARLY`: it cannot be true yet, but may be soon; the bank is asked.
 * `UNEXPECTED`: it cannot be true. `DISPUTED`: what it names and what is known here do not agree; the bank is asked.
 */
export type Result = 'APPLIED' | 'IGNORED' | 'IMPLAUSIBLE' | 'EARLY' | 'UNEXPECTED' | 'DISPUTED'

/** What the detail shows of a bank's code at most. */
const FAILURE_CODE_MAX = 64

/** An order as the answer to one of its tries finds it. */
export interface Tried {
  readonly orderId: string
  readonly facts: SendFacts
}

/** What an answer to a try means that tells nothing of the order itself. @source failure-modes#P5 */
export function inputWithoutOrder(tried: Tried, answer: Rejected | NotSent | Unknown): OrderInput {
  switch (answer.kind) {
    case 'REJECTED':
      return {
        on: 'send.rejected',
        attempt: tried.facts.attempts ?? 0,
        errorCode: answer.errorCode.slice(0, FAILURE_CODE_MAX),
        errorMessage: answer.errorMessage ?? null,
      }
    case 'NOT_SENT':
      return notSentInput(tried, answer.reason)
    case 'UNKNOWN':
      return { on: 'send.unknown', reason: answer.reason }
  }
}

/** Not one byte of the latest try left. */
export function notSentInput({ facts }: Pick<Tried, 'facts'>, reason: string): OrderInput {
  return { on: 'send.not_sent', attempt: facts.attempts ?? 0, reason }
}

/** An order as a question about it finds it. */
export interface Asked {
  readonly orderId: string
  /** When the question was claimed, epoch milliseconds. */
  readonly updatedAt: number
}

/**
 * The same of a question. One that failed tells nothing: it is asked again.
 * @param windowMs as {@link Again.windowMs}
 * @param clock that of this process, read once the answer is there
 */
export function inputsWithoutOrder(
  { updatedAt }: Asked,
  answer: NotFound | NotSent | Unknown,
  windowMs: number,
  { steadySince }: Pick<Clock, 'steadySince'> = {},
): OrderInput[] {
  const steady = steadySince ? { steadySince: steadySince() } : {}
  return answer.kind === 'NOT_FOUND'
    ? [{ on: 'partner.not_found', windowMs, askedAt: updatedAt, ...steady }, { on: 'work.done' }]
    : [
        { on: 'send.unknown', reason: answer.reason },
        { on: 'work.done', isUnanswered: true },
      ]
}

/** Whether the answer to a question told no outcome, and not that the bank has the order either. */
export function isWithoutOutcome(inputs: readonly { readonly on: string }[]): boolean {
  return inputs.some(({ on }) => on === 'partner.not_found' || on === 'send.unknown')
}

/** An order that came to nothing, as the bank tells it when it answers us. */
export function failureInput(told: {
  readonly transactionId: string
  readonly errorCode: string | undefined
  readonly errorMessage: string | undefined
  readonly occurredAt: number | undefined
}): OrderInput {
  return {
    on: 'partner.failed',
    errorCode: (told.errorCode ?? 'failed').slice(0, FAILURE_CODE_MAX),
    errorMessage: told.errorMessage ?? null,
    transactionId: told.transactionId,
    occurredAt: told.occurredAt ?? null,
    isVerified: true,
  }
}
