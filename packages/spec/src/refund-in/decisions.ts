import type { Line } from '../machine.ts'

/** Decisions of operators about cases of refunds. @source rules#cases.1 */

const ANY = ['PENDING:*', 'CONFIRMED:*', 'FAILED:*'] as const

// biome-ignore format: one line of the table is one line
export const refundInDecisions = [
  { from: 'PENDING:*', on: 'operator.executed', when: 'another case is open', unless: ['its movement is known', 'money of it is in suspense', 'its payment is not in suspense any more'], to: 'CONFIRMED:conflict', posts: 'refund_in_confirmed', emits: 'pix_cash_in_reversal', decides: 'outcome_unknown', rule: 'refund-in.cases.1', says: 'The operator proves with the bank’s return id that the money was returned: booked like the bank’s confirmation, with a notification. Refused if the suspense no longer covers it: then the bank’s report is booked in suspense, with a case. While another case keeps it in doubt, it stays in doubt.' },
  { from: 'PENDING:*', on: 'operator.executed', unless: ['its movement is known', 'money of it is in suspense', 'its payment is not in suspense any more'], to: 'CONFIRMED', posts: 'refund_in_confirmed', emits: 'pix_cash_in_reversal', decides: 'outcome_unknown', rule: 'refund-in.cases.1', says: 'Otherwise the doubt ends.' },
  { from: 'PENDING:*', on: 'operator.not_executed', when: 'another case is open', unless: ['an attempt may still arrive', 'the statement shows it', 'money of it is in suspense'], to: 'FAILED:conflict', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', decides: 'outcome_unknown', rule: 'refund-in.cases.2', says: 'The bank told the operator that nothing was returned: the reservation is released, with a notification. Refused while an attempt may still arrive.' },
  { from: 'PENDING:*', on: 'operator.not_executed', unless: ['an attempt may still arrive', 'the statement shows it', 'money of it is in suspense'], to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', decides: 'outcome_unknown', rule: 'refund-in.cases.2', says: 'Otherwise the doubt ends.' },
  { from: ['PENDING:*', 'FAILED:*'], on: 'operator.executed', when: ['money that left is in suspense', 'another case is open'], unless: 'its payment is not in suspense any more', to: 'CONFIRMED:conflict', posts: 'refund_left_in_suspense', emits: 'pix_cash_in_reversal', decides: 'debit_in_suspense', rule: 'refund-in.cases.3', says: 'The money in suspense is the refund: it is debited from the hold and the balance. A shortfall becomes a debt; a surplus of the hold is released. While another case keeps it in doubt, it stays in doubt.' },
  { from: ['PENDING:*', 'FAILED:*'], on: 'operator.executed', when: 'money that left is in suspense', unless: 'its payment is not in suspense any more', to: 'CONFIRMED', posts: 'refund_left_in_suspense', emits: 'pix_cash_in_reversal', decides: 'debit_in_suspense', rule: 'refund-in.cases.3', says: 'Otherwise the doubt ends.' },
  { from: ANY, on: 'operator.written_off', when: 'money that left is in suspense', to: 'same', posts: 'left_written_off', decides: 'debit_in_suspense', rule: 'refund-in.cases.5', says: 'The money in suspense is booked as a loss. A hold for it is released.' },
  { from: ANY, on: 'operator.explained', unless: 'money that left is in suspense', to: 'same', decides: ['bank_contradicts', 'debit_in_suspense', 'movement_elsewhere'], rule: 'refund-in.cases.7', says: 'An explained case closes if no money is in suspense for it; nothing is booked.' },
  { from: ['CONFIRMED:*', 'FAILED:*'], on: 'operator.explained', to: 'same', decides: 'outcome_unknown', rule: 'refund-in.cases.7', says: 'A case that waited for an outcome closes, too, once another decision ended the refund.' },
  { from: ANY, on: 'operator.asked_again', unless: 'no answer settles it', to: 'same', asks: true, decides: ['outcome_unknown', 'bank_contradicts'], rule: 'refund-in.cases.8', says: 'The bank is queried again at once; the case stays open until an answer or another decision closes it.' },

  // The last case that keeps it in doubt is decided.
  { from: ANY, on: 'doubt.decided', when: 'another case is open', to: 'ignored', rule: 'refund-in.cases.9', says: 'The refund stays in doubt while another case that causes it is open.' },
  { from: 'CONFIRMED:*', on: 'doubt.decided', to: 'CONFIRMED', rule: 'refund-in.cases.9', says: 'The doubt ends: the refund stays `CONFIRMED`,' },
  { from: 'FAILED:*', on: 'doubt.decided', to: 'FAILED', rule: 'refund-in.cases.9', says: 'or `FAILED`;' },
  { from: 'PENDING:*', on: 'doubt.decided', when: 'it was never claimed', unless: 'the bank has it', to: 'PENDING', rule: 'refund-in.cases.9', says: 'it is `PENDING` again if it was never claimed and the bank does not have it, and is sent;' },
  { from: 'PENDING:*', on: 'doubt.decided', to: 'PENDING:no_answer', opens: 'outcome_unknown', asks: true, rule: 'refund-in.cases.9', says: 'otherwise the reservation stays, with a case: the bank is queried, and its outcome, or an operator, ends it.' },
] as const satisfies readonly Line[]
