import { suite, test } from 'node:test'
import { paidCharge, sentPayout, sentRefund, takenBack } from '../support/exactly-once.ts'
import { hasEntry, type Order, type ProcessWorld } from '../support/process-world.ts'
import { type Boundary, surviveEach } from './boundary.ts'

/**
 * The server, or the bank, is killed at every boundary of each flow, is started again, and everything comes to its end
 * exactly once.
 */

const CHARGED: readonly Boundary[] = [
  {
    name: '[CI-1] killed before the create arrived',
    link: 'api',
    request: 'POST /api/pix/cash-in',
    lost: 'request',
    missing: 'intent',
  },
  {
    name: '[CI-1] killed before the intent was committed',
    link: 'database',
    request: 'engine.write',
    lost: 'request',
    missing: 'intent',
  },
  {
    name: '[CI-2] killed when the intent was committed, before it knew',
    link: 'database',
    request: 'engine.write',
    lost: 'response',
    reached: 'intent',
    missing: 'order at the bank',
  },
  {
    name: '[CI-3] killed after the intent was committed, before the bank was asked',
    link: 'bank',
    request: 'PUT /charges/',
    lost: 'request',
    reached: 'intent',
    missing: 'order at the bank',
  },
  {
    name: '[CI-7] killed when the bank had made the charge, before it knew',
    link: 'bank',
    request: 'PUT /charges/',
    lost: 'response',
    reached: 'order at the bank',
    missing: 'order accepted',
  },
  {
    name: "[CI-7] killed after the bank's answer, before it was committed",
    link: 'database',
    request: 'charge.accepted',
    lost: 'request',
    reached: 'order at the bank',
    missing: 'order accepted',
  },
  {
    name: "[CI-8] killed when the bank's answer was committed, before it knew",
    link: 'database',
    request: 'charge.accepted',
    lost: 'response',
    reached: 'order accepted',
  },
  {
    name: '[CI-8] killed before the 201 arrived',
    link: 'api',
    request: 'POST /api/pix/cash-in',
    lost: 'response',
    reached: 'order accepted',
  },
]

/** What the merchant asks for is reserved; what is asked at which address is told apart by the flow. */
const RESERVED: readonly Boundary[] = [
  {
    name: '[CO-2] killed before the create arrived',
    link: 'api',
    request: 'POST /api/pix/',
    lost: 'request',
    missing: 'intent',
  },
  {
    name: '[CO-2] killed before the reservation was committed',
    link: 'database',
    request: 'engine.write',
    lost: 'request',
    missing: 'intent',
  },
  {
    name: '[CO-3] killed when the reservation was committed, before it knew',
    link: 'database',
    request: 'engine.write',
    lost: 'response',
    reached: 'intent',
  },
  {
    name: '[CO-4] killed after the reservation was committed, before the 201 arrived',
    link: 'api',
    request: 'POST /api/pix/',
    lost: 'response',
    reached: 'intent',
  },
]

/** What a code asks for is asked first. */
const DECODED: readonly Boundary[] = [
  {
    name: '[QR-3] killed before the bank was asked what the code says',
    link: 'bank',
    request: 'POST /qr-codes/decode',
    lost: 'request',
    missing: 'intent',
  },
  {
    name: '[QR-3] killed when the bank had said what the code says, before it knew',
    link: 'bank',
    request: 'POST /qr-codes/decode',
    lost: 'response',
    missing: 'intent',
  },
  {
    name: '[QR-2] the bank is killed before it was asked what the code says',
    link: 'bank',
    request: 'POST /qr-codes/decode',
    lost: 'request',
    victim: 'bank',
  },
  {
    name: '[QR-2] the bank is killed when it had read the code, before its answer arrived',
    link: 'bank',
    request: 'POST /qr-codes/decode',
    lost: 'response',
    victim: 'bank',
  },
]

/** The order waits for a worker. Payouts are claimed as they are made. */
const WAITING_FOR_A_WORKER: readonly Boundary[] = [
  {
    name: '[CO-8] killed before it claimed the order for sending',
    link: 'database',
    request: 'send.claimed',
    lost: 'request',
    reached: 'intent',
    missing: 'claimed for sending',
  },
]

