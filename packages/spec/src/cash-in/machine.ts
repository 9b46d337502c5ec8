import { decisionGuards } from '../cases.ts'
import { doubtText, machine, RESULT_UNKNOWN_TEXT, type ReasonOf, type StateOf } from '../machine.ts'
import { cashInDecisions } from './decisions.ts'

/** Cash-in: a charge that a payer pays. Money that arrived is always booked. */

const ANY = ['PENDING', 'PAID', 'EXPIRED', 'FAILED', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED:*'] as const
/**
 * The bank’s answer about the charge is missing; one clear answer settles it.
 * @source rules#cash-in.reconciliation.1
 */
const UNANSWERED = ['PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED:no_answer'] as const
const OPEN = ['PENDING', ...UNANSWERED] as const
/** No payment is booked, and one may come. */
const PAYABLE = ['PENDING', 'PROVIDER_RESULT_UNKNOWN', 'EXPIRED'] as const
const DOUBT = 'RECONCILIATION_REQUIRED:*'
const CREDITED = ['PAID', DOUBT] as const
const NO_ANSWER = 'RECONCILIATION_REQUIRED:no_answer'
const CONFLICT = 'RECONCILIATION_REQUIRED:conflict'

const reasons = {
  no_answer: 'The bank gave no answer within 15 minutes. One clear answer settles it.',
  conflict:
    'The bank’s answer or report contradicts the order, an earlier report, or the books. Operator action is required.',
}

/**
 * State machine of a cash-in. `charge.*`: the bank’s answers to our calls. `partner.*`: its reports about the payment,
 * by webhook or query. `clock.*`: time. `refund.*`: outcomes of refunds. `return.*`: returns that name none of our
 * refunds.
 * @source rules#cash-in.states
 */
export const cashIn = machine({
  resource: 'cash_in',
  states: ['PENDING', 'PAID', 'EXPIRED', 'FAILED', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED'],
  meanings: {
    PENDING:
      'The charge waits for its payment. If a requested `pixCode` is missing, the bank has not answered yet: read it again.',
    PAID: 'The exact amount was paid and is booked. `refundedCents` shows what was returned.',
    EXPIRED:
      '`expirationDate` has passed, and no payment is known. A payment made in time but reported late still makes it `PAID`. There is no notification of this status.',
    FAILED:
      'The bank refused the charge, reported its failure, or confirmed its cancellation, so it cannot be paid. `failureCode` and `failureReason` say why.',
    PROVIDER_RESULT_UNKNOWN: RESULT_UNKNOWN_TEXT,
    RECONCILIATION_REQUIRED: doubtText(reasons),
  },
  reasons,
  triggers: [
    'create',
    'cancel.requested',
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
    'the merchant has a payment of it': 'a payment of the charge was credited to the merchant',
    'a payment is credited': 'a payment was credited, and the merchant was notified',
    'a payment was credited': 'a payment was credited before, even if the credit was reversed',
    'all of the payment is in suspense':
      'no part of the payment was accepted, returned, written off or attributed, and no return of it is in flight',
    'a return of it is under way':
      'an operator ordered its return to the payer, and the bank has not reported the outcome',
    'part of it went back, or may':
      'part of the payment was returned, a refund of it is in flight, or a payment of the charge is in suspense',
    'its payment went back': 'all payments were returned to their payers, and none was credited',
    'its failure is known': 'the charge had failed before, and the merchant was notified',
    'its answer is missing': 'the case was opened because the bank gave no answer within 15 minutes',
    'work is due': 'the due time has passed, and no other process holds the claim',
    'its time is over': '`expirationDate` has passed',
    'the bank accepted it': 'its Pix code or the bank’s reference is known, so it may be paid',
    'no byte of it was sent': 'no create attempt left, and none is under way',
    'its cancellation is requested': 'the merchant requested its cancellation',
    'absence is proven':
      'the bank answered «not found» at least twice, 60 s apart, the last time 5 minutes after the last create attempt, and never found the charge in between',
    'no answer for 15 minutes': 'the outcome has been missing for 15 minutes',
    'reference differs': 'the bank reports another reference than before',
    'only an event reports it': 'the bank supports queries, and no query has confirmed the report',
    'payment is to be verified':
      'only an event reports the payment, and one of these holds: its value is at least `PIXGATE_VERIFY_CREDITS_FROM_CENTS` (0 in production); it is dated before the charge; an earlier event reported it and it is unconfirmed; 20 payments of the charge are booked; the connector requires verification',
    'too many payments are reported': 'with this one, 20 payments of the charge are reported by events and unconfirmed',
    'payment is older than the charge': 'the payment is dated more than 300 s before the creation of the charge',
    'end is unknown for too long': 'the expiry was an hour ago, and no case about it is open',
    'reported payment is unconfirmed for too long':
      'an event reported a payment 15 minutes ago, queries have not confirmed it, and no case about it is open',
    'movement belongs to another operation': 'the end-to-end id, or return id, is booked on another operation',
    'its payment came to another charge': 'an operator attributed the payment of another charge to it',
    'payment restated': 'the end-to-end id is booked with another amount',
    'payment is a second one': 'another end-to-end id is booked on this charge',
    'amount differs': 'the reported amount differs from the charge',
    'settled late': 'the payment settled more than 60 s after `expirationDate`',
    'answer contradicts': 'the bank’s answer that reports the payment contradicts the order',
    'return restated': 'the return id is booked with another amount',
    'returns exceed the payment': 'the sum of all returns exceeds the value',
    'a refund may explain it':
      'a refund of this payment is open, or failed and may have been executed; it has exactly this amount, and no reference excludes it',
    'it was held before':
      'the return was held for 15 minutes before and released, as no refund explained it; each return is held once',
    'money of it is held':
      'the return was unexplained for 15 minutes, and the available part is held; or it was reported without an id and is in suspense',
    'payment is in suspense': 'the suspense of that payment covers the return',
    'payment cannot be identified':
      'the bank does not say which of several payments it returned; or the returned payment is not the credited one, and its suspense does not cover the return; or the return exceeds the part that an operator accepted, and the rest was decided otherwise',
    'return has no id': 'the bank gave no return id, so the same return may be reported again under an id',
    'return may be known': 'a return of the same amount is booked or in doubt, or a refund is in flight',
  },
  // biome-ignore format: one line of the table is one line
  lines: [
    { from: null, on: 'create', to: 'PENDING', rule: 'cash-in.states.1', says: 'An accepted request creates a `PENDING` cash-in.' },

    // After the expiry, written or not, only money changes the charge.
    { from: 'PENDING', on: ['charge.rejected', 'charge.unknown', 'charge.contradicted', 'partner.failed'], when: 'its time is over', to: 'ignored', rule: 'cash-in.expired.3', says: 'After the expiry, written or not, only money changes the charge. A failure, refusal, contradiction or missing answer has no effect and sends no notification.' },
    { from: 'PENDING', on: 'charge.accepted', when: ['reference differs', 'its time is over'], to: 'ignored', rule: 'cash-in.expired.3', says: 'Another reference has no effect after the expiry either.' },

    // The charge at the bank.
    { from: ['PENDING', 'PROVIDER_RESULT_UNKNOWN'], on: 'charge.accepted', when: 'reference differs', to: CONFLICT, opens: 'charge_unclear', rule: 'cash-in.states.6', says: 'Another reference for the same charge contradicts the order: a case opens.' },
    { from: ['EXPIRED', 'PAID', 'FAILED', NO_ANSWER], on: 'charge.accepted', when: 'reference differs', to: 'ignored', rule: 'cash-in.states.16', says: 'Another reference after the end, or in doubt, is ignored.' },
    { from: 'PENDING', on: 'charge.accepted', to: 'same', rule: 'cash-in.states.2', says: 'The bank accepted the charge: its id and Pix code are stored.' },
    { from: UNANSWERED, on: 'charge.accepted', to: 'PENDING', rule: 'cash-in.unknown.1', says: 'The bank has the charge after all: it is `PENDING` again, with its Pix code.' },
    { from: ['EXPIRED', 'PAID'], on: 'charge.accepted', to: 'same', rule: 'cash-in.expired.1', says: 'A late acceptance only fills in missing data.' },
    { from: 'FAILED', on: 'charge.accepted', to: 'same', opens: 'charge_unclear', asks: true, rule: 'cash-in.failed.1', says: 'A late acceptance of a failed charge opens a case, and the charge is cancelled at the bank. Its Pix code is never shown.' },
    { from: 'PENDING', on: 'charge.rejected', to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.states.3', says: 'The bank refused the charge: `FAILED`, with a notification.' },
    { from: UNANSWERED, on: 'charge.rejected', to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.unknown.2', says: 'The bank had refused the charge: `FAILED`, with a notification.' },
    { from: 'PAID', on: 'charge.rejected', to: 'same', opens: 'charge_unclear', rule: 'cash-in.paid.2', says: 'A late refusal opens a case.' },
    { from: 'PROVIDER_RESULT_UNKNOWN', on: ['charge.not_sent', 'charge.unknown'], when: 'no answer for 15 minutes', to: NO_ANSWER, opens: 'charge_unclear', rule: 'cash-in.unknown.7', says: 'After 15 minutes without an outcome the charge is in doubt, with a case. An unreachable bank counts as silent.' },
    { from: 'PENDING', on: 'charge.not_sent', to: 'same', rule: 'cash-in.states.4', says: 'A call that failed before its first byte was sent is repeated under the same id until the charge expires.' },
    { from: 'PENDING', on: 'charge.unknown', to: 'PROVIDER_RESULT_UNKNOWN', rule: 'cash-in.states.5', says: 'A call without a known outcome sends no notification; the bank is queried.' },
    { from: 'PROVIDER_RESULT_UNKNOWN', on: ['charge.not_sent', 'charge.unknown'], to: 'same', rule: 'cash-in.unknown.3', says: 'Another call without an outcome changes nothing; the bank is queried again.' },
    { from: ['PENDING', 'PROVIDER_RESULT_UNKNOWN'], on: 'charge.contradicted', to: CONFLICT, opens: 'charge_unclear', rule: 'cash-in.states.6', says: 'An answer that contradicts the order opens a case, and the Pix code is withheld.' },

    // The merchant’s cancellation.
    { from: 'PENDING', on: 'cancel.requested', when: 'no byte of it was sent', unless: 'its time is over', to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.cancel.2', says: 'A charge that was never sent is cancelled at once, as the bank cannot have it.' },
    { from: OPEN, on: 'cancel.requested', unless: 'its time is over', to: 'same', asks: true, rule: 'cash-in.cancel.1', says: 'The requested cancellation is stored, and the charge is cancelled at the bank. Only the bank’s answer changes the state.' },
    { from: OPEN, on: 'charge.not_found', when: ['its cancellation is requested', 'absence is proven'], unless: ['the bank accepted it', 'its time is over'], to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.cancel.6', says: 'A charge whose cancellation is requested is not created again. If the bank never accepted it, proven absence cancels it.' },

    // The end without a payment.
    { from: OPEN, on: 'clock.expired', to: 'EXPIRED', rule: 'cash-in.states.11', says: 'The charge is `EXPIRED` once `expirationDate` has passed and the bank, queried first, reports its end or cancels it, without a payment. No notification is sent.' },
    { from: OPEN, on: 'charge.not_found', when: 'its time is over', unless: 'the bank accepted it', to: 'EXPIRED', rule: 'cash-in.states.11', says: 'A charge that the bank never accepted and does not find has expired, too.' },
    { from: OPEN, on: 'charge.not_found', when: ['its time is over', 'absence is proven'], to: 'EXPIRED', rule: 'cash-in.states.11', says: 'For a charge that the bank accepted, «not found» must be proven.' },
    { from: 'PENDING', on: 'charge.not_found', when: ['the bank accepted it', 'absence is proven'], to: CONFLICT, opens: 'charge_unclear', rule: 'cash-in.states.15', says: 'Proven absence before the expiry is a contradiction: a case opens.' },
    { from: OPEN, on: 'charge.not_found', to: 'same', rule: 'cash-in.states.15', says: 'Until absence is proven, the charge keeps its state; after the expiry it is cancelled at the bank.' },
    { from: ['PENDING', 'PROVIDER_RESULT_UNKNOWN', ...CREDITED], on: 'partner.failed', when: 'only an event reports it', to: 'same', asks: true, rule: 'cash-in.states.10', says: 'A failure reported by an event only changes no state: the bank is queried at once. Where the bank has no queries, the event counts.' },
    { from: 'PENDING', on: 'partner.failed', to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.states.10', says: 'A failure reported by a query makes the charge `FAILED`, with a notification. An earlier event’s failure code is used.' },
    { from: UNANSWERED, on: 'partner.failed', to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.unknown.5', says: 'A failure reported by a query ends a missing answer, too.' },
    { from: 'PAID', on: 'partner.failed', when: 'its payment came to another charge', to: 'ignored', rule: 'cash-in.paid.5', says: 'The bank is right about a charge whose payment came to another charge: that it ended unpaid is no contradiction.' },
    { from: 'PAID', on: 'partner.failed', to: CONFLICT, opens: 'bank_contradicts', asks: true, rule: 'cash-in.paid.5', says: 'The bank, queried, reports the end of a charge whose payment is booked, and no payment: a case opens, and nothing is debited. The answer is kept for the operator.' },

    // Money that arrives.
    { from: [...PAYABLE, 'PAID', 'FAILED'], on: 'partner.confirmed', when: 'payment restated', to: 'same', opens: 'bank_contradicts', rule: 'cash-in.paid.3', says: 'A booked end-to-end id reported with another amount opens a case; nothing is booked again. The same holds where an event reported the other amount before the bank confirmed this one.' },
    { from: DOUBT, on: 'partner.confirmed', when: 'payment restated', to: CONFLICT, opens: 'bank_contradicts', rule: 'cash-in.paid.3', says: 'The same holds in doubt.' },
    { from: ANY, on: 'partner.confirmed', when: ['payment is to be verified', 'too many payments are reported'], to: 'same', opens: 'payment_unconfirmed', asks: true, rule: 'cash-in.credits.5', says: 'At most 20 unconfirmed payments reported by events are kept per charge. The twentieth opens a case; later ones only trigger a query, whose answer is booked like any other.' },
    { from: ANY, on: 'partner.confirmed', when: 'payment is to be verified', to: 'same', asks: true, rule: 'cash-in.credits.1', says: 'A payment reported by an event only is verified with the bank before booking: always in production; in the sandbox from `PIXGATE_VERIFY_CREDITS_FROM_CENTS` on, for a payment dated before its charge, for one that an unconfirmed event reported before, after 20 booked payments of the charge, and where the connector requires it. The event books nothing; the bank is queried at once, and its answer is booked.' },
    { from: [...PAYABLE, 'FAILED', DOUBT], on: 'partner.confirmed', when: 'movement belongs to another operation', to: CONFLICT, opens: 'movement_elsewhere', rule: 'cash-in.states.13', says: 'A movement belongs to exactly one operation. An end-to-end id that is booked elsewhere is not booked again: a case opens in any state.' },
    { from: 'PAID', on: 'partner.confirmed', when: 'movement belongs to another operation', to: 'same', opens: 'movement_elsewhere', rule: 'cash-in.states.13', says: 'A paid charge stays `PAID`.' },
    { from: DOUBT, on: 'partner.confirmed', when: 'payment is a second one', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.reconciliation.2', says: 'In doubt, a second payment is booked in suspense, with a case.' },
    { from: [...PAYABLE, DOUBT], on: 'partner.confirmed', when: 'amount differs', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.states.8', says: 'A payment of another amount is booked in suspense, with a case.' },
    { from: ['PENDING', 'EXPIRED'], on: 'partner.confirmed', when: 'settled late', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.states.9', says: 'A payment settled more than 60 s after `expirationDate` is booked in suspense, with a case.' },
    { from: [...PAYABLE, DOUBT], on: 'partner.confirmed', when: 'payment is older than the charge', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.states.14', says: 'A payment cannot predate its charge: it is booked in suspense, with a case. If only an event reports it, it is verified first.' },
    { from: [...PAYABLE, DOUBT], on: 'partner.confirmed', when: 'answer contradicts', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.states.12', says: 'A payment in an answer that otherwise contradicts the order is booked in suspense, with a case. Payments under another charge’s id are not ours.' },
    { from: 'PENDING', on: 'partner.confirmed', to: 'PAID', posts: 'cash_in_paid', emits: 'pix_cash_in', rule: 'cash-in.states.7', says: 'A confirmed payment of the exact value is credited, with a notification.' },
    { from: UNANSWERED, on: 'partner.confirmed', to: 'PAID', posts: 'cash_in_paid', emits: 'pix_cash_in', rule: 'cash-in.unknown.4', says: 'The same holds where the bank’s answer was missing.' },
    { from: 'EXPIRED', on: 'partner.confirmed', to: 'PAID', posts: 'cash_in_paid', emits: 'pix_cash_in', rule: 'cash-in.expired.2', says: 'The same holds up to 60 s after `expirationDate`.' },
    { from: 'PAID', on: 'partner.confirmed', to: 'same', posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.paid.4', says: 'A second payment is booked in suspense, with a case; the cash-in stays `PAID`.' },
    { from: 'FAILED', on: 'partner.confirmed', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.failed.2', says: 'A payment of a failed charge is booked in suspense, with a case.' },
    { from: DOUBT, on: 'partner.confirmed', to: CONFLICT, posts: 'arrived_unattributed', opens: 'payment_in_suspense', rule: 'cash-in.reconciliation.3', says: 'Any other payment in doubt is booked in suspense, with a case.' },

    // Refunds are counted on the credited cash-in, in doubt too, without a change of state.
    { from: 'PAID', on: 'refund.reserved', to: 'same', rule: 'cash-in.refunds.1', says: 'An accepted refund reserves its amount on the `PAID` cash-in.' },
    { from: ANY, on: 'refund.taken', when: 'return restated', to: 'same', opens: 'bank_contradicts', rule: 'cash-in.refunds.6', says: 'A booked return id reported with another amount opens a case; nothing is booked again.' },
    { from: ANY, on: ['refund.confirmed', 'refund.taken'], when: 'returns exceed the payment', to: 'same', opens: 'bank_contradicts', rule: 'cash-in.refunds.5', says: 'The bank may return more than the value: it is counted, and a case opens.' },
    { from: ANY, on: 'refund.confirmed', to: 'same', rule: 'cash-in.refunds.2', says: 'A confirmed refund counts as returned instead of reserved.' },
    { from: ANY, on: 'refund.released', to: 'same', rule: 'cash-in.refunds.3', says: 'The reserved amount of a failed refund becomes refundable again.' },
    { from: ANY, on: 'refund.taken', to: 'same', rule: 'cash-in.refunds.4', says: 'Money returned beyond the reserved amount counts, too: the bank’s own return, or a refund executed in doubt or after its failure.' },
    { from: ANY, on: 'refund.named', to: 'same', rule: 'cash-in.refunds.8', says: 'The cash-in lists its refunds in flight: the amount of each, and the bank’s reference once known.' },
    { from: ANY, on: 'refund.answered', to: 'same', rule: 'cash-in.returns.3', says: 'An answer about a refund excludes it as the explanation of a return that the bank names by the payment only: the refund ended otherwise, or the bank, queried at least 10 s after the return was reported, still has it in flight. «Not found» excludes nothing.' },

    // A return that names no refund of ours is the bank’s own once no refund of ours can explain it. Returns are booked
    // or open a case in every state, as an operator may have decided their payment.
    { from: ANY, on: 'return.told', when: 'return restated', to: 'same', opens: 'bank_contradicts', rule: 'cash-in.refunds.6', says: 'The same holds for a return that names no refund, in any state.' },
    { from: ANY, on: 'return.told', when: 'movement belongs to another operation', to: 'same', opens: 'movement_elsewhere', rule: 'cash-in.refunds.11', says: 'A return id that is booked on another operation is not booked again: a case opens.' },
    { from: ANY, on: 'return.told', when: ['return has no id', 'return may be known'], to: 'same', opens: 'bank_contradicts', rule: 'cash-in.refunds.10', says: 'A return without an id may equal a return of the same amount that is booked, in suspense or in doubt, or a refund in flight: a case opens, and nothing is booked.' },
    { from: ANY, on: 'return.told', when: 'return has no id', to: 'same', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'cash-in.refunds.10', says: 'A return of the bank’s own without an id, from a bank without queries, is booked in suspense, with a case. If a return of that amount is reported with an id later, it is the same: it is booked, and its suspense (J12k) and case end.' },
    { from: CREDITED, on: 'return.told', when: 'a refund may explain it', to: 'same', rule: 'cash-in.returns.1', says: 'A return is in doubt while a refund of the payment may explain it. Nothing is booked, and every such refund is queried at once. The notification follows the attribution.' },
    { from: CREDITED, on: 'return.told', when: 'payment is in suspense', to: 'same', posts: 'arrival_returned', rule: 'cash-in.refunds.12', says: 'A return of a payment in suspense reduces that suspense; the merchant, who was never credited, is not debited. The case closes when the suspense is empty. Without an end-to-end id, the only payment is meant.' },
    { from: ANY, on: 'return.told', when: 'payment cannot be identified', to: 'same', posts: 'left_unattributed', opens: 'debit_in_suspense', rule: 'cash-in.refunds.9', says: 'If the returned payment is unclear, or the return exceeds its suspense, the return is booked in suspense, with a case. The same holds for a payment that an operator credited or wrote off; a return of an attributed payment belongs to the other charge. While a payment of the charge is unconfirmed, such a return waits.' },
    { from: CREDITED, on: 'return.told', when: 'returns exceed the payment', to: 'same', opens: 'bank_contradicts', rule: 'cash-in.refunds.5', says: 'The bank’s own returns may exceed the value, too: they are counted, and a case opens.' },
    { from: CREDITED, on: 'return.told', to: 'same', rule: 'cash-in.returns.2', says: 'A return is the bank’s own (J12) once every refund has ended otherwise or has another reference; one of another amount than any refund in flight is so at once.' },
    { from: ANY, on: 'return.unexplained', when: 'it was held before', to: 'same', opens: 'return_unexplained', rule: 'cash-in.returns.4', says: 'Reported again after its release, the return opens a case without another hold.' },
    { from: ANY, on: 'return.unexplained', to: 'same', posts: 'return_held', opens: 'return_unexplained', rule: 'cash-in.returns.4', says: 'After 15 minutes without an answer a case opens: the return is in suspense, and the available part is held (J12h). No debt arises.' },
    { from: ANY, on: 'return.known', when: 'money of it is held', to: 'same', posts: 'return_known', rule: 'cash-in.returns.5', says: 'Attribution to us or to the bank books the return, ends its hold and suspense (J12k) and closes the case, in one commit.' },
    { from: ANY, on: 'return.known', to: 'same', rule: 'cash-in.returns.5', says: 'Attribution before any hold only ends the doubt.' },

    // Work.
    { from: ANY, on: 'work.requested', to: 'same', asks: true, rule: 'cash-in.work.1', says: 'Any doubt about a cash-in may request a query of the bank; the state does not change.' },
    { from: ANY, on: 'work.claimed', when: 'work is due', to: 'same', rule: 'cash-in.work.7', says: 'A claim with a lease assigns the work to one process; the call follows outside any transaction.' },
    { from: 'PENDING', on: 'work.done', when: 'end is unknown for too long', to: 'same', opens: 'charge_unclear', rule: 'cash-in.expired.5', says: 'The bank has not reported the end of the charge an hour after `expirationDate`: a case opens. An hour outlasts most outages and still precedes the payer’s complaint. The case closes when the end is known.' },
    { from: ANY, on: 'work.done', when: 'reported payment is unconfirmed for too long', to: 'same', opens: 'payment_unconfirmed', rule: 'cash-in.credits.4', says: 'A payment reported by an event and unconfirmed by queries for 15 minutes opens a case, which closes on confirmation. Queries continue for a day.' },
    { from: ANY, on: 'work.done', to: 'same', rule: 'cash-in.work.3', says: 'Work without a change is due again as the state defines.' },

    // Decisions of operators.
    ...cashInDecisions,
  ],
})

/** A state of a cash-in. */
export type CashInStatus = StateOf<typeof cashIn>

/** Why a cash-in is in doubt. */
export type CashInReason = ReasonOf<typeof cashIn>
