import { type endpoints, limits } from '@pixgate/spec'
import { operatorOf } from '../audit/operator.ts'
import { namedOperatorOf } from '../credentials/named-operator.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { createOperator, deactivateOperator, type OperatorsDependencies } from './commands.ts'
import { listOperators } from './store.ts'
import { operatorPage } from './view.ts'

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
