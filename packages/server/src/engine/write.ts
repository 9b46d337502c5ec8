import { accounts } from '@pixgate/spec'
import type { Elements } from '../platform/db/arrays.ts'
import { instantParameter, type Statement, statement } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { CASE_TIMES, mostCents } from './cases.ts'
import type { AccountChange, Draft } from './draft.ts'
import type { ControlName, Document, Operation } from './operation.ts'
import { accountId, changingColumns, factsText, MOVED, OPERATION, OPERATION_COLUMNS, operationColumns } from './rows.ts'

/**
 * The one statement that changes money and status: lock, compare, rebase, append. First come the locks, then each kind
 * of written row, then the assembly of the statement. Each function makes the expression of one kind of row, if the batch
 * has any, and returns `undefined` otherwise: empty arrays and unused plans cost time too.
 *
 * Everything after the locks writes only if `go` is true. No expression reads a table except through the locked sets:
 * all of them share the snapshot from before the lock wait.
 * @source rules#engine.2
 */

/** The row of a list of columns with their types, such as `id uuid, version integer`. */
type RowOf<Columns extends string> = Columns extends `${infer First}, ${infer Others}`
  ? RowOf<First> & RowOf<Others>
  : Columns extends `${infer Name} ${infer Type extends keyof Elements}`
    ? { readonly [Column in Name]: Elements[Type] | null }
    : never

/** The statement while it is built: the values of its parameters, and what it locks and compares. */
class Building {
  readonly ids: Ids
  readonly batchId: string
  readonly values: unknown[] = []
  /** Conditions that are true if nothing is stale. */
  readonly comparisons: string[] = []
  readonly #locked: string[] = []

  constructor(ids: Ids) {
    this.ids = ids
    this.batchId = ids.uuid()
  }

  locked(name: string, comparison: string): void {
    this.#locked.push(name)
    this.comparisons.push(comparison)
  }

  hasLocked(name: string): boolean {
    return this.#locked.includes(name)
  }

  /** Always true: reading the count makes PostgreSQL take the locks before first. */
  get afterLocks(): string {
    const before = this.#locked.at(-1)
    return before === undefined ? '' : ` AND (SELECT count(*) FROM ${before}) >= 0`
  }

  one(type: string, value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }

  /**
   * One array per column: `unnest($4::uuid[], $5::text[]) AS name (id, kind)`. A column with nulls only is passed as
   * null: `unnest` pads the shorter of its arrays.
   */
  rows<Columns extends string>(name: string, columns: Columns, rows: readonly RowOf<Columns>[]): string {
    const [names, arrays]: [string[], string[]] = [[], []]
    for (const column of columns.split(', ')) {
      const [field = '', type] = column.split(' ')
      const values = rows.map((row) => row[field as keyof typeof row])
      names.push(field)
      arrays.push(this.one(`${type}[]`, values.some((value) => value !== null) ? values : null))
    }
    return `unnest(${arrays.join(', ')}) AS ${name} (${names.join(', ')})`
  }
}

function jsonOrNull(document: Document | undefined): string | null {
  return document === undefined ? null : JSON.stringify(document)
}

/** Rows are locked by id. An account's version counts only where a decision depends on its exact balance: deltas commute. */
function lockAccounts(building: Building, draft: Draft) {
  if (draft.accountChanges.size === 0) return undefined
  const columns =
    'id smallint, version bigint, exact boolean, floored boolean, lowest bigint, delta bigint, added bigint'
  const wanted = [...draft.accountChanges].map(([code, { exact, lowest, delta, entries }]) => ({
    id: accountId(code),
    version: draft.accountVersion(code),
    exact,
    lowest,
    delta,
    added: entries.length,
    floored: accounts[code].bound === 'not negative',
  }))
  const sql = `
  wanted_account AS (
    SELECT * FROM ${building.rows('w', columns, wanted)}
  ),
  locked_account AS MATERIALIZED (
    SELECT id, version, balance_cents FROM account
     WHERE id IN (SELECT id FROM wanted_account) ORDER BY id FOR UPDATE
  )`
  // `count(*)` takes all row locks before the first insert, so unique-key waits cannot deadlock with account locks.
  building.locked(
    'locked_account',
    `(SELECT count(*) FROM locked_account) = (SELECT count(*) FROM wanted_account)
       AND NOT EXISTS (
             SELECT FROM wanted_account w JOIN locked_account USING (id)
              WHERE (w.exact AND locked_account.version <> w.version) OR (w.floored AND locked_account.balance_cents + w.lowest < 0)
           )`,
  )
  return sql
}

