import type { Line } from '../machine.ts'

/** Decisions about the cases of a refund. @source rules#cases.1 */

const ANY = ['PENDING:*', 'CONFIRMED:*', 'FAILED:*'] as const

// biome-ignore format: one line of the table is one line
export const refundInDecisions = [
  { from: 'PENDING:*', on: 'operator.executed', when: 'another case is open', unless: ['its movement is known', 'money of it is in suspense', 'its payment is not in suspense any more'], to: 'CONFIRMED:conflict', posts: 'refund_in_confirmed', emits: 'pix_cash_in_reversal', decides: 'outcome_unknown', rule: 'refund-in.cases.1', says: 'The money went back, as the return id proves that the operator has from the bank: booked as its own confirmation is, and the merchant is notified. Not where its payment is not in suspense any more: what the bank reports of it is in suspense, with a case. While another case is open that casts a doubt it stays in doubt.' },
  { from: 'PENDING:*', on: 'operator.executed', unless: ['its movement is known', 'money of it is in suspense', 'its payment is not in suspense any more'], to: 'CONFIRMED', posts: 'refund_in_confirmed', emits: 'pix_cash_in_reversal', decides: 'outcome_unknown', rule: 'refund-in.cases.1', says: 'Else the doubt ends.' },
  { from: 'PENDING:*', on: 'operator.not_executed', when: 'another case is open', unless: ['an attempt may still arrive', 'the statement shows it', 'money of it is in suspense'], to: 'FAILED:conflict', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', decides: 'outcome_unknown', rule: 'refund-in.cases.2', says: 'Nothing went back, as the operator has from the bank: what was set aside is free again, and the merchant is notified. Not while an attempt may still arrive.' },
  { from: 'PENDING:*', on: 'operator.not_executed', unless: ['an attempt may still arrive', 'the statement shows it', 'money of it is in suspense'], to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', decides: 'outcome_unknown', rule: 'refund-in.cases.2', says: 'Else the doubt ends.' },
  { from: ['PENDING:*', 'FAILED:*'], on: 'operator.executed', when: ['money that left is in suspense', 'another case is open'], unless: 'its payment is not in suspense any more', to: 'CONFIRMED:conflict', posts: 'refund_left_in_suspense', emits: 'pix_cash_in_reversal', decides: 'debit_in_suspense', rule: 'refund-in.cases.3', says: 'What is in suspense is the refund: it is taken from what is held and from the balance. What left beyond that is owed; what is held beyond it is free. While another case is open that casts a doubt it stays in doubt.' },
  { from: ['PENDING:*', 'FAILED:*'], on: 'operator.executed', when: 'money that left is in suspense', unless: 'its payment is not in suspense any more', to: 'CONFIRMED', posts: 'refund_left_in_suspense', emits: 'pix_cash_in_reversal', decides: 'debit_in_suspense', rule: 'refund-in.cases.3', says: 'Else the doubt ends.' },
  { from: ANY, on: 'operator.written_off', when: 'money that left is in suspense', to: 'same', posts: 'left_written_off', decides: 'debit_in_suspense', rule: 'refund-in.cases.5', says: 'What left and is nobody’s to bear is a loss. What was held again of it is free.' },
  { from: ANY, on: 'operator.explained', unless: 'money that left is in suspense', to: 'same', decides: ['bank_contradicts', 'debit_in_suspense', 'movement_elsewhere'], rule: 'refund-in.cases.7', says: 'What the operator can explain is closed where no money is in suspense for it; nothing is booked.' },
  { from: ['CONFIRMED:*', 'FAILED:*'], on: 'operator.explained', to: 'same', decides: 'outcome_unknown', rule: 'refund-in.cases.7', says: 'So is what waited for an outcome, where another decision told one.' },
  { from: ANY, on: 'operator.asked_again', unless: 'no answer settles it', to: 'same', asks: true, decides: ['outcome_unknown', 'bank_contradicts'], rule: 'refund-in.cases.8', says: 'The bank is asked again, at once; the case stays open until its answer, or another decision, closes it.' },

  // When the last case of the doubt is decided.
  { from: ANY, on: 'doubt.decided', when: 'another case is open', to: 'ignored', rule: 'refund-in.cases.9', says: 'A decision leaves the other cases open, and the refund in doubt while one of those that cast it is.' },
  { from: 'CONFIRMED:*', on: 'doubt.decided', to: 'CONFIRMED', rule: 'refund-in.cases.9', says: 'Decided in all of them it is in doubt no more: `CONFIRMED` where it was,' },
  { from: 'FAILED:*', on: 'doubt.decided', to: 'FAILED', rule: 'refund-in.cases.9', says: '`FAILED` where it was;' },
  { from: 'PENDING:*', on: 'doubt.decided', when: 'it was never claimed', unless: 'the bank has it', to: 'PENDING', rule: 'refund-in.cases.9', says: '`PENDING` where nobody tried to send it and the bank does not have it: it is sent as before;' },
  { from: 'PENDING:*', on: 'doubt.decided', to: 'PENDING:no_answer', opens: 'outcome_unknown', asks: true, rule: 'refund-in.cases.9', says: 'else what is set aside stays so, with a case: the bank is asked, and its outcome, or an operator, ends it.' },
] as const satisfies readonly Line[]
