import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Benchmark, BenchmarkOptions } from './benchmark.ts'
import { cashOut } from './cash-out.ts'
import { consoles } from './consoles.ts'
import { engine } from './engine.ts'
import { life } from './life.ts'
import { notify } from './notify.ts'
import { receipts } from './receipts.ts'
import { receivers } from './receivers.ts'
import { print, store } from './report.ts'
import { start } from './start.ts'
import { strangers } from './strangers.ts'

/**
 * `npm run bench` lists the benchmarks; `npm run bench -- engine start` runs two of them. README.md explains the figures.
 * `npm run bench -- life --of payout --callers 64 --rounds 1` runs a part; its result is printed and not stored.
 */
const benchmarks: readonly Benchmark[] = [
  engine,
  cashOut,
  notify,
  receivers,
  life,
  start,
  strangers,
  consoles,
  receipts,
]

const stops: (() => Promise<unknown>)[] = []

async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop()
}

async function run({ name, options: known = [], run }: Benchmark): Promise<void> {
  console.log(`\n${name}`)
  try {
    const unsupported = given.find((option) => !known.includes(option))
    if (unsupported) throw new Error(`${name} has no option --${unsupported}`)
    const findings = await run((stop) => stops.push(stop), options)
    print(findings)
    if (given.length === 0) await store(name, findings)
  } finally {
    await stopAll()
  }
}

const { positionals: names, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    callers: { type: 'string' },
    of: { type: 'string' },
    against: { type: 'string' },
  },
})
const options: BenchmarkOptions = {
  ...(values.rounds && { rounds: Number(values.rounds) }),
  ...(values.callers && { callers: values.callers.split(',').map(Number) }),
  ...(values.of && { of: values.of.split(',') }),
  ...(values.against && { against: resolve(values.against) }),
}
const given = Object.keys(options) as (keyof BenchmarkOptions)[]
const unknown = names.filter((name) => !benchmarks.some((benchmark) => benchmark.name === name))
process.once('SIGINT', () => stopAll().finally(() => process.exit(130)))

if (names.length === 0 || unknown.length > 0) {
  for (const name of unknown) console.error(`Unknown benchmark ${name}.`)
  process.exitCode = unknown.length > 0 ? 1 : 0
  for (const { name, summary } of benchmarks) console.log(`${name.padEnd(16)} ${summary}`)
} else {
  for (const benchmark of benchmarks) if (names.includes(benchmark.name)) await run(benchmark)
}
