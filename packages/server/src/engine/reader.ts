import type { AccountCode } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import { type AllowanceName, allowanceKey, type RecipientName, type Span, type Used } from './allowance.ts'
import { type Account, type Control, movementKey } from './loader.ts'
import type {
  BookedMovement,
  ControlName,
  Document,
  MovementDirection,
  MovementId,
  OpenCase,
  Operation,
} from './operation.ts'
import { ACCOUNT_COUNT, accountCode, accountId, OPERATION_COLUMNS, type OperationRow, operationOf } from './rows.ts'

export type Reader = ReturnType<typeof createReader>

/** Accounts of this version: a later version may have added some. @source rules#engine.21 */
const ACCOUNTS = `SELECT id, version, balance_cents, clock_timestamp() AS now FROM account WHERE id <= ${ACCOUNT_COUNT}`

type WithCases = OperationRow & { readonly open_cases: readonly OpenCase[] | null }

const OPEN_CASE = `json_build_object('id', c.id, 'kind', c.kind, 'reference', c.reference,
                                   'rule', coalesce(c.facts ->> 'rule', ''), 'version', c.version)`

/** With the open cases of the same snapshot. @source rules#engine.19 */
const WITH_CASES = `SELECT ${OPERATION_COLUMNS},
          (SELECT json_agg(${OPEN_CASE})
             FROM "case" c WHERE c.operation_id = operation.id AND c.closed_at IS NULL) AS open_cases
     FROM operation`

const selectOperations = statement<[ids: readonly string[]], WithCases>(
  'engine.operations',
  `${WITH_CASES} WHERE id = ANY ($1::uuid[])`,
)

const selectOpenCases = statement<[ids: readonly string[]], { found: OpenCase }>(
  'engine.open_cases',
  `SELECT ${OPEN_CASE} AS found FROM "case" c
    WHERE c.id = ANY ($1::uuid[]) AND c.operation_id IS NULL AND c.closed_at IS NULL`,
)

const selectByIdempotencyKeys = statement<[keys: readonly string[], after: string], OperationRow>(
  'engine.by_idempotency_keys',
  `SELECT ${OPERATION_COLUMNS} FROM operation WHERE idempotency_key = ANY ($1::text[]) AND created_at > $2`,
)

/** Locks follow the order of the engine's statement: accounts first, each kind by id. */
const lockOperations = statement<[ids: readonly string[]]>(
  'engine.lock_operations',
  'SELECT FROM operation WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE',
)

const selectByExternalIds = statement<[kinds: readonly string[], externalIds: readonly string[]], OperationRow>(
  'engine.by_external_ids',
  `SELECT ${OPERATION_COLUMNS} FROM operation
    WHERE kind = ANY ($1::text[]) AND external_id = ANY ($2::text[])`,
)

const selectByExclusiveKeys = statement<[keys: readonly string[]], OperationRow>(
  'engine.by_exclusive_keys',
  `SELECT ${OPERATION_COLUMNS} FROM operation WHERE exclusive_key = ANY ($1::text[])`,
)

const CONTROLS = 'SELECT name, version, value FROM control'

type ControlRow = { name: ControlName; version: bigint; value: Document }

const selectControls = statement<[], ControlRow>('engine.controls', CONTROLS)

const lockControls = statement<[], ControlRow>('engine.lock_controls', `${CONTROLS} ORDER BY name FOR UPDATE`)

const selectDebts = statement<[], { operation_id: string; owed: bigint }>(
  'engine.debts',
  `SELECT operation_id, (-sum(amount_cents))::bigint AS owed FROM entry WHERE account_id = ${accountId('receivable')}
    GROUP BY operation_id HAVING sum(amount_cents) < 0 ORDER BY min(version)`,
)

const lockCases = statement<[ids: readonly string[]]>(
  'engine.lock_cases',
  'SELECT FROM "case" WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE',
)

type AccountRow = { id: number; version: bigint; balance_cents: bigint; now: number }

const selectAccounts = statement<[], AccountRow>('engine.accounts', ACCOUNTS)

const lockAccounts = statement<[], AccountRow>('engine.lock_accounts', `${ACCOUNTS} ORDER BY id FOR UPDATE`)

/**
 * Index lookup per key, whatever the statistics: a join that was planned on a small table read all movements until it was planned
 * again.
 */
const selectMovements = statement<
  [directions: readonly string[], ids: readonly string[]],
  { direction: MovementDirection; id: string; operation_id: string; value_cents: bigint }
>(
  'engine.movements',
  `SELECT m.direction, m.id, m.operation_id, m.value_cents
     FROM unnest($1::text[], $2::text[]) AS w (direction, id)
    CROSS JOIN LATERAL (SELECT * FROM movement m WHERE m.direction = w.direction AND m.id = w.id LIMIT 1) m`,
)

const selectAllowances = statement<
  [scopes: readonly string[], spans: readonly string[]],
  { scope: string; span: Span; bucket: number; used_cents: bigint }
>(
  'engine.allowances',
  `SELECT a.scope, a.span, a.bucket, a.used_cents
     FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS w (scope, span)) w JOIN allowance a USING (scope, span)`,
)

const selectRecipients = statement<
  [pixKeys: readonly string[], paidBefore: readonly number[]],
  { pix_key: string; is_known: boolean; paid_cents: bigint }
