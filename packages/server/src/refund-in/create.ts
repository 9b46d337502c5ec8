import { fieldRefusal, limits, Refusal } from '@pixgate/spec'
import { isHeld } from '../cases/unexplained.ts'
import { type CashIn, isCashIn, refundableCents, refundDeadline } from '../cash-in/index.ts'
import { type Create, created, type Decision, mergeDecisions, type State } from '../engine/operation.ts'
import { keyCapsFact } from '../operations/limits/key-caps.ts'
import { type Leaving, type Limits, taken } from '../operations/limits/limits.ts'
import type { AskedBy } from '../operations/requests.ts'
import { isEnabled } from '../operations/switch.ts'
import { orderId } from '../platform/ids.ts'
import { type Holder, holderIdOf, type RefundIn } from './refund-in.ts'
import { cashInDecision } from './with-holder.ts'

/** Whether a refund is accepted. Pure. */

/** A create as the edge hands it over: shapes judged, money exact, nothing else decided. */
export interface RefundInRequest extends AskedBy {
  readonly id: string
  /** `null` where the path names nothing that could be a cash-in. */
  readonly cashInId: string | null
  readonly valueCents: bigint
  /** The refund's own id where the client gave none. */
  readonly externalId: string
  readonly reason: string | null
  readonly bodyHash: Buffer
}

/** The merchant's part of a create: configuration. */
export interface RefundInTerms {
  /** The id of this installation, from which order ids are derived. */
  readonly installation: string
  readonly limits: Limits
}

/**
 * Decides a create. The whole amount is set aside, or nothing is stored.
 * @throws cash_in_not_found · cash_in_not_paid · refund_value_not_positive · refund_deadline_exceeded ·
 *   refund_exceeds_available · limit_exceeded · insufficient_balance (422) · cash_out_suspended (503)
 * @source rules#refund-in.create.2, rules#refund-in.create.3, rules#limits.4, failure-modes#RF-2, failure-modes#RF-4
 */
export function decideCreate(
  request: RefundInRequest,
  { limits: bounds, installation }: RefundInTerms,
  state: State,
  now: number,
): Decision<RefundIn> {
  if (!isEnabled(state)) throw new Refusal('cash_out_suspended')
  const { valueCents } = request
  const cashIn = cashInIn(state, request.cashInId)
  if (!cashIn) throw new Refusal('cash_in_not_found')
  const deadline = refundDeadline(cashIn)
  if (cashIn.status !== 'PAID' || deadline === null) throw new Refusal('cash_in_not_paid')
  if (valueCents <= 0n) throw fieldRefusal('refund_value_not_positive', 'refundValue', 'not_positive')
  if (now > deadline) throw new Refusal('refund_deadline_exceeded')
  if (valueCents > refundableCents(cashIn)) throw fieldRefusal('refund_exceeds_available', 'refundValue', 'too_large')
  const allowed = taken(leavingOf(request), bounds, state, now)
  if (state.balance('available') < valueCents) throw new Refusal('insufficient_balance')
  const create: Create<RefundIn> = {
    operation: {
      ...operationOf(cashIn),
      id: request.id,
      externalId: request.externalId,
      orderId: orderId(installation, { ...cashIn, kind: 'refund_in', externalId: request.externalId }),
      status: 'PENDING',
      valueCents,
      correlationId: request.correlationId,
      bodyHash: request.bodyHash,
      idempotencyKey: request.idempotencyKey,
      dueAt: now,
      plan: { step: 'send', changesAt: now + limits.unclaimedReleaseMs },
      transactionId: null,
      detail: { cashInId: cashIn.id, reason: request.reason, origin: 'MERCHANT' },
      facts: { madeBy: request.madeBy, ...keyCapsFact(request.caps) },
    },
  }
  return mergeDecisions(cashInDecision(cashIn, { on: 'refund.reserved', refundId: request.id, valueCents }, now), {
    creates: [create],
    ...allowed,
    journals: [{ operationId: request.id, kind: 'refund_in_reserved', reference: '', amounts: { r: valueCents } }],
    outcome: created(create, now),
  })
}

/** What a create is to the limits. A refund goes back to who paid. */
export function leavingOf({ valueCents, madeBy, caps }: RefundInRequest): Leaving {
  return { valueCents, pixKey: null, caller: madeBy.caller, caps }
}

/** Decides a create at a bank that gives no payment back. @throws not_supported_by_bank (422) */
export function refuseUnsupported(): never {
  throw new Refusal('not_supported_by_bank')
}

/** The cash-in that an id names: an operation of any other kind is none. @source failure-modes#RF-11 */
export function cashInIn(state: State, id: string | null): CashIn | undefined {
  const operation = id === null ? undefined : state.operation(id)
  return isCashIn(operation) ? operation : undefined
}

/** What has the payment that a refund gives back. */
export function holderIn(state: State, refund: Pick<RefundIn, 'detail'>): Holder | undefined {
  const operation = state.operation(holderIdOf(refund))
  return isCashIn(operation) || isHeld(operation) ? operation : undefined
}

/** What every refund of a cash-in has. A refund bears no fee. */
export function operationOf({ endToEndId }: Pick<CashIn, 'endToEndId'>) {
  return { kind: 'refund_in', feeCents: 0n, exclusiveKey: null, expiresAt: null, endToEndId } as const
}
