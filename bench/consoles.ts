import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { After, Benchmark } from './benchmark.ts'
import type { Measured } from './cost.ts'
import { type Subject, startLiving, subjects } from './lives.ts'
import { inRounds, median, ratio, tableOf } from './measure.ts'
import type { Pixgate } from './pixgate.ts'

const ROUNDS = 5

const CONSOLES = 20

/** Payouts created while twenty consoles show the overview and the list of payments, compared with none. */
export const consoles: Benchmark = {
  name: 'consoles',
  summary: 'POST /api/pix/cash-out while twenty consoles are open, against none',
  options: ['rounds'],
  run: async (after, options) => {
    const [created] = subjects.filter(({ call }) => call === 'payout created')
    let token = ''
    const subject: Subject = {
      ...(created as Subject),
      prepare: async (pixgate, callers) => {
        token = await operatorOf(pixgate)
        return created?.prepare(pixgate, callers)
      },
    }
    const { url, measure } = await startLiving(after, subject)
    const rounds = await inRounds(options.rounds ?? ROUNDS, async () => {
      const none = await measure(64)
      const close = await openConsoles(after, url, token)
      return { none, [`${CONSOLES} consoles`]: await measure(64).finally(close) }
    })
    const cpu = ({ serverUs, postgresUs }: Measured) => serverUs + postgresUs
    const watched = rounds.map((round) => round[`${CONSOLES} consoles`] as Measured)
    return {
      figures: tableOf(rounds),
      targets: [
        {
          what: 'rate relative to none',
          value: ratio(rounds as never, 'perSecond', `${CONSOLES} consoles`, 'none'),
          atLeast: 0.95,
        },
        {
          what: 'CPU time of server and PostgreSQL per payout, relative to none',
          value: median(watched.map((round, turn) => cpu(round) / cpu(rounds[turn]?.none as Measured))),
          atMost: 1.05,
        },
      ],
    }
  },
}

async function operatorOf({ send, adminToken }: Pixgate): Promise<string> {
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'Ana', role: 'viewer' })
  return JSON.parse(await send({ method: 'POST', path: '/operator/operators', headers, body })).token
}

/** Opens them in a process of their own. @returns a function that closes them */
async function openConsoles(after: After, url: string, token: string): Promise<() => Promise<void>> {
  const child = fork(fileURLToPath(new URL('contestants/consoles.ts', import.meta.url)), [url, token, String(CONSOLES)])
  const exited = once(child, 'exit')
  const close = async () => {
    if (child.connected) child.disconnect()
    await exited
  }
  after(close)
  await Promise.race([
    once(child, 'message'),
    exited.then(([code]) => Promise.reject(new Error(`the consoles ended with exit status ${code}`))),
  ])
  return close
}
