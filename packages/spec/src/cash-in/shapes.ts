import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { statusText } from '../machine.ts'
import {
  cents,
  externalId,
  firstStatus,
  instant,
  knownExternalId,
  nullable,
  optional,
  optionalText,
  reais,
  TEXT_OF_LINES,
  text,
  uuid,
} from '../shapes.ts'
import { type CashInStatus, cashIn } from './machine.ts'

/**
 * Request of a client. Values of absent fields are in the descriptions: client generators turn a `default` into a
 * required field.
 * @source rules#cash-in.create.1
 */
export const createCashInBody = Type.Object(
  {
    transaction: Type.Object(
      {
        value: reais,
        externalId,
        description: optionalText(limits.descriptionMaxLength, 'Text shown to the payer', TEXT_OF_LINES),
        expirationTime: optional(
          Type.Integer({
            minimum: limits.expirationMinSeconds,
            maximum: limits.expirationMaxSeconds,
            description: `Seconds until the charge expires; ${limits.expirationDefaultSeconds} where absent`,
          }),
        ),
        generateQrCode: optional(Type.Boolean({ description: 'Whether to return `pixCode`; true where absent' })),
      },
      { additionalProperties: false },
    ),
    payer: optional(
      Type.Object(
        {
          fullName: text(limits.nameMaxLength),
          document: text(18, 'CPF or CNPJ, with or without punctuation'),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { title: 'CashInRequest', additionalProperties: false },
)

export const cashInStatus = Type.Enum([...cashIn.states], {
  title: 'CashInStatus',
  description: statusText(cashIn),
})

const created = {
  id: uuid,
  correlationId: Type.String({ maxLength: limits.correlationIdMaxLength }),
  externalId: knownExternalId,
  status: cashInStatus,
  valueCents: cents(),
  generateTime: instant,
  expirationDate: { ...instant, description: 'The instant until which it can be paid' },
}

const pixCode = Type.String({ maxLength: limits.pixCodeMaxLength, description: 'BR Code to copy or draw' })
const providerTransactionId = Type.String({ maxLength: 128 })

/** @source rules#payment-page.2 */
export const paymentUrl = Type.String({
  format: 'uri',
  description: 'Page on which the payer can pay; only with `PIXGATE_PAYMENT_PAGE=true`',
})

/** Answer to a creation. */
export const cashInCreated = Type.Object(
  {
    ...created,
    status: firstStatus('PENDING' satisfies CashInStatus),
    pixCode: Type.Optional(pixCode),
    providerTransactionId: Type.Optional(providerTransactionId),
    paymentUrl: Type.Optional(paymentUrl),
  },
  {
    title: 'CashInCreated',
    description: 'A charge just created. Unknown fields are absent.',
  },
)

/** The complete view for clients. @source rules#cash-in.detail.1 */
export const cashInDetail = Type.Object(
  {
    ...created,
    pixCode: nullable(pixCode),
    providerTransactionId: nullable(providerTransactionId),
    description: nullable(Type.String({ maxLength: limits.descriptionMaxLength })),
    payer: nullable(Type.Object({ fullName: Type.String(), document: Type.String() })),
    endToEndId: nullable(Type.String({ maxLength: 64 })),
    paidAt: nullable(instant),
    payerName: nullable(Type.String({ maxLength: limits.nameMaxLength })),
    payerDocument: nullable(Type.String({ maxLength: 18, description: 'Masked; for the receipt' })),
    payerIspb: nullable(Type.String({ maxLength: 8, description: "ISPB of the payer's bank" })),
    feeAmountCents: cents(),
    receivedCents: cents(
      'All payments received for it, credited or not. Where it is not `valueCents`, it was paid otherwise than asked for: the difference is in suspense, or an operator has decided about it.',
    ),
    refundedCents: cents(),
    refundableCents: cents(),
    refundDeadline: nullable({ ...instant, description: 'The instant until which a refund is accepted' }),
    failureCode: nullable(
      Type.String({ maxLength: 64, description: '`cancelled_by_merchant`: cancelled by your request' }),
    ),
    failureReason: nullable(Type.String({ maxLength: 200 })),
    cancelRequestedAt: nullable({
      ...instant,
      description: 'Time of your request to cancel it. The bank has confirmed it once the status is `FAILED`.',
    }),
    createdAt: instant,
    updatedAt: instant,
  },
  {
    title: 'CashIn',
    description: 'Everything known of a charge. The authoritative view.',
  },
)
