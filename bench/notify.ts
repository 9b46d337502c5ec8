import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark } from './benchmark.ts'
import { type Charge, storeCharges } from './charges.ts'
import { type Figures, figuresOf, inRounds, medianFigures, tableOf } from './measure.ts'
import { startMerchant } from './merchant.ts'
import { payer } from './payments.ts'
import { type Pixgate, startPixgate } from './pixgate.ts'

const ROUNDS = 3

const EVENTS_PER_SECOND = 300

const WARM_UP_MS = 2_000

const MEASURED_MS = 10_000

/** From the bank's word that a charge was paid to the merchant who is told of it, at a steady rate of payments. */
export const notify: Benchmark = {
  name: 'notify',
  summary: `from the bank's event to the notification at the merchant's server, ${EVENTS_PER_SECOND} a second; T6`,
  run: async (after) => {
    const pixgate = await startPixgate(after)
    const merchant = await startMerchant(after, pixgate)
    const pay = payer(pixgate)
    const tellPaid = async (charge: Charge) => {
      const sentAt = performance.now()
      const [notifiedAt] = await Promise.all([merchant.notified(charge.id), pay(charge)])
      return notifiedAt - sentAt
    }
    const rounds = await inRounds(ROUNDS, async () => ({ 'event to notification': await paced(pixgate, tellPaid) }))
    const { p50Ms, p99Ms } = medianFigures(rounds.map((round) => round['event to notification']))
    return {
      figures: tableOf(rounds),
      targets: [
        { id: 'T6', what: 'milliseconds from event to notification, p50', value: p50Ms, atMost: 25 },
        { id: 'T6', what: 'milliseconds from event to notification, p99', value: p99Ms, atMost: 100 },
        { id: 'T6', what: 'the same as raised, p50', value: p50Ms, atMost: 12 },
        { id: 'T6', what: 'the same as raised, p99', value: p99Ms, atMost: 40 },
      ],
    }
  },
}

/** Pays charges one after the other at an even pace, however long each takes. */
async function paced(pixgate: Pixgate, tellPaid: (charge: Charge) => Promise<number>): Promise<Figures> {
  const charges = await storeCharges(pixgate, (EVENTS_PER_SECOND * (WARM_UP_MS + MEASURED_MS)) / 1_000)
  const warmUp = (EVENTS_PER_SECOND * WARM_UP_MS) / 1_000
  const startedAt = performance.now()
  const latenciesMs: Promise<number>[] = []
  for (const [index, charge] of charges.entries()) {
    await delay(Math.max(0, startedAt + (index * 1_000) / EVENTS_PER_SECOND - performance.now()))
    latenciesMs.push(tellPaid(charge))
  }
  return figuresOf((await Promise.all(latenciesMs)).slice(warmUp), MEASURED_MS)
}
