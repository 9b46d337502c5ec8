import { type AccountCode, accounts, suspenseCases } from '@pixgate/spec'
import { instantParameter, type Statement, statement } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { AccountChange, Draft } from './draft.ts'
import type { ControlName, Document, Operation } from './operation.ts'

/**
 * The one statement through which money and status change: lock, compare, rebase, append.
 *
 * `ac` locks the accounts in id order, `oc` the operations after them, `cc` the controls last, so that no two batches
 * can wait for each other in a circle. `go` holds where every operation and control still has the version its decision
 * saw and every account can bear the batch; deltas commute, so two processes never conflict on an account as such.
 * Everything below writes only where `go` holds, first of all the batch's own id: where it was abandoned, because the
 * answer to an earlier sending was lost, the statement fails on it. Nothing reads a table except through the locked sets:
 * all parts of a statement share the snapshot from before the lock wait.
 *
 * Measured: appending at an expected version without the lock starves the busier of two processes (0.01 to 0.03 of its
 * speed); locking keeps 0.93 to 0.98 of it. Unsorted inserts deadlock, and each deadlock freezes the writer a second.
 * @source rules#engine.5, rules#engine.8, rules#engine.13
 */

/** What the end of a doubt does not close. @source rules#ledger.suspense */
const SUSPENSE_CASES = [...suspenseCases].map((kind) => `'${kind}'`).join(', ')

/** An operation's columns as a row tells them. */
export const OPERATION_COLUMNS = `
  id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash, idempotency_key,
  exclusive_key, expires_at, due_at, transaction_id, end_to_end_id, detail, facts, created_at, updated_at`

/** A row of `operation`. */
export interface OperationRow {
  readonly id: string
  readonly kind: Operation['kind']
  readonly external_id: string
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
}

/** A locked account, as the reply tells it: numbers in text, so that none is rounded. */
export interface AccountReply {
  readonly id: number
  readonly version: string
  readonly balance_cents: string
}

/** A locked control, as the reply tells it. */
export interface ControlReply {
  readonly name: ControlName
  readonly version: string
  readonly value: Document
}

/** The reply: its first columns are the same on each row; the rest is one operation that was not as decided. */
export type WriteReply = {
  readonly go: boolean
  readonly now: number
  readonly accounts: AccountReply[] | null
  readonly controls: ControlReply[] | null
} & (OperationRow | { readonly id: null })

/** Types whose values hold nothing that an array literal would have to quote. */
const UNQUOTED: ReadonlySet<string> = new Set(['uuid', 'smallint', 'integer', 'bigint', 'boolean', 'timestamptz'])

