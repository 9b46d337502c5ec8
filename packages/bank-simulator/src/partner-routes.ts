import {
  type BankBehavior,
  type PartnerCharge,
  type PartnerChargeRequest,
  type PartnerPayoutRequest,
  type PartnerQrCodeDecodeRequest,
  type PartnerRefundRequest,
  PLAIN_TEXT,
  partnerChargeRequest,
  partnerPayoutRequest,
  partnerQrCodeDecodeRequest,
  partnerRefundRequest,
} from '@pixgate/spec'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Bank } from './bank.ts'
import { chargeWithPayments } from './charges.ts'
import { lastExecution } from './executions.ts'
import type { Course } from './facts.ts'
import { Refused } from './refused.ts'
import type { Settler } from './settler.ts'
import { balanceCents, statementOf } from './statement.ts'

/** A path that names one thing by the service's id. */
export const idParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128, pattern: PLAIN_TEXT }) })

/** What {@link idParams} reads. */
export type IdParams = Static<typeof idParams>

const statementParams = Type.Object(
  {
    from: Type.Optional(Type.String({ format: 'date-time' })),
    to: Type.Optional(Type.String({ format: 'date-time' })),
    cursor: Type.Optional(Type.String({ pattern: '^\\d{1,12}$' })),
  },
  { additionalProperties: false },
)

/** A caller that has not hung up by then is hung up on. */
const SILENCE_MAX_MS = 60_000

/** So long an early event is ahead of the answer. */
const EARLY_MS = 150

/** The calls of the partner protocol. @source partner-protocol#calls */
export function partnerRoutes(app: FastifyInstance, bank: Bank): void {
  const { switchboard, clock } = bank
  app.addHook('onSend', async () => {
    const { latencyMs } = switchboard.behavior
    if (latencyMs > 0) await clock.sleep(latencyMs)
  })
  chargeRoutes(app, bank)
  payoutRoutes(app, bank)
  qrCodeRoute(app, bank)
  refundRoutes(app, bank)
  accountRoutes(app, bank)
}

function chargeRoutes(app: FastifyInstance, bank: Bank): void {
  const { book, charges, switchboard, liar } = bank
  app.put<{ Params: IdParams; Body: PartnerChargeRequest }>(
    '/charges/:id',
    { schema: { params: idParams, body: partnerChargeRequest } },
    async ({ params: { id }, body }, reply) => {
      const { cashIn } = switchboard.behavior
      if (cashIn === 'timeout') return keepSilent(reply)
      liar.mayFail('unavailable')
      // What was accepted once stays accepted.
      if (cashIn === 'reject' && !book.charges.has(id)) throw new Refused('charge_refused', 'the bank refuses charges')
      const { isNew, charge } = charges.create(id, body)
      if (cashIn === 'lost-response') return book.durable().then(() => hangUp(reply))
      if (liar.tells('silenceAfterExecuting')) return book.durable().then(() => keepSilent(reply))
      liar.mayFail('errorAfterExecuting')
      return reply.code(isNew ? 201 : 200).send(liar.say(charge, allCharges(bank)))
    },
  )

  app.get<{ Params: IdParams }>('/charges/:id', { schema: { params: idParams } }, async ({ params: { id } }) => {
    liar.mayFail('unavailable')
    liar.mayForget(id)
    return liar.say(charges.get(id), allCharges(bank))
  })

  app.delete<{ Params: IdParams }>('/charges/:id', { schema: { params: idParams } }, async ({ params: { id } }) => {
    liar.mayFail('unavailable')
    charges.cancel(id)
    liar.mayFail('errorAfterExecuting')
    return { status: 'CANCELLED' }
  })
}

function* allCharges({ book, clock }: Bank): Iterable<PartnerCharge> {
  for (const charge of book.charges.values()) yield chargeWithPayments(charge, clock.now())
}

