import { randomBytes } from 'node:crypto'
import { type endpoints, limits, type OperatorRole, Refusal } from '@pixgate/spec'
import { insertAudit, type Operator, operatorOf } from '../audit/trail.ts'
import { type Mode, namedOperatorOf, SECRET_BYTES } from '../credentials/credentials.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256 } from '../platform/crypto.ts'
import { type Database, refusableTransaction } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import type { Roster } from './authenticate.ts'
import {
  displayOf,
  formatToken,
  insertOperator,
  listOperators,
  lockAdmins,
  markDeactivated,
  operatorPage,
} from './operators.ts'

export interface OperatorsDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly mode: Mode
  readonly roster: Roster
}

export interface NewOperator {
  readonly name: string
  readonly role: OperatorRole
  /** The operator who creates it; `null`: the administrative token. */
  readonly createdBy: string | null
}

/** A new operator; the token's text exists only here. */
export interface CreatedOperator {
  readonly id: string
  readonly token: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/**
 * Creates an operator, with an audit row. If the answer is lost, the operator remains with an unknown token; the caller
 * creates another and deactivates this one.
 * @throws DatabaseUnavailable · Refusal overloaded (503) the request has lapsed
 * @source rules#operators.1, rules#operators.2
 */
async function createOperator(
  { database, clock, ids, mode, roster }: OperatorsDependencies,
  { name, role, createdBy }: NewOperator,
  operator: Operator,
  live: LiveRequest,
): Promise<CreatedOperator> {
  const token = formatToken(mode, randomBytes(SECRET_BYTES))
  const display = displayOf(token)
  const id = ids.uuid()
  const createdAt = clock.now()
  await database.transaction(async (queries) => {
    refuseLapsed(live)
    await insertOperator(queries, { id, name, role, hash: sha256(token), display, createdAt, createdBy })
    await insertAudit(queries, {
      ...operator,
      id: ids.uuid(),
      at: createdAt,
      action: 'operator.created',
      subject: id,
      facts: { name, role, display },
    })
  })
  roster.clear()
  return { id, token, createdAt }
}

/**
 * Deactivates an operator for ever, with an audit row. Takes effect here at once, in other processes at their next
 * look-up.
 * @throws Refusal not_found (404) when it is unknown or already deactivated · last_admin (409) · overloaded (503) the
 * request has lapsed · DatabaseUnavailable
 * @source rules#operators.5
 */
async function deactivateOperator(
  { database, clock, ids, roster }: OperatorsDependencies,
  operatorId: string,
  operator: Operator,
  live: LiveRequest,
): Promise<void> {
  if (!isUuid(operatorId)) throw new Refusal('not_found')
  const id = operatorId.toLowerCase()
  const at = clock.now()
  await refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    const admins = await lockAdmins(queries)
    if (admins.length === 1 && admins.includes(id)) throw new Refusal('last_admin')
    const facts = await markDeactivated(queries, id, at)
    if (facts === undefined) throw new Refusal('not_found')
    await insertAudit(queries, {
      ...operator,
      id: ids.uuid(),
      at,
      action: 'operator.deactivated',
      subject: id,
      facts: { ...facts },
    })
  })
  roster.clear()
}

export type OperatorsHandlers = Handlers<
  Pick<typeof endpoints, 'createOperator' | 'listOperators' | 'deactivateOperator'>
>

export function createOperatorsHandlers(dependencies: OperatorsDependencies): OperatorsHandlers {
  return {
    createOperator: async ({ body: { name, role }, context }) => {
      const createdBy = namedOperatorOf(context.caller)
      const operator = { name, role, createdBy }
      const { id, token, createdAt } = await createOperator(dependencies, operator, operatorOf(context), context.live)
      return { status: 201, body: { id, name, role, token, createdAt: new Date(createdAt).toISOString() } }
    },
    listOperators: async ({ query: { cursor, limit = limits.pageLimitDefault } }) => {
      // One extra row reveals whether more exist.
      const operators = await listOperators(dependencies.database, cursor, limit + 1)
      return { status: 200, body: operatorPage(operators, limit) }
    },
    deactivateOperator: async ({ params, context }) => {
      await deactivateOperator(dependencies, params.id, operatorOf(context), context.live)
      return { status: 204 }
    },
  }
}
