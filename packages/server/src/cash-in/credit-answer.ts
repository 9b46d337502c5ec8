import type { ChargeQueryAnswer } from '../banks/port.ts'
import type { Document, UnverifiedCredit } from '../engine/operation.ts'
import { bookedAmount, type CashIn } from './cash-in.ts'
import { answerEvidence } from './inputs.ts'

/** What the bank's answer about a charge means for a payment that was credited on the word of an event. Pure. */

/**
 * `SETTLED`: the bank has the payment, or nobody can spend it. `DENIED`: the bank said definitely that it does not have it, or
 * has less. `OPEN`: it said nothing definite, or it was not asked, as nothing is booked yet. `SILENT`: it was asked and gave no
 * answer.
 */
export type CreditAnswer =
  | { readonly is: 'SETTLED' | 'OPEN' | 'SILENT' }
  | {
      readonly is: 'DENIED'
      /** Without names and documents. */
      readonly bankAnswer: Document
    }

/**
 * What is known of a credit before the bank is asked; `undefined`: it is to be asked. What is in suspense nobody can spend.
 */
export function creditBeforeAsking(cashIn: CashIn, credit: UnverifiedCredit): CreditAnswer | undefined {
  if (bookedAmount(cashIn, credit) === undefined) return { is: 'OPEN' }
  return cashIn.endToEndId === credit.endToEndId ? undefined : { is: 'SETTLED' }
}

/**
 * What an answer means for a credit. Money beats the status word; what is said of another charge says nothing of this one,
 * and a bank that made the charge and does not know it has forgotten more than a payment.
 * @source rules#trip-wire.9
 */
export function creditAnswer(
  { facts }: Pick<CashIn, 'facts'>,
  credit: UnverifiedCredit,
  answer: ChargeQueryAnswer,
): CreditAnswer {
  switch (answer.kind) {
    case 'NOT_FOUND':
      return facts.pixCode === undefined ? { is: 'DENIED', bankAnswer: answerEvidence(answer) } : { is: 'OPEN' }
    case 'ACCEPTED':
    case 'FINAL':
    case 'CONTRADICTED': {
      const { id, payments } = answer.charge
      if (id !== credit.operationId) return { is: 'OPEN' }
      const paid = payments.find(({ endToEndId }) => endToEndId === credit.endToEndId)
      if (paid && paid.valueCents >= credit.valueCents) return { is: 'SETTLED' }
      return { is: 'DENIED', bankAnswer: answerEvidence(answer) }
    }
    default:
      return { is: 'SILENT' }
  }
}
