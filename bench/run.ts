import type { Benchmark } from './benchmark.ts'
import { cashIn } from './cash-in.ts'
import { cashOut } from './cash-out.ts'
import { engine } from './engine.ts'
import { engineProfile } from './engine-profile.ts'
import { events } from './events.ts'
import { exports } from './exports.ts'
import { get } from './get.ts'
import { life } from './life.ts'
import { notify } from './notify.ts'
import { receivers } from './receivers.ts'
import { refund } from './refund.ts'
import { report } from './report.ts'
import { start } from './start.ts'
import { strangers } from './strangers.ts'

/**
 * `npm run bench`: lists the benchmarks. `npm run bench -- engine start` runs these. What the figures mean is in
 * README.md.
 */
const benchmarks: readonly Benchmark[] = [
  engine,
  engineProfile,
  cashIn,
  cashOut,
  refund,
  get,
  events,
  notify,
  receivers,
  life,
  exports,
  start,
  strangers,
]

const stops: (() => Promise<unknown>)[] = []

async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop()
}

async function run({ name, run }: Benchmark): Promise<void> {
  console.log(`\n${name}`)
  try {
    await report(name, await run((stop) => stops.push(stop)))
  } finally {
    await stopAll()
  }
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !benchmarks.some((benchmark) => benchmark.name === name))
process.once('SIGINT', () => stopAll().finally(() => process.exit(130)))

if (wanted.length === 0 || unknown.length > 0) {
  for (const name of unknown) console.error(`There is no benchmark ${name}.`)
  process.exitCode = unknown.length > 0 ? 1 : 0
  for (const { name, summary } of benchmarks) console.log(`${name.padEnd(16)} ${summary}`)
} else {
  for (const benchmark of benchmarks) if (wanted.includes(benchmark.name)) await run(benchmark)
}
