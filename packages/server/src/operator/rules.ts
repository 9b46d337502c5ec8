import { Refusal } from '@pixgate/spec'
import { takenAlone } from '../desk/alone.ts'
import type { AllowanceName } from '../engine/allowance.ts'
import { type Create, created, type Decision, type Document, type Operation, type State } from '../engine/operation.ts'
import { adjustmentOf } from '../operations/adjustment.ts'
import type { MadeByFact } from '../operations/made-by.ts'
import type { AskedBy } from '../operations/requests.ts'

/** What an adjustment does to the money. Pure. */

/** Why the balance was adjusted. */
export interface AdjustmentDetail extends Document {
  readonly reason: string
}

/** An adjustment as the engine keeps it: its value without a sign, its status for the direction. */
export type Adjustment = Operation<'adjustment', AdjustmentDetail, MadeByFact>

/** An adjustment as the edge hands it over. */
export interface AdjustmentRequest extends AskedBy {
  readonly id: string
  /** Positive: came in; negative: went out. Never 0. */
  readonly valueCents: bigint
  readonly reason: string
  readonly bodyHash: Buffer
}

/** What one person may adjust within 24 hours, together with what they decide alone at the desk. */
export interface AdjustmentBound {
  /** In which it counts. */
  readonly allowance: AllowanceName
  /** It comes to less than this, centavos. */
  readonly fromCents: number
}

/**
 * Decides an adjustment: booked as a whole, or nothing is stored.
 * @param bound of whoever orders it; `null`: an admin's, which none bounds
 * @throws insufficient_balance (422) more went out than is free · TakesSecondPerson it passes the bound
 * @source rules#adjustment.states.1, rules#adjustment.states.2, rules#adjustment.create.2, rules#adjustment.create.5
 */
export function decideAdjustment(
  request: AdjustmentRequest,
  bound: AdjustmentBound | null,
  state: State,
  now: number,
): Decision<Adjustment> {
  const isCredit = request.valueCents > 0n
  const valueCents = isCredit ? request.valueCents : -request.valueCents
  if (!isCredit && state.balance('available') < valueCents) throw new Refusal('insufficient_balance')
  const taken = bound ? takenAlone(Number(valueCents), bound.fromCents, bound.allowance, state, now) : []
  const { id, reason, correlationId, bodyHash, idempotencyKey } = request
  const create: Create<Adjustment> = adjustmentOf({
    ...{ id, externalId: id, valueCents, correlationId, bodyHash, idempotencyKey },
    status: isCredit ? 'CREDITED' : 'DEBITED',
    detail: { reason },
    madeBy: request.madeBy,
  })
  const kind = isCredit ? 'adjustment_credited' : 'adjustment_debited'
  return {
    creates: [create],
    journals: [{ operationId: id, kind, reference: '', amounts: { v: valueCents } }],
    allowances: taken,
    outcome: created(create, now),
  }
}