/** As the driver writes an array, without looking through each value for what must be escaped. */
function unquotedArray(values: readonly unknown[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

/** Numbers the parameters in the order they are asked for, and collects their values. */
class Parameters {
  readonly values: unknown[] = []

  /** One value. */
  one(type: string, value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }

  /** One array per column of a set of rows: `unnest($4::uuid[], $5::text[]) AS name (id, kind)`. */
  rows(name: string, columns: Readonly<Record<string, readonly [type: string, values: readonly unknown[]]>>): string {
    const arrays = Object.values(columns).map(([type, values]) =>
      this.one(`${type}[]`, UNQUOTED.has(type) ? unquotedArray(values) : values),
    )
    return `unnest(${arrays.join(', ')}) AS ${name} (${Object.keys(columns).join(', ')})`
  }
}

/**
 * Builds the statement for a batch. What a batch does not do is left out: an array of each column and a plan to write a
 * table cost something even where nothing is written. Batches that do the same have the same text, and its name says what.
 */
function build(draft: Draft, batchId: string, ids: Ids): { name: string; text: string; values: unknown[] } {
  const p = new Parameters()
  const changes = accountChanges(draft)
  const created = [...draft.createdOperations.values()].sort(byKindAndExternalId)
  const moved = [...draft.movedOperations.values()]
  const reads = [...draft.readVersions]
  const controls = [...draft.readControls]
  const movements = [...draft.movements.values()]
  const entries = changes.flatMap(({ id, change }) => runningEntries(id, change))
  const { now } = draft

  const locks = `
  wanted_account AS (
    SELECT * FROM ${p.rows('w', {
      id: ['smallint', changes.map(({ id }) => id)],
      version: ['bigint', changes.map(({ version }) => version)],
      exact: ['boolean', changes.map(({ change }) => change.exact)],
      floored: ['boolean', changes.map(({ code }) => accounts[code].bound === 'not negative')],
      lowest: ['bigint', changes.map(({ change }) => change.lowest)],
      delta: ['bigint', changes.map(({ change }) => change.delta)],
      added: ['bigint', changes.map(({ change }) => change.entries.length)],
    })}
  ),
  wanted_operation AS (
    SELECT * FROM ${p.rows('w', {
      id: ['uuid', reads.map(([id]) => id)],
      version: ['integer', reads.map(([, version]) => version)],
    })}
  ),
  wanted_control AS (
    SELECT * FROM ${p.rows('w', {
      name: ['text', controls],
      version: ['bigint', controls.map((name) => draft.controlVersion(name))],
      next: ['bigint', controls.map((name) => draft.versionOf(name))],
      changed: ['jsonb', controls.map((name) => jsonOrNull(draft.changedControls.get(name)?.value))],
    })}
  ),
  ac AS MATERIALIZED (
    SELECT id, version, balance_cents FROM account
     WHERE id IN (SELECT id FROM wanted_account) ORDER BY id FOR UPDATE
  ),
  oc AS MATERIALIZED (
    SELECT ${OPERATION_COLUMNS} FROM operation
     WHERE id IN (SELECT id FROM wanted_operation) AND (SELECT count(*) FROM ac) >= 0 ORDER BY id FOR UPDATE
  ),
  cc AS MATERIALIZED (
    SELECT name, version, value FROM control
     WHERE name IN (SELECT name FROM wanted_control) AND (SELECT count(*) FROM oc) >= 0 ORDER BY name FOR UPDATE
  ),
  stale AS (
    SELECT oc.* FROM oc JOIN wanted_operation w USING (id) WHERE oc.version <> w.version
  ),
  go AS (
    SELECT NOT EXISTS (SELECT FROM stale)
       AND (SELECT count(*) FROM oc) = (SELECT count(*) FROM wanted_operation)
       AND NOT EXISTS (SELECT FROM wanted_control w JOIN cc USING (name) WHERE cc.version <> w.version)
       AND NOT EXISTS (
             SELECT FROM wanted_account w JOIN ac USING (id)
              WHERE (w.exact AND ac.version <> w.version) OR (w.floored AND ac.balance_cents + w.lowest < 0)
           ) AS yes
  ),
  fence AS (
    INSERT INTO batch (id, outcome) SELECT ${p.one('uuid', batchId)}, 'committed' FROM go WHERE yes
  )`

  /** Parameters are numbered as they are asked for: only what is wanted may ask. */
  const writes: readonly Part[] = [
    {
      name: 'new',
      isWanted: created.length > 0,
      sql: () => `
  inserted_operation AS (
    INSERT INTO operation (${OPERATION_COLUMNS}, idempotency_day, idempotency_noon_day)
    SELECT * FROM ${p.rows('o', operationColumns(created))} WHERE (SELECT yes FROM go)
  )`,
    },
    {
      name: 'moved',
      isWanted: moved.length > 0,
      sql: () => `
  updated_operation AS (
    UPDATE operation o
       SET status = u.status, version = u.version, due_at = u.due_at, transaction_id = u.transaction_id,
           end_to_end_id = u.end_to_end_id, exclusive_key = u.exclusive_key, facts = u.facts,
           updated_at = u.updated_at
      FROM ${p.rows('u', {
        id: ['uuid', moved.map(({ id }) => id)],
        status: ['text', moved.map(({ status }) => status)],
        version: ['integer', moved.map(({ version }) => version)],
        due_at: ['timestamptz', moved.map(({ dueAt }) => instant(dueAt))],
        transaction_id: ['text', moved.map(({ transactionId }) => transactionId)],
        end_to_end_id: ['text', moved.map(({ endToEndId }) => endToEndId)],
        exclusive_key: ['text', moved.map(({ exclusiveKey }) => exclusiveKey)],
        facts: ['jsonb', moved.map(({ facts }) => factsText(facts))],
        updated_at: ['timestamptz', moved.map(({ updatedAt }) => instant(updatedAt))],
      })}
     WHERE o.id = u.id AND (SELECT yes FROM go)
  )`,
    },
    {
      name: 'move',
      isWanted: draft.moves.length > 0,
      sql: () => `
  inserted_move AS (
    INSERT INTO move (operation_id, version, kind, trigger, from_status, to_status, facts, evidence, batch_id, at)
    SELECT m.*, ${p.one('uuid', batchId)}, ${p.one('timestamptz', instant(now))}
      FROM ${p.rows('m', {
        operation_id: ['uuid', draft.moves.map(({ after }) => after.id)],
        version: ['integer', draft.moves.map(({ after }) => after.version)],
        kind: ['text', draft.moves.map(({ after }) => after.kind)],
        trigger: ['text', draft.moves.map(({ trigger }) => trigger)],
        from_status: ['text', draft.moves.map(({ before }) => before?.status ?? null)],
        to_status: ['text', draft.moves.map(({ after }) => after.status)],
        facts: ['jsonb', draft.moves.map(({ facts, before }) => factsText(facts, before))],
        evidence: ['jsonb', draft.moves.map(({ evidence }) => jsonOrNull(evidence))],
      })}
     WHERE (SELECT yes FROM go)
  )`,
    },
    {
      name: 'mvmt',
      isWanted: movements.length > 0,
      sql: () => `
  inserted_movement AS (
    INSERT INTO movement (direction, id, operation_id, value_cents)
    SELECT * FROM ${p.rows('m', {
      direction: ['text', movements.map(({ direction }) => direction)],
      id: ['text', movements.map(({ id }) => id)],
      operation_id: ['uuid', movements.map(({ operationId }) => operationId)],
      value_cents: ['bigint', movements.map(({ valueCents }) => valueCents)],
    })}
     WHERE (SELECT yes FROM go)
  )`,
    },
    {
      name: 'ctl',
      isWanted: draft.changedControls.size > 0,
      sql: () => `
  updated_control AS (
    UPDATE control c SET version = w.next, value = w.changed
      FROM cc JOIN wanted_control w USING (name)
     WHERE c.name = cc.name AND w.changed IS NOT NULL AND (SELECT yes FROM go)
  )`,
    },
    {
      name: 'entry',
      isWanted: entries.length > 0,
      sql: () => `
  updated_account AS (
    UPDATE account a
       SET version = ac.version + w.added, balance_cents = ac.balance_cents + w.delta
      FROM ac JOIN wanted_account w USING (id)
     WHERE a.id = ac.id AND w.added > 0 AND (SELECT yes FROM go)
  ),
  inserted_entry AS (
    INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference,
                       posting, shown, at)
    SELECT e.account_id, ac.version + e.ordinal, e.amount_cents, ac.balance_cents + e.running, e.operation_id,
           e.journal, e.reference, e.posting, e.shown, ${p.one('timestamptz', instant(now))}
      FROM ${p.rows('e', {
        account_id: ['smallint', entries.map(({ accountId }) => accountId)],
        ordinal: ['bigint', entries.map(({ ordinal }) => ordinal)],
        running: ['bigint', entries.map(({ running }) => running)],
        amount_cents: ['bigint', entries.map(({ amountCents }) => amountCents)],
        operation_id: ['uuid', entries.map(({ operationId }) => operationId)],
        journal: ['text', entries.map(({ journal }) => journal)],
        reference: ['text', entries.map(({ reference }) => reference)],
        posting: ['smallint', entries.map(({ posting }) => posting)],
        shown: ['text', entries.map(({ shown }) => shown)],
      })}
      JOIN ac ON ac.id = e.account_id
     WHERE (SELECT yes FROM go)
  )`,
    },
    {
      name: 'told',
      isWanted: draft.notifications.length > 0,
      sql: () => `
  inserted_notification AS (
    INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at)
    SELECT n.*, ${p.one('timestamptz', instant(now))}
      FROM ${p.rows('n', {
        id: ['uuid', draft.notifications.map(() => ids.uuid())],
        operation_id: ['uuid', draft.notifications.map(({ operationId }) => operationId)],
        event_type: ['text', draft.notifications.map(({ eventType }) => eventType)],
        status: ['text', draft.notifications.map(({ status }) => status)],
        reference: ['text', draft.notifications.map(({ reference }) => reference)],
        body: ['bytea', draft.notifications.map(({ body }) => body)],
      })}
     WHERE (SELECT yes FROM go)
  )`,
    },
    {
      name: 'case',
      isWanted: draft.cases.length > 0,
      sql: () => `
  inserted_case AS (
    INSERT INTO "case" (id, operation_id, kind, reference, facts, closed_at, opened_at)
    SELECT c.*, ${p.one('timestamptz', instant(now))}
      FROM ${p.rows('c', {
        id: ['uuid', draft.cases.map(() => ids.uuid())],
        operation_id: ['uuid', draft.cases.map(({ operationId }) => operationId)],
        kind: ['text', draft.cases.map(({ kind }) => kind)],
        reference: ['text', draft.cases.map(({ reference }) => reference)],
        facts: ['jsonb', draft.cases.map(({ facts }) => JSON.stringify(facts))],
        closed_at: ['timestamptz', draft.cases.map(({ isClosed }) => (isClosed ? instant(now) : null))],
      })}
     WHERE (SELECT yes FROM go)
    -- A doubt that is over may come back.
    ON CONFLICT ON CONSTRAINT case_once DO UPDATE SET closed_at = NULL
       WHERE "case".closed_at IS NOT NULL AND excluded.closed_at IS NULL
  )`,
    },
    {
      name: 'aud',
      isWanted: draft.audits.length > 0,
      sql: () => `
  inserted_audit AS (
    INSERT INTO audit (id, at, actor, action, subject, address, facts)
    SELECT a.id, ${p.one('timestamptz', instant(now))}, a.actor, a.action, a.subject, a.address, a.facts
      FROM ${p.rows('a', {
        id: ['uuid', draft.audits.map(() => ids.uuid())],
        actor: ['text', draft.audits.map(({ actor }) => actor)],
        action: ['text', draft.audits.map(({ action }) => action)],
        subject: ['text', draft.audits.map(({ subject }) => subject)],
        address: ['text', draft.audits.map(({ address }) => address)],
        facts: ['jsonb', draft.audits.map(({ facts }) => JSON.stringify(facts))],
      })}
     WHERE (SELECT yes FROM go)
  )`,
    },
    {
      name: 'closed',
      isWanted: draft.closedCaseOperations.size > 0,
      sql: () => `
  closed_case AS (
    UPDATE "case" SET closed_at = ${p.one('timestamptz', instant(now))}
     WHERE operation_id = ANY (${p.one('uuid[]', [...draft.closedCaseOperations])}) AND closed_at IS NULL
       AND kind NOT IN (${SUSPENSE_CASES}) AND (SELECT yes FROM go)
  )`,
    },
    {
      name: 'kind',
      isWanted: draft.closedCaseKinds.length > 0,
      sql: () => `
  closed_kind AS (
    UPDATE "case" c SET closed_at = ${p.one('timestamptz', instant(now))}
      FROM ${p.rows('k', {
        operation_id: ['uuid', draft.closedCaseKinds.map(({ operationId }) => operationId)],
        kind: ['text', draft.closedCaseKinds.map(({ kind }) => kind)],
        reference: ['text', draft.closedCaseKinds.map(({ reference }) => reference)],
      })}
     WHERE c.operation_id = k.operation_id AND c.kind = k.kind AND c.closed_at IS NULL AND (SELECT yes FROM go)
       AND (k.reference IS NULL OR c.reference = k.reference)
       AND (c.kind IN (${SUSPENSE_CASES}) OR NOT c.operation_id = ANY (${p.one('uuid[]', [...draft.closedCaseOperations])}))
  )`,
    },
  ]
  const wanted = writes.filter(({ isWanted }) => isWanted)
  const text = `WITH ${[locks, ...wanted.map(({ sql }) => sql())].join(',')}
SELECT go.yes AS go, clock_timestamp() AS now,
       (SELECT json_agg(json_build_object('id', id, 'version', version::text, 'balance_cents', balance_cents::text))
          FROM ac) AS accounts,
       (SELECT json_agg(json_build_object('name', name, 'version', version::text, 'value', value)) FROM cc) AS controls,
       stale.*
  FROM go LEFT JOIN stale ON true`
  return { name: ['engine.write', ...wanted.map(({ name }) => name)].join('.'), text, values: p.values }
}

/** A part of the statement that writes. */
interface Part {
  /** Short: PostgreSQL tells statements apart by the first 63 characters of their names. */
  readonly name: string
  readonly isWanted: boolean
  readonly sql: () => string
}

/** A batch as something to send. */
export interface Write {
  readonly batchId: string
  readonly statement: Statement<readonly unknown[], WriteReply>
  readonly values: readonly unknown[]
}

/** Turns a draft into the statement that writes it. */
export function writeOf(draft: Draft, ids: Ids): Write {
  const batchId = ids.uuid()
  const { name, text, values } = build(draft, batchId, ids)
  return { batchId, statement: statement(name, text), values }
}

/** What became of a batch, for good. */
export type BatchOutcome = 'committed' | 'abandoned'

/** Gives a batch up, unless it was committed. @source rules#engine.13 */
export const abandonBatch = statement<[batchId: string], { outcome: BatchOutcome }>(
  'engine.abandon_batch',
  'SELECT abandon_batch($1) AS outcome',
)

/** Account ids are the order of the ledger's table. */
const ACCOUNT_CODES = Object.keys(accounts) as AccountCode[]

/** The database's id of an account. */
export function accountId(code: AccountCode): number {
  return ACCOUNT_CODES.indexOf(code) + 1
}

/** The account with this id in the database. */
export function accountCode(id: number): AccountCode {
  const code = ACCOUNT_CODES[id - 1]
  if (code === undefined) throw new Error(`no account has the id ${id}`)
  return code
}

function accountChanges(draft: Draft) {
  return [...draft.accountChanges].map(([code, change]) => ({
    code,
    id: accountId(code),
    version: draft.accountVersion(code),
    change,
  }))
}

/** Each entry with its place behind the locked version and the running sum behind the locked balance. */
function runningEntries(id: number, { entries }: AccountChange) {
  let running = 0n
  return entries.map((entry, index) => {
    running += entry.amountCents
    return { ...entry, accountId: id, ordinal: index + 1, running }
  })
}

function operationColumns(operations: readonly Operation[]) {
  return {
    id: ['uuid', operations.map(({ id }) => id)],
    kind: ['text', operations.map(({ kind }) => kind)],
    external_id: ['text', operations.map(({ externalId }) => externalId)],
    status: ['text', operations.map(({ status }) => status)],
    version: ['integer', operations.map(({ version }) => version)],
    value_cents: ['bigint', operations.map(({ valueCents }) => valueCents)],
    fee_cents: ['bigint', operations.map(({ feeCents }) => feeCents)],
    correlation_id: ['text', operations.map(({ correlationId }) => correlationId)],
    body_hash: ['bytea', operations.map(({ bodyHash }) => bodyHash)],
    idempotency_key: ['text', operations.map(({ idempotencyKey }) => idempotencyKey)],
    exclusive_key: ['text', operations.map(({ exclusiveKey }) => exclusiveKey)],
    expires_at: ['timestamptz', operations.map(({ expiresAt }) => instant(expiresAt))],
    due_at: ['timestamptz', operations.map(({ dueAt }) => instant(dueAt))],
    transaction_id: ['text', operations.map(({ transactionId }) => transactionId)],
    end_to_end_id: ['text', operations.map(({ endToEndId }) => endToEndId)],
    detail: ['jsonb', operations.map(({ detail }) => JSON.stringify(detail))],
    facts: ['jsonb', operations.map(({ facts }) => factsText(facts))],
    created_at: ['timestamptz', operations.map(({ createdAt }) => instant(createdAt))],
    updated_at: ['timestamptz', operations.map(({ updatedAt }) => instant(updatedAt))],
    idempotency_day: ['integer', operations.map((operation) => idempotencyDay(operation, 0))],
    idempotency_noon_day: ['integer', operations.map((operation) => idempotencyDay(operation, DAY_MS / 2))],
  } as const
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

/**
 * What is not known is not written: an operation's row is written anew with each move.
 * @param before of a move: what it takes back is told
 * @source rules#engine.18
 */
function factsText(facts: Document, before?: Operation): string {
  const known: Record<string, Document[string]> = { ...facts }
  for (const name in facts) if (facts[name] === null && before?.facts[name] == null) known[name] = undefined
  return JSON.stringify(known)
}

function jsonOrNull(document: Document | undefined): string | null {
  return document === undefined ? null : JSON.stringify(document)
}

function instant(at: number | null): string | null {
  return at === null ? null : instantParameter(at)
}
