import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { statusText } from '../machine.ts'
import { PIX_KEY_TYPE, pixKeyTypeAliases, pixKeyTypes } from '../pix-key.ts'
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
import { type CashOutStatus, cashOut } from './machine.ts'

const transactionShape = {
  externalId,
  description: optionalText(limits.descriptionMaxLength, 'Text shown to the recipient', TEXT_OF_LINES),
}

const recipientDocument = optionalText(
  18,
  'CPF or CNPJ, with or without punctuation; the bank checks that it owns the key',
)

const aliasText = Object.entries(pixKeyTypeAliases)
  .map(([alias, type]) => `\`${alias}\` is \`${type}\``)
  .join(', ')

/** Request of a client. @source rules#cash-out.create.1 */
export const createCashOutBody = Type.Object(
  {
    transaction: Type.Object({ value: reais, ...transactionShape }, { additionalProperties: false }),
    recipient: Type.Object(
      {
        pixKey: text(limits.pixKeyInputMaxLength, 'Masks and upper case are tidied'),
        pixKeyType: Type.String({
          pattern: PIX_KEY_TYPE,
          description: `One of ${pixKeyTypes.join(', ')}, in any case; ${aliasText}`,
        }),
        name: optionalText(limits.nameMaxLength),
        document: recipientDocument,
      },
      { additionalProperties: false },
    ),
  },
  { title: 'CashOutRequest', additionalProperties: false },
)

/** Request of a client. @source rules#cash-out.qrcode.1 */
export const createCashOutFromQrCodeBody = Type.Object(
  {
    transaction: Type.Object(
      {
        pixCode: Type.String({
          minLength: 1,
          maxLength: limits.pixCodeInputMaxLength,
          description: 'The BR Code («copia e cola»)',
        }),
        value: optional(reais),
        ...transactionShape,
      },
      { additionalProperties: false },
    ),
    recipient: optional(Type.Object({ document: recipientDocument }, { additionalProperties: false })),
  },
  { title: 'QrCodeCashOutRequest', additionalProperties: false },
)

/** How the recipient was named. */
export const paymentType = Type.Enum(['key', 'qrcode'], { title: 'PaymentType' })

export const cashOutStatus = Type.Enum([...cashOut.states], {
  title: 'CashOutStatus',
  description: statusText(cashOut),
})

const name = Type.String({ maxLength: limits.nameMaxLength })
const pixKey = Type.String({ maxLength: limits.pixKeyMaxLength })
const description = Type.String({ maxLength: limits.descriptionMaxLength })

const created = {
  id: uuid,
  externalId: knownExternalId,
  status: cashOutStatus,
  valueCents: cents(),
  createdAt: instant,
}

const createdToKey = {
  ...created,
  status: firstStatus('RESERVED' satisfies CashOutStatus),
  description: Type.Optional(description),
  recipient: Type.Object({ name: Type.Optional(name), pixKey }),
}

/** Answer to a creation. */
export const cashOutCreated = Type.Object(createdToKey, {
  title: 'CashOutCreated',
  description: 'A payout just accepted. Fields that were not given are absent.',
})

/** Answer to a creation by QR code. */
export const cashOutFromQrCodeCreated = Type.Object(
  { ...createdToKey, paymentType: Type.Literal('qrcode') },
  {
    title: 'QrCodeCashOutCreated',
    description: 'A payout for a code just accepted. Fields that were not given are absent.',
  },
)

/** The complete view for clients. @source rules#cash-out.detail.1 */
export const cashOutDetail = Type.Object(
  {
    ...created,
    correlationId: Type.String({ maxLength: limits.correlationIdMaxLength }),
    awaitingApproval: Type.Optional(
      Type.Boolean({ description: '`true` while operators have yet to approve it; absent otherwise' }),
    ),
    description: nullable(description),
    paymentType,
    recipient: Type.Object({
      name: nullable(name),
      pixKey: Type.String({
        maxLength: limits.pixKeyMaxLength,
        description: '`***` once it was erased: long after the payout ended without money',
      }),
      pixKeyType: nullable(Type.Enum([...pixKeyTypes], { title: 'PixKeyType' })),
      document: nullable(Type.String({ maxLength: 18, description: 'Masked; for the receipt' })),
      ispb: nullable(Type.String({ maxLength: 8, description: "ISPB of the recipient's bank" })),
    }),
    max_fee_cents: cents('Reserved for the fee'),
    reserved_total_cents: cents('Value and fee'),
    endToEndId: nullable(Type.String({ maxLength: 64 })),
    transactionId: nullable(Type.String({ maxLength: 128 })),
    feeAmountCents: cents(),
    reversedCents: cents('Amount that was returned to the merchant'),
    failureCode: nullable(Type.String({ maxLength: 64 })),
    failureReason: nullable(Type.String({ maxLength: 200 })),
    dispatchedAt: nullable(instant),
    confirmedAt: nullable(instant),
    updatedAt: instant,
  },
  {
    title: 'CashOut',
    description: 'Everything known of a payout. The authoritative view.',
  },
)
