import type { endpoints } from '@pixgate/spec'
import type { Handlers } from '../../platform/http/handler.ts'
import { type GenerateDependencies, generateKey } from './commands.ts'

/** The endpoints of this module, each with its handler. */
export type ApiKeyHandlers = Handlers<Pick<typeof endpoints, 'generateApiKey'>>

/** Binds the endpoints to commands. */
export function createApiKeyHandlers(dependencies: GenerateDependencies): ApiKeyHandlers {
  return {
    generateApiKey: async ({ context }) => {
      const { apiKey, createdAt } = await generateKey(dependencies, {
        actor: context.caller.id,
        address: context.remoteAddress,
      })
      return { status: 201, body: { apiKey, createdAt: new Date(createdAt).toISOString() } }
    },
  }
}