function lockOperations(building: Building, { readVersions, cases }: Draft) {
  // `closed_case` reads `wanted_operation`, so it must exist even without operations.
  if (readVersions.size === 0 && cases.closedIds.length === 0) return undefined
  const wanted = [...readVersions].map(([id, version]) => ({ id, version }))
  const sql = `
  wanted_operation AS (
    SELECT * FROM ${building.rows('w', 'id uuid, version integer', wanted)}
  ),
  locked_operation AS MATERIALIZED (
    SELECT id, version FROM operation
     WHERE id IN (SELECT id FROM wanted_operation)${building.afterLocks} ORDER BY id FOR UPDATE
  )`
  // EXCEPT hashes both sets; without row estimates, a join became a nested loop over the whole batch.
  building.locked(
    'locked_operation',
    'NOT EXISTS (SELECT id, version FROM wanted_operation EXCEPT SELECT id, version FROM locked_operation)',
  )
  return sql
}

function lockControls(building: Building, draft: Draft) {
  const { readControls, changedControls, allowances, recipients } = draft
  // The usage bounds are read after the control locks.
  if (readControls.size + allowances.headrooms.length + recipients.size === 0) return undefined
  const wanted = [...readControls].map((name) => ({
    name,
    version: draft.controlVersion(name),
    next: changedControls.get(name)?.version ?? null,
    changed: jsonOrNull(changedControls.get(name)?.value),
  }))
  const sql = `
  wanted_control AS (
    SELECT * FROM ${building.rows('w', 'name text, version bigint, next bigint, changed jsonb', wanted)}
  ),
  locked_control AS MATERIALIZED (
    SELECT name, version, value FROM control
     WHERE name IN (SELECT name FROM wanted_control)${building.afterLocks} ORDER BY name FOR UPDATE
  )`
  building.locked(
    'locked_control',
    'NOT EXISTS (SELECT FROM wanted_control w JOIN locked_control USING (name) WHERE locked_control.version <> w.version)',
  )
  return sql
}

/** Cases without an operation. Cases of an operation are covered by its version. */
function lockCases(building: Building, { readCases }: Draft) {
  if (readCases.size === 0) return undefined
  const wanted = [...readCases].map(([id, version]) => ({ id, version }))
  const sql = `
  wanted_case AS (
    SELECT * FROM ${building.rows('w', 'id uuid, version integer', wanted)}
  ),
  locked_case AS MATERIALIZED (
    SELECT id, version FROM "case"
     WHERE id IN (SELECT id FROM wanted_case) AND closed_at IS NULL${building.afterLocks} ORDER BY id FOR UPDATE
  )`
  building.locked(
    'locked_case',
    'NOT EXISTS (SELECT id, version FROM wanted_case EXCEPT SELECT id, version FROM locked_case)',
  )
  return sql
}

/**
 * Upper bounds of what was used before the batch: allowances here, payments to a recipient below. The SQL functions are
 * volatile, so they see what was committed before the control locks were granted. Every user of a bound locks the kill
 * switch (also an approval, which locks no account), so two processes cannot both take the last of it.
 * @source rules#limits.5, rules#limits.11
 */
function boundAllowances(building: Building, { allowances: { headrooms } }: Draft) {
  if (headrooms.length === 0) return undefined
  const columns = 'scope text, span text, since integer, headroom bigint'
  const wanted = headrooms.map(({ cents, ...window }) => ({ ...window, headroom: cents }))
  const sql = `
  cap AS MATERIALIZED (
    SELECT w.headroom, allowance_used(w.scope, w.span, w.since) AS used
      FROM ${building.rows('w', columns, wanted)}
     WHERE (SELECT count(*) FROM locked_control) >= 0
  )`
  building.comparisons.push('NOT EXISTS (SELECT FROM cap WHERE used > headroom)')
  return sql
}

