import { join } from 'node:path'
import { limits } from '@pixgate/spec'
import type { After } from './benchmark.ts'
import { type Call, type CallerLoad, type Callers, startCallers } from './callers.ts'
import { paidCharges, storeCharges } from './charges.ts'
import { bankPidOf, COUNTING, type Measured, measureCost, type Watched, watchDatabase } from './cost.ts'
import { fund } from './payouts.ts'
import { type Pixgate, type PixgateOptions, startPixgate } from './pixgate.ts'
import { temporaryDirectory } from './postgres.ts'
import type { ServerProcess } from './server-process.ts'

/** Payments by number of callers: a few seconds each. */
const PAYMENTS: Readonly<Record<number, number>> = { 1: 300, 16: 1_500, 64: 8_000, 256: 4_000 }

/** Single requests are short; the kernel's counters need more of them. */
const REQUESTS = 20_000

const WARM_UP = 0.25

/** Charges to read, in no cache of the service. */
const STORED = 100_000

/** Limits that are checked and never reached. */
const LIMITS = {
  PIXGATE_RATE_LIMIT_PER_MINUTE: '1000000',
  PIXGATE_PAYMENT_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_HOUR_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_DAY_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_NIGHT_MAX_CENTS: String(limits.valueMaxCents),
  // The recipient counts as paid before from the first payout on.
  PIXGATE_NEW_RECIPIENT_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_NEW_RECIPIENT_HOURS: '0',
}

/** A kind of call, measured on a service of its own. */
export interface Subject {
  readonly call: Call
  /** The request that the bare server answers. */
  readonly bare: Call
  readonly callers: readonly number[]
  /** Whether the service has the role `api` only. */
  readonly isApi?: boolean
  /** @returns ids of charges for the call, if it needs any */
  prepare(pixgate: Pixgate, callers: Callers): Promise<readonly string[] | undefined>
}

const LIFE_CALLERS = [1, 16, 64, 256] as const

async function funded(pixgate: Pixgate, callers: Callers): Promise<undefined> {
  const { url, apiKey } = pixgate
  await fund(pixgate)
  await callers.run({ call: 'payout', url, apiKey, callers: 1, payments: 1 })
}

export const subjects: readonly Subject[] = [
  { call: 'payout', bare: 'payout created', callers: LIFE_CALLERS, prepare: funded },
  { call: 'charge', bare: 'charge created', callers: LIFE_CALLERS, prepare: async () => undefined },
  { call: 'refund', bare: 'refund created', callers: LIFE_CALLERS, prepare: paidCharges },
  { call: 'payout created', bare: 'payout created', callers: [64], isApi: true, prepare: funded },
  {
    call: 'GET by id',
    bare: 'charge created',
    callers: [64],
    prepare: async (pixgate) => (await storeCharges(pixgate, STORED)).map(({ id }) => id),
  },
]

/** A running service with callers. */
export interface Living {
  readonly url: string
  readonly watched: Watched
  /** Measures the subject with a number of callers, after a warm-up. */
  measure(callers: number): Promise<Measured>
  /** Measures a call at another server with 64 callers. */
  measureAt(server: Pick<ServerProcess, 'url' | 'pid'>, call: Call): Promise<Measured>
}

export async function startLiving(after: After, subject: Subject, options: PixgateOptions = {}): Promise<Living> {
  const log = join(await temporaryDirectory(after), 'log')
  const pixgate = await startPixgate(after, { settings: LIMITS, postgres: COUNTING, log, ...options })
  const callers = await startCallers(after)
  const database = await watchDatabase(after, pixgate)
  await callers.subscribeTo(pixgate)
  const charges = await subject.prepare(pixgate, callers)
  if (subject.isApi) await pixgate.stop()
  const { url, pid, apiKey } = subject.isApi ? await pixgate.startApi() : pixgate
  await database.client.query('CHECKPOINT')

  const bankPid = subject.isApi ? undefined : bankPidOf(pixgate)
  const watched = { serverPid: pid, clientPid: callers.pid, bankPid, database }
  const loadOf = (count: number): CallerLoad => ({
    ...{ call: subject.call, url, apiKey, callers: count, payments: paymentsOf(subject, count) },
    ...(charges && { charges }),
  })
  return {
    url,
    watched,
    measure: (count) => measureWarm(callers, watched, loadOf(count)),
    measureAt: (server, call) => {
      const load = { ...loadOf(64), call, url: server.url, payments: REQUESTS }
      return measureWarm(callers, { serverPid: server.pid, clientPid: callers.pid }, load)
    },
  }
}

function paymentsOf({ call }: Subject, callers: number): number {
  return call === 'payout created' || call === 'GET by id' ? REQUESTS : (PAYMENTS[callers] ?? callers * 20)
}

async function measureWarm(callers: Callers, watched: Watched, load: CallerLoad): Promise<Measured> {
  await callers.run({ ...load, payments: Math.ceil(load.payments * WARM_UP) })
  return measureCost(watched, load.payments, () => callers.run(load))
}
