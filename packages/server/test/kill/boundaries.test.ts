import assert from 'node:assert/strict'
import test from 'node:test'
import { assertExactlyOnce } from '../support/exactly-once.ts'
import { type Link, type ProcessWorld, processWorld } from '../support/process-world.ts'
import { finished, type Milestone, milestones } from '../support/progress.ts'
import type { Direction } from '../support/tcp-proxy.ts'

/**
 * The server is killed at every boundary of create → pay → book → notify, is started again, and everything comes to its
 * end exactly once. A boundary is a message on one of the server's links: it dies before the message gets across, and
 * the message with it.
 *
 * A request that is lost was never carried out; one whose answer is lost was. SQL statements are known by their name, the
 * engine's one statement by the move that it makes, HTTP requests by their first line.
 */
interface Boundary {
  readonly name: string
  /** The step of the merchant's or the payer's under way. */
  readonly during: 'create' | 'payment'
  readonly link: Link
  /** What the request says. Where there are several, they follow one another and the last one is meant. */
  readonly request: string | readonly string[]
  /** Which message is lost: the request, or its answer. */
  readonly lost: Direction
  /** What the answer says, where not every answer is the one. */
  readonly answer?: string
  /** What has happened when the server is dead, and what has not. */
  readonly reached?: Milestone
  readonly missing?: Milestone
}

const BOUNDARIES: readonly Boundary[] = [
  {
    name: '[CI-1] killed before the create arrived',
    during: 'create',
    link: 'api',
    request: 'POST /api/pix/cash-in',
    lost: 'request',
    missing: 'intent',
  },
  {
    name: '[CI-1] killed before the intent was committed',
    during: 'create',
    link: 'database',
    request: 'engine.write',
    lost: 'request',
    missing: 'intent',
  },
  {
    name: '[CI-2] killed when the intent was committed, before it knew',
    during: 'create',
    link: 'database',
    request: 'engine.write',
    lost: 'response',
    reached: 'intent',
    missing: 'charge at the bank',
  },
  {
    name: '[CI-3] killed after the intent was committed, before the bank was asked',
    during: 'create',
    link: 'bank',
    request: 'PUT /charges/',
    lost: 'request',
    reached: 'intent',
    missing: 'charge at the bank',
  },
  {
    name: '[CI-7] killed when the bank had made the charge, before it knew',
    during: 'create',
    link: 'bank',
    request: 'PUT /charges/',
    lost: 'response',
    reached: 'charge at the bank',
    missing: 'charge accepted',
  },
  {
    name: "[CI-7] killed after the bank's answer, before it was committed",
    during: 'create',
    link: 'database',
    request: 'charge.accepted',
    lost: 'request',
    reached: 'charge at the bank',
    missing: 'charge accepted',
  },
  {
    name: "[CI-8] killed when the bank's answer was committed, before it knew",
    during: 'create',
    link: 'database',
    request: 'charge.accepted',
    lost: 'response',
    reached: 'charge accepted',
  },
  {
    name: '[CI-8] killed before the 201 arrived',
    during: 'create',
    link: 'api',
    request: 'POST /api/pix/cash-in',
    lost: 'response',
    reached: 'charge accepted',
  },
  {
    name: '[EV-1] killed before the event arrived',
    during: 'payment',
    link: 'events',
    request: 'POST /api/webhooks/pix/cash-in',
    lost: 'request',
    missing: 'event stored',
  },
  {
    name: '[EV-1] killed before the event was stored',
    during: 'payment',
    link: 'database',
    request: 'inbox.insert',
    lost: 'request',
    missing: 'event stored',
  },
  {
    name: '[EV-2] killed when the event was stored, before it knew',
    during: 'payment',
    link: 'database',
    request: 'inbox.insert',
    lost: 'response',
    reached: 'event stored',
    missing: 'event acknowledged',
  },
  {
    name: '[EV-2] killed after the event was stored, before the 200 reached the bank',
    during: 'payment',
    link: 'events',
    request: 'POST /api/webhooks/pix/cash-in',
    lost: 'response',
    reached: 'event stored',
    missing: 'event acknowledged',
  },
  {
    name: '[EV-3] killed before the payment was booked',
    during: 'payment',
    link: 'database',
    request: 'partner.confirmed',
    lost: 'request',
    reached: 'event stored',
    missing: 'booked',
  },
  {
    name: '[EV-4] killed when the payment was booked, before it knew',
    during: 'payment',
    link: 'database',
    request: 'partner.confirmed',
    lost: 'response',
    reached: 'booked',
    missing: 'event marked',
  },
  {
    name: '[EV-4] killed after the payment was booked, before its event was marked',
    during: 'payment',
    link: 'database',
    request: 'inbox.mark',
    lost: 'request',
    reached: 'booked',
    missing: 'event marked',
  },
  {
    name: '[EV-4] killed when the event was marked, before it knew',
    during: 'payment',
    link: 'database',
    request: 'inbox.mark',
    lost: 'response',
    reached: 'event marked',
  },
  {
    name: '[EV-5] killed after the payment was booked, before its notification was taken up',
    during: 'payment',
    link: 'database',
    request: ['partner.confirmed', 'webhooks.takeNotifications'],
    lost: 'request',
    reached: 'booked',
    missing: 'fanned out',
  },
  {
    name: '[NO-11] killed before the fan-out was written',
    during: 'payment',
    link: 'database',
    request: 'webhooks.recordFanOut',
    lost: 'request',
    reached: 'booked',
    missing: 'fanned out',
  },
  {
    name: '[NO-11] killed when the fan-out was written, before it was committed',
    during: 'payment',
    link: 'database',
    request: ['webhooks.recordFanOut', 'transaction.commit'],
    lost: 'request',
    reached: 'booked',
    missing: 'fanned out',
  },
  {
    name: '[NO-11] killed when the fan-out was committed, before it knew',
    during: 'payment',
    link: 'database',
    request: ['webhooks.recordFanOut', 'transaction.commit'],
    lost: 'response',
    reached: 'fanned out',
    missing: 'claimed',
  },
  {
    name: '[NO-1] killed before the delivery was claimed',
    during: 'payment',
    link: 'database',
    request: ['webhooks.recordFanOut', 'transaction.commit', 'webhooks.claimDeliveries'],
    lost: 'request',
    reached: 'fanned out',
    missing: 'claimed',
  },
  {
    name: '[NO-1] killed when the delivery was claimed, before it knew',
    during: 'payment',
    link: 'database',
    request: 'webhooks.claimDeliveries',
    lost: 'response',
    answer: 'http://',
    reached: 'claimed',
    missing: 'received',
  },
  {
    name: '[NO-1] killed after the delivery was claimed, before the notification arrived',
    during: 'payment',
    link: 'receiver',
    request: 'POST /pix',
    lost: 'request',
    reached: 'claimed',
    missing: 'received',
  },
  {
    name: '[NO-2] killed when the receiver had the notification, before it knew',
    during: 'payment',
    link: 'receiver',
    request: 'POST /pix',
    lost: 'response',
    reached: 'received',
    missing: 'recorded',
  },
  {
    name: "[NO-2] killed after the receiver's answer, before it was recorded",
    during: 'payment',
    link: 'database',
    request: 'webhooks.recordAttempts',
    lost: 'request',
    reached: 'received',
    missing: 'recorded',
  },
  {
    name: '[NO-2] killed when the delivery was recorded, before it knew',
    during: 'payment',
    link: 'database',
    request: 'webhooks.recordAttempts',
    lost: 'response',
    reached: 'recorded',
  },
]