/** @source rules#limits.11 */
function boundRecipients(building: Building, { recipients }: Draft) {
  if (recipients.size === 0) return undefined
  const wanted = [...recipients].map(([pix_key, { headroomCents }]) => ({ pix_key, headroom: headroomCents }))
  const sql = `
  rcp AS MATERIALIZED (
    SELECT w.headroom, paid_to(w.pix_key) AS used
      FROM ${building.rows('w', 'pix_key text, headroom bigint', wanted)}
     WHERE (SELECT count(*) FROM locked_control) >= 0
  )`
  building.comparisons.push('NOT EXISTS (SELECT FROM rcp WHERE used > headroom)')
  return sql
}

/** `go` is true if no locked version has changed, and every balance and usage stays within its bound. */
function compare({ comparisons }: Building) {
  return `
  go AS (
    SELECT ${comparisons.join('\n       AND ') || 'true'} AS yes
  )`
}

/**
 * Inserts the batch's id. If the batch was abandoned after a lost reply, the primary key fails the statement.
 * @source rules#engine.13
 */
function fence(building: Building) {
  return `
  fence AS (
    INSERT INTO batch (id, outcome) SELECT ${building.one('uuid', building.batchId)}, 'committed' FROM go WHERE yes
  )`
}

/** Final outcome of a batch. */
export type BatchOutcome = 'committed' | 'abandoned'

/** Abandons a batch, unless it was committed. @source rules#engine.13 */
export const abandonBatch = statement<[batchId: string], { outcome: BatchOutcome }>(
  'engine.abandon_batch',
  'SELECT abandon_batch($1) AS outcome',
)

/** Inserts new operations, sorted: unsorted inserts deadlock, and each deadlock blocks the writer for a second. */
function insertOperations(building: Building, { createdOperations }: Draft) {
  if (createdOperations.size === 0) return undefined
  const created = [...createdOperations.values()].sort(byKindAndExternalId)
  const rows = created.map((operation) =>
    Object.assign(operationColumns(operation), {
      idempotency_day: idempotencyDay(operation, 0),
      idempotency_noon_day: idempotencyDay(operation, DAY_MS / 2),
    }),
  )
  const columns = `${OPERATION}, idempotency_day integer, idempotency_noon_day integer` as const
  return `
  inserted_operation AS (
    INSERT INTO operation (${OPERATION_COLUMNS}, idempotency_day, idempotency_noon_day)
    SELECT * FROM ${building.rows('o', columns, rows)} WHERE (SELECT yes FROM go)
  )`
}

/**
 * Day number for a unique index: the lookup of the key misses a concurrent request. Days start at midnight or at noon
 * UTC; concurrent uses share at least one of the two numbers, uses 24 hours apart share none.
 * @param beginsMs start of the day after midnight UTC
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

/** Updates existing operations: each row once, to its state after all its moves. */
function updateOperations(building: Building, { movedOperations }: Draft) {
  if (movedOperations.size === 0) return undefined
  const moved = [...movedOperations.values()].map(changingColumns)
  return `
  updated_operation AS (
    UPDATE operation o
       SET status = u.status, version = u.version, expires_at = u.expires_at, due_at = u.due_at, transaction_id = u.transaction_id,
           end_to_end_id = u.end_to_end_id, exclusive_key = u.exclusive_key, facts = u.facts,
           updated_at = u.updated_at, next_step = u.next_step, changes_at = u.changes_at
      FROM ${building.rows('u', MOVED, moved)}
     WHERE o.id = u.id AND (SELECT yes FROM go)
  )`
}

