import type { CaseDecision, EvidenceField } from '@pixgate/spec'
import type { CaseDecider, DecisionInput, Evidence } from '../../src/cases/case.ts'
import type { CashIn } from '../../src/cash-in/index.ts'
import { suspendedArrival } from '../../src/cash-in/returns.ts'
import type { CashOut } from '../../src/cash-out/cash-out.ts'
import { cashOutDecider } from '../../src/cash-out/index.ts'
import type { Operation } from '../../src/engine/operation.ts'
import { refundInDecider } from '../../src/refund-in/index.ts'
import type { RefundIn } from '../../src/refund-in/refund-in.ts'
import type { SimulatedProcess } from './process.ts'
import { bookedAt, type StoredCase } from './tables.ts'
import type { World } from './world.ts'

/**
 * Operators who decide cases: at random among what the tables offer, with the bank's own book as their evidence, or in some worlds
 * with whatever looks like evidence.
 */

function deciderOf({ kind }: Operation, { refunds }: SimulatedProcess): CaseDecider<Operation> | undefined {
  const deciders: Partial<
    Record<Operation['kind'], CaseDecider<CashIn> | CaseDecider<CashOut> | CaseDecider<RefundIn>>
  > = {
    cash_in: refunds.cashInDecider,
    cash_out: cashOutDecider,
    refund_in: refundInDecider,
  }
  // A case is decided by the decider of its operation's kind.
  return deciders[kind] as CaseDecider<Operation> | undefined
}

/** An operator looks at any open case, and decides it. @returns nothing where there is nothing to decide */
export function decideAnyCase(world: World, process: SimulatedProcess): Promise<unknown> | undefined {
  const open = world.tables.openCases().filter(({ operationId }) => operationId !== null)
  if (open.length === 0) return undefined
  // One kind is as likely as another, however many cases there are of it.
  const kind = world.chance.pick([...new Set(open.map((one) => one.kind))])
  return decideCase(world, process, world.chance.pick(open.filter((one) => one.kind === kind)))
}

/**
 * An operator decides a case.
 * @param wanted the decision; without it any that the table offers
 * @returns nothing where it is not offered, or would not be true
 */
export function decideCase(
  world: World,
  process: SimulatedProcess,
  openCase: StoredCase,
  wanted?: CaseDecision,
): Promise<unknown> | undefined {
  const operation = world.tables.operation(openCase.operationId ?? '')
  const decider = operation && deciderOf(operation, process)
  if (!operation || !decider) return undefined
  const offered = decider
    .options(operation, openCase, world.now)
    .filter(({ isOffered, decision }) => isOffered && decision === (wanted ?? decision))
  const option = offered.length === 0 ? undefined : world.chance.pick(offered)
  const order = option && orderOf(world, operation, openCase, option.decision, option.needs)
  if (!order) return undefined
  world.say(
    `an operator decides ${openCase.kind} of ${operation.id}: ${order.decision} ${JSON.stringify(order.evidence)}`,
  )
  return process.engine.execute({
    ...decider.readsFor(operation, openCase, order),
    decide: (state, now) => {
      const standing = state.operation(operation.id)
      if (!standing) throw new Error(`${operation.id} is gone`)
      const decided = decider.decide(standing, openCase, order, state, now)
      world.coverage.decision(`${operation.kind} ${openCase.kind} ${order.decision}`)
      return decided
    },
  })
}

/** An order that is true as the bank's book has it, or a wrong one; nothing where this decision would not be true. */
function orderOf(
  world: World,
  operation: Operation,
  openCase: StoredCase,
  decision: CaseDecision,
  needs: readonly EvidenceField[],
): DecisionInput | undefined {
  // What was told without an id nobody looks for in the statement (PL-42): only the daily close tells that it was wrong.
  const isWrong = world.areOperatorsWrong && !openCase.reference.startsWith('unnamed ') && world.chance.bool(0.2)
  if (isWrong) {
    world.faults.note('decision wrong')
    world.bank.book.lies.add(operation.id)
  }
  if (!isWrong && !isTrue(world, operation, openCase, decision)) return undefined
  const evidence: { -readonly [Field in keyof Evidence]: Evidence[Field] } = {}
  const order = {
    newId: world.newId(),
    decision,
    caseId: openCase.id,
    operatorId: 'operator-0',
    approverId: null,
    reason: 'as the bank has it',
    evidence,
  }
  for (const field of needs) {
    if (field === 'operationId') {
      const others = [...world.tables.operations.values()].filter(
        ({ kind, id }) => kind === 'cash_in' && id !== operation.id,
      )
      const cents = world.bank.book.entries.find(({ movementId }) => movementId === openCase.reference)?.valueCents
      const fitting = others.filter(({ valueCents, facts }) => valueCents === cents && facts.payments === undefined)
      const among = fitting.length > 0 && !isWrong ? fitting : others
      return among.length === 0 ? undefined : { ...order, operationId: world.chance.pick(among).id }
    }
    if (field === 'amountCents') {
      const most = suspendedArrival(operation as CashIn, openCase.reference)
      const part = 1n + BigInt(world.chance.below(Number(most)))
      return { ...order, amountCents: world.chance.bool(0.6) ? most : part }
    }
    if (isWrong) {
      evidence[field] = wrongId(world)
      continue
    }
    // Of a return that was told without its id nobody has it.
    if (operation.kind === 'cash_in') return undefined
    const id = decision === 'book' ? givenBack(world, operation, openCase) : executionOf(world, operation)
    if (id === undefined) return undefined
    evidence[field] = id
  }
  return order
}

/** An id that looks like one: of nothing, or of another movement. */
function wrongId({ bank: { book }, chance }: World): string {
  const isOfNothing = book.entries.length === 0 || chance.bool(0.5)
  return isOfNothing ? book.name(chance.pick(['E', 'D'])) : chance.pick(book.entries).movementId
}

/** Whether a decision says what is so. */
function isTrue(world: World, operation: Operation, { kind, reference }: StoredCase, decision: CaseDecision): boolean {
  const { book } = world.bank
  switch (decision) {
    case 'not_executed':
      return !book.mayHaveLeft(operation.id, world.now)
    case 'book':
      if (kind === 'return_unexplained') {
        return book.entries.some((entry) => entry.movementId === reference && entry.kind === 'PAYMENT_TAKEN_BACK')
      }
      return reference === '' || book.entries.some(({ movementId }) => movementId === reference)
    case 'executed':
    case 'credit':
    case 'debit':
    case 'accept':
    case 'return_to_payer':
    case 'reverse':
    case 'write_off':
      return reference === '' || book.entries.some(({ movementId }) => movementId === reference)
    case 'ask_again':
    case 'close':
      return true
  }
}

/** The payment that confirmed a payout, where the return of the case gives back that one. */
function givenBack(
  { bank: { book } }: World,
  { endToEndId }: Operation,
  { reference }: StoredCase,
): string | undefined {
  const entry = book.entries.find(({ movementId }) => movementId === reference)
  return endToEndId !== null && entry?.endToEndId === endToEndId ? endToEndId : undefined
}

/** How an order was carried out that our books do not know. */
function executionOf({ bank, tables }: World, { id }: Operation): string | undefined {
  const made = new Set(
    bank.book.entries.filter(({ direction }) => direction === 'out').map(({ movementId }) => movementId),
  )
  return bank.book.orders.get(id)?.executions.find((one) => made.has(one.id) && !bookedAt(tables, 'out', one.id))?.id
}
