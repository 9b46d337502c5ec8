import { type Static, Type } from 'typebox'
import { CLOSE_SUMMARY_EXAMPLE, closeSummary } from './closes.ts'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { cents, centsMoved, idOf, instant, int64, nullable, optional, optionalText } from './shapes.ts'

/**
 * Controls of the simulated bank. The sandbox adds them to the service's endpoints. They act on the simulator, which
 * notifies the service by its real signed webhook.
 * @source rules#sandbox.1
 */

const accepted = {
  202: {
    description: 'The simulated bank took the order; its webhook follows',
    schema: Type.Object(
      { accepted: Type.Literal(true), endToEndId: Type.Optional(Type.String({ maxLength: 64 })) },
      { title: 'SandboxActionAccepted' },
    ),
    example: { accepted: true, endToEndId: 'E9999901020261121131500aB3dE5fG7' },
  },
} as const

/** Common part of all actions on the simulated bank. */
const action = {
  method: 'POST',
  auth: 'api-key',
  tag: 'Sandbox',
  responses: accepted,
  errors: ['not_found', 'not_possible_in_state', 'partner_unavailable'],
} as const

/** @source rules#sandbox.2 */
export const payCashIn = endpoint({
  ...action,
  scope: 'charge',
  id: 'payCashIn',
  path: '/sandbox/cash-in/{id}/pay',
  summary: 'Pay a charge at the simulated bank',
  description: 'Allowed after expiry and more than once; each payment has its own end-to-end id.',
  params: idOf('cash-in'),
  body: Type.Object(
    {
      valueCents: optional(centsMoved),
      payerName: optionalText(limits.nameMaxLength),
    },
    { title: 'PayCashInRequest', additionalProperties: false },
  ),
  example: { payerName: 'Maria da Silva' },
})

/** @source rules#sandbox.3 */
const failCashIn = endpoint({
  ...action,
  scope: 'charge',
  id: 'failCashIn',
  path: '/sandbox/cash-in/{id}/fail',
  summary: 'Let a charge fail at the simulated bank',
  description: 'For a charge that is not paid yet.',
  params: idOf('cash-in'),
})

/** @source rules#sandbox.7 */
const returnCashIn = endpoint({
  ...action,
  scope: 'charge',
  id: 'returnCashIn',
  path: '/sandbox/cash-in/{id}/return',
  summary: 'Let the bank take a payment back',
  description: 'As after a fraud (MED), without a request of ours. At most the rest of one payment of the charge.',
  params: idOf('cash-in'),
  body: Type.Object({ valueCents: centsMoved }, { title: 'ReturnCashInRequest', additionalProperties: false }),
  example: { valueCents: 500 },
})

/** @source rules#sandbox.8 */
const confirmCashOut = endpoint({
  ...action,
  scope: 'payout',
  id: 'confirmCashOut',
  path: '/sandbox/cash-out/{id}/confirm',
  summary: 'Let a payout arrive',
  description: 'For a payout that waits, as all do under `cashOut: manual`.',
  params: idOf('cash-out'),
})

/** @source rules#sandbox.8 */
const failCashOut = endpoint({
  ...action,
  scope: 'payout',
  id: 'failCashOut',
  path: '/sandbox/cash-out/{id}/fail',
  summary: 'Let a payout fail at the simulated bank',
  description: 'For a payout that waits, as all do under `cashOut: manual`.',
  params: idOf('cash-out'),
})

/** @source rules#sandbox.9 */
const reverseCashOut = endpoint({
  ...action,
  scope: 'payout',
  id: 'reverseCashOut',
  path: '/sandbox/cash-out/{id}/reverse',
  summary: 'Let the recipient send a payout back',
  description: 'The whole rest of it, unless an amount is given.',
  params: idOf('cash-out'),
  body: Type.Object(
    { valueCents: optional(centsMoved) },
    { title: 'ReverseCashOutRequest', additionalProperties: false },
  ),
  example: { valueCents: 1000 },
})

/** @source rules#sandbox.10 */
const confirmRefundIn = endpoint({
  ...action,
  scope: 'refund',
  id: 'confirmRefundIn',
  path: '/sandbox/refund-in/{id}/confirm',
  summary: 'Let a refund arrive',
  description: 'For a refund that waits, as all do under `refundIn: manual`.',
  params: idOf('refund-in'),
})

/** @source rules#sandbox.10 */
const failRefundIn = endpoint({
  ...action,
  scope: 'refund',
  id: 'failRefundIn',
  path: '/sandbox/refund-in/{id}/fail',
  summary: 'Let a refund fail at the simulated bank',
  description: 'For a refund that waits, as all do under `refundIn: manual`.',
  params: idOf('refund-in'),
})

/** @source rules#sandbox.22, rules#close.13 */
const closeToday = endpoint({
  id: 'closeToday',
  method: 'POST',
  path: '/sandbox/close',
  auth: 'api-key',
  scope: 'payout',
  tag: 'Sandbox',
  summary: 'Close today now',
  description:
    'Today, a day of America/Sao_Paulo, ends now and the next day begins. The close is `UNCONFIRMED`: the bank’s balance of this moment is not known yet. Once a day.',
  responses: {
    201: {
      description: 'The close was made',
      schema: closeSummary,
      example: {
        ...CLOSE_SUMMARY_EXAMPLE,
        status: 'UNCONFIRMED',
        differenceCents: null,
        unexplainedCents: null,
        bank: null,
        madeAt: '2026-11-22T14:02:00.000Z',
      },
    },
  },
  errors: ['not_possible_in_state'],
})

const moneyOut = ['auto', 'manual', 'fail', 'reject', 'timeout', 'lost-response'] as const

