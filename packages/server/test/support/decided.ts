import type { AccountCode, CaseDecision, EntryOperation } from '@pixgate/spec'
import type { DecidableCase, DecisionInput } from '../../src/cases/case.ts'
import type { BookedMovement, Decision, OpenCase, Operation, State } from '../../src/engine/operation.ts'
import { entriesOf } from '../../src/engine/postings.ts'

/** Deciding a case in tests of the rules alone. */

/**
 * A case, and what an operator orders about it.
 * @param cause its kind, and after a blank the rule that opened it
 */
export function ordered(
  decision: CaseDecision,
  cause: string,
  reference: string,
  given: Partial<DecisionInput> & { readonly facts?: DecidableCase['facts'] } = {},
): { readonly openCase: DecidableCase & OpenCase; readonly order: DecisionInput } {
  const { facts = {}, ...order } = given
  const [kind = '', rule = ''] = cause.split(' ')
  return {
    openCase: { id: `case of ${cause}`, kind, reference, rule, version: 1, facts },
    order: {
      decision,
      caseId: `case of ${cause}`,
      operatorId: 'Ana',
      approverId: 'Bruno',
      reason: 'the payer asked for it',
      evidence: {},
      newId: '0198c0f3-3f00-7000-8000-8b9c0d1e2f3b',
      ...order,
    },
  }
}

/** What a decision sees: these operations, this much that is free, and where movements are booked. */
export function seeing(given: {
  readonly operations?: readonly Operation[]
  readonly availableCents?: bigint
  readonly movements?: Readonly<Record<string, BookedMovement>>
}): State {
  const { operations = [], availableCents = 0n, movements = {} } = given
  return {
    operation: (id: string) => operations.find((operation) => operation.id === id),
    balance: (code: AccountCode) => (code === 'available' ? availableCents : 0n),
    movement: ({ direction, id }: { direction: string; id: string }) => movements[`${direction} ${id}`],
  } as unknown as State
}

/** What a decision does, in one line each: moves, entries, notifications and the cases that close. */
export function done({ moves = [], journals = [], notifications = [], closes = [] }: Decision<unknown>): string[] {
  return [
    ...moves.map(({ trigger, to }) => `${trigger} ${to}`),
    ...journals.map((journal) => {
      const entries = entriesOf(journal).map(({ account, amountCents, shown }) => wordOf(account, amountCents, shown))
      return `${journal.kind} ${journal.reference}: ${entries.join(', ')}`
    }),
    ...notifications.map(({ eventType, status, reference }) => `${eventType} ${status} ${reference}`.trim()),
    ...closes.map((id) => `closes ${id}`),
  ]
}

function wordOf(account: AccountCode, cents: bigint, shown: EntryOperation | string | null): string {
  return [account, cents, ...(shown === null ? [] : [shown])].join(' ')
}
