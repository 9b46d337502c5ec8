import { getCashInReceipt, limits, listCashIns } from '@pixgate/spec'
import type { Benchmark } from './benchmark.ts'
import { type CallerLoad, startCallers } from './callers.ts'
import { type Measured, measureCost } from './cost.ts'
import { inRounds, median, tableOf } from './measure.ts'
import { fund } from './payouts.ts'
import { startPixgate } from './pixgate.ts'

const ROUNDS = 5

const ASKED = 1_000

/** Some seconds at 64 callers. */
const PAYOUTS = 20_000

/** Payouts created while many receipts are asked for at once, compared with the same payouts alone. */
export const receipts: Benchmark = {
  name: 'receipts',
  summary: 'POST /api/pix/cash-out while 1,000 receipts are asked for at once, against without them',
  options: ['rounds'],
  run: async (after, { rounds: count = ROUNDS }) => {
    const pixgate = await startPixgate(after)
    const callers = await startCallers(after)
    await fund(pixgate)
    const headers = { authorization: `Bearer ${pixgate.apiKey}` }
    const { data } = JSON.parse(await pixgate.send({ method: 'GET', path: listCashIns.path, headers }))
    await pixgate.stop()
    const { url, apiKey, pid, send } = await pixgate.startApi()
    const path = getCashInReceipt.path.replace('{id}', data[0].id)
    const load: CallerLoad = { call: 'payout created', url, apiKey, callers: 64, payments: PAYOUTS }
    const made: number[] = []

    /** Asks at once. @returns the number of receipts made; the others are refused */
    async function askForReceipts(): Promise<void> {
      const asked = Array.from({ length: ASKED }, () =>
        send({ method: 'GET', path, headers }).then(Boolean, () => false),
      )
      made.push((await Promise.all(asked)).filter(Boolean).length)
    }

    async function create(beside: () => Promise<void>): Promise<Measured> {
      return measureCost({ serverPid: pid, clientPid: callers.pid }, PAYOUTS, async () => {
        const [figures] = await Promise.all([callers.run(load), beside()])
        return figures
      })
    }

    const alone = () => create(async () => undefined)
    const beside = () => create(askForReceipts)
    await beside()
    const rounds = await inRounds(count, async () => ({ alone: await alone(), 'beside receipts': await beside() }))
    const relative = (figure: 'serverUs' | 'perSecond') =>
      median(rounds.map((round) => round['beside receipts'][figure] / round.alone[figure]))
    const cpuOf = (name: 'alone' | 'beside receipts') => median(rounds.map((round) => round[name].serverUs))
    return {
      figures: [
        ...tableOf(rounds),
        { 'load, callers': 'CPU of a payout, µs', alone: cpuOf('alone'), 'beside receipts': cpuOf('beside receipts') },
        { 'load, callers': `receipts made of ${ASKED}`, least: Math.min(...made) },
      ],
      targets: [
        { what: 'CPU time of a payout relative to without receipts', value: relative('serverUs'), atMost: 1.1 },
        { what: 'rate of payouts relative to without receipts', value: relative('perSecond'), atLeast: 0.9 },
        { what: 'receipts made of those asked for', value: Math.min(...made), atLeast: limits.receiptsWaiting },
      ],
    }
  },
}
