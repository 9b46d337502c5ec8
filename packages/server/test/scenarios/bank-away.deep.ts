import assert from 'node:assert/strict'
import test from 'node:test'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { assertExactlyOnce, assertShown, failed, paidCharge, sentPayout, sentRefund } from '../support/exactly-once.ts'
import { type Order, type ProcessWorld, processWorld } from '../support/process-world.ts'
import { finished } from '../support/progress.ts'

/**
 * The bank is away for an hour under load: first its answers are lost, then nothing reaches it, and none of its events reaches us.
 * Meanwhile payers pay and merchants go on. Then it is back, and reports everything late, three times and in any order.
 */

const LOAD = 6

/** The hour, in steps: what is due in one is done before the next. */
const STEP_MS = 5 * 60_000
const STEPS = 12

type Placed = Order & { readonly id: string }

const orders = (name: string): Order[] =>
  Array.from({ length: LOAD }, (_, index) => ({ externalId: `${name}-${index}`, valueCents: 10_00 + index }))

function place(world: ProcessWorld, path: string, name: string, bodyOf: (order: Order) => object): Promise<Placed[]> {
  return Promise.all(orders(name).map(async (order) => ({ ...order, ...(await world.place(path, bodyOf(order))) })))
}

const transactionOf = ({ externalId, valueCents }: Order) => ({ transaction: { value: valueCents / 100, externalId } })

const charges = (world: ProcessWorld, name: string) => place(world, '/api/pix/cash-in', name, transactionOf)

function payouts(world: ProcessWorld, name: string) {
  const recipient = { pixKey: 'padaria@example.com', pixKeyType: 'EMAIL' }
  return place(world, '/api/pix/cash-out', name, (order) => ({ ...transactionOf(order), recipient }))
}

function refunds(world: ProcessWorld, { id }: Placed, name: string) {
  return place(world, `/api/pix/refund-in/${id}`, name, ({ externalId, valueCents }) => ({
    ...{ refundValue: valueCents / 100, externalId },
  }))
}

/** Resolves when the bank has made these charges, as the merchant sees them: they have codes. Time passes meanwhile. */
async function payable(world: ProcessWorld, placed: readonly Placed[]): Promise<void> {
  for (const { id } of placed) {
    while (!(await world.read(id)).pixCode) {
      await realPause.for(100)
      await world.advance(5_000)
    }
  }
}

/** Resolves when the bank has moved money for one of these; time passes meanwhile. */
async function movedAtTheBank(world: ProcessWorld, placed: readonly Placed[]): Promise<void> {
  const ids = new Set(placed.map(({ id }) => id))
  while (!(await world.bank.book()).entries.some(({ reference }) => ids.has(reference))) {
    await realPause.for(100)
    await world.advance(5_000)
  }
}

/** Claimed, and given back when no attempt had left for half an hour: what the bank never got is no doubt. @source failure-modes#CO-10 */
const neverSent = (order: Placed) => ({ ...failed('cash_out', order), status: 'RELEASED' })

const pay = (world: ProcessWorld, placed: readonly Placed[]) =>
  Promise.all(placed.map(({ id }) => world.end(id, 'pay')))

test('[P8] [CO-22] the bank is away for an hour under load, and back with everything late, doubled and shuffled: both books are equal, and no operator is needed', async (t) => {
  const world = await processWorld(t)
  const funds = { externalId: 'funds', valueCents: 50_000_00 }
  const paidBefore: Placed = { ...funds, ...(await world.charge(funds)) }
  await world.end(paidBefore.id, 'pay')
  await finished(world)
  const open = await charges(world, 'open')
  await payable(world, open)
  await world.bank.behave({ eventCopies: 3, eventsShuffled: true })

  // It acts without reporting to us.
  world.links.events.judge = () => 'cut'
  world.links.bank.judge = (direction) => (direction === 'response' ? 'cut' : 'pass')
  world.links.events.cutAll()
  world.links.bank.cutAll()
  const half = await Promise.all([
    charges(world, 'half-charge'),
    payouts(world, 'half-payout'),
    refunds(world, paidBefore, 'half-refund'),
  ])
  const [halfCharges, halfPayouts, halfRefunds] = half
  await movedAtTheBank(world, [...halfPayouts, ...halfRefunds])
  await world.advance(STEP_MS)
  // Now it cannot be reached at all.
  world.links.bank.judge = () => 'cut'
  world.links.bank.cutAll()
  await pay(world, open)
  const away = await Promise.all([
    charges(world, 'away-charge'),
    payouts(world, 'away-payout'),
    refunds(world, paidBefore, 'away-refund'),
  ])
  for (let step = 1; step < STEPS; step += 1) {
    await realPause.for(100)
    await world.advance(STEP_MS)
  }

  world.links.bank.judge = () => 'pass'
  world.links.events.judge = () => 'pass'
  const [awayCharges, awayPayouts, awayRefunds] = away
  await world.advance(STEP_MS)
  await payable(world, [...halfCharges, ...awayCharges])
  await pay(world, [...halfCharges, ...awayCharges])
  await finished(world)

  const moved = new Set((await world.bank.book()).entries.map(({ reference }) => reference))
  const isSent = ({ id }: Placed) => moved.has(id)
  const ended = [
    ...[paidBefore, ...open, ...halfCharges, ...awayCharges].map((order) => paidCharge(order)),
    ...[...halfPayouts, ...awayPayouts].map((order) => (isSent(order) ? sentPayout(order) : neverSent(order))),
    ...[...halfRefunds, ...awayRefunds].map((order) =>
      isSent(order) ? sentRefund(order) : failed('refund_in', order),
    ),
  ]
  assert.ok(halfRefunds.some(isSent) || halfPayouts.some(isSent), 'of something the answer was lost')
  await assertExactlyOnce(world, ended)
  await assertShown(world, ended)
})
