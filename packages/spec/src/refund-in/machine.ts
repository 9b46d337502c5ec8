import { outgoingGuards } from '../cases.ts'
import { machine, type ReasonOf, type StateOf } from '../machine.ts'
import { orderGuards, orderTriggers } from '../order.ts'
import { refundInDecisions } from './decisions.ts'

/**
 * Refund-in: all or part of a paid cash-in is returned, by order of the merchant or by the bank. A doubt is no state of
 * its own: it shows as a reason and a case, and the reservation stays.
 */

const ANY = ['PENDING:*', 'CONFIRMED:*', 'FAILED:*'] as const
/** In flight without a contradiction: the bank's answer alone decides. */
const OPEN = ['PENDING', 'PENDING:no_answer'] as const

/**
 * State machine of a refund-in. `send.*`: the bank’s answers to our call. `partner.*`: its reports, by webhook or
 * query. `clock.*`: time. A return made by the bank itself (MED) starts as `CONFIRMED`.
 * @source rules#refund-in.states
 */
export const refundIn = machine({
  resource: 'refund_in',
  states: ['PENDING', 'CONFIRMED', 'FAILED'],
  meanings: {
    PENDING:
      'Accepted: the amount is reserved, and the bank has not confirmed it yet. A refund in doubt stays `PENDING`, too: after 15 minutes, open a support ticket with its `id` and the `X-Correlation-ID`, and do not send it again.',
    CONFIRMED: 'The bank confirmed that the money was returned to the payer.',
    FAILED: 'Nothing was returned: the amount is available again. `failureCode` and `failureReason` say why.',
  },
  reasons: {
    no_answer:
      'The bank has reported no outcome for 15 minutes, or since an operator decided an earlier report. One clear answer settles it.',
    conflict:
      'The bank’s answer or report contradicts the order, an earlier report, or the books. Operator action is required.',
    not_dispatched:
      'An event confirms a refund that was never sent according to our records. The bank’s own answer settles it.',
  },
  triggers: [
    ...orderTriggers,
    'send.postponed',
    'operator.refused',
    'operator.executed',
    'operator.not_executed',
    'operator.written_off',
    'operator.explained',
    'operator.asked_again',
    'doubt.decided',
  ],
  guards: {
    ...orderGuards,
    ...outgoingGuards,
    'its payment may be back already':
      'it returns money in suspense, and that suspense, less possible returns by the bank itself, does not cover all refunds in flight',
    'its payment is not in suspense any more':
      'it returns money in suspense, and that suspense does not cover the amount that left',
    'money of it is in suspense': 'money debited for it is in suspense; that case decides',
    'an attempt may still arrive':
      'a call is in flight, or the last attempt that may have been sent is younger than 5 minutes, and the bank has not reported that it has the order',
    'payouts and refunds are enabled':
      'payouts and refunds are enabled at commit time, regardless of the value a worker read before',
    'the bank made it by itself': 'no order of ours created it',
    'it was never claimed': 'it was never claimed for sending',
    'the time to send it is over': 'it was created 24 hours ago and never claimed, or first attempted 30 minutes ago',
    'nothing of it left': 'it was never claimed, or no byte of any attempt was sent',
    'movement belongs to another operation': 'the return id is booked on an operation of another payment',
    'another payment went back': 'an event reports the return under another end-to-end id than the refunded payment’s',
    'amount differs': 'the reported amount differs from the refund',
    'return has no id':
      'the bank, which has no queries, gave no return id, so the same return may be reported again under an id',
    'return was booked before':
      'the return id is booked as another movement of the cash-in, or one of the two was reported without an id and has the same amount',
    'return restated': 'the confirmation has the booked return id with another amount',
    'reference differs': 'the bank reports another reference than before',
    'money is held again': 'money had left after the failure, and its available part is held',
  },
  // biome-ignore format: one line of the table is one line
  lines: [
    { from: null, on: 'create', to: 'PENDING', posts: 'refund_in_reserved', rule: 'refund-in.states.1', says: 'An accepted request reserves the amount at once. A refund that an operator orders of money in suspense reserves nothing: the suspense itself is kept, released or returned.' },
    { from: null, on: 'partner.returned', to: 'CONFIRMED', posts: 'taken_by_bank', emits: 'pix_cash_in_reversal', rule: 'refund-in.returns.1', says: 'A return made by the bank itself (MED) is a refund, `CONFIRMED` from the start: the balance is debited, a shortfall becomes a debt, and the merchant is notified. It is never refused, even beyond the refundable amount.' },

    // Releases of the reservation: each row requires proof that no money left or will leave.
    { from: OPEN, on: 'clock.released', when: ['nothing of it left', 'the time to send it is over'], unless: 'the bank has it', to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', rule: 'refund-in.states.6', says: 'If every attempt of 30 minutes failed before its first byte, or 24 hours passed without one, it is `FAILED` with the code `never_sent`.' },
    { from: OPEN, on: 'send.rejected', when: 'refusal is of the latest attempt', unless: ['the bank has it', 'another attempt may arrive'], to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', rule: 'refund-in.states.4', says: 'A definite refusal releases the money, with a notification, if it concerns the latest attempt, the bank does not have the order, and no other attempt may arrive.' },
    { from: OPEN, on: 'partner.failed', unless: ['only an event reports it', 'the statement shows it', 'it was never claimed'], to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', rule: 'refund-in.states.8', says: 'A failure that a query confirms releases the money, with a notification. A debit on the statement is booked first.' },
    { from: OPEN, on: 'partner.not_found', when: 'absence is proven', unless: 'it may be sent again', to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', rule: 'refund-in.unknown.3', says: 'A refund that may not be sent again is `FAILED` once its absence is proven.' },
    { from: OPEN, on: 'operator.refused', when: 'it was never claimed', unless: 'the bank has it', to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', rule: 'refund-in.states.11', says: 'An operator refuses a refund that was never claimed: the reservation is released, with the code `refused_by_operator`.' },

    // No release. In conflict it is neither sent nor released, and only debits are booked.
    { from: OPEN, on: 'send.rejected', to: 'same', asks: true, rule: 'refund-in.unknown.5', says: 'Any other refusal releases nothing: a later attempt followed, the bank has the order, or another attempt may have arrived or may still arrive. The refund is not sent again; a query’s outcome or proven absence ends it.' },
    { from: OPEN, on: 'partner.failed', when: 'it was never claimed', to: 'ignored', rule: 'refund-in.doubt.2', says: 'A failure of a refund that was never sent cannot be true.' },
    { from: OPEN, on: 'partner.failed', when: 'only an event reports it', to: 'same', asks: true, rule: 'refund-in.states.9', says: 'A failure reported by an event only releases nothing; the bank is queried at once.' },
    { from: 'PENDING', on: ['send.unknown', 'partner.not_found'], when: 'no answer for 15 minutes', unless: 'the bank has it', to: 'PENDING:no_answer', opens: 'outcome_unknown', rule: 'refund-in.unknown.4', says: 'After 15 minutes without an outcome the refund is in doubt, with a case. One clear answer of the bank ends the doubt and closes the case.' },
    { from: OPEN, on: 'send.unknown', when: 'the bank has it', to: 'ignored', rule: 'refund-in.unknown.6', says: 'A failed query casts no doubt on an order that the bank has.' },
    { from: OPEN, on: 'send.unknown', to: 'same', rule: 'refund-in.unknown.1', says: 'A call without a known outcome keeps the refund `PENDING` and its amount reserved; the bank is queried. A timeout never releases money.' },
    { from: OPEN, on: 'partner.not_found', to: 'same', rule: 'refund-in.unknown.7', says: '«Not found» by itself changes neither state nor money.' },

    { from: OPEN, on: 'send.claimed', when: ['payouts and refunds are enabled', 'work is due', 'nothing of it left'], unless: ['the bank has it', 'the time to send it is over', 'its payment may be back already'], to: 'same', rule: 'refund-in.states.2', says: 'The claim precedes the call to the bank; a repeated attempt is a new claim under the same id.' },
    { from: OPEN, on: 'send.claimed', when: ['payouts and refunds are enabled', 'asked in vain and safe to repeat'], unless: 'its payment may be back already', to: 'same', rule: 'refund-in.unknown.2', says: 'If queries do not find the order, or get no answer, it is sent again under the same id where the bank executes a repeated order once.' },
    { from: OPEN, on: 'send.postponed', when: 'its payment may be back already', to: 'same', rule: 'refund-in.states.12', says: 'While the bank may have returned the money in suspense by itself, the refund is not sent; it is checked again every five minutes.' },
    { from: OPEN, on: 'send.accepted', to: 'PENDING', rule: 'refund-in.states.3', says: 'The bank accepted the order: it stays `PENDING` until an outcome is reported.' },
    { from: 'PENDING:*', on: 'send.not_sent', to: 'same', rule: 'refund-in.states.5', says: 'A call that failed before its first byte is repeated under the same id.' },
    { from: OPEN, on: 'send.contradicted', to: 'PENDING:conflict', opens: 'outcome_unknown', asks: true, rule: 'refund-in.doubt.1', says: 'An answer that contradicts the order opens a case; the bank is queried once more, and a reference for our id is stored.' },
    { from: OPEN, on: 'clock.overdue', when: 'the bank has had it for a day', to: 'same', opens: 'outcome_unknown', rule: 'refund-in.states.10', says: 'An order that the bank has had for a day without an outcome opens one case. Queries continue; the outcome closes the case.' },

    // Money that left.
    { from: 'PENDING:not_dispatched', on: 'partner.confirmed', when: 'only an event reports it', to: 'same', asks: true, rule: 'refund-in.doubt.2', says: 'Another event confirms a refund that was never sent: the bank is queried.' },
    { from: ANY, on: 'partner.confirmed', when: 'another payment went back', to: 'same', asks: true, rule: 'refund-in.doubt.7', says: 'A confirmation that an event reports under another payment’s end-to-end id confirms nothing; the bank is queried.' },
    { from: 'CONFIRMED:*', on: 'partner.confirmed', when: 'return restated', to: 'same:conflict', opens: 'bank_contradicts', rule: 'refund-in.ended.3', says: 'A booked return id reported with another amount opens a case and books nothing, whichever operation has the movement; an identical report is a duplicate.' },
    { from: ANY, on: 'partner.confirmed', when: 'movement belongs to another operation', to: 'same:conflict', opens: 'movement_elsewhere', rule: 'refund-in.doubt.9', says: 'A return id that is booked on an operation of another payment is not booked again: a case opens in any state.' },
    { from: 'PENDING:*', on: 'partner.confirmed', when: ['only an event reports it', 'it was never claimed'], to: 'PENDING:not_dispatched', opens: 'outcome_unknown', asks: true, rule: 'refund-in.doubt.2', says: 'A confirmation of a refund that was never sent opens a case; it counts once a query confirms it.' },
    { from: ANY, on: 'partner.confirmed', when: 'return was booked before', to: 'same:conflict', opens: 'bank_contradicts', rule: 'refund-in.doubt.3', says: 'A confirmation by a return that is booked as another one opens a case; nothing is booked again.' },
    { from: 'PENDING:*', on: 'partner.confirmed', when: 'return has no id', to: 'same:conflict', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.doubt.8', says: 'A confirmation without a return id, from a bank without queries, is booked in suspense, with a case; the reservation stays. A later report with an id, or one without an id after a return of that amount, opens a case only.' },
    { from: 'PENDING:*', on: 'partner.confirmed', when: 'amount differs', to: 'same:conflict', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.doubt.4', says: 'A confirmation of another amount is booked in suspense, with a case, and counts as returned; the whole reservation stays.' },
    { from: 'PENDING:conflict', on: 'partner.confirmed', to: 'same', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.doubt.5', says: 'A confirmation after a contradiction is booked in suspense, with a case.' },
    { from: [...OPEN, 'PENDING:not_dispatched'], on: 'partner.confirmed', when: 'its payment is not in suspense any more', to: 'same:conflict', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.doubt.10', says: 'A refund of money in suspense left after the bank had returned that money by itself: it is booked in suspense, with a case. It is not sent once this is known.' },
    { from: [...OPEN, 'PENDING:not_dispatched'], on: 'partner.confirmed', to: 'CONFIRMED', posts: 'refund_in_confirmed', emits: 'pix_cash_in_reversal', rule: 'refund-in.states.7', says: 'A confirmation of the exact amount books the refund, with a notification. A pending answer to our call may then only fill in missing data.' },
    { from: 'CONFIRMED:*', on: 'partner.confirmed', to: 'same:conflict', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.ended.8', says: 'Another return id is a second payment, booked in suspense with a case, and counts as returned.' },
    { from: 'FAILED:*', on: 'partner.confirmed', when: 'money is held again', to: 'same:conflict', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.ended.7', says: 'Another debit after the failure is booked in suspense.' },
    { from: 'FAILED:*', on: 'partner.confirmed', to: 'same:conflict', posts: 'left_after_release', opens: 'debit_in_suspense', rule: 'refund-in.ended.6', says: 'Money left after the failure: a case opens. The available part, at most the refund, is held again, and it counts against the refundable amount.' },

    // After the end.
    { from: 'CONFIRMED:*', on: 'send.accepted', when: 'reference differs', to: 'same', opens: 'bank_contradicts', rule: 'refund-in.ended.2', says: 'Another reference after the confirmation opens a case.' },
    { from: 'CONFIRMED:*', on: 'send.accepted', to: 'same', rule: 'refund-in.ended.1', says: 'A late answer only fills in missing data.' },
    { from: 'CONFIRMED:*', on: ['send.rejected', 'send.contradicted', 'partner.not_found'], to: 'same', opens: 'bank_contradicts', rule: 'refund-in.ended.2', says: 'A refusal, «not found» or contradictory answer after the confirmation opens a case.' },
    { from: 'CONFIRMED:*', on: 'partner.failed', when: 'only an event reports it', unless: 'the bank made it by itself', to: 'same', asks: true, rule: 'refund-in.states.9', says: 'A failure reported by an event only after the confirmation triggers a query.' },
    { from: 'CONFIRMED:*', on: 'partner.failed', to: 'same:conflict', opens: 'bank_contradicts', rule: 'refund-in.ended.4', says: 'A failure after the confirmation, reported by a query, or by an event of a bank without queries, opens a case; nothing is released.' },
    { from: 'FAILED:*', on: ['send.accepted', 'send.contradicted'], to: 'same', opens: 'bank_contradicts', rule: 'refund-in.ended.5', says: 'An acceptance after the failure, or an answer that contradicts the order, opens a case.' },

    // Work.
    { from: 'CONFIRMED:*', on: 'work.requested', when: 'the bank made it by itself', to: 'ignored', rule: 'refund-in.work.5', says: 'A return made by the bank itself needs no query.' },
    { from: ANY, on: 'work.requested', to: 'same', asks: true, rule: 'refund-in.work.1', says: 'Any doubt about a refund may request a query of the bank; the state does not change.' },
    { from: ANY, on: 'work.claimed', when: 'work is due', to: 'same', rule: 'refund-in.work.6', says: 'A claim with a lease assigns the query to one process; the call follows outside any transaction.' },
    { from: ANY, on: 'work.done', to: 'same', rule: 'refund-in.work.7', says: 'Work without a change is due again as the state defines.' },

    // Decisions of operators.
    ...refundInDecisions,
  ],
})

/** A state of a refund-in. */
export type RefundInStatus = StateOf<typeof refundIn>

/** Why a refund-in is in doubt. */
export type RefundInReason = ReasonOf<typeof refundIn>
