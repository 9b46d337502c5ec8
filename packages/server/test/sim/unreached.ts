/** What the simulation cannot reach, or reaches by no seed that is known: rows, kinds of case and decisions, by the names that coverage.ts gives them. */

/** What cannot be reached, by the reason. The test fails where one of them is reached. */
const UNREACHABLE: readonly (readonly [reason: string, names: readonly string[]])[] = [
  [
    'its case is open only while its money is in suspense, and then it cannot be closed as explained',
    [
      'cash_in return_unattributed close',
      'cash_in movement_elsewhere close',
      'cash_out amount_differs close',
      'cash_out confirmed_in_doubt close',
      'cash_out confirmed_after_release close',
      'cash_out returned_too_much close',
      'cash_out return_unnamed close',
      'cash_out returned_in_doubt close',
      'cash_out second_payment close',
      'cash_out movement_elsewhere close',
      'refund_in amount_differs close',
      'refund_in confirmed_unnamed close',
      'refund_in confirmed_in_doubt close',
      'refund_in confirmed_after_release close',
      'refund_in second_payment close',
      'refund_in movement_elsewhere close',
    ],
  ],
  [
    'more than the value of a payout is never credited, and no credit of a return is taken back',
    ['cash_out returned_too_much credit'],
  ],
  [
    'the bank’s own book names what it told without an id otherwise, so that no simulated operator can prove it: test/cash-in/desk, test/cash-out/desk, test/refund-in/desk do',
    [
      'cash_in return_unnamed return',
      'cash_in return_unnamed write_off',
      'cash_out return_unnamed credit',
      'cash_out return_unnamed write_off',
      'refund_in confirmed_unnamed confirm',
      'refund_in confirmed_unnamed return',
      'refund_in confirmed_unnamed write_off',
    ],
  ],
  [
    'what the same answer contradicts comes first, and is a doubt already',
    [
      'cash_in cash-in.states.12 PROVIDER_RESULT_UNKNOWN partner.confirmed [answer contradicts] → RECONCILIATION_REQUIRED',
    ],
  ],
  [
    'a refund that is confirmed by a return id which its cash-in has is `return_booked_before`, and tells the cash-in nothing',
    [
      'cash_in cash-in.refunds.6 PAID refund.taken [return restated] → PAID',
      'cash_in cash-in.refunds.6 RECONCILIATION_REQUIRED:* refund.taken [return restated] → RECONCILIATION_REQUIRED',
    ],
  ],
  [
    'an event about a return that the bank made by itself means the cash-in, never the refund that was booked for it',
    ['refund_in refund-in.work.5 CONFIRMED:* work.requested [the bank made it by itself] → CONFIRMED'],
  ],
]

/** The reason why something is never reached, by its name. */
export const NEVER: Readonly<Record<string, string>> = Object.fromEntries(
  UNREACHABLE.flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
)

/**
 * What takes so many things in one order that no seed in corpus.ts reaches it yet: the tests of the rules try each of them alone.
 * Nobody is told where one of them is not reached; what has a seed has no place here.
 */
