import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { statusText } from '../machine.ts'
import {
  cents,
  EXTERNAL_ID,
  firstStatus,
  instant,
  knownExternalId,
  nullable,
  optionalText,
  reais,
  uuid,
} from '../shapes.ts'
import { type RefundInStatus, refundIn } from './machine.ts'

/** Initiators of a refund. */
export const refundInOrigins = ['MERCHANT', 'PARTNER', 'OPERATOR'] as const

export type RefundInOrigin = (typeof refundInOrigins)[number]

/** Request of a client. @source rules#refund-in.create.1 */
export const createRefundInBody = Type.Object(
  {
    refundValue: reais,
    reason: optionalText(limits.reasonMaxLength),
    externalId: optionalText(limits.externalIdMaxLength, "The refund's id where it is left out", EXTERNAL_ID),
  },
  { title: 'RefundInRequest', additionalProperties: false },
)

export const refundInStatus = Type.Enum([...refundIn.states], {
  title: 'RefundInStatus',
  description: statusText(refundIn),
})

const created = {
  id: uuid,
  cashInId: nullable({ ...uuid, description: '`null`: it returns a payment to the bare Pix key' }),
  externalId: knownExternalId,
  status: refundInStatus,
  valueCents: cents(),
  createdAt: instant,
}

const reason = Type.String({ maxLength: limits.reasonMaxLength })

/** Answer to a creation. */
export const refundInCreated = Type.Object(
  { ...created, status: firstStatus('PENDING' satisfies RefundInStatus), reason: Type.Optional(reason) },
  {
    title: 'RefundInCreated',
    description: 'A refund just accepted. A reason that was not given is absent.',
  },
)

/** The complete view for clients. @source rules#refund-in.detail.1 */
export const refundInDetail = Type.Object(
  {
    ...created,
    reason: nullable(reason),
    transactionId: nullable(Type.String({ maxLength: 128, description: "The bank's reference of this return" })),
    endToEndId: nullable(Type.String({ maxLength: 64, description: 'Of the payment that is given back' })),
    returnId: nullable(Type.String({ maxLength: 128 })),
    confirmedAt: nullable(instant),
    failureCode: nullable(Type.String({ maxLength: 64 })),
    failureReason: nullable(Type.String({ maxLength: 200 })),
    origin: Type.Enum([...refundInOrigins]),
    updatedAt: instant,
  },
  {
    title: 'RefundIn',
    description: 'Everything known of a refund. The authoritative view.',
  },
)
