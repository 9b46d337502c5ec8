import type { receiveCashInEvent, receiveCashOutEvent } from '@pixgate/spec'
import type { Handler } from '../platform/http/handler.ts'
import type { InboxCommands } from './commands.ts'

/** The endpoints that the partner calls. */
export interface InboxHandlers {
  readonly receiveCashInEvent: Handler<typeof receiveCashInEvent>
  readonly receiveCashOutEvent: Handler<typeof receiveCashOutEvent>
}

/** Makes the handlers: stored, then answered; whatever is authentic is a 200. */
export function createInboxHandlers({ accept }: InboxCommands): InboxHandlers {
  return {
    receiveCashInEvent: async ({ context }) => {
      await accept('cash-in', context.rawBody)
      return { status: 200, body: { received: true } }
    },
    receiveCashOutEvent: async ({ context }) => {
      await accept('cash-out', context.rawBody)
      return { status: 200, body: { received: true } }
    },
  }
}
