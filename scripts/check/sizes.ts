import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Check } from './check.ts'
import { type Allowances, ratchetProblems } from './ratchet.ts'
import { ROOT, readText, repositoryFiles } from './repository.ts'

const FUNCTION_LINES_MAX = 60
const README_LINES_MAX = 250

/** Functions above the limit, with their length when they were listed. */
const WHERE = 'scripts/check/sizes.json'

/** Length of the line prefix that names an anonymous function. */
const UNNAMED_LENGTH = 60

/** Location of a function as reported by Biome; lines start at 1. */
interface FoundFunction {
  readonly location: {
    readonly path: string
    readonly start: { readonly line: number; readonly column: number }
    readonly end: { readonly line: number }
  }
}

/** Functions and the README above their limits, including comments and empty lines. */
export const sizes: Check = {
  name: 'sizes',
  run: async () => {
    const allowed = JSON.parse(readText(WHERE) ?? '') as { readonly functions: Allowances }
    const bounds = { unit: 'lines', where: WHERE }
    return [
      ...ratchetProblems(await functionLines(), allowed.functions, { ...bounds, limit: FUNCTION_LINES_MAX }),
      ...ratchetProblems(fileLines(/^README\.md$/), {}, { ...bounds, limit: README_LINES_MAX }),
    ]
  },
}

/** Biome finds the functions; its rule is off in `biome.json`, which sets the reporting threshold. */
async function functionLines(): Promise<Record<string, number>> {
  const { stdout } = await promisify(execFile)(
    join(ROOT, 'node_modules/.bin/biome'),
    [
      ...['lint', '--only=complexity/noExcessiveLinesPerFunction', '--reporter=json', '--max-diagnostics=none'],
      ...['packages', 'scripts', 'bench', 'examples'],
    ],
    { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 },
  )
  const { diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly FoundFunction[] }
  const lines: Record<string, number> = {}
  for (const { location } of diagnostics) {
    const count = location.end.line - location.start.line + 1
    if (count <= FUNCTION_LINES_MAX) continue
    const name = `${location.path} ${nameOf(location)}`
    lines[name] = Math.max(count, lines[name] ?? 0)
  }
  return lines
}

/** Name of a function or method; for an anonymous one the beginning of its line. */
function nameOf({ path, start }: FoundFunction['location']): string {
  const line = (readText(path) ?? '').split('\n')[start.line - 1] ?? ''
  const [, name] =
    /^(?:(?:async|static|function\*?) )*(?!async\b)([#\w]+)\s*[<(]/.exec(line.slice(start.column - 1)) ?? []
  return name ?? line.slice(0, UNNAMED_LENGTH)
}

function fileLines(pattern: RegExp): Record<string, number> {
  return Object.fromEntries(repositoryFiles(pattern).map(({ path, text }) => [path, text.split('\n').length - 1]))
}
