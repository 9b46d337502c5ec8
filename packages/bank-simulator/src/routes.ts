import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type PartnerChargeRequest, partnerChargeRequest } from '@pixgate/spec'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { type Static, Type } from 'typebox'
import { type Behavior, behaviorChange, GOOD_BEHAVIOR } from './behavior.ts'
import type { Book, Charge, QueuedEvent } from './book.ts'
import { chargeDetail, chargeView, failedEvent, isSameRequest, newCharge, newPayment, paidEvent } from './charges.ts'
import { now } from './clock.ts'
import type { EventSender } from './events.ts'

/** A refusal of the bank: with an `errorCode` it is definite. */
class BankRefusal extends Error {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, errorCode: string, more: Readonly<Record<string, unknown>> = {}) {
    super(errorCode)
    this.status = status
    this.body = { errorCode, ...more }
  }
}

/** What the routes work on. */
export interface RoutesOptions {
  readonly book: Book
  readonly token: string
  /** Made with the behaviour, which the routes hold. */
  readonly events: (behavior: () => Behavior) => EventSender
}

/** The bank's HTTP side: what a merchant's gateway calls, and the controls that no real bank has. */
export interface Bank {
  readonly http: FastifyInstance
  readonly events: EventSender
}

const payOrder = Type.Object(
  {
    valueCents: Type.Optional(Type.Integer({ minimum: 1 })),
    payerName: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    occurredAt: Type.Optional(Type.String({ maxLength: 40 })),
  },
  { additionalProperties: false },
)

const rawEvent = Type.Object(
  {
    endpoint: Type.Union([Type.Literal('cash-in'), Type.Literal('cash-out')]),
    event: Type.Optional(Type.Unknown()),
    rawBody: Type.Optional(Type.String()),
    timestampOffsetSeconds: Type.Optional(Type.Integer()),
    secret: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)

/** How long a request is left hanging, unless the caller gives up before. */
const HANG_MS = 60_000

/** Builds the bank on a book. */
export function createBank({ book, token, events: makeSender }: RoutesOptions): Bank {
  let behavior = GOOD_BEHAVIOR
  const events = makeSender(() => behavior)
  const http = fastify({
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, strict: false } },
    bodyLimit: 65_536,
  })
  http.setErrorHandler(answerError)
  http.setNotFoundHandler((_request, reply) => reply.code(404).send({ errorCode: 'unknown_path' }))
  // A call without a body may still name a type.
  http.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    if (text === '') return done(null, {})
    try {
      done(null, JSON.parse(String(text)))
    } catch {
      done(new BankRefusal(400, 'invalid_request'), undefined)
    }
  })
  http.addHook('onRequest', async ({ headers }) => {
    if (!isEqual(headers.authorization ?? '', `Bearer ${token}`)) throw new BankRefusal(401, 'unauthorized')
  })

  function known(id: string): Charge {
    const charge = book.charges.get(id)
    if (!charge) throw new BankRefusal(404, 'not_found')
    return charge
  }

  async function announce(entries: Parameters<Book['write']>[0], event: QueuedEvent['event']): Promise<void> {
    const queued: QueuedEvent = { id: event.eventId, endpoint: 'cash-in', event }
    await book.write([...entries, { type: 'event queued', event: queued }])
    events.send(queued)
  }

  type ById = { Params: { id: string } }

  http.put<ById & { Body: PartnerChargeRequest }>(
    '/charges/:id',
    { schema: { body: partnerChargeRequest } },
    async ({ params: { id }, body, raw }, reply) => {
      const { cashIn, latencyMs } = behavior
      await delay(latencyMs)
      if (cashIn === 'timeout') return hang(reply)
      if (cashIn === 'reject') {
        throw new BankRefusal(422, 'charge_refused', { errorMessage: 'The bank does not take this charge' })
      }
      const existing = book.charges.get(id)
      if (existing && !isSameRequest(existing, body)) throw new BankRefusal(409, 'conflict')
      if (!existing) await book.write([newCharge(id, body)])
      if (cashIn === 'lost-response') {
        raw.socket.destroy()
        return reply.hijack()
      }
      return reply.code(existing ? 200 : 201).send(chargeView(known(id), now()))
    },
  )

  http.get<ById>('/charges/:id', async ({ params: { id } }) => {
    await delay(behavior.latencyMs)
    return chargeDetail(known(id), now())
  })

  http.delete<ById>('/charges/:id', async ({ params: { id } }) => {
    await delay(behavior.latencyMs)
    const charge = known(id)
    if (charge.status === 'PAID') throw new BankRefusal(409, 'already_paid', chargeDetail(charge, now()))
    if (charge.status === 'ACTIVE') await book.write([{ type: 'charge cancelled', id }])
    return { status: 'CANCELLED' }
  })

  http.get('/balance', async () => ({ availableCents: receivedCents(book) }))

  http.get<{ Querystring: { from?: string; to?: string; cursor?: string } }>('/statement', async ({ query }) =>
    statement(book, query),
  )

  // A payer's bank may have sent the money before the charge ended here, so only a failed one cannot be paid.
  http.post<ById & { Body: Static<typeof payOrder> }>(
    '/control/charges/:id/pay',
    { schema: { body: payOrder } },
    async ({ params: { id }, body }, reply) => {
      const charge = known(id)
      if (charge.status === 'FAILED') throw new BankRefusal(409, 'not_possible')
      const payment = newPayment(charge, body, now())
      await announce([{ type: 'charge paid', id, payment }], paidEvent(charge, payment, randomUUID()))
      return reply.code(202).send({ accepted: true, endToEndId: payment.endToEndId })
    },
  )

  http.post<ById>('/control/charges/:id/fail', async ({ params: { id } }, reply) => {
    const charge = known(id)
    if (charge.status !== 'ACTIVE') throw new BankRefusal(409, 'not_possible')
    await announce([{ type: 'charge failed', id }], failedEvent(charge, randomUUID(), now()))
    return reply.code(202).send({ accepted: true })
  })

  http.get('/control/behavior', async () => behavior)

  http.put<{ Body: Static<typeof behaviorChange> }>(
    '/control/behavior',
    { schema: { body: behaviorChange } },
    async ({ body }) => {
      behavior = { ...behavior, ...body }
      return behavior
    },
  )

  http.post<{ Body: Static<typeof rawEvent> }>(
    '/control/events',
    { schema: { body: rawEvent } },
    async ({ body: { event, rawBody, ...message } }) => ({
      status: await events.sendOnce({ ...message, body: rawBody ?? JSON.stringify(event) }),
    }),
  )

  http.get('/control/book', async () => ({
    charges: [...book.charges.values()].map((charge) => chargeDetail(charge, now())),
    receivedCents: receivedCents(book),
    pendingEvents: book.pendingEvents.size,
  }))

  return { http, events }
}

