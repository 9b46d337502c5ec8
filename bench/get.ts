import type { Benchmark } from './benchmark.ts'
import { chargeMaker, storeCharges } from './charges.ts'
import { inRounds, measure, ratio, tableOf } from './measure.ts'
import { startPixgate } from './pixgate.ts'
import { startYardstick } from './yardstick.ts'

const ROUNDS = 5

const STORED = 100_000

const LOAD = { callers: 64, warmUpMs: 1_000, measuredMs: 2_000 }

/** Charges read by id, any of many, against a server that does nothing. */
export const get: Benchmark = {
  name: 'get',
  summary: 'GET /api/pix/cash-in/{id} over HTTP, against a bare Fastify; T4',
  run: async (after) => {
    const bare = chargeMaker(await startYardstick(after), 'none')
    const pixgate = await startPixgate(after)
    const charges = await storeCharges(pixgate, STORED)
    const headers = { authorization: `Bearer ${pixgate.apiKey}` }
    const getCharge = () => {
      const charge = charges[Math.floor(Math.random() * charges.length)]
      return pixgate.send({ method: 'GET', path: `/api/pix/cash-in/${charge?.id}`, headers })
    }
    const rounds = await inRounds(ROUNDS, async () => ({
      'GET by id, 1': await measure(getCharge, { ...LOAD, callers: 1 }),
      'bare Fastify, 64': await measure(bare, LOAD),
      'GET by id, 64': await measure(getCharge, LOAD),
    }))
    return {
      figures: tableOf(rounds),
      targets: [
        {
          id: 'T4',
          what: '64 callers: speed against bare Fastify',
          value: ratio(rounds, 'perSecond', 'GET by id, 64', 'bare Fastify, 64'),
          atLeast: 0.5,
        },
      ],
    }
  },
}