/** The order goes to the bank. */
function sent(call: 'PUT /payouts/' | 'PUT /refunds/'): readonly Boundary[] {
  return [
    {
      name: '[CO-9] killed when the claim was committed, before it knew',
      link: 'database',
      request: 'send.claimed',
      lost: 'response',
      reached: 'claimed for sending',
      missing: 'order at the bank',
    },
    {
      name: '[CO-9] killed after its claim, before the order arrived',
      link: 'bank',
      request: call,
      lost: 'request',
      reached: 'claimed for sending',
      missing: 'order at the bank',
    },
    {
      name: '[CO-16] killed when the bank had the order, before it knew',
      link: 'bank',
      request: call,
      lost: 'response',
      reached: 'order at the bank',
      missing: 'order accepted',
    },
    {
      name: "[CO-16] killed after the bank's answer, before it was committed",
      link: 'database',
      request: 'send.accepted',
      lost: 'request',
      reached: 'order at the bank',
      missing: 'order accepted',
    },
    {
      name: "[CO-17] killed when the bank's answer was committed, before it knew",
      link: 'database',
      request: 'send.accepted',
      lost: 'response',
      reached: 'order accepted',
    },
    {
      name: '[CO-11] the bank is killed before the order arrived',
      link: 'bank',
      request: call,
      lost: 'request',
      victim: 'bank',
    },
    {
      name: '[CO-11] the bank is killed when it had the order, before its answer arrived',
      link: 'bank',
      request: call,
      lost: 'response',
      victim: 'bank',
      reached: 'order at the bank',
    },
  ]
}

/** From the bank's event to the notification in the outbox. */
function event(trigger: 'partner.confirmed' | 'partner.returned' | 'return.told'): readonly Boundary[] {
  return [
    {
      name: '[EV-1] killed before the event arrived',
      link: 'events',
      request: 'POST /api/webhooks/pix/',
      lost: 'request',
      missing: 'event stored',
    },
    {
      name: '[EV-1] killed before the event was stored',
      link: 'database',
      request: 'inbox.insert',
      lost: 'request',
      missing: 'event stored',
    },
    {
      name: '[EV-2] killed when the event was stored, before it knew',
      link: 'database',
      request: 'inbox.insert',
      lost: 'response',
      reached: 'event stored',
      missing: 'event acknowledged',
    },
    {
      name: '[EV-2] killed after the event was stored, before the 200 reached the bank',
      link: 'events',
      request: 'POST /api/webhooks/pix/',
      lost: 'response',
      reached: 'event stored',
      missing: 'event acknowledged',
    },
    {
      name: '[EV-3] killed before the event was booked',
      link: 'database',
      request: trigger,
      lost: 'request',
      reached: 'event stored',
      missing: 'booked',
    },
    {
      name: '[EV-4] killed when the event was booked, before it knew',
      link: 'database',
      request: trigger,
      lost: 'response',
      reached: 'booked',
      missing: 'event marked',
    },
    {
      name: '[EV-4] killed after the event was booked, before its event was marked',
      link: 'database',
      request: [trigger, 'inbox.mark'],
      lost: 'request',
      reached: 'booked',
      missing: 'event marked',
    },
    {
      name: '[EV-4] killed when the event was marked, before it knew',
      link: 'database',
      request: [trigger, 'inbox.mark'],
      lost: 'response',
      reached: 'event marked',
    },
    {
      name: '[EV-5] killed after the event was booked, before its notification was taken up',
      link: 'database',
      request: [trigger, 'webhooks.fanOut'],
      lost: 'request',
      reached: 'booked',
      missing: 'fanned out',
    },
    {
      name: '[EV-1] the bank is killed before its event arrived',
      link: 'events',
      request: 'POST /api/webhooks/pix/',
      lost: 'request',
      victim: 'bank',
    },
    {
      name: '[EV-2] the bank is killed when its event was stored, before it knew',
      link: 'events',
      request: 'POST /api/webhooks/pix/',
      lost: 'response',
      victim: 'bank',
      reached: 'event stored',
    },
  ]
}

/** The event waits until the bank, asked, has said the same. */
const WAITING: readonly Boundary[] = [
  {
    name: '[EV-4] killed when the event was set aside for the bank’s answer, before it knew',
    link: 'database',
    request: 'inbox.mark',
    lost: 'response',
    reached: 'event stored',
    missing: 'event marked',
  },
]

/** The notification is delivered. */
const DELIVERED: readonly Boundary[] = [
  {
    name: '[NO-11] killed when the delivery was made, before it knew',
    link: 'database',
    request: 'webhooks.fanOut',
    lost: 'response',
    // A row of two columns, each a text of one byte.
    answer: '\0\0\0\x011\0\0\0\x011',
    reached: 'fanned out',
    missing: 'received',
  },
  {
    name: '[NO-1] killed when the delivery was claimed, before it knew',
    link: 'database',
    request: 'webhooks.claim',
    lost: 'response',
    answer: 'http://',
    reached: 'delivery claimed',
    missing: 'received',
  },
  {
    name: '[NO-1] killed after the delivery was claimed, before the notification arrived',
    link: 'receiver',
    request: 'POST /pix',
    lost: 'request',
    reached: 'delivery claimed',
    missing: 'received',
  },
  {
    name: '[NO-2] killed when the receiver had the notification, before it knew',
    link: 'receiver',
    request: 'POST /pix',
    lost: 'response',
    reached: 'received',
    missing: 'recorded',
  },
  {
    name: "[NO-2] killed after the receiver's answer, before it was recorded",
    link: 'database',
    request: 'webhooks.finish',
    lost: 'request',
    reached: 'received',
    missing: 'recorded',
  },
  {
    name: '[NO-2] killed when the delivery was recorded, before it knew',
    link: 'database',
    request: 'webhooks.finish',
    lost: 'response',
    reached: 'recorded',
  },
]

