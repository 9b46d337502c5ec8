import { join } from 'node:path'
import { limits } from '@pixgate/spec'
import type { After } from './benchmark.ts'
import { type Call, type CallerLoad, type Callers, startCallers } from './callers.ts'
import { storeCharges } from './charges.ts'
import { bankPidOf, type Measured, measureCost, WATCHED, type Watched, watchDatabase } from './cost.ts'
import { startExchanges } from './exchanges.ts'
import { paidCharges } from './paid-charges.ts'
import { fund } from './payouts.ts'
import { type Pixgate, type PixgateOptions, startPixgate } from './pixgate.ts'
import { temporaryDirectory } from './postgres.ts'
import type { ServerProcess } from './server-process.ts'

/** What lives are measured of, and the service that each is lived at. */

/** How many payments are made at each number of callers: some seconds' worth. */
const PAYMENTS: Readonly<Record<number, number>> = { 1: 300, 16: 1_500, 64: 8_000, 256: 4_000 }

/** Requests are over so soon that it takes more of them for the kernel to count. */
const REQUESTS = 20_000

const WARM_UP = 0.25

/** Charges of which one after the other is read: in no cache of the service. */
const STORED = 100_000

/** What life is lived under: every limit is looked at and none is met. */
const LIMITED = {
  PIXGATE_RATE_LIMIT_PER_MINUTE: '1000000',
  PIXGATE_PAYMENT_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_HOUR_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_DAY_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_NIGHT_MAX_CENTS: String(limits.valueMaxCents),
  // Who is paid was paid before, by one payout: of a new recipient only so many payouts are counted.
  PIXGATE_NEW_RECIPIENT_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_NEW_RECIPIENT_HOURS: '0',
}

/** What is measured on a service of its own, so that nothing is left of the one before. */
export interface Subject {
  readonly call: Call
  /** The request of the bare server. */
  readonly bare: Call
  readonly callers: readonly number[]
  /** Whether only a process that answers requests is there. */
  readonly isApi?: boolean
  /** Starts what has the exchanges over HTTP alone. */
  readonly exchanges?: (after: After, callers: Callers) => Promise<ServerProcess>
  /** Whether its rows are written once more, alone. */
  readonly hasRows?: boolean
  /** @returns ids of charges, where the call is about some */
  prepare(pixgate: Pixgate, callers: Callers): Promise<readonly string[] | undefined>
}

const LIFE_CALLERS = [1, 16, 64, 256] as const

async function funded(pixgate: Pixgate, callers: Callers): Promise<undefined> {
  const { url, apiKey } = pixgate
  await fund(pixgate)
  await callers.run({ call: 'payout', url, apiKey, callers: 1, payments: 1 })
}

/** All of them. */
export const subjects: readonly Subject[] = [
  {
    call: 'payout',
    bare: 'payout created',
    callers: LIFE_CALLERS,
    exchanges: startExchanges,
    hasRows: true,
    prepare: funded,
  },
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

/** A service at which a subject is measured. */
export interface Living {
  readonly pixgate: Pixgate
  readonly callers: Callers
  readonly watched: Watched
  loadOf(callers: number): CallerLoad
  /** Makes so many of its payments at once as callers, after others that are not counted. */
  measure(callers: number): Promise<Measured>
  /** The same at another server. @param call that it answers */
  measureAt(server: Pick<ServerProcess, 'url' | 'pid'>, call: Call): Promise<Measured>
}

/** Starts a service for a subject. */
export async function startLiving(after: After, subject: Subject, options: PixgateOptions = {}): Promise<Living> {
  const log = join(await temporaryDirectory(after), 'log')
  const pixgate = await startPixgate(after, { settings: LIMITED, postgres: WATCHED, log, ...options })
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
    ...{ pixgate, callers, watched, loadOf },
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
