import { outgoingGuards } from '../cases.ts'
import { machine, type ReasonOf, type StateOf } from '../machine.ts'
import { orderGuards, orderTriggers } from '../order.ts'
import { refundInDecisions } from './decisions.ts'

/**
 * Refund-in: a full or partial return of a paid cash-in, ordered by the merchant or the bank. The merchant sees three
 * states. A doubt is shown as its reason and as a case, and the reserved money stays reserved.
 */

/** Groups of states in the table. */
const ANY = ['PENDING:*', 'CONFIRMED:*', 'FAILED:*'] as const
/** Possibly in progress without contradiction: only the bank's answer decides. */
const OPEN = ['PENDING', 'PENDING:no_answer'] as const

/**
 * The life cycle of a refund-in.
 * - `send.*`: the bank's answers to our call.
 * - `partner.*`: its reports, by webhook or query.
 * - `clock.*`: the passing of time.
 *
 * A return by the bank itself (MED) starts as `CONFIRMED`.
 * @source rules#refund-in.states
 */
export const refundIn = machine({
  resource: 'refund_in',
  states: ['PENDING', 'CONFIRMED', 'FAILED'],
  meanings: {
    PENDING:
      'Accepted: the amount is set aside, and the bank has not confirmed it yet. A refund in doubt stays so, too: where it lasts for longer than 15 minutes, open a support ticket with its `id` and the `X-Correlation-ID`, and do not send it again.',
    CONFIRMED: 'The money went back to who had paid, as the bank confirms.',
    FAILED: 'Nothing went back: the amount is available again. `failureCode` and `failureReason` say why.',
  },
  reasons: {
    no_answer:
      'The bank has told no outcome: for 15 minutes, or since an operator decided what it had told. One clear answer settles it.',
    conflict:
      'What the bank says contradicts what was sent, what it said before, or what is booked. Operator action is required.',
    not_dispatched: 'An event confirms a refund that we have no record of sending. The bank’s own answer settles it.',
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
      'it returns money in suspense to its payer, and less of that is in suspense than refunds under way return, what the bank may have given back by itself aside',
    'its payment is not in suspense any more':
      'it returns money in suspense to its payer, and less of that is in suspense than left',
    'money of it is in suspense': 'money that left for it is in suspense: the case of that decides',
    'an attempt may still arrive':
      'a call is under way, or the last attempt of which a byte may have left is younger than 5 minutes, and the bank has not said that it has the order',
    'payouts and refunds are enabled':
      'the switch of payouts and refunds is on when this is committed, whatever a worker has read before',
    'the bank made it by itself': 'no order of ours made it',
    'it was never claimed': 'nobody has tried to send it',
    'the time to send it is over':
      'it was made 24 hours ago and never claimed for sending, or first tried 30 minutes ago',
    'nothing of it left': 'it was never claimed for sending, or no byte of any attempt left',
    'movement belongs to another operation': 'this return id was booked on an operation that is not of this payment',
    'another payment went back': 'an event names another end-to-end id than that of the payment which the refund is of',
    'amount differs': 'the bank states another amount than the refund',
    'return has no id':
      'the bank, who cannot be asked, told no return id, so that it could be told again as another return',
    'return was booked before':
      'the return id was booked as another movement of the cash-in, or one of both was told without an id and is of the same amount',
    'return restated': 'the confirmation names the return id that was booked, and another amount',
    'reference differs': 'the bank names another reference than before',
    'money is held again': 'money had left after the end before, and what was there of it is held',
  },
  // biome-ignore format: one line of the table is one line
  lines: [
    { from: null, on: 'create', to: 'PENDING', posts: 'refund_in_reserved', rule: 'refund-in.states.1', says: 'An accepted request sets the amount aside at once. One that an operator orders of money in suspense leaves it there until the bank confirms: wherever such a refund sets aside, frees or returns money, that is the money in suspense.' },
    { from: null, on: 'partner.returned', to: 'CONFIRMED', posts: 'taken_by_bank', emits: 'pix_cash_in_reversal', rule: 'refund-in.returns.1', says: 'Money that the bank took back by itself (MED) is a refund too, `CONFIRMED` from the start: it is debited as far as the balance goes, the rest is owed, the merchant is notified. It is never refused, whatever is left to refund.' },

    // Releases of the money: each row has the proof that nothing left or will leave.
    { from: OPEN, on: 'clock.released', when: ['nothing of it left', 'the time to send it is over'], unless: 'the bank has it', to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', rule: 'refund-in.states.6', says: 'Where every attempt of 30 minutes failed before its first byte, or 24 hours passed without one, it is `FAILED` with the code `never_sent`.' },
    { from: OPEN, on: 'send.rejected', when: 'refusal is of the latest attempt', unless: ['the bank has it', 'another attempt may arrive'], to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', rule: 'refund-in.states.4', says: 'A definite refusal frees the money, and the merchant is notified, where it is of the latest attempt, of what the bank does not have, and no other attempt may arrive.' },
    { from: OPEN, on: 'partner.failed', unless: ['only an event reports it', 'the statement shows it', 'it was never claimed'], to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', rule: 'refund-in.states.8', says: 'A failure that the bank reports, and confirms when asked, frees the money and the merchant is notified. What the statement shows as sent is booked first.' },
    { from: OPEN, on: 'partner.not_found', when: 'absence is proven', unless: 'it may be sent again', to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', rule: 'refund-in.unknown.3', says: 'Where it is not to be sent again it is `FAILED` once it is proven that it never arrived.' },
    { from: OPEN, on: 'operator.refused', when: 'it was never claimed', unless: 'the bank has it', to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', rule: 'refund-in.states.11', says: 'An operator refuses what nobody tried to send: what was set aside is free again, with the code `refused_by_operator`.' },

    // No release. In conflict a refund is neither sent nor released, and of the bank's answers only executed movements
    // count.
    { from: OPEN, on: 'send.rejected', to: 'same', asks: true, rule: 'refund-in.unknown.5', says: 'Any other refusal frees nothing: of an attempt that another one followed, of what the bank has, or while another attempt may have arrived or may still arrive. It is not sent again; what the bank reports when asked ends it, or the proof that it never arrived.' },
    { from: OPEN, on: 'partner.failed', when: 'it was never claimed', to: 'ignored', rule: 'refund-in.doubt.2', says: 'A failure of what was never sent cannot be true.' },
    { from: OPEN, on: 'partner.failed', when: 'only an event reports it', to: 'same', asks: true, rule: 'refund-in.states.9', says: 'A failure that only an event reports frees nothing: the bank is asked at once.' },
    { from: 'PENDING', on: ['send.unknown', 'partner.not_found'], when: 'no answer for 15 minutes', unless: 'the bank has it', to: 'PENDING:no_answer', opens: 'outcome_unknown', rule: 'refund-in.unknown.4', says: 'After 15 minutes without an outcome it is in doubt, with a case. One clear answer of the bank ends the doubt and closes it.' },
    { from: OPEN, on: 'send.unknown', when: 'the bank has it', to: 'ignored', rule: 'refund-in.unknown.6', says: 'A question that fails casts no doubt on an order that the bank has.' },
    { from: OPEN, on: 'send.unknown', to: 'same', rule: 'refund-in.unknown.1', says: 'A call whose outcome is not known leaves it `PENDING` and its amount set aside; the bank is asked. A timeout never releases money.' },
    { from: OPEN, on: 'partner.not_found', to: 'same', rule: 'refund-in.unknown.7', says: 'That the bank does not know the order changes no state and no money by itself.' },

    // Sending.
    { from: OPEN, on: 'send.claimed', when: ['payouts and refunds are enabled', 'work is due', 'nothing of it left'], unless: ['the bank has it', 'the time to send it is over', 'its payment may be back already'], to: 'same', rule: 'refund-in.states.2', says: 'Sending is claimed before the call to the bank starts; sending again is a new claim and uses the same id.' },
    { from: OPEN, on: 'send.claimed', when: ['payouts and refunds are enabled', 'asked in vain and safe to repeat'], unless: 'its payment may be back already', to: 'same', rule: 'refund-in.unknown.2', says: 'What the bank, asked, does not know, or gives no answer about, is sent again with the same id where the bank carries out a repeated order once.' },
    { from: OPEN, on: 'send.postponed', when: 'its payment may be back already', to: 'same', rule: 'refund-in.states.12', says: 'While the bank may have given the money in suspense back by itself a refund of it is not sent; it is looked at again every five minutes.' },
    { from: OPEN, on: 'send.accepted', to: 'PENDING', rule: 'refund-in.states.3', says: 'The bank accepted the order: it stays `PENDING` until the bank reports the outcome.' },
    { from: 'PENDING:*', on: 'send.not_sent', to: 'same', rule: 'refund-in.states.5', says: 'A call that failed before its first byte left is tried again with the same id.' },
    { from: OPEN, on: 'send.contradicted', to: 'PENDING:conflict', opens: 'outcome_unknown', asks: true, rule: 'refund-in.doubt.1', says: 'An answer that contradicts what was sent is a case. The bank is asked once more, and a reference of our id is kept.' },
    { from: OPEN, on: 'clock.overdue', when: 'the bank has had it for a day', to: 'same', opens: 'outcome_unknown', rule: 'refund-in.states.10', says: 'Where the bank has had the order for a day and tells no outcome it is a case, once; it is asked on, and the case closes when the outcome comes.' },

    // Outgoing money.
    { from: 'PENDING:not_dispatched', on: 'partner.confirmed', when: 'only an event reports it', to: 'same', asks: true, rule: 'refund-in.doubt.2', says: 'An event that confirms once more what was never sent: the bank is asked.' },
    { from: ANY, on: 'partner.confirmed', when: 'another payment went back', to: 'same', asks: true, rule: 'refund-in.doubt.7', says: 'A confirmation that an event reports by another payment’s end-to-end id confirms nothing: the bank is asked.' },
    { from: 'CONFIRMED:*', on: 'partner.confirmed', when: 'return restated', to: 'same:conflict', opens: 'bank_contradicts', rule: 'refund-in.ended.3', says: 'A confirmation of the return id that was booked, with another amount, is a case and books nothing, whoever else has it; the same again is nothing new.' },
    { from: ANY, on: 'partner.confirmed', when: 'movement belongs to another operation', to: 'same:conflict', opens: 'movement_elsewhere', rule: 'refund-in.doubt.9', says: 'A confirmation by a return id that was booked on an operation of another payment is not booked a second time: a case, whatever the state.' },
    { from: 'PENDING:*', on: 'partner.confirmed', when: ['only an event reports it', 'it was never claimed'], to: 'PENDING:not_dispatched', opens: 'outcome_unknown', asks: true, rule: 'refund-in.doubt.2', says: 'A confirmation of what was never sent is a case and counts once the bank, asked by us, agrees.' },
    { from: ANY, on: 'partner.confirmed', when: 'return was booked before', to: 'same:conflict', opens: 'bank_contradicts', rule: 'refund-in.doubt.3', says: 'A confirmation by a return that was booked as another one is a case; nothing is booked again.' },
    { from: 'PENDING:*', on: 'partner.confirmed', when: 'return has no id', to: 'same:conflict', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.doubt.8', says: 'A confirmation without a return id, where the bank cannot be asked, is a case: what left is in suspense, and what was set aside stays so. Told with its id afterwards, or without it after one of that amount, it is a case only.' },
    { from: 'PENDING:*', on: 'partner.confirmed', when: 'amount differs', to: 'same:conflict', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.doubt.4', says: 'A confirmation of another amount is a case: what left is in suspense and counts as gone, and the whole refund stays set aside.' },
    { from: 'PENDING:conflict', on: 'partner.confirmed', to: 'same', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.doubt.5', says: 'A confirmation of what the bank contradicted before is booked in suspense, with a case.' },
    { from: [...OPEN, 'PENDING:not_dispatched'], on: 'partner.confirmed', when: 'its payment is not in suspense any more', to: 'same:conflict', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.doubt.10', says: 'Where a refund of money in suspense left after the bank had given so much of that back by itself that it is not there any more, what left is in suspense, with a case. It is not sent once that is known.' },
    { from: [...OPEN, 'PENDING:not_dispatched'], on: 'partner.confirmed', to: 'CONFIRMED', posts: 'refund_in_confirmed', emits: 'pix_cash_in_reversal', rule: 'refund-in.states.7', says: 'A confirmation of the exact amount: the money has left and the merchant is notified. The call whose answer is still awaited may only fill in what is missing.' },
    { from: 'CONFIRMED:*', on: 'partner.confirmed', to: 'same:conflict', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.ended.8', says: 'Another return id than the one that confirmed it is a second payment: it is booked in suspense with a case and counts as gone.' },
    { from: 'FAILED:*', on: 'partner.confirmed', when: 'money is held again', to: 'same:conflict', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'refund-in.ended.7', says: 'What leaves once more after the failure is booked in suspense.' },
    { from: 'FAILED:*', on: 'partner.confirmed', to: 'same:conflict', posts: 'left_after_release', opens: 'debit_in_suspense', rule: 'refund-in.ended.6', says: 'Money that left after the failure is a case. What is there of it, at most the refund, is held again, and it counts against what is left to refund.' },

    // After the end.
    { from: 'CONFIRMED:*', on: 'send.accepted', when: 'reference differs', to: 'same', opens: 'bank_contradicts', rule: 'refund-in.ended.2', says: 'After the confirmation another reference is a case.' },
    { from: 'CONFIRMED:*', on: 'send.accepted', to: 'same', rule: 'refund-in.ended.1', says: 'A late answer to our call only fills in what was missing.' },
    { from: 'CONFIRMED:*', on: ['send.rejected', 'send.contradicted', 'partner.not_found'], to: 'same', opens: 'bank_contradicts', rule: 'refund-in.ended.2', says: 'So is a refusal, a «not found», or an answer that contradicts what was sent.' },
    { from: 'CONFIRMED:*', on: 'partner.failed', when: 'only an event reports it', unless: 'the bank made it by itself', to: 'same', asks: true, rule: 'refund-in.states.9', says: 'So does one after the confirmation.' },
    { from: 'CONFIRMED:*', on: 'partner.failed', to: 'same:conflict', opens: 'bank_contradicts', rule: 'refund-in.ended.4', says: 'A failure after the confirmation, reported when the bank is asked, or by an event where it cannot be asked, is a case; nothing is released.' },
    { from: 'FAILED:*', on: ['send.accepted', 'send.contradicted'], to: 'same', opens: 'bank_contradicts', rule: 'refund-in.ended.5', says: 'An acceptance after the failure, or an answer that contradicts what was sent, is a case.' },

    // Work.
    { from: 'CONFIRMED:*', on: 'work.requested', when: 'the bank made it by itself', to: 'ignored', rule: 'refund-in.work.5', says: 'About what the bank made by itself there is nothing to ask.' },
    { from: ANY, on: 'work.requested', to: 'same', asks: true, rule: 'refund-in.work.1', says: 'Whatever casts doubt on a refund may request that the bank be asked now; this changes no state.' },
    { from: ANY, on: 'work.claimed', when: 'work is due', to: 'same', rule: 'refund-in.work.6', says: 'Asking is claimed by a move with a lease, so that one process does it; the call follows with no transaction open.' },
    { from: ANY, on: 'work.done', to: 'same', rule: 'refund-in.work.7', says: 'Work that changed nothing is due again when the state says so.' },

    // Decisions of operators.
    ...refundInDecisions,
  ],
})

export type RefundInStatus = StateOf<typeof refundIn>

/** A reason of a refund-in's doubt. */
export type RefundInReason = ReasonOf<typeof refundIn>