/** Behaviour of the simulated bank. @source rules#sandbox.5 */
export const bankBehavior = Type.Object(
  {
    cashIn: Type.Enum(['answer', 'reject', 'timeout', 'lost-response'], {
      description:
        'Bank’s answer to the creation of a charge: `reject` is a definite refusal; `timeout` is not executed and not answered; `lost-response` is executed and not answered',
    }),
    cashOut: Type.Enum([...moneyOut], {
      description:
        'Outcome of payouts: `auto` confirms them, `manual` waits for a control, `fail` accepts and then fails them',
    }),
    refundIn: Type.Enum([...moneyOut], { description: 'Outcome of refunds' }),
    latencyMs: Type.Integer({
      minimum: 0,
      maximum: 600_000,
      description: 'Delay of each answer to the service; requests are executed at once',
    }),
    eventDelayMs: Type.Integer({
      minimum: 0,
      maximum: 3_600_000,
      description: 'Delay between an event and the first attempt to report it',
    }),
    eventCopies: Type.Integer({ minimum: 1, maximum: 5, description: 'How often each event is delivered' }),
    eventsShuffled: Type.Boolean({ description: 'Whether events overtake each other' }),
  },
  { title: 'BankBehavior' },
)

export type BankBehavior = Readonly<Static<typeof bankBehavior>>

/** A change of the behaviour: omitted fields keep their value. @source rules#sandbox.6 */
export const bankBehaviorChange = Type.Partial(bankBehavior, { additionalProperties: false })

export type BankBehaviorChange = Readonly<Static<typeof bankBehaviorChange>>

const wholeBehavior = {
  200: {
    description: 'The whole behaviour from now on',
    schema: bankBehavior,
    example: {
      cashIn: 'answer',
      cashOut: 'auto',
      refundIn: 'auto',
      latencyMs: 0,
      eventDelayMs: 0,
      eventCopies: 3,
      eventsShuffled: true,
    },
  },
} as const

/** @source rules#sandbox.6 */
export const getBankBehavior = endpoint({
  id: 'getBankBehavior',
  method: 'GET',
  path: '/sandbox/behavior',
  auth: 'api-key',
  scope: 'read',
  tag: 'Sandbox',
  summary: 'Read how the simulated bank behaves',
  description: 'Whether it answers, refuses or falls silent, how late it is, and how it sends its events.',
  responses: wholeBehavior,
  errors: ['partner_unavailable'],
})

const { cashIn, cashOut, refundIn, latencyMs, eventDelayMs, eventCopies, eventsShuffled } = bankBehavior.properties

/** @source rules#sandbox.6 */
const changeBankBehavior = endpoint({
  id: 'changeBankBehavior',
  method: 'PUT',
  path: '/sandbox/behavior',
  auth: 'api-key',
  scope: 'payout',
  tag: 'Sandbox',
  summary: 'Change how the simulated bank behaves',
  description: 'Omitted fields keep their value. A restart of the bank resets them.',
  body: Type.Object(
    {
      cashIn: optional(cashIn),
      cashOut: optional(cashOut),
      refundIn: optional(refundIn),
      latencyMs: optional(latencyMs),
      eventDelayMs: optional(eventDelayMs),
      eventCopies: optional(eventCopies),
      eventsShuffled: optional(eventsShuffled),
    },
    { title: 'BankBehaviorChange', additionalProperties: false },
  ),
  example: { eventCopies: 3, eventsShuffled: true },
  responses: wholeBehavior,
  errors: ['partner_unavailable'],
})

const entryKinds = [
  'PAYMENT_RECEIVED',
  'PAYMENT_TAKEN_BACK',
  'PAYOUT_SENT',
  'PAYOUT_RETURNED',
  'REFUND_SENT',
  'TARIFF',
] as const

/** The newest part of the simulated bank's book. @source rules#sandbox.23 */
export const bankBook = Type.Object(
  {
    balanceCents: cents('The account’s balance at the bank'),
    pendingEvents: int64({ minimum: 0, maximum: 1e12, description: 'Events that the service has not taken yet' }),
    entries: Type.Array(
      Type.Object({
        kind: Type.Enum([...entryKinds], { title: 'BankEntryKind' }),
        endToEndId: Type.String({ maxLength: 64, description: 'Of the payment; of a return, of the returned payment' }),
        returnId: nullable(Type.String({ maxLength: 64 })),
        valueCents: cents('Negative: it left the account'),
        occurredAt: instant,
      }),
      { maxItems: 50, description: 'The newest movements, the newest first' },
    ),
  },
  { title: 'BankBook' },
)

export type BankBook = Readonly<Static<typeof bankBook>>

/** @source rules#sandbox.23 */
export const getBankBook = endpoint({
  id: 'getBankBook',
  method: 'GET',
  path: '/sandbox/book',
  auth: 'api-key',
  scope: 'read',
  tag: 'Sandbox',
  summary: 'Read the book of the simulated bank',
  description: 'Its balance and 50 newest movements; the service’s ledger must agree with them.',
  responses: {
    200: {
      description: 'The book as it stands now',
      schema: bankBook,
      example: {
        balanceCents: 15000,
        pendingEvents: 0,
        entries: [
          {
            kind: 'PAYMENT_RECEIVED',
            endToEndId: 'E9999901020261121131500aB3dE5fG7',
            returnId: null,
            valueCents: 15000,
            occurredAt: '2026-11-21T13:15:00.000Z',
          },
        ],
      },
    },
  },
  errors: ['partner_unavailable'],
})

/** Every control by its handler's name. */
export const sandboxEndpoints = {
  payCashIn,
  failCashIn,
  returnCashIn,
  confirmCashOut,
  failCashOut,
  reverseCashOut,
  confirmRefundIn,
  failRefundIn,
  closeToday,
  getBankBehavior,
  changeBankBehavior,
  getBankBook,
} as const