>(
  'engine.recipients',
  `SELECT w.pix_key, k.is_known, CASE WHEN k.is_known THEN 0 ELSE paid_to(w.pix_key) END AS paid_cents
     FROM unnest($1::text[], $2::timestamptz[]) AS w (pix_key, paid_before)
    CROSS JOIN LATERAL (
       SELECT EXISTS (SELECT FROM operation o
                       WHERE o.kind = 'cash_out' AND o.detail #>> '{recipient,pixKey}' = w.pix_key
                         AND o.status IN ('CONFIRMED', 'REVERSED') AND o.created_at < w.paid_before
                         AND (NOT o.facts ? 'returns' OR still_paid(o.value_cents, o.facts) > 0)) AS is_known
     ) k`,
)

/** The engine's reads, without locks. The commit compares them. */
export function createReader(queries: Queries) {
  return {
    /** With their open cases. */
    operations: async (ids: readonly string[]) => (await queries.rows(selectOperations, [ids])).map(withCases),
    /** Operations that used one of the keys after an instant. */
    byIdempotencyKeys: async (keys: readonly string[], after: number) =>
      (await queries.rows(selectByIdempotencyKeys, [keys, instantParameter(after)])).map(operationOf),
    /** Operations of any of the kinds with any of the external ids: a superset of the pairs. */
    byExternalIds: async (wanted: readonly Pick<Operation, 'kind' | 'externalId'>[]) => {
      const kinds = wanted.map(({ kind }) => kind)
      const externalIds = wanted.map(({ externalId }) => externalId)
      return (await queries.rows(selectByExternalIds, [kinds, externalIds])).map(operationOf)
    },
    byExclusiveKeys: async (keys: readonly string[]) =>
      (await queries.rows(selectByExclusiveKeys, [keys])).map(operationOf),
    /** Open ones of these cases without an operation. */
    openCases: async (ids: readonly string[]) =>
      ids.length === 0 ? [] : (await queries.rows(selectOpenCases, [ids])).map(({ found }) => found),
    accounts: async () => accountsOf(await queries.rows(selectAccounts, [])),
    controls: async () => controlsOf(await queries.rows(selectControls, [])),
    /** Debts by operation, oldest first. */
    debts: async () =>
      new Map((await queries.rows(selectDebts, [])).map(({ operation_id, owed }) => [operation_id, owed])),
    /** Bookings by {@link movementKey}; `null`: none. */
    movements: async (wanted: readonly MovementId[]) => {
      const directions = wanted.map(({ direction }) => direction)
      const ids = wanted.map(({ id }) => id)
      const rows = wanted.length === 0 ? [] : await queries.rows(selectMovements, [directions, ids])
      const booked = new Map<string, BookedMovement | null>(wanted.map((movement) => [movementKey(movement), null]))
      for (const { operation_id: operationId, value_cents: valueCents, ...movement } of rows) {
        booked.set(movementKey(movement), { operationId, valueCents })
      }
      return booked
    },
    /** Usage by {@link allowanceKey}. */
    allowances: async (wanted: readonly AllowanceName[]) => {
      const parameters = [wanted.map(({ scope }) => scope), wanted.map(({ span }) => span)] as const
      const rows = wanted.length === 0 ? [] : await queries.rows(selectAllowances, [...parameters])
      const byKey = Map.groupBy(rows, allowanceKey)
      return new Map(wanted.map((name) => [allowanceKey(name), usedOf(byKey.get(allowanceKey(name)) ?? [])]))
    },
    /** By Pix key. */
    recipients: async (wanted: readonly RecipientName[], nowMs: number) => {
      const paidBefore = new Map(wanted.map(({ pixKey, newForMs }) => [pixKey, nowMs - newForMs]))
      const parameters = [[...paidBefore.keys()], [...paidBefore.values()]] as const
      const rows = wanted.length === 0 ? [] : await queries.rows(selectRecipients, [...parameters])
      return new Map(rows.map((row) => [row.pix_key, { isKnown: row.is_known, paidCents: row.paid_cents }]))
    },
  }
}

/** Locks what it reads until the transaction ends: accounts, then operations, controls and cases. */
export function createLockingReader(queries: Queries) {
  const reader = createReader(queries)
  return {
    ...reader,
    accounts: async () => accountsOf(await queries.rows(lockAccounts, [])),
    operations: async (ids: readonly string[]) => {
      // Only a later statement sees the commit that the lock waited for.
      await queries.rows(lockOperations, [ids])
      return reader.operations(ids)
    },
    controls: async () => controlsOf(await queries.rows(lockControls, [])),
    openCases: async (ids: readonly string[]) => {
      if (ids.length > 0) await queries.rows(lockCases, [ids])
      return reader.openCases(ids)
    },
  }
}

function withCases(row: WithCases): Operation {
  return { ...operationOf(row), openCases: row.open_cases ?? [] }
}

function usedOf(rows: readonly { bucket: number; used_cents: bigint }[]): Used {
  return new Map(rows.map(({ bucket, used_cents }) => [bucket, used_cents]))
}

function controlsOf(rows: readonly ControlRow[]): Map<ControlName, Control> {
  return new Map(rows.map(({ name, version, value }) => [name, { version, value }]))
}

function accountsOf(rows: readonly AccountRow[]) {
  const accounts = new Map<AccountCode, Account>(
    rows.map(({ id, version, balance_cents }) => [accountCode(id), { version, balanceCents: balance_cents }]),
  )
  return { now: rows[0]?.now ?? 0, accounts }
}
