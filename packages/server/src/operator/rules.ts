import { Refusal } from '@pixgate/spec'
import { type Create, created, type Decision, type Document, type Operation, type State } from '../engine/operation.ts'
import { adjustmentOf } from '../operations/adjustment.ts'
import type { AskedBy, MadeByFact } from '../operations/requests.ts'

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

/**
 * Decides an adjustment: booked as a whole, or nothing is stored.
 * @throws insufficient_balance (422) more went out than is free
 * @source rules#adjustment.states.1, rules#adjustment.states.2, rules#adjustment.create.2
 */
export function decideAdjustment(request: AdjustmentRequest, state: State, now: number): Decision<Adjustment> {
  const isCredit = request.valueCents > 0n
  const valueCents = isCredit ? request.valueCents : -request.valueCents
  if (!isCredit && state.balance('available') < valueCents) throw new Refusal('insufficient_balance')
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
    outcome: created(create, now),
  }
}
