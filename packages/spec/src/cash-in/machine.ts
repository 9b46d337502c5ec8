import { decisionGuards } from '../cases.ts'
import { doubtText, machine, RESULT_UNKNOWN_TEXT, type ReasonOf, type StateOf } from '../machine.ts'
import { cashInDecisions } from './decisions.ts'

/** Cash-in: a charge that a payer pays. Money that arrived is always booked. */

/** Groups of states in the table. */
const ANY = ['PENDING', 'PAID', 'EXPIRED', 'FAILED', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED:*'] as const
/**
 * The bank's answer about the charge is missing: one definite answer settles it.
 * @source rules#cash-in.reconciliation.1
 */
const UNANSWERED = ['PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED:no_answer'] as const
const OPEN = ['PENDING', ...UNANSWERED] as const
/** No payment is booked yet, and one may arrive. */
const PAYABLE = ['PENDING', 'PROVIDER_RESULT_UNKNOWN', 'EXPIRED'] as const
const DOUBT = 'RECONCILIATION_REQUIRED:*'
const CREDITED = ['PAID', DOUBT] as const
const NO_ANSWER = 'RECONCILIATION_REQUIRED:no_answer'
const CONFLICT = 'RECONCILIATION_REQUIRED:conflict'

const reasons = {
  no_answer: 'The bank gave no answer within 15 minutes. One clear answer settles it.',
  conflict:
    'What the bank says contradicts what was asked, what it said before, or what is booked. Operator action is required.',
}

/**
 * The life cycle of a cash-in.
 * - `charge.*`: the bank's answers to our calls.
 * - `partner.*`: its reports about the payment, by webhook or query.
 * - `clock.*`: the passing of time.
 * - `refund.*`: progress of its refunds.
 * - `return.*`: progress of a return that names none of them.
 * @source rules#cash-in.states
 */
export const cashIn = machine({
  resource: 'cash_in',
  states: ['PENDING', 'PAID', 'EXPIRED', 'FAILED', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED'],
  meanings: {
    PENDING:
      'The charge waits for its payment. Where it lacks a `pixCode` that was asked for, the bank has not answered yet: read it again.',
    PAID: 'The exact amount was paid and is booked. What goes back of it shows in `refundedCents`.',
    EXPIRED:
      '`expirationDate` has passed, and no payment is known. One that was made in time, and that the bank tells late, still makes it `PAID`. No notification tells this status.',
    FAILED:
      'The bank refused the charge, or let it fail: nobody can pay it. `failureCode` and `failureReason` say why.',
    PROVIDER_RESULT_UNKNOWN: RESULT_UNKNOWN_TEXT,
    RECONCILIATION_REQUIRED: doubtText(reasons),
  },
  reasons,
  triggers: [
    'create',
    'work.requested',
    'work.claimed',
    'work.done',
    'charge.accepted',
    'charge.rejected',
    'charge.not_sent',
    'charge.unknown',
    'charge.contradicted',
    'charge.not_found',
    'partner.confirmed',
    'partner.failed',
    'clock.expired',
    'refund.reserved',
    'refund.confirmed',
    'refund.released',
    'refund.taken',
    'refund.named',
    'refund.answered',
    'return.told',
    'return.unexplained',
    'return.known',
    'operator.accepted',
    'operator.returned_to_payer',
    'operator.debited',
    'operator.attributed',
    'operator.received',
    'operator.written_off',
    'operator.reversed',
    'operator.asked_again',
    'operator.explained',
    'doubt.decided',
  ],
  guards: {
    ...decisionGuards,
    'the merchant has a payment of it': 'a payment of it was credited to the merchant',
    'a payment is credited': 'a payment was credited, and the merchant notified of it',
    'all of the payment is in suspense':
      'nothing of the payment was accepted, returned, written off or handed over, and no return of it is under way',
    'a return of it is under way':
      'an operator ordered that it goes back to its payer, and the bank has not said what became of that',
    'part of it went back, or may': 'part of its payment went back or is in suspense, or a refund of it is under way',
    'its payment went back': 'what was paid went back to its payer, and nothing was credited',
    'its failure is known': 'it had failed before, and the merchant was notified of that',
    'its answer is missing': 'the case was opened because the bank gave no answer within 15 minutes',
    'work is due': 'its time has come, and no other process has claimed it',
    'its time is over': '`expirationDate` has passed',
    'the bank accepted it': 'its Pix code or the bank’s reference is known: somebody may pay it',
    'absence is proven':
      'the bank said at least twice, 60 s apart, that it does not know the charge, the last time 5 minutes after the last attempt to make it began, and has not known it in between',
    'no answer for 15 minutes': 'its outcome has been missing for 15 minutes',
    'reference differs': 'the bank names another reference than before',
    'only an event reports it': 'the bank can be asked, and has not said it when asked',
    'payment is to be verified':
      'only an event reports it, and its value is at least `PIXGATE_VERIFY_CREDITS_FROM_CENTS` (in production 0), or it is dated before its charge, or an event reported it before that is still to be verified, or 20 payments of the charge are booked, or the bank’s connector always asks for it',
    'too many payments are reported':
      'with it, events reported 20 payments of this charge that the bank is still to confirm',
    'payment is older than the charge': 'it is dated more than 300 s before the charge was made',
    'end is unknown for too long': 'the time has been over for an hour, and no case of it is open',
    'reported payment is unconfirmed for too long':
      'an event told a payment 15 minutes ago that the bank, asked, has not confirmed, and no case of it is open',
    'movement belongs to another operation': 'this end-to-end id, or return id, was booked on another operation',
    'payment restated': 'this end-to-end id was booked before, with another amount',
    'payment is a second one': 'another end-to-end id was booked before',
    'amount differs': 'the bank states another amount than the charge',
    'settled late': 'the payment settled more than 60 s after `expirationDate`',
    'answer contradicts': 'the bank tells it in an answer that contradicts what was asked',
    'return restated': 'this return id was booked before, with another amount',
    'returns exceed the payment': 'all that went back together exceeds the value',
    'a refund may explain it':
      'a refund of this payment, by the merchant or by an operator, is open, or failed and may have arrived, and of this very amount, and no reference tells that the return is not its own',
    'it was held before':
      'what was there of it was held for 15 minutes before, and let go as no refund was it: each return is held once',
    'money of it is held':
      'it was not known for 15 minutes whose it is, and what was there of it is held; or it was told without an id before, and is in suspense',
    'payment is in suspense': 'as much as the bank gave back is in suspense of that payment',
    'payment cannot be identified':
      'which of several payments the bank gave back is not told; or it is not the credited one and less of it is in suspense than went back; or more went back than an operator accepted, who decided the rest otherwise',
    'return has no id': 'the bank told no return id, so that it could be told again as another return',
    'return may be known': 'a return of the same amount was booked or is in doubt, or a refund is under way',
  },
  // biome-ignore format: one line of the table is one line
  lines: [
    { from: null, on: 'create', to: 'PENDING', rule: 'cash-in.states.1', says: 'An accepted request makes a `PENDING` cash-in.' },

    // A charge that reads as `EXPIRED`, stored so or not, changes only by money.
    { from: 'PENDING', on: ['charge.rejected', 'charge.unknown', 'charge.contradicted', 'partner.failed'], when: 'its time is over', to: 'ignored', rule: 'cash-in.expired.3', says: 'What reads as `EXPIRED`, written or not, changes by money alone: a failure, a refusal, a contradiction or a missing answer of the bank has no effect then, and no notification is sent.' },
    { from: 'PENDING', on: 'charge.accepted', when: ['reference differs', 'its time is over'], to: 'ignored', rule: 'cash-in.expired.3', says: 'So is another reference.' },

    // The charge at the bank.
    { from: ['PENDING', 'PROVIDER_RESULT_UNKNOWN'], on: 'charge.accepted', when: 'reference differs', to: CONFLICT, opens: 'charge_unclear', rule: 'cash-in.states.6', says: 'Another reference for the same charge contradicts what was asked: a case.' },
    { from: ['EXPIRED', 'PAID', 'FAILED', NO_ANSWER], on: 'charge.accepted', when: 'reference differs', to: 'ignored', rule: 'cash-in.states.16', says: 'Another reference that comes after the end, or in doubt, is nothing.' },
    { from: 'PENDING', on: 'charge.accepted', to: 'same', rule: 'cash-in.states.2', says: 'The bank took the charge: its id and its Pix code are stored.' },
    { from: UNANSWERED, on: 'charge.accepted', to: 'PENDING', rule: 'cash-in.unknown.1', says: 'The bank turns out to have the charge: `PENDING` again, now with its Pix code.' },
    { from: ['EXPIRED', 'PAID'], on: 'charge.accepted', to: 'same', rule: 'cash-in.expired.1', says: 'A late acceptance of the charge only fills in what was missing.' },
    { from: 'FAILED', on: 'charge.accepted', to: 'same', opens: 'charge_unclear', asks: true, rule: 'cash-in.failed.1', says: 'A late acceptance of a charge that failed is a case, and the charge is cancelled at the bank. Its Pix code is never shown.' },
    { from: 'PENDING', on: 'charge.rejected', to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.states.3', says: 'The bank refused the charge: `FAILED`, and the merchant is notified.' },
    { from: UNANSWERED, on: 'charge.rejected', to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.unknown.2', says: 'The bank turns out to have refused: `FAILED`, and the merchant is notified.' },
    { from: 'PAID', on: 'charge.rejected', to: 'same', opens: 'charge_unclear', rule: 'cash-in.paid.2', says: 'A late refusal of the charge is a case.' },
    { from: 'PROVIDER_RESULT_UNKNOWN', on: ['charge.not_sent', 'charge.unknown'], when: 'no answer for 15 minutes', to: NO_ANSWER, opens: 'charge_unclear', rule: 'cash-in.unknown.7', says: 'After 15 minutes without an outcome it is in doubt, with a case. A bank that cannot be reached answers no more than one that is silent.' },
    { from: 'PENDING', on: 'charge.not_sent', to: 'same', rule: 'cash-in.states.4', says: 'A call that failed before its first byte left is tried again with the same id until the charge expires.' },
    { from: 'PENDING', on: 'charge.unknown', to: 'PROVIDER_RESULT_UNKNOWN', rule: 'cash-in.states.5', says: 'Of a call whose outcome is not known no notification is sent, and the bank is asked.' },
    { from: 'PROVIDER_RESULT_UNKNOWN', on: ['charge.not_sent', 'charge.unknown'], to: 'same', rule: 'cash-in.unknown.3', says: 'Another call without an outcome changes nothing; the bank is asked again.' },
    { from: ['PENDING', 'PROVIDER_RESULT_UNKNOWN'], on: 'charge.contradicted', to: CONFLICT, opens: 'charge_unclear', rule: 'cash-in.states.6', says: 'An answer that contradicts what was asked is a case, and the Pix code is withheld.' },

    // The end without a payment.
    { from: OPEN, on: 'clock.expired', to: 'EXPIRED', rule: 'cash-in.states.11', says: 'Once `expirationDate` has passed, and the bank, asked first, reports that the charge ended or cancels it, and knows of no payment, it is `EXPIRED`; no notification is sent.' },
    { from: OPEN, on: 'charge.not_found', when: 'its time is over', unless: 'the bank accepted it', to: 'EXPIRED', rule: 'cash-in.states.11', says: 'So it is where the bank, which never took it, does not know it.' },
    { from: OPEN, on: 'charge.not_found', when: ['its time is over', 'absence is proven'], to: 'EXPIRED', rule: 'cash-in.states.11', says: 'That the bank does not know a charge which it took must be proven.' },
    { from: 'PENDING', on: 'charge.not_found', when: ['the bank accepted it', 'absence is proven'], to: CONFLICT, opens: 'charge_unclear', rule: 'cash-in.states.15', says: 'Proven within its time it is a contradiction: a case.' },
    { from: OPEN, on: 'charge.not_found', to: 'same', rule: 'cash-in.states.15', says: 'Until that is proven it stays as it is, and is cancelled at the bank if its time is over.' },
    { from: ['PENDING', 'PROVIDER_RESULT_UNKNOWN', ...CREDITED], on: 'partner.failed', when: 'only an event reports it', to: 'same', asks: true, rule: 'cash-in.states.10', says: 'A failure that only an event reports changes no state: the bank is asked at once. Where a bank cannot be asked its event counts.' },
    { from: 'PENDING', on: 'partner.failed', to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.states.10', says: 'A failure that the bank reports when asked makes it `FAILED`, and the merchant is notified, in the words of the event where one reported it.' },
    { from: UNANSWERED, on: 'partner.failed', to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.unknown.5', says: 'So does one that it tells where its answer was missing.' },
    { from: 'PAID', on: 'partner.failed', to: CONFLICT, opens: 'bank_contradicts', asks: true, rule: 'cash-in.paid.5', says: 'That the charge failed, expired or was cancelled, which the bank reports when asked, and no payment beside it, after the payment was booked is a case; nothing is debited. Its answer is kept for the operator who decides.' },

    // Incoming money.
    { from: [...PAYABLE, 'PAID', 'FAILED'], on: 'partner.confirmed', when: 'payment restated', to: 'same', opens: 'bank_contradicts', rule: 'cash-in.paid.3', says: 'The same end-to-end id with another amount is a case; nothing is booked again. So is an event that told the other amount before the bank was asked and confirmed this one.' },
    { from: DOUBT, on: 'partner.confirmed', when: 'payment restated', to: CONFLICT, opens: 'bank_contradicts', rule: 'cash-in.paid.3', says: 'The same in doubt.' },
    { from: ANY, on: 'partner.confirmed', when: ['payment is to be verified', 'too many payments are reported'], to: 'same', opens: 'payment_unconfirmed', asks: true, rule: 'cash-in.credits.5', says: 'Of one charge 20 payments are kept that only events report and the bank is still to confirm. With the twentieth there is a case; what events tell beyond it is only a reason to ask the bank, whose answer is booked as any other is.' },
    { from: ANY, on: 'partner.confirmed', when: 'payment is to be verified', to: 'same', asks: true, rule: 'cash-in.credits.1', says: 'A payment that only an event reports is verified with the bank before it is booked: in production every one; in the sandbox where its value is at least `PIXGATE_VERIFY_CREDITS_FROM_CENTS`, where it is dated before its charge, where an event reported it before that is to be verified, where 20 payments of the charge are booked, and always where the bank’s connector asks for that. The event books nothing then; the bank is asked at once, and its answer is booked as any other is.' },
    { from: [...PAYABLE, 'FAILED', DOUBT], on: 'partner.confirmed', when: 'movement belongs to another operation', to: CONFLICT, opens: 'movement_elsewhere', rule: 'cash-in.states.13', says: 'A movement belongs to exactly one operation: a payment under an end-to-end id that was booked on another operation is not booked a second time: a case, whatever the state.' },
    { from: 'PAID', on: 'partner.confirmed', when: 'movement belongs to another operation', to: 'same', opens: 'movement_elsewhere', rule: 'cash-in.states.13', says: 'What was paid stays `PAID`.' },
    { from: DOUBT, on: 'partner.confirmed', when: 'payment is a second one', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.reconciliation.2', says: 'In doubt a payment beside the one that was booked is in suspense with a case.' },
    { from: [...PAYABLE, DOUBT], on: 'partner.confirmed', when: 'amount differs', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.states.8', says: 'A payment of another amount is in suspense, with a case.' },
    { from: ['PENDING', 'EXPIRED'], on: 'partner.confirmed', when: 'settled late', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.states.9', says: 'A payment that settled more than 60 s after `expirationDate` is in suspense, with a case.' },
    { from: [...PAYABLE, DOUBT], on: 'partner.confirmed', when: 'payment is older than the charge', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.states.14', says: 'No charge is paid before it exists: such a payment is in suspense, with a case. Where only an event reports it, it is verified first.' },
    { from: [...PAYABLE, DOUBT], on: 'partner.confirmed', when: 'answer contradicts', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.states.12', says: 'A payment in an answer is booked even where the rest of the answer contradicts the charge: it is in suspense, with a case. What such an answer tells under another id is not ours.' },
    { from: 'PENDING', on: 'partner.confirmed', to: 'PAID', posts: 'cash_in_paid', emits: 'pix_cash_in', rule: 'cash-in.states.7', says: 'A confirmed payment of the exact value: the merchant is credited and notified.' },
    { from: UNANSWERED, on: 'partner.confirmed', to: 'PAID', posts: 'cash_in_paid', emits: 'pix_cash_in', rule: 'cash-in.unknown.4', says: 'The same where the bank’s answer was missing.' },
    { from: 'EXPIRED', on: 'partner.confirmed', to: 'PAID', posts: 'cash_in_paid', emits: 'pix_cash_in', rule: 'cash-in.expired.2', says: 'The same where it settled no later than 60 s after `expirationDate`.' },
    { from: 'PAID', on: 'partner.confirmed', to: 'same', posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.paid.4', says: 'Another end-to-end id is a second payment: it is in suspense with a case, and the cash-in stays `PAID`.' },
    { from: 'FAILED', on: 'partner.confirmed', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.failed.2', says: 'A payment of a charge that failed is in suspense, with a case.' },
    { from: DOUBT, on: 'partner.confirmed', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.reconciliation.3', says: 'Any other payment in doubt is in suspense; a case is opened, and operator action is required.' },

    // Refunds: a credited cash-in counts returned money, even in doubt; that changes no state.
    { from: 'PAID', on: 'refund.reserved', to: 'same', rule: 'cash-in.refunds.1', says: 'A refund that is accepted sets its amount aside on the `PAID` cash-in.' },
    { from: ANY, on: 'refund.taken', when: 'return restated', to: 'same', opens: 'bank_contradicts', rule: 'cash-in.refunds.6', says: 'The same return id with another amount is a case; nothing is booked again.' },
    { from: ANY, on: ['refund.confirmed', 'refund.taken'], when: 'returns exceed the payment', to: 'same', opens: 'bank_contradicts', rule: 'cash-in.refunds.5', says: 'More than the value may go back where the bank does as it likes; then it is a case.' },
    { from: ANY, on: 'refund.confirmed', to: 'same', rule: 'cash-in.refunds.2', says: 'A refund that was confirmed counts as gone back, no longer as set aside.' },
    { from: ANY, on: 'refund.released', to: 'same', rule: 'cash-in.refunds.3', says: 'What a refund that failed had set aside can be refunded again.' },
    { from: ANY, on: 'refund.taken', to: 'same', rule: 'cash-in.refunds.4', says: 'Money that went back beside what was set aside counts too: the bank took it, or it left for a refund in doubt or after its failure.' },
    { from: ANY, on: 'refund.named', to: 'same', rule: 'cash-in.refunds.8', says: 'The cash-in knows its refunds under way: the amount of each, and the bank’s reference of it as soon as that is reported.' },
    { from: ANY, on: 'refund.answered', to: 'same', rule: 'cash-in.returns.3', says: 'Where the bank names a return only by the payment, a refund is not it that has ended otherwise, or that the bank, asked 10 s or more after the return was reported, still has under way. That the bank does not know a refund says nothing here.' },

    // A return that names no refund of ours is the bank's own only once no refund of ours can be meant. Returned money
    // is booked or becomes a case in every state, since an operator may have decided the payment already.
    { from: ANY, on: 'return.told', when: 'return restated', to: 'same', opens: 'bank_contradicts', rule: 'cash-in.refunds.6', says: 'The same of a return that names no refund, whatever the status.' },
    { from: ANY, on: 'return.told', when: 'movement belongs to another operation', to: 'same', opens: 'movement_elsewhere', rule: 'cash-in.refunds.11', says: 'A return id that is booked on another operation is not booked a second time: a case.' },
    { from: ANY, on: 'return.told', when: ['return has no id', 'return may be known'], to: 'same', opens: 'bank_contradicts', rule: 'cash-in.refunds.10', says: 'Where a return of that amount was booked, in suspense too, or is in doubt, or a refund is under way, one without an id may be that one: then it is a case only.' },
    { from: ANY, on: 'return.told', when: 'return has no id', to: 'same', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'cash-in.refunds.10', says: 'A return of the bank’s own without an id, of which the bank cannot be asked, is in suspense and a case. Where a return of that amount is reported with its id afterwards it is that one: it is booked as what it is, and its suspense (J12k) and its case end.' },
    { from: CREDITED, on: 'return.told', when: 'a refund may explain it', to: 'same', rule: 'cash-in.returns.1', says: 'It is in doubt while a refund of this payment may be it. Nothing is booked yet, and every such refund is asked about at once. The merchant is notified once it is known.' },
    { from: CREDITED, on: 'return.told', when: 'payment is in suspense', to: 'same', posts: 'arrival_returned', rule: 'cash-in.refunds.12', says: 'What the bank gives back of a payment that is in suspense is taken from suspense; the merchant, who was not credited with it, is not debited. The case closes when nothing is left. Without an end-to-end id the only payment is meant.' },
    { from: ANY, on: 'return.told', when: 'payment cannot be identified', to: 'same', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'cash-in.refunds.9', says: 'Where it is not reported which of several payments went back, or more went back than is in suspense of it, what left is in suspense and a case. So is what goes back of a payment that an operator has credited or written off, whatever the status; of one that was attributed it is the other charge’s return. While a payment of the charge is still to be verified such a return waits.' },
    { from: CREDITED, on: 'return.told', when: 'returns exceed the payment', to: 'same', opens: 'bank_contradicts', rule: 'cash-in.refunds.5', says: 'More than the value may go back by the bank’s own returns too; then it is a case.' },
    { from: CREDITED, on: 'return.told', to: 'same', rule: 'cash-in.returns.2', says: 'Where no refund can be it any more, as each ended otherwise or has another reference, it is the bank’s own (J12). So is one of another amount than any refund under way, at once.' },
    { from: ANY, on: 'return.unexplained', when: 'it was held before', to: 'same', opens: 'return_unexplained', rule: 'cash-in.returns.4', says: 'Told again it is a case once more, and nothing is held.' },
    { from: ANY, on: 'return.unexplained', to: 'same', posts: 'return_held', opens: 'return_unexplained', rule: 'cash-in.returns.4', says: 'After 15 minutes without an answer it is a case: what left is in suspense, and what is there of it is held (J12h). Nothing is owed for it.' },
    { from: ANY, on: 'return.known', when: 'money of it is held', to: 'same', posts: 'return_known', rule: 'cash-in.returns.5', says: 'Once it is known whose it is, ours or the bank’s, its hold and its suspense end in the same instant in which it is booked (J12k), and the case closes.' },
    { from: ANY, on: 'return.known', to: 'same', rule: 'cash-in.returns.5', says: 'Known before anything of it was held, it is in doubt no more.' },

    // Work.
    { from: ANY, on: 'work.requested', to: 'same', asks: true, rule: 'cash-in.work.1', says: 'Whatever casts doubt on a cash-in may request that the bank be asked now; this changes no state.' },
    { from: ANY, on: 'work.claimed', when: 'work is due', to: 'same', rule: 'cash-in.work.7', says: 'Work is claimed by a move with a lease, so that one process does it; the call follows with no transaction open.' },
    { from: 'PENDING', on: 'work.done', when: 'end is unknown for too long', to: 'same', opens: 'charge_unclear', rule: 'cash-in.expired.5', says: 'Where the bank has not reported for an hour after `expirationDate` how the charge ended, it is a case: long enough for most outages to pass by themselves, short enough for an operator to look at the bank’s own portal before the payer asks. It closes when the end is known.' },
    { from: ANY, on: 'work.done', when: 'reported payment is unconfirmed for too long', to: 'same', opens: 'payment_unconfirmed', rule: 'cash-in.credits.4', says: 'A payment that an event reported and the bank, asked, has not confirmed within 15 minutes is a case, which closes when it is confirmed. It is asked about for a day.' },
    { from: ANY, on: 'work.done', to: 'same', rule: 'cash-in.work.3', says: 'Work that changed nothing is due again when the state says so.' },

    // Decisions of operators.
    ...cashInDecisions,
  ],
})

export type CashInStatus = StateOf<typeof cashIn>

/** A reason of a cash-in's doubt. */
export type CashInReason = ReasonOf<typeof cashIn>
