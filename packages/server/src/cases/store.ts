import type { CaseStep, Document } from '../engine/operation.ts'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { StoredCase } from './case.ts'

/** SQL of cases and their steps. Bookings are the engine's. */

/** A case with its operation. Amounts are centavos, instants epoch milliseconds. */
export interface CaseRow {
  readonly id: string
  readonly kind: string
  readonly reference: string
  /** Highest amount ever reported; `null`: none. @source rules#cases.48 */
  readonly amountCents: bigint | null
  readonly openedAt: number
  readonly closedAt: number | null
  readonly operationId: string | null
  /** `null`, like the following fields, for a case without an operation. */
  readonly operationKind: string | null
  readonly status: string | null
  readonly externalId: string | null
}

/** `null` fields do not filter. */
export interface CaseFilter {
  readonly isOpen: boolean
  readonly kind: string | null
  readonly operationId: string | null
  readonly openedFrom: number | null
  readonly openedBefore: number | null
  readonly minCents: number | null
  readonly maxCents: number | null
  readonly after: string | null
  readonly limit: number
}

const CASE = `c.id, c.kind, c.reference, c.amount_cents AS "amountCents", c.opened_at AS "openedAt", c.closed_at AS "closedAt",
          c.operation_id AS "operationId", o.kind AS "operationKind", o.status, o.external_id AS "externalId"
     FROM "case" c LEFT JOIN operation o ON o.id = c.operation_id`

type ListParameters = [
  kind: string | null,
  operationId: string | null,
  openedFrom: string | null,
  openedBefore: string | null,
  minCents: string | null,
  maxCents: string | null,
  after: string | null,
  limit: number,
]

const NARROWED = `($1::text IS NULL OR c.kind = $1) AND ($2::uuid IS NULL OR c.operation_id = $2)
      AND ($3::timestamptz IS NULL OR c.opened_at >= $3) AND ($4::timestamptz IS NULL OR c.opened_at < $4)
      AND ($5::bigint IS NULL OR c.amount_cents >= $5) AND ($6::bigint IS NULL OR c.amount_cents <= $6)`

/** Uses the index `case_list_open`, or that of the kind. */
const listOpen = statement<ListParameters, CaseRow>(
  'cases.open_cases',
  `SELECT ${CASE}
    WHERE c.closed_at IS NULL AND ${NARROWED}
      AND ($7::uuid IS NULL OR (c.opened_at, c.id) > (SELECT a.opened_at, a.id FROM "case" a WHERE a.id = $7))
    ORDER BY c.opened_at, c.id LIMIT $8`,
)

/** Uses the index `case_list_closed`, or that of the kind. Empty if the cursor's case is open again. */
const listClosed = statement<ListParameters, CaseRow>(
  'cases.closed_cases',
  `SELECT ${CASE}
    WHERE c.closed_at IS NOT NULL AND ${NARROWED}
      AND ($7::uuid IS NULL OR (c.closed_at, c.id) < (SELECT a.closed_at, a.id FROM "case" a WHERE a.id = $7))
    ORDER BY c.closed_at DESC, c.id DESC LIMIT $8`,
)

/** Open cases oldest first, or closed cases latest first. @source rules#cases.30, rules#cases.31 */
export function listCases(queries: Queries, filter: CaseFilter): Promise<CaseRow[]> {
  const { isOpen, kind, operationId, openedFrom, openedBefore, minCents, maxCents, after, limit } = filter
  return queries.rows(isOpen ? listOpen : listClosed, [
    kind,
    operationId,
    openedFrom === null ? null : instantParameter(openedFrom),
    openedBefore === null ? null : instantParameter(openedBefore),
    minCents === null ? null : String(minCents),
    maxCents === null ? null : String(maxCents),
    after,
    limit,
  ])
}

/** Limit per list of a timeline. @source rules#cases.33 */
export const SHOWN_MAX = 500

/** A case with everything known about its operation, in one snapshot. */
export interface WholeCase extends CaseRow, Pick<StoredCase, 'facts' | 'rule' | 'version'>, OperationHistory {}

/** Request and history of an operation; `null` fields and empty lists of a case without one. */
export interface OperationHistory {
  readonly operationId: string | null
  readonly operationKind: string | null
  readonly valueCents: bigint | null
  readonly feeCents: bigint | null
  readonly correlationId: string | null
  readonly detail: object | null
  readonly madeBy: { readonly caller?: string; readonly address?: string } | null
  readonly createdAt: number | null
  readonly moves: readonly MoveRow[]
  readonly events: readonly EventRow[]
  readonly entries: readonly EntryRow[]
  readonly notifications: readonly NotificationRow[]
  readonly others: readonly OtherCase[]
}

