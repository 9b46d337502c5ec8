import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { realPause } from '../../src/platform/jobs/pause.ts'
import {
  assertExactlyOnce,
  assertShown,
  type Ended,
  failed,
  paidCharge,
  sentPayout,
  sentRefund,
  takenBack,
} from '../support/exactly-once.ts'
import { type BankBook, hasEntry, type Order, type ProcessWorld, processWorld } from '../support/process-world.ts'
import { finished } from '../support/progress.ts'
import type { KillableProcess } from '../support/server-process.ts'

/**
 * The server and the bank are killed again and again while merchants create charges, send payouts to keys and codes and
 * refund payments, while payers pay, recipients send back and the bank takes back, and while notifications go out; the
 * database and the receiver stay. In the end everything has happened exactly once, as the bank's book tells it.
 */

const KILLS = 50

const MERCHANTS = 6

/** What merchants have at first. */
const FUNDS_CENTS = 50_000_00

/** Between the clocks of a process and the next: over are the leases of an intent and of a delivery, but of no event. */
const STEP_MS = 30_000

/** Later than every lease that a dead process leaves. */
const LATER_MS = 90_000

/** By so much the clocks are too fast, in small steps. */
const SPEED = 20
const TICK_MS = 250

/** A piece of bytes on any link, counted from the start of the process; somebody dies with it under way. */
interface Moment {
  readonly victim: 'server' | 'bank'
  readonly piece: number
  readonly isLost: boolean
  /** What the bank does from then on with what it is ordered. */
  readonly course: 'auto' | 'fail'
}

/** A start takes some 250 pieces: a few moments are before the process is ready. */
const moment: fc.Arbitrary<Moment> = fc.noBias(
  fc.record({
    victim: fc.constantFrom('server', 'server', 'bank'),
    piece: fc.integer({ min: 1, max: 600 }),
    isLost: fc.boolean(),
    course: fc.constantFrom('auto', 'auto', 'auto', 'fail'),
  }),
)

/** Ends a run in which something is waited for in vain. */
const TIMEOUT_MS = 600_000

const moments = fc.array(moment, { minLength: KILLS, maxLength: KILLS })

test('[partner.1] [partner-inbox.3] [events.4] killed at 50 random moments, nothing is lost or doubled', async (t) => {
  const survived = fc.asyncProperty(moments, async (moments) => {
    const world = await processWorld(t)
    const traded: Traded[] = [await charged(world, { externalId: 'funds', valueCents: FUNDS_CENTS }, 'pay')]
    await finished(world)
    let isClosingTime = false
    const trading = Array.from({ length: MERCHANTS }, (_, merchant) => trade(world, merchant, () => isClosingTime))
    const killing = killAtEach(moments, world).then(() => {
      isClosingTime = true
    })
    let isClosed = false
    const passing = passTime(world, () => isClosed)
    const [trades] = await Promise.all([Promise.all(trading), killing])
    isClosed = true
    await passing
    await finished(world)
    traded.push(...trades.flat())
    const ended = await endings(world, traded)
    await assertExactlyOnce(world, ended)
    await assertShown(world, ended)
  })
  // One run is 50 kills; a shorter list would fail at other moments, so there is nothing to shrink.
  await fc.assert(survived, { numRuns: 1, endOnFailure: true, timeout: TIMEOUT_MS })
})

/** What a merchant was given an id for. */
interface Traded extends Order {
  readonly kind: Ended['kind']
  readonly id: string
}

/** One thing after the other, with whatever patience it takes. */
async function trade(world: ProcessWorld, merchant: number, isClosingTime: () => boolean): Promise<Traded[]> {
  const traded: Traded[] = []
  for (let n = 0; !isClosingTime(); n++) {
    const order = { externalId: `${merchant}-${n}`, valueCents: 2_00 + n }
    const kind = TRADES[(merchant + n) % TRADES.length]
    if (kind) traded.push(...(await kind(world, order)))
  }
  return traded
}

type Trade = (world: ProcessWorld, order: Order) => Promise<Traded[]>

const TRADES: readonly Trade[] = [
  async (world, order) => [await charged(world, order, 'pay')],
  async (world, order) => [await charged(world, order, 'fail')],
  async (world, order) => [await paidOut(world, order)],
  async (world, order) => [await paidOutByCode(world, order)],
  async (world, order) => [await returned(world, await paidOut(world, order))],
  async (world, order) => {
    const charge = await charged(world, order, 'pay')
    while ((await world.read(charge.id)).status !== 'PAID') await realPause.for(GLANCE_MS)
    const valueCents = 1_00
    const terms = { refundValue: valueCents / 100, externalId: order.externalId }
    const { id } = await world.place(`/api/pix/refund-in/${charge.id}`, terms)
    return [charge, { ...order, id, kind: 'refund_in', valueCents }]
  },
  async (world, order) => {
    const charge = await charged(world, order, 'pay')
    const isTaken = hasEntry('PAYMENT_TAKEN_BACK', charge.id)
    await world.bank.control(`/charges/${charge.id}/return`, { valueCents: 1_00 }, isTaken)
    return [charge]
  },
]

