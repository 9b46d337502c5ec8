import type { Operation } from '../../src/engine/operation.ts'

/** The rules that open cases of these kinds, unless a test names another one. */
const RULES: Readonly<Record<string, string>> = {
  payment_in_suspense: 'cash-in.states.8',
  debit_in_suspense: 'cash-out.states.12',
  return_unexplained: 'cash-in.returns.4',
}

/**
 * The operation with these cases open, each of which has its kind for an id.
 * @param causes kinds, each with the rule that opened it after a blank, where that matters
 */
export function withOpenCases<Kind extends Operation>(operation: Kind, ...causes: readonly string[]): Kind {
  const openCases = causes.map((cause) => {
    const [kind = '', rule = RULES[kind] ?? ''] = cause.split(' ')
    return { id: kind, kind, reference: '', rule, version: 1 }
  })
  return { ...operation, openCases }
}
