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

/** What the paying customer does meanwhile. */
const LOAD: Load = { callers: 8, warmUpMs: 1_000, measuredMs: 2_000 }

const LIMIT = 100

const DOSES = ['false signatures', 'unknown keys', 'half-open sockets', 'deepest pages'] as const

type Dose = (typeof DOSES)[number] | 'nothing'

/** Who is given the dose; `beside`: the bare one, while the customer is the service's. */
type Server = 'bare' | 'beside' | 'pixgate'

/** How long a customer waits while strangers do their worst, here and at a bare Fastify that answers them 401. */
export const strangers: Benchmark = {
  name: 'strangers',
  summary: 'what the doses of a penetration test leave a paying customer, against a bare Fastify that answers 401',
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

    async function under(dose: Dose, server: Server): Promise<Figures> {
      const path = dose === 'deepest pages' ? `/api/pix/cash-in?limit=${LIMIT}&page=${STORED / LIMIT}` : pathOf()
      // Who reads deep pages is a customer of the service, and a stranger to the yardstick.
      const key = server === 'pixgate' ? pixgate.apiKey : 'another'
      const stop = dose === 'nothing' ? undefined : await startDose(after, [dose, servers[server], path, key])
      let refusedHere = 0
      const figures = await measure(() => read(server).catch(() => refusedHere++), LOAD)
      const answers = (await stop?.()) ?? {}
      refusedHere += answers[503] ?? 0
      if (server === 'pixgate') refused[dose] = (refused[dose] ?? 0) + refusedHere
      return figures
    }

    const rounds = await inRounds(ROUNDS, async () => {
      const round: Record<string, Figures> = {}
      for (const dose of ['nothing', ...DOSES] as const) {
        for (const server of ['bare', 'beside', 'pixgate'] as const)
          round[lineOf(dose, server)] = await under(dose, server)
      }
      return round
    })
    return { figures: tableOf(rounds), targets: DOSES.flatMap((dose) => targetsOf(dose, rounds, refused)) }
  },
}

function lineOf(dose: Dose, server: Server): string {
  return `${dose}, ${server}`
}

function targetsOf(dose: Dose, rounds: readonly Record<string, Figures>[], refused: Record<string, number>): Target[] {
  const against = (server: Server) => ratio(rounds, 'p50Ms', lineOf(dose, 'pixgate'), lineOf(dose, server))
  return [
    { what: `${dose}: p50 against a bare Fastify's own customer`, value: against('bare'), atMost: 2 },
    { what: `${dose}: p50 against a dose that a bare Fastify takes`, value: against('beside'), atMost: 2 },
    { what: `${dose}: 503, and refused to the customer`, value: refused[dose] ?? 0, atMost: 0 },
  ]
}

/** Starts a dose in a process of its own. @returns ends it, and tells how often it was answered what */
async function startDose(after: After, args: readonly string[]): Promise<() => Promise<Record<string, number>>> {
  const child = fork(fileURLToPath(new URL('contestants/dose.ts', import.meta.url)), args)
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