/** Appends to the timelines of operations. */
function insertMoves(building: Building, { moves, now }: Draft) {
  if (moves.length === 0) return undefined
  const columns =
    'operation_id uuid, version integer, kind text, trigger text, from_status text, to_status text, facts jsonb, evidence jsonb'
  const made = moves.map(({ before, after, trigger, facts, evidence }) => ({
    operation_id: after.id,
    version: after.version,
    kind: after.kind,
    trigger,
    from_status: before?.status ?? null,
    to_status: after.status,
    facts: factsText(facts, before),
    evidence: jsonOrNull(evidence),
  }))
  return `
  inserted_move AS (
    INSERT INTO move (operation_id, version, kind, trigger, from_status, to_status, facts, evidence, batch_id, at)
    SELECT m.*, ${building.one('uuid', building.batchId)}, ${building.one('timestamptz', instantParameter(now))}
      FROM ${building.rows('m', columns, made)}
     WHERE (SELECT yes FROM go)
  )`
}

/** Records on which operation a movement of money was booked. @source rules#ledger.movements */
function insertMovements(building: Building, { movements }: Draft) {
  if (movements.size === 0) return undefined
  const columns = 'direction text, id text, operation_id uuid, value_cents bigint'
  const booked = [...movements.values()].map(({ direction, id, operationId, valueCents }) => ({
    direction,
    id,
    operation_id: operationId,
    value_cents: valueCents,
  }))
  return `
  inserted_movement AS (
    INSERT INTO movement (direction, id, operation_id, value_cents)
    SELECT * FROM ${building.rows('m', columns, booked)}
     WHERE (SELECT yes FROM go)
  )`
}

/** Sets the controls that changed; `wanted_control` has their values. */
function updateControls(_: Building, { changedControls }: Draft) {
  if (changedControls.size === 0) return undefined
  return `
  updated_control AS (
    UPDATE control c SET version = w.next, value = w.changed
      FROM locked_control JOIN wanted_control w USING (name)
     WHERE c.name = locked_control.name AND w.changed IS NOT NULL AND (SELECT yes FROM go)
  )`
}

const ALLOWANCE = 'scope text, span text, bucket integer, cents bigint'

/** Adds to used allowances, sorted, so that concurrent inserts cannot deadlock. */
function takeAllowances(building: Building, { allowances }: Draft) {
  const taken = allowances.changes.filter(({ cents }) => cents > 0n)
  if (taken.length === 0) return undefined
  return `
  taken_allowance AS (
    INSERT INTO allowance AS a (scope, span, bucket, used_cents)
    SELECT * FROM ${building.rows('w', ALLOWANCE, taken)} WHERE (SELECT yes FROM go) ORDER BY scope, span, bucket
    ON CONFLICT (scope, span, bucket) DO UPDATE SET used_cents = a.used_cents + excluded.used_cents
  )`
}

/** Subtracts from used allowances. A deleted bucket needs no update: its use no longer counts. */
function returnAllowances(building: Building, { allowances }: Draft) {
  const returned = allowances.changes.filter(({ cents }) => cents < 0n)
  if (returned.length === 0) return undefined
  return `
  returned_allowance AS (
    UPDATE allowance a SET used_cents = greatest(0, a.used_cents + w.cents)
      FROM ${building.rows('w', ALLOWANCE, returned)}
     WHERE a.scope = w.scope AND a.span = w.span AND a.bucket = w.bucket AND (SELECT yes FROM go)
  )`
}

/**
 * Appends entries to the accounts, continuing from the locked versions and balances.
 *
 * Measured: appending at an expected version without the lock starves the busier of two processes (0.01 to 0.03 of its
 * speed); locking keeps 0.93 to 0.98 of it.
 */
