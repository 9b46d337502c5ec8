/** Cases: the decisions of operators, and the kinds of case. */

/**
 * Decisions, and the trigger of each. The effect is said by the line that `decides` the kind of case.
 * @source rules#cases.1, rules#cases.10
 */
export const decisionTriggers = {
  accept: 'operator.accepted',
  return_to_payer: 'operator.returned_to_payer',
  credit: 'operator.credited',
  debit: 'operator.debited',
  book: 'operator.attributed',
  executed: 'operator.executed',
  not_executed: 'operator.not_executed',
  reverse: 'operator.reversed',
  write_off: 'operator.written_off',
  ask_again: 'operator.asked_again',
  close: 'operator.explained',
} as const

export type CaseDecision = keyof typeof decisionTriggers

/** In the order of the documentation. */
export const decisionNames = Object.keys(decisionTriggers) as CaseDecision[]

/** Evidence that a decision may require: an id of the bank, another operation, or an amount. */
export const evidenceFields = ['endToEndId', 'returnId', 'operationId', 'amountCents'] as const

export type EvidenceField = (typeof evidenceFields)[number]

/** Guards of decisions that concern outgoing money. */
export const outgoingGuards = {
  'another case is open': 'another case that causes the doubt is open',
  'money that left is in suspense': 'the case’s debit is still in suspense',
  'its movement is known': 'the end-to-end id, or return id, named by the operator is already booked',
  'no answer settles it': 'no further answer of the bank can settle the case',
} as const

/** Guards of decisions where money may have arrived, too. */
export const decisionGuards = {
  ...outgoingGuards,
  'money that arrived is in suspense': 'the case’s credit is still in suspense',
} as const

export type DecisionGuard = keyof typeof decisionGuards

/** A kind says what an operator has to decide. The cause is the rule that opened the case, in its facts. */

export interface CaseKind {
  /** Kinds of operation it concerns; empty: a case without an operation. */
  readonly of: readonly ('cash_in' | 'cash_out' | 'refund_in' | 'adjustment')[]
  /** Shown to operators. */
  readonly meaning: string
  /** Where the undecided money is. */
  readonly holds: 'suspense' | 'reserve' | 'difference' | 'nothing'
  /** Decisions about a case without an operation, with their effects. Those of operations are lines of their tables. */
  readonly decisions?: Readonly<Partial<Record<CaseDecision, string>>>
}

const ORDERS = ['cash_out', 'refund_in'] as const
const ALL = ['cash_in', ...ORDERS] as const

const CLOSE = 'Close it as explained. No money is booked.'

const BOOK = 'Attribute the movement to the operation that you name; its own table books it.'