/** Never executed and never answered: the caller gives up. */
function hang(reply: FastifyReply): FastifyReply {
  const { socket } = reply.request.raw
  const timer = setTimeout(() => socket.destroy(), HANG_MS)
  socket.once('close', () => clearTimeout(timer))
  return reply.hijack()
}

function answerError(error: Error & { validation?: unknown }, _request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof BankRefusal) return reply.code(error.status).send(error.body)
  if (error.validation) return reply.code(400).send({ errorCode: 'invalid_request', errorMessage: error.message })
  process.stderr.write(`bank simulator: ${error.stack}\n`)
  return reply.code(500).send({})
}

function receivedCents(book: Book): number {
  return book.payments.reduce((sum, { payment }) => sum + payment.valueCents, 0)
}

const STATEMENT_PAGE = 500

/** The book's movements between two instants; the cursor is the place of the next one. */
function statement(book: Book, { from, to, cursor }: { from?: string; to?: string; cursor?: string }) {
  const lines = book.payments.filter(
    ({ payment }) => (!from || payment.occurredAt >= from) && (!to || payment.occurredAt <= to),
  )
  const start = Number(cursor ?? 0)
  const page = lines.slice(start, start + STATEMENT_PAGE)
  const before = from ? book.payments.filter(({ payment }) => payment.occurredAt < from) : []
  const openingCents = sumOf(before)
  return {
    entries: page.map(({ chargeId, payment: { endToEndId, valueCents, occurredAt } }) => ({
      kind: 'PAYMENT_RECEIVED',
      endToEndId,
      reference: chargeId,
      valueCents,
      sign: '+',
      occurredAt,
    })),
    openingCents,
    closingCents: openingCents + sumOf(lines),
    nextCursor: start + STATEMENT_PAGE < lines.length ? String(start + STATEMENT_PAGE) : null,
  }
}

function sumOf(lines: Book['payments']): number {
  return lines.reduce((sum, { payment }) => sum + payment.valueCents, 0)
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer]
  return timingSafeEqual(a, b)
}
