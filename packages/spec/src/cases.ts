/** Cases: kinds, decisions, and their shared parts in the operations' tables. */

/**
 * Decisions about a case. Each is a trigger of the machines; a line that `decides` a kind of case defines its effect.
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

/** A decision about a case, by its name in the API. */
export type CaseDecision = keyof typeof decisionTriggers

/** Every decision, in the order of the documentation. */
export const decisionNames = Object.keys(decisionTriggers) as CaseDecision[]

/** Additional fields of a decision: proof of the bank, another operation, or an amount. */
export const evidenceFields = ['endToEndId', 'returnId', 'operationId', 'amountCents'] as const

export type EvidenceField = (typeof evidenceFields)[number]

/** Guards of decisions for every kind of operation, each with its explanation. */
export const outgoingGuards = {
  'another case is open': 'another case that keeps it in doubt is open',
  'money that left is in suspense':
    'of the payment or return that the case is about, money that left is in suspense now',
  'its movement is known':
    'the end-to-end id, or return id, that the operator names was booked before, here or elsewhere',
  'no answer settles it': 'the case is only to be looked at: no further answer of the bank changes it',
} as const

/** Guards where money may also arrive. */
export const decisionGuards = {
  ...outgoingGuards,
  'money that arrived is in suspense':
    'of the payment or return that the case is about, money that arrived is in suspense now',
} as const

export type DecisionGuard = keyof typeof decisionGuards

/**
 * Every kind of case: its operations, its meaning, and the place of its money. A kind defines the decision to make; the
 * cause is the rule in the case's facts.
 */

export interface CaseKind {
  /** Kinds of operation it is about; empty: no operation. */
  readonly of: readonly ('cash_in' | 'cash_out' | 'refund_in' | 'adjustment')[]
  readonly meaning: string
  /** Place of the money that waits for a decision; `nothing`: none. */
  readonly holds: 'suspense' | 'reserve' | 'difference' | 'nothing'
  /**
   * Decisions about a case without an operation, each with its effect. Those of operations are lines of their tables.
   */
  readonly decisions?: Readonly<Partial<Record<CaseDecision, string>>>
}

const ORDERS = ['cash_out', 'refund_in'] as const
const ALL = ['cash_in', ...ORDERS] as const

const CLOSE = 'Close it as explained. No money is booked.'

const BOOK = 'Hand the movement over to the operation that you name, which books it by its own table.'

/** @source rules#cases.50 */
export const caseKinds = {
  payment_in_suspense: {
    of: ['cash_in'],
    meaning:
      'A payment arrived that does not pay the charge as it was ordered: another amount, a second payment, one outside its time, or one while the charge was in doubt. The money is in suspense.',
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
      'The bank gave no clear answer about the charge: none, one that contradicts the order, or one after the charge had ended. No payment was booked.',
    holds: 'nothing',
  },
  outcome_unknown: {
    of: ORDERS,
    meaning: 'The outcome of the order is missing or contradicts what was sent. The money stays reserved.',
    holds: 'reserve',
  },
  bank_contradicts: {
    of: ALL,
    meaning: 'The bank contradicts what it reported before, or what is booked. No money waits in suspense for it.',
    holds: 'nothing',
  },
  debit_in_suspense: {
    of: ALL,
    meaning: 'Money left that is not yet the operation’s: it is in suspense. What is reserved stays reserved.',
    holds: 'suspense',
  },
  return_in_suspense: {
    of: ['cash_out'],
    meaning: 'Money of the payout came back, and it is unclear whether it is credited. It is in suspense.',
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
      'Money went back, and for 15 minutes the bank has not said whether a refund under way is it. The amount that was available is held.',
    holds: 'suspense',
  },
  unexplained_credit: {
    of: ['adjustment'],
    meaning: 'The bank’s statement has money that came in and that no operation explains. It is in suspense.',
    holds: 'suspense',
  },
  unexplained_debit: {
    of: [],
    meaning: 'The bank’s statement has money that left and that the books do not have. It is booked nowhere.',
    holds: 'difference',
    decisions: {
      book: BOOK,
      debit: 'Book it and let the merchant bear it; what the balance does not have is owed.',
      write_off: 'Book it as a loss.',
    },
  },
  line_missing: {
    of: [],
    meaning: 'The books have a movement that the bank’s statement does not have. It stays booked.',
    holds: 'difference',
    decisions: {
      reverse:
        'Take the credit back that the bank does not have: its charge has failed, and the merchant, who is notified, owes what the balance does not have.',
      credit: 'Give the merchant back what did not leave.',
      write_off: 'Leave the merchant’s balance as it is: the difference is a loss, or a gain.',
    },
  },
  line_differs: {
    of: [],
    meaning:
      'The bank’s statement has a movement otherwise than the books, or had it otherwise before. The books stay as they were.',
    holds: 'difference',
    decisions: {
      credit: 'Book what the bank has more and credit it to the merchant.',
      debit: 'Book what the bank has less and let the merchant bear it; what the balance does not have is owed.',
      write_off: 'Book the difference as a gain or as a loss.',
      close: 'Close it as explained, where no difference is left. No money is booked.',
    },
  },
  statement_unreadable: {
    of: [],
    meaning:
      'The bank’s statement has an item that cannot be read. The others are read; its window is read again every hour. Nothing was booked.',
    holds: 'nothing',
    decisions: { close: CLOSE },
  },
  event_set_aside: {
    of: [],
    meaning:
      'An event of the bank was set aside: it names nothing that is known, contradicts itself or the bank, or cannot be true. It was applied to nothing.',
    holds: 'nothing',
    decisions: {
      book: 'Apply the event to the operation that you name, as if it had named it. Where the bank can be queried, it is queried first, and only what it confirms is booked.',
      ask_again: 'Match and apply the event again, as it stands.',
      close: 'Close it: the event is applied to nothing. It is kept.',
    },
  },
  ledger_drift: {
    of: [],
    meaning: 'The verification of the books found a fault. Nothing was booked.',
    holds: 'nothing',
    decisions: { close: CLOSE },
  },
  close_differs: {
    of: [],
    meaning: 'The close of a day differs from the bank’s balance by what no open case explains. Nothing was booked.',
    holds: 'nothing',
    decisions: { close: CLOSE },
  },
  adjustment_requested: {
    of: [],
    meaning: 'An operator asked for an adjustment of the balance that takes a second person. Nothing was booked.',
    holds: 'nothing',
    decisions: {
      credit: 'Book the adjustment: the money came in, and is available.',
      debit: 'Book the adjustment: the money went out of what is available.',
      close: 'Close it without an adjustment.',
    },
  },
} as const satisfies Readonly<Record<string, CaseKind>>

/** The name of a kind of case. */
export type CaseKindName = keyof typeof caseKinds

/** A kind of case without an operation. */
export type CaseWithoutOperation = {
  [Name in CaseKindName]: (typeof caseKinds)[Name] extends { readonly decisions: object } ? Name : never
}[CaseKindName]

/** A kind of case that an operation's table opens. */
export type CaseOfOperation = Exclude<CaseKindName, CaseWithoutOperation>

/** A kind of case; `undefined` if this version does not know it. */
export function caseKind(name: string): CaseKind | undefined {
  return Object.hasOwn(caseKinds, name) ? caseKinds[name as CaseKindName] : undefined
}
