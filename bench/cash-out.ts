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
import { startServer } from './server-process.ts'
import { twoProcessTargets } from './two-processes.ts'
import { startYardstick } from './yardstick.ts'

const ROUNDS = 5

const MEMORY_LOAD: Load = { callers: 64, warmUpMs: 0, measuredMs: 60_000 }

const SAMPLE_MS = 1_000

/** Payouts created over HTTP from one balance: against a server that does nothing, and a transaction for each. */
export const cashOut: Benchmark = {
  name: 'cash-out',
  summary: 'POST /api/pix/cash-out over HTTP, one balance, against a bare Fastify and transactions; T1, T2, T7b, T9',
  run: async (after) => {
    const bare = payoutMaker(await startYardstick(after), 'none')
    const transaction = await startTransactions(after)
    const pixgate = await startPixgate(after)
    await fund(pixgate)
    const dispatched = await measureDispatched(bare, pixgate)

    // From here on payouts are only made: nobody is there who sends them to the bank.
    await pixgate.stop()
    const [one, other] = [await pixgate.startApi(), await pixgate.startApi()]
    const payouts = { bare, transaction, one: payoutMakerOf(one), other: payoutMakerOf(other) }
    await pixgate.database.query('CHECKPOINT')
    const rounds = await inRounds(ROUNDS, () => measureRound(payouts))
    const memory = await memoryUnder(payouts.one, one.pid)
    return {
      figures: [...tableOf(rounds), ...tableOf(dispatched), { 'who, callers': 'memory of the service, 64', ...memory }],
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

/** What one round measures, in this order: what is compared stands side by side. */
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
 * The same as a service does it that also sends what it has made, to a bank that pays and tells at once. What many callers have made
 * is sent before one caller is measured, whose own payouts are what it is to wait beside.
 */
function measureDispatched(bare: Call, pixgate: Pixgate) {
  const payout = payoutMaker(pixgate.send, pixgate.apiKey)
  return inRounds(ROUNDS, async () => {
    const many = {
      'bare Fastify beside, 64': await measure(bare, from(64)),
      'cash-out and dispatch, 64': await measure(payout, from(64)),
    }
    await allSent(pixgate)
    return { ...many, 'cash-out and dispatch, 1': await measure(payout, from(1)) }
  })
}

const LOOK_MS = 200

/** Resolves when every payout has its outcome, and every notification is on its way. */
async function allSent({ database }: Pixgate): Promise<void> {
  const underWay = `SELECT FROM operation WHERE kind = 'cash_out' AND due_at IS NOT NULL
     UNION ALL SELECT FROM notification WHERE fanned_out_at IS NULL LIMIT 1`
  while ((await database.query(underWay)).rowCount !== 0) await delay(LOOK_MS)
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
      id: 'T1',
      what: '64 callers: speed against bare Fastify',
      value: ratio(rounds, 'perSecond', 'cash-out, 64', 'bare Fastify, 64'),
      atLeast: 0.4,
    },
    {
      id: 'T1',
      what: '256 callers: speed against bare Fastify',
      value: ratio(rounds, 'perSecond', 'cash-out, 256', 'bare Fastify, 256'),
      atLeast: 0.6,
    },
    {
      id: 'T1',
      what: '64 callers: speed against a transaction each',
      value: ratio(rounds, 'perSecond', 'cash-out, 64', 'transaction, 64'),
      atLeast: 8,
    },
    { id: 'T1', what: '64 callers: milliseconds, p99', value: p99Ms, atMost: Math.max(40, 2 * bare.p99Ms) },
    {
      id: 'T2',
      what: 'one caller: latency against a transaction',
      value: ratio(rounds, 'p50Ms', 'cash-out, 1', 'transaction, 1'),
      atMost: 1.3,
    },
  ]
}

/** The two are not of the same rounds: one process cannot be both. */
function sentTarget(rounds: readonly Round[], dispatched: readonly { 'cash-out and dispatch, 1': Figures }[]): Target {
  const sent = medianFigures(dispatched.map((round) => round['cash-out and dispatch, 1']))
  const unsent = medianFigures(rounds.map((round) => round['cash-out, 1']))
  return {
    what: 'one caller while its payouts are sent: p50 against nothing being sent',
    value: sent.p50Ms / unsent.p50Ms,
    atMost: 2,
  }
}

function memoryTargets({ highestMb }: Memory): Target[] {
  return [{ id: 'T9', what: 'megabytes of resident memory, at most in a minute', value: highestMb, atMost: 250 }]
}
