import type { Benchmark } from './benchmark.ts'
import { chargeMaker } from './charges.ts'
import { inRounds, type Load, measure, ratio, tableOf } from './measure.ts'
import { startPixgate } from './pixgate.ts'
import { startYardstick } from './yardstick.ts'

const ROUNDS = 5

/** Charges created over HTTP, the bank answering at once, against a server that does nothing. */
export const cashIn: Benchmark = {
  name: 'cash-in',
  summary: 'POST /api/pix/cash-in over HTTP with the simulated bank, against a bare Fastify; T3',
  run: async (after) => {
    const bare = chargeMaker(await startYardstick(after), 'none')
    const { send, apiKey } = await startPixgate(after)
    const makeCharge = chargeMaker(send, apiKey)
    const rounds = await inRounds(ROUNDS, async () => ({
      'bare Fastify, 1': await measure(bare, from(1)),
      'cash-in, 1': await measure(makeCharge, from(1)),
      'bare Fastify, 64': await measure(bare, from(64)),
      'cash-in, 64': await measure(makeCharge, from(64)),
      'bare Fastify, 256': await measure(bare, from(256)),
      'cash-in, 256': await measure(makeCharge, from(256)),
    }))
    const speed = (callers: 64 | 256) => ({
      id: 'T3',
      what: `${callers} callers: speed against bare Fastify`,
      value: ratio(rounds, 'perSecond', `cash-in, ${callers}`, `bare Fastify, ${callers}`),
      atLeast: 0.2,
    })
    return { figures: tableOf(rounds), targets: [speed(64), speed(256)] }
  },
}

function from(callers: number): Load {
  return { callers, warmUpMs: 1_000, measuredMs: 2_000 }
}
