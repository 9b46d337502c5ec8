import type { Check } from './check.ts'
import { repositoryFiles, type SourceFile } from './repository.ts'

/** Injected everywhere, so that tests control them. */
const BANNED: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['Date.now', /\bDate\.now\b/],
  ['new Date()', /\bnew Date\(\s*\)/],
  ['Math.random', /\bMath\.random\b/],
  ['a timer', /(?<![.\w])set(?:Timeout|Interval)\b/],
  ['fetch', /(?<![.\w])fetch\s*\(/],
  ['process.env', /\bprocess\.env\b/],
]

const COMMENT = /^\s*(?:\/\/|\/?\*)/

/** Uses of time, chance, network and environment outside of the platform. */
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

const READS_WALL_CLOCK = /^packages\/server\/test\/support\/(?:wall|shifted)-clock\.ts$/

const FIXED_DATE = /['"`]2\d{3}-\d{2}-\d{2}T/

/**
 * Tests that will fail one day: those that read the wall clock, as `wallNow`, must not contain a fixed date.
 */
export function testClockProblems(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => !READS_WALL_CLOCK.test(path))
    .flatMap(({ path, text }) => [
      ...(WALL_CLOCK.test(text) ? [`${path} reads the wall clock; take it from support/wall-clock.ts`] : []),
      ...(/\bwallNow\b/.test(text) && FIXED_DATE.test(text) ? [`${path} has a fixed date beside the wall clock`] : []),
    ])
}

export const timeAndChance: Check = {
  name: 'time and chance',
  run: async () => [
    ...timeAndChanceProblems(repositoryFiles(/^packages\/(?:server|sandbox|spec|brcode)\/src\/.*\.ts$/)),
    ...testClockProblems(repositoryFiles(/^packages\/[^/]+\/test\/.*\.ts$/)),
  ],
}

function mayUse(path: string, what: string): boolean {
  // Its timer is in a script that the collection's runner executes.
  if (/^packages\/server\/src\/reference\/collection\.ts$/.test(path)) return what === 'a timer'
  if (/^packages\/server\/src\/process\.ts$/.test(path)) return true
  return what !== 'process.env' && /^packages\/(?:server\/src\/platform|sandbox\/src\/postgres)\//.test(path)
}
