import { type endpoints, limits } from '@pixgate/spec'
import { operatorOf } from '../audit/operator.ts'
import { namedOperatorOf } from '../credentials/named-operator.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { type ApiKeyDependencies, deactivateAllKeys, deactivateKey, generateKey } from './commands.ts'
import { listKeys } from './store.ts'
import { keyPage } from './view.ts'

/** The endpoints of this module, each with its handler. */
export type ApiKeyHandlers = Handlers<
  Pick<typeof endpoints, 'generateApiKey' | 'listApiKeys' | 'deactivateApiKey' | 'deactivateAllApiKeys'>
>

/** Binds the endpoints to commands and queries. */
export function createApiKeyHandlers(dependencies: ApiKeyDependencies): ApiKeyHandlers {
  return {
    generateApiKey: async ({ body, context }) => {
      const request = { ...body, createdBy: namedOperatorOf(context.caller) }
      const { apiKey, createdAt } = await generateKey(dependencies, request, operatorOf(context), context.live)
      return { status: 201, body: { apiKey, createdAt: new Date(createdAt).toISOString() } }
    },
    listApiKeys: async ({ query: { cursor, limit = limits.pageLimitDefault } }) => {
      // One more than asked for tells whether there are more.
      const keys = await listKeys(dependencies.database, cursor, limit + 1)
      return { status: 200, body: keyPage(keys, limit) }
    },
    deactivateApiKey: async ({ params, context }) => {
      await deactivateKey(dependencies, params.id, operatorOf(context), context.live)
      return { status: 204 }
    },
    deactivateAllApiKeys: async ({ body: { reason }, context }) => {
      const deactivatedCount = await deactivateAllKeys(dependencies, reason, operatorOf(context), context.live)
      return { status: 200, body: { deactivatedCount } }
    },
  }
}
