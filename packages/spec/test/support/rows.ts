import type { Row } from '../../src/machine.ts'

type AnyRow = Row<string, string, string, string>

/**
 * Every row of a machine with the name of the test that proves it: its rule, then what it says. A test file that runs
 * over `rowsOf(cashIn)` thereby names the rule of each of its rows.
 */
export function rowsOf<R extends AnyRow>(machine: { readonly rows: readonly R[] }): { row: R; title: string }[] {
  return machine.rows.map((row) => ({ row, title: titleOf(row) }))
}

function titleOf({ source, from, on, when, to }: AnyRow): string {
  const condition = when === undefined ? '' : ` (${when})`
  return `[${source.replace('rules#', '')}] ${from ?? 'nothing'} –${on}${condition}→ ${to}`
}
