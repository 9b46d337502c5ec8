import assert from 'node:assert/strict'
import { caseKind, cashIn, cashOut, type JournalTemplate, journals, refundIn } from '@pixgate/spec'
import type { OpenCase, Operation } from './operation.ts'

/**
 * Which of an operation's open cases a decision closes.
 * @returns their ids
 * @throws AssertionError where they are not known: the operation was not read to be decided
 * @source rules#engine.19
 */
export function openCaseIds({ id, openCases }: Operation, isMeant: (openCase: OpenCase) => boolean): readonly string[] {
  assert.ok(openCases, `the open cases of operation ${id} were not read`)
  return openCases.filter(isMeant).map((openCase) => openCase.id)
}

/** The rules that open a case about money in suspense, of whatever kind. @source rules#ledger.suspense */
const suspenseRules: ReadonlySet<string> = new Set(
  [...cashIn.lines, ...cashOut.lines, ...refundIn.lines].flatMap(({ posts, opens, rule }) =>
    posts !== undefined && opens !== undefined && movesSuspense(journals[posts]) ? [rule] : [],
  ),
)

function movesSuspense({ postings }: JournalTemplate): boolean {
  return postings.some(({ account }) => account === 'suspense_in' || account === 'suspense_out')
}

/** The open cases that the end of a doubt closes: all but those of money in suspense. @source rules#ledger.suspense */
export function doubtCaseIds(operation: Operation): readonly string[] {
  return openCaseIds(operation, ({ kind, rule }) => caseKind(kind)?.holds !== 'suspense' && !suspenseRules.has(rule))
}
