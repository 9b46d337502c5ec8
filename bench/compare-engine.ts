import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { median } from './measure.ts'

/**
 * `node bench/compare-engine.ts <another checkout> [rounds]`: what a payout's life costs at the engine here and there, in
 * interleaved rounds: CPU time of the process and of PostgreSQL, and bytes of its log. Costs survive a busy machine, rates do
 * not. The other checkout needs its packages installed.
 */

/** How much is to be done. */
export interface CostRequest {
  readonly callers: number
  readonly payments: number
}

/** What it cost the process that did it. */
export interface Cost {
  readonly cpuUs: number
}

/** What a payment cost. */
interface PaymentCost {
  readonly nodeUs: number
  readonly postgresUs: number
  readonly walBytes: number
}

const CONTESTANT = fileURLToPath(new URL('contestants/payout-life.ts', import.meta.url))
const LOADS: readonly CostRequest[] = [
  { callers: 1, payments: 600 },
  { callers: 64, payments: 4_000 },
]

const stops: (() => Promise<unknown>)[] = []
const here = resolve(fileURLToPath(new URL('..', import.meta.url)))
const there = resolve(process.argv[2] ?? '')
const rounds = Number(process.argv[3] ?? 10)

async function contestant(root: string, name: string) {
  const { startPostgres } = (await import(`${root}/bench/postgres.ts`)) as typeof import('./postgres.ts')
  const url = await (await startPostgres((stop) => stops.push(stop)))(name)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  stops.push(() => client.end())
  const [{ directory }] = (await client.query('SHOW data_directory')).rows.map(({ data_directory }) => ({
    directory: data_directory as string,
  })) as [{ directory: string }]
  const postmaster = Number(readFileSync(`${directory}/postmaster.pid`, 'utf8').split('\n')[0])
  const child = fork(CONTESTANT, [root, url])
  stops.push(async () => child.connected && child.disconnect())
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`${name} ended with exit status ${code}`)),
  )
  ended.catch(() => undefined)
  const heard = async () => (await Promise.race([once(child, 'message'), ended]))[0]
  await heard()
  const wal = async () =>
    Number((await client.query(`SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes`)).rows[0].bytes)
  return async (load: CostRequest): Promise<PaymentCost> => {
    await client.query('CHECKPOINT')
    const [walBefore, cpuBefore] = [await wal(), cpuOf(postmaster)]
    child.send(load)
    const { cpuUs } = (await heard()) as Cost
    return {
      nodeUs: cpuUs / load.payments,
      postgresUs: (cpuOf(postmaster) - cpuBefore) / load.payments,
      walBytes: ((await wal()) - walBefore) / load.payments,
    }
  }
}

/** CPU time of a postmaster and its children that live, and of those that have ended, microseconds. */
function cpuOf(postmaster: number): number {
  const TICK_US = 10_000
  const ticks = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ')
          .map(Number)
        const [, parent] = fields
        if (Number(pid) !== postmaster && parent !== postmaster) return []
        return [
          (fields[11] ?? 0) +
            (fields[12] ?? 0) +
            (Number(pid) === postmaster ? (fields[13] ?? 0) + (fields[14] ?? 0) : 0),
        ]
      } catch {
        return []
      }
    })
  return ticks.reduce((sum, one) => sum + one, 0) * TICK_US
}

try {
  const contestants = { before: await contestant(there, 'before'), after: await contestant(here, 'after') }
  for (const load of LOADS) {
    const measured: { readonly before: PaymentCost; readonly after: PaymentCost }[] = []
    for (const run of Object.values(contestants)) await run({ ...load, payments: load.payments / 5 })
    for (let round = 0; round < rounds; round++) {
      measured.push({ before: await contestants.before(load), after: await contestants.after(load) })
    }
    const line = (cost: keyof PaymentCost) => ({
      before: Math.round(median(measured.map(({ before }) => before[cost]))),
      after: Math.round(median(measured.map(({ after }) => after[cost]))),
      ratio: median(measured.map(({ before, after }) => after[cost] / before[cost])).toFixed(3),
    })
    console.log(`${load.callers} callers, ${rounds} rounds of ${load.payments} payouts, medians of a payout`)
    console.table({
      'node, µs of CPU': line('nodeUs'),
      'PostgreSQL, µs of CPU': line('postgresUs'),
      'PostgreSQL’s log, bytes': line('walBytes'),
    })
  }
} finally {
  for (const stop of stops.reverse()) await stop()
}
