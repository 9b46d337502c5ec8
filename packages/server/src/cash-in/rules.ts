import assert from 'node:assert/strict'
import { limits, cashIn as machine } from '@pixgate/spec'
import { follow } from '../engine/follow.ts'
import { type Decision, mergeDecisions } from '../engine/operation.ts'
import { own } from '../platform/own.ts'
import { bookedAmount, type CashIn, type CashInEvent, type CashInInput, type CashInOutcome } from './cash-in.ts'
import { endOfDoubt } from './decide-case.ts'
import { changesOf } from './facts.ts'
import { GUARDS, isBeyondReported } from './guards.ts'
import { cashInNotification, evidenceOf } from './notification.ts'
import { reportedCents, reportedPayments, reportedPaymentsFact } from './reported.ts'
import { bookedReturn, isReportedBefore, returnInDoubt, returnsKnownBy, unnamedReturn } from './returns.ts'
import { isAboutToBeAsked, isAtRest } from './schedule.ts'

/**
 * What a cash-in does with each input. Pure: the table in the spec says where to go and why, this file what is known before
 * the table is asked.
 */

/**
 * Decides any later input by the machine's table.
 * @source rules#cash-in.states
 */
export function decideCashIn(before: CashIn, input: CashInEvent, nowMs: number): Decision<CashInOutcome> {
  const decision = endsDoubt(decideOne(before, input, nowMs), input, nowMs)
  const { cashIn: after } = decision.outcome
  const restated = restatedPayment(before, after, input)
  if (restated) return mergeDecisions(decision, decideOne(after, restated, nowMs))
  return returnsKnownBy(before, after, input).reduce(
    (decided, returnId) => mergeDecisions(decided, decideKnown(decided.outcome.cashIn, returnId, nowMs)),
    decision,
  )
}

const EMPTYING: ReadonlySet<string> = new Set(['refund.confirmed', 'refund.released', 'return.told'])

/** Where the last money in suspense went back, nothing keeps the charge in doubt any more. @source rules#cash-in.desk.15 */
function endsDoubt(decision: Decision<CashInOutcome>, input: CashInEvent, nowMs: number): Decision<CashInOutcome> {
  const { closes = [], outcome } = decision
  if (closes.length === 0 || !EMPTYING.has(input.on)) return decision
  const { outcome: cashIn, ...ended } = endOfDoubt(outcome.cashIn, closes, nowMs)
  return mergeDecisions(decision, { ...ended, outcome: { ...outcome, cashIn } })
}

function decideKnown(cashIn: CashIn, returnId: string, nowMs: number): Decision<CashInOutcome> {
  const decision = decideOne(cashIn, { on: 'return.known', returnId }, nowMs)
  assert.equal(decision.outcome.result, 'APPLIED', `cash-in ${cashIn.id} does not take return.known`)
  return decision
}

const NOBODY = { name: undefined, document: undefined, ispb: undefined }

/** What an event told of the payment that is booked now, where it told another amount. @source rules#cash-in.paid.3 */
function restatedPayment(before: CashIn, after: CashIn, input: CashInEvent): CashInInput | undefined {
  if (input.on !== 'partner.confirmed') return undefined
  const { endToEndId } = input.payment
  const told = own(reportedPayments(before.facts), endToEndId)
  const bookedCents = bookedAmount(after, input.payment)
  if (!told || bookedCents === undefined || bookedCents === BigInt(told.valueCents)) return undefined
  const payment = { endToEndId, valueCents: BigInt(told.valueCents), occurredAt: told.occurredAt, payer: NOBODY }
  return { on: 'partner.confirmed', payment, transactionId: null }
}

function decideOne(cashIn: CashIn, told: CashInEvent, nowMs: number): Decision<CashInOutcome> {
  const input = recognise(cashIn, told, nowMs)
  if (typeof input === 'string') return { outcome: { result: input, cashIn } }
  const given = { cashIn, input, nowMs }
  const decision: Decision<CashInOutcome> = follow(
    machine,
    cashIn,
    {
      on: input.on,
      holds: (guard) => guard in GUARDS && GUARDS[guard as keyof typeof GUARDS](given),
      changes: (row) => changesOf(cashIn, input, row, nowMs),
      amounts: { v: cashIn.valueCents, f: cashIn.feeCents, ...amountsOf(cashIn, input) },
      reference: referenceOf(input),
      notification: (to) => cashInNotification(cashIn, input, to, nowMs),
      evidence: ({ opens }) => evidenceOf(cashIn, input, opens),
      outcome: (after, isApplied) => ({ result: isApplied ? 'APPLIED' : 'IGNORED', cashIn: after }),
    },
    nowMs,
  )
  return withReported(cashIn, decision)
}