const REFUNDED = [...sent('PUT /refunds/'), ...event('partner.confirmed'), ...DELIVERED]

/** What the flows move. */
const VALUE_CENTS = 150_25
const PART_CENTS = 50_10

suite('killed at every boundary', { concurrency: 2 }, () => {
  test('a charge is paid', (t) =>
    surviveEach(t, [...CHARGED, ...event('partner.confirmed'), ...DELIVERED], {
      prepare: nothing,
      act: async (world, n) => {
        const order = { externalId: `order-${n}`, valueCents: VALUE_CENTS }
        const created = await world.charge(order)
        await world.end(created.id, 'pay')
        return {
          request: { path: '/api/pix/cash-in', body: transaction(order), created },
          ended: async () => paidCharge({ ...order, id: created.id }),
        }
      },
    }))

  test('a payout goes to a key', (t) =>
    surviveEach(t, [...RESERVED, ...sent('PUT /payouts/'), ...event('partner.confirmed'), ...DELIVERED], {
      prepare: nothing,
      act: payToKey,
    }))

  test('a payout pays a QR code', (t) =>
    surviveEach(t, [...DECODED, ...RESERVED, ...sent('PUT /payouts/'), ...event('partner.confirmed'), ...DELIVERED], {
      prepare: async ({ bank }) => ({ prepared: await bank.issueCode(VALUE_CENTS), ended: [] }),
      act: async (world, n, pixCode) => {
        const externalId = `payout-${n}`
        const request = { path: '/api/pix/cash-out-qrcode', body: { transaction: { pixCode, externalId } } }
        const created = await world.place(request.path, request.body)
        const order = { externalId, valueCents: VALUE_CENTS, id: created.id }
        return { request: { ...request, created }, ended: async () => sentPayout(order) }
      },
    }))

  test('a payout comes back', (t) =>
    surviveEach(t, [...WAITING, ...event('partner.returned'), ...DELIVERED], {
      prepare: async (world, n) => {
        const { order } = await payToKey(world, n)
        return { prepared: order, ended: [sentPayout(order)] }
      },
      act: async ({ bank }, _, order) => {
        const isBack = hasEntry('PAYOUT_RETURNED', order.id)
        await bank.control(`/payouts/${order.id}/reverse`, { valueCents: PART_CENTS }, isBack)
        return { ended: async () => sentPayout(order, [PART_CENTS]) }
      },
    }))

  test('a payment is refunded', (t) =>
    surviveEach(t, [...RESERVED, ...WAITING_FOR_A_WORKER, ...REFUNDED], {
      prepare: paid,
      act: async (world, n, chargeId) => {
        const externalId = `refund-${n}`
        const request = {
          path: `/api/pix/refund-in/${chargeId}`,
          body: { refundValue: PART_CENTS / 100, externalId },
        }
        const created = await world.place(request.path, request.body)
        const order = { externalId, valueCents: PART_CENTS, id: created.id }
        return { request: { ...request, created }, ended: async () => sentRefund(order) }
      },
    }))

  test('the bank takes a payment back', (t) =>
    surviveEach(t, [...event('return.told'), ...DELIVERED], {
      prepare: paid,
      act: async (world, _, chargeId) => {
        const { bank, insist } = world
        const isTaken = hasEntry('PAYMENT_TAKEN_BACK', chargeId)
        await bank.control(`/charges/${chargeId}/return`, { valueCents: PART_CENTS }, isTaken)
        return {
          ended: async () => {
            const { body } = await insist('GET', `/api/pix/refund?cash_in_id=${chargeId}`)
            return takenBack(body.data[0]?.id, chargeId, PART_CENTS)
          },
        }
      },
    }))
})

async function nothing() {
  return { prepared: undefined, ended: [] }
}

async function paid(world: ProcessWorld, n: number) {
  const order = { externalId: `order-${n}`, valueCents: VALUE_CENTS }
  const { id } = await world.charge(order)
  await world.end(id, 'pay')
  return { prepared: id, ended: [paidCharge({ ...order, id })] }
}

async function payToKey(world: ProcessWorld, n: number) {
  const terms = { externalId: `payout-${n}`, valueCents: VALUE_CENTS }
  const recipient = { pixKey: 'padaria@example.com', pixKeyType: 'EMAIL' }
  const request = { path: '/api/pix/cash-out', body: { ...transaction(terms), recipient } }
  const created = await world.place(request.path, request.body)
  const order = { ...terms, id: created.id }
  return { order, request: { ...request, created }, ended: async () => sentPayout(order) }
}

function transaction({ externalId, valueCents }: Order) {
  return { transaction: { value: valueCents / 100, externalId } }
}
