import { type DeskDecision, type EvidenceField, adjustment as machine, Refusal } from '@pixgate/spec'
import { assertNamed, assertOpen, exceedsSuspense, optionsBy, orderedBy } from '../desk/by-table.ts'
import type { CaseDecider, DecidableCase, DeskOrder, DeskOutcome, HandedOver } from '../desk/decider.ts'
import { acceptedBy, type StatementDesk } from '../desk/loose/index.ts'
import { type Decision, mergeDecisions, type State } from '../engine/operation.ts'
import {
  claimed,
  decidableCents,
  factsOfReturnOrder,
  type Held,
  isBookedElsewhere,
  movementOf,
  underWayCents,
} from './held.ts'

/** What operators decide of incoming money that nothing explains: the table in the spec says which decisions there are. */

/** Makes what decides. @param statement hands lines of the bank’s statement over to operations */
export function createHeldDecider(statement: StatementDesk): CaseDecider<Held> {
  return {
    options: (held, openCase) => {
      const maxCents = decidableCents(held)
      // Whatever does not hand it over makes it the adjustment’s own first.
      const standings = held.status === 'HELD' ? [held, { ...held, status: 'SUSPENDED' as const }] : [held]
      return standings
        .flatMap((standing) => optionsBy(machine, standing, openCase, (_, guard) => holds(held, guard), needsOf))
        .map((option) => (option.needs.includes('amountCents') ? { ...option, maxCents } : option))
    },
    handOver: async (held, _, order) => (order.decision === 'book' ? handedTo(statement, held, order) : undefined),
    looks: (held, _openCase, _order, handed) => {
      const own = movementOf(held.detail)
      if (!handed) return { reads: [held.id], movements: [own] }
      const { decide: _decide, reads, movements = [], ...others } = handed
      const besides = movements.filter(({ direction, id }) => direction !== own.direction || id !== own.id)
      return { ...others, reads: [held.id, ...reads], movements: [own, ...besides] }
    },
    decide: (held, openCase, order, state, nowMs, handed) => {
      assertOpen(held, openCase)
      assertNamed(order, needsOf(order.decision))
      if (order.decision !== 'book') return decideOwn(held, openCase, order, state, nowMs)
      if (handed === undefined || isBookedElsewhere(held, state)) throw new Refusal('case_changed')
      const own = ordered(held, openCase, order, held.valueCents, nowMs)
      return mergeDecisions(acceptedBy(handed, { direction: 'in', ...held.detail }, state, nowMs), own)
    },
  }
}

/** What of the bank's an operator must name. */
function needsOf(decision: DeskDecision): readonly EvidenceField[] {
  if (decision === 'return_to_payer') return ['amountCents']
  return decision === 'book' ? ['operationId'] : []
}

function holds(held: Held, guard: string): boolean {
  if (guard === 'a return of it is under way') return underWayCents(held) > 0n
  return guard === 'it is no payment' && held.detail.entry !== 'PAYMENT_RECEIVED'
}

/** The operation that takes it, as a command. @throws validation_error (400) it takes no such line */
async function handedTo(statement: StatementDesk, { detail }: Held, order: DeskOrder): Promise<HandedOver> {
  assertNamed(order, needsOf(order.decision))
  const { operationId = '' } = order
  const line = { kind: detail.entry, direction: 'in', movementId: detail.movementId } as const
  const handed = (await statement.accepts(detail.entry, operationId))
    ? await statement.command(line, operationId)
    : undefined
  if (handed) return handed
  const message = 'the operation is of another kind, or does not exist'
  throw new Refusal('validation_error', { message, fields: [{ field: 'operationId', code: 'out_of_range', message }] })
}

/** What an operator decides of the money itself: its movement becomes its own with the first such decision. */
function decideOwn(
  held: Held,
  openCase: DecidableCase,
  order: DeskOrder,
  state: State,
  nowMs: number,
): Decision<DeskOutcome<Held>> {
  const own = claimed(held, state, nowMs)
  const left = decidableCents(held)
  const cents = order.amountCents ?? left
  if (cents > left) throw exceedsSuspense(left)
  return mergeDecisions(own, ordered(own.outcome, openCase, order, cents, nowMs))
}

function ordered(
  held: Held,
  openCase: DecidableCase,
  order: DeskOrder,
  p: bigint,
  nowMs: number,
): Decision<DeskOutcome<Held>> {
  const isReturn = order.decision === 'return_to_payer'
  const decision: Decision<Held> = orderedBy(
    machine,
    held,
    openCase,
    order,
    {
      holds: (guard) => holds(held, guard),
      changes: () => (isReturn ? { facts: factsOfReturnOrder(held, order.newId, p) } : {}),
      amounts: { p },
      reference: held.detail.movementId,
      isLeftOpen: isReturn,
    },
    nowMs,
  )
  return { ...decision, outcome: { operation: decision.outcome } }
}
