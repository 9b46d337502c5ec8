import { randomBytes } from 'node:crypto'
import { createCashIn } from '@pixgate/spec'
import { Pool } from 'undici'
import type { After, Benchmark, Findings } from './benchmark.ts'
import { type Figures, inRounds, type Load, measure, median, medianFigures } from './measure.ts'
import { temporaryDirectory } from './postgres.ts'
import { startServer } from './server-process.ts'

const ROUNDS = 5

/** Charges created over HTTP, the bank answering at once, against a server that does nothing. */
export const cashIn: Benchmark = {
  name: 'cash-in',
  summary: 'POST /api/pix/cash-in over HTTP with the simulated bank, against a bare Fastify; T3',
  run: async (after) => {
    const bare = await startBare(after)
    const pixgate = await startPixgate(after)
    const rounds = await inRounds(ROUNDS, async () => ({
      'bare Fastify, 1': await measure(bare, from(1)),
      'cash-in, 1': await measure(pixgate, from(1)),
      'bare Fastify, 64': await measure(bare, from(64)),
      'cash-in, 64': await measure(pixgate, from(64)),
    }))
    return findings(rounds)
  },
}

type Round = Readonly<Record<'bare Fastify, 1' | 'cash-in, 1' | 'bare Fastify, 64' | 'cash-in, 64', Figures>>

function from(callers: number): Load {
  return { callers, warmUpMs: 1_000, measuredMs: 2_000 }
}

function findings(rounds: readonly Round[]): Findings {
  const names = Object.keys(rounds[0] ?? {}) as (keyof Round)[]
  return {
    figures: names.map((name) => ({
      'who, callers': name,
      ...medianFigures(rounds.map((round) => round[name])),
    })),
    targets: [
      {
        id: 'T3',
        what: '64 callers: speed against bare Fastify',
        value: median(rounds.map((round) => round['cash-in, 64'].perSecond / round['bare Fastify, 64'].perSecond)),
        atLeast: 0.2,
      },
    ],
  }
}

async function startBare(after: After): Promise<() => Promise<void>> {
  const { url } = await startServer(after, ['node', 'bench/contestants/bare-fastify.ts'])
  return caller(after, url, 'none')
}

async function startPixgate(after: After): Promise<() => Promise<void>> {
  const adminToken = randomBytes(32).toString('base64url')
  const { url } = await startServer(after, ['node', 'packages/server/src/main.ts'], {
    PIXGATE_DATA_DIR: await temporaryDirectory(after),
    PIXGATE_SIMULATOR_PORT: '0',
    PIXGATE_ADMIN_TOKEN: adminToken,
    PIXGATE_RATE_LIMIT_PER_MINUTE: '0',
  })
  const answer = await fetch(`${url}/api-key/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}` },
  })
  const { apiKey } = (await answer.json()) as { apiKey: string }
  return caller(after, url, apiKey)
}

/** Creates one charge a call, over connections that are kept. */
function caller(after: After, url: string, apiKey: string): () => Promise<void> {
  const pool = new Pool(url, { connections: 64 })
  after(() => pool.close())
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const { transaction, payer } = createCashIn.example
  let orders = 0
  return async () => {
    orders += 1
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: createCashIn.path,
      headers,
      body: JSON.stringify({ transaction: { ...transaction, externalId: `order-${orders}` }, payer }),
    })
    const text = await body.text()
    if (statusCode !== 201) throw new Error(`${statusCode} ${text}`)
  }
}
