import { type endpoints, OPERATOR_TOKEN_PATTERN, type OperatorRole } from '@pixgate/spec'
import type { Static } from 'typebox'
import { tokenKind, type Use } from '../credentials/credentials.ts'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'

/** Format of operators' tokens. @source rules#operators.2 */
export const {
  format: formatToken,
  modeOf,
  displayOf,
} = tokenKind(OPERATOR_TOKEN_PATTERN, { sandbox: 'pix_op_test_', production: 'pix_op_live_' })

/** Identity of the people behind decisions that need two. Pure. */

/** A key or operator was deactivated since the holders were read: read them again. */
export class HoldersChanged extends Error {}

/** Whether an operator may currently approve others' orders. */
export function isApprover({ role, isActive }: Person): boolean {
  return isActive && role === 'approver'
}

/**
 * Whether two operators are one person: a token is replaced by creating the person again under the same name.
 * @source rules#cash-out.approval.2
 */
export function isSamePerson(person: Person, id: string, people: readonly Person[]): boolean {
  return people.some((other) => other.id === id && foldedName(other.name) === foldedName(person.name))
}

/**
 * Whether an operator created `person`, directly or indirectly: a creator has seen the token. Says nothing about two
 * operators created by the same admin, who has seen both tokens: no row records whether they were kept.
 * @param id of the possible creator, under any of their tokens
 * @source rules#cases.41
 */
export function isMadeBy({ madeBy }: Person, id: string, people: readonly Person[]): boolean {
  if (madeBy === null) return false
  const maker = people.find((person) => person.id === madeBy)
  if (madeBy === id || maker === undefined) return madeBy === id
  return isSamePerson(maker, id, people) || isMadeBy(maker, id, people)
}

/**
 * A name without case, accents, punctuation and invisible characters, with compatible letters unified. The repeated case
 * conversions fold `ẞ` with `SS` and `İ` with `I`.
 */
