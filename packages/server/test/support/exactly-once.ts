import assert from 'node:assert/strict'
import { statement } from '../../src/platform/db/database.ts'
import { assertBooks, balances } from './books.ts'
import { FEE_CENTS, type Order, type ProcessWorld } from './process-world.ts'

/** An operation that has come to its end, as the merchant and the bank's side of it know it. */
export interface Ended {
  readonly id: string
  readonly kind: 'cash_in' | 'cash_out' | 'refund_in'
  readonly externalId: string
  readonly status: string
  /** By how much the merchant is richer, centavos. */
  readonly gainedCents: number
  /** What the bank moved for it, in this order, and under which of our ids. */
  readonly moved: readonly { readonly reference: string; readonly cents: number }[]
  /** Event and status of each notification, in this order. */
  readonly notified: readonly string[]
}

/** An order that was given an id. */
type PlacedOrder = Order & { readonly id: string }

/** A charge that was paid once. */
export function paidCharge({ id, externalId, valueCents }: PlacedOrder): Ended {
  return {
    ...{ id, externalId, kind: 'cash_in', status: 'PAID', gainedCents: valueCents - FEE_CENTS },
    moved: [{ reference: id, cents: valueCents }],
    notified: ['pix_cash_in PAID'],
  }
}

/** A payout that was made once, and of which these amounts came back. */
export function sentPayout({ id, externalId, valueCents }: PlacedOrder, returnedCents: readonly number[] = []): Ended {
  const movedCents = [-valueCents, ...returnedCents]
  return {
    ...{ id, externalId, kind: 'cash_out', status: returnedCents.length > 0 ? 'REVERSED' : 'CONFIRMED' },
    gainedCents: movedCents.reduce((sum, cents) => sum + cents, -FEE_CENTS),
    moved: movedCents.map((cents) => ({ reference: id, cents })),
    notified: ['pix_cash_out CONFIRMED', ...returnedCents.map(() => 'pix_cash_out_reversal REVERSED')],
  }
}

/** A refund that the merchant asked for and the bank made. */
export function sentRefund({ id, externalId, valueCents }: PlacedOrder): Ended {
  return {
    ...{ id, externalId, kind: 'refund_in', status: 'CONFIRMED', gainedCents: -valueCents },
    moved: [{ reference: id, cents: -valueCents }],
    notified: ['pix_cash_in_reversal CONFIRMED'],
  }
}

/** What the bank took back by itself of a charge's payment. @param id of the refund that tells of it */
export function takenBack(id: string, chargeId: string, valueCents: number): Ended {
  return { ...sentRefund({ id, externalId: id, valueCents }), moved: [{ reference: chargeId, cents: -valueCents }] }
}

/** An operation that came to nothing. */
export function failed(kind: Ended['kind'], { id, externalId }: Pick<PlacedOrder, 'id' | 'externalId'>): Ended {
  const event = { cash_in: 'pix_cash_in', cash_out: 'pix_cash_out', refund_in: 'pix_cash_in_reversal' }[kind]
  return { id, kind, externalId, status: 'FAILED', gainedCents: 0, moved: [], notified: [`${event} FAILED`] }
}

/**
 * Fails where anything was lost or doubled: an operation, money at the bank, a booking, a notification. Nothing may be
 * left reserved, in suspense, or for a person to decide. Notifications alone may arrive more than once, always as the
 * same bytes under the same id.
 * @param ended all there are
 */
export async function assertExactlyOnce(world: ProcessWorld, ended: readonly Ended[]): Promise<void> {
  const { database } = world
  await assertBooks(database)
  const sorted = ended.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  assert.deepEqual(await database.rows(selectTraces, []), sorted.map(tracesOf))
  assert.deepEqual(await database.rows(selectCases, []), [])
  await assertMoney(world, ended)
  await assertNotifications(world)
}

