import { formatEndToEndId } from '@pixgate/brcode'
import { type BankBehaviorChange, bankBehaviorChange, limits, PLAIN_TEXT } from '@pixgate/spec'
import type { FastifyInstance } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { MERCHANT } from './account-holders.ts'
import type { Bank } from './bank.ts'
import { chargeWithPayments } from './charges.ts'
import { type LieSettings, lieSettings } from './lies.ts'
import { type IdParams, idParams } from './partner-routes.ts'
import { Refused } from './refused.ts'
import { balanceCents, statementEntry } from './statement.ts'

const amount = Type.Integer({ minimum: 1, maximum: Number(limits.valueMaxCents) })

const name = Type.String({ minLength: 1, maxLength: limits.nameMaxLength, pattern: PLAIN_TEXT })

/** Data of the payer and the time of a payment. */
const paymentParts = {
  payerName: Type.Optional(name),
  payer: Type.Optional(
    Type.Object(
      { name, document: Type.String({ pattern: '^(?:\\d{11}|[0-9A-Z]{12}\\d{2})$' }) },
      { additionalProperties: false },
    ),
  ),
  infoPagador: Type.Optional(Type.String({ maxLength: 140, pattern: PLAIN_TEXT })),
  occurredAt: Type.Optional(Type.String({ format: 'date-time' })),
}

const paymentOrder = Type.Object(
  { valueCents: Type.Optional(amount), ...paymentParts },
  { additionalProperties: false },
)

const payoutConfirmationOrder = Type.Object(
  {
    valueCents: Type.Optional(amount),
    feeCents: Type.Optional(amount),
    despiteFailure: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

const refundConfirmationOrder = Type.Omit(payoutConfirmationOrder, ['feeCents'], { additionalProperties: false })

const reversalOrder = Type.Object({ valueCents: Type.Optional(amount) }, { additionalProperties: false })

const debitOrder = Type.Object({ valueCents: amount }, { additionalProperties: false })

const returnOrder = Type.Object(
  { valueCents: amount, nature: Type.Optional(Type.Enum(['MED_FRAUDE', 'MED_OPERACIONAL'])) },
  { additionalProperties: false },
)

/** A payment to a Pix key, without a charge. With a txid it is the payment of a static code. */
const keyPaymentOrder = Type.Object(
  {
    pixKey: Type.String({ minLength: 1, maxLength: limits.pixKeyMaxLength }),
    valueCents: amount,
    txid: Type.Optional(Type.String({ pattern: '^[a-zA-Z0-9]{1,25}$' })),
    ...paymentParts,
  },
  { additionalProperties: false },
)

/** A dynamic code of another bank. */
const codeOrder = Type.Object(
  {
    valueCents: amount,
    expiresAt: Type.Optional(Type.String({ format: 'date-time' })),
    changesToCents: Type.Optional(amount),
  },
  { additionalProperties: false },
)

/** An event sent manually, valid or not: `event` is sent as JSON, `rawBody` as it is. */
const eventOrder = Type.Object(
  {
    endpoint: Type.Enum(['cash-in', 'cash-out']),
    event: Type.Optional(Type.Object({})),
    rawBody: Type.Optional(Type.String()),
    timestampOffsetSeconds: Type.Optional(Type.Integer()),
    secret: Type.Optional(Type.String()),
  },
  { additionalProperties: false, anyOf: [{ required: ['event'] }, { required: ['rawBody'] }] },
)

/** Sandbox controls, which no real bank has: actions of payers and of the bank itself, and the bank's behaviour. */
export function controlRoutes(app: FastifyInstance, bank: Bank): void {
  // An empty body, with or without a content type, means default parameters.
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) =>
    text === '' ? done(null) : parseJson(request, text, done),
  )
  app.addHook('preValidation', async (request) => {
    request.body ??= {}
  })
  chargeActions(app, bank)
  payoutActions(app, bank)
  refundActions(app, bank)
  debitRoute(app, bank)
  behaviorRoutes(app, bank)
  eventRoute(app, bank)
  bookRoute(app, bank)
}

/** Fields of a sandbox action's response besides `accepted`. */
type Outcome = { readonly endToEndId?: string | undefined; readonly returnId?: string | undefined }

/** Adds a sandbox action on the object that the path names. */
function action<Order extends TSchema>(
  app: FastifyInstance,
  path: `/${string}/:id/${string}`,
  order: Order,
  perform: (id: string, order: Static<Order>) => Outcome,
): void {
  app.post<{ Params: IdParams }>(
    path,
    { schema: { params: idParams, body: order } },
    async ({ params: { id }, body }, reply) =>
      reply.code(202).send({ accepted: true, ...perform(id, body as Static<Order>) }),
  )
}

/** Adds a `fail` action. It has no parameters and returns no further fields. */
function failAction(app: FastifyInstance, path: `/${string}/:id/fail`, failing: { fail(id: string): void }): void {
  action(app, path, Type.Unknown(), (id) => {
    failing.fail(id)
    return {}
  })
}