function foldedName(name: string): string {
  const visible = name.normalize('NFKC').replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '')
  const folded = visible.toLowerCase().toUpperCase().toLowerCase().replaceAll('i\u0307', 'i')
  // Apostrophes, points, hyphens and spaces are too easily mistaken for each other, and so are đ and ð.
  return folded
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/ð/g, 'đ')
    .replace(/[\s'’.-]+/g, ' ')
    .trim()
}

/** A stored operator, without the token itself. */
export interface StoredOperator {
  readonly id: string
  readonly name: string
  readonly role: OperatorRole
  readonly hash: Buffer
  readonly display: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The operator who created it; `null`: the administrative token. */
  readonly createdBy: string | null
}

const insertOperatorStatement = statement<
  [id: string, name: string, role: string, hash: Buffer, display: string, createdBy: string | null, createdAt: string]
>(
  'operators.insert',
  `INSERT INTO operator (id, name, role, hash, display, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
)

export async function insertOperator(queries: Queries, operator: StoredOperator): Promise<void> {
  const { id, name, role, hash, display, createdBy, createdAt } = operator
  const parameters = [id, name, role, hash, display, createdBy, instantParameter(createdAt)] as const
  await queries.rows(insertOperatorStatement, [...parameters])
}

export type ActiveOperator = Pick<StoredOperator, 'id' | 'name' | 'role' | 'hash'>

const activeOperatorsStatement = statement<[], ActiveOperator>(
  'operators.active',
  'SELECT id, name, role, hash FROM operator WHERE deactivated_at IS NULL',
)

/** All active operators, a small number. */
export function activeOperators(queries: Queries): Promise<ActiveOperator[]> {
  return queries.rows(activeOperatorsStatement, [])
}

/** An operator as a person, active or not. */
export interface Person {
  readonly id: string
  readonly name: string
  readonly role: OperatorRole
  readonly isActive: boolean
  /** The operator who created them; `null`: the administrative token. */
  readonly madeBy: string | null
}

const everybodyStatement = statement<[], Person>(
  'operators.everybody',
  'SELECT id, name, role, deactivated_at IS NULL AS "isActive", created_by AS "madeBy" FROM operator',
)

/** All operators ever created, in their current state. */
export function everybody(queries: Queries): Promise<Person[]> {
  return queries.rows(everybodyStatement, [])
}

const holdActiveStatement = statement<[id: string], { id: string }>(
  'operators.hold_active',
  'SELECT id FROM operator WHERE id = $1 AND deactivated_at IS NULL FOR SHARE',
)

/** Locks an operator against deactivation until the transaction ends. @returns whether it is active */
export async function holdActive(queries: Queries, id: string): Promise<boolean> {
  return (await queries.rows(holdActiveStatement, [id])).length > 0
}

const holdersVersionStatement = statement<[], { version: bigint }>(
  'operators.holders_version',
  `SELECT version FROM control WHERE name = 'holders'`,
)

/** Number of deactivations of keys and operators; to be read before the holders. */
export async function holdersVersion(queries: Queries): Promise<bigint> {
  const [row] = await queries.rows(holdersVersionStatement, [])
  if (!row) throw new Error('the row of the control «holders» is missing')
  return row.version
}

export interface ListedOperator extends Omit<StoredOperator, 'hash'> {
  /** Epoch milliseconds. */
  readonly lastUsedAt: number | null
  readonly deactivatedAt: number | null
}

// Ids are UUIDv7, which sort by creation.
const listOperatorsStatement = statement<[before: string | null, limit: number], ListedOperator>(
  'operators.list',
  `SELECT id, name, role, display, created_at AS "createdAt", created_by AS "createdBy", last_used_at AS "lastUsedAt",
          deactivated_at AS "deactivatedAt"
     FROM operator
    WHERE $1::uuid IS NULL OR id < $1
    ORDER BY id DESC
    LIMIT $2`,
)

export function listOperators(queries: Queries, before: string | undefined, limit: number): Promise<ListedOperator[]> {
  return queries.rows(listOperatorsStatement, [before ?? null, limit])
}

const lockAdminsStatement = statement<[], { id: string }>(
  'operators.lockAdmins',
  "SELECT id FROM operator WHERE role = 'admin' AND deactivated_at IS NULL ORDER BY id FOR NO KEY UPDATE",
)

/** Locks the active admins until the transaction ends, so that two cannot deactivate each other. */
export async function lockAdmins(queries: Queries): Promise<readonly string[]> {
  return (await queries.rows(lockAdminsStatement, [])).map(({ id }) => id)
}

const deactivateOperatorStatement = statement<[id: string, at: string], Pick<StoredOperator, 'name' | 'role'>>(
  'operators.deactivate',
  'UPDATE operator SET deactivated_at = $2 WHERE id = $1 AND deactivated_at IS NULL RETURNING name, role',
)

/** Marks an operator as deactivated. @returns the operator, or `undefined` if there was no active one */
export async function markDeactivated(queries: Queries, id: string, nowMs: number) {
  const [operator] = await queries.rows(deactivateOperatorStatement, [id, instantParameter(nowMs)])
  return operator
}

// Rows locked by others are left for the next time, since waiting could deadlock.
const markUsedStatement = statement<[ids: readonly string[], at: readonly number[]]>(
  'operators.markUsed',
  `WITH used AS (SELECT * FROM unnest($1::uuid[], $2::timestamptz[]) AS u(id, at)),
        free AS (SELECT id FROM operator WHERE id = ANY($1) FOR NO KEY UPDATE SKIP LOCKED)
   UPDATE operator o SET last_used_at = greatest(o.last_used_at, u.at)
     FROM used u JOIN free USING (id)
    WHERE o.id = u.id`,
)

export async function markUsed(queries: Queries, uses: readonly Use[]): Promise<void> {
  await queries.rows(markUsedStatement, [uses.map(({ id }) => id), uses.map(({ usedAt }) => usedAt)])
}

type OperatorPage = Static<(typeof endpoints.listOperators)['responses'][200]['schema']>

/** The envelope of a page. @param operators one more than the limit if there are more */
export function operatorPage(operators: readonly ListedOperator[], limit: number): OperatorPage {
  const data = operators.slice(0, limit).map(operatorView)
  const hasMore = operators.length > limit
  return { data, pagination: { limit, hasMore, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null } }
}

function operatorView({ createdAt, lastUsedAt, deactivatedAt, ...operator }: ListedOperator) {
  return {
    ...operator,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: instantOf(lastUsedAt),
    deactivatedAt: instantOf(deactivatedAt),
  }
}

function instantOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
