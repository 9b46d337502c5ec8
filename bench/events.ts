import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark } from './benchmark.ts'
import { chargeMaker, storeCharges } from './charges.ts'
import { inRounds, measure, median, ratio, tableOf } from './measure.ts'
import { payer } from './payments.ts'
import { type Pixgate, startPixgate } from './pixgate.ts'
import { startYardstick } from './yardstick.ts'

const ROUNDS = 5

/** More than a round can pay. */
const STORED = 100_000

const LOAD = { callers: 64, warmUpMs: 1_000, measuredMs: 2_000 }

/** The bank's events: how fast they are accepted, which is when they are committed, and how fast they are applied. */
export const events: Benchmark = {
  name: 'events',
  summary: 'the bank tells of payments: events accepted, against a bare Fastify, and applied; T5',
  run: async (after) => {
    const bare = chargeMaker(await startYardstick(after), 'none')
    const pixgate = await startPixgate(after)
    const pay = payer(pixgate)
    const rounds = await inRounds(ROUNDS, async () => {
      const charges = await storeCharges(pixgate, STORED)
      const roundBeganAt = new Date()
      const measured = {
        'bare Fastify, 64': await measure(bare, LOAD),
        'events accepted, 64': await measure(() => pay(charges.pop() ?? fail()), LOAD),
      }
      return { measured, appliedPerSecond: await appliedPerSecond(pixgate, roundBeganAt) }
    })
    const measured = rounds.map((round) => round.measured)
    const applied = median(rounds.map((round) => round.appliedPerSecond))
    return {
      figures: [...tableOf(measured), { 'who, callers': 'events applied', perSecond: applied }],
      targets: [
        {
          id: 'T5',
          what: '64 callers: events accepted, against bare Fastify',
          value: ratio(measured, 'perSecond', 'events accepted, 64', 'bare Fastify, 64'),
          atLeast: 0.4,
        },
        { id: 'T5', what: 'events applied a second', value: applied, atLeast: 3_000 },
      ],
    }
  },
}

function fail(): never {
  throw new Error(`a round paid all ${STORED} charges`)
}

const POLL_MS = 100

const APPLIED = `
SELECT count(*) FILTER (WHERE e.processed_at IS NULL)::integer AS open,
       count(*) FILTER (WHERE e.outcome <> 'APPLIED')::integer AS other,
       (count(*) / extract(epoch FROM max(e.processed_at) - min(i.received_at)))::float AS "perSecond"
  FROM inbox_event e JOIN inbox i ON i.id = e.inbox_id
 WHERE i.received_at > $1`

/** A round's events, from the first one's arrival until the state, ledger and notification of all were committed. */
async function appliedPerSecond({ database }: Pixgate, roundBeganAt: Date): Promise<number> {
  for (;;) {
    const [round] = (await database.query(APPLIED, [roundBeganAt])).rows
    if (round.open === 0 && round.other === 0) return round.perSecond
    if (round.open === 0) throw new Error(`${round.other} payments were not applied`)
    await delay(POLL_MS)
  }
}