/** Fails where a merchant reads another status than that of the end. */
export async function assertShown({ insist }: ProcessWorld, ended: readonly Ended[]): Promise<void> {
  for (const { id, kind, status } of ended) {
    const { body } = await insist('GET', `${PATHS[kind]}/${id}`)
    assert.equal(body.status, status)
  }
}

const PATHS = { cash_in: '/api/pix/cash-in', cash_out: '/api/pix/cash-out', refund_in: '/api/pix/refund' } as const

/** All that an operation left in the database. */
interface Traces {
  readonly id: string
  readonly kind: string
  readonly external_id: string
  readonly status: string
  readonly gained_cents: bigint
  readonly notified: readonly string[]
  readonly deliveries: number
}

const selectTraces = statement<[], Traces>(
  'test.traces',
  `SELECT o.id, o.kind, o.external_id, o.status,
          (SELECT coalesce(sum(e.amount_cents), 0)::bigint FROM entry e JOIN account a ON a.id = e.account_id
            WHERE e.operation_id = o.id AND a.code = 'available') AS gained_cents,
          (SELECT array_agg(n.event_type || ' ' || n.status ORDER BY n.created_at, n.id) FROM notification n
            WHERE n.operation_id = o.id) AS notified,
          (SELECT count(*)::integer FROM notification n JOIN delivery d ON d.notification_id = n.id
            WHERE n.operation_id = o.id AND d.state = 'DELIVERED') AS deliveries
     FROM operation o ORDER BY o.id`,
)

function tracesOf({ id, kind, externalId, status, gainedCents, notified }: Ended): Traces {
  return {
    ...{ id, kind, external_id: externalId, status, gained_cents: BigInt(gainedCents) },
    ...{ notified, deliveries: notified.length },
  }
}

const selectCases = statement<[], { kind: string; operation_id: string | null }>(
  'test.cases',
  'SELECT kind, operation_id FROM "case" WHERE closed_at IS NULL',
)

/** The bank moved what was asked for, once; and our books say the same to the centavo. */
async function assertMoney({ bank, database }: ProcessWorld, ended: readonly Ended[]): Promise<void> {
  const book = await bank.book()
  const atTheBank = book.entries.map(({ reference, sign, valueCents }) => `${reference} ${sign}${valueCents}`)
  const moved = ended.flatMap((operation) => operation.moved)
  const expected = moved.map(({ reference, cents }) => `${reference} ${cents < 0 ? '' : '+'}${cents}`)
  assert.deepEqual(atTheBank.toSorted(), expected.toSorted())
  const ids = new Set(ended.map(({ id }) => id))
  const strangers = [book.charges, book.payouts, book.refunds].flat().filter(({ id }) => !ids.has(id))
  assert.deepEqual(strangers, [], 'the bank was asked for nothing that the merchant did not ask for')

  const available = sum(ended.map(({ gainedCents }) => gainedCents))
  const settlement = -sum(moved.map(({ cents }) => cents))
  const accounts = { available, settlement, fees: -available - settlement }
  const filled = Object.entries(accounts).filter(([, cents]) => cents !== 0)
  assert.deepEqual(await balances(database), Object.fromEntries(filled.map(([code, cents]) => [code, BigInt(cents)])))
  assert.equal(book.availableCents, -settlement, 'the bank holds what our books say it holds')
}

function sum(cents: readonly number[]): number {
  return cents.reduce((total, one) => total + one, 0)
}

const selectBodies = statement<[], { id: string; body: Buffer }>('test.bodies', 'SELECT id, body FROM notification')

/** Every notification arrived, with its bytes each time; and nothing else arrived. */
async function assertNotifications({ database, receiver }: ProcessWorld): Promise<void> {
  const bodies = new Map((await database.rows(selectBodies, [])).map(({ id, body }) => [id, String(body)]))
  const arrived = receiver.received.map(({ headers, body }) => [String(headers['webhook-id']), String(body)] as const)
  assert.deepEqual(new Map(arrived), bodies)
  for (const [id, body] of arrived) assert.equal(body, bodies.get(id))
}