function chargeActions(app: FastifyInstance, { charges, qrCodes, refunds }: Bank): void {
  action(app, '/charges/:id/pay', paymentOrder, (id, order) => {
    const { endToEndId } = charges.pay(id, order)
    return { endToEndId }
  })
  failAction(app, '/charges/:id/fail', charges)
  action(app, '/charges/:id/return', returnOrder, (id, order) => refunds.returnPayment(id, order))
  action(app, '/payments/:id/return', returnOrder, (id, order) => refunds.returnReceived(id, order))

  app.post<{ Body: Static<typeof keyPaymentOrder> }>(
    '/payments',
    { schema: { body: keyPaymentOrder } },
    async ({ body }, reply) => {
      const { endToEndId } = charges.payKey(body)
      return reply.code(202).send({ accepted: true, endToEndId })
    },
  )

  app.post<{ Body: Static<typeof codeOrder> }>('/qr-codes', { schema: { body: codeOrder } }, async ({ body }, reply) =>
    reply.code(201).send({ pixCode: qrCodes.issue(body) }),
  )
}

function payoutActions(app: FastifyInstance, { payouts }: Bank): void {
  action(app, '/payouts/:id/confirm', payoutConfirmationOrder, (id, order) => {
    const { endToEndId } = payouts.confirm(id, order)
    return { endToEndId }
  })
  failAction(app, '/payouts/:id/fail', payouts)
  action(app, '/payouts/:id/reverse', reversalOrder, (id, order) => {
    const { returnId } = payouts.reverse(id, order)
    return { returnId }
  })
}

function refundActions(app: FastifyInstance, { refunds }: Bank): void {
  action(app, '/refunds/:id/confirm', refundConfirmationOrder, (id, order) => {
    const { returnId } = refunds.confirm(id, order)
    return { returnId }
  })
  failAction(app, '/refunds/:id/fail', refunds)
}

/** Adds the control that debits the account without an order of the service. @source rules#sandbox.13 */
function debitRoute(app: FastifyInstance, { book, clock, chance }: Bank): void {
  app.post<{ Body: Static<typeof debitOrder> }>(
    '/debits',
    { schema: { body: debitOrder } },
    async ({ body }, reply) => {
      const at = clock.now()
      const endToEndId = formatEndToEndId({ ispb: MERCHANT.ispb, at: new Date(at), suffix: chance.endToEndSuffix() })
      book.record({ fact: 'account debited', at, endToEndId, reference: chance.uuid(), valueCents: body.valueCents })
      return reply.code(202).send({ accepted: true, endToEndId })
    },
  )
}

function behaviorRoutes(app: FastifyInstance, { switchboard, liar }: Bank): void {
  app.get('/behavior', async () => switchboard.behavior)

  app.put<{ Body: BankBehaviorChange }>('/behavior', { schema: { body: bankBehaviorChange } }, async ({ body }) =>
    switchboard.change(body),
  )

  app.get('/lies', async () => ({ ...liar.settings, told: liar.counts }))

  app.put<{ Body: LieSettings }>('/lies', { schema: { body: lieSettings } }, async ({ body }) => {
    liar.change(body)
    return body
  })
}

function eventRoute(app: FastifyInstance, { sender }: Bank): void {
  app.post<{ Body: Static<typeof eventOrder> }>(
    '/events',
    { schema: { body: eventOrder } },
    async ({ body: order }) => {
      const { endpoint, event, rawBody = JSON.stringify(event), ...forgery } = order
      if (!sender) throw new Refused('not_possible', 'no service is configured to receive events')
      return { status: (await sender.attempt(endpoint, rawBody, forgery)) ?? null }
    },
  )
}

/** Newest movements of the account that are shown. */
const ACCOUNT_ENTRIES = 50

function bookRoute(app: FastifyInstance, { book, clock }: Bank): void {
  app.get('/account', async () => ({
    balanceCents: balanceCents(book.entries),
    pendingEvents: [...book.events.values()].filter(({ deliveredAt }) => deliveredAt === undefined).length,
    entries: book.entries
      .slice(-ACCOUNT_ENTRIES)
      .reverse()
      .map(({ sign, valueCents, ...entry }) => ({
        kind: entry.kind,
        endToEndId: entry.endToEndId,
        returnId: entry.returnId ?? null,
        valueCents: sign === '-' ? -valueCents : valueCents,
        occurredAt: entry.occurredAt,
      })),
  }))

  app.get('/book', async () => {
    const now = clock.now()
    const events = [...book.events.values()]
    const notices = [...book.notices.all.values()]
    return {
      availableCents: balanceCents(book.entries),
      charges: [...book.charges.values()].map((charge) => chargeWithPayments(charge, now)),
      payouts: [...book.payouts.values()].map(({ answer }) => answer),
      refunds: [...book.refunds.values()].map(({ answer }) => answer),
      entries: book.entries.map(statementEntry),
      events: {
        delivered: events.filter(({ deliveredAt }) => deliveredAt !== undefined).map(({ body }) => body),
        pending: events.filter(({ deliveredAt }) => deliveredAt === undefined).map(({ body }) => body),
      },
      notices: {
        delivered: notices.filter(({ isDelivered }) => isDelivered).length,
        pending: notices.filter(({ isDelivered }) => !isDelivered).length,
      },
    }
  })
}