export const SELDOM: ReadonlySet<string> = new Set([
  'cash_in cash-in.states.16 RECONCILIATION_REQUIRED:no_answer charge.accepted [reference differs] → RECONCILIATION_REQUIRED',
  'cash_in cash-in.states.11 RECONCILIATION_REQUIRED:no_answer clock.expired → EXPIRED',
  'cash_in cash-in.states.11 PROVIDER_RESULT_UNKNOWN charge.not_found [its time is over, absence is proven] → EXPIRED',
  'cash_in cash-in.states.11 RECONCILIATION_REQUIRED:no_answer charge.not_found [its time is over, absence is proven] → EXPIRED',
  'cash_in cash-in.paid.3 PROVIDER_RESULT_UNKNOWN partner.confirmed [payment restated] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.states.12 EXPIRED partner.confirmed [answer contradicts] → RECONCILIATION_REQUIRED',
  'cash_in cash-in.desk.7 EXPIRED operator.undone [money that left is in suspense] → EXPIRED',
  'cash_in cash-in.desk.7 FAILED operator.undone [money that left is in suspense] → FAILED',
  'cash_out cash-out.states.7 RECONCILIATION_REQUIRED:no_answer send.rejected [refusal is of the latest attempt, not the bank has it, not another attempt may arrive] → FAILED',
  'cash_out cash-out.confirmed.3 RELEASED partner.confirmed [movement restated] → RECONCILIATION_REQUIRED',
  'cash_out cash-out.confirmed.3 PROVIDER_RESULT_UNKNOWN partner.confirmed [movement restated] → RECONCILIATION_REQUIRED',
  'cash_out cash-out.reversal.3 RELEASED partner.returned [return restated] → RELEASED',
  'cash_out cash-out.reversal.5 CONFIRMED partner.returned [return may be known] → CONFIRMED',
  'cash_out cash-out.reversal.5 REVERSED partner.returned [return has no id] → RECONCILIATION_REQUIRED',
  'cash_out cash-out.desk.1 PROVIDER_RESULT_UNKNOWN operator.confirmed [not its movement is known, not money of it is in suspense] → CONFIRMED',
  'cash_out cash-out.desk.2 PROVIDER_RESULT_UNKNOWN operator.failed [not an attempt may still arrive, not the statement shows it, not money of it is in suspense] → FAILED',
  'cash_out cash-out.desk.9 DISPATCHED operator.explained [not money that arrived is in suspense, not money that left is in suspense] → DISPATCHED',
  'cash_out cash-out.desk.9 PROVIDER_RESULT_UNKNOWN operator.explained [not money that arrived is in suspense, not money that left is in suspense] → PROVIDER_RESULT_UNKNOWN',
  'cash_out cash-out.desk.9 RELEASED operator.explained [not money that arrived is in suspense, not money that left is in suspense] → RELEASED',
  'cash_out cash-out.desk.10 PROVIDER_RESULT_UNKNOWN operator.reopened → PROVIDER_RESULT_UNKNOWN',
  'cash_out cash-out.desk.10 RELEASED operator.reopened → RELEASED',
  'refund_in refund-in.states.4 PENDING:no_answer send.rejected [refusal is of the latest attempt, not the bank has it, not another attempt may arrive] → FAILED',
  'refund_in refund-in.states.11 PENDING:no_answer operator.refused [it was never claimed, not the bank has it] → FAILED',
  'refund_in refund-in.doubt.2 PENDING:no_answer partner.failed [it was never claimed] → PENDING',
  'cash_in paid_in_doubt attribute',
  'cash_in paid_before_charge attribute',
  'cash_in cash-in.refunds.6 PROVIDER_RESULT_UNKNOWN return.told [return restated] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.refunds.11 PENDING return.told [movement belongs to another operation] → PENDING',
  'cash_in cash-in.refunds.11 PROVIDER_RESULT_UNKNOWN return.told [movement belongs to another operation] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.refunds.10 PENDING return.told [return has no id, return may be known] → PENDING',
  'cash_in cash-in.refunds.10 PROVIDER_RESULT_UNKNOWN return.told [return has no id, return may be known] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.refunds.10 PENDING return.told [return has no id] → PENDING',
  'cash_in cash-in.refunds.10 PROVIDER_RESULT_UNKNOWN return.told [return has no id] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.refunds.9 PENDING return.told [payment cannot be identified] → PENDING',
  'cash_in cash-in.refunds.9 PROVIDER_RESULT_UNKNOWN return.told [payment cannot be identified] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.returns.5 PENDING return.known [money of it is held] → PENDING',
  'cash_in cash-in.returns.5 PROVIDER_RESULT_UNKNOWN return.known [money of it is held] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.desk.7 PENDING operator.undone [money that left is in suspense] → PENDING',
  'cash_in cash-in.desk.7 PROVIDER_RESULT_UNKNOWN operator.undone [money that left is in suspense] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.desk.8 PENDING operator.returned [money that left is in suspense, the merchant has a payment of it, not its movement is known] → PENDING',
  'cash_in cash-in.desk.8 PROVIDER_RESULT_UNKNOWN operator.returned [money that left is in suspense, the merchant has a payment of it, not its movement is known] → PROVIDER_RESULT_UNKNOWN',
  'cash_in cash-in.desk.9 PENDING operator.written_off [money that left is in suspense, not its movement is known] → PENDING',
  'cash_in cash-in.desk.9 PROVIDER_RESULT_UNKNOWN operator.written_off [money that left is in suspense, not its movement is known] → PROVIDER_RESULT_UNKNOWN',
  'cash_out cash-out.states.10 RECONCILIATION_REQUIRED:no_answer clock.released [nothing of it left, it was tried for 30 minutes, not the bank has it] → RELEASED',
  'cash_in paid_after_expiry attribute',
  'cash_out cash-out.desk.9 CONFIRMED operator.explained [it is confirmed] → CONFIRMED',
  'cash_out cash-out.desk.9 REVERSED operator.explained [it is confirmed] → REVERSED',
  'cash_out cash-out.desk.9 FAILED operator.explained [the reservation was given back] → FAILED',
  'cash_out cash-out.desk.9 RELEASED operator.explained [the reservation was given back] → RELEASED',
  'refund_in refund-in.desk.7 CONFIRMED:* operator.explained → CONFIRMED',
  'refund_in refund-in.desk.7 FAILED:* operator.explained → FAILED',
  'cash_out result_missing close',
  'cash_out still_reserved close',
  'cash_out confirmed_without_sending close',
  'cash_out outcome_overdue close',
  'refund_in result_missing close',
  'refund_in still_reserved close',
  'refund_in outcome_overdue close',
  'refund_in confirmed_without_sending close',
])
