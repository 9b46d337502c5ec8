import { registerHooks } from 'node:module'
import { cashIn, cashOut, type Machine, refundIn } from '@pixgate/spec'
import type { CollectedTest } from './collected-tests.ts'
import { type Mutant, mutantsOf } from './mutants.ts'

/** Tables with the tests that must detect mutants; slow ones last. */
const SUBJECTS: readonly { readonly machine: Machine; readonly tests: readonly string[] }[] = [
  { machine: cashOut, tests: ['cash-out/rules.test.ts', 'cash-out/decide-case.test.ts'] },
  { machine: cashIn, tests: ['cash-in/rules.test.ts', 'cash-in/decide-case.test.ts'] },
  {
    machine: refundIn,
    tests: ['refund-in/rules.test.ts', 'refund-in/decide-case.test.ts', 'refund-in/to-payer.test.ts'],
  },
]

export interface Verdict {
  readonly tried: number
  /** Names of mutants that no test detected. */
  readonly survivors: readonly string[]
}

/**
 * Mutates every line of every table, one change at a time.
 * @param every tries each n-th mutant only
 * @throws Error if a test fails without a mutation
 */
export async function mutateTables(every: number): Promise<Verdict> {
  const survivors: string[] = []
  let [seen, tried] = [0, 0]
  for (const { machine, tests } of SUBJECTS) {
    const declared = await declaredIn(tests)
    const failing = await firstFailing(declared)
    if (failing !== undefined) throw new Error(`«${failing}» fails on the table as it is`)
    for (const mutant of mutantsOf(machine)) {
      seen += 1
      if (seen % every !== 0) continue
      tried += 1
      if (!(await isDetected(machine, mutant, declared))) survivors.push(mutant.name)
    }
  }
  return { tried, survivors }
}

/** The tests of some files, not run. */
async function declaredIn(files: readonly string[]): Promise<readonly CollectedTest[]> {
  const stand = new URL('./collected-tests.ts', import.meta.url).href
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'node:test' ? { url: stand, shortCircuit: true } : next(specifier, context),
  })
  const { collected } = await import('./collected-tests.ts')
  collected.length = 0
  for (const file of files) await import(new URL(`../../packages/server/test/${file}`, import.meta.url).href)
  hooks.deregister()
  return [...collected]
}

/** Whether some test fails while the table is broken. */
async function isDetected(machine: Machine, mutant: Mutant, tests: readonly CollectedTest[]): Promise<boolean> {
  const broken = machine as { rows: Machine['rows'] }
  const sound = machine.rows
  broken.rows = mutant.rows
  try {
    return (await firstFailing(tests)) !== undefined
  } finally {
    broken.rows = sound
  }
}

async function firstFailing(tests: readonly CollectedTest[]): Promise<string | undefined> {
  for (const { name, run } of tests) {
    try {
      await run()
    } catch {
      return name
    }
  }
  return undefined
}
