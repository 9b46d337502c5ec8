import { type AccountCode, accounts, adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import type { Document, Operation, OperationKind, Step } from './operation.ts'

/** Account ids follow the order of the ledger's table. */
const ACCOUNT_CODES = Object.keys(accounts) as AccountCode[]

/** Ids run from 1 to this. */
export const ACCOUNT_COUNT = ACCOUNT_CODES.length

export function accountId(code: AccountCode): number {
  return ACCOUNT_CODES.indexOf(code) + 1
}

export function accountCode(id: number): AccountCode {
  const code = ACCOUNT_CODES[id - 1]
  if (code === undefined) throw new Error(`no account has the id ${id}`)
  return code
}

const TIMES = 'expires_at timestamptz, due_at timestamptz, updated_at timestamptz, changes_at timestamptz'
const WORDS = 'transaction_id text, end_to_end_id text, exclusive_key text, next_step text'

/** Columns of an operation that a move may change, with their types. */
export const MOVED = `id uuid, status text, version integer, ${TIMES}, ${WORDS}, facts jsonb` as const

const REFERENCES = 'external_id text, order_id text, correlation_id text, idempotency_key text, body_hash bytea'
const REQUEST =
  `kind text, value_cents bigint, fee_cents bigint, ${REFERENCES}, detail jsonb, created_at timestamptz` as const

/** All columns of an operation, with their types. */
export const OPERATION = `${MOVED}, ${REQUEST}` as const

export const OPERATION_COLUMNS = OPERATION.replaceAll(/ \w+(?=,|$)/g, '')

export interface OperationRow {
  readonly id: string
  readonly kind: Operation['kind']
  readonly external_id: string
  readonly order_id: string | null
  readonly status: string
  readonly version: number
  readonly value_cents: bigint
  readonly fee_cents: bigint
  readonly correlation_id: string
  readonly body_hash: Buffer
  readonly idempotency_key: string | null
  readonly exclusive_key: string | null
  readonly expires_at: number | null
  readonly due_at: number | null
  readonly transaction_id: string | null
  readonly end_to_end_id: string | null
  readonly detail: Operation['detail']
  readonly facts: Operation['facts']
  readonly created_at: number
  readonly updated_at: number
  readonly next_step: Step | null
  readonly changes_at: number | null
}

const STATUSES: Readonly<Record<OperationKind, ReadonlySet<string>>> = {
  cash_in: new Set(cashIn.states),
  cash_out: new Set(cashOut.states),
  refund_in: new Set(refundIn.states),
  adjustment: new Set(adjustment.states),
}

/**
 * Maps a row to an operation: the only place where stored values get their types.
 * @throws Error unknown status: a later version wrote the row
 */
export function operationOf(row: OperationRow): Operation {
  if (!STATUSES[row.kind].has(row.status)) throw new Error(`no ${row.kind} of this version is ${row.status}: ${row.id}`)
  return {
    id: row.id,
    kind: row.kind,
    externalId: row.external_id,
    orderId: row.order_id,
    status: row.status as Operation['status'],
    version: row.version,
    valueCents: row.value_cents,
    feeCents: row.fee_cents,
    correlationId: row.correlation_id,
    bodyHash: row.body_hash,
    idempotencyKey: row.idempotency_key,
    exclusiveKey: row.exclusive_key,
    expiresAt: row.expires_at,
    dueAt: row.due_at,
    transactionId: row.transaction_id,
    endToEndId: row.end_to_end_id,
    detail: row.detail,
    facts: row.facts,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    plan: row.next_step === null ? null : { step: row.next_step, changesAt: row.changes_at },
  }
}

/** Values of the columns of {@link MOVED}. */
export function changingColumns(operation: Operation) {
  return {
    id: operation.id,
    status: operation.status,
    version: operation.version,
    expires_at: operation.expiresAt,
    due_at: operation.dueAt,
    updated_at: operation.updatedAt,
    // `null` if the next step was not computed.
    changes_at: operation.plan?.changesAt ?? null,
    next_step: operation.plan?.step ?? null,
    transaction_id: operation.transactionId,
    end_to_end_id: operation.endToEndId,
    exclusive_key: operation.exclusiveKey,
    facts: factsText(operation.facts),
  }
}

/** Values of the columns of {@link OPERATION}. */
export function operationColumns(operation: Operation) {
  return Object.assign(changingColumns(operation), {
    kind: operation.kind,
    value_cents: operation.valueCents,
    fee_cents: operation.feeCents,
    external_id: operation.externalId,
    order_id: operation.orderId,
    correlation_id: operation.correlationId,
    idempotency_key: operation.idempotencyKey,
    body_hash: operation.bodyHash,
    detail: JSON.stringify(operation.detail),
    created_at: operation.createdAt,
  })
}

/**
 * Facts as JSON without nulls, to keep the row small: each move rewrites it.
 * @param before for a move: keeps a null that clears a fact of `before`
 * @source rules#engine.18
 */
export function factsText(facts: Document, before?: Operation): string {
  const known: Record<string, Document[string]> = { ...facts }
  for (const name in facts) if (facts[name] === null && before?.facts[name] == null) known[name] = undefined
  return JSON.stringify(known)
}

/**
 * Maps rows of one kind.
 * @param is type guard of the kind
 * @throws Error a row is of another kind
 */
export function operationsOf<Op extends Operation>(
  rows: readonly OperationRow[],
  is: (operation: Operation) => operation is Op,
): Op[] {
  return rows.map((row) => {
    const operation = operationOf(row)
    if (!is(operation)) throw new Error(`operation ${row.id} is a ${row.kind}, which was not asked for`)
    return operation
  })
}
