import type { CaseStep, Document } from '../../engine/operation.ts'
import { instantParameter, type Queries, statement } from '../../platform/db/database.ts'
import type { DecidableCase } from '../decider.ts'

/** All SQL of deciding cases that is not the engine's. */

/** A case, as it is decided. */
export interface StoredCase extends DecidableCase {
  readonly operationId: string | null
  /** The most that it was ever told to be about, centavos; `null`: nobody told an amount. @source rules#desk.48 */
  readonly atStakeCents: bigint | null
  /** Epoch milliseconds. */
  readonly closedAt: number | null
  /** It grows with every change that a decision depends on. @source rules#engine.22 */
  readonly version: number
}

const CASE = `SELECT id, kind, reference, coalesce(facts ->> 'rule', '') AS rule, facts, amount_cents AS "atStakeCents", operation_id AS "operationId", closed_at AS "closedAt", version
     FROM "case" WHERE id = $1`

const selectCase = statement<[id: string], StoredCase>('desk.decided_case', CASE)

// The row is held, so that of two proposals one sees the other.
const lockCase = statement<[id: string], StoredCase>('desk.held_case', `${CASE} FOR NO KEY UPDATE`)

/** A case; `undefined` where there is none. */
export async function readStoredCase(queries: Queries, id: string): Promise<StoredCase | undefined> {
  return (await queries.rows(selectCase, [id]))[0]
}

/** The same, held until the transaction ends. */
export async function holdCase(queries: Queries, id: string): Promise<StoredCase | undefined> {
  return (await queries.rows(lockCase, [id]))[0]
}

const closeCaseStatement = statement<[id: string, at: string]>(
  'desk.close_case',
  'UPDATE "case" SET closed_at = $2 WHERE id = $1 AND closed_at IS NULL',
)

/** Closes a case of no operation that is open. */
export async function closeCase(queries: Queries, id: string, atMs: number): Promise<void> {
  await queries.rows(closeCaseStatement, [id, instantParameter(atMs)])
}

/** A step as it is kept. */
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
  'desk.steps',
  `SELECT * FROM (${STEP} WHERE case_id = $1 ORDER BY at DESC, id DESC LIMIT 500) s ORDER BY at, id`,
)

/** What operators have said of a case last, in its order. */
export function readSteps(queries: Queries, caseId: string): Promise<StoredStep[]> {
  return queries.rows(selectSteps, [caseId])
}

const selectAnswered = statement<[idempotencyKey: string, since: string], StoredStep>(
  'desk.answered',
  `${STEP} WHERE idempotency_key = $1 AND at > $2 ORDER BY at DESC LIMIT 1`,
)

/** What the same `Idempotency-Key` made since a time. */
export async function readAnswered(queries: Queries, key: string, sinceMs: number): Promise<StoredStep | undefined> {
  return (await queries.rows(selectAnswered, [key, instantParameter(sinceMs)]))[0]
}

const selectLooseVersion = statement<[], { version: bigint }>(
  'desk.loose_version',
  `SELECT version FROM control WHERE name = 'loose_cases'`,
)

/** How often cases of no operation were decided. */
export async function readLooseVersion(queries: Queries): Promise<bigint | undefined> {
  return (await queries.rows(selectLooseVersion, []))[0]?.version
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
  'desk.insert_step',
  `INSERT INTO case_step (id, case_id, step, proposal_id, operator_id, operator_name, content, case_version, amount_cents,
                          idempotency_key, body_hash, answer, at)
   VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10, $11, $12::jsonb, $13)
   ON CONFLICT DO NOTHING
   RETURNING id`,
)

/** Keeps a proposal, or the end of one. @returns whether it was kept: a proposal ends once, and a key makes one step */
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
