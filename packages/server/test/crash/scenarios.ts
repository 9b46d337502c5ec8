import assert from 'node:assert/strict'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { Scenario } from './crash.ts'
import type { CrashWorld } from './world.ts'

const GLANCE_MS = 3

const RECIPIENT = { pixKey: 'padaria@example.com', pixKeyType: 'EMAIL' }

/** Everything that merchants, payers and banks do together, as it goes where nothing is lost. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'a charge is paid',
    act: async (world, n) => [await paid(world, n)],
    ends: [{ status: 'PAID', notified: ['pix_cash_in PAID'], moved: 1 }],
  },
  {
    name: 'a charge is cancelled',
    act: async (world, n) => {
      const id = await charged(world, n)
      const { status } = await cancelled(world, id)
      assert.ok(status === 200 || status === 202, String(status))
      return [id]
    },
    ends: [{ status: 'FAILED', notified: ['pix_cash_in FAILED'], moved: 0 }],
  },
  {
    name: 'a charge is cancelled that was just paid',
    act: async (world, n) => {
      const id = await charged(world, n)
      await world.control(`charges/${id}/pay`)
      const { status } = await cancelled(world, id)
      assert.ok(status === 202 || status === 409, String(status))
      return [id]
    },
    ends: [{ status: 'PAID', notified: ['pix_cash_in PAID'], moved: 1 }],
  },
  {
    name: 'a payout goes to a key',
    sendsMoney: true,
    act: async (world, n) => [await payout(world, n)],
    ends: [{ status: 'CONFIRMED', notified: ['pix_cash_out CONFIRMED'], moved: 1 }],
  },
  {
    name: 'a payout pays a QR code',
    sendsMoney: true,
    prepare: async (world) => (await world.control('qr-codes', { valueCents: 10_00 })).pixCode,
    act: async (world, n, pixCode) => {
      const transaction = { pixCode, externalId: `payout-${n}` }
      return [await world.place('/api/pix/cash-out-qrcode', { transaction })]
    },
    ends: [{ status: 'CONFIRMED', notified: ['pix_cash_out CONFIRMED'], moved: 1 }],
  },
  {
    name: 'a payout comes back',
    sendsMoney: true,
    prepare: (world, n) => payout(world, n),
    act: async (world, _, id) => {
      await world.control(`payouts/${id}/reverse`, { valueCents: 4_00 })
      return [id]
    },
    ends: [{ status: 'REVERSED', notified: ['pix_cash_out CONFIRMED', 'pix_cash_out_reversal REVERSED'], moved: 2 }],
  },
  {
    name: 'a payout fails at the bank',
    sendsMoney: true,
    prepare: async (world) => String(await world.control('behavior', { cashOut: 'fail' }, 'PUT')),
    act: async (world, n) => [await payout(world, n)],
    ends: [{ status: 'FAILED', notified: ['pix_cash_out FAILED'], moved: 0 }],
  },
  {
    name: 'a payout is rejected by the bank',
    sendsMoney: true,
    prepare: async (world) => String(await world.control('behavior', { cashOut: 'reject' }, 'PUT')),
    act: async (world, n) => [await payout(world, n)],
    ends: [{ status: 'FAILED', notified: ['pix_cash_out FAILED'], moved: 0 }],
  },
  {
    name: 'a refund fails at the bank',
    prepare: async (world, n) => {
      await world.control('behavior', { refundIn: 'fail' }, 'PUT')
      return paid(world, n)
    },
    act: async (world, n, id) => {
      const refund = { refundValue: 4, externalId: `refund-${n}` }
      return [id, await world.place(`/api/pix/refund-in/${id}`, refund)]
    },
    ends: [
      { status: 'PAID', notified: ['pix_cash_in PAID'], moved: 1 },
      { status: 'FAILED', notified: ['pix_cash_in_reversal FAILED'], moved: 0 },
    ],
  },
  {
    name: 'a payment is refunded',
    prepare: (world, n) => paid(world, n),
    act: async (world, n, id) => {
      const refund = { refundValue: 4, externalId: `refund-${n}` }
      return [id, await world.place(`/api/pix/refund-in/${id}`, refund)]
    },
    ends: [
      { status: 'PAID', notified: ['pix_cash_in PAID'], moved: 1 },
      { status: 'CONFIRMED', notified: ['pix_cash_in_reversal CONFIRMED'], moved: 1 },
    ],
  },
  {
    name: 'the bank takes a payment back',
    prepare: (world, n) => paid(world, n),
    act: async (world, _, id) => {
      await world.control(`charges/${id}/return`, { valueCents: 4_00 })
      return [id]
    },
    ends: [{ status: 'PAID', notified: ['pix_cash_in PAID'], moved: 2 }],
  },
]

/** A charge that the bank withdraws and tells of: by our own protocol. */
export const reportedFailures: readonly Scenario[] = [
  {
    name: 'a charge fails at the bank',
    act: async (world, n) => [await failed(world, n)],
    ends: [{ status: 'FAILED', notified: ['pix_cash_in FAILED'], moved: 0 }],
  },
]

/** The same at a bank of the standard, which tells nobody: it is asked when the charge is over, and then it has expired. */
export const unreportedFailures: readonly Scenario[] = [
  {
    name: 'a charge fails at the bank, and expires here',
    act: async (world, n) => [await failed(world, n, { expirationTime: 60 })],
    ends: [{ status: 'EXPIRED', notified: [], moved: 0 }],
  },
]

function cancelled(world: CrashWorld, id: string) {
  return world.insist('POST', `/api/pix/cash-in/${id}/cancel`)
}

async function failed(world: CrashWorld, n: string, more: object = {}): Promise<string> {
  const id = await charged(world, n, more)
  await world.control(`charges/${id}/fail`)
  return id
}

/** Resolves once the bank has made a charge of R$ 10.00, or of what is said here, as the merchant is told: it has a code. */
async function charged(world: CrashWorld, n: string, more: object = {}): Promise<string> {
  const transaction = { value: 10, externalId: `charge-${n}`, ...more }
  const id = await world.place('/api/pix/cash-in', { transaction })
  while (!(await world.insist('GET', `/api/pix/cash-in/${id}`)).body.pixCode) await realPause.for(GLANCE_MS)
  return id
}

/** Lets a charge be made and paid. @returns its id */
export async function paid(world: CrashWorld, n: string, value = 10): Promise<string> {
  const id = await charged(world, n, { value })
  await world.control(`charges/${id}/pay`)
  return id
}

/** Asks for a payout to a key. @returns its id */
export async function payout(world: CrashWorld, n: string, value = 10): Promise<string> {
  const transaction = { value, externalId: `payout-${n}` }
  return world.place('/api/pix/cash-out', { transaction, recipient: RECIPIENT })
}
