import { type Queries, statement } from '../platform/db/database.ts'
import type { JsonObject } from './own-part.ts'

/**
 * All SQL that looks for a person. Each reads its table from end to end, in a snapshot on a connection of its own: there is no
 * index by which somebody could be looked up, and nobody waits for it.
 */

/** What there is of an operation. */
export interface OperationRow {
  readonly id: string
  readonly kind: string
  readonly external_id: string
  readonly status: string
  readonly value_cents: string
  readonly transaction_id: string | null
  readonly end_to_end_id: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly erased_at: string | null
  readonly detail: JsonObject
  readonly facts: JsonObject
  readonly moves: readonly { readonly facts: JsonObject; readonly evidence: JsonObject | null }[]
  readonly cases: readonly { readonly facts: JsonObject }[]
  readonly notifications: readonly { readonly body: JsonObject | null }[]
}

/** A callback of the bank. */
export interface CallbackRow {
  readonly id: string
  readonly endpoint: string
  readonly received_at: string
  readonly erased_at: string | null
  /** The operations to which its events were applied. */
  readonly operation_ids: readonly string[]
  /** `null` where it is no JSON object. */
  readonly body: JsonObject | null
}

/** A case about no operation. */
export interface CaseRow {
  readonly id: string
  readonly kind: string
  readonly opened_at: string
  readonly closed_at: string | null
  readonly facts: JsonObject
}

/** What an operator said of a case. */
export interface CaseStepRow {
  readonly id: string
  readonly case_id: string
  readonly step: string
  readonly at: string
  readonly content: JsonObject
}

/** A row of the audit trail. */
export interface AuditTextRow {
  readonly id: string
  readonly at: string
  readonly action: string
  readonly subject: string
  readonly facts: JsonObject
}

const BODY_TEXT = `concat_ws(' ', encode(body, 'escape'), json_or_null(body)::text)`

const selectIds = statement<[pattern: string], { id: string }>(
  'subject.operation_ids',
  `WITH found AS (
     SELECT id FROM operation WHERE concat_ws(' ', external_id, detail::text, facts::text) ~* $1
      UNION
     SELECT operation_id FROM move WHERE concat_ws(' ', facts::text, evidence::text) ~* $1
      UNION
     SELECT operation_id FROM "case" WHERE facts::text ~* $1
      UNION
     SELECT c.operation_id FROM case_step s JOIN "case" c ON c.id = s.case_id WHERE s.content::text ~* $1
      UNION
     SELECT operation_id FROM notification WHERE ${BODY_TEXT} ~* $1
      UNION
     SELECT e.operation_id FROM inbox i JOIN inbox_event e ON e.inbox_id = i.id WHERE ${BODY_TEXT} ~* $1
   )
   SELECT id FROM found WHERE id IS NOT NULL
    UNION
   SELECT r.id FROM operation r JOIN found f ON r.detail ->> 'cashInId' = f.id::text WHERE r.kind = 'refund_in'`,
)

/** The operations in which an identifier stands, wherever it does, and the refunds of those. */
export async function operationIdsOf(queries: Queries, pattern: string): Promise<string[]> {
  return (await queries.rows(selectIds, [pattern])).map(({ id }) => id)
}

const selectOperations = statement<[ids: readonly string[]], OperationRow>(
  'subject.operations',
  `SELECT o.id, kind, external_id, status, value_cents::text, transaction_id, end_to_end_id, created_at, updated_at, erased_at,
          detail, facts,
          (SELECT coalesce(jsonb_agg(to_jsonb(m) - 'operation_id' - 'kind' - 'batch_id' ORDER BY version), '[]')
             FROM move m WHERE m.operation_id = o.id) AS moves,
          (SELECT coalesce(jsonb_agg(to_jsonb(c) - 'operation_id' ORDER BY opened_at, c.id), '[]')
             FROM "case" c WHERE c.operation_id = o.id) AS cases,
          (SELECT coalesce(jsonb_agg(jsonb_build_object(
                    'id', n.id, 'eventType', n.event_type, 'createdAt', n.created_at, 'erasedAt', n.erased_at,
                    'body', json_or_null(n.body), 'sentTo', ARRAY(
                      SELECT split_part(split_part(e.url, '/', 3), ':', 1) FROM delivery d
                        JOIN endpoint e ON e.id = d.endpoint_id
                       WHERE d.notification_id = n.id AND d.attempts > 0 ORDER BY 1))
                  ORDER BY n.created_at, n.id), '[]')
             FROM notification n WHERE n.operation_id = o.id) AS notifications
     FROM operation o WHERE id = ANY ($1::uuid[]) ORDER BY created_at, id`,
)

/** These operations with all that hangs on them, oldest first. */
export function operationsBy(queries: Queries, ids: readonly string[]): Promise<OperationRow[]> {
  return queries.rows(selectOperations, [ids])
}

const selectCallbacks = statement<[pattern: string, ids: readonly string[]], CallbackRow>(
  'subject.callbacks',
  `SELECT id, endpoint, received_at, erased_at,
          ARRAY(SELECT DISTINCT operation_id::text FROM inbox_event e
                 WHERE e.inbox_id = i.id AND operation_id IS NOT NULL ORDER BY 1) AS operation_ids,
          CASE WHEN jsonb_typeof(json_or_null(body)) = 'object' THEN json_or_null(body) END AS body
     FROM inbox i
    WHERE ${BODY_TEXT} ~* $1
       OR EXISTS (SELECT FROM inbox_event e WHERE e.inbox_id = i.id AND e.operation_id = ANY ($2::uuid[]))
    ORDER BY received_at, id`,
)

/** What the bank sent about these operations, or about whomever the identifier names, oldest first. */
export function callbacksOf(queries: Queries, pattern: string, ids: readonly string[]): Promise<CallbackRow[]> {
  return queries.rows(selectCallbacks, [pattern, ids])
}

const selectCases = statement<[pattern: string], CaseRow>(
  'subject.cases',
  `SELECT id, kind, opened_at, closed_at, facts FROM "case"
    WHERE operation_id IS NULL AND facts::text ~* $1 ORDER BY opened_at, id`,
)

/** Cases about no operation in which the identifier stands. */
export function casesOf(queries: Queries, pattern: string): Promise<CaseRow[]> {
  return queries.rows(selectCases, [pattern])
}

const selectCaseSteps = statement<[pattern: string], CaseStepRow>(
  'subject.case_steps',
  `SELECT id, case_id, step, at, content FROM case_step WHERE content::text ~* $1 ORDER BY at, id`,
)

/** What operators said of cases in which the identifier stands: in a reason, or as what the bank told them. */
export function caseStepsOf(queries: Queries, pattern: string): Promise<CaseStepRow[]> {
  return queries.rows(selectCaseSteps, [pattern])
}

const selectAudits = statement<[pattern: string], AuditTextRow>(
  'subject.audits',
  `SELECT id, at, action, subject, facts FROM audit WHERE concat_ws(' ', subject, facts::text) ~* $1 ORDER BY at, id`,
)

/** Rows of the audit trail in which the identifier stands: an operator wrote it into a reason. */
export function auditsOf(queries: Queries, pattern: string): Promise<AuditTextRow[]> {
  return queries.rows(selectAudits, [pattern])
}

const selectNow = statement<[], { now: string }>('subject.now', 'SELECT transaction_timestamp() AS now')

/** The database's time of the snapshot. */
export async function takenAt(queries: Queries): Promise<Date> {
  return new Date((await queries.rows(selectNow, []))[0]?.now ?? Number.NaN)
}
