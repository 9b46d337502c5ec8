import { posix } from 'node:path'
import type { Check } from './check.ts'
import { repositoryFiles, type SourceFile } from './repository.ts'

interface Unit {
  readonly unit: string
  readonly level: string
  /** Levels, or single units. A unit may always import itself. */
  readonly mayImport: readonly string[]
}

/**
 * Allowed imports: only from lower levels, from equal ones if listed.
 * Tests, scripts, examples and benchmarks may import anything.
 */
const table: readonly Unit[] = [
  { unit: 'spec', level: '0', mayImport: [] },
  { unit: 'brcode', level: '0', mayImport: [] },

  { unit: 'server/platform', level: '1', mayImport: ['0'] },
  { unit: 'server/alerts', level: '1', mayImport: ['0', 'server/platform'] },
  { unit: 'server/audit', level: '1', mayImport: ['0', 'server/platform'] },
  { unit: 'server/banks', level: '1', mayImport: ['0', 'server/platform'] },

  { unit: 'server/ledger', level: '2', mayImport: ['0', '1'] },
  { unit: 'server/balance', level: '2', mayImport: ['0', '1'] },
  { unit: 'server/access', level: '2', mayImport: ['0', '1'] },
  { unit: 'server/health', level: '2', mayImport: ['0', '1', 'server/access'] },
  { unit: 'server/reference', level: '2', mayImport: ['0', '1'] },
  { unit: 'server/retention', level: '2', mayImport: ['0', '1'] },
  { unit: 'server/subject', level: '2', mayImport: ['0', '1'] },

  { unit: 'server/engine', level: '3', mayImport: ['0', '1'] },

  { unit: 'server/operations', level: '3', mayImport: ['0', '1', 'server/engine'] },
  { unit: 'server/cases', level: '3', mayImport: ['0', '1', 'server/engine', 'server/operations', 'server/access'] },

  { unit: 'server/cash-in', level: '4', mayImport: ['0', '1', '2', '3'] },
  { unit: 'server/cash-out', level: '4', mayImport: ['0', '1', '2', '3'] },
  { unit: 'server/restored', level: '4', mayImport: ['0', '1', '2', '3'] },
  { unit: 'server/controls', level: '4', mayImport: ['0', '1', '2', '3'] },
  { unit: 'server/webhooks', level: '4', mayImport: ['0', '1', '2', '3'] },
  { unit: 'server/refund-in', level: '4b', mayImport: ['0', '1', '2', '3', 'server/cash-in'] },

  { unit: 'server/inbox', level: '5', mayImport: ['0', '1', '2', '3', '4', '4b'] },
  { unit: 'server/closes', level: '5', mayImport: ['0', '1', '2', '3', '4', '4b'] },
  { unit: 'server/bank-statement', level: '5', mayImport: ['0', '1', '2', '3', '4', '4b'] },

  { unit: 'server/receipts', level: '5', mayImport: ['0', '1', '2', '3', '4', '4b'] },

  { unit: 'server/console', level: '5b', mayImport: ['0', '1', '2', '3', '4', '4b', '5'] },

  { unit: 'server/payment-page', level: '5b', mayImport: ['0', '1', '2', '3', '4', '4b'] },

  // config.ts, process.ts and other files beside main.ts.
  { unit: 'server/start', level: '6', mayImport: ['0', '1', 'server/payment-page'] },
  { unit: 'server/app.ts', level: '6', mayImport: ['0', '1', '2', '3', '4', '4b', '5', '5b', '6'] },
  { unit: 'server/listeners.ts', level: '6', mayImport: ['0', '1', '2', '3', '4', '4b', '5', '5b', '6'] },
  { unit: 'server/workers.ts', level: '6', mayImport: ['0', '1', '2', '3', '4', '4b', '5', '5b', '6'] },
  { unit: 'server/start.ts', level: '6', mayImport: ['0', '1', '2', '3', '4', '4b', '5', '5b', '6'] },
  { unit: 'server/doctor', level: '6', mayImport: ['0', '1', '2', '3', '4', '4b', '5', '5b', '6'] },
  { unit: 'server/main.ts', level: '6', mayImport: ['0', '1', '2', '3', '4', '4b', '5', '5b', '6'] },
  { unit: 'server/programs.ts', level: '6', mayImport: ['0', '1', '6'] },
  { unit: 'server/verify-ledger.ts', level: '6', mayImport: ['0', '1', '2', '6'] },
  { unit: 'server/close.ts', level: '6', mayImport: ['0', '1', '6', 'server/closes', 'server/start'] },
  { unit: 'server/rewrap-keys.ts', level: '6', mayImport: ['0', '1', '6', 'server/webhooks'] },
  { unit: 'server/verify-audit.ts', level: '6', mayImport: ['0', '1', '6'] },
  { unit: 'server/export-subject.ts', level: '6', mayImport: ['0', '1', '2', '6'] },
  { unit: 'server/index.ts', level: '6', mayImport: ['0', '1', '2', '3', '4', '4b', '5', '5b', '6'] },

  { unit: 'sandbox', level: '–', mayImport: ['spec', 'server/index.ts'] },
  { unit: 'docs', level: '–', mayImport: [] },
  { unit: 'console', level: '–', mayImport: ['spec'] },
  { unit: 'sdk', level: '–', mayImport: [] },
  { unit: 'cli', level: '–', mayImport: ['sdk'] },
  { unit: 'bank-simulator', level: '–', mayImport: ['spec', 'brcode'] },
]

