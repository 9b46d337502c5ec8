import { type After, type BenchmarkOptions, type Findings, scoped, type Target } from './benchmark.ts'
import type { Measured } from './cost.ts'
import { type Subject, startLiving, subjects } from './lives.ts'
import { median } from './measure.ts'

const ROUNDS = 5

/** Subjects by default. */
const SUBJECTS = ['payout', 'charge']

const CALLERS = [64]

/**
 * Measures another checkout and this one side by side, each with its own `npm start`, schema and PostgreSQL and the same
 * settings. Only ratios within a round are comparable on a shared machine.
 * @param root of the other checkout
 */
export async function againstCheckout(after: After, root: string, options: BenchmarkOptions): Promise<Findings> {
  const pairs: Pairs[] = []
  for (const subject of subjects) {
    if (!(options.of ?? SUBJECTS).includes(subject.call)) continue
    pairs.push(...(await scoped(after, (afterwards) => pairsOf(afterwards, subject, root, options))))
  }
  return { figures: pairs.flatMap(linesOf), targets: pairs.flatMap(targetsOf) }
}

/** The measurements of both checkouts, by round. */
interface Pairs {
  readonly name: string
  readonly rounds: readonly { readonly before: Measured; readonly now: Measured }[]
}

async function pairsOf(after: After, subject: Subject, root: string, options: BenchmarkOptions): Promise<Pairs[]> {
  const before = await startLiving(after, subject, { root })
  const now = await startLiving(after, subject)
  const pairs: Pairs[] = []
  for (const callers of options.callers ?? CALLERS) {
    const rounds: Pairs['rounds'][number][] = []
    for (let round = 0; round < (options.rounds ?? ROUNDS); round++) {
      // Alternates the order: the first measurement of a round finds a different machine.
      const first = round % 2 === 0 ? await before.measure(callers) : undefined
      const measured = await now.measure(callers)
      rounds.push({ before: first ?? (await before.measure(callers)), now: measured })
    }
    pairs.push({ name: `${subject.call}, ${callers}`, rounds })
  }
  return pairs
}

const FIGURES = [
  'perSecond',
  'p50Ms',
  'p99Ms',
  'serverUs',
  'postgresUs',
  'bankUs',
  'walBytes',
  'statements',
  'statementUs',
] as const satisfies readonly (keyof Measured)[]

function linesOf({ name, rounds }: Pairs) {
  return FIGURES.map((figure) => ({
    'load, callers': name,
    figure,
    before: median(rounds.map(({ before }) => before[figure])),
    now: median(rounds.map(({ now }) => now[figure])),
    ratio: ratioOf(rounds, figure),
    'of all rounds': rounds.map(({ before, now }) => (now[figure] / before[figure]).toFixed(2)).join(' '),
  }))
}

function ratioOf(rounds: Pairs['rounds'], figure: keyof Measured): number {
  return median(rounds.map(({ before, now }) => now[figure] / before[figure]))
}

function targetsOf({ name, rounds }: Pairs): Target[] {
  return [
    { what: `${name}: payments per second, relative to before`, value: ratioOf(rounds, 'perSecond'), atLeast: 0.9 },
  ]
}
