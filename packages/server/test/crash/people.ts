import assert from 'node:assert/strict'
import { verify } from '../../src/ledger/verify/verifier.ts'
import { withSnapshot } from '../../src/platform/db/snapshot.ts'
import { boundsOf, dayOf } from '../../src/platform/sao-paulo.ts'
import { administer } from '../support/database.ts'
import type { Scenario } from './crash.ts'
import { APPROVED_FROM_CENTS, type Node } from './node.ts'
import { paid, payout } from './scenarios.ts'
import { casesOf, closesMade, openCases, stepsOf } from './store.ts'
import type { CrashWorld } from './world.ts'

/** What operators decide and approve, and the closes of days: once, or not at all, wherever a process dies. */

const LARGE = APPROVED_FROM_CENTS / 100

const MINUTE = 60_000

/** Scenarios of people and of days. */
export const peoplesScenarios: readonly Scenario[] = [
  {
    name: 'an operator decides a case',
    prepare: paidTwice,
    act: async (world, n, id) => {
      await decided(world, n, 'payment_in_suspense', 'write_off', id)
      return [id]
    },
    check: (world, _, id) => assertSteps(world, id, ['decided']),
    ends: [{ status: 'PAID', notified: ['pix_cash_in PAID'], moved: 2 }],
  },
  {
    name: 'an operator returns a payment to its payer',
    prepare: paidTwice,
    act: async (world, n, id) => {
      const all = { amountCents: 10_00 }
      const { refundId } = await decided(world, n, 'payment_in_suspense', 'return_to_payer', id, all)
      return [id, refundId]
    },
    check: (world, _, id) => assertSteps(world, id, ['decided']),
    ends: [
      { status: 'PAID', notified: ['pix_cash_in PAID'], moved: 2 },
      { status: 'CONFIRMED', notified: ['pix_cash_in_reversal CONFIRMED'], moved: 1 },
    ],
  },
  {
    name: 'an operator attributes a payment to another charge',
    prepare: paidTwice,
    act: async (world, n, id) => {
      const transaction = { value: 10, externalId: `other-${n}` }
      const other = await world.place('/api/pix/cash-in', { transaction })
      await decided(world, n, 'payment_in_suspense', 'book', id, { operationId: other })
      return [id, other]
    },
    check: (world, _, id) => assertSteps(world, id, ['decided']),
    ends: [
      { status: 'PAID', notified: ['pix_cash_in PAID'], moved: 2 },
      { status: 'PAID', notified: ['pix_cash_in PAID'], moved: 0 },
    ],
  },
  {
    name: 'an operator proposes what another one approves',
    prepare: (world, n) => paidTwice(world, n, LARGE),
    act: async (world, n, id) => {
      const { path, proposalId } = await decided(world, n, 'payment_in_suspense', 'write_off', id)
      const bia = await world.operator('Bia', 'approver')
      const approval = { approved: true, reason: 'as the bank says' }
      const { status, body } = await world.insistAs(bia, 'PUT', `${path}/proposals/${proposalId}`, approval)
      assert.ok(status === 200 || body.code === 'proposal_void', JSON.stringify(body))
      return [id]
    },
    check: (world, _, id) => assertSteps(world, id, ['proposed', 'approved']),
    ends: [{ status: 'PAID', notified: ['pix_cash_in PAID'], moved: 2 }],
  },
  {
    name: 'a payout waits for two approvers',
    prepare: (world, n) => paid(world, n, 2 * LARGE),
    act: async (world, n) => {
      const id = await payout(world, n, LARGE)
      for (const name of ['Bia', 'Caio']) {
        const token = await world.operator(name, 'approver')
        const approval = { approved: true, reason: 'the invoice was checked' }
        const { status, body } = await world.insistAs(token, 'PUT', `/operator/approvals/${id}`, approval)
        assert.ok(status === 200 || APPROVED_BEFORE.has(body.code), JSON.stringify(body))
      }
      return [id]
    },
    ends: [{ status: 'CONFIRMED', notified: ['pix_cash_out CONFIRMED'], moved: 1 }],
  },
  {
    name: 'an operator books what only the bank’s statement has',
    prepare: async (world) => {
      await world.control('debits', { valueCents: 1_00 })
      for (let minute = 0; minute < 8; minute += 1) {
        world.clock.advance(MINUTE)
        await world.survivor.work()
      }
      return ''
    },
    act: async (world, n) => {
      await decided(world, n, 'unexplained_debit', 'write_off')
      return []
    },
    check: async ({ database }) => {
      assert.deepEqual(await database.rows(openCases, ['unexplained_debit']), [], 'the case was decided')
    },
    ends: [],
  },
  {
    name: 'a day is closed',
    prepare: async (world, n) => {
      await paid(world, n)
      return ended(world)
    },
    act: async () => [],
    work: closing,
    check: (world, _, day) => assertClosed(world, day, 'BALANCED'),
    ends: [],
  },
  {
    name: 'a day that differs is closed, with a case',
    prepare: async (world, n) => {
      await paid(world, n)
      const day = await ended(world)
      // The first balance lacks more than any before.
      const [readAt, asOf] = [boundsOf(day).to - 1, boundsOf(day).to].map((at) => new Date(at).toISOString())
      await administer(
        world.databaseUrl,
        `INSERT INTO bank_balance (read_at, as_of, available_cents, set_aside_cents)
         SELECT '${readAt}', '${asOf}', -balance_cents - ${n + 1}, 0 FROM account WHERE code = 'settlement'`,
      )
      return day
    },
    act: async () => [],
    work: closing,
    check: async (world, _, day) => {
      await assertClosed(world, day, 'DIFFERS')
      const references = (await world.database.rows(openCases, ['close_differs'])).map(({ reference }) => reference)
      assert.ok(references.includes(day), 'a case tells of it')
      assert.equal(references.length, new Set(references).size)
    },
    ends: [],
  },
]

