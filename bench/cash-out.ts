import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { After, Benchmark, Target } from './benchmark.ts'
import { openEngine } from './contestants/engine.ts'
import { fund as fundCommand } from './contestants/reserve.ts'
import { openClient } from './http-client.ts'
import { type Figures, from, inRounds, type Load, measure, medianFigures, ratio, tableOf } from './measure.ts'
import { fund, payoutMaker } from './payouts.ts'
import { type Pixgate, type Process, startPixgate } from './pixgate.ts'
import { startPostgres } from './postgres.ts'
import { startBareFastify, startServer } from './server-process.ts'
import { twoProcessTargets } from './two-processes.ts'

const ROUNDS = 5

const MEMORY_LOAD: Load = { callers: 64, warmUpMs: 0, measuredMs: 60_000 }

const SAMPLE_MS = 1_000

/** Payouts created over HTTP from one balance, compared with a bare server and with one transaction per request. */
export const cashOut: Benchmark = {
  name: 'cash-out',
  summary: 'POST /api/pix/cash-out over HTTP, one balance, against bare Fastify and one transaction per request',
  run: async (after) => {
    const bare = payoutMaker(openClient(after, (await startBareFastify(after)).url), 'none')
    const transaction = await startTransactions(after)
    const pixgate = await startPixgate(after)
    await fund(pixgate)
    const dispatched = await measureDispatched(bare, pixgate)

    // From here on no worker sends the payouts to the bank.
    await pixgate.stop()
    const [one, other] = [await pixgate.startApi(), await pixgate.startApi()]
    const payouts = { bare, transaction, one: payoutMakerOf(one), other: payoutMakerOf(other) }
    await pixgate.database.query('CHECKPOINT')
    const rounds = await inRounds(ROUNDS, () => measureRound(payouts))
    const memory = await memoryUnder(payouts.one, one.pid)
    return {
      figures: [
        ...tableOf(rounds),
        ...tableOf(dispatched),
        { 'load, callers': 'memory of the service, 64', ...memory },
      ],
      targets: [
        ...createTargets(rounds),
        sentTarget(rounds, dispatched),
        ...twoProcessTargets('cash-out', rounds),
        ...memoryTargets(memory),
      ],
    }
  },
}

type Call = () => Promise<unknown>

function payoutMakerOf({ send, apiKey }: Process): Call {
  return payoutMaker(send, apiKey)
}

async function startTransactions(after: After): Promise<Call> {
  const databaseUrl = await (await startPostgres(after))('transactions')
  const { engine, database } = openEngine(databaseUrl)
  await engine.execute(fundCommand())
  await database.close()
  const { url } = await startServer(after, ['node', 'bench/contestants/transaction-server.ts'], {
    DATABASE_URL: databaseUrl,
  })
  return payoutMaker(openClient(after, url), 'none')
}

/** The measurements of a round, in this order. */
interface Round {
  readonly 'transaction, 1': Figures
  readonly 'cash-out, 1': Figures
  readonly 'transaction, 64': Figures
  readonly 'bare Fastify, 64': Figures
  readonly 'cash-out, 64': Figures
  readonly 'bare Fastify, 256': Figures
  readonly 'cash-out, 256': Figures
  readonly 'cash-out, 256 beside 1': Figures
  readonly 'cash-out, 1 beside 256': Figures
  readonly 'cash-out, 256 beside 256': Figures
  readonly 'cash-out, the other 256': Figures
}

async function measureRound({ bare, transaction, one, other }: Record<'bare' | 'transaction' | 'one' | 'other', Call>) {
  const apart = {
    'transaction, 1': await measure(transaction, from(1)),
    'cash-out, 1': await measure(one, from(1)),
    'transaction, 64': await measure(transaction, from(64)),
    'bare Fastify, 64': await measure(bare, from(64)),
    'cash-out, 64': await measure(one, from(64)),
    'bare Fastify, 256': await measure(bare, from(256)),
    'cash-out, 256': await measure(one, from(256)),
  }
  const [busy, quiet] = await Promise.all([measure(one, from(256)), measure(other, from(1))])
  const [first, second] = await Promise.all([measure(one, from(256)), measure(other, from(256))])
  return {
    ...apart,
    'cash-out, 256 beside 1': busy,
    'cash-out, 1 beside 256': quiet,
    'cash-out, 256 beside 256': first,
    'cash-out, the other 256': second,
  } satisfies Round
}

