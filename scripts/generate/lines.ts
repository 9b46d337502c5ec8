import { adjustment, cashIn, cashOut, journals, type Line, type Machine, refundIn } from '@pixgate/spec'
import { code, table } from './document.ts'

/** Every table of states. */
export const MACHINES: readonly Machine[] = [cashIn, cashOut, refundIn, adjustment]

/**
 * A table of lines, as they are tried.
 * @param ruleOf the last cell of a line: its rule and sentence
 */
export function linesTable(lines: readonly Line[], ruleOf: (line: Line, index: number) => string): string {
  return table(
    ['from', 'trigger', 'conditions', 'to', 'does', 'rule'],
    lines.map((line, index) => [...cells(line), ruleOf(line, index)]),
  )
}

function cells(line: Line): string[] {
  const { from, on, when, unless, to, posts, emits, opens, decides, asks } = line
  return [
    from === null ? '–' : listOf(from).map(code).join(', '),
    listOf(on).map(code).join(', '),
    [...listOf(when), ...listOf(unless).map((guard) => `not: ${guard}`)].join('; '),
    to === 'ignored' || to === 'same' ? to : code(to),
    [
      ...(posts === undefined ? [] : [`posts [${journals[posts].symbol}](ledger.md#${posts})`]),
      ...(emits === undefined ? [] : [`sends ${code(emits)}`]),
      ...(opens === undefined ? [] : [`opens ${code(opens)}`]),
      ...(decides === undefined ? [] : [`decides ${listOf(decides).map(code).join(', ')}`]),
      ...(asks ? ['queries the bank'] : []),
    ].join(', '),
  ]
}

/** A titled table of names and meanings; empty without names. */
export function sentences(
  title: string,
  header: readonly string[],
  meanings: Readonly<Record<string, string>>,
  nameOf: (name: string) => string = code,
): string[] {
  const rows = Object.entries(meanings).map(([name, sentence]) => [nameOf(name), sentence])
  return rows.length === 0 ? [] : [`### ${title}`, table(header, rows)]
}

/** Normalises an optional value or list to a list. */
export function listOf<T>(given: T | readonly T[] | undefined): readonly T[] {
  if (given === undefined) return []
  return Array.isArray(given) ? given : [given as T]
}