function insertEntries(building: Building, { accountChanges, now }: Draft) {
  const entries = [...accountChanges].flatMap(([code, change]) => runningEntries(accountId(code), change))
  if (entries.length === 0) return undefined
  const columns =
    'account_id smallint, ordinal bigint, running bigint, amount_cents bigint, operation_id uuid, journal text, reference text, posting smallint, shown text'
  return `
  updated_account AS (
    UPDATE account a
       SET version = locked_account.version + w.added, balance_cents = locked_account.balance_cents + w.delta
      FROM locked_account JOIN wanted_account w USING (id)
     WHERE a.id = locked_account.id AND w.added > 0 AND (SELECT yes FROM go)
  ),
  inserted_entry AS (
    INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference,
                       posting, shown, at)
    SELECT e.account_id, locked_account.version + e.ordinal, e.amount_cents, locked_account.balance_cents + e.running, e.operation_id,
           e.journal, e.reference, e.posting, e.shown, ${building.one('timestamptz', instantParameter(now))}
      FROM ${building.rows('e', columns, entries)}
      JOIN locked_account ON locked_account.id = e.account_id
     WHERE (SELECT yes FROM go)
  )`
}

/** Each entry with its offset from the locked version and the running sum to add to the locked balance. */
function runningEntries(account_id: number, { entries }: AccountChange) {
  let running = 0n
  return entries.map(({ amountCents, operationId, journal, reference, posting, shown }, index) => {
    running += amountCents
    return {
      account_id,
      ordinal: index + 1,
      running,
      amount_cents: amountCents,
      operation_id: operationId,
      journal,
      reference,
      posting,
      shown,
    }
  })
}

/** Inserts the notifications to send. */
function insertNotifications(building: Building, draft: Draft) {
  if (draft.notifications.length === 0) return undefined
  const columns =
    'id uuid, operation_id uuid, event_type text, status text, reference text, body bytea, created_at timestamptz'
  const made = draft.notifications.map(({ operationId, eventType, status, reference, body }) => ({
    id: building.ids.uuid(),
    operation_id: operationId,
    event_type: eventType,
    status,
    reference,
    body,
    created_at: draft.notifiedAt(operationId),
  }))
  return `
  inserted_notification AS (
    INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at)
    SELECT n.* FROM ${building.rows('n', columns, made)}
     WHERE (SELECT yes FROM go)
  )`
}

/** Facts without their timestamps: a report that differs only in them is no change. @source rules#cases.51 */
const withoutTimes = (facts: string) => `(${facts} - '{${CASE_TIMES.join(',')}}'::text[])`

/**
 * Inserts cases; reopens or updates those that exist. The latest facts replace earlier ones; the amount only rises.
 * @source rules#cases.48
 */
function openCases(building: Building, draft: Draft) {
  const { cases, now } = draft
  if (cases.opened.length === 0) return undefined
  const columns =
    'id uuid, operation_id uuid, kind text, reference text, facts jsonb, closed_at timestamptz, amount_cents bigint'
  const opened = cases.opened.map(({ id, operationId, kind, reference, facts, isClosed, reports }) => ({
    id,
    operation_id: operationId,
    kind,
    reference,
    facts: JSON.stringify(facts),
    closed_at: isClosed ? now : null,
    amount_cents: mostCents(reports, draft.operation(operationId ?? '')),
  }))
  return `
  inserted_case AS (
    INSERT INTO "case" (id, operation_id, kind, reference, facts, closed_at, amount_cents, opened_at)
    SELECT c.*, ${building.one('timestamptz', instantParameter(now))}
      FROM ${building.rows('c', columns, opened)}
     WHERE (SELECT yes FROM go)
    ON CONFLICT ON CONSTRAINT case_once DO UPDATE
       SET closed_at = NULL, facts = excluded.facts, amount_cents = greatest("case".amount_cents, excluded.amount_cents)
       WHERE excluded.closed_at IS NULL
         AND ("case".closed_at IS NOT NULL OR ${withoutTimes('"case".facts')} <> ${withoutTimes('excluded.facts')}
              OR excluded.amount_cents > coalesce("case".amount_cents, 0))
    RETURNING id, operation_id
  )`
}

/**
 * Updates open cases once each: the latest report replaces facts and rule, and the amount only rises. The table's
 * trigger raises the version if that changes anything; `is_touched` raises it if the operation changed.
 * @source rules#cases.48, rules#engine.22
 */
