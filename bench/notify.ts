import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark } from './benchmark.ts'
import { type Charge, payer, storeCharges } from './charges.ts'
import { type Figures, figuresOf, inRounds, medianFigures, tableOf } from './measure.ts'
import { type Pixgate, startPixgate } from './pixgate.ts'
import { operationIdOf, startReceiver, subscribe } from './webhooks.ts'

const ROUNDS = 3

const EVENTS_PER_SECOND = 300

const WARM_UP_MS = 2_000

const MEASURED_MS = 10_000

/** Time from the bank's event of a payment to the notification, at a steady rate. */
export const notify: Benchmark = {
  name: 'notify',
  summary: `from the bank's event to the notification at the merchant's server, ${EVENTS_PER_SECOND} per second`,
  run: async (after) => {
    const pixgate = await startPixgate(after)
    const arrivals = new Map<string, PromiseWithResolvers<number>>()
    const receiver = await startReceiver(after, async (request, response) => {
      arrivals.get(await operationIdOf(request))?.resolve(performance.now())
      response.end()
    })
    await subscribe(pixgate, receiver)
    const pay = payer(pixgate)
    const timeOf = async (charge: Charge) => {
      const arrival = Promise.withResolvers<number>()
      arrivals.set(charge.id, arrival)
      const sentAt = performance.now()
      const [notifiedAt] = await Promise.all([arrival.promise, pay(charge)])
      arrivals.delete(charge.id)
      return notifiedAt - sentAt
    }
    const rounds = await inRounds(ROUNDS, async () => ({ 'event to notification': await paced(pixgate, timeOf) }))
    const { p50Ms, p99Ms } = medianFigures(rounds.map((round) => round['event to notification']))
    return {
      figures: tableOf(rounds),
      targets: [
        { what: 'event to notification, p50, ms', value: p50Ms, atMost: 12 },
        { what: 'event to notification, p99, ms', value: p99Ms, atMost: 40 },
      ],
    }
  },
}

/** Pays charges at a fixed rate, independently of how long each takes. */
async function paced(pixgate: Pixgate, timeOf: (charge: Charge) => Promise<number>): Promise<Figures> {
  const charges = await storeCharges(pixgate, (EVENTS_PER_SECOND * (WARM_UP_MS + MEASURED_MS)) / 1_000)
  const warmUp = (EVENTS_PER_SECOND * WARM_UP_MS) / 1_000
  const startedAt = performance.now()
  const latenciesMs: Promise<number>[] = []
  for (const [index, charge] of charges.entries()) {
    await delay(Math.max(0, startedAt + (index * 1_000) / EVENTS_PER_SECOND - performance.now()))
    latenciesMs.push(timeOf(charge))
  }
  return figuresOf((await Promise.all(latenciesMs)).slice(warmUp), MEASURED_MS)
}
