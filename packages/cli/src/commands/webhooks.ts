import { setTimeout as sleep } from 'node:timers/promises'
import type { EventType, Pixgate, WebhookDeliverySummary } from '@pixgate/sdk'
import type { PixgateOperator } from '@pixgate/sdk/operator'
import { type Argument, type Command, type Context, LIMIT, type Option } from '../command.ts'
import { Failure } from '../failure.ts'
import { eventType } from '../feed.ts'
import { safeText } from '../output.ts'
import { firstOf, instantOf } from '../reading.ts'

const ENDPOINT: Argument = { name: 'ID', says: 'id of the endpoint' }
const SINCE: Option = { kind: 'text', value: 'TIME', says: 'such as 1h, 2d or an instant', isRequired: true }
const POLL_MS = 1_000

/** Of an API key with the scope webhook, or of an operator: both have these methods. */
async function either(context: Context): Promise<Pick<Pixgate | PixgateOperator, 'webhooks' | 'deliveries'>> {
  return context.settings.apiKey ? context.merchant() : context.operator()
}

const endpointCommands: readonly Command[] = [
  {
    name: 'webhooks list',
    says: 'list endpoints',
    examples: ['pixgate webhooks list --json'],
    run: async (_, context) => {
      const { data } = await (await either(context)).webhooks.list()
      context.out.show(data, ['webhook_id', 'url', 'active', 'events'])
    },
  },
  {
    name: 'webhooks test',
    says: 'send a test event to an endpoint, and say how it answered',
    arguments: [ENDPOINT],
    examples: ['pixgate webhooks test $ENDPOINT'],
    run: async (input, context) => {
      const result = await (await either(context)).webhooks.test(input.word(0))
      context.out.show(result, ['outcome', 'explanation', 'statusCode', 'answer'])
      if (result.outcome !== 'delivered')
        throw new Failure('the endpoint did not take the event', { exit: 'refused', code: result.outcome })
    },
  },
  ...(['pause', 'resume'] as const).map(
    (act): Command => ({
      name: `webhooks ${act}`,
      says: act === 'pause' ? 'hold the deliveries of an endpoint' : 'send what was held, oldest first',
      arguments: [ENDPOINT],
      examples: [`pixgate webhooks ${act} $ENDPOINT --json`],
      run: async (input, context) => {
        const endpoint = await (await either(context)).webhooks[act](input.word(0))
        context.out.show(endpoint, ['webhook_id', 'url', 'delivery.state', 'delivery.reason', 'delivery.pending'])
      },
    }),
  ),
  {
    name: 'webhooks recover',
    says: 'send an endpoint again what it has not taken since a time',
    arguments: [ENDPOINT],
    options: { since: SINCE },
    examples: ['pixgate webhooks recover $ENDPOINT --since 1h'],
    run: async (input, context) => {
      const since = instantOf(input.needed('since'), 'since')
      context.out.show(await (await either(context)).webhooks.recover(input.word(0), { since }))
    },
  },
]

const DELIVERY = ['id', 'state', 'eventType', 'operationId', 'attemptCount', 'nextAttemptAt'] as const

const deliveryCommands: readonly Command[] = [
  {
    name: 'deliveries tail',
    says: 'print deliveries as they are attempted; first those that there are',
    options: {
      endpoint: { kind: 'text', value: 'ID', says: 'only of this endpoint' },
      state: { kind: 'text', value: 'STATE', says: 'only PENDING, DELIVERED, FAILED or CANCELLED' },
      type: { kind: 'text', value: 'TYPE', says: 'only of this type' },
      until: { kind: 'text', value: 'N', says: 'end after so many lines' },
      ...LIMIT,
    },
    examples: ['pixgate deliveries tail --until 1', 'pixgate deliveries tail --until 1 --json'],
    run: async (input, context) => {
      const { deliveries } = await either(context)
      const query = {
        webhook_id: input.text('endpoint'),
        state: input.text('state') as WebhookDeliverySummary['state'],
        event_type: eventType(input.text('type')) as EventType,
        limit: 100,
      }
      const seen = new Map<string, string>()
      let left = input.number('until', Number.POSITIVE_INFINITY)
      for (let count = input.limit; !context.signal.aborted; count = 100) {
        for (const delivery of (await firstOf(deliveries.list(query), count)).reverse()) {
          const { id, state, attemptCount } = delivery
          const now = `${state} ${attemptCount}`
          if (seen.get(id) === now) continue
          seen.set(id, now)
          context.out.item(delivery, safeText(DELIVERY.map((field) => delivery[field] ?? '–').join('  ')))
          left -= 1
          if (left <= 0) return
        }
        await sleep(POLL_MS, undefined, { signal: context.signal }).catch(() => undefined)
      }
    },
  },
  {
    name: 'deliveries get',
    says: 'read a delivery with its attempts',
    arguments: [{ name: 'ID', says: 'id of the delivery' }],
    examples: ['pixgate deliveries get $DELIVERY --json'],
    run: async (input, context) => {
      const { attempts, ...delivery } = await (await either(context)).deliveries.get(input.word(0))
      if (context.out.isJson) return context.out.show({ ...delivery, attempts })
      context.out.show(delivery)
      context.out.show(attempts, ['attempt', 'startedAt', 'outcome', 'statusCode', 'explanation'])
    },
  },
  {
    name: 'deliveries resend',
    says: 'send a delivery again now: the same bytes, the same webhook-id',
    arguments: [{ name: 'ID', says: 'id of the delivery' }],
    examples: ['pixgate deliveries resend $DELIVERY'],
    run: async (input, context) =>
      context.out.show(await (await either(context)).deliveries.resend(input.word(0)), DELIVERY),
  },
]

export const webhookCommands: readonly Command[] = [...endpointCommands, ...deliveryCommands]
