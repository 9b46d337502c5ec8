import {
  type BankBehavior,
  type PartnerBalance,
  type PartnerCharge,
  type PartnerChargeRequest,
  type PartnerPayout,
  type PartnerPayoutRequest,
  type PartnerQrCodeDecodeRequest,
  type PartnerRefund,
  type PartnerRefundRequest,
  PLAIN_TEXT,
  partnerChargeRequest,
  partnerPayoutRequest,
  partnerQrCodeDecodeRequest,
  partnerRefundRequest,
} from '@pixgate/spec'
import type { FastifyInstance } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import type { Bank } from './bank.ts'
import { chargeWithPayments } from './charges.ts'
import { instant } from './events.ts'
import { lastExecution } from './executions.ts'
import type { Course } from './facts.ts'
import { behaviorFor, courseFor, executeInstruction, settleOrder } from './instructions.ts'
import type { Settler } from './settler.ts'
import { balanceCents, statementOf } from './statement.ts'

/** Path parameters with the service's id of an operation. */
export const idParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128, pattern: PLAIN_TEXT }) })

/** Type of {@link idParams}. */
export type IdParams = Static<typeof idParams>

const statementParams = Type.Object(
  {
    from: Type.Optional(Type.String({ format: 'date-time' })),
    to: Type.Optional(Type.String({ format: 'date-time' })),
    cursor: Type.Optional(Type.String({ pattern: '^\\d{1,12}$' })),
  },
  { additionalProperties: false },
)

/** Amount by which the lie `balanceShort` understates the balance. */
const UNDERSTATED_CENTS = 10_000

/** Adds the routes of the partner protocol. @source partner-protocol#calls */
export function partnerRoutes(app: FastifyInstance, bank: Bank): void {
  const { switchboard, clock } = bank
  app.addHook('onSend', async () => {
    const { latencyMs } = switchboard.behavior
    if (latencyMs > 0) await clock.sleep(latencyMs)
  })
  chargeRoutes(app, bank)
  orderRoutes(app, bank, payoutsOf(bank))
  qrCodeRoute(app, bank)
  orderRoutes(app, bank, refundsOf(bank))
  accountRoutes(app, bank)
}

function chargeRoutes(app: FastifyInstance, bank: Bank): void {
  const { book, charges, chargeSettler, switchboard, liar } = bank
  app.put<{ Params: IdParams; Body: PartnerChargeRequest }>(
    '/charges/:id',
    { schema: { params: idParams, body: partnerChargeRequest } },
    ({ params: { id }, body }, reply) =>
      executeInstruction(bank, reply, {
        behavior: behaviorFor(body.description, switchboard.behavior.cashIn),
        isKnown: book.charges.has(id),
        refusal: 'charge_refused',
        things: 'charges',
        execute: () => {
          const created = charges.create(id, body)
          chargeSettler.settle(id)
          return created
        },
        answer: ({ isNew, charge }) => {
          reply.code(isNew ? 201 : 200)
          return liar.answer(charge, allCharges(bank))
        },
      }),
  )

  app.get<{ Params: IdParams }>('/charges/:id', { schema: { params: idParams } }, async ({ params: { id } }) => {
    liar.throwIfTold('unavailable')
    liar.throwNotFoundIfTold(id)
    return liar.answer(charges.get(id), allCharges(bank))
  })

  app.delete<{ Params: IdParams }>('/charges/:id', { schema: { params: idParams } }, async ({ params: { id } }) => {
    liar.throwIfTold('unavailable')
    charges.cancel(id)
    liar.throwIfTold('errorAfterExecuting')
    return { status: 'CANCELLED' }
  })
}

function* allCharges({ book, clock }: Bank): Iterable<PartnerCharge> {
  for (const charge of book.charges.values()) yield chargeWithPayments(charge, clock.now())
}

/** A kind of order: payouts or refunds. */
interface Orders<Order, Answer extends PartnerPayout | PartnerRefund> {
  readonly path: '/payouts' | '/refunds'
  readonly body: TSchema
  /** Text of an order, which may have markers. */
  readonly textOf: (order: Order) => string | undefined
  readonly behaviorOf: (behavior: BankBehavior) => BankBehavior['cashOut' | 'refundIn']
  readonly orders: {
    create(id: string, order: Order, course: Course): Answer
    get(id: string): Answer
  }
  readonly settler: Settler
  /** Accepted orders by id. */
  readonly accepted: ReadonlyMap<string, { readonly answer: Answer }>
  readonly refusal: 'payout_refused' | 'refund_refused'
  readonly things: 'payouts' | 'refunds'
}

function orderRoutes<Order, Answer extends PartnerPayout | PartnerRefund>(
  app: FastifyInstance,
  bank: Bank,
  { path, body: schema, textOf, behaviorOf, orders, settler, accepted, refusal, things }: Orders<Order, Answer>,
): void {
  const { switchboard, liar } = bank
  app.put<{ Params: IdParams }>(
    `${path}/:id`,
    { schema: { params: idParams, body: schema } },
    ({ params: { id }, body }, reply) => {
      const current = behaviorFor(textOf(body as Order), behaviorOf(switchboard.behavior))
      return executeInstruction(bank, reply, {
        behavior: current,
        isKnown: accepted.has(id),
        refusal,
        things,
        execute: () => orders.create(id, body as Order, courseFor(current)),
        settle: () => settleOrder(bank, settler, lastExecution(id, accepted)),
        answer: (answer) => {
          reply.code(answer.status === 'PROCESSING' ? 202 : 200)
          return liar.answer(answer, answersOf(accepted))
        },
      })
    },
  )

  app.get<{ Params: IdParams }>(`${path}/:id`, { schema: { params: idParams } }, async ({ params: { id } }) => {
    liar.throwIfTold('unavailable')
    liar.throwNotFoundIfTold(id)
    return liar.answer(orders.get(id), answersOf(accepted))
  })
}

function payoutsOf({ book, payouts, payoutSettler }: Bank): Orders<PartnerPayoutRequest, PartnerPayout> {
  return {
    path: '/payouts',
    body: partnerPayoutRequest,
    textOf: ({ description }) => description,
    behaviorOf: ({ cashOut }) => cashOut,
    orders: payouts,
    settler: payoutSettler,
    accepted: book.payouts,
    refusal: 'payout_refused',
    things: 'payouts',
  }
}

function refundsOf({ book, refunds, refundSettler }: Bank): Orders<PartnerRefundRequest, PartnerRefund> {
  return {
    path: '/refunds',
    body: partnerRefundRequest,
    textOf: ({ reason }) => reason,
    behaviorOf: ({ refundIn }) => refundIn,
    orders: refunds,
    settler: refundSettler,
    accepted: book.refunds,
    refusal: 'refund_refused',
    things: 'refunds',
  }
}

function qrCodeRoute(app: FastifyInstance, { qrCodes, liar }: Bank): void {
  app.post<{ Body: PartnerQrCodeDecodeRequest }>(
    '/qr-codes/decode',
    { schema: { body: partnerQrCodeDecodeRequest } },
    async ({ body: { pixCode } }) => {
      liar.throwIfTold('unavailable')
      return qrCodes.decode(pixCode)
    },
  )
}

function accountRoutes(app: FastifyInstance, { book, liar, clock }: Bank): void {
  app.get('/balance', async (): Promise<PartnerBalance> => {
    const understatedCents = liar.tells('balanceShort') ? UNDERSTATED_CENTS : 0
    return { availableCents: balanceCents(book.entries) - understatedCents, asOf: instant(clock.now()) }
  })

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