/** Instants are text, as in JSON. */
export interface MoveRow {
  readonly version: number
  readonly trigger: string
  readonly from: string | null
  readonly to: string
  readonly facts: object
  readonly evidence: object | null
  readonly at: string
}

/** `body` is Base64. */
export interface EventRow {
  readonly id: string
  readonly ordinal: number
  readonly endpoint: string
  readonly state: string
  readonly outcome: string | null
  readonly isProven: boolean
  readonly body: string
  readonly receivedAt: string
}

export interface EntryRow {
  readonly account: string
  readonly journal: string
  readonly reference: string
  readonly amountCents: number
  readonly balanceAfterCents: number
  readonly at: string
}

export interface NotificationRow {
  readonly id: string
  readonly eventType: string
  readonly status: string
  readonly createdAt: string
  readonly deliveries: readonly {
    readonly url: string
    readonly state: string
    readonly attempts: number
    readonly lastOutcome: string | null
    readonly finishedAt: string | null
  }[]
}

export interface OtherCase extends Omit<CaseRow, 'amountCents' | 'openedAt' | 'closedAt'> {
  readonly amountCents: number | null
  readonly openedAt: string
  readonly closedAt: string | null
}

/** JSON list with one row more than is shown. */
function some(rows: string): string {
  return `(SELECT coalesce(json_agg(to_json(r)), '[]') FROM (${rows} LIMIT ${SHOWN_MAX + 1}) r)`
}

const MOVES = `SELECT m.version, m.trigger, m.from_status AS "from", m.to_status AS "to", m.facts, m.evidence, m.at
       FROM move m WHERE m.operation_id = o.id ORDER BY m.version`

const EVENTS = `SELECT i.id, e.ordinal, i.endpoint, e.state, e.outcome, i.is_proven AS "isProven",
            translate(encode(i.body, 'base64'), E'\\n', '') AS body, i.received_at AS "receivedAt"
       FROM inbox_event e JOIN inbox i ON i.id = e.inbox_id
      WHERE e.operation_id = o.id ORDER BY i.received_at, i.id, e.ordinal`

const ENTRIES = `SELECT a.code AS account, n.journal, n.reference, n.amount_cents AS "amountCents",
            n.balance_after_cents AS "balanceAfterCents", n.at
       FROM entry n JOIN account a ON a.id = n.account_id
      WHERE n.operation_id = o.id ORDER BY n.at, n.journal, n.reference, n.posting`

const NOTIFICATIONS = `SELECT n.id, n.event_type AS "eventType", n.status, n.created_at AS "createdAt",
            (SELECT coalesce(json_agg(json_build_object(
                      'url', e.url, 'state', d.state, 'attempts', d.attempts, 'lastOutcome', d.last_outcome,
                      'finishedAt', d.finished_at) ORDER BY d.created_at, d.id), '[]')
               FROM delivery d JOIN endpoint e ON e.id = d.endpoint_id
              WHERE d.notification_id = n.id) AS deliveries
       FROM notification n WHERE n.operation_id = o.id ORDER BY n.created_at, n.id`

const CASES = `SELECT x.id, x.kind, x.reference, x.amount_cents AS "amountCents", x.opened_at AS "openedAt",
            x.closed_at AS "closedAt", x.operation_id AS "operationId", o.kind AS "operationKind", o.status,
            o.external_id AS "externalId"
       FROM "case" x WHERE x.operation_id = o.id`

const HISTORY = `o.value_cents AS "valueCents", o.fee_cents AS "feeCents", o.correlation_id AS "correlationId", o.detail,
          o.facts -> 'madeBy' AS "madeBy", o.created_at AS "createdAt",
          ${some(MOVES)} AS moves, ${some(EVENTS)} AS events, ${some(ENTRIES)} AS entries,
          ${some(NOTIFICATIONS)} AS notifications`

const selectWhole = statement<[id: string], WholeCase>(
  'cases.case',
  `SELECT c.facts, coalesce(c.facts ->> 'rule', '') AS rule, c.version, ${HISTORY},
          ${some(`${CASES} AND x.id <> c.id ORDER BY x.opened_at, x.id`)} AS others, ${CASE}
    WHERE c.id = $1`,
)

const selectHistory = statement<[operationId: string], OperationHistory>(
  'cases.operation',
  `SELECT o.id AS "operationId", o.kind AS "operationKind", ${HISTORY},
          ${some(`${CASES} ORDER BY x.closed_at IS NOT NULL, x.opened_at, x.id`)} AS others
     FROM operation o WHERE o.id = $1`,
)