function payoutRoutes(app: FastifyInstance, bank: Bank): void {
  const { book, payouts, payoutSettler, switchboard, liar } = bank
  app.put<{ Params: IdParams; Body: PartnerPayoutRequest }>(
    '/payouts/:id',
    { schema: { params: idParams, body: partnerPayoutRequest } },
    async ({ params: { id }, body }, reply) => {
      const { cashOut } = switchboard.behavior
      if (cashOut === 'timeout') return keepSilent(reply)
      liar.mayFail('unavailable')
      if (cashOut === 'reject' && !book.payouts.has(id)) throw new Refused('payout_refused', 'the bank refuses payouts')
      const payout = payouts.create(id, body, courseUnder(cashOut))
      await settle(bank, payoutSettler, lastExecution(id, book.payouts))
      if (cashOut === 'lost-response') return book.durable().then(() => hangUp(reply))
      if (liar.tells('silenceAfterExecuting')) return book.durable().then(() => keepSilent(reply))
      liar.mayFail('errorAfterExecuting')
      if (liar.tells('falseRefusal')) throw new Refused('payout_refused', 'the bank refuses it')
      return reply.code(payout.status === 'PROCESSING' ? 202 : 200).send(liar.say(payout, answersOf(book.payouts)))
    },
  )

  app.get<{ Params: IdParams }>('/payouts/:id', { schema: { params: idParams } }, async ({ params: { id } }) => {
    liar.mayFail('unavailable')
    liar.mayForget(id)
    return liar.say(payouts.get(id), answersOf(book.payouts))
  })
}

/** A moment later; or, where the bank is early, before it answers. */
async function settle({ liar, clock }: Bank, settler: Settler, key: string): Promise<void> {
  if (!liar.tells('early')) return settler.settle(key)
  settler.settleNow(key)
  await clock.sleep(EARLY_MS)
}

function qrCodeRoute(app: FastifyInstance, { qrCodes, liar }: Bank): void {
  app.post<{ Body: PartnerQrCodeDecodeRequest }>(
    '/qr-codes/decode',
    { schema: { body: partnerQrCodeDecodeRequest } },
    async ({ body: { pixCode } }) => {
      liar.mayFail('unavailable')
      return qrCodes.decode(pixCode)
    },
  )
}

function refundRoutes(app: FastifyInstance, bank: Bank): void {
  const { book, refunds, refundSettler, switchboard, liar } = bank
  app.put<{ Params: IdParams; Body: PartnerRefundRequest }>(
    '/refunds/:id',
    { schema: { params: idParams, body: partnerRefundRequest } },
    async ({ params: { id }, body }, reply) => {
      const { refundIn } = switchboard.behavior
      if (refundIn === 'timeout') return keepSilent(reply)
      liar.mayFail('unavailable')
      if (refundIn === 'reject' && !book.refunds.has(id))
        throw new Refused('refund_refused', 'the bank refuses refunds')
      const refund = refunds.create(id, body, courseUnder(refundIn))
      await settle(bank, refundSettler, lastExecution(id, book.refunds))
      if (refundIn === 'lost-response') return book.durable().then(() => hangUp(reply))
      if (liar.tells('silenceAfterExecuting')) return book.durable().then(() => keepSilent(reply))
      liar.mayFail('errorAfterExecuting')
      if (liar.tells('falseRefusal')) throw new Refused('refund_refused', 'the bank refuses it')
      return reply.code(refund.status === 'PROCESSING' ? 202 : 200).send(liar.say(refund, answersOf(book.refunds)))
    },
  )

  app.get<{ Params: IdParams }>('/refunds/:id', { schema: { params: idParams } }, async ({ params: { id } }) => {
    liar.mayFail('unavailable')
    liar.mayForget(id)
    return liar.say(refunds.get(id), answersOf(book.refunds))
  })
}

function accountRoutes(app: FastifyInstance, { book }: Bank): void {
  app.get('/balance', async () => ({ availableCents: balanceCents(book.entries) }))

  app.get<{ Querystring: Static<typeof statementParams> }>(
    '/statement',
    { schema: { querystring: statementParams } },
    async ({ query: { from, to, cursor } }) =>
      statementOf(book.entries, {
        from: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from),
        to: to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to),
        cursor: Number(cursor ?? 0),
      }),
  )
}

function* answersOf<T>(orders: ReadonlyMap<string, { readonly answer: T }>): Iterable<T> {
  for (const { answer } of orders.values()) yield answer
}

function courseUnder(behavior: BankBehavior['cashOut' | 'refundIn']): Course {
  return behavior === 'manual' || behavior === 'fail' ? behavior : 'auto'
}

function keepSilent(reply: FastifyReply): void {
  const { socket } = reply.hijack().request
  socket.setTimeout(SILENCE_MAX_MS, () => socket.destroy())
}

function hangUp(reply: FastifyReply): void {
  reply.hijack().request.socket.destroy()
}
