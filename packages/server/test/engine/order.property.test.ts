import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import fc from 'fast-check'
import type { CashInInput } from '../../src/cash-in/cash-in.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'
import { assertBooks, balances } from '../support/books.ts'
import { testDatabase } from '../support/database.ts'
import { cashInRequest, payment, type TestEngine, testEngine } from '../support/engine.ts'

/**
 * Batches, caches and a second process are nobody's business: whatever is mixed, the books are those of one input after
 * the other.
 */

const CHARGES = 4

/** One input, to one of a few charges, through one of two processes. */
interface Turn {
  readonly charge: number
  readonly process: 0 | 1
  readonly input: 'create' | CashInInput
}

/** Inputs of which every order leads to the same end, so that the end can be compared. */
const input: fc.Arbitrary<Turn['input']> = fc.oneof(
  fc.constant('create' as const),
  fc.constant({ on: 'work.requested' } as const),
  fc.constantFrom('E1', 'E2', 'E3').map((endToEndId) => ({
    on: 'partner.confirmed' as const,
    transactionId: 'tx',
    payment: payment({ endToEndId }),
  })),
)

const turn: fc.Arbitrary<Turn> = fc.record({
  charge: fc.nat(CHARGES - 1),
  process: fc.constantFrom(0 as const, 1 as const),
  input,
})

/** Turns that are under way at the same time, one group after the other. */
const groups = fc.array(fc.array(turn, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 6 })

const STATE = statement<[], { external_id: string; status: string; booked: bigint; notifications: string[] | null }>(
  'test.state',
  `SELECT o.external_id, o.status,
          (SELECT count(*) FROM entry e WHERE e.operation_id = o.id) AS booked,
          (SELECT array_agg(n.event_type || ' ' || n.status ORDER BY 1) FROM notification n
            WHERE n.operation_id = o.id) AS notifications
     FROM operation o ORDER BY o.external_id`,
)

async function outcome(database: Database) {
  await assertBooks(database)
  return { state: await database.rows(STATE, []), balances: await balances(database) }
}

async function play(engines: readonly TestEngine[], run: string, { charge, process, input }: Turn): Promise<void> {
  const engine = engines[process] as TestEngine
  const id = chargeId(run, charge)
  if (input === 'create') {
    await engine.cashIns.create(cashInRequest({ id, externalId: `c${charge}` })).catch(() => undefined)
  } else {
    await engine.cashIns.apply(id, ofCharge(input, charge))
  }
}

/** The same input under end-to-end ids of its charge's own: a payment of two charges would be one of the first. */
function ofCharge(input: CashInInput, charge: number): CashInInput {
  if (input.on !== 'partner.confirmed') return input
  return { ...input, payment: { ...input.payment, endToEndId: `${input.payment.endToEndId} ${charge}` } }
}

function chargeId(run: string, charge: number): string {
  return `0198c0de-0000-7000-8000-${run}${charge}`.padEnd(36, '0')
}

async function freshProcesses(t: TestContext, processes: number) {
  const { url, database } = await testDatabase(t)
  return { database, engines: Array.from({ length: processes }, () => testEngine(t, url)) }
}

test('[engine.1] [EV-6] a random mix in random batches over two processes is the same as one by one', async (t) => {
  const everyChargeExists: Turn[] = Array.from({ length: CHARGES }, (_, charge) => ({
    charge,
    process: 0,
    input: 'create',
  }))
  await fc.assert(
    fc.asyncProperty(groups, async (turns) => {
      const together = await freshProcesses(t, 2)
      const alone = await freshProcesses(t, 1)
      for (const group of [everyChargeExists, ...turns]) {
        await Promise.all(group.map((one) => play(together.engines, '0', one)))
        for (const one of group) await play(alone.engines, '0', { ...one, process: 0 })
      }
      assert.deepEqual(await outcome(together.database), await outcome(alone.database))
    }),
    { numRuns: 12 },
  )
})