/** What somebody is told who approved before and lost the answer. */
const APPROVED_BEFORE = new Set(['approver_not_independent', 'not_possible_in_state', 'not_found'])

/** A charge that was paid, and paid again: the second payment is a case. @returns its id */
async function paidTwice(world: CrashWorld, n: string, value = 10): Promise<string> {
  const id = await paid(world, n, value)
  await world.finish()
  await world.control(`charges/${id}/pay`)
  // Large payments are verified first.
  while ((await world.database.rows(casesOf, [id])).length === 0) {
    world.clock.advance(MINUTE)
    await world.survivor.work()
  }
  return id
}

/** Reads a case and decides it, again with the same key where no answer came. */
async function decided(
  world: CrashWorld,
  n: string,
  kind: string,
  decision: string,
  operationId?: string,
  more: object = {},
): Promise<{ path: string; proposalId: string; refundId: string }> {
  const ana = await world.operator('Ana', 'operator')
  const of = operationId === undefined ? '' : `&operation_id=${operationId}`
  const { body: found } = await world.insistAs(ana, 'GET', `/operator/cases?kind=${kind}${of}`)
  assert.equal(found.data?.length, 1, JSON.stringify(found))
  const path = `/operator/cases/${found.data[0].id}`
  const { body: read } = await world.insistAs(ana, 'GET', path)
  const ordered = { decision, reason: 'as the bank says', version: read.version, ...more }
  const once = { 'idempotency-key': `decision-${n}` }
  const { status, body } = await world.insistAs(ana, 'POST', `${path}/decisions`, ordered, once)
  assert.equal(status, body.outcome === 'proposed' ? 202 : 200, JSON.stringify(body))
  const { proposalId, refundId } = body
  return { path, proposalId, refundId }
}

/** Each step was made once, with its row in the audit trail. */
async function assertSteps({ database }: CrashWorld, operationId: string, wanted: readonly string[]): Promise<void> {
  const made = await database.rows(stepsOf, [operationId])
  assert.deepEqual(
    made,
    wanted.map((step) => ({ step, audited: 1 })),
  )
}

/** Lets the day end, and the bank's balance and statement be read past its end. @returns the day */
async function ended(world: CrashWorld): Promise<string> {
  await world.finish()
  const day = dayOf(world.clock.now())
  world.clock.advance(boundsOf(day).to - world.clock.now())
  await world.survivor.closeDays()
  world.clock.advance(11 * MINUTE)
  await world.survivor.work()
  return day
}

async function closing(node: Node): Promise<void> {
  await node.work()
  await node.closeDays()
}

/** Each day was closed once, and the audit trail has every close. */
async function assertClosed({ database, databaseUrl }: CrashWorld, day: string, status: string): Promise<void> {
  const made = await database.rows(closesMade, [])
  assert.deepEqual(made.at(-1), { day, status, audited: 1 })
  const { drifts } = await withSnapshot({ url: databaseUrl, name: 'test' }, verify)
  assert.deepEqual(
    drifts.filter(({ name }) => name === 'closes'),
    [],
  )
}
