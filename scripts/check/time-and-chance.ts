import type { Check } from './check.ts'
import { repositoryFiles, type SourceFile } from './repository.ts'

/** What is injected everywhere, so that a test can decide it: the time, chance, the network, the environment. */
const BANNED: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['Date.now', /\bDate\.now\b/],
  ['new Date()', /\bnew Date\(\s*\)/],
  ['Math.random', /\bMath\.random\b/],
  ['a timer', /(?<![.\w])set(?:Timeout|Interval)\b/],
  ['fetch', /(?<![.\w])fetch\s*\(/],
  ['process.env', /\bprocess\.env\b/],
]

const COMMENT = /^\s*(?:\/\/|\/?\*)/

/** Uses of time, chance, network and environment outside of the files that stand for them. */
export function timeAndChanceProblems(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) =>
      BANNED.filter(([, pattern]) => !COMMENT.test(line) && pattern.test(line))
        .filter(([what]) => !mayUse(path, what))
        .map(([what]) => `${path}:${index + 1} uses ${what}; take it from the platform`),
    ),
  )
}

const WALL_CLOCK = /\bDate\.now\b|\bnew Date\(\s*\)/

/** Where the tests read it, and where they put it forward. */
const READS_WALL_CLOCK = /^packages\/server\/test\/support\/(?:wall|shifted)-clock\.ts$/

const FIXED_DATE = /['"`]2\d{3}-\d{2}-\d{2}T/

/**
 * Tests that will fail one day: what reads the wall clock must not have a date of its own, and names it as `wallNow`, so
 * that this can be seen.
 */
export function testClockProblems(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => !READS_WALL_CLOCK.test(path))
    .flatMap(({ path, text }) => [
      ...(WALL_CLOCK.test(text) ? [`${path} reads the wall clock; take it from support/wall-clock.ts`] : []),
      ...(/\bwallNow\b/.test(text) && FIXED_DATE.test(text) ? [`${path} has a fixed date beside the wall clock`] : []),
    ])
}

/** The check over the sources of the server, the sandbox, the rules and the BR Code, and over the clocks of all tests. */
export const timeAndChance: Check = {
  name: 'time and chance',
  run: async () => [
    ...timeAndChanceProblems(repositoryFiles(/^packages\/(?:server|sandbox|spec|brcode)\/src\/.*\.ts$/)),
    ...testClockProblems(repositoryFiles(/^packages\/[^/]+\/test\/.*\.ts$/)),
  ],
}

function mayUse(path: string, what: string): boolean {
  // Its timer is in a script that whoever runs the collection runs.
  if (/^packages\/server\/src\/reference\/collection\.ts$/.test(path)) return what === 'a timer'
  if (/^packages\/server\/src\/process\.ts$/.test(path)) return true
  return what !== 'process.env' && /^packages\/(?:server\/src\/platform|sandbox\/src\/postgres)\//.test(path)
}
