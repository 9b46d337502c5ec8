import type { OperatorRole } from '@pixgate/spec'
import { type Queries, statement } from '../platform/db/database.ts'
import { instantOf, type ListedOperator } from './credentials.ts'

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
export function isCreatedBy({ madeBy }: Person, id: string, people: readonly Person[]): boolean {
  if (madeBy === null) return false
  const maker = people.find((person) => person.id === madeBy)
  if (madeBy === id || maker === undefined) return madeBy === id
  return isSamePerson(maker, id, people) || isCreatedBy(maker, id, people)
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

/** An operator as a person, active or not. */
export interface Person {
  readonly id: string
  readonly name: string
  readonly role: OperatorRole
  readonly isActive: boolean
  /** The operator who created them; `null`: the administrative token. */
  readonly madeBy: string | null
}

const allOperatorsStatement = statement<[], Person>(
  'access.all_operators',
  `SELECT id, name, role, deactivated_at IS NULL AS "isActive", created_by AS "madeBy" FROM credential
    WHERE kind = 'operator'`,
)

/** All operators ever created, in their current state. */
export function allOperators(queries: Queries): Promise<Person[]> {
  return queries.rows(allOperatorsStatement, [])
}

const lockActiveOperatorStatement = statement<[id: string], { id: string }>(
  'access.lock_active_operator',
  "SELECT id FROM credential WHERE kind = 'operator' AND id = $1 AND deactivated_at IS NULL FOR SHARE",
)

/** Locks an operator against deactivation until the transaction ends. @returns whether it is active */
export async function lockActiveOperator(queries: Queries, id: string): Promise<boolean> {
  return (await queries.rows(lockActiveOperatorStatement, [id])).length > 0
}

const deactivationCountStatement = statement<[], { version: bigint }>(
  'access.deactivation_count',
  `SELECT version FROM control WHERE name = 'holders'`,
)

/**
 * Number of deactivations of keys and operators. Read it before the list: if it has changed at the commit, the list is
 * stale.
 */
export async function deactivationCount(queries: Queries): Promise<bigint> {
  const [row] = await queries.rows(deactivationCountStatement, [])
  if (!row) throw new Error('the row of the control «holders» is missing')
  return row.version
}

const lockAdminsStatement = statement<[], { id: string }>(
  'access.lock_admins',
  "SELECT id FROM credential WHERE role = 'admin' AND deactivated_at IS NULL ORDER BY id FOR NO KEY UPDATE",
)

/** Locks the active admins until the transaction ends, so that two cannot deactivate each other. */
export async function lockAdmins(queries: Queries): Promise<readonly string[]> {
  return (await queries.rows(lockAdminsStatement, [])).map(({ id }) => id)
}

const lockWithoutTokenStatement = statement<[], { id: string; name: string; role: OperatorRole }>(
  'access.lock_without_token',
  "SELECT id, name, role FROM credential WHERE kind = 'operator' AND hash IS NULL AND deactivated_at IS NULL FOR SHARE",
)

/** Locks the active operators without a token until the transaction ends. */
export function lockWithoutToken(queries: Queries) {
  return queries.rows(lockWithoutTokenStatement, [])
}

const hasAdminStatement = statement<[], { hasAdmin: boolean }>(
  'access.has_admin',
  `SELECT EXISTS (SELECT FROM credential WHERE role = 'admin' AND deactivated_at IS NULL AND hash IS NOT NULL) AS "hasAdmin"`,
)

/** Whether a named admin with a token is active. @throws DatabaseUnavailable */
export async function hasAdmin(queries: Queries): Promise<boolean> {
  return (await queries.rows(hasAdminStatement, []))[0]?.hasAdmin ?? false
}

export function operatorView({
  id,
  name,
  role,
  display,
  createdAt,
  createdBy,
  lastUsedAt,
  deactivatedAt,
}: ListedOperator) {
  return {
    ...{ id, name, role, display, createdBy },
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: instantOf(lastUsedAt),
    deactivatedAt: instantOf(deactivatedAt),
  }
}
