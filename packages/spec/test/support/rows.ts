import assert from 'node:assert/strict'
import type { Row } from '../../src/machine.ts'

/**
 * Every row of a machine with the name of the test that proves it: its rule, then what it says. A test file that runs
 * over `rowsOf(cashIn)` thereby names the rule of each of its rows.
 */
export function rowsOf<R extends Row>(machine: { readonly rows: readonly R[] }): { row: R; title: string }[] {
  return machine.rows.map((row) => ({ row, title: `[${row.rule}] ${nameOf(row)} → ${row.to}` }))
}

/** A row by what makes it apply: `DISPATCHED send.unknown when no answer for 15 minutes unless the bank has it`. */
function nameOf({ from, because, on, when, unless }: Row): string {
  const place = because === null ? (from ?? 'nothing') : `${from}:${because}`
  return [place, on, ...named('when', when), ...named('unless', unless)].join(' ')
}

function named(word: string, guards: readonly string[]): string[] {
  return guards.length === 0 ? [] : [word, guards.join(', ')]
}

/**
 * Looks at a row that is a decision: it opens no case, but about what it leaves set aside, and moves money of a decided case only, or to a charge that receives.
 * What it does to the money the tests of decisions say.
 */
export function assertDecision({ on, posts, opens, decides }: Row): void {
  assert.ok(opens === undefined || opens === 'outcome_unknown')
  // What the statement does not have has its case there.
  if (posts !== undefined) assert.ok(decides !== undefined || on === 'operator.received' || on === 'operator.reversed')
}

/** Whether a row is an operator’s decision on a case, or what follows from one. */
export function isDecision({ on, rule }: { readonly on: string; readonly rule: string }): boolean {
  return (on.startsWith('operator.') || on === 'doubt.decided') && rule.includes('.cases.')
}