/**
 * Measures creates while the same process sends payouts to a bank that confirms at once. The payouts of 64 callers are sent
 * before the measurement of one caller, which then competes with its own payouts only.
 */
function measureDispatched(bare: Call, pixgate: Pixgate) {
  const payout = payoutMaker(pixgate.send, pixgate.apiKey)
  return inRounds(ROUNDS, async () => {
    const many = {
      'bare Fastify before dispatch, 64': await measure(bare, from(64)),
      'cash-out and dispatch, 64': await measure(payout, from(64)),
    }
    await allSent(pixgate)
    return { ...many, 'cash-out and dispatch, 1': await measure(payout, from(1)) }
  })
}

const POLL_MS = 200

/** Resolves when all payouts are final and all notifications are fanned out. */
async function allSent({ database }: Pixgate): Promise<void> {
  const underWay = `SELECT FROM operation WHERE kind = 'cash_out' AND due_at IS NOT NULL
     UNION ALL SELECT FROM notification WHERE fanned_out_at IS NULL LIMIT 1`
  while ((await database.query(underWay)).rowCount !== 0) await delay(POLL_MS)
}

/** Resident memory of a process, in megabytes. */
type Memory = Readonly<Record<'startMb' | 'endMb' | 'highestMb', number>>

async function memoryUnder(payout: Call, pid: number): Promise<Memory> {
  const samples: number[] = []
  const done = new AbortController()
  const measured = measure(payout, MEMORY_LOAD).finally(() => done.abort())
  while (!done.signal.aborted) {
    samples.push(await residentMb(pid))
    await delay(SAMPLE_MS, undefined, { signal: done.signal }).catch(() => undefined)
  }
  await measured
  return {
    startMb: samples[0] ?? Number.NaN,
    endMb: samples.at(-1) ?? Number.NaN,
    highestMb: Math.max(...samples),
  }
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) / 1_024
}

function createTargets(rounds: readonly Round[]): Target[] {
  const { p99Ms } = medianFigures(rounds.map((round) => round['cash-out, 64']))
  const bare = medianFigures(rounds.map((round) => round['bare Fastify, 64']))
  return [
    {
      what: '64 callers: rate relative to bare Fastify',
      value: ratio(rounds, 'perSecond', 'cash-out, 64', 'bare Fastify, 64'),
      atLeast: 0.4,
    },
    {
      what: '256 callers: rate relative to bare Fastify',
      value: ratio(rounds, 'perSecond', 'cash-out, 256', 'bare Fastify, 256'),
      atLeast: 0.6,
    },
    {
      what: '64 callers: rate relative to one transaction per request',
      value: ratio(rounds, 'perSecond', 'cash-out, 64', 'transaction, 64'),
      atLeast: 8,
    },
    { what: '64 callers: p99, ms', value: p99Ms, atMost: Math.max(40, 2 * bare.p99Ms) },
    {
      what: 'one caller: p50 relative to a transaction',
      value: ratio(rounds, 'p50Ms', 'cash-out, 1', 'transaction, 1'),
      atMost: 1.3,
    },
  ]
}

/** From different rounds, since one process cannot have both roles. */
function sentTarget(rounds: readonly Round[], dispatched: readonly { 'cash-out and dispatch, 1': Figures }[]): Target {
  const sent = medianFigures(dispatched.map((round) => round['cash-out and dispatch, 1']))
  const unsent = medianFigures(rounds.map((round) => round['cash-out, 1']))
  return {
    what: 'one caller while its payouts are sent: p50 relative to creates alone',
    value: sent.p50Ms / unsent.p50Ms,
    atMost: 2,
  }
}

function memoryTargets({ highestMb }: Memory): Target[] {
  return [{ what: 'highest resident memory within a minute, MB', value: highestMb, atMost: 250 }]
}
