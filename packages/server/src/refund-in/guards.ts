import { type DecisionGuard, type GuardOf, refundIn as machine, rowFor } from '@pixgate/spec'
import { bookedReturn, inDoubtOf, isCashIn, ownReference } from '../cash-in/index.ts'
import { reasonOf } from '../engine/follow.ts'
import { isTriedLongEnough, isUnclaimedTooLong, isUnsent } from '../operations/attempts.ts'
import { orderGuardsBy } from '../operations/guards.ts'
import type { WorkInput } from '../operations/inputs.ts'
import { own } from '../platform/own.ts'
import {
  type Holder,
  isOfAnotherPayment,
  paymentOf,
  type RefundIn,
  type RefundInInput,
  type ReturnConfirmed,
} from './refund-in.ts'
import { inSuspenseOf } from './suspense.ts'

/** What the conditions of the table mean. Pure. */

/** What a condition looks at. */
export interface Given {
  readonly refund: RefundIn
  /** What has its payment; where only work is looked at nobody asks for it. */
  readonly holder: Holder
  readonly input: RefundInInput
  readonly nowMs: number
  /** Payouts and refunds are enabled. */
  readonly isEnabled: boolean
  /** The movement that is told was booked on another operation. */
  readonly isAnothers: boolean
}

/** Those that only decisions of operators have are elsewhere. */
type Guard = Exclude<
  GuardOf<typeof machine>,
  DecisionGuard | 'money of it is in suspense' | 'an attempt may still arrive'
>

/** Whether each condition holds. @source rules#refund-in.states */
const GUARDS: Readonly<Record<Guard, (given: Given) => boolean>> = {
  ...orderGuardsBy(({ refund, input, nowMs }: Given) => ({ order: refund, input, nowMs })),
  'payouts and refunds are enabled': ({ isEnabled }) => isEnabled,
  'the bank made it by itself': ({ refund: { detail } }) => detail.origin === 'PARTNER',
  'its payment may be back already': ({ refund, holder }) => {
    const { payment } = paymentOf(refund)
    if (payment === undefined) return false
    const { left, returning } = inSuspenseOf(holder, payment)
    return left - (isCashIn(holder) ? inDoubtOf(holder, payment) : 0n) < returning
  },
  'its payment is not in suspense any more': ({ refund, holder }) => {
    const { payment } = paymentOf(refund)
    if (payment === undefined) return false
    const { left, returning } = inSuspenseOf(holder, payment)
    return left < returning
  },
  'it was never claimed': ({ refund }) => isNeverClaimed(refund),
  'the time to send it is over': ({ refund, nowMs }) =>
    isUnclaimedTooLong(refund, nowMs) || isTriedLongEnough(refund.facts, nowMs),
  'nothing of it left': ({ refund }) => isNeverClaimed(refund) || isUnsent(refund.facts),
  // What another return of the same payment took is counted there already, or in suspense there.
  'movement belongs to another operation': ({ holder, input, isAnothers }) =>
    input.on === 'partner.confirmed' && isAnothers && bookedReturn(holder, input.returned.returnId) === undefined,
  'another payment went back': ({ refund, input }) => isOfAnotherPayment(refund, input),
  'amount differs': ({ refund: { valueCents }, input }) =>
    input.on === 'partner.confirmed' && input.returned.valueCents !== valueCents,
  'return has no id': ({ input }) => input.on === 'partner.confirmed' && input.isUnnamed === true,
  'return was booked before': ({ refund, holder, input }) =>
    input.on === 'partner.confirmed' &&
    (bookedReturn(holder, input.returned.returnId) !== undefined || isReportedWithoutId(refund, input)),
  'return restated': ({ refund: { facts }, input }) =>
    input.on === 'partner.confirmed' && own(facts.returns, input.returned.returnId) !== undefined,
  'reference differs': ({ refund: { transactionId }, holder, input }) => {
    const told = input.on === 'send.accepted' ? ownReference(input.transactionId, holder) : null
    return transactionId !== null && told !== null && told !== transactionId
  },
  'money is held again': ({ refund: { facts } }) => facts.heldAgainCents !== undefined,
}

/** Whether a condition of what is no decision of an operator holds. */
export function holdsFor(given: Given, guard: GuardOf<typeof machine>): boolean {
  return guard in GUARDS && GUARDS[guard as Guard](given)
}

/** Whether nobody has tried to send it yet. */
function isNeverClaimed({ facts }: RefundIn): boolean {
  return (facts.attempts ?? 0) === 0
}

/** Whether it may be what was booked here already, as one of both was told without an id. @source rules#refund-in.doubt.8 */
function isReportedWithoutId({ facts }: RefundIn, { returned, isUnnamed }: ReturnConfirmed): boolean {
  const { returns = {}, unnamedReturnId } = facts
  const told = isUnnamed ? Object.values(returns) : [own(returns, unnamedReturnId ?? '')]
  return told.includes(Number(returned.valueCents))
}

const NO_HOLDER = {
  kind: 'cash_in',
  facts: {},
  transactionId: null,
  endToEndId: null,
  valueCents: 0n,
} as unknown as Holder

/** Tells whether the table has a row for what a worker may do, where it is due. */
export function rowsForWork(refund: RefundIn, nowMs: number): (input: WorkInput) => boolean {
  const due = { ...refund, dueAt: nowMs }
  const standing = { status: refund.status, reason: reasonOf(refund) }
  return (input) => {
    const given = { refund: due, holder: NO_HOLDER, input, nowMs, isEnabled: true, isAnothers: false }
    return rowFor(machine, standing, input.on, (guard) => holdsFor(given, guard)) !== undefined
  }
}
