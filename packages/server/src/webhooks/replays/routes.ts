import { type endpoints, Refusal } from '@pixgate/spec'
import { operatorOf } from '../../audit/operator.ts'
import { hashOf, identityOf } from '../../operations/requests.ts'
import type { Handlers, RequestContext } from '../../platform/http/handler.ts'
import { instantOf } from '../../platform/http/instant.ts'
import { cancel } from './cancel.ts'
import { type Ordered, type ReplayDependencies, type ReplayRequest, replayMany, replayOne } from './commands.ts'

/** The endpoints that send again, and the one that calls it off. */
export type ReplayHandlers = Handlers<
  Pick<typeof endpoints, 'replayWebhookDelivery' | 'replayWebhook' | 'cancelWebhookReplay'>
>

/** Makes the handlers. */
export function createReplayHandlers(needs: ReplayDependencies): ReplayHandlers {
  return {
    replayWebhookDelivery: async ({ params, body: { dryRun = false }, context }) => {
      const request = requestOf('POST /webhook-delivery/replay', context, dryRun, { id: params.id })
      return answerOf(await replayOne(needs, params.id, request))
    },
    replayWebhook: async ({ params, body: { kind, since, until, dryRun = false }, context }) => {
      const span = { subscriptionId: params.webhook_id, ...spanOf(since, until) }
      const request = requestOf('POST /webhook/replay', context, dryRun, { kind, ...span })
      return answerOf(await replayMany(needs, kind, span, request))
    },
    cancelWebhookReplay: async ({ params, context }) => {
      const { id, subscriptionId, kind, cancelled } = await cancel(needs, params.id, operatorOf(context), context.live)
      return { status: 200, body: { replayId: id, webhookId: subscriptionId, kind, cancelled } }
    },
  }
}

/** @throws Refusal validation_error (400) where it ends before it begins */
function spanOf(from: string, to: string | undefined) {
  const [since, until] = [instantOf(from), to === undefined ? null : instantOf(to)]
  if (until === null || until >= since) return { since, until }
  const message = 'until must not be before since'
  throw new Refusal('validation_error', { message, fields: [{ field: 'until', code: 'out_of_range', message }] })
}

/** @param scope of the `Idempotency-Key` */
function requestOf(scope: string, context: RequestContext, isDryRun: boolean, content: object): ReplayRequest {
  const { idempotencyKey } = identityOf(scope, context)
  return { isDryRun, operator: operatorOf(context), live: context.live, idempotencyKey, bodyHash: hashOf(content) }
}

function answerOf({ replay, isDryRun, isReplayed }: Ordered) {
  const { id, subscriptionId: webhookId, kind, deliveries, hasMore, lastDueAt } = replay
  const body = {
    replayId: isDryRun ? null : id,
    ...{ webhookId, kind, dryRun: isDryRun, deliveries, hasMore },
    lastDueAt: lastDueAt === null ? null : new Date(lastDueAt).toISOString(),
  }
  if (isDryRun) return { status: 200, body } as const
  return { status: 202, body, headers: isReplayed ? { 'idempotent-replayed': 'true' } : {} } as const
}
