import { type BankBehaviorChange, bankBehaviorChange, limits, PLAIN_TEXT } from '@pixgate/spec'
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Bank } from './bank.ts'
import { chargeWithPayments } from './charges.ts'
import { type Lying, lying } from './lies.ts'
import { type IdParams, idParams } from './partner-routes.ts'
import { balanceCents, statementEntry } from './statement.ts'

const amount = Type.Integer({ minimum: 1, maximum: Number(limits.valueMaxCents) })

const paymentOrder = Type.Object(
  {
    valueCents: Type.Optional(amount),
    payerName: Type.Optional(Type.String({ minLength: 1, maxLength: limits.nameMaxLength, pattern: PLAIN_TEXT })),
    occurredAt: Type.Optional(Type.String({ format: 'date-time' })),
  },
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

const returnOrder = Type.Object({ valueCents: amount }, { additionalProperties: false })

/** A dynamic code of another bank. */
const codeOrder = Type.Object(
  {
    valueCents: amount,
    expiresAt: Type.Optional(Type.String({ format: 'date-time' })),
    changesToCents: Type.Optional(amount),
  },
  { additionalProperties: false },
)

/** An event by hand, right or wrong: `event` as JSON, or the text of `rawBody`, whatever it is. */
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

/** The sandbox actions, which no real bank has: what payers and the bank itself do, and how the bank behaves. */
export function controlRoutes(app: FastifyInstance, bank: Bank): void {
  // Without a body, with or without a content type, nothing is wished for in particular.
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
  behaviorRoutes(app, bank)
  eventRoute(app, bank)
  bookRoute(app, bank)
}

function chargeActions(app: FastifyInstance, { charges, qrCodes, refunds }: Bank): void {
  app.post<{ Params: IdParams; Body: Static<typeof paymentOrder> }>(
    '/charges/:id/pay',
    { schema: { params: idParams, body: paymentOrder } },
    async ({ params: { id }, body }, reply) => {
      const { endToEndId } = charges.pay(id, body)
      return reply.code(202).send({ accepted: true, endToEndId })
    },
  )

  app.post<{ Params: IdParams }>(
    '/charges/:id/fail',
    { schema: { params: idParams } },
    async ({ params: { id } }, reply) => {
      charges.fail(id)
      return reply.code(202).send({ accepted: true })
    },
  )

  app.post<{ Params: IdParams; Body: Static<typeof returnOrder> }>(
    '/charges/:id/return',
    { schema: { params: idParams, body: returnOrder } },
    async ({ params: { id }, body }, reply) =>
      reply.code(202).send({ accepted: true, ...refunds.returnPayment(id, body) }),
  )

  app.post<{ Body: Static<typeof codeOrder> }>('/qr-codes', { schema: { body: codeOrder } }, async ({ body }, reply) =>
    reply.code(201).send({ pixCode: qrCodes.issue(body) }),
  )
}

function payoutActions(app: FastifyInstance, { payouts }: Bank): void {
  app.post<{ Params: IdParams; Body: Static<typeof payoutConfirmationOrder> }>(
    '/payouts/:id/confirm',
    { schema: { params: idParams, body: payoutConfirmationOrder } },
    async ({ params: { id }, body }, reply) => {
      const { endToEndId } = payouts.confirm(id, body)
      return reply.code(202).send({ accepted: true, endToEndId })
    },
  )

  app.post<{ Params: IdParams }>(
    '/payouts/:id/fail',
    { schema: { params: idParams } },
    async ({ params: { id } }, reply) => {
      payouts.fail(id)
      return reply.code(202).send({ accepted: true })
    },
  )

  app.post<{ Params: IdParams; Body: Static<typeof reversalOrder> }>(
    '/payouts/:id/reverse',
    { schema: { params: idParams, body: reversalOrder } },
    async ({ params: { id }, body }, reply) => {
      const { returnId } = payouts.reverse(id, body)
      return reply.code(202).send({ accepted: true, returnId })
    },
  )
}

function refundActions(app: FastifyInstance, { refunds }: Bank): void {
  app.post<{ Params: IdParams; Body: Static<typeof refundConfirmationOrder> }>(
    '/refunds/:id/confirm',
    { schema: { params: idParams, body: refundConfirmationOrder } },
    async ({ params: { id }, body }, reply) => {
      const { returnId } = refunds.confirm(id, body)
      return reply.code(202).send({ accepted: true, returnId })
    },
  )

  app.post<{ Params: IdParams }>(
    '/refunds/:id/fail',
    { schema: { params: idParams } },
    async ({ params: { id } }, reply) => {
      refunds.fail(id)
      return reply.code(202).send({ accepted: true })
    },
  )
}

function behaviorRoutes(app: FastifyInstance, { switchboard, liar }: Bank): void {
  app.get('/behavior', async () => switchboard.behavior)

  app.put<{ Body: BankBehaviorChange }>('/behavior', { schema: { body: bankBehaviorChange } }, async ({ body }) =>
    switchboard.change(body),
  )

  app.get('/lies', async () => ({ ...liar.lying, told: liar.counts }))

  app.put<{ Body: Lying }>('/lies', { schema: { body: lying } }, async ({ body }) => {
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
      return { status: (await sender.attempt(endpoint, rawBody, forgery)) ?? null }
    },
  )
}

function bookRoute(app: FastifyInstance, { book, clock }: Bank): void {
  app.get('/book', async () => {
    const now = clock.now()
    const events = [...book.events.values()]
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
    }
  })
}
