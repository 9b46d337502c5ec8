import type { Line } from '../machine.ts'

/** Decisions of operators about cases of cash-outs. @source rules#cases.1 */

const DOUBT = 'RECONCILIATION_REQUIRED:*'
const AWAITED = ['DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'] as const
const AFTER_SENDING = [...AWAITED, 'CONFIRMED', 'FAILED', 'REVERSED', 'RELEASED', DOUBT] as const

// biome-ignore format: one line of the table is one line
export const cashOutDecisions = [
  { from: AWAITED, on: 'operator.executed', unless: ['its movement is known', 'money of it is in suspense'], to: 'CONFIRMED', posts: 'cash_out_confirmed', emits: 'pix_cash_out', decides: 'outcome_unknown', rule: 'cash-out.cases.1', says: 'The operator proves with the bank’s end-to-end id that the money left: booked like the bank’s confirmation, with a notification.' },
  { from: DOUBT, on: 'operator.executed', unless: ['its movement is known', 'money of it is in suspense', 'it is confirmed', 'the reservation was given back'], to: 'same', posts: 'cash_out_confirmed', emits: 'pix_cash_out', decides: 'outcome_unknown', rule: 'cash-out.cases.1', says: 'The same holds in doubt. Money in suspense is decided in its own case; an end-to-end id that is already booked proves nothing.' },
  { from: AWAITED, on: 'operator.not_executed', unless: ['an attempt may still arrive', 'the statement shows it', 'money of it is in suspense'], to: 'FAILED', posts: 'cash_out_released', emits: 'pix_cash_out', decides: 'outcome_unknown', rule: 'cash-out.cases.2', says: 'The bank told the operator that no money left: the reservation is released, with a notification. Refused while an attempt may still arrive.' },
  { from: DOUBT, on: 'operator.not_executed', unless: ['an attempt may still arrive', 'the statement shows it', 'money of it is in suspense', 'it is confirmed', 'the reservation was given back'], to: 'same', posts: 'cash_out_released', emits: 'pix_cash_out', decides: 'outcome_unknown', rule: 'cash-out.cases.2', says: 'The same holds in doubt.' },
  { from: DOUBT, on: 'operator.executed', when: 'money that left is in suspense', unless: 'it is confirmed', to: 'same', posts: 'payout_left_in_suspense', emits: 'pix_cash_out', decides: 'debit_in_suspense', rule: 'cash-out.cases.3', says: 'The money in suspense is the payout: it is debited from the hold and the balance, with the fee. A shortfall becomes a debt; a surplus of the hold is released.' },
  { from: DOUBT, on: 'operator.written_off', when: 'money that left is in suspense', to: 'same', posts: 'left_written_off', decides: 'debit_in_suspense', rule: 'cash-out.cases.5', says: 'The money in suspense is booked as a loss. A hold for it is released.' },
  { from: DOUBT, on: 'operator.attributed', when: ['money that arrived is in suspense', 'it is confirmed'], unless: 'returns exceed the payout', to: 'same', posts: 'payout_return_credited', emits: 'pix_cash_out_reversal', decides: 'return_in_suspense', rule: 'cash-out.cases.6', says: 'A return of a confirmed payout is credited, with a notification, up to the sum that left as the payout. If it may belong to another payment that is in suspense or written off, the operator names the payout’s end-to-end id.' },
  { from: DOUBT, on: 'operator.written_off', when: 'money that arrived is in suspense', to: 'same', posts: 'arrival_written_off', decides: 'return_in_suspense', rule: 'cash-out.cases.7', says: 'An unclaimed return is booked as a gain; for a payment that was written off it recovers the loss.' },
  { from: AFTER_SENDING, on: 'operator.explained', unless: ['money that arrived is in suspense', 'money that left is in suspense'], to: 'same', decides: ['bank_contradicts', 'debit_in_suspense', 'return_in_suspense', 'movement_elsewhere'], rule: 'cash-out.cases.9', says: 'An explained case closes if no money is in suspense for it; nothing is booked.' },
  { from: ['CONFIRMED', 'REVERSED', DOUBT], on: 'operator.explained', when: 'it is confirmed', to: 'same', decides: 'outcome_unknown', rule: 'cash-out.cases.9', says: 'A case that waited for an outcome closes, too, once another decision confirmed the payout,' },
  { from: ['FAILED', 'RELEASED', DOUBT], on: 'operator.explained', when: 'the reservation was given back', to: 'same', decides: 'outcome_unknown', rule: 'cash-out.cases.9', says: 'or released its reservation.' },
  { from: AFTER_SENDING, on: 'operator.asked_again', unless: 'no answer settles it', to: 'same', asks: true, decides: ['outcome_unknown', 'bank_contradicts'], rule: 'cash-out.cases.10', says: 'The bank is queried again at once; the case stays open until an answer or another decision closes it.' },

  // The last case that keeps it in doubt is decided.
  { from: DOUBT, on: 'doubt.decided', when: 'another case is open', to: 'ignored', rule: 'cash-out.cases.11', says: 'The cash-out stays in doubt while another case that causes it is open.' },
  { from: DOUBT, on: 'doubt.decided', when: ['it is confirmed', 'it came back'], to: 'REVERSED', rule: 'cash-out.cases.11', says: 'The cash-out is `REVERSED` if it was confirmed and partly or wholly returned.' },
  { from: DOUBT, on: 'doubt.decided', when: 'it is confirmed', to: 'CONFIRMED', rule: 'cash-out.cases.11', says: 'It is `CONFIRMED` if it was confirmed.' },
  { from: DOUBT, on: 'doubt.decided', when: 'the reservation was given back', to: 'FAILED', rule: 'cash-out.cases.11', says: 'It is `FAILED` if its reservation was released. The merchant was notified of each of these when it was booked.' },
  { from: DOUBT, on: 'doubt.decided', when: 'it was never claimed', unless: 'the bank has it', to: 'RESERVED', rule: 'cash-out.cases.11', says: 'It is `RESERVED` again if it was never claimed and the bank does not have it: it waits for its approval, or is sent.' },
  { from: DOUBT, on: 'doubt.decided', to: 'RECONCILIATION_REQUIRED:no_answer', opens: 'outcome_unknown', asks: true, rule: 'cash-out.cases.11', says: 'Otherwise the reservation stays, with a case: the bank is queried, and its outcome, or an operator, ends it.' },
] as const satisfies readonly Line[]
