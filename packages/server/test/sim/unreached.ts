/** What the simulation does not reach: rows, kinds of case and decisions, by the names that coverage.ts gives them. */

/** What cannot be reached, by the reason. The test fails where one of them is reached. */
const UNREACHABLE: readonly (readonly [reason: string, names: readonly string[]])[] = [
  [
    'its case is open only while its money is in suspense, and then it cannot be closed as explained',
    [
      'cash_in debit_in_suspense close',
      'cash_out debit_in_suspense close',
      'cash_out return_in_suspense close',
      'refund_in debit_in_suspense close',
    ],
  ],
  [
    'what the same answer contradicts comes first, and is a doubt already',
    [
      'cash_in cash-in.states.12 PROVIDER_RESULT_UNKNOWN partner.confirmed [answer contradicts] → RECONCILIATION_REQUIRED',
    ],
  ],
  [
    'a refund that is confirmed by a return id which its cash-in has is `bank_contradicts`, and tells the cash-in nothing',
    [
      'cash_in cash-in.refunds.6 PAID refund.taken [return restated] → PAID',
      'cash_in cash-in.refunds.6 RECONCILIATION_REQUIRED:* refund.taken [return restated] → RECONCILIATION_REQUIRED',
    ],
  ],
  [
    'in this state no case of a payout is open but `outcome_unknown`, and in DISPATCHED alone: of what the bank has no answer is unknown (I16)',
    [
      'cash_out cash-out.cases.1 PROVIDER_RESULT_UNKNOWN operator.executed [not its movement is known, not money of it is in suspense] → CONFIRMED',
      'cash_out cash-out.cases.2 PROVIDER_RESULT_UNKNOWN operator.not_executed [not an attempt may still arrive, not the statement shows it, not money of it is in suspense] → FAILED',
      'cash_out cash-out.cases.9 DISPATCHED operator.explained [not money that arrived is in suspense, not money that left is in suspense] → DISPATCHED',
      'cash_out cash-out.cases.9 PROVIDER_RESULT_UNKNOWN operator.explained [not money that arrived is in suspense, not money that left is in suspense] → PROVIDER_RESULT_UNKNOWN',
      'cash_out cash-out.cases.10 PROVIDER_RESULT_UNKNOWN operator.asked_again [not no answer settles it] → PROVIDER_RESULT_UNKNOWN',
    ],
  ],
  [
    'money that left for a payout shows that the bank has it: it does not wait to be sent again, nor for the answer to a call',
    [
      'cash_out cash-out.confirmed.3 RESERVED partner.confirmed [movement restated] → RECONCILIATION_REQUIRED',
      'cash_out cash-out.confirmed.3 PROVIDER_RESULT_UNKNOWN partner.confirmed [movement restated] → RECONCILIATION_REQUIRED',
    ],
  ],
  [
    'money that left after the release is a doubt, and what was given back is `FAILED` once that is decided',
    ['cash_out cash-out.confirmed.3 RELEASED partner.confirmed [movement restated] → RECONCILIATION_REQUIRED'],
  ],
  [
    'of a payout in doubt one case at most waits for the outcome',
    [
      'cash_out cash-out.cases.9 RECONCILIATION_REQUIRED:* operator.explained [the reservation was given back] → RECONCILIATION_REQUIRED',
    ],
  ],
  [
    'the end of a doubt closes every case that waits for an outcome, and the outcome of what is under way closes `outcome_unknown`: a payout that has ended has none of them (I16)',
    [
      'cash_out cash-out.cases.9 CONFIRMED operator.explained [it is confirmed] → CONFIRMED',
      'cash_out cash-out.cases.9 REVERSED operator.explained [it is confirmed] → REVERSED',
      'cash_out cash-out.cases.9 FAILED operator.explained [the reservation was given back] → FAILED',
      'cash_out cash-out.cases.9 RELEASED operator.explained [the reservation was given back] → RELEASED',
    ],
  ],
  [
    'an event about a return that the bank made by itself means the cash-in, never the refund that was booked for it',
    ['refund_in refund-in.work.5 CONFIRMED:* work.requested [the bank made it by itself] → CONFIRMED'],
  ],
]

/**
 * Reachable, but so rarely that none of 8,000 seeds does: mostly events about refunds of a charge whose credit was reversed, or that was
 * never credited. The tests of the tables cover these rows.
 */
export const RARE: ReadonlySet<string> = new Set([
  'refund_in refund-in.cases.2 PENDING:* operator.not_executed [another case is open, not an attempt may still arrive, not the statement shows it, not money of it is in suspense] → FAILED',
  'cash_in payment_in_suspense close',
  'cash_in cash-in.refunds.6 PENDING refund.taken [return restated] → PENDING',
  'cash_in cash-in.refunds.6 EXPIRED refund.taken [return restated] → EXPIRED',
  'cash_in cash-in.refunds.6 FAILED refund.taken [return restated] → FAILED',
  'cash_in cash-in.refunds.6 PROVIDER_RESULT_UNKNOWN refund.taken [return restated] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.refunds.5 PENDING refund.confirmed [returns exceed the payment] → PENDING',
  'cash_in cash-in.refunds.5 PENDING refund.taken [returns exceed the payment] → PENDING',
  'cash_in cash-in.refunds.5 EXPIRED refund.confirmed [returns exceed the payment] → EXPIRED',
  'cash_in cash-in.refunds.5 EXPIRED refund.taken [returns exceed the payment] → EXPIRED',
  'cash_in cash-in.refunds.5 FAILED refund.confirmed [returns exceed the payment] → FAILED',
  'cash_in cash-in.refunds.5 FAILED refund.taken [returns exceed the payment] → FAILED',
  'cash_in cash-in.refunds.5 PROVIDER_RESULT_UNKNOWN refund.confirmed [returns exceed the payment] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.refunds.5 PROVIDER_RESULT_UNKNOWN refund.taken [returns exceed the payment] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.returns.4 PENDING return.unexplained [it was held before] → PENDING',
  'cash_in cash-in.returns.4 EXPIRED return.unexplained [it was held before] → EXPIRED',
  'cash_in cash-in.returns.4 FAILED return.unexplained [it was held before] → FAILED',
  'cash_in cash-in.returns.4 PROVIDER_RESULT_UNKNOWN return.unexplained [it was held before] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.cases.16 PAID operator.reversed [not part of it went back, or may] → FAILED',
  'refund_in refund-in.cases.7 FAILED:* operator.explained → FAILED',
])

/** The reason why something is never reached, by its name. */
export const NEVER: Readonly<Record<string, string>> = Object.fromEntries(
  UNREACHABLE.flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
)
