import type { Line } from '../machine.ts'

/** Decisions about the cases of a cash-out. @source rules#cases.1 */

const DOUBT = 'RECONCILIATION_REQUIRED:*'
const AWAITED = ['DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'] as const
const AFTER_SENDING = [...AWAITED, 'CONFIRMED', 'FAILED', 'REVERSED', 'RELEASED', DOUBT] as const

// biome-ignore format: one line of the table is one line
export const cashOutDecisions = [
  { from: AWAITED, on: 'operator.executed', unless: ['its movement is known', 'money of it is in suspense'], to: 'CONFIRMED', posts: 'cash_out_confirmed', emits: 'pix_cash_out', decides: 'outcome_unknown', rule: 'cash-out.cases.1', says: 'The money has left, as the end-to-end id proves that the operator has from the bank: booked as its own confirmation is, and the merchant is notified.' },
  { from: DOUBT, on: 'operator.executed', unless: ['its movement is known', 'money of it is in suspense', 'it is confirmed', 'the reservation was given back'], to: 'same', posts: 'cash_out_confirmed', emits: 'pix_cash_out', decides: 'outcome_unknown', rule: 'cash-out.cases.1', says: 'The same in doubt. Of what is in suspense its own case decides; an end-to-end id that was booked, here or on another operation, proves nothing.' },
  { from: AWAITED, on: 'operator.not_executed', unless: ['an attempt may still arrive', 'the statement shows it', 'money of it is in suspense'], to: 'FAILED', posts: 'cash_out_released', emits: 'pix_cash_out', decides: 'outcome_unknown', rule: 'cash-out.cases.2', says: 'Nothing left, as the operator has from the bank: what was set aside is free again, and the merchant is notified. Not while an attempt may still arrive.' },
  { from: DOUBT, on: 'operator.not_executed', unless: ['an attempt may still arrive', 'the statement shows it', 'money of it is in suspense', 'it is confirmed', 'the reservation was given back'], to: 'same', posts: 'cash_out_released', emits: 'pix_cash_out', decides: 'outcome_unknown', rule: 'cash-out.cases.2', says: 'The same in doubt.' },
  { from: DOUBT, on: 'operator.executed', when: 'money that left is in suspense', unless: 'it is confirmed', to: 'same', posts: 'payout_left_in_suspense', emits: 'pix_cash_out', decides: 'debit_in_suspense', rule: 'cash-out.cases.3', says: 'What is in suspense is the payout: it is taken from what is held and from the balance, with the fee. What left beyond the value and is not there is owed; what is held beyond it is free.' },
  { from: DOUBT, on: 'operator.written_off', when: 'money that left is in suspense', to: 'same', posts: 'left_written_off', decides: 'debit_in_suspense', rule: 'cash-out.cases.5', says: 'What left and is nobody’s to bear is a loss. What was held again of it is free.' },
  { from: DOUBT, on: 'operator.attributed', when: ['money that arrived is in suspense', 'it is confirmed'], unless: 'returns exceed the payout', to: 'same', posts: 'payout_return_credited', emits: 'pix_cash_out_reversal', decides: 'return_in_suspense', rule: 'cash-out.cases.6', says: 'A return of a confirmed payout is credited, up to what left as the payout together with those before, and the merchant is notified. Where it may be of another payment of it, in suspense or written off, the operator names the end-to-end id of the payout as what came back.' },
  { from: DOUBT, on: 'operator.written_off', when: 'money that arrived is in suspense', to: 'same', posts: 'arrival_written_off', decides: 'return_in_suspense', rule: 'cash-out.cases.7', says: 'What came back and is nobody’s is a gain; of a payment that was written off it pays back the loss.' },
  { from: AFTER_SENDING, on: 'operator.explained', unless: ['money that arrived is in suspense', 'money that left is in suspense'], to: 'same', decides: ['bank_contradicts', 'debit_in_suspense', 'return_in_suspense', 'movement_elsewhere'], rule: 'cash-out.cases.9', says: 'What the operator can explain is closed where no money is in suspense for it; nothing is booked.' },
  { from: ['CONFIRMED', 'REVERSED', DOUBT], on: 'operator.explained', when: 'it is confirmed', to: 'same', decides: 'outcome_unknown', rule: 'cash-out.cases.9', says: 'So is what waited for an outcome, where another decision confirmed the payout,' },
  { from: ['FAILED', 'RELEASED', DOUBT], on: 'operator.explained', when: 'the reservation was given back', to: 'same', decides: 'outcome_unknown', rule: 'cash-out.cases.9', says: 'or gave back what was set aside.' },
  { from: AFTER_SENDING, on: 'operator.asked_again', unless: 'no answer settles it', to: 'same', asks: true, decides: ['outcome_unknown', 'bank_contradicts'], rule: 'cash-out.cases.10', says: 'The bank is asked again, at once; the case stays open until its answer, or another decision, closes it.' },

  // When the last case of the doubt is decided.
  { from: DOUBT, on: 'doubt.decided', when: 'another case is open', to: 'ignored', rule: 'cash-out.cases.11', says: 'A decision leaves the other cases open, and the cash-out in doubt while one of those that cast it is.' },
  { from: DOUBT, on: 'doubt.decided', when: ['it is confirmed', 'it came back'], to: 'REVERSED', rule: 'cash-out.cases.11', says: 'Decided in all of them it is `REVERSED` where it left and something of it came back.' },
  { from: DOUBT, on: 'doubt.decided', when: 'it is confirmed', to: 'CONFIRMED', rule: 'cash-out.cases.11', says: 'It is `CONFIRMED` where it left.' },
  { from: DOUBT, on: 'doubt.decided', when: 'the reservation was given back', to: 'FAILED', rule: 'cash-out.cases.11', says: 'It is `FAILED` where what was set aside was given back: of each of these the merchant was notified when it was booked.' },
  { from: DOUBT, on: 'doubt.decided', when: 'it was never claimed', unless: 'the bank has it', to: 'RESERVED', rule: 'cash-out.cases.11', says: 'It is `RESERVED` again where nobody tried to send it and the bank does not have it: it waits for its approval, or is sent, as before.' },
  { from: DOUBT, on: 'doubt.decided', to: 'RECONCILIATION_REQUIRED:no_answer', opens: 'outcome_unknown', asks: true, rule: 'cash-out.cases.11', says: 'Else what is set aside stays so, with a case: the bank is asked, and its outcome, or an operator, ends it.' },
] as const satisfies readonly Line[]
