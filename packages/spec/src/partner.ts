import { type Static, Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { pixKeyTypes } from './pix-key.ts'
import { cents, centsMoved, int64, nullable, PLAIN_TEXT } from './shapes.ts'

/** Protocol between service and bank: our calls, and the bank's events. @source rules#partner */

const reference = Type.String({ minLength: 1, maxLength: 128, pattern: PLAIN_TEXT })
const endToEndId = Type.String({ minLength: 1, maxLength: 64, pattern: PLAIN_TEXT })
const fee = int64({ minimum: 0, maximum: Number(limits.valueMaxCents) })
const time = Type.String({ format: 'date-time', maxLength: 40 })
const name = Type.String({ maxLength: limits.nameMaxLength, pattern: PLAIN_TEXT })
const document = Type.String({ maxLength: 18, pattern: PLAIN_TEXT })
const ispb = Type.String({ maxLength: 8, pattern: PLAIN_TEXT })
const party = Type.Object({
  name: Type.Optional(name),
  document: Type.Optional(document),
  ispb: Type.Optional(ispb),
})
const pixKey = Type.String({ minLength: 1, maxLength: limits.pixKeyMaxLength, pattern: PLAIN_TEXT })
const pixCode = Type.String({ minLength: 1, maxLength: limits.pixCodeMaxLength, pattern: PLAIN_TEXT })
const description = Type.Optional(Type.String({ maxLength: limits.descriptionMaxLength, pattern: PLAIN_TEXT }))
const errorCode = Type.String({ maxLength: 64, pattern: PLAIN_TEXT })
const errorMessage = Type.String({ maxLength: 200, pattern: PLAIN_TEXT })

/** Body of `PUT /charges/{id}`. Idempotent for the same id and body. */
export const partnerChargeRequest = Type.Object(
  {
    valueCents: centsMoved,
    expiresAt: time,
    description,
    payer: Type.Optional(Type.Object({ name, document }, { additionalProperties: false })),
    merchant: Type.Object(
      { pixKey: Type.String({ maxLength: 77 }), name, city: name },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
export type PartnerChargeRequest = Static<typeof partnerChargeRequest>

const partnerChargeStatuses = ['ACTIVE', 'PAID', 'CANCELLED', 'EXPIRED', 'FAILED'] as const

/** Origin of a return: a refund by the service, or the bank itself (MED). */
const partnerReturnOrigins = ['MERCHANT', 'BANK'] as const

const paymentReturn = Type.Object({
  returnId: reference,
  transactionId: reference,
  valueCents: centsMoved,
  occurredAt: time,
  origin: Type.Enum([...partnerReturnOrigins]),
})
/** A return of a payment; `transactionId` is the bank's reference of the return. */
export type PartnerPaymentReturn = Static<typeof paymentReturn>

const payment = Type.Object({
  endToEndId,
  valueCents: centsMoved,
  occurredAt: time,
  payer: Type.Optional(party),
  returns: Type.Optional(Type.Array(paymentReturn, { maxItems: 100 })),
})
/** A payment of a charge, as reported by the bank. */
export type PartnerPayment = Static<typeof payment>

/**
 * Answer of `PUT` and `GET /charges/{id}`; `payments` only on GET. `createdAt` is the creation at the bank, to detect
 * payments older than the charge.
 */
export const partnerCharge = Type.Object({
  id: reference,
  transactionId: reference,
  status: Type.Enum([...partnerChargeStatuses]),
  valueCents: centsMoved,
  pixCode: Type.String({ maxLength: limits.pixCodeMaxLength, pattern: PLAIN_TEXT }),
  createdAt: Type.Optional(time),
  expiresAt: time,
  payments: Type.Optional(Type.Array(payment, { maxItems: 100 })),
})
export type PartnerCharge = Static<typeof partnerCharge>

/**
 * Body of `PUT /payouts/{id}`: to a key, or for a QR code with the id of the decoding shown to the payer. Idempotent
 * for the same id and body.
 * @source partner-protocol#calls
 */
export const partnerPayoutRequest = Type.Union([
  Type.Object(
    {
      valueCents: centsMoved,
      description,
      recipient: Type.Object(
        {
          pixKey,
          pixKeyType: Type.Enum([...pixKeyTypes]),
          name: Type.Optional(name),
          document: Type.Optional(document),
        },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  ),
  Type.Object({ valueCents: centsMoved, description, pixCode, decodeId: reference }, { additionalProperties: false }),
])
export type PartnerPayoutRequest = Static<typeof partnerPayoutRequest>

/** Statuses of a payout at the bank. `RETURNED`: returned completely. */
const partnerPayoutStatuses = ['PROCESSING', 'CONFIRMED', 'FAILED', 'RETURNED'] as const

const moneyReturn = Type.Object({ returnId: reference, valueCents: centsMoved, occurredAt: time })
/** Full or partial return of a payout. */
export type PartnerReturn = Static<typeof moneyReturn>

/**
 * Answer of `PUT` and `GET /payouts/{id}`. After the movement, `valueCents` is the moved amount, with `endToEndId` and
 * `occurredAt`; after a failure, `errorCode` is set. `pixKey` is the paid key as ordered.
 * @source partner-protocol#calls
 */
export const partnerPayout = Type.Object({
  id: reference,
  transactionId: reference,
  status: Type.Enum([...partnerPayoutStatuses]),
  valueCents: centsMoved,
  feeCents: Type.Optional(fee),
  endToEndId: Type.Optional(endToEndId),
  recipient: Type.Optional(Type.Object({ ...party.properties, pixKey: Type.Optional(pixKey) })),
  errorCode: Type.Optional(errorCode),
  errorMessage: Type.Optional(errorMessage),
  returns: Type.Optional(Type.Array(moneyReturn, { maxItems: 100 })),
  occurredAt: Type.Optional(time),
})
export type PartnerPayout = Static<typeof partnerPayout>

/** Body of `POST /qr-codes/decode`. @source partner-protocol#qr-codes */
export const partnerQrCodeDecodeRequest = Type.Object({ pixCode }, { additionalProperties: false })
export type PartnerQrCodeDecodeRequest = Static<typeof partnerQrCodeDecodeRequest>

/**
 * Answer of `POST /qr-codes/decode`: the current content of a code. `valueCents` is absent if the payer chooses; `txid`
 * is `***` if the code has none.
 * @source partner-protocol#qr-codes
 */
export const partnerQrCode = Type.Object({
  decodeId: reference,
  valueCents: Type.Optional(centsMoved),
  txid: reference,
  status: Type.Enum([...partnerChargeStatuses]),
  expiresAt: Type.Optional(time),
  recipient: Type.Object({ name, document, pixKey }),
})
export type PartnerQrCode = Static<typeof partnerQrCode>

/**
 * Body of `PUT /refunds/{id}`: returns a received payment fully or partially. Idempotent for the same id and body.
 * @source partner-protocol#calls
 */
export const partnerRefundRequest = Type.Object(
  {
    endToEndId,
    valueCents: centsMoved,
    reason: Type.Optional(Type.String({ maxLength: limits.reasonMaxLength, pattern: PLAIN_TEXT })),
  },
  { additionalProperties: false },
)
export type PartnerRefundRequest = Static<typeof partnerRefundRequest>

const partnerRefundStatuses = ['PROCESSING', 'CONFIRMED', 'FAILED'] as const

/**
 * Answer of `PUT` and `GET /refunds/{id}`. After the movement, `valueCents` is the moved amount, with `returnId` and
 * `occurredAt`; after a failure, `errorCode` is set.
 * @source partner-protocol#calls
 */
export const partnerRefund = Type.Object({
  id: reference,
  transactionId: reference,
  status: Type.Enum([...partnerRefundStatuses]),
  valueCents: centsMoved,
  returnId: Type.Optional(reference),
  errorCode: Type.Optional(errorCode),
  errorMessage: Type.Optional(errorMessage),
  occurredAt: Type.Optional(time),
})
export type PartnerRefund = Static<typeof partnerRefund>

/** Direction of each kind of statement entry. @source partner-protocol#statement */
export const partnerEntrySigns = {
  PAYMENT_RECEIVED: '+',
  PAYMENT_TAKEN_BACK: '-',
  REFUND_SENT: '-',
  PAYOUT_SENT: '-',
  PAYOUT_RETURNED: '+',
  TARIFF: '-',
} as const

export type PartnerEntryKind = keyof typeof partnerEntrySigns

const balance = cents()

/**
 * Answer of `GET /statement`: a page of a window. Both balances are the window's; `nextCursor` is `null` on the last
 * page.
 * @source partner-protocol#statement
 */
export const partnerStatement = Type.Object({
  entries: Type.Array(
    Type.Object({
      kind: Type.Enum(Object.keys(partnerEntrySigns) as PartnerEntryKind[]),
      endToEndId,
      returnId: Type.Optional(reference),
      reference,
      valueCents: centsMoved,
      sign: Type.Enum(['+', '-']),
      occurredAt: time,
    }),
    { maxItems: 1_000 },
  ),
  openingCents: balance,
  closingCents: balance,
  nextCursor: nullable(Type.String({ minLength: 1, maxLength: 1_024, pattern: PLAIN_TEXT })),
})
export type PartnerStatement = Static<typeof partnerStatement>

/**
 * Answer of `GET /balance`: the amount available for payouts, and its time by the statement's booking.
 * @source partner-protocol#balance
 */
export const partnerBalance = Type.Object({ availableCents: balance, asOf: Type.Optional(time) })
export type PartnerBalance = Static<typeof partnerBalance>

/** An error of the bank: `errorCode` makes a refusal definite. */
export const partnerError = Type.Object({
  errorCode: reference,
  errorMessage: Type.Optional(Type.String({ maxLength: 1_000 })),
})

/** The bank's events by receiving endpoint. @source rules#partner-inbox.5 */
export const partnerEvents = {
  'cash-in': ['CashIn', 'CashInReversal'],
  'cash-out': ['CashOut', 'CashOutReversal'],
} as const

/**
 * Body of an event. Unknown fields are kept as evidence and ignored. Fields that banks omit are optional: an incomplete
 * event still names the operation to query.
 * @source rules#partner-inbox.4, rules#partner-inbox.9
 */
export const partnerEvent = Type.Object(
  {
    event: Type.Enum(['CashIn', 'CashInReversal', 'CashOut', 'CashOutReversal']),
    eventId: reference,
    transactionId: reference,
    externalId: Type.Optional(nullable(reference)),
    status: Type.String({ minLength: 1, maxLength: 64, pattern: PLAIN_TEXT }),
    endToEndId: Type.Optional(nullable(endToEndId)),
    valueCents: Type.Optional(nullable(centsMoved)),
    feeCents: Type.Optional(nullable(fee)),
    returnId: Type.Optional(nullable(reference)),
    currency: Type.Optional(Type.Literal('BRL')),
    payer: Type.Optional(nullable(party)),
    recipient: Type.Optional(nullable(party)),
    errorCode: Type.Optional(nullable(errorCode)),
    errorMessage: Type.Optional(nullable(errorMessage)),
    occurredAt: Type.Optional(nullable(time)),
  },
  { title: 'BankEvent' },
)
export type PartnerEvent = Static<typeof partnerEvent>

/** Meaning of an event's status word. `unclear` words are kept, and the partner is queried. */
export type PartnerVerdict = 'confirmed' | 'failed' | 'in progress' | 'unclear'

/** Status words that mean moved money. @source rules#partner-inbox.6 */
export const confirmedWords: ReadonlySet<string> = new Set([
  'CONFIRMED',
  'PAID',
  'CONCLUIDA',
  'COMPLETED',
  'REALIZADO',
  'DEVOLVIDO',
])
/**
 * Status words that mean moved money for returns only. For a payment they would mean that it was returned, which has
 * events of its own.
 * @source rules#partner-inbox.11
 */
export const confirmedReturnWords: ReadonlySet<string> = new Set(['REVERSED', 'RETURNED', 'REFUNDED'])
const FAILED = new Set(['FAILED', 'REJECTED', 'ERROR', 'CANCELED', 'CANCELLED', 'NAO_REALIZADO'])
const IN_PROGRESS = new Set(['PENDING', 'PROCESSING', 'ATIVA', 'EM_PROCESSAMENTO'])

/** @source rules#partner-inbox.6, rules#partner-inbox.11 */
export function verdictOf({ event, status }: Pick<PartnerEvent, 'event' | 'status'>): PartnerVerdict {
  if (confirmedWords.has(status)) return 'confirmed'
  if (confirmedReturnWords.has(status) && event.endsWith('Reversal')) return 'confirmed'
  if (FAILED.has(status) || status.startsWith('REMOVIDA_')) return 'failed'
  if (IN_PROGRESS.has(status)) return 'in progress'
  return 'unclear'
}

const acknowledged = {
  200: {
    description: 'Stored; processed afterwards. Duplicates are answered the same.',
    schema: Type.Object({ received: Type.Literal(true) }, { title: 'BankEventReceived' }),
    example: { received: true },
  },
} as const

const TAKING =
  'For the bank alone. Whatever it signed is stored before it is answered, and applied afterwards, once however often it comes.'

const eventExample = {
  event: 'CashIn',
  eventId: '0198c0de-9f00-7000-8000-1a2b3c4d5e6f',
  transactionId: '5e3f9f0c8a7b4c6d9e0f1a2b3c4d5e6f',
  externalId: '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
  status: 'CONFIRMED',
  endToEndId: 'E9999901020261121131500aB3dE5fG7',
  valueCents: 15000,
  payer: { name: 'Maria da Silva', document: '52998224725' },
  occurredAt: '2026-11-21T13:15:00.000Z',
}

/** @source rules#partner-inbox.1 */
export const receiveCashInEvent = endpoint({
  id: 'receiveCashInEvent',
  method: 'POST',
  path: '/api/webhooks/pix/cash-in',
  auth: 'partner',
  tag: 'Partner',
  summary: 'Take a CashIn or CashInReversal event of the bank',
  description: TAKING,
  body: partnerEvent,
  example: eventExample,
  responses: acknowledged,
  errors: [],
})

/** @source rules#partner-inbox.1 */
export const receiveCashOutEvent = endpoint({
  id: 'receiveCashOutEvent',
  method: 'POST',
  path: '/api/webhooks/pix/cash-out',
  auth: 'partner',
  tag: 'Partner',
  summary: 'Take a CashOut or CashOutReversal event of the bank',
  description: TAKING,
  body: partnerEvent,
  example: { ...eventExample, event: 'CashOut' },
  responses: acknowledged,
  errors: [],
})
