import { parseArgs } from 'node:util'
import { mutateTables } from './mutate/tables.ts'

/**
 * `npm run mutate -- tables [--every N]` mutates each line of each state machine, one change at a time; the pure tests must
 * fail each time. Lists survivors and ends with 1 if there are any.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { every: { type: 'string', default: '1' } },
})
const every = Number(values.every)
if (positionals.join() !== 'tables' || !Number.isSafeInteger(every) || every < 1) {
  console.error('Usage: npm run mutate -- tables [--every N]')
  process.exit(2)
}
const { tried, survivors } = await mutateTables(every)
for (const name of survivors) console.log(`survived: ${name}`)
console.log(`${tried} mutants, ${survivors.length} survived`)
process.exitCode = survivors.length > 0 || tried === 0 ? 1 : 0
