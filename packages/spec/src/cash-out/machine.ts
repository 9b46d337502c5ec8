import { decisionGuards } from '../cases.ts'
import { doubtText, machine, RESULT_UNKNOWN_TEXT, type ReasonOf, type StateOf } from '../machine.ts'
import { orderGuards, orderTriggers } from '../order.ts'
import { cashOutDecisions } from './decisions.ts'

/** Cash-out: money sent to a Pix key or paid from a QR code. A doubt never releases money. */

const UNDOUBTED = [
  'RESERVED',
  'DISPATCHED',
  'CONFIRMED',
  'FAILED',
  'REVERSED',
  'RELEASED',
  'PROVIDER_RESULT_UNKNOWN',
] as const

const ANY = [...UNDOUBTED, 'RECONCILIATION_REQUIRED:*'] as const
/** In flight without a contradiction: the bank's answer alone decides. @source rules#cash-out.reconciliation.1 */
const OPEN = ['DISPATCHED', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED:no_answer'] as const
/** The same, before a case about the missing answer was opened. */
const AWAITED = ['DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'] as const
const LEFT = ['CONFIRMED', 'REVERSED'] as const
const GIVEN_BACK = ['FAILED', 'RELEASED'] as const
const DOUBT = 'RECONCILIATION_REQUIRED:*'
const NO_ANSWER = 'RECONCILIATION_REQUIRED:no_answer'
const CONFLICT = 'RECONCILIATION_REQUIRED:conflict'
const NOT_DISPATCHED = 'RECONCILIATION_REQUIRED:not_dispatched'

const reasons = {
  no_answer:
    'The bank has reported no outcome for 15 minutes, or since an operator decided an earlier report. One clear answer settles it.',
  conflict:
    'The bank’s answer or report contradicts the order, an earlier report, or the books. Operator action is required.',
  not_dispatched:
    'An event confirms a payout that was never sent according to our records. The bank’s own answer settles it.',
}

/**
 * State machine of a cash-out. `send.*`: the bank’s answers to our call. `partner.*`: its reports, by webhook or query.
 * `clock.*`: time.
 * @source rules#cash-out.states
 */
export const cashOut = machine({
  resource: 'cash_out',
  states: [...UNDOUBTED, 'RECONCILIATION_REQUIRED'],
  meanings: {
    RESERVED: 'Accepted: value and fee are reserved, and nothing was sent yet.',
    DISPATCHED: 'Being sent, or accepted by the bank without an outcome yet.',
    CONFIRMED: 'The bank confirmed that the money left.',
    FAILED:
      'The bank refused it or reported its failure, and no money left: the reservation is released. `failureCode` and `failureReason` say why.',
    REVERSED: 'Confirmed, then returned, whole or in part: `reversedCents` is the amount, which is credited.',
    RELEASED:
      'Never sent: not within 24 hours, or in 30 minutes of attempts that all failed before sending, or refused by an operator. The reservation is released. The notification’s status is `FAILED`.',
    PROVIDER_RESULT_UNKNOWN: `${RESULT_UNKNOWN_TEXT} The reservation stays: never send it again as another payout.`,
    RECONCILIATION_REQUIRED: doubtText(reasons),
  },
  reasons,
  triggers: [
    ...orderTriggers,
    'partner.tariff',
    'operator.approved',
    'operator.refused',
    'operator.executed',
    'operator.not_executed',
    'operator.attributed',
    'operator.written_off',
    'operator.explained',
    'operator.asked_again',
    'doubt.decided',
  ],
  guards: {
    ...orderGuards,
    ...decisionGuards,
    'money of it is in suspense': 'money debited for it is in suspense; that case decides',
    'an attempt may still arrive':
      'a call is in flight, or the last attempt that may have been sent is younger than 5 minutes, and the bank has not reported that it has the order',
    'it is confirmed': 'the payout was confirmed, and the merchant was notified',
    'it came back': 'part of the payout was returned and credited',
    'payouts and refunds are enabled':
      'payouts and refunds are enabled at commit time, regardless of the value a worker read before',
    'it was not claimed within 24 hours':
      'it was created, or, if it needs an approval, approved at least 24 hours ago, and never claimed for sending',
    'an approval is missing': 'it needs approvals by operators who did not create the API key',
    'the code asks for something else':
      'the decoded QR code has another amount or recipient now, or cannot be paid any more',
    'it was tried for 30 minutes': 'the first attempt was at least 30 minutes ago',
    'nothing of it left': 'it was attempted, and no byte of any attempt was sent',
    'movement belongs to another operation': 'the end-to-end id, or return id, is booked on another operation',
    'confirmation is to be verified':
      'only an event reports it, and it lacks the reference of the bank’s own answer, or the payout needed an approval',
    'amount or recipient differs':
      'the bank reports another amount, or another recipient: another key (in an answer only), or a complete document that differs from the decoded code or the client’s request',
    'it was never claimed': 'it was never claimed for sending',
    'the reservation was given back': 'its reservation was released before',
    'movement restated': 'the confirmation has the booked end-to-end id with another amount or recipient',
    'reference differs': 'the bank reports another reference than before',
    'return is of another payment': 'an event reports the return under another end-to-end id than the payout’s',
    'return restated': 'the return id is booked with another amount',
    'return may be known': 'a return of the same amount is booked, and one of the two was reported without an id',
    'return has no id':
      'the bank, which has no queries, gave no return id, so the same return may be reported again under an id',
    'returns exceed the payout':
      'the sum of all returns exceeds the payout; or the return does not name the confirming payment, while another payment that was written off is not fully returned',
  },
  // biome-ignore format: one line of the table is one line
  lines: [
    { from: null, on: 'create', to: 'RESERVED', posts: 'cash_out_reserved', rule: 'cash-out.states.1', says: 'An accepted request reserves value and fee in the same commit, or nothing is stored.' },

    // Releases of the reservation: each row requires proof that no money left or will leave.
    { from: 'RESERVED', on: 'clock.released', when: 'it was not claimed within 24 hours', unless: 'the bank has it', to: 'RELEASED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.states.3', says: 'A payout not claimed within 24 hours is released, with a notification of `FAILED`. If the bank’s statement shows a debit for it, it is neither sent nor released, and the bank is queried.' },
    { from: OPEN, on: 'clock.released', when: ['nothing of it left', 'it was tried for 30 minutes'], unless: 'the bank has it', to: 'RELEASED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.states.10', says: 'If every attempt of 30 minutes failed before its first byte, nothing was sent, even if queries got no answer. Decided on the committed payout, not on the worker’s copy.' },
    { from: OPEN, on: 'send.rejected', when: 'refusal is of the latest attempt', unless: ['the bank has it', 'another attempt may arrive'], to: 'FAILED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.states.7', says: 'A definite refusal releases the money, with a notification, if it concerns the latest attempt, the bank does not have the order, and no other attempt may arrive.' },
    { from: OPEN, on: 'partner.failed', unless: ['only an event reports it', 'the statement shows it'], to: 'FAILED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.states.13', says: 'A failure reported by a query releases the money, with a notification. An event suffices where the bank has no queries. A debit on the statement is booked first; meanwhile a failure releases nothing.' },
    { from: OPEN, on: 'partner.not_found', when: 'absence is proven', unless: 'it may be sent again', to: 'FAILED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.unknown.6', says: 'A payout that may not be sent again is `FAILED` once its absence is proven; never while in conflict.' },

    { from: 'RESERVED', on: 'operator.refused', unless: 'the bank has it', to: 'RELEASED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.approval.8', says: 'An operator refuses a payout that was not claimed: the reservation is released, with the code `not_approved` if it waited for an approval, otherwise `refused_by_operator`. A `RESERVED` payout has no attempts.' },
    { from: 'RESERVED', on: 'operator.approved', when: ['an approval is missing', 'the code asks for something else'], unless: 'the bank has it', to: 'RELEASED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.approval.9', says: 'A QR code that changed before the approval is not paid: `RELEASED` with the code `pix_code_changed`.' },

    // No release.
    { from: OPEN, on: 'send.rejected', to: 'same', asks: true, rule: 'cash-out.unknown.8', says: 'Any other refusal releases nothing: a later attempt followed, the bank has the order, or another attempt may have arrived or may still arrive. The payout is not sent again; a query’s outcome or proven absence ends it.' },
    { from: [...AWAITED, 'CONFIRMED', DOUBT], on: 'partner.failed', when: 'only an event reports it', to: 'same', asks: true, rule: 'cash-out.states.14', says: 'A failure reported by an event only changes neither state nor money, even after the confirmation; the bank is queried.' },
    { from: AWAITED, on: ['send.unknown', 'partner.not_found'], when: 'no answer for 15 minutes', unless: 'the bank has it', to: NO_ANSWER, opens: 'outcome_unknown', rule: 'cash-out.unknown.5', says: 'After 15 minutes without an outcome the payout is in doubt, with a case. A timeout never releases money.' },
    { from: AWAITED, on: 'send.unknown', when: 'the bank has it', to: 'ignored', rule: 'cash-out.unknown.9', says: 'A failed query casts no doubt on an order that the bank has.' },
    { from: AWAITED, on: 'send.unknown', to: 'PROVIDER_RESULT_UNKNOWN', rule: 'cash-out.unknown.3', says: 'A call without a known outcome sends no notification; the bank is queried. A timeout never releases money.' },
    { from: NO_ANSWER, on: 'send.unknown', to: 'same', rule: 'cash-out.unknown.3', says: 'In doubt for a missing answer, the bank is queried again after a minute.' },
    { from: [...AWAITED, DOUBT], on: 'partner.not_found', to: 'same', rule: 'cash-out.unknown.4', says: '«Not found» by itself changes neither state nor money.' },

    { from: 'RESERVED', on: 'operator.approved', when: 'an approval is missing', to: 'same', rule: 'cash-out.approval.7', says: 'An operator approves the payout. The last approval makes it due at once.' },
    { from: 'RESERVED', on: 'send.claimed', when: ['payouts and refunds are enabled', 'work is due'], unless: ['it was not claimed within 24 hours', 'an approval is missing', 'the bank has it'], to: 'DISPATCHED', rule: 'cash-out.states.2', says: 'The claim makes the payout `DISPATCHED` before the call to the bank starts.' },
    { from: OPEN, on: 'send.claimed', when: ['payouts and refunds are enabled', 'work is due', 'nothing of it left'], unless: ['the bank has it', 'it was tried for 30 minutes'], to: 'same', rule: 'cash-out.unknown.1', says: 'A repeated attempt is a new claim under the same id: for 30 minutes after the first attempt, while no byte of any attempt was sent.' },
    { from: OPEN, on: 'send.claimed', when: ['payouts and refunds are enabled', 'asked in vain and safe to repeat'], to: 'same', rule: 'cash-out.unknown.7', says: 'A bank with idempotent orders executes a repeated order once, within its stated window. After the lease has ended, the bank is queried first, if possible; if it does not find the order, or does not answer, the same bytes are sent again under the same id.' },
    { from: 'DISPATCHED', on: 'send.accepted', to: 'same', rule: 'cash-out.states.6', says: 'The bank accepted the order: it stays `DISPATCHED` until an outcome is reported.' },
    { from: ['PROVIDER_RESULT_UNKNOWN', NO_ANSWER], on: 'send.accepted', to: 'DISPATCHED', rule: 'cash-out.unknown.2', says: 'The bank has the order after all: it is `DISPATCHED` again.' },
    { from: OPEN, on: 'send.not_sent', to: 'same', rule: 'cash-out.states.8', says: 'A call that failed before its first byte is repeated under the same id after 1, 2, 4 … s, at most a minute, unless an earlier attempt may have been sent.' },
    { from: OPEN, on: 'send.contradicted', to: CONFLICT, opens: 'outcome_unknown', asks: true, rule: 'cash-out.states.9', says: 'An answer that contradicts the order keeps the reservation and opens a case; the bank is queried once more, at once. If the answer is about our id, its reference is stored and matches later reports to this cash-out.' },
    { from: 'DISPATCHED', on: 'clock.overdue', when: 'the bank has had it for a day', to: 'same', opens: 'outcome_unknown', rule: 'cash-out.states.15', says: 'An order that the bank has had for a day without an outcome opens one case. Queries continue; the outcome closes the case.' },

    // Money that left.
    { from: NOT_DISPATCHED, on: 'partner.confirmed', when: 'only an event reports it', to: 'same', asks: true, rule: 'cash-out.states.5', says: 'Another event confirms a payout that was never sent according to our records: the bank is queried.' },
    { from: OPEN, on: 'partner.confirmed', when: 'confirmation is to be verified', to: 'ignored', rule: 'cash-out.states.17', says: 'Where the bank supports queries, an event confirms a payout in flight only with the reference of the bank’s own answer, and never one that needed an approval. Otherwise the bank is queried, and the event waits until the answer is booked.' },
    { from: [...LEFT, ...GIVEN_BACK, CONFLICT], on: 'partner.confirmed', when: 'only an event reports it', to: 'ignored', rule: 'cash-out.states.18', says: 'An event books nothing on a payout that is confirmed, released or contradicted: the bank is queried, and the event waits until the answer is booked.' },
    { from: ANY, on: 'partner.confirmed', when: 'movement restated', to: CONFLICT, opens: 'bank_contradicts', rule: 'cash-out.confirmed.3', says: 'Other values for an end-to-end id that is booked here, in suspense too, open a case and book nothing, in any state and whichever operation has the movement.' },
    { from: ANY, on: 'partner.confirmed', when: 'movement belongs to another operation', to: CONFLICT, opens: 'movement_elsewhere', rule: 'cash-out.states.16', says: 'A movement belongs to exactly one operation. An end-to-end id that is booked elsewhere is not booked again: a case opens in any state.' },
    { from: 'RESERVED', on: 'partner.confirmed', when: 'only an event reports it', to: NOT_DISPATCHED, opens: 'outcome_unknown', asks: true, rule: 'cash-out.states.5', says: 'An event confirms a payout that was never sent according to our records: a case opens, the money stays reserved, the payout is not sent, and the bank is queried.' },
    { from: 'RESERVED', on: 'partner.confirmed', to: CONFLICT, opens: 'outcome_unknown', asks: true, rule: 'cash-out.states.5', says: 'The same holds for an answer of the bank that confirms it before it was sent.' },
    { from: [...AWAITED, ...GIVEN_BACK, DOUBT], on: 'partner.confirmed', when: 'amount or recipient differs', to: CONFLICT, posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'cash-out.states.12', says: 'A confirmation of another amount or recipient is booked in suspense, with a case. A reservation stays; a released one is not taken again.' },
    { from: GIVEN_BACK, on: 'partner.confirmed', to: CONFLICT, posts: 'left_after_release', opens: 'debit_in_suspense', rule: 'cash-out.ended.2', says: 'Money left after its reservation was released: a case opens, and the available part of value and fee is held again.' },
    { from: DOUBT, on: 'partner.confirmed', when: 'the reservation was given back', to: CONFLICT, posts: 'left_after_release', opens: 'debit_in_suspense', rule: 'cash-out.ended.2', says: 'The same holds in doubt.' },
    { from: OPEN, on: 'partner.confirmed', to: 'CONFIRMED', posts: 'cash_out_confirmed', emits: 'pix_cash_out', rule: 'cash-out.states.11', says: 'A confirmation of the exact amount books the payout, with a notification. A timestamp more than 300 s in the future is rejected as implausible.' },
    { from: NOT_DISPATCHED, on: 'partner.confirmed', to: 'CONFIRMED', posts: 'cash_out_confirmed', emits: 'pix_cash_out', rule: 'cash-out.states.4', says: 'The bank, queried, confirms a payout that was never sent according to our records: `CONFIRMED`. The closed case remains as evidence.' },
    { from: DOUBT, on: 'partner.confirmed', to: CONFLICT, posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'cash-out.reconciliation.2', says: 'Any other debit in doubt is booked in suspense, with a case, in addition to the reservation.' },
    { from: LEFT, on: 'partner.confirmed', to: CONFLICT, posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'cash-out.confirmed.5', says: 'Another end-to-end id is a second payment, booked in suspense with a case, even after the first was returned.' },

    // Money that comes back.
    { from: DOUBT, on: 'partner.returned', when: 'only an event reports it', to: 'ignored', rule: 'cash-out.reconciliation.4', says: 'In doubt, a return reported by an event only is kept until a query confirms it.' },
    { from: LEFT, on: 'partner.returned', when: 'return is of another payment', to: 'same', asks: true, rule: 'cash-out.reversal.4', says: 'A return that an event reports under another payment’s end-to-end id credits nothing; the bank is queried.' },
    { from: LEFT, on: 'partner.returned', when: 'only an event reports it', to: 'ignored', rule: 'cash-out.reversal.6', says: 'A return reported by an event only credits nothing, whatever its amount: the bank is queried, and the event waits until the answer is booked.' },
    { from: [...LEFT, ...GIVEN_BACK, DOUBT], on: 'partner.returned', when: 'return restated', to: 'same', opens: 'bank_contradicts', rule: 'cash-out.reversal.3', says: 'A booked return reported with another amount opens a case; nothing is booked again.' },
    { from: [...LEFT, ...GIVEN_BACK, DOUBT], on: 'partner.returned', when: 'movement belongs to another operation', to: CONFLICT, opens: 'movement_elsewhere', rule: 'cash-out.states.16', says: 'A return id that is booked on another operation is never credited again: a case opens.' },
    { from: [...LEFT, DOUBT], on: 'partner.returned', when: 'return may be known', to: 'same', opens: 'bank_contradicts', rule: 'cash-out.reversal.5', says: 'A return without an id may equal a booked return of the same amount: a case opens, and nothing is booked. The same holds, once, for a return of that amount reported with an id later.' },
    { from: LEFT, on: 'partner.returned', when: 'return has no id', to: CONFLICT, posts: 'arrived_unattributed', opens: 'return_in_suspense', rule: 'cash-out.reversal.5', says: 'A return without an id, from a bank without queries, is booked in suspense, with a case.' },
    { from: LEFT, on: 'partner.returned', when: 'returns exceed the payout', to: CONFLICT, posts: 'arrived_unattributed', opens: 'return_in_suspense', rule: 'cash-out.reversal.2', says: 'A return beyond the payout is booked in suspense, with a case. So is one that does not name the confirming payment while another payment that was written off is not fully returned: it may recover that loss.' },
    { from: LEFT, on: 'partner.returned', to: 'REVERSED', posts: 'cash_out_returned', emits: 'pix_cash_out_reversal', rule: 'cash-out.reversal.1', says: 'Returned money, whole or in part, is credited and notified once per return id; the fee is kept. A return that arrives before its confirmation waits, and both are booked in order.' },
    { from: GIVEN_BACK, on: 'partner.returned', to: CONFLICT, opens: 'bank_contradicts', asks: true, rule: 'cash-out.ended.3', says: 'A return of an unconfirmed payout is not credited, as its reservation was released: a case opens, and the bank is queried.' },
    { from: DOUBT, on: 'partner.returned', to: CONFLICT, posts: 'arrived_unattributed', opens: 'return_in_suspense', rule: 'cash-out.reconciliation.3', says: 'In doubt, a return reported by a query is booked in suspense, with a case.' },

    // Tariffs of the bank.
    { from: ANY, on: 'partner.tariff', to: 'same', posts: 'tariff_deducted', rule: 'cash-out.tariff.1', says: 'A tariff on the bank’s statement is booked once, whatever became of the payout. The merchant pays only the configured fee.' },

    // After the end.
    { from: 'CONFIRMED', on: 'send.accepted', when: 'reference differs', to: 'same', opens: 'bank_contradicts', rule: 'cash-out.confirmed.2', says: 'Another reference after the confirmation opens a case.' },
    { from: 'CONFIRMED', on: 'send.accepted', to: 'same', rule: 'cash-out.confirmed.1', says: 'A late answer only fills in missing data.' },
    { from: 'CONFIRMED', on: ['send.rejected', 'partner.not_found'], to: 'same', opens: 'bank_contradicts', rule: 'cash-out.confirmed.2', says: 'A refusal or «not found» after the confirmation opens a case.' },
    { from: LEFT, on: 'send.contradicted', to: 'same', opens: 'bank_contradicts', rule: 'cash-out.confirmed.2', says: 'An answer that contradicts the order opens a case, too.' },
    { from: 'CONFIRMED', on: 'partner.failed', to: CONFLICT, opens: 'bank_contradicts', asks: true, rule: 'cash-out.confirmed.4', says: 'A failure reported by a query after the confirmation opens a case; nothing is released, and the bank is queried again. An event suffices where the bank has no queries.' },
    { from: GIVEN_BACK, on: ['send.accepted', 'send.contradicted'], to: CONFLICT, opens: 'bank_contradicts', asks: true, rule: 'cash-out.ended.1', says: 'A late acceptance, or an answer that contradicts the order, opens a case; the bank is queried.' },

    // Work.
    { from: ANY, on: 'work.requested', to: 'same', asks: true, rule: 'cash-out.work.1', says: 'Any doubt about a cash-out may request a query of the bank; the state does not change.' },
    { from: ANY, on: 'work.claimed', when: 'work is due', to: 'same', rule: 'cash-out.work.5', says: 'A claim with a lease assigns the query to one process; the call follows outside any transaction.' },
    { from: ANY, on: 'work.done', to: 'same', rule: 'cash-out.work.3', says: 'Work without a change is due again as the state defines.' },

    // Decisions of operators.
    ...cashOutDecisions,
  ],
})

/** A state of a cash-out. */
export type CashOutStatus = StateOf<typeof cashOut>

/** Why a cash-out is in doubt. */
export type CashOutReason = ReasonOf<typeof cashOut>
