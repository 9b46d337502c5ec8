import type { Operation } from '../operation.ts'
import { OPERATION_COLUMNS } from '../operation-row.ts'
import { type Column, factsText } from './parameters.ts'
import type { Part } from './part.ts'

/** Inserts what the batch creates, sorted: unsorted inserts deadlock, and each deadlock freezes the writer a second. */
export const createdOperations: Part = {
  name: 'new',
  isWanted: (draft) => draft.createdOperations.size > 0,
  sql: ({ draft }, p) => {
    const created = [...draft.createdOperations.values()].sort(byKindAndExternalId)
    return `
  inserted_operation AS (
    INSERT INTO operation (${OPERATION_COLUMNS}, idempotency_day, idempotency_noon_day)
    SELECT * FROM ${p.rows('o', columnsOf(created))} WHERE (SELECT yes FROM go)
  )`
  },
}

/** Updates what existed before: each row once, to what it is after all its moves. */
export const movedOperations: Part = {
  name: 'up',
  isWanted: (draft) => draft.movedOperations.size > 0,
  sql: ({ draft }, p) => {
    const moved = [...draft.movedOperations.values()]
    return `
  updated_operation AS (
    UPDATE operation o
       SET status = u.status, version = u.version, expires_at = u.expires_at, due_at = u.due_at, transaction_id = u.transaction_id,
           end_to_end_id = u.end_to_end_id, exclusive_key = u.exclusive_key, facts = u.facts,
           updated_at = u.updated_at, next_step = u.next_step, changes_at = u.changes_at
      FROM ${p.rows('u', {
        id: ['uuid', moved.map(({ id }) => id)],
        status: ['text', moved.map(({ status }) => status)],
        version: ['integer', moved.map(({ version }) => version)],
        expires_at: ['timestamptz', moved.map(({ expiresAt }) => expiresAt)],
        due_at: ['timestamptz', moved.map(({ dueAt }) => dueAt)],
        transaction_id: ['text', moved.map(({ transactionId }) => transactionId)],
        end_to_end_id: ['text', moved.map(({ endToEndId }) => endToEndId)],
        exclusive_key: ['text', moved.map(({ exclusiveKey }) => exclusiveKey)],
        facts: ['jsonb', moved.map(({ facts }) => factsText(facts))],
        updated_at: ['timestamptz', moved.map(({ updatedAt }) => updatedAt)],
        ...planColumns(moved),
      })}
     WHERE o.id = u.id AND (SELECT yes FROM go)
  )`
  },
}

/** What is to be done next, as far as it was computed. */
function planColumns(operations: readonly Operation[]) {
  return {
    next_step: ['text', operations.map(({ plan }) => plan?.step ?? null)],
    changes_at: ['timestamptz', operations.map(({ plan }) => plan?.changesAt ?? null)],
  } as const satisfies Readonly<Record<string, Column>>
}

/** In the order of {@link OPERATION_COLUMNS}. */
function columnsOf(operations: readonly Operation[]) {
  return {
    id: ['uuid', operations.map(({ id }) => id)],
    kind: ['text', operations.map(({ kind }) => kind)],
    external_id: ['text', operations.map(({ externalId }) => externalId)],
    order_id: ['text', operations.map(({ orderId }) => orderId)],
    status: ['text', operations.map(({ status }) => status)],
    version: ['integer', operations.map(({ version }) => version)],
    value_cents: ['bigint', operations.map(({ valueCents }) => valueCents)],
    fee_cents: ['bigint', operations.map(({ feeCents }) => feeCents)],
    correlation_id: ['text', operations.map(({ correlationId }) => correlationId)],
    body_hash: ['bytea', operations.map(({ bodyHash }) => bodyHash)],
    idempotency_key: ['text', operations.map(({ idempotencyKey }) => idempotencyKey)],
    exclusive_key: ['text', operations.map(({ exclusiveKey }) => exclusiveKey)],
    expires_at: ['timestamptz', operations.map(({ expiresAt }) => expiresAt)],
    due_at: ['timestamptz', operations.map(({ dueAt }) => dueAt)],
    transaction_id: ['text', operations.map(({ transactionId }) => transactionId)],
    end_to_end_id: ['text', operations.map(({ endToEndId }) => endToEndId)],
    detail: ['jsonb', operations.map(({ detail }) => JSON.stringify(detail))],
    facts: ['jsonb', operations.map(({ facts }) => factsText(facts))],
    created_at: ['timestamptz', operations.map(({ createdAt }) => createdAt)],
    updated_at: ['timestamptz', operations.map(({ updatedAt }) => updatedAt)],
    ...planColumns(operations),
    idempotency_day: ['integer', operations.map((operation) => idempotencyDay(operation, 0))],
    idempotency_noon_day: ['integer', operations.map((operation) => idempotencyDay(operation, DAY_MS / 2))],
  } as const satisfies Readonly<Record<string, Column>>
}

/**
 * Two uses of one key within 24 hours are kept apart by looking it up; this keeps two at the same moment apart. Around
 * midnight they may fall on two days, but then on one that begins at noon. A use 24 hours later always falls on another
 * day of either kind.
 * @param beginsMs how long after midnight UTC the days begin
 * @source rules#idempotency.1
 */
function idempotencyDay({ idempotencyKey, createdAt }: Operation, beginsMs: number): number | null {
  return idempotencyKey === null ? null : Math.floor((createdAt - beginsMs) / DAY_MS)
}

const DAY_MS = 24 * 60 * 60 * 1_000

function byKindAndExternalId(one: Operation, other: Operation): number {
  const a = `${one.kind} ${one.externalId}`
  const b = `${other.kind} ${other.externalId}`
  return a < b ? -1 : a > b ? 1 : 0
}