/** @source rules#cases.50 */
export const caseKinds = {
  payment_in_suspense: {
    of: ['cash_in'],
    meaning:
      'A payment arrived that does not match the charge: another amount, a second payment, outside its time, or while the charge was in doubt. The money is in suspense.',
    holds: 'suspense',
  },
  payment_unconfirmed: {
    of: ['cash_in'],
    meaning: 'Events reported payments of the charge that the bank, queried, does not confirm. Nothing was booked.',
    holds: 'nothing',
  },
  charge_unclear: {
    of: ['cash_in'],
    meaning:
      'The bank gave no clear answer about the charge: none, a contradictory one, or one after the charge had ended. No payment was booked.',
    holds: 'nothing',
  },
  outcome_unknown: {
    of: ORDERS,
    meaning: 'The outcome of the order is missing, or contradicts the order. The money stays reserved.',
    holds: 'reserve',
  },
  bank_contradicts: {
    of: ALL,
    meaning: 'The bank contradicts an earlier report, or the books. No money is in suspense.',
    holds: 'nothing',
  },
  debit_in_suspense: {
    of: ALL,
    meaning: 'Money left that cannot be attributed to the operation yet. It is in suspense; a reservation stays.',
    holds: 'suspense',
  },
  return_in_suspense: {
    of: ['cash_out'],
    meaning: 'Money of the payout was returned, and it is unclear whether it is credited. It is in suspense.',
    holds: 'suspense',
  },
  movement_elsewhere: {
    of: ALL,
    meaning: 'The bank reports a movement that is booked on another operation. Nothing was booked here.',
    holds: 'nothing',
  },
  return_unexplained: {
    of: ['cash_in'],
    meaning:
      'Money was returned, and the bank has not said for 15 minutes whether a refund in flight explains it. The available part is held.',
    holds: 'suspense',
  },
  unexplained_credit: {
    of: ['adjustment'],
    meaning: 'The bank’s statement has a credit that no operation explains. It is in suspense.',
    holds: 'suspense',
  },
  unexplained_debit: {
    of: [],
    meaning: 'The bank’s statement has a debit that the books lack. It is not booked.',
    holds: 'difference',
    decisions: {
      book: BOOK,
      debit: 'Book it at the merchant’s expense; a shortfall of the balance becomes a debt.',
      write_off: 'Book it as a loss.',
    },
  },
  line_missing: {
    of: [],
    meaning: 'The books have a movement that the bank’s statement lacks. It stays booked.',
    holds: 'difference',
    decisions: {
      reverse:
        'Reverse the credit that the bank lacks: its charge fails, the merchant is notified, and a shortfall of the balance becomes a debt.',
      credit: 'Credit the merchant with the debit that did not happen.',
      write_off: 'Keep the merchant’s balance; book the difference as a loss or gain.',
    },
  },
  line_differs: {
    of: [],
    meaning:
      'The bank’s statement has other values than the books, or than before, for a movement. The books are unchanged.',
    holds: 'difference',
    decisions: {
      credit: 'Book the positive difference (bank minus books) and credit it to the merchant.',
      debit: 'Book the negative difference at the merchant’s expense; a shortfall of the balance becomes a debt.',
      write_off: 'Book the difference as a gain or loss.',
      close: 'Close it as explained, if no difference is left. No money is booked.',
    },
  },
  statement_unreadable: {
    of: [],
    meaning:
      'The bank’s statement has an unreadable item. The other items are read, and its window is read again every hour. Nothing was booked.',
    holds: 'nothing',
    decisions: { close: CLOSE },
  },
  event_set_aside: {
    of: [],
    meaning:
      'An event of the bank was set aside: it names nothing known, contradicts itself or the bank, or cannot be true. It was not applied.',
    holds: 'nothing',
    decisions: {
      book: 'Apply the event to the operation that you name. If the bank supports queries, it is queried first, and only confirmed money is booked.',
      ask_again: 'Match and apply the event again, unchanged.',
      close: 'Close it without applying the event, which is kept.',
    },
  },
  ledger_drift: {
    of: [],
    meaning: 'The verification of the ledger found a fault. Nothing was booked.',
    holds: 'nothing',
    decisions: { close: CLOSE },
  },
  close_differs: {
    of: [],
    meaning: 'The close of a day differs from the bank’s balance, and no open case explains it. Nothing was booked.',
    holds: 'nothing',
    decisions: { close: CLOSE },
  },
  adjustment_requested: {
    of: [],
    meaning: 'An operator requested an adjustment of the balance that needs a second person. Nothing was booked.',
    holds: 'nothing',
    decisions: {
      credit: 'Book the adjustment: the money came in and is available.',
      debit: 'Book the adjustment: the money left the available balance.',
      close: 'Close it without an adjustment.',
    },
  },
  refund_requested: {
    of: [],
    meaning: 'An operator requested a refund of a paid charge that needs a second person. Nothing was reserved.',
    holds: 'nothing',
    decisions: {
      return_to_payer: 'Order the refund as requested: the amount is reserved and sent to the payer.',
      close: 'Close it without a refund.',
    },
  },
} as const satisfies Readonly<Record<string, CaseKind>>

export type CaseKindName = keyof typeof caseKinds

export type CaseWithoutOperation = {
  [Name in CaseKindName]: (typeof caseKinds)[Name] extends { readonly decisions: object } ? Name : never
}[CaseKindName]

export type CaseOfOperation = Exclude<CaseKindName, CaseWithoutOperation>

/** `undefined` for a kind that this version does not know. */
export function caseKind(name: string): CaseKind | undefined {
  return Object.hasOwn(caseKinds, name) ? caseKinds[name as CaseKindName] : undefined
}