function changeCases(building: Building, draft: Draft) {
  const { changed } = draft.cases
  if (changed.length === 0) return undefined
  const columns = 'id uuid, amount_cents bigint, facts jsonb, is_touched boolean'
  const rows = changed.map(({ id, operationId, reports, isTouched }) => ({
    id,
    amount_cents: mostCents(reports, draft.operation(operationId ?? '')),
    facts: jsonOrNull(reports.at(-1)),
    is_touched: isTouched,
  }))
  return `
  changed_case AS (
    UPDATE "case" c SET facts = coalesce(r.facts, c.facts), amount_cents = greatest(c.amount_cents, r.amount_cents),
                        version = c.version + r.is_touched::int
      FROM ${building.rows('r', columns, rows)}
     WHERE c.id = r.id AND c.closed_at IS NULL
       AND (r.is_touched OR r.amount_cents > coalesce(c.amount_cents, 0)
            OR ${withoutTimes('c.facts')} <> ${withoutTimes('r.facts')})
       AND (SELECT yes FROM go)
  )`
}

/** Appends to the audit trail. */
function insertAudits(building: Building, { audits, now }: Draft) {
  if (audits.length === 0) return undefined
  const columns = 'id uuid, actor text, actor_name text, action text, subject text, address text, facts jsonb'
  const rows = audits.map(({ actorName, facts, ...audit }) => ({
    ...audit,
    id: building.ids.uuid(),
    actor_name: actorName ?? null,
    facts: JSON.stringify(facts),
  }))
  return `
  inserted_audit AS (
    INSERT INTO audit (id, at, actor, actor_name, action, subject, address, facts)
    SELECT a.id, ${building.one('timestamptz', instantParameter(now))}, a.actor, a.actor_name, a.action, a.subject, a.address, a.facts
      FROM ${building.rows('a', columns, rows)}
     WHERE (SELECT yes FROM go)
  )`
}

/**
 * Closes cases without an operation, or of a compared operation. Opening a case changes its operation's version, so no
 * unseen case is closed.
 * @source rules#engine.19
 */
function closeCases(building: Building, { cases, now }: Draft) {
  if (cases.closedIds.length === 0) return undefined
  return `
  closed_case AS (
    UPDATE "case" SET closed_at = ${building.one('timestamptz', instantParameter(now))}
     WHERE id = ANY (${building.one('uuid[]', cases.closedIds)}) AND closed_at IS NULL AND (SELECT yes FROM go)
       AND (operation_id IS NULL OR operation_id IN (SELECT id FROM wanted_operation))
  )`
}

/** Appends steps of operators' decisions. If the proposal ended meanwhile, the whole statement fails. */
function insertCaseSteps(building: Building, { caseSteps, now }: Draft) {
  if (caseSteps.length === 0) return undefined
  const columns =
    'id uuid, case_id uuid, step text, proposal_id uuid, operator_id text, operator_name text, content jsonb, case_version text, amount_cents bigint, idempotency_key text, body_hash bytea, answer jsonb'
  const rows = caseSteps.map(({ id, step, content, bodyHash, answer, ...made }) => ({
    id,
    case_id: made.caseId,
    step,
    proposal_id: made.proposalId,
    operator_id: made.operatorId,
    operator_name: made.operatorName,
    content: JSON.stringify(content),
    case_version: made.caseVersion,
    amount_cents: made.amountCents,
    idempotency_key: made.idempotencyKey,
    body_hash: bodyHash,
    answer: JSON.stringify(answer),
  }))
  return `
  inserted_case_step AS (
    INSERT INTO case_step (id, case_id, step, proposal_id, operator_id, operator_name, content, case_version, amount_cents,
                           idempotency_key, body_hash, answer, at)
    SELECT s.*, ${building.one('timestamptz', instantParameter(now))}
      FROM ${building.rows('s', columns, rows)}
     WHERE (SELECT yes FROM go)
  )`
}

/**
 * Makes set-aside events due again, for the inbox to apply. Their case is compared, so each is released once. A
 * `CONFLICT` event keeps its state.
 * @source rules#cases.57
 */
