import type { AdjustmentStatus } from '@pixgate/spec'
import type { Create, Document, Operation } from '../engine/operation.ts'
import type { MadeBy, MadeByFact } from './requests.ts'

/** Parts of an adjustment that differ from one to the next. */
export interface AdjustmentTerms<Detail extends Document> {
  readonly id: string
  /** Unique among adjustments. */
  readonly externalId: string
  readonly status: AdjustmentStatus
  /** Positive; the status tells the direction. */
  readonly valueCents: bigint
  readonly correlationId: string
  readonly bodyHash: Buffer
  readonly idempotencyKey?: string | null
  readonly detail: Detail
  readonly madeBy: MadeBy
}

/** A booking of an operator, or of the reconciliation. It is over when it is made, and the bank is asked for nothing. */
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
