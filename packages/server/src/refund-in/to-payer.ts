import { limits, Refusal } from '@pixgate/spec'
import type { CaseDecider, DecidableCase, DecisionInput, StatementLines } from '../cases/case.ts'
import { createHeldDecider, type Held } from '../cases/unexplained.ts'
import { type CashIn, cashInDecider, returnOrdersOf } from '../cash-in/index.ts'
import { type Create, type Decision, mergeDecisions, type State } from '../engine/operation.ts'
import type { IsAskedFirst } from '../operations/attempts.ts'
import { looksOf, taken } from '../operations/caps.ts'
import { isEnabled } from '../operations/store.ts'
import { sha256 } from '../platform/crypto.ts'
import { orderIdToPayer } from '../platform/ids.ts'
import { operationOf, type RefundInTerms } from './commands.ts'
import type { Holder, RefundIn } from './refund-in.ts'

/**
 * Refunds of money in suspense. The money stays in suspense until the bank confirms; a refusal changes nothing, and the
 * merchant is never debited.
 */

export interface ToPayerOptions {
  readonly terms: RefundInTerms
  readonly isUnsupported: boolean
  /** The database was restored and may have lost earlier orders. */
  readonly isNearRestore: IsAskedFirst
}

const RESTORED =
  'the database was restored and may have lost earlier returns; wait until the bank’s statement has been read'

const DEADLINE_EXCEEDED = `the payment is more than ${limits.returnToPayerDays} days old and cannot be returned through Pix`
const WINDOW_MS = limits.returnToPayerDays * 24 * 60 * 60 * 1_000

/** Adds the refund order to the decider of cash-ins. @source rules#cash-in.cases.3 */
export function createCashInDecider(options: ToPayerOptions): CaseDecider<CashIn> {
  return withRefundOrder(cashInDecider, options, (cashIn, { reference, facts }) => ({
    cashInId: cashIn.id,
    endToEndId: reference,
    paidAt: typeof facts.occurredAt === 'number' ? facts.occurredAt : cashIn.createdAt,
  }))
}

/**
 * Adds the refund order to the decider of unexplained credits (payments to the bare Pix key).
 * @source rules#adjustment.held.6
 */
export function createPayableHeldDecider(options: ToPayerOptions, statement: StatementLines): CaseDecider<Held> {
  return withRefundOrder(createHeldDecider(statement), options, ({ detail: { endToEndId, occurredAt } }) => ({
    cashInId: null,
    endToEndId,
    paidAt: occurredAt,
  }))
}

function withRefundOrder<Kind extends Holder>(
  decider: CaseDecider<Kind>,
  options: ToPayerOptions,
  paymentOf: (holder: Kind, openCase: DecidableCase) => Payment,
): CaseDecider<Kind> {
  return {
    ...decider,
    readsFor: (holder, openCase, order, handed) => {
      const reads = decider.readsFor(holder, openCase, order, handed)
      return order.decision === 'return_to_payer' ? { ...reads, ...readsForReturn(options, order) } : reads
    },
    decide: (holder, openCase, order, state, nowMs, handed) => {
      const decision = decider.decide(holder, openCase, order, state, nowMs, handed)
      if (order.decision !== 'return_to_payer') return decision
      return mergeDecisions(orderedReturn(options, holder, paymentOf(holder, openCase), order, state, nowMs), decision)
    },
  }
}

interface Payment {
  readonly cashInId: string | null
  readonly endToEndId: string
  readonly paidAt: number
}

function readsForReturn({ terms }: ToPayerOptions, { operatorId, newId }: DecisionInput) {
  return {
    controls: ['cash_out_switch'] as const,
    ...looksOf({ pixKey: null, caller: operatorId }, terms.limits),
    creates: { kind: 'refund_in', externalId: newId, idempotencyKey: null } as const,
  }
}

/** @throws cash_out_suspended (503) · not_supported_by_bank · refund_deadline_exceeded · limit_exceeded (422) */
function orderedReturn(
  { terms, isUnsupported, isNearRestore }: ToPayerOptions,
  holder: Holder,
  { cashInId, endToEndId, paidAt }: Payment,
  { newId: id, caseId, operatorId, reason, amountCents: valueCents = 0n }: DecisionInput,
  state: State,
  now: number,
): Omit<Decision<never>, 'outcome'> {
  if (!isEnabled(state)) throw new Refusal('cash_out_suspended')
  if (isUnsupported) throw new Refusal('not_supported_by_bank')
  // Order ids of returns are derived from their number, which a restore may have lost.
  if (isNearRestore(now)) throw new Refusal('not_possible_in_state', { message: RESTORED })
  if (now > paidAt + WINDOW_MS) throw new Refusal('refund_deadline_exceeded', { message: DEADLINE_EXCEEDED })
  const allowed = taken({ valueCents, pixKey: null, caller: operatorId }, terms.limits, state, now)
  const create: Create<RefundIn> = {
    operation: {
      ...operationOf({ endToEndId }),
      id,
      externalId: id,
      // A charge and an adjustment that had the same payment in turn count their refunds apart.
      orderId: orderIdToPayer(terms.installation, endToEndId, holder.kind, returnOrdersOf(holder, endToEndId) + 1),
      status: 'PENDING',
      valueCents,
      correlationId: holder.correlationId,
      bodyHash: sha256(`${caseId} ${id}`),
      idempotencyKey: null,
      dueAt: now,
      plan: { step: 'send', changesAt: now + limits.unclaimedReleaseMs },
      transactionId: null,
      detail: {
        cashInId,
        reason: reason.slice(0, limits.reasonMaxLength),
        origin: 'OPERATOR',
        from: holder.id,
      },
      facts: { madeBy: { caller: operatorId, address: '' } },
    },
  }
  return { creates: [create], ...allowed }
}