/** History of an operation with all its cases, the open ones first. @source rules#console.7 */
export async function readHistory(queries: Queries, operationId: string): Promise<OperationHistory | undefined> {
  return (await queries.rows(selectHistory, [operationId]))[0]
}

/** @source rules#cases.32 */
export async function readCase(queries: Queries, id: string): Promise<WholeCase | undefined> {
  return (await queries.rows(selectWhole, [id]))[0]
}

const STORED = `SELECT id, kind, reference, coalesce(facts ->> 'rule', '') AS rule, facts, amount_cents AS "amountCents",
          operation_id AS "operationId", closed_at AS "closedAt", version
     FROM "case" WHERE id = $1`

const selectCase = statement<[id: string], StoredCase>('cases.stored', STORED)

// Locks the row, so that concurrent proposals see each other.
const lockCaseStatement = statement<[id: string], StoredCase>('cases.held', `${STORED} FOR NO KEY UPDATE`)

export async function readStoredCase(queries: Queries, id: string): Promise<StoredCase | undefined> {
  return (await queries.rows(selectCase, [id]))[0]
}

export async function lockCase(queries: Queries, id: string): Promise<StoredCase | undefined> {
  return (await queries.rows(lockCaseStatement, [id]))[0]
}

const closeCaseStatement = statement<[id: string, at: string]>(
  'cases.close_case',
  'UPDATE "case" SET closed_at = $2 WHERE id = $1 AND closed_at IS NULL',
)

export async function closeCase(queries: Queries, id: string, atMs: number): Promise<void> {
  await queries.rows(closeCaseStatement, [id, instantParameter(atMs)])
}

export interface StoredStep extends Omit<CaseStep, 'step' | 'idempotencyKey'> {
  readonly step: 'decided' | 'proposed' | 'approved' | 'refused' | 'noted'
  /** Epoch milliseconds. */
  readonly at: number
}

const STEP = `SELECT id, case_id AS "caseId", step, proposal_id AS "proposalId", operator_id AS "operatorId",
          operator_name AS "operatorName", content, case_version AS "caseVersion", amount_cents AS "amountCents",
          body_hash AS "bodyHash", answer, at
     FROM case_step`

const selectSteps = statement<[caseId: string], StoredStep>(
  'cases.steps',
  // Notes last, as every operator may add many: they must not hide a proposal.
  `SELECT * FROM (${STEP} WHERE case_id = $1 ORDER BY step = 'noted', at DESC, id DESC LIMIT 500) s ORDER BY at, id`,
)

/** The latest steps, in order. */
export function readSteps(queries: Queries, caseId: string): Promise<StoredStep[]> {
  return queries.rows(selectSteps, [caseId])
}

const selectAnswered = statement<[idempotencyKey: string, since: string], StoredStep>(
  'cases.answered',
  `${STEP} WHERE idempotency_key = $1 AND at > $2 ORDER BY at DESC LIMIT 1`,
)

export async function readAnswered(queries: Queries, key: string, sinceMs: number): Promise<StoredStep | undefined> {
  return (await queries.rows(selectAnswered, [key, instantParameter(sinceMs)]))[0]
}

const insertStepStatement = statement<
  [
    id: string,
    caseId: string,
    step: string,
    proposalId: string | null,
    operatorId: string,
    operatorName: string | null,
    content: string,
    caseVersion: string,
    amountCents: string,
    idempotencyKey: string | null,
    bodyHash: Buffer,
    answer: string,
    at: string,
  ],
  { id: string }
>(
  'cases.insert_step',
  `INSERT INTO case_step (id, case_id, step, proposal_id, operator_id, operator_name, content, case_version, amount_cents,
                          idempotency_key, body_hash, answer, at)
   VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10, $11, $12::jsonb, $13)
   ON CONFLICT DO NOTHING
   RETURNING id`,
)

/** Inserts a step. @returns false if the proposal is already ended, or the key is used */
export async function insertStep(
  queries: Queries,
  step: StoredStep & { readonly idempotencyKey: string | null },
): Promise<boolean> {
  const json = (document: Document) => JSON.stringify(document)
  const rows = await queries.rows(insertStepStatement, [
    step.id,
    step.caseId,
    step.step,
    step.proposalId,
    step.operatorId,
    step.operatorName,
    json(step.content),
    step.caseVersion,
    String(step.amountCents),
    step.idempotencyKey,
    step.bodyHash,
    json(step.answer),
    instantParameter(step.at),
  ])
  return rows.length === 1
}
