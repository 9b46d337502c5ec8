import { Ajv, type ErrorObject } from 'ajv'
import { type TProperties, type TSchema, Type } from 'typebox'
import { formats } from '../../src/platform/http/request.ts'

/**
 * The field tables of the specification, as a client that has read nothing else would write them down: every field of a
 * table is there and has its type, unless the table calls it optional. A table whose body is shown whole takes no other
 * field; where the specification says that there may be more, or shows nothing, others may follow.
 */

const uuid = Type.String({ format: 'uuid' })
const timestamp = Type.String({ format: 'date-time', pattern: 'Z$' })
const nanoseconds = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{9}Z$' })
const text = Type.String()
const centavos = Type.Integer()

const whole = <Fields extends TProperties>(fields: Fields) => Type.Object(fields, { additionalProperties: false })

const CASH_IN_STATES = [
  ...['PENDING', 'PAID', 'EXPIRED', 'FAILED'],
  ...['PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED'],
]
const CASH_OUT_STATES = ['RESERVED', 'DISPATCHED', 'CONFIRMED', 'FAILED', 'REVERSED', 'RELEASED']

const cashInDetail = Type.Object({ id: uuid, externalId: text, status: Type.Enum(CASH_IN_STATES) })
const cashOutDetail = Type.Object({
  id: uuid,
  status: Type.Enum(CASH_OUT_STATES),
  max_fee_cents: Type.Optional(centavos),
  reserved_total_cents: Type.Optional(centavos),
  paymentType: Type.Enum(['key', 'qrcode']),
})
const refundDetail = Type.Object({ id: uuid, status: Type.Enum(['PENDING', 'CONFIRMED', 'FAILED']) })
const ledgerEntry = Type.Object({ id: uuid })
const subscription = Type.Object({ webhook_id: uuid, url: text, events: Type.Array(text) })

/** The envelope of lists: ours, as the specification shows none. */
const listOf = (item: TSchema) => Type.Object({ data: Type.Array(item), pagination: Type.Object({}) })

const cashOutCreated = {
  id: uuid,
  externalId: text,
  status: Type.Literal('RESERVED'),
  valueCents: centavos,
  description: text,
  recipient: whole({ name: text, pixKey: text }),
  createdAt: timestamp,
}

/** The body of every success, by its endpoint. */
export const bodies = {
  'POST /api-key/generate': whole({ apiKey: text, createdAt: timestamp }),
  'POST /api/pix/cash-in': whole({
    id: uuid,
    correlationId: text,
    externalId: text,
    status: Type.Literal('PENDING'),
    pixCode: Type.Optional(text),
    generateTime: timestamp,
    expirationDate: timestamp,
    providerTransactionId: text,
    valueCents: Type.Optional(centavos),
  }),
  'GET /api/pix/cash-in/{id}': cashInDetail,
  'GET /api/pix/cash-in': listOf(cashInDetail),
  'GET /api/transactions/cash-in': listOf(Type.Object({})),
  'POST /api/pix/cash-out': whole(cashOutCreated),
  'POST /api/pix/cash-out-qrcode': Type.Object(cashOutCreated),
  'GET /api/pix/cash-out/{id}': cashOutDetail,
  'GET /api/pix/cash-out': listOf(cashOutDetail),
  'POST /api/pix/refund-in/{id}': Type.Object({ id: uuid }),
  'GET /api/pix/refund/{id}': refundDetail,
  'GET /api/pix/refund': listOf(refundDetail),
  'GET /organization/balance': Type.Array(
    whole({
      id: uuid,
      amount: Type.Number(),
      code: Type.String({ pattern: '^[A-Z]{3}$' }),
      name: text,
      symbol: text,
      icon: Type.Union([text, Type.Null()]),
    }),
  ),
  'GET /api/pix/ledger/{id}': ledgerEntry,
  'GET /api/pix/ledger': listOf(ledgerEntry),
  'POST /webhook': Type.Object({}),
  'GET /webhook': Type.Object({ data: Type.Array(subscription) }),
  'GET /public-key': Type.String({ pattern: '^-----BEGIN PUBLIC KEY-----' }),
} as const

/** The event types, each with its statuses. */
const STATUSES_OF_EVENTS = {
  pix_cash_in: ['PAID', 'FAILED'],
  pix_cash_out: ['CONFIRMED', 'FAILED'],
  pix_cash_in_reversal: ['CONFIRMED', 'FAILED'],
  pix_cash_out_reversal: ['REVERSED'],
} satisfies Readonly<Record<string, readonly string[]>>

/** The body of every notification, by its type. */
export const notifications: Readonly<Record<string, TSchema>> = Object.fromEntries(
  Object.entries<string[]>(STATUSES_OF_EVENTS).map(([type, statuses]) => [
    type,
    whole({
      event_type: Type.Literal(type),
      event: whole({
        id: uuid,
        correlation_id: text,
        external_id: text,
        transaction_id: text,
        status: Type.Enum(statuses),
        value_cents: centavos,
        end_to_end_id: text,
        ...(type === 'pix_cash_in' ? { payer_name: text } : {}),
        fee_amount_cents: centavos,
        confirmed_at: nanoseconds,
        created_at: nanoseconds,
      }),
    }),
  ]),
)

const ajv = new Ajv({ strict: false, allErrors: true, formats })

/** In what a body differs from a table: the field, and what is expected of it. */
export function differences(table: TSchema, body: unknown): readonly string[] {
  const isAsShown = ajv.compile(table)
  return isAsShown(body)
    ? []
    : (isAsShown.errors ?? []).map(({ instancePath, message, params }: ErrorObject) => {
        const extra = params.additionalProperty === undefined ? '' : `: ${params.additionalProperty}`
        return `${instancePath} ${message}${extra}`.trim()
      })
}
