import type { Line } from '../machine.ts'

/** What an operator may decide about the cases of a cash-in. @source rules#desk.1 */

const DOUBT = 'RECONCILIATION_REQUIRED:*'
const CREDITED = ['PAID', DOUBT] as const
const ANY = ['PENDING', 'PAID', 'EXPIRED', 'FAILED', 'PROVIDER_RESULT_UNKNOWN', DOUBT] as const

/** A payment is in suspense, and nobody else has it. */
const ARRIVED = [
  'amount_differs',
  'paid_after_expiry',
  'paid_after_failure',
  'second_payment',
  'paid_in_doubt',
  'paid_before_charge',
] as const

/** What went back is in suspense. */
const LEFT = ['return_unattributed', 'return_unnamed'] as const

/** Nothing was booked, or it was booked as what it is. */
const TOLD = [
  'payment_restated',
  'failed_after_payment',
  'charge_after_end',
  'payment_unconfirmed',
  'too_many_payments',
  'returned_too_much',
  'return_restated',
] as const

/** The bank’s answer may settle it. */
const ASKABLE = [
  'result_missing',
  'charge_contradicted',
  'failed_after_payment',
  'payment_restated',
  'payment_unconfirmed',
  'too_many_payments',
  'end_unknown',
  'return_unexplained',
  'return_restated',
] as const

