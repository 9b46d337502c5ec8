import type { Inbound } from '../banks/inbound.ts'
import type { BoundEndpoint } from '../platform/http/endpoint-route.ts'
import { isProven } from './authenticate.ts'
import type { InboxCommands } from './commands.ts'

/** Binds the endpoints that the bank calls: stored, then answered; whatever was let in is a 200. */
export function createInboxRoutes({ routes }: Pick<Inbound, 'routes'>, { accept }: InboxCommands): BoundEndpoint[] {
  return routes.map(({ name, endpoint, acknowledgement }) => ({
    endpoint,
    handle: async ({ context }) => {
      await accept({ endpoint: name, body: context.rawBody, isProven: isProven(context.caller) })
      return acknowledgement
    },
  }))
}