/** `import … from '…'`, `import '…'`, `export … from '…'` and `import('…')`. */
const IMPORT = /^(?:import|export)\b(?:([^'";]*?)\bfrom)?\s*'([^']+)'|\bimport\(\s*'([^']+)'/gm

/** Imports that the table does not allow. */
export function importProblems(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(IMPORT)].flatMap(([, names = '', fixed, dynamic]) => {
      const target = targetOf(path, fixed ?? dynamic ?? '')
      const problem = target === undefined ? undefined : problemOf(path, target, names)
      return problem === undefined ? [] : [`${path} imports ${target}: ${problem}`]
    }),
  )
}

/** The check over the repository's packages. */
export const imports: Check = {
  name: 'imports',
  run: async () => importProblems(repositoryFiles(/^packages\/[^/]+\/(?:src|test)\/.*\.tsx?$/)),
}

function problemOf(path: string, target: string, names: string): string | undefined {
  if (/^packages\/[^/]+\/test\//.test(path)) return undefined

  const [from, to] = [unitOf(path), unitOf(target)]
  if (from === to) return undefined
  const [rule, targetRule] = [from, to].map((unit) => table.find((it) => it.unit === unit))
  if (rule === undefined) return `${from} is not in the table of units`
  if (targetRule === undefined) return `${to} is not in the table of units`
  if (!rule.mayImport.includes(to) && !rule.mayImport.includes(targetRule.level)) return `${from} may not import ${to}`
  if (rule.level === '6') return undefined
  if (isModule(targetRule) && !target.endsWith('/index.ts')) return 'a module is imported by its index.ts'
  if (isModule(rule) && isBankCalled(target) && !mayNameBank(path, names)) return 'only jobs.ts talks to the bank'
  return undefined
}

/** Modules that others import through their index.ts only. */
function isModule({ level }: Unit): boolean {
  return ['2', '4', '4b', '5'].includes(level)
}

function isBankCalled(target: string): boolean {
  return unitOf(target) === 'server/banks' && !target.endsWith('/inbound.ts')
}

/** Prevents bank calls inside transactions. Types are allowed except in commands. */
function mayNameBank(path: string, names: string): boolean {
  return path.endsWith('/jobs.ts') || (/^\s*type\b/.test(names) && !path.endsWith('/commands.ts'))
}

/** The imported file of the repository; `undefined` for a library or data. */
function targetOf(path: string, specifier: string): string | undefined {
  if (specifier.endsWith('.json')) return undefined
  if (specifier.startsWith('.')) return posix.join(posix.dirname(path), specifier)
  const [, name] = /^@pixgate\/([^/]+)/.exec(specifier) ?? []
  return name === undefined ? undefined : `packages/${name}/src/index.ts`
}

function unitOf(path: string): string {
  const [, name = '', inside = ''] = /^packages\/([^/]+)\/(?:src|test)\/(.*)$/.exec(path) ?? []
  if (name !== 'server') return name
  const [first = '', second] = inside.split('/')
  return second === undefined &&
    !/^(?:app|listeners|workers|start|main|programs|close|verify-ledger|rewrap-keys|export-subject|verify-audit|index)\.ts$/.test(
      first,
    )
    ? 'server/start'
    : `server/${first}`
}