/** Later than every lease that a dead process leaves: 15 s for an intent, 60 s for an event, 30 s for a delivery. */
const LATER_MS = 90_000

for (const boundary of BOUNDARIES) {
  test(boundary.name, { timeout: 30_000 }, async (t) => {
    const world = await processWorld(t)
    const order = { externalId: 'order-1', valueCents: 150_25 }
    let reached: ReadonlySet<Milestone> = new Set()

    async function during<Result>(step: Boundary['during'], take: () => Promise<Result>): Promise<Result> {
      if (step !== boundary.during) return take()
      const gone = killAt(boundary, world)
      const [result] = await Promise.all([take(), gone.then(comeBack)])
      return result
    }

    async function comeBack(): Promise<void> {
      // What the database was told just before may still be under way there.
      do reached = await milestones(world)
      while (boundary.reached && !reached.has(boundary.reached))
      if (boundary.missing) assert.ok(!reached.has(boundary.missing), `${boundary.missing}: too late for this boundary`)
      world.start(LATER_MS)
    }

    const { id, status } = await during('create', () => world.charge(order))
    await during('payment', () => world.end(id, 'pay'))
    await finished(world)

    await assertExactlyOnce(world, [{ ...order, id, ending: 'pay' }])
    const isFoundAgain = boundary.during === 'create' && reached.has('intent')
    assert.equal(status, isFoundAgain ? 409 : 201)
    const isSentAgain = reached.has('received') && !reached.has('recorded')
    assert.equal(world.receiver.received.length, isSentAgain ? 2 : 1)
  })
}

/** Lets the server die at a boundary. Resolves when it is dead. */
function killAt({ link, request, lost, answer = '' }: Boundary, { links, server }: ProcessWorld): Promise<unknown> {
  const before = [request].flat()
  const last = before.pop() ?? ''
  /** Connections on which the request is the last thing said. */
  const asking = new Set<number>()
  links[link].judge = (direction, bytes, connection) => {
    if (direction === 'request') {
      if (before.length === 0 && bytes.includes(last)) asking.add(connection)
      else asking.delete(connection)
      if (before[0] !== undefined && bytes.includes(before[0])) before.shift()
    }
    if (direction !== lost || !asking.has(connection) || !bytes.includes(answer)) return 'pass'
    links[link].judge = () => 'pass'
    server.kill()
    return 'cut'
  }
  return server.gone
}