function orderEvents(building: Building, { eventOrders, now }: Draft) {
  if (eventOrders.length === 0) return undefined
  const columns = 'inbox_id uuid, ordinal integer, set_aside_at timestamptz, attributed_to uuid'
  const rows = eventOrders.map(({ inboxId, ordinal, setAsideAt, attributedTo }) => ({
    inbox_id: inboxId,
    ordinal,
    set_aside_at: setAsideAt,
    attributed_to: attributedTo,
  }))
  return `
  ordered_event AS (
    UPDATE inbox_event e
       SET state = CASE e.state WHEN 'CONFLICT' THEN e.state ELSE 'PARKED' END, outcome = 'ORDERED', operation_id = NULL,
           failures = 0, parkings = 0, due_at = ${building.one('timestamptz', instantParameter(now))}, processed_at = NULL,
           attributed_to = w.attributed_to
      FROM ${building.rows('w', columns, rows)}
     WHERE e.inbox_id = w.inbox_id AND e.ordinal = w.ordinal
       AND date_trunc('milliseconds', e.processed_at) = w.set_aside_at AND (SELECT yes FROM go)
  )`
}

/** A locked account in the reply; numbers as text, since JSON would round them. */
export interface AccountReply {
  readonly id: number
  readonly version: string
  readonly balance_cents: string
}

/** A locked control in the reply. */
export interface ControlReply {
  readonly name: ControlName
  readonly version: string
  readonly value: Document
}

/** `go`: the batch was written. Accounts and controls as they were when locked. */
export interface WriteReply {
  readonly go: boolean
  readonly now: number
  readonly accounts: AccountReply[] | null
  readonly controls: ControlReply[] | null
}

const ACCOUNTS_REPLY = `(SELECT json_agg(json_build_object('id', id, 'version', version::text, 'balance_cents', balance_cents::text))
          FROM locked_account)`
const CONTROLS_REPLY = `(SELECT json_agg(json_build_object('name', name, 'version', version::text, 'value', value)) FROM locked_control)`

/**
 * The expressions of the statement, in its order, each with its part of the statement's name. Accounts, operations,
 * controls and cases are locked in this order and by id, so that batches cannot deadlock.
 * @source rules#engine.5, rules#engine.8
 */
const EXPRESSIONS: readonly (readonly [string, (building: Building, draft: Draft) => string | undefined])[] = [
  ['A', lockAccounts],
  ['O', lockOperations],
  ['C', lockControls],
  ['K', lockCases],
  ['cap', boundAllowances],
  ['rcp', boundRecipients],
  ['', compare],
  ['', fence],
  ['new', insertOperations],
  ['up', updateOperations],
  ['mov', insertMoves],
  ['mv', insertMovements],
  ['ctl', updateControls],
  ['alw', takeAllowances],
  ['alr', returnAllowances],
  ['en', insertEntries],
  ['nt', insertNotifications],
  ['cas', openCases],
  ['chc', changeCases],
  ['au', insertAudits],
  ['cls', closeCases],
  ['st', insertCaseSteps],
  ['ev', orderEvents],
]

/** A batch ready to send. */
export interface Write {
  readonly batchId: string
  readonly statement: Statement<readonly unknown[], WriteReply>
  readonly values: readonly unknown[]
}

/** Builds the statement that writes a draft. Drafts with the same expressions share a prepared statement, named after them. */
export function writeOf(draft: Draft, ids: Ids): Write {
  const building = new Building(ids)
  // No separators: PostgreSQL truncates names after 63 characters.
  let name = 'engine.write.'
  const expressions: string[] = []
  for (const [part, expressionOf] of EXPRESSIONS) {
    const sql = expressionOf(building, draft)
    if (sql === undefined) continue
    name += part
    expressions.push(sql)
  }
  const text = `WITH ${expressions.join(',')}
SELECT go.yes AS go, clock_timestamp() AS now,
       ${building.hasLocked('locked_account') ? ACCOUNTS_REPLY : 'NULL::json'} AS accounts,
       ${building.hasLocked('locked_control') ? CONTROLS_REPLY : 'NULL::json'} AS controls
  FROM go`
  return { batchId: building.batchId, statement: statement(name, text), values: building.values }
}
