import { decisionGuards } from '../cases.ts'
import { doubtText, machine, RESULT_UNKNOWN_TEXT, type ReasonOf, type StateOf } from '../machine.ts'
import { orderGuards, orderTriggers } from '../order.ts'
import { cashOutDecisions } from './decisions.ts'

/** Cash-out: money sent to a Pix key or paid from a QR code. A doubt never releases money. */

/** All states except the doubt that an operator ends. */
const UNDOUBTED = [
  'RESERVED',
  'DISPATCHED',
  'CONFIRMED',
  'FAILED',
  'REVERSED',
  'RELEASED',
  'PROVIDER_RESULT_UNKNOWN',
] as const

/** Groups of states in the table. */
const ANY = [...UNDOUBTED, 'RECONCILIATION_REQUIRED:*'] as const
/**
 * Possibly in progress without contradiction: only the bank's answer decides.
 * @source rules#cash-out.reconciliation.1
 */
const OPEN = ['DISPATCHED', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED:no_answer'] as const
/** The same before a case about the missing answer was opened. */
const AWAITED = ['DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'] as const
const LEFT = ['CONFIRMED', 'REVERSED'] as const
const GIVEN_BACK = ['FAILED', 'RELEASED'] as const
const DOUBT = 'RECONCILIATION_REQUIRED:*'
const NO_ANSWER = 'RECONCILIATION_REQUIRED:no_answer'
const CONFLICT = 'RECONCILIATION_REQUIRED:conflict'
const NOT_DISPATCHED = 'RECONCILIATION_REQUIRED:not_dispatched'

const reasons = {
  no_answer:
    'The bank has told no outcome: for 15 minutes, or since an operator decided what it had told. One clear answer settles it.',
  conflict:
    'What the bank says contradicts what was sent, what it said before, or what is booked. Operator action is required.',
  not_dispatched: 'An event confirms a payout that we have no record of sending. The bank’s own answer settles it.',
}

/**
 * The life cycle of a cash-out.
 * - `send.*`: the bank's answers to our call.
 * - `partner.*`: its reports, by webhook or query.
 * - `clock.*`: the passing of time.
 * @source rules#cash-out.states
 */
export const cashOut = machine({
  resource: 'cash_out',
  states: [...UNDOUBTED, 'RECONCILIATION_REQUIRED'],
  meanings: {
    RESERVED: 'Accepted: value and fee are set aside, and nothing was sent yet.',
    DISPATCHED: 'It is being sent, or the bank has it and has not told the outcome yet.',
    CONFIRMED: 'The money has left, as the bank confirms.',
    FAILED:
      'The bank refused it, or let it fail, and no money left: what was set aside is free again. `failureCode` and `failureReason` say why.',
    REVERSED: 'It was confirmed and came back, whole or in part: `reversedCents` says how much, and is credited.',
    RELEASED:
      'It was never sent, for 24 hours or in 30 minutes of attempts of which none left, or an operator refused it: what was set aside is free again. The notification of it says `FAILED`.',
    PROVIDER_RESULT_UNKNOWN: `${RESULT_UNKNOWN_TEXT} What was set aside stays so: never send it again as another payout.`,
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
    'money of it is in suspense': 'money that left for it is in suspense: the case of that decides',
    'an attempt may still arrive':
      'a call is under way, or the last attempt of which a byte may have left is younger than 5 minutes, and the bank has not said that it has the order',
    'it is confirmed': 'it was confirmed, and the merchant notified of that',
    'it came back': 'something of it came back, and was credited',
    'payouts and refunds are enabled':
      'the switch of payouts and refunds is on when this is committed, whatever a worker has read before',
    'it was not claimed within 24 hours':
      'it was made, or, where it needs an approval, approved 24 hours ago or more, and never claimed for sending',
    'an approval is missing': 'operators who did not make the API key have yet to approve it',
    'the code asks for something else':
      'its QR code, decoded again, asks for another amount or recipient, or cannot be paid any more',
    'it was tried for 30 minutes': 'the first attempt was 30 minutes ago or more',
    'nothing of it left': 'it was tried, and no byte of any attempt left',
    'movement belongs to another operation': 'this end-to-end or return id was booked on another operation',
    'confirmation is to be verified':
      'only an event reports it, and it does not name the bank’s reference as the bank’s own answer did, or the payout needed an approval',
    'amount or recipient differs':
      'the bank states another amount than the payout, or a payment to somebody else: to another key, which only an answer names, or another whole document than the code was decoded to or the client gave',
    'it was never claimed': 'nobody has tried to send it',
    'the reservation was given back': 'its money was released before',
    'movement restated': 'the confirmation names the end-to-end id that was booked, and another amount or recipient',
    'reference differs': 'the bank names another reference than before',
    'return is of another payment': 'an event names another end-to-end id than the payout’s as the one that came back',
    'return restated': 'the return id was booked before with another amount',
    'return may be known':
      'a return of the same amount was booked, and one of the two, this one or that one, was told without its id',
    'return has no id':
      'the bank, who cannot be asked, told no return id, so that it could be told again as another return',
    'returns exceed the payout':
      'all returns together would exceed what left as the payout, or this one is not told to be of the payment that confirmed it, and of another one that was written off not all has come back',
  },
  // biome-ignore format: one line of the table is one line
  lines: [
    { from: null, on: 'create', to: 'RESERVED', posts: 'cash_out_reserved', rule: 'cash-out.states.1', says: 'An accepted request sets value and fee aside at once, or nothing is stored.' },

    // Releases of the money: each row has the proof that nothing left or will leave.
    { from: 'RESERVED', on: 'clock.released', when: 'it was not claimed within 24 hours', unless: 'the bank has it', to: 'RELEASED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.states.3', says: 'Not claimed within 24 hours, the money is free again and the merchant is notified of `FAILED`; not where the bank’s statement shows money that left for it, though nothing here tells that it was sent: it is neither sent nor refused then, and the bank is asked.' },
    { from: OPEN, on: 'clock.released', when: ['nothing of it left', 'it was tried for 30 minutes'], unless: 'the bank has it', to: 'RELEASED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.states.10', says: 'Where every attempt of 30 minutes failed before its first byte, nothing was sent, also where the bank, asked meanwhile, gave no answer. Decided on the payout as it is then, not as a worker saw it.' },
    { from: OPEN, on: 'send.rejected', when: 'refusal is of the latest attempt', unless: ['the bank has it', 'another attempt may arrive'], to: 'FAILED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.states.7', says: 'A definite refusal frees the money, and the merchant is notified, where it is of the latest attempt, of what the bank does not have, and no other attempt may arrive.' },
    { from: OPEN, on: 'partner.failed', unless: ['only an event reports it', 'the statement shows it'], to: 'FAILED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.states.13', says: 'A failure that the bank reports when asked frees the money and the merchant is notified. An event is enough where the bank cannot be asked. What the statement shows as sent is booked first: a failure frees nothing meanwhile.' },
    { from: OPEN, on: 'partner.not_found', when: 'absence is proven', unless: 'it may be sent again', to: 'FAILED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.unknown.6', says: 'Where it is not to be sent again it is `FAILED` once it is proven that it never arrived. An order in conflict is never ended like this.' },

    { from: 'RESERVED', on: 'operator.refused', unless: 'the bank has it', to: 'RELEASED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.approval.8', says: 'An operator refuses what was not claimed for sending: what was set aside is free again, with the code `not_approved` where it waited for an approval, else `refused_by_operator`. No attempt was made of what is `RESERVED`.' },
    { from: 'RESERVED', on: 'operator.approved', when: ['an approval is missing', 'the code asks for something else'], unless: 'the bank has it', to: 'RELEASED', posts: 'cash_out_released', emits: 'pix_cash_out', rule: 'cash-out.approval.9', says: 'A QR code that asks for something else by the time somebody approves its payment is not paid: `RELEASED`, like a refusal, with the code `pix_code_changed`.' },

    // No release.
    { from: OPEN, on: 'send.rejected', to: 'same', asks: true, rule: 'cash-out.unknown.8', says: 'Any other refusal frees nothing: of an attempt that another one followed, of what the bank has, or while another attempt may have arrived or may still arrive, as that one may be carried out. It is not sent again; what the bank reports when asked ends it, or the proof that it never arrived.' },
    { from: [...AWAITED, 'CONFIRMED', DOUBT], on: 'partner.failed', when: 'only an event reports it', to: 'same', asks: true, rule: 'cash-out.states.14', says: 'A failure that only an event reports changes no state and no money, also after the confirmation: the bank is asked.' },
    { from: AWAITED, on: ['send.unknown', 'partner.not_found'], when: 'no answer for 15 minutes', unless: 'the bank has it', to: NO_ANSWER, opens: 'outcome_unknown', rule: 'cash-out.unknown.5', says: 'After 15 minutes without an outcome it is in doubt, with a case. A timeout never releases money.' },
    { from: AWAITED, on: 'send.unknown', when: 'the bank has it', to: 'ignored', rule: 'cash-out.unknown.9', says: 'A question that fails casts no doubt on an order that the bank has.' },
    { from: AWAITED, on: 'send.unknown', to: 'PROVIDER_RESULT_UNKNOWN', rule: 'cash-out.unknown.3', says: 'Of a call whose outcome is not known no notification is sent, and the bank is asked. A timeout never releases money.' },
    { from: NO_ANSWER, on: 'send.unknown', to: 'same', rule: 'cash-out.unknown.3', says: 'The same in doubt for want of an answer: the bank is asked again after a minute.' },
    { from: [...AWAITED, DOUBT], on: 'partner.not_found', to: 'same', rule: 'cash-out.unknown.4', says: 'That the bank does not know the order changes no state and no money by itself.' },

    // Sending.
    { from: 'RESERVED', on: 'operator.approved', when: 'an approval is missing', to: 'same', rule: 'cash-out.approval.7', says: 'An operator approves it. With the last approval it is due at once.' },
    { from: 'RESERVED', on: 'send.claimed', when: ['payouts and refunds are enabled', 'work is due'], unless: ['it was not claimed within 24 hours', 'an approval is missing', 'the bank has it'], to: 'DISPATCHED', rule: 'cash-out.states.2', says: 'Claimed for sending it is `DISPATCHED`, before the call to the bank starts.' },
    { from: OPEN, on: 'send.claimed', when: ['payouts and refunds are enabled', 'work is due', 'nothing of it left'], unless: ['the bank has it', 'it was tried for 30 minutes'], to: 'same', rule: 'cash-out.unknown.1', says: 'Sending again is a new claim and uses the same id: for 30 minutes after the first attempt, as long as no byte of any attempt has left.' },
    { from: OPEN, on: 'send.claimed', when: ['payouts and refunds are enabled', 'asked in vain and safe to repeat'], to: 'same', rule: 'cash-out.unknown.7', says: 'A bank with idempotent orders carries out a repeated order once, for as long as it states. Once no lease is alive it is asked first, if it can be asked; where it does not know the order, or gives no answer, the same bytes go out again at once under the same id.' },
    { from: 'DISPATCHED', on: 'send.accepted', to: 'same', rule: 'cash-out.states.6', says: 'The bank accepted the order: it stays `DISPATCHED` until the bank reports the outcome.' },
    { from: ['PROVIDER_RESULT_UNKNOWN', NO_ANSWER], on: 'send.accepted', to: 'DISPATCHED', rule: 'cash-out.unknown.2', says: 'The bank turns out to have the order: it is under way again.' },
    { from: OPEN, on: 'send.not_sent', to: 'same', rule: 'cash-out.states.8', says: 'A call that failed before its first byte left is tried again with the same id after 1, 2, 4 … s, at most a minute, where no attempt before it may have left.' },
    { from: OPEN, on: 'send.contradicted', to: CONFLICT, opens: 'outcome_unknown', asks: true, rule: 'cash-out.states.9', says: 'An answer that contradicts what was sent leaves the money reserved, with a case. The bank is asked once more, at once. Where the answer is about our id, the reference it tells is kept: what names that reference later means this cash-out.' },
    { from: 'DISPATCHED', on: 'clock.overdue', when: 'the bank has had it for a day', to: 'same', opens: 'outcome_unknown', rule: 'cash-out.states.15', says: 'An order that the bank has had for a day without an outcome is a case, once. It is asked about as before; when the outcome comes the case closes.' },

    // Outgoing money.
    { from: NOT_DISPATCHED, on: 'partner.confirmed', when: 'only an event reports it', to: 'same', asks: true, rule: 'cash-out.states.5', says: 'An event that confirms once more what we have no record of sending: the bank is asked.' },
    { from: OPEN, on: 'partner.confirmed', when: 'confirmation is to be verified', to: 'ignored', rule: 'cash-out.states.17', says: 'Where the bank can be asked about a payout, an event confirms one under way only by the reference that the bank gave in its answer to the order, and never one that needed an approval: else the bank is asked, and the event waits until the answer has booked it.' },
    { from: [...LEFT, ...GIVEN_BACK, CONFLICT], on: 'partner.confirmed', when: 'only an event reports it', to: 'ignored', rule: 'cash-out.states.18', says: 'An event books nothing on a payout that was confirmed, given back or contradicted: the bank is asked, and the event waits until the answer has booked it.' },
    { from: ANY, on: 'partner.confirmed', when: 'movement restated', to: CONFLICT, opens: 'bank_contradicts', rule: 'cash-out.confirmed.3', says: 'What the bank states otherwise of an end-to-end id that was booked here, in suspense too, is a case and books nothing, whatever the state and whoever else has that movement.' },
    { from: ANY, on: 'partner.confirmed', when: 'movement belongs to another operation', to: CONFLICT, opens: 'movement_elsewhere', rule: 'cash-out.states.16', says: 'A movement belongs to exactly one operation: a payment under an end-to-end id that was booked on another operation is not booked a second time: a case, whatever the state.' },
    { from: 'RESERVED', on: 'partner.confirmed', when: 'only an event reports it', to: NOT_DISPATCHED, opens: 'outcome_unknown', asks: true, rule: 'cash-out.states.5', says: 'An event that confirms what we have no record of sending is a case: the money stays reserved, the payout is not sent, and the bank is asked.' },
    { from: 'RESERVED', on: 'partner.confirmed', to: CONFLICT, opens: 'outcome_unknown', asks: true, rule: 'cash-out.states.5', says: 'So is an answer of the bank that confirms it before it was sent.' },
    { from: [...AWAITED, ...GIVEN_BACK, DOUBT], on: 'partner.confirmed', when: 'amount or recipient differs', to: CONFLICT, posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'cash-out.states.12', says: 'What left by a confirmation of another amount, or of a payment to somebody else, is in suspense, with a case. What is reserved stays reserved, and what was given back is not held again.' },
    { from: GIVEN_BACK, on: 'partner.confirmed', to: CONFLICT, posts: 'left_after_release', opens: 'debit_in_suspense', rule: 'cash-out.ended.2', says: 'Money that left although its reservation was given back is a case; what is there of value and fee is held again.' },
    { from: DOUBT, on: 'partner.confirmed', when: 'the reservation was given back', to: CONFLICT, posts: 'left_after_release', opens: 'debit_in_suspense', rule: 'cash-out.ended.2', says: 'The same in doubt; what is there of value and fee is held again.' },
    { from: OPEN, on: 'partner.confirmed', to: 'CONFIRMED', posts: 'cash_out_confirmed', emits: 'pix_cash_out', rule: 'cash-out.states.11', says: 'A confirmation of the exact amount: the money has left and the merchant is notified. A time of the bank more than 300 s ahead of ours is rejected as implausible.' },
    { from: NOT_DISPATCHED, on: 'partner.confirmed', to: 'CONFIRMED', posts: 'cash_out_confirmed', emits: 'pix_cash_out', rule: 'cash-out.states.4', says: 'Where the bank, asked by us, confirms what we have no record of sending it is `CONFIRMED`. The case stays as evidence, closed.' },
    { from: DOUBT, on: 'partner.confirmed', to: CONFLICT, posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'cash-out.reconciliation.2', says: 'Any other money that left in doubt is in suspense with a case, beside the reservation.' },
    { from: LEFT, on: 'partner.confirmed', to: CONFLICT, posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'cash-out.confirmed.5', says: 'Another end-to-end id is a second payment: what left is in suspense, with a case, also after the first came back.' },

    // Returned money.
    { from: DOUBT, on: 'partner.returned', when: 'only an event reports it', to: 'ignored', rule: 'cash-out.reconciliation.4', says: 'What only an event reports of money that came back in doubt is kept until the bank, asked, has reported it.' },
    { from: LEFT, on: 'partner.returned', when: 'return is of another payment', to: 'same', asks: true, rule: 'cash-out.reversal.4', says: 'A return that an event reports by another payment’s end-to-end id credits nothing: the bank is asked.' },
    { from: LEFT, on: 'partner.returned', when: 'only an event reports it', to: 'ignored', rule: 'cash-out.reversal.6', says: 'A return that only an event reports credits nothing, whatever its amount: the bank is asked, and the event waits until the answer has booked it.' },
    { from: [...LEFT, ...GIVEN_BACK, DOUBT], on: 'partner.returned', when: 'return restated', to: 'same', opens: 'bank_contradicts', rule: 'cash-out.reversal.3', says: 'A return that is reported again with another amount is a case and is not booked again.' },
    { from: [...LEFT, ...GIVEN_BACK, DOUBT], on: 'partner.returned', when: 'movement belongs to another operation', to: CONFLICT, opens: 'movement_elsewhere', rule: 'cash-out.states.16', says: 'The same of a return id that was booked on another operation: it is never credited a second time.' },
    { from: [...LEFT, DOUBT], on: 'partner.returned', when: 'return may be known', to: 'same', opens: 'bank_contradicts', rule: 'cash-out.reversal.5', says: 'Where a return of that amount was booked, one without an id may be that one: then it is a case only. So is a return of that amount that is reported with its id afterwards, once.' },
    { from: LEFT, on: 'partner.returned', when: 'return has no id', to: CONFLICT, posts: 'arrived_unattributed', opens: 'return_in_suspense', rule: 'cash-out.reversal.5', says: 'A return without an id, where the bank cannot be asked, is in suspense, with a case.' },
    { from: LEFT, on: 'partner.returned', when: 'returns exceed the payout', to: CONFLICT, posts: 'arrived_unattributed', opens: 'return_in_suspense', rule: 'cash-out.reversal.2', says: 'Where more comes back than left as the payout, the last return is in suspense, with a case. So is one of which it is not told that it is of the payment that confirmed the payout, while another one that was written off has not come back: it may pay back that loss.' },
    { from: LEFT, on: 'partner.returned', to: 'REVERSED', posts: 'cash_out_returned', emits: 'pix_cash_out_reversal', rule: 'cash-out.reversal.1', says: 'Money that comes back, whole or in part, is credited once for each return id, and told once; the fee is kept. A return that overtakes its confirmation waits for it, and both are booked in their order.' },
    { from: GIVEN_BACK, on: 'partner.returned', to: CONFLICT, opens: 'bank_contradicts', asks: true, rule: 'cash-out.ended.3', says: 'A return of what was never confirmed is a case and is not credited, as the reservation was given back already. The bank is asked.' },
    { from: DOUBT, on: 'partner.returned', to: CONFLICT, posts: 'arrived_unattributed', opens: 'return_in_suspense', rule: 'cash-out.reconciliation.3', says: 'Money that came back in doubt is in suspense with a case, once the bank, asked by us, reports it.' },

    // The bank's own tariffs.
    { from: ANY, on: 'partner.tariff', to: 'same', posts: 'tariff_deducted', rule: 'cash-out.tariff.1', says: 'What the bank’s statement shows that the bank took for a payout is booked once, whatever became of the payout, and not on the merchant, who pays the fee that was configured.' },

    // After the end.
    { from: 'CONFIRMED', on: 'send.accepted', when: 'reference differs', to: 'same', opens: 'bank_contradicts', rule: 'cash-out.confirmed.2', says: 'After the confirmation another reference that comes late is a case.' },
    { from: 'CONFIRMED', on: 'send.accepted', to: 'same', rule: 'cash-out.confirmed.1', says: 'A late answer to our call only fills in what was missing.' },
    { from: 'CONFIRMED', on: ['send.rejected', 'partner.not_found'], to: 'same', opens: 'bank_contradicts', rule: 'cash-out.confirmed.2', says: 'So is a refusal, and a «not found».' },
    { from: LEFT, on: 'send.contradicted', to: 'same', opens: 'bank_contradicts', rule: 'cash-out.confirmed.2', says: 'So is an answer that contradicts what was sent.' },
    { from: 'CONFIRMED', on: 'partner.failed', to: CONFLICT, opens: 'bank_contradicts', asks: true, rule: 'cash-out.confirmed.4', says: 'A failure after the confirmation, reported when the bank is asked, is a case; nothing is released, and the bank is asked again. An event is enough where the bank cannot be asked.' },
    { from: GIVEN_BACK, on: ['send.accepted', 'send.contradicted'], to: CONFLICT, opens: 'bank_contradicts', asks: true, rule: 'cash-out.ended.1', says: 'A late acceptance, or an answer that contradicts what was sent, is a case. The bank is asked.' },

    // Work.
    { from: ANY, on: 'work.requested', to: 'same', asks: true, rule: 'cash-out.work.1', says: 'Whatever casts doubt on a cash-out may request that the bank be asked now; this changes no state.' },
    { from: ANY, on: 'work.claimed', when: 'work is due', to: 'same', rule: 'cash-out.work.5', says: 'Asking is claimed by a move with a lease, so that one process does it; the call follows with no transaction open.' },
    { from: ANY, on: 'work.done', to: 'same', rule: 'cash-out.work.3', says: 'Work that changed nothing is due again when the state says so.' },

    // Decisions of operators.
    ...cashOutDecisions,
  ],
})

export type CashOutStatus = StateOf<typeof cashOut>

/** A reason of a cash-out's doubt. */
export type CashOutReason = ReasonOf<typeof cashOut>
