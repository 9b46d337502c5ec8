import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { After, Benchmark, Target } from './benchmark.ts'
import { storeCharges } from './charges.ts'
import { openClient } from './http-client.ts'
import { type Figures, inRounds, type Load, measure, ratio, tableOf } from './measure.ts'
import { startPixgate } from './pixgate.ts'
import { startServer } from './server-process.ts'

const ROUNDS = 5

const STORED = 400_000

/** Load of the customer with a valid key. */
const LOAD: Load = { callers: 8, warmUpMs: 1_000, measuredMs: 2_000 }

const LIMIT = 100

const ATTACKS = ['false signatures', 'unknown keys', 'half-open sockets', 'deepest pages'] as const

type Attack = (typeof ATTACKS)[number] | 'nothing'

/** Target of the attack; `beside`: the bare server, while the customer reads from the service. */
type Server = 'bare' | 'beside' | 'pixgate'

/** Latency of a customer during attacks without valid credentials, compared with a bare Fastify that answers 401. */
export const strangers: Benchmark = {
  name: 'strangers',
  summary: 'latency of a customer during attacks, against a bare Fastify that answers 401',
  run: async (after) => {
    const pixgate = await startPixgate(after)
    const charges = await storeCharges(pixgate, STORED)
    const bare = await startServer(after, ['node', 'bench/contestants/bare-401.ts'], {
      DATABASE_URL: pixgate.databaseUrl,
      CUSTOMER_KEY: pixgate.apiKey,
    })
    const headers = { authorization: `Bearer ${pixgate.apiKey}` }
    const pathOf = () => `/api/pix/cash-in/${charges[Math.floor(Math.random() * charges.length)]?.id}`
    const servers = { bare: bare.url, beside: bare.url, pixgate: pixgate.url }
    const customers = { bare: openClient(after, bare.url), beside: pixgate.send, pixgate: pixgate.send }
    const refused: Record<string, number> = {}
    const read = (server: Server) => customers[server]({ method: 'GET', path: pathOf(), headers })

    async function under(attack: Attack, server: Server): Promise<Figures> {
      const path = attack === 'deepest pages' ? `/api/pix/cash-in?limit=${LIMIT}&page=${STORED / LIMIT}` : pathOf()
      // Deep pages are read with a valid key of the service; the bare server refuses it.
      const key = server === 'pixgate' ? pixgate.apiKey : 'another'
      const stop = attack === 'nothing' ? undefined : await startAttack(after, [attack, servers[server], path, key])
      let refusedHere = 0
      const figures = await measure(() => read(server).catch(() => refusedHere++), LOAD)
      const answers = (await stop?.()) ?? {}
      refusedHere += answers[503] ?? 0
      if (server === 'pixgate') refused[attack] = (refused[attack] ?? 0) + refusedHere
      return figures
    }

    const rounds = await inRounds(ROUNDS, async () => {
      const round: Record<string, Figures> = {}
      for (const attack of ['nothing', ...ATTACKS] as const) {
        for (const server of ['bare', 'beside', 'pixgate'] as const)
          round[lineOf(attack, server)] = await under(attack, server)
      }
      return round
    })
    return { figures: tableOf(rounds), targets: ATTACKS.flatMap((attack) => targetsOf(attack, rounds, refused)) }
  },
}

function lineOf(attack: Attack, server: Server): string {
  return `${attack}, ${server}`
}

function targetsOf(
  attack: Attack,
  rounds: readonly Record<string, Figures>[],
  refused: Record<string, number>,
): Target[] {
  const against = (server: Server) => ratio(rounds, 'p50Ms', lineOf(attack, 'pixgate'), lineOf(attack, server))
  return [
    { what: `${attack}: p50 relative to the bare server's customer`, value: against('bare'), atMost: 2 },
    { what: `${attack}: p50 relative to an attack on the bare server`, value: against('beside'), atMost: 2 },
    { what: `${attack}: answers 503, and refusals of the customer`, value: refused[attack] ?? 0, atMost: 0 },
  ]
}

/** Starts an attack in a process of its own. @returns a function that ends it and returns the number of answers by status */
async function startAttack(after: After, args: readonly string[]): Promise<() => Promise<Record<string, number>>> {
  const child = fork(fileURLToPath(new URL('contestants/attack.ts', import.meta.url)), args)
  const exited = once(child, 'exit')
  const end = async () => {
    if (child.connected) child.disconnect()
    await exited
  }
  after(end)
  await once(child, 'message')
  return async () => {
    child.send('stop')
    const [answers] = await once(child, 'message')
    await end()
    return answers
  }
}
