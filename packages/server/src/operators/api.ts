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

/** What the commands work with. */
export interface OperatorsDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly mode: Mode
  readonly roster: Roster
}

/** Who is to operate the service. */
export interface NewOperator {
  readonly name: string
  readonly role: OperatorRole
  /** The operator who makes it; `null`: the administrative token. */
  readonly createdBy: string | null
}

/** An operator in the one moment in which the token exists as text. */
export interface CreatedOperator {
  readonly id: string
  readonly token: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/**
 * Makes an operator and tells the audit trail who asked for it, from where. Where the answer is lost, one stays behind whose
 * token nobody knows; the caller makes another, and deactivates that one.
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
 * Deactivates an operator for ever and tells the audit trail who asked for it, from where. The token stops working here at
 * once, in other processes when they next ask the database.
 * @throws Refusal not_found (404) where it is unknown or already deactivated · last_admin (409) · overloaded (503) the
 *   request has lapsed · DatabaseUnavailable
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

/** The endpoints of this module, each with its handler. */
export type OperatorsHandlers = Handlers<
  Pick<typeof endpoints, 'createOperator' | 'listOperators' | 'deactivateOperator'>
>

/** Binds the endpoints to commands and queries. */
export function createOperatorsHandlers(dependencies: OperatorsDependencies): OperatorsHandlers {
  return {
    createOperator: async ({ body: { name, role }, context }) => {
      const createdBy = namedOperatorOf(context.caller)
      const operator = { name, role, createdBy }
      const { id, token, createdAt } = await createOperator(dependencies, operator, operatorOf(context), context.live)
      return { status: 201, body: { id, name, role, token, createdAt: new Date(createdAt).toISOString() } }
    },
    listOperators: async ({ query: { cursor, limit = limits.pageLimitDefault } }) => {
      // One more than asked for tells whether there are more.
      const operators = await listOperators(dependencies.database, cursor, limit + 1)
      return { status: 200, body: operatorPage(operators, limit) }
    },
    deactivateOperator: async ({ params, context }) => {
      await deactivateOperator(dependencies, params.id, operatorOf(context), context.live)
      return { status: 204 }
    },
  }
}
