import type { Queries } from '../platform/db/database.ts'
import type { Identifier } from './identifier.ts'
import { type JsonObject, type Ownership, ownBody, ownershipOf, ownPart } from './own-part.ts'
import {
  auditsOf,
  type CallbackRow,
  callbacksOf,
  caseStepsOf,
  casesOf,
  type OperationRow,
  operationIdsOf,
  operationsBy,
  takenAt,
} from './store.ts'

/** All that is kept about a person, for that person. */
export interface SubjectExport {
  readonly takenAt: string
  /** Whom it is about, normalised. */
  readonly subject: string
  readonly operations: readonly object[]
  /** What the bank sent, as far as it is still kept. */
  readonly callbacks: readonly object[]
  /** Cases about no operation. */
  readonly cases: readonly object[]
  /** What operators decided and proposed about cases, where they wrote of the person. */
  readonly caseSteps: readonly object[]
  /** What operators wrote. */
  readonly audit: readonly object[]
}

const NOBODYS: Ownership = { isRequested: false, isReported: false }

/**
 * Reads all that is kept about a person and nothing about another.
 * @param queries a snapshot
 * @source rules#privacy.7, rules#privacy.8
 */
export async function exportOf(queries: Queries, subject: Identifier): Promise<SubjectExport> {
  const { pattern } = subject
  const operations = await operationsBy(queries, await operationIdsOf(queries, pattern))
  const callbacks = await callbacksOf(
    queries,
    pattern,
    operations.map(({ id }) => id),
  )
  const owners = ownersOf(operations, subject)
  const cases = await casesOf(queries, pattern)
  return {
    takenAt: (await takenAt(queries)).toISOString(),
    subject: subject.value,
    operations: operations.map((operation) => operationPart(operation, subject, owners.get(operation.id) ?? NOBODYS)),
    callbacks: callbacks.map((callback) => callbackPart(callback, subject, owners)),
    cases: cases.map(({ facts, ...rest }) => ({ ...rest, facts: ownPart(facts, subject, NOBODYS) })),
    caseSteps: (await caseStepsOf(queries, pattern)).map(({ content, ...rest }) => ({
      ...rest,
      content: ownPart(content, subject, NOBODYS),
    })),
    audit: (await auditsOf(queries, pattern)).map(({ facts, ...rest }) => ({
      ...rest,
      facts: ownPart(facts, subject, NOBODYS),
    })),
  }
}

/** Whose each operation is; a refund goes to whoever paid. */
function ownersOf(operations: readonly OperationRow[], subject: Identifier): Map<string, Ownership> {
  const owners = new Map(operations.map(({ id, detail, facts }) => [id, ownershipOf(detail, facts, subject)]))
  for (const { id, detail } of operations) {
    const paid = typeof detail.cashInId === 'string' ? owners.get(detail.cashInId) : undefined
    if (paid) owners.set(id, { isRequested: paid.isReported, isReported: paid.isReported })
  }
  return owners
}

function operationPart(operation: OperationRow, subject: Identifier, owner: Ownership): object {
  const own = (document: JsonObject) => ownPart(document, subject, owner)
  const { detail, facts, moves, cases, notifications, ...rest } = operation
  return {
    ...rest,
    detail: own(detail),
    facts: own(facts),
    moves: moves.map((move) => ({ ...move, facts: own(move.facts), evidence: move.evidence && own(move.evidence) })),
    cases: cases.map((it) => ({ ...it, facts: own(it.facts) })),
    notifications: notifications.map((it) => ({ ...it, body: it.body && own(it.body) })),
  }
}

function callbackPart(
  { body, ...rest }: CallbackRow,
  subject: Identifier,
  owners: ReadonlyMap<string, Ownership>,
): object {
  const [only] = rest.operation_ids
  const owner = rest.operation_ids.length === 1 && only !== undefined ? owners.get(only) : undefined
  return { ...rest, body: ownBody(body ?? undefined, subject, owner ?? NOBODYS) }
}
