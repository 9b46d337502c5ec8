/**
 * Cases of no operation: what the bank’s statement, its events and the verification of the books found, and what an operator may
 * decide of each. The desk offers nothing else.
 */

/** What an operator may decide of a case of no operation. */
export type LooseDecision = 'book' | 'credit' | 'debit' | 'write_off' | 'reverse' | 'ask_again' | 'close'

/** Every decision about a case of no operation. */
export const looseDecisionNames: readonly LooseDecision[] = [
  'book',
  'credit',
  'debit',
  'write_off',
  'reverse',
  'ask_again',
  'close',
]

/** A kind of case: what it tells, and what may be decided, each with what it does. */
export interface LooseCaseKind {
  readonly meaning: string
  readonly decisions: Readonly<Partial<Record<LooseDecision, string>>>
}

const CLOSE = 'Close it as explained. No money is booked.'

const EVENT: LooseCaseKind['decisions'] = {
  book: 'Apply the event to the operation that you name, as if it had named it. Where the bank can be asked, it is asked first, and only what it confirms is booked.',
  ask_again: 'Match and apply the event again, as it stands.',
  close: 'Close it: the event is applied to nothing. It is kept.',
}

/**
 * Every kind of case that has no operation.
 * @source rules#desk.50
 */
export const looseCases = {
  statement_unexplained: {
    meaning: 'The bank’s statement has money that left and that the books do not have. It is booked nowhere.',
    decisions: {
      book: 'Hand the movement over to the operation that you name, which books it by its own table.',
      debit: 'Book it and let the merchant bear it; what the balance does not have is owed.',
      write_off: 'Book it as a loss.',
    },
  },
  statement_missing: {
    meaning: 'The books have a movement that the bank’s statement does not have. It stays booked.',
    decisions: {
      reverse:
        'Take the credit back that the bank does not have: its charge has failed, and the merchant, who is notified, owes what the balance does not have.',
      credit: 'Give the merchant back what did not leave.',
      write_off: 'Leave the merchant’s balance as it is: the difference is a loss, or a gain.',
    },
  },
  statement_differs: {
    meaning:
      'The bank’s statement has a movement otherwise than the books, or told it otherwise before. The books stay as they were.',
    decisions: {
      credit: 'Book what the bank has more and credit it to the merchant.',
      debit: 'Book what the bank has less and let the merchant bear it; what the balance does not have is owed.',
      write_off: 'Book the difference as a gain or as a loss.',
      close: 'Close it as explained, where no difference is left. No money is booked.',
    },
  },
  statement_unreadable: {
    meaning:
      'The bank’s statement has an item that cannot be read. The others are read; its window is read again every hour. Nothing was booked.',
    decisions: { close: CLOSE },
  },
  unmatched_event: {
    meaning: 'An event of the bank names nothing that is known here, after all its tries. It was applied to nothing.',
    decisions: EVENT,
  },
  disputed_event: {
    meaning:
      'The references of an event of the bank contradict each other, or the bank does not confirm it. It was applied to nothing.',
    decisions: EVENT,
  },
  quarantined_event: {
    meaning: 'An event of the bank could not be read, or cannot be true. It was applied to nothing.',
    decisions: EVENT,
  },
  ledger_drift: {
    meaning: 'The verification of the books found a fault. Nothing was booked.',
    decisions: { close: CLOSE },
  },
  adjustment_requested: {
    meaning: 'An operator asked for an adjustment of the balance that takes a second person. Nothing was booked.',
    decisions: {
      credit: 'Book the adjustment: the money came in, and is available.',
      debit: 'Book the adjustment: the money went out of what is available.',
      close: 'Close it without an adjustment.',
    },
  },
  close_differs: {
    meaning: 'The close of a day differs from the bank’s balance by what no open case explains. Nothing was booked.',
    decisions: { close: CLOSE },
  },
} as const satisfies Readonly<Record<string, LooseCaseKind>>

/** A kind of case that has no operation. */
export type LooseCase = keyof typeof looseCases

/** A kind of case that has no operation; `undefined` for any other. */
export function looseCaseKind(kind: string): LooseCaseKind | undefined {
  return Object.hasOwn(looseCases, kind) ? looseCases[kind as LooseCase] : undefined
}
