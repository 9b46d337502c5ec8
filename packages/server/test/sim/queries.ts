import type { Operation } from '../../src/engine/operation.ts'
import type { OperationRow } from '../../src/engine/rows.ts'
import type { Database } from '../../src/platform/db/database.ts'
import type { InboxTable } from './inbox-table.ts'
import type { Tables } from './tables.ts'

/**
 * The statements of the modules' stores, by their names, over tables in memory. A statement that is not here fails, so that
 * a new one cannot go unnoticed.
 */

// biome-ignore lint/suspicious/noExplicitAny: each statement has types of its own, which its store declares.
type Answers = Readonly<Record<string, (...parameters: any[]) => readonly object[]>>

/** A database of which only these statements are known. */
export function createQueries(tables: Tables, inbox: InboxTable): Database {
  const answers: Answers = {
    'database.until_replicated': () => [],
    'order.switch': () => [{ enabled: tables.controls.get('cash_out_switch')?.value.enabled === true }],
    'order.note_plans': () => [],
    ...operationAnswers(tables),
    ...refundAnswers(tables),
    ...inbox.answers,
  }
  return {
    rows: async (query, parameters) => {
      const answer = answers[query.name]
      if (!answer) throw new Error(`the simulation knows no statement ${query.name}`)
      // What the caller's types say is what the statement's store declares.
      return answer(...parameters) as never
    },
    transaction: () => Promise.reject(new Error('the simulation knows no transactions')),
    use: () => ({ inUse: 0, waiting: 0 }),
    close: async () => undefined,
  }
}

const KINDS = ['cash_in', 'cash_out', 'refund_in'] as const

function operationAnswers(tables: Tables): Answers {
  const all = (kind: string) => [...tables.operations.values()].filter((operation) => operation.kind === kind)
  const due = (kind: string, now: string) =>
    all(kind)
      .filter(({ dueAt }) => dueAt !== null && dueAt <= Date.parse(now))
      .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))
  const orderDue = (kind: string) => (now: string, limit: number, isSending: boolean) =>
    due(kind, now)
      .filter(({ plan }) => isSending || plan?.step !== 'send' || (plan.changesAt ?? Infinity) <= Date.parse(now))
      .slice(0, limit)
      .map(rowOf)
  return Object.fromEntries([
    ...KINDS.flatMap((kind) => [
      [
        `${kind}.get`,
        (ids: readonly string[]) => ids.flatMap((id) => tables.operations.get(id.toLowerCase()) ?? []).map(rowOf),
      ],
      [`${kind}.match`, matching(tables, kind)],
    ]),
    ['cash_in.due', (now: string, limit: number) => due('cash_in', now).slice(0, limit).map(rowOf)],
    ['cash_out.due', orderDue('cash_out')],
    ['refund_in.due', orderDue('refund_in')],
  ])
}

/** What each set of references names, once for each reference that does. */
function matching(tables: Tables, kind: (typeof KINDS)[number]) {
  type Texts = readonly (string | null)[]
  const direction = { cash_in: 'in', cash_out: 'out', refund_in: '' }[kind]
  return (transactionIds: Texts, externalIds: Texts, endToEndIds: Texts) =>
    transactionIds.flatMap((transactionId, index) => {
      const externalId = externalIds[index] ?? null
      const endToEndId = endToEndIds[index] ?? null
      const found: { operation: Operation; by: string }[] = []
      for (const operation of tables.operations.values()) {
        if (operation.kind !== kind) continue
        if (transactionId !== null && operation.transactionId === transactionId)
          found.push({ operation, by: 'transactionId' })
        if (endToEndId !== null && operation.endToEndId === endToEndId) found.push({ operation, by: 'endToEndId' })
        if (externalId !== null && operation.externalId === externalId) found.push({ operation, by: 'externalId' })
        if (externalId !== null && operation.id === externalId.toLowerCase()) found.push({ operation, by: 'orderId' })
      }
      const movement = endToEndId === null ? undefined : tables.movements.get(`${direction} ${endToEndId}`)
      const mover = movement && tables.operations.get(movement.operationId)
      if (mover?.kind === kind) found.push({ operation: mover, by: 'endToEndId' })
      return found
        .sort((one, other) => (one.operation.id < other.operation.id ? -1 : 1))
        .map(({ operation: { id, detail }, by }) => ({
          ordinal: index + 1,
          id,
          kind,
          by,
          of: detail.cashInId ?? null,
          origin: detail.origin ?? null,
        }))
    })
}

function refundAnswers(tables: Tables): Answers {
  const of = (cashInId: string) =>
    [...tables.operations.values()].filter(({ kind, detail }) => kind === 'refund_in' && detail.cashInId === cashInId)
  const mayHaveArrived = ({ facts }: Operation) => Number(facts.attempts ?? 0) > Number(facts.unsentAttempts ?? 0)
  return {
    'refund_in.open': (cashInId: string) =>
      of(cashInId)
        .filter(({ status }) => status === 'PENDING')
        .map(({ id }) => ({ id })),
    // No simulated operator reverses a credit.
    'refund_in.relisted_hold': () => [],
    'refund_in.explaining': (cashInId: string, valueCents: bigint) =>
      of(cashInId)
        .filter(
          (one) =>
            one.status === 'PENDING' ||
            (one.status === 'FAILED' &&
              one.valueCents === valueCents &&
              one.transactionId === null &&
              mayHaveArrived(one)),
        )
        .map(({ id }) => ({ id })),
  }
}

/** An operation as a row of its table. */
function rowOf(operation: Operation): OperationRow {
  const { plan = null } = operation
  return {
    id: operation.id,
    kind: operation.kind,
    external_id: operation.externalId,
    order_id: operation.orderId,
    status: operation.status,
    version: operation.version,
    value_cents: operation.valueCents,
    fee_cents: operation.feeCents,
    correlation_id: operation.correlationId,
    body_hash: operation.bodyHash,
    idempotency_key: operation.idempotencyKey,
    exclusive_key: operation.exclusiveKey,
    expires_at: operation.expiresAt,
    due_at: operation.dueAt,
    transaction_id: operation.transactionId,
    end_to_end_id: operation.endToEndId,
    detail: operation.detail,
    facts: operation.facts,
    created_at: operation.createdAt,
    updated_at: operation.updatedAt,
    next_step: plan?.step ?? null,
    changes_at: plan?.changesAt ?? null,
  }
}
