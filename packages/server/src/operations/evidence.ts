import type { Document } from '../engine/operation.ts'
import type { OrderInput } from './inputs.ts'

/** What the operator of a case is told of an input that any order knows. */
export function evidenceOfOrder(input: OrderInput): Document {
  switch (input.on) {
    case 'partner.failed':
      return { errorCode: input.errorCode, errorMessage: input.errorMessage, isVerified: input.isVerified }
    case 'send.rejected':
      return { errorCode: input.errorCode, errorMessage: input.errorMessage }
    case 'send.accepted':
      return { transactionId: input.transactionId }
    case 'send.contradicted':
      return { reason: input.reason, transactionId: input.transactionId }
    default:
      return {}
  }
}
