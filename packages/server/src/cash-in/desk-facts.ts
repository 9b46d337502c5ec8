import type { DecidableCase, DeskOrder } from '../desk/decider.ts'
import type { Changes, Target } from '../engine/follow.ts'
import { own } from '../platform/own.ts'
import type { CashIn, CashInFacts } from './cash-in.ts'
import { withWork } from './facts.ts'
import { reportedPaymentsFact } from './reported.ts'
import { explanationsOf, factsOfReturnOrder, hasGoneBack, isKnownReturn, withReturn } from './returns.ts'
import { type Received, suspendedArrival, suspendedDeparture } from './suspense.ts'

/** What becomes known of a cash-in by an operator's decision. Pure. */

/** What a decision on a case changes besides the status. */
export function changesByDecision(
  cashIn: CashIn,
  openCase: DecidableCase,
  order: DeskOrder,
  row: Target<CashIn>,
  nowMs: number,
): Changes {
  return withWork(cashIn, learnedBy(cashIn, openCase, order, row, nowMs), row, nowMs)
}

/** What the end of a doubt changes besides the status. */
export function changesByEnd(cashIn: CashIn, row: Target<CashIn>, nowMs: number): Changes {
  const isNewFailure = row.to === 'FAILED' && cashIn.facts.failureCode === undefined
  const failureCode = hasGoneBack(cashIn) ? 'returned_to_payer' : 'decided_by_operator'
  const failure = isNewFailure ? { failureCode, failureReason: null } : {}
  return withWork(cashIn, { facts: { ...failure, unknownSince: null } }, row, nowMs)
}

/** What a charge learns of the payment that an operator attributes to it. */
export function changesByReceipt(
  cashIn: CashIn,
  { endToEndId, cents, from, facts }: Received,
  row: Target<CashIn>,
  nowMs: number,
): Changes {
  const payments = { ...cashIn.facts.payments, [endToEndId]: Number(cents) }
  const paid = { payments, receivedFrom: from, ...paidFacts(facts.occurredAt, nowMs) }
  return withWork(cashIn, { endToEndId, facts: paid }, row, nowMs)
}

function learnedBy(
  cashIn: CashIn,
  { reference, kind, facts: told }: DecidableCase,
  { evidence, decision, amountCents, newId }: DeskOrder,
  row: Target<CashIn>,
  nowMs: number,
): Changes {
  if (decision === 'return_to_payer') {
    return { facts: factsOfReturnOrder(cashIn, reference, newId, amountCents ?? 0n) }
  }
  switch (row.posts) {
    case 'suspense_credited': {
      const accepted = amountCents === cashIn.valueCents ? {} : { acceptedCents: Number(amountCents) }
      return { endToEndId: reference, facts: { ...paidFacts(told.occurredAt, nowMs), ...accepted } }
    }
    case 'arrival_handed_over':
    case 'arrival_written_off':
      return { facts: arrivalDecided(cashIn, reference) }
    case 'left_written_off':
    case 'return_debited':
      return { facts: departureDecided(cashIn, reference, evidence.returnId, row.posts === 'return_debited') }
    default:
      return { facts: learnedOf(cashIn, { kind, reference }, decision, row, nowMs) }
  }
}

/** What a decision teaches that books nothing. */
function learnedOf(
  cashIn: CashIn,
  { kind, reference }: Pick<DecidableCase, 'kind' | 'reference'>,
  decision: DeskOrder['decision'],
  row: Target<CashIn>,
  nowMs: number,
): CashInFacts {
  const known = own(cashIn.facts.returns, reference)
  if (decision === 'book' && known?.state === 'in_doubt') {
    const answered = [...known.answered, ...explanationsOf(cashIn, known)]
    return withReturn(cashIn, reference, { ...known, answered })
  }
  if (row.asks) return row.to === 'PENDING' ? { unknownSince: null } : {}
  if (kind === 'payment_unconfirmed') return reportedPaymentsFact({})
  return row.to === 'EXPIRED' ? { expiredAt: nowMs, unknownSince: null } : {}
}

function paidFacts(occurredAt: unknown, nowMs: number): CashInFacts {
  const paidAt = typeof occurredAt === 'number' ? occurredAt : nowMs
  return { paidAt, payerName: null, payerDocument: null, payerIspb: null, unknownSince: null }
}

function arrivalDecided(cashIn: CashIn, reference: string): CashInFacts {
  const cents = Number(suspendedArrival(cashIn, reference))
  return { decidedPayments: { ...cashIn.facts.decidedPayments, [reference]: cents } }
}

/** A return that was reported without its id is known by the one that the operator names, too. */
function departureDecided(
  cashIn: CashIn,
  reference: string,
  returnId: string | undefined,
  isDebited: boolean,
): CashInFacts {
  const cents = Number(suspendedDeparture(cashIn, reference))
  const isNewName = returnId !== undefined && !isKnownReturn(cashIn, returnId)
  return {
    returns: {
      ...cashIn.facts.returns,
      [reference]: { state: 'decided', cents, isDebited },
      ...(isNewName ? { [returnId]: { state: 'alias', cents } } : {}),
    },
  }
}
