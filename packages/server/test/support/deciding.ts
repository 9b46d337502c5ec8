import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { CaseDecision } from '@pixgate/spec'
import type { CaseDecider, DecidableCase, DecisionInput } from '../../src/cases/case.ts'
import { isCashIn } from '../../src/cash-in/index.ts'
import { isCashOut } from '../../src/cash-out/cash-out.ts'
import { cashOutDecider } from '../../src/cash-out/index.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { Decision, Document, Operation, State } from '../../src/engine/operation.ts'
import { createOperationStore } from '../../src/engine/operation-store.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'
import { createCashInDecider, refundInDecider } from '../../src/refund-in/index.ts'
import { isRefundIn } from '../../src/refund-in/refund-in.ts'
import { refundTerms } from './limits.ts'

/** Deciding cases through an engine, as operators do. */

const selectOpen = statement<
  [kind: string],
  { id: string; operation_id: string; kind: string; reference: string; rule: string; facts: Document }
>(
  'test.open_cases',
  `SELECT id, operation_id, kind, reference, facts ->> 'rule' AS rule, facts FROM "case"
    WHERE closed_at IS NULL AND kind = $1 ORDER BY opened_at`,
)

/** What an operator orders besides the decision. */
export type Ordered = Partial<Pick<DecisionInput, 'evidence' | 'operationId' | 'amountCents' | 'newId'>>

/**
 * Decides the first open case of a kind.
 * @returns the operation afterwards
 * @throws Refusal what the table does not have
 */
export async function decideOn(
  { engine, database }: { readonly engine: Engine; readonly database: Database },
  kind: string,
  decision: CaseDecision,
  ordered: Ordered = {},
): Promise<Operation> {
  const { openCase, operationId } = await openCaseOf(database, kind)
  const order = {
    decision,
    caseId: openCase.id,
    operatorId: 'Ana',
    approverId: null,
    reason: 'as the bank says',
    evidence: {},
    newId: randomUUID(),
    ...ordered,
  }
  return decideCase({ engine, database }, operationId, openCase, order)
}

/** The first open case of a kind, with its operation. */
export async function openCaseOf(
  database: Database,
  kind: string,
): Promise<{ openCase: DecidableCase; operationId: string }> {
  const [found] = await database.rows(selectOpen, [kind])
  assert.ok(found, `no case ${kind} is open`)
  const { operation_id: operationId, ...openCase } = found
  return { openCase, operationId }
}

/** Decides this case, whatever has become of it. */
export async function decideCase(
  { engine, database }: { readonly engine: Engine; readonly database: Database },
  operationId: string,
  openCase: DecidableCase,
  order: DecisionInput,
): Promise<Operation> {
  const before = await anyOf(database, operationId)
  return engine.execute<Operation>({
    ...deciderOf(before).readsFor(before, openCase, order),
    decide: (state, now) => decided(state, operationId, openCase, order, now),
  })
}

function decided(
  state: State,
  id: string,
  openCase: DecidableCase,
  order: DecisionInput,
  now: number,
): Decision<Operation> {
  const operation = state.operation(id)
  assert.ok(operation)
  return deciderOf(operation).decide(operation, openCase, order, state, now)
}

function deciderOf({ kind }: Operation): CaseDecider {
  const deciders = {
    cash_in: createCashInDecider({ terms: refundTerms(), isUnsupported: false, isNearRestore: () => false }),
    cash_out: cashOutDecider,
    refund_in: refundInDecider,
  }
  assert.ok(kind !== 'adjustment')
  return deciders[kind] as unknown as CaseDecider
}

async function anyOf(database: Database, id: string): Promise<Operation> {
  const stores = [
    createOperationStore(database, 'cash_in', isCashIn),
    createOperationStore(database, 'cash_out', isCashOut),
    createOperationStore(database, 'refund_in', isRefundIn),
  ]
  const [operation] = (await Promise.all(stores.map((store) => store.get(id)))).filter((it) => it !== undefined)
  assert.ok(operation)
  return operation
}
