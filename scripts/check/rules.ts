import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import type { Check } from './check.ts'
import { readText, repositoryFiles, type SourceFile } from './repository.ts'

/** A rule of docs/rules.md, or a group of rules: an anchor with others beneath it. */
export interface Rule {
  readonly anchor: string
  readonly text: string
  readonly isGroup: boolean
}

export interface Citation {
  readonly anchor: string
  readonly path: string
  readonly line: number
}

/** State machines by export name; their lines are rules too. */
export type Machines = Readonly<
  Record<string, { readonly lines: readonly { readonly rule: string; readonly says: string }[] }>
>

export const RULES = 'docs/rules.md'

/** Code that cites rules. */
export const CODE = /^packages\/[^/]+\/(?:src\/.*\.tsx?|(?:schema|migrations)\/.*\.sql)$/

/** Tests that prove rules. */
export const TESTS = /^packages\/[^/]+\/test\/.*\.tsx?$/

const ANCHOR = '[a-z][a-z0-9-]*(?:\\.[a-z0-9-]+)*'

/** Rules in the order of the page. */
export function rulesIn(text: string): Rule[] {
  const found = [...text.matchAll(new RegExp(`<a id="(${ANCHOR})"></a>(.*(?:\\n +.*)*)`, 'g'))]
  const anchors = found.map(([, anchor = '']) => anchor)
  return found.map(([, anchor = '', body = '']) => ({
    anchor,
    text: body.replace(`**[${anchor}]**`, '').replace(/\s+/g, ' ').trim(),
    isGroup: anchors.some((other) => other.startsWith(`${anchor}.`)),
  }))
}

/** Citations in code: `rules#money.1`. */
export function citationsIn(files: readonly SourceFile[]): Citation[] {
  return matchesIn(files, new RegExp(`rules#(${ANCHOR})`, 'g'))
}

/**
 * Tests whose name begins with one or more rules: `[money.1] [money.2] …`. A loop at the top of a test
 * file over `cashIn.rows` or `rowsOf(cashIn)` makes one test per row of that machine, and so names the rule of each row.
 */
export function proofsIn(files: readonly SourceFile[], machines: Machines): Citation[] {
  const rows = Object.entries(machines).flatMap(([name, { lines }]) =>
    matchesIn(files, new RegExp(`^for \\(.+ of (?:${name}\\.rows|rowsOf\\(${name}\\))\\)`, 'g')).flatMap((place) =>
      lines.map(({ rule }) => ({ ...place, anchor: rule })),
    ),
  )
  return [...matchesIn(files, new RegExp(`(?<=['"\`]|\\] )\\[(${ANCHOR})\\]`, 'g')), ...rows]
}

export const specMachines: Machines = { cashIn, cashOut, refundIn, adjustment }

/**
 * Rules that are cited but not written, written twice, or not both cited and proven. Groups need neither.
 */
export function ruleProblems(
  text: string,
  code: readonly SourceFile[],
  tests: readonly SourceFile[],
  machines: Machines,
): string[] {
  const lines = rulesOf(machines)
  const rules = [...rulesIn(text), ...lines]
  const written = new Set(rules.map(({ anchor }) => anchor))
  const sections = new Set(rules.map(({ anchor }) => sectionOf(anchor)))
  const citations = citationsIn(code)
  const proofs = proofsIn(tests, machines)
  const cited = new Set([...citations, ...lines].map(({ anchor }) => anchor))
  const proven = new Set(proofs.map(({ anchor }) => anchor))
  const leaves = rules.filter(({ isGroup }) => !isGroup)

  return [
    ...rules
      .filter(({ anchor }, index) => rules.findIndex((other) => other.anchor === anchor) < index)
      .map(({ anchor }) => `${RULES}: [${anchor}] is written twice`),
    ...[...citations, ...proofs.filter(({ anchor }) => sections.has(sectionOf(anchor)))]
      .filter(({ anchor }) => !written.has(anchor))
      .map(({ anchor, path, line }) => `${path}:${line} names [${anchor}], which is not in ${RULES} nor in a table`),
    ...leaves.filter(({ anchor }) => !cited.has(anchor)).map(({ anchor }) => `[${anchor}] is cited by no code`),
    ...leaves.filter(({ anchor }) => !proven.has(anchor)).map(({ anchor }) => `[${anchor}] is named by no test`),
  ]
}

/** The lines of the tables as rules. */
export function rulesOf(machines: Machines): Rule[] {
  const lines = Object.values(machines).flatMap(({ lines }) => lines)
  const anchors = [...new Set(lines.map(({ rule }) => rule))]
  return anchors.map((anchor) => {
    const told = lines.filter(({ rule }) => rule === anchor)
    return { anchor, text: told.map(({ says }) => says).join(' '), isGroup: false }
  })
}

export const rules: Check = {
  name: 'rules',
  run: async () => ruleProblems(readText(RULES) ?? '', repositoryFiles(CODE), repositoryFiles(TESTS), specMachines),
}

function sectionOf(anchor: string): string {
  return anchor.split('.')[0] ?? anchor
}

/** Places where a pattern matches, with its first group. */
export function matchesIn(files: readonly SourceFile[], pattern: RegExp): Citation[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((content, index) =>
        [...content.matchAll(pattern)].map(([, anchor = '']) => ({ anchor, path, line: index + 1 })),
      ),
  )
}