const GLANCE_MS = 50

async function charged(world: ProcessWorld, order: Order, ending: 'pay' | 'fail'): Promise<Traded> {
  const { id } = await world.charge(order)
  await world.end(id, ending)
  return { ...order, id, kind: 'cash_in' }
}

async function paidOut(world: ProcessWorld, { externalId, valueCents }: Order): Promise<Traded> {
  const recipient = { pixKey: 'padaria@example.com', pixKeyType: 'EMAIL' }
  const transaction = { value: valueCents / 100, externalId }
  const { id } = await world.place('/api/pix/cash-out', { transaction, recipient })
  return { externalId, valueCents, id, kind: 'cash_out' }
}

async function paidOutByCode(world: ProcessWorld, { externalId, valueCents }: Order): Promise<Traded> {
  const pixCode = await world.bank.issueCode(valueCents)
  const { id } = await world.place('/api/pix/cash-out-qrcode', { transaction: { pixCode, externalId } })
  return { externalId, valueCents, id, kind: 'cash_out' }
}

/** Some of it comes back as soon as it has left, which it may never. */
async function returned({ bank }: ProcessWorld, payout: Traded): Promise<Traded> {
  const isOver = (book: BankBook) =>
    hasEntry('PAYOUT_RETURNED', payout.id)(book) ||
    book.payouts.some(({ id, status }) => id === payout.id && status === 'FAILED')
  await bank.control(`/payouts/${payout.id}/reverse`, { valueCents: 1_00 }, isOver)
  return payout
}

/** How all of it must have ended: as the bank's book says. */
async function endings({ bank, insist }: ProcessWorld, traded: readonly Traded[]): Promise<Ended[]> {
  const { entries } = await bank.book()
  const moved = Map.groupBy(entries, ({ reference }) => reference)
  const ended = traded.map(async (operation): Promise<Ended[]> => {
    const movedFor = moved.get(operation.id) ?? []
    const centsOf = (wanted: string) =>
      movedFor.filter(({ kind }) => kind === wanted).map(({ valueCents }) => valueCents)
    if (movedFor.length === 0) return [failed(operation.kind, operation)]
    if (operation.kind === 'cash_out') return [sentPayout(operation, centsOf('PAYOUT_RETURNED'))]
    if (operation.kind === 'refund_in') return [sentRefund(operation)]
    const takenCents = centsOf('PAYMENT_TAKEN_BACK')
    if (takenCents.length === 0) return [paidCharge(operation)]
    const { body } = await insist('GET', `/api/pix/refund?cash_in_id=${operation.id}`)
    assert.equal(body.data.length, 1)
    return [paidCharge(operation), ...takenCents.map((cents) => takenBack(body.data[0].id, operation.id, cents))]
  })
  return (await Promise.all(ended)).flat()
}

/** Time passes faster than it does, or what is asked for again in minutes would keep all merchants waiting. */
async function passTime(world: ProcessWorld, isClosed: () => boolean): Promise<void> {
  while (!isClosed()) {
    await realPause.for(TICK_MS)
    await world.advance(TICK_MS * SPEED)
  }
}

/** Lets one process after the other die at its moment, and starts the next; the last one takes up all that was left. */
async function killAtEach(moments: readonly Moment[], world: ProcessWorld): Promise<void> {
  const supervision = superviseServer(world)
  for (const moment of moments) {
    const { victim, course } = moment
    await killAt(moment, victim === 'bank' ? world.bank.process() : world.latest(), world)
    if (victim === 'bank') world.bank.start()
    await world.bank.behave({ cashOut: course, refundIn: course })
  }
  await supervision.end()
  await world.advance(LATER_MS)
}

/**
 * Starts the next server whenever one is gone: one that was killed, and one that ended by itself because it lost its
 * database while it was starting. Its `end` resolves when one is ready.
 */
function superviseServer(world: ProcessWorld): { end(): Promise<void> } {
  let isSupervised = true
  const supervise = (server: KillableProcess): void =>
    void server.gone.then(() => {
      if (isSupervised) supervise(world.start(STEP_MS))
    })
  supervise(world.latest())
  return {
    end: async () => {
      while (!(await world.latest().ready)) await world.latest().gone
      isSupervised = false
    },
  }
}

function killAt({ piece, isLost }: Moment, victim: KillableProcess, { links }: ProcessWorld): Promise<unknown> {
  let left = piece
  for (const link of Object.values(links)) {
    link.judge = () => {
      left -= 1
      if (left !== 0) return 'pass'
      victim.kill()
      return isLost ? 'cut' : 'pass'
    }
  }
  return victim.gone
}