/** While a case about payments that only events reported is open, it counts with those that they report besides. @source rules#desk.48 */
function withReported(
  { facts: before, openCases = [] }: CashIn,
  decision: Decision<CashInOutcome>,
): Decision<CashInOutcome> {
  const { id: operationId, facts: factsAfter } = decision.outcome.cashIn
  const valueCents = reportedCents(factsAfter)
  if (valueCents <= reportedCents(before)) return decision
  const facts = { ...reportedPaymentsFact(reportedPayments(factsAfter)), valueCents }
  const told = openCases
    .filter(({ kind }) => kind === 'payment_unconfirmed')
    .map(({ reference, rule }) => ({
      operationId,
      kind: 'payment_unconfirmed' as const,
      reference,
      facts: { ...facts, rule },
    }))
  return told.length === 0 ? decision : { ...decision, cases: [...(decision.cases ?? []), ...told] }
}

function referenceOf(input: CashInEvent): string {
  if (input.on === 'partner.confirmed') return input.payment.endToEndId
  return 'returnId' in input ? input.returnId : ''
}

/** What an input states or holds. */
function amountsOf(cashIn: CashIn, input: CashInEvent) {
  if (input.on === 'partner.confirmed') return { p: input.payment.valueCents }
  if (input.on === 'return.told') return { p: input.valueCents }
  if (input.on !== 'return.unexplained' && input.on !== 'return.known') return { p: 0n }
  const unnamed = unnamedReturn(cashIn, input.returnId)
  if (unnamed) return { p: BigInt(unnamed.cents), h: 0n }
  const { cents = 0, heldCents = 0 } = returnInDoubt(cashIn, input.returnId) ?? {}
  return { p: BigInt(cents), h: input.on === 'return.unexplained' ? input.heldCents : BigInt(heldCents) }
}

/** What the table may see: what was booked, or is known, is nothing new; a time in the future is not believed. */
function recognise(cashIn: CashIn, told: CashInEvent, nowMs: number): CashInEvent | 'IGNORED' | 'IMPLAUSIBLE' {
  if (told.on === 'partner.confirmed' && told.payment.occurredAt > nowMs + limits.occurredAtFutureMs) {
    return 'IMPLAUSIBLE'
  }
  const input = isBeyondReported({ cashIn, input: told, nowMs }) ? ({ on: 'work.requested' } as const) : told
  const isKnown = (): boolean => {
    switch (input.on) {
      case 'work.requested':
        return isAboutToBeAsked(cashIn)
      case 'work.done':
        return isAtRest(cashIn, nowMs)
      case 'partner.confirmed':
        return (
          bookedAmount(cashIn, input.payment) === input.payment.valueCents ||
          own(cashIn.facts.elsewhere, input.payment.endToEndId) === Number(input.payment.valueCents)
        )
      case 'charge.accepted':
        return (cashIn.transactionId ?? input.transactionId) === input.transactionId && isNothingNew(cashIn, input)
      case 'refund.taken':
        return bookedReturn(cashIn, input.returnId) === input.valueCents
      case 'return.told':
        return isReportedBefore(cashIn, input)
      case 'return.unexplained': {
        const inDoubt = returnInDoubt(cashIn, input.returnId)
        return inDoubt === undefined || inDoubt.heldCents !== undefined || inDoubt.isInCase === true
      }
      case 'return.known':
        return !returnInDoubt(cashIn, input.returnId) && !unnamedReturn(cashIn, input.returnId)
      default:
        return false
    }
  }
  return isKnown() ? 'IGNORED' : input
}

/** Whether that the bank has the charge was known. */
function isNothingNew(
  { status, transactionId, facts }: CashIn,
  { pixCode }: Extract<CashInInput, { on: 'charge.accepted' }>,
): boolean {
  const isKnown = facts.pixCode !== undefined || (pixCode === undefined && transactionId !== null)
  return isKnown && facts.notFoundSince == null && status !== 'PROVIDER_RESULT_UNKNOWN'
}