/** See above. */
// biome-ignore format: one line of the table is one line
export const cashInDecisions = [
  { from: DOUBT, on: 'operator.accepted', when: ['money that arrived is in suspense', 'another case is open'], unless: 'a payment is credited', to: 'same', posts: 'suspense_credited', emits: 'pix_cash_in', decides: ARRIVED, rule: 'cash-in.desk.1', says: 'An amount of the payment in suspense becomes the payment of the charge, as no other was credited: the merchant is notified, and may refund so much. What is left of it stays in suspense. While another case is open that casts a doubt the charge stays in doubt.' },
  { from: DOUBT, on: 'operator.accepted', when: 'money that arrived is in suspense', unless: 'a payment is credited', to: 'PAID', posts: 'suspense_credited', emits: 'pix_cash_in', decides: ARRIVED, rule: 'cash-in.desk.1', says: 'Else it is `PAID`.' },
  { from: CREDITED, on: 'operator.returned_to_payer', when: 'money that arrived is in suspense', to: 'same', decides: ARRIVED, rule: 'cash-in.desk.3', says: 'An amount of the payment in suspense goes back to its payer through the bank: a refund is ordered, and the money stays in suspense until the bank confirms it. Where the bank refuses, nothing changed. The case closes when nothing is left in suspense.' },
  { from: CREDITED, on: 'operator.written_off', when: 'money that arrived is in suspense', unless: 'a return of it is under way', to: 'same', posts: 'arrival_written_off', decides: ARRIVED, rule: 'cash-in.desk.4', says: 'What nobody claims is a gain.' },
  { from: CREDITED, on: 'operator.attributed', when: 'money that arrived is in suspense', unless: 'a return of it is under way', to: 'same', posts: 'arrival_handed_over', decides: ARRIVED, rule: 'cash-in.desk.5', says: 'The payment was meant for another charge, and is booked on that one in the same instant.' },
  { from: ['PENDING', 'EXPIRED', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED:no_answer'], on: 'operator.received', unless: ['amount differs', 'payment is a second one'], to: 'PAID', posts: 'cash_in_attributed', emits: 'pix_cash_in', rule: 'cash-in.desk.6', says: 'A charge of which no payment was booked is paid by one of the exact value that an operator takes from another charge. Any other is refused.' },
  { from: CREDITED, on: 'operator.undone', when: 'money that arrived is in suspense', to: 'same', posts: 'arrival_handed_over', decides: 'movement_elsewhere', rule: 'cash-in.desk.7', says: 'The bank moved it once, and it is booked on the other operation: the second booking is undone.' },
  { from: ANY, on: 'operator.undone', when: 'money that left is in suspense', to: 'same', posts: 'left_handed_over', decides: 'movement_elsewhere', rule: 'cash-in.desk.7', says: 'So is that of a return.' },
  { from: ANY, on: 'operator.debited', when: ['money that left is in suspense', 'the merchant has a payment of it'], unless: 'its movement is known', to: 'same', posts: 'return_debited', decides: LEFT, rule: 'cash-in.desk.8', says: 'The bank gave a payment back that the merchant was credited with, whole or in part: the merchant is debited, owes what is not there, and it counts as gone back. One that the bank told without its id is named by it, so that it is nothing new when the bank tells it.' },
  { from: ANY, on: 'operator.written_off', when: 'money that left is in suspense', unless: 'its movement is known', to: 'same', posts: 'left_written_off', decides: LEFT, rule: 'cash-in.desk.9', says: 'What left and cannot be debited from anybody is a loss; it is named in the same way.' },
  { from: CREDITED, on: 'operator.attributed', to: 'same', asks: true, decides: 'return_unexplained', rule: 'cash-in.desk.10', says: 'That no refund of ours is the return an operator may know: then it is the bank’s own, and is booked as such (J12k and J12), which closes the case.' },
  { from: 'PENDING', on: 'operator.explained', to: 'EXPIRED', decides: 'end_unknown', rule: 'cash-in.desk.11', says: 'The bank’s own portal shows that the charge ended unpaid.' },
  { from: DOUBT, on: 'operator.explained', unless: 'a payment is credited', to: 'same', decides: ['result_missing', 'charge_contradicted'], rule: 'cash-in.desk.11', says: 'So it may where the bank gave no answer, or one that contradicts what was asked. A payment that arrives all the same is in suspense, with a case.' },
  { from: DOUBT, on: 'operator.asked_again', unless: ['another case is open', 'a payment is credited', 'its time is over'], to: 'PENDING', asks: true, decides: 'charge_contradicted', rule: 'cash-in.desk.12', says: 'While its time lasts the charge waits for its payment again, and the bank is asked: another contradiction is a case again.' },
  { from: ANY, on: 'operator.explained', unless: ['money that arrived is in suspense', 'a return of it is under way', 'money that left is in suspense'], to: 'same', decides: [...TOLD, ...ARRIVED, ...LEFT, 'movement_elsewhere', 'charge_contradicted'], rule: 'cash-in.desk.13', says: 'What the operator can explain is closed where no money is in suspense for it; nothing is booked.' },
  { from: ANY, on: 'operator.asked_again', to: 'same', asks: true, decides: ASKABLE, rule: 'cash-in.desk.14', says: 'The bank is asked again, at once; the case stays open until its answer, or another decision, closes it.' },
  { from: 'PAID', on: 'operator.reversed', unless: 'part of it went back, or may', to: 'FAILED', posts: 'credit_reversed', emits: 'pix_cash_in', rule: 'cash-in.desk.16', says: 'A credit that the bank’s statement does not have an operator takes back: the charge is `FAILED`, with the code `reversed_by_operator`, and the merchant is notified, is given the fee back and owes what the balance does not have. Not while a refund of it is under way, nor where part of it went back.' },

  // Where the last case that keeps it in doubt is decided.
  { from: DOUBT, on: 'doubt.decided', when: 'another case is open', to: 'ignored', rule: 'cash-in.desk.15', says: 'A decision leaves the other cases open, and the cash-in in doubt while one of those that cast it is.' },
  { from: DOUBT, on: 'doubt.decided', when: 'a payment is credited', to: 'PAID', rule: 'cash-in.desk.15', says: 'Decided in all of them it is `PAID` where a payment of the exact value was credited: the merchant was notified of that.' },
  { from: DOUBT, on: 'doubt.decided', when: 'its failure is known', to: 'FAILED', rule: 'cash-in.desk.15', says: 'It is `FAILED` again where it had failed, of which the merchant was notified.' },
  { from: DOUBT, on: 'doubt.decided', when: 'its payment went back', to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.desk.15', says: 'It is `FAILED`, with the code `returned_to_payer`, where an operator returned all that was paid, and the merchant is notified.' },
  { from: DOUBT, on: 'doubt.decided', when: 'its time is over', to: 'EXPIRED', rule: 'cash-in.desk.15', says: 'It is `EXPIRED` where its time is over.' },
  { from: DOUBT, on: 'doubt.decided', to: 'FAILED', emits: 'pix_cash_in', rule: 'cash-in.desk.15', says: 'Else it is `FAILED`, with the code `decided_by_operator`, and the merchant is notified.' },
] as const satisfies readonly Line[]
