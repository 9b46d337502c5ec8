import assert from 'node:assert/strict'
import test from 'node:test'
import type { RefundEvent } from '../../src/banks/inbound.ts'
import { createReceivers, type Subjects } from '../../src/inbox/receivers.ts'

const ABOUT = {
  references: { transactionId: 'tx', externalId: null, endToEndId: null },
  key: ['event', 'tx'],
  content: 'content',
  evidence: {},
}
const RETURNED = { returnId: 'D1', valueCents: 1000n, occurredAt: Date.parse('2026-11-21T13:15:00.500Z') }
const EVENT = {
  ...ABOUT,
  subject: 'refund',
  kind: 'payment_returned',
  returned: RETURNED,
  endToEndId: null,
  isUnnamed: false,
} as const satisfies RefundEvent
const FAILED = { kind: 'failed', failure: { errorCode: 'failed', errorMessage: null, occurredAt: null } } as const

/** One refund and one cash-in, each known by its id and by its own `transactionId`. */
function subjects() {
  const done: string[] = []
  const matching =
    (id: string): Subjects['cashIns']['match'] =>
    async (references) =>
      references.map(({ transactionId }) =>
        transactionId === 'both' || transactionId === `tx-${id}`
          ? [{ id, by: 'transactionId', of: id === 'refund' ? 'cash-in' : null, isBanks: false }]
          : [],
      )
  const given = {
    cashIns: {
      match: matching('cash-in'),
      canAsk: true,
      applyEvent: async (id: string, { on }: { on: string }) => {
        done.push(`${id} ${on}`)
        return { result: 'APPLIED' }
      },
    },
    cashOuts: {},
    refunds: {
      match: matching('refund'),
      canAsk: true,
      apply: async (id: string, { on }: { on: string }) => {
        if (id !== 'refund') return undefined
        done.push(`refund ${on}`)
        return { result: 'APPLIED' }
      },
      applyReturn: async (id: string, { returnId, valueCents }: { returnId: string; valueCents: bigint }) => {
        done.push(`taken of ${id}: ${valueCents} as ${returnId}`)
        return { result: 'APPLIED' }
      },
      askAboutOpen: async (id: string) => {
        done.push(`asked about ${id}`)
        return 'APPLIED'
      },
    },
  }
  return { receiver: createReceivers(given as unknown as Subjects).refund, done, given }
}

test('[partner-inbox.10] a reversal of a cash-in is matched with our refunds first, and else with the cash-in', async () => {
  const { receiver } = subjects()
  const references = ['tx-refund', 'tx-cash-in', 'both', 'unknown'].map((transactionId) => ({
    transactionId,
    externalId: null,
    endToEndId: null,
  }))
  const meant = (await receiver.match(references)).map(({ id }) => id)
  assert.deepEqual(meant, ['refund', 'cash-in', 'refund', undefined])
})

test('[partner-inbox.10] [cash-in.returns.7] a reversal that names no refund of ours is a return, or causes a query of the open ones', async () => {
  const { receiver, done } = subjects()
  assert.equal(await receiver.apply('refund', EVENT), 'APPLIED')
  assert.equal(await receiver.apply('cash-in', EVENT), 'APPLIED')
  assert.equal(await receiver.apply('cash-in', { ...ABOUT, subject: 'refund', ...FAILED }), 'APPLIED')
  assert.equal(await receiver.apply('cash-in', { ...ABOUT, subject: 'refund', kind: 'in_progress' }), 'IN_PROGRESS')
  assert.deepEqual(done, ['refund partner.confirmed', 'taken of cash-in: 1000 as D1', 'asked about cash-in'])
})

test('[partner-inbox.12] [EV-34] a client’s reference of a charge does not identify a return', async () => {
  const { given } = subjects()
  const named = (by: string) => {
    const match = async () => [[{ id: 'cash-in', by, of: null, isBanks: false }]]
    const refunds = { ...given.refunds, match: async () => [[]] }
    return createReceivers({ ...given, refunds, cashIns: { ...given.cashIns, match } } as unknown as Subjects)
  }
  const references = [{ transactionId: null, externalId: 'order-1', endToEndId: null }]
  const meant = async (by: string) => (await named(by).refund.match(references)).map(({ id }) => id)
  assert.deepEqual([await meant('externalId'), await meant('endToEndId')], [[undefined], ['cash-in']])
})

test('[cash-in.refunds.10] [EV-37] a return without its id causes a query, as the answer may name it', async () => {
  const { receiver, done } = subjects()
  await receiver.apply('cash-in', { ...EVENT, isUnnamed: true })
  assert.equal(done.at(-1), 'cash-in work.requested')
  await receiver.apply('cash-in', EVENT)
  assert.notEqual(done.at(-1), 'cash-in work.requested')
})

test('[partner-inbox.6] [P6] a failure reported by an event counts as verified only at a bank without that query', async () => {
  for (const canAsk of [true, false]) {
    const taken: unknown[] = []
    const take = async (_id: string, { on, ...input }: { on: string; isVerified?: boolean }) => {
      taken.push([on, input.isVerified])
      return { result: 'APPLIED' }
    }
    const receivers = createReceivers({
      cashIns: { canAsk, applyEvent: take },
      cashOuts: { canAsk, apply: take },
      refunds: { canAsk, apply: take },
    } as unknown as Subjects)
    await receivers.charge.apply('id', { ...ABOUT, subject: 'charge', ...FAILED })
    await receivers.payout.apply('id', { ...ABOUT, subject: 'payout', ...FAILED })
    await receivers.refund.apply('id', { ...ABOUT, subject: 'refund', ...FAILED })
    assert.deepEqual(taken, Array(3).fill(['partner.failed', !canAsk]))
  }
})
