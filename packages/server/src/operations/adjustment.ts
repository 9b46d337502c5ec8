import type { AdjustmentStatus } from '@pixgate/spec'
import type { Create, Document, Operation } from '../engine/operation.ts'
import type { MadeBy, MadeByFact } from './requests.ts'

export interface AdjustmentTerms<Detail extends Document> {
  readonly id: string
  readonly externalId: string
  readonly status: AdjustmentStatus
  /** Positive; the status determines the direction. */
  readonly valueCents: bigint
  readonly correlationId: string
  readonly bodyHash: Buffer
  readonly idempotencyKey?: string | null
  readonly detail: Detail
  readonly madeBy: MadeBy
}

/** A booking by an operator or by the reconciliation. Final at creation; no call to the bank. */
export function adjustmentOf<Detail extends Document>({
  idempotencyKey = null,
  madeBy,
  ...terms
}: AdjustmentTerms<Detail>): Create<Operation<'adjustment', Detail, MadeByFact>> {
  return {
    operation: {
      ...terms,
      kind: 'adjustment',
      orderId: null,
      feeCents: 0n,
      idempotencyKey,
      exclusiveKey: null,
      expiresAt: null,
      dueAt: null,
      transactionId: null,
      endToEndId: null,
      facts: { madeBy },
    },
  }
}
