import assert from 'node:assert/strict'
import { statement } from '../../src/platform/db/database.ts'
import { assertBooks, balances } from './books.ts'
import { type Ending, FEE_CENTS, type ProcessWorld } from './process-world.ts'

/** A charge that has come to its end, as the merchant and the payer know it. */
export interface EndedCharge {
  readonly id: string
  readonly externalId: string
  readonly valueCents: number
  readonly ending: Ending
}

/**
 * Fails where anything was lost or doubled: an operation, a charge at the bank, a booking, a notification.
 * Notifications alone may arrive more than once, always as the same bytes under the same id.
 * @param charges all there are
 */
export async function assertExactlyOnce(world: ProcessWorld, charges: readonly EndedCharge[]): Promise<void> {
  const { database } = world
  await assertBooks(database)
  const sorted = charges.toSorted((one, other) => (one.externalId < other.externalId ? -1 : 1))
  assert.deepEqual(await database.rows(selectTraces, []), sorted.map(tracesOf))
  assert.deepEqual(await database.rows(selectCases, []), [])
  assertBank(world, sorted)
  await assertSettlement(world)
  await assertNotifications(world)
  for (const { id, ending } of sorted) assert.equal((await world.read(id)).status, statusOf(ending))
}

/** All that an operation left in the database. */
interface Traces {
  readonly id: string
  readonly external_id: string
  readonly status: string
  /** How often it entered the status it is in. */
  readonly endings: number
  readonly available_cents: bigint
  readonly notifications: number
  readonly deliveries: number
}

const selectTraces = statement<[], Traces>(
  'test.traces',
  `SELECT o.id, o.external_id, o.status,
          (SELECT count(*)::integer FROM move m
            WHERE m.operation_id = o.id AND m.to_status = o.status AND m.from_status IS DISTINCT FROM o.status) AS endings,
          (SELECT coalesce(sum(e.amount_cents), 0)::bigint FROM entry e JOIN account a ON a.id = e.account_id
            WHERE e.operation_id = o.id AND a.code = 'available') AS available_cents,
          (SELECT count(*)::integer FROM notification n WHERE n.operation_id = o.id) AS notifications,
          (SELECT count(*)::integer FROM notification n JOIN delivery d ON d.notification_id = n.id
            WHERE n.operation_id = o.id AND d.state = 'DELIVERED') AS deliveries
     FROM operation o ORDER BY o.external_id COLLATE "C"`,
)

function tracesOf({ id, externalId, valueCents, ending }: EndedCharge): Traces {
  return {
    id,
    external_id: externalId,
    status: statusOf(ending),
    endings: 1,
    available_cents: ending === 'pay' ? BigInt(valueCents - FEE_CENTS) : 0n,
    notifications: 1,
    deliveries: 1,
  }
}

function statusOf(ending: Ending): string {
  return ending === 'pay' ? 'PAID' : 'FAILED'
}

const selectCases = statement<[], { kind: string; operation_id: string | null }>(
  'test.cases',
  'SELECT kind, operation_id FROM "case"',
)

/** One charge for each of ours, paid once or failed; nothing else. */
function assertBank({ bank }: ProcessWorld, charges: readonly EndedCharge[]): void {
  const atTheBank = new Map(
    [...bank.book.charges.values()].map(({ id, status, payments }) => [
      id,
      { status, paid: payments.map(({ valueCents }) => valueCents) },
    ]),
  )
  const expected = new Map(
    charges.map(({ id, ending, valueCents }) => [
      id,
      { status: statusOf(ending), paid: ending === 'pay' ? [valueCents] : [] },
    ]),
  )
  assert.deepEqual(atTheBank, expected)
}

async function assertSettlement({ bank, database }: ProcessWorld): Promise<void> {
  const receivedCents = bank.book.entries.reduce((sum, { valueCents }) => sum + valueCents, 0)
  const { settlement = 0n } = await balances(database)
  assert.equal(-settlement, BigInt(receivedCents), 'the bank holds what our books say it holds')
}

const selectBodies = statement<[], { id: string; body: Buffer }>('test.bodies', 'SELECT id, body FROM notification')

/** Every notification arrived, with its bytes each time; and nothing else arrived. */
async function assertNotifications({ database, receiver }: ProcessWorld): Promise<void> {
  const bodies = new Map((await database.rows(selectBodies, [])).map(({ id, body }) => [id, String(body)]))
  const arrived = receiver.received.map(({ headers, body }) => [String(headers['webhook-id']), String(body)] as const)
  assert.deepEqual(new Map(arrived), bodies)
  for (const [id, body] of arrived) assert.equal(body, bodies.get(id))
}
