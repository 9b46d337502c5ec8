import { limits, Refusal } from '@pixgate/spec'
import type { Dispatcher } from 'undici'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import { post } from '../platform/http-client/post.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import type { Logger } from '../platform/log.ts'
import type { Keyring, ReceiverSecrets } from '../signing-keys/index.ts'
import { requestOf } from './deliveries/delivery.ts'
import { excerptOf } from './deliveries/excerpt.ts'
import { openingSecrets } from './deliveries/opened-secrets.ts'
import { outcomeOf } from './deliveries/rules.ts'
import { attemptFieldsView } from './history/view.ts'
import { selectLane } from './lanes/store.ts'
import { signatureOf } from './signed-headers.ts'

/** What a test works with. */
export interface TestEventDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly keyring: Keyring
  readonly secrets: ReceiverSecrets
  readonly dispatcher: Dispatcher
}

/**
 * Sends a test event to a receiver and waits for what comes of it.
 * @throws Refusal not_found (404) where it is unknown or removed · overloaded (503) the request has lapsed, or this process has as
 *   many under way as it may
 */
export type SendTestEvent = (
  webhookId: string,
  live: LiveRequest,
) => Promise<{ readonly notificationId: string } & ReturnType<typeof attemptFieldsView>>

/** What a test event says it is, in place of an event that has a meaning. */
const TEST_EVENT_TYPE = 'webhook_test'

/** Makes the sender of test events; nothing of them is stored. @source rules#webhooks.20 */
export function createTestEvents(dependencies: TestEventDependencies): SendTestEvent {
  let underWay = 0
  return async (webhookId, live) => {
    if (underWay >= limits.webhookTestsAtOnce) throw new Refusal('overloaded', { retryAfterSeconds: 1 })
    underWay += 1
    try {
      return await sendTest(dependencies, webhookId, live)
    } finally {
      underWay -= 1
    }
  }
}

async function sendTest(
  { database, clock, ids, logger, keyring, secrets, dispatcher }: TestEventDependencies,
  webhookId: string,
  live: LiveRequest,
) {
  const startedAt = clock.now()
  const receiver = isUuid(webhookId) ? await selectLane(database, webhookId, startedAt) : undefined
  if (receiver === undefined) throw new Refusal('not_found')
  await keyring.refresh()
  refuseLapsed(live)
  const notificationId = ids.uuid()
  const event = { id: notificationId, created_at: new Date(startedAt).toISOString() }
  const body = Buffer.from(JSON.stringify({ event_type: TEST_EVENT_TYPE, event }))
  const sent = { url: receiver.url, notificationId, body }
  const opened = openingSecrets(secrets, logger)(await secrets.sealedOf(database, [webhookId], startedAt))
  const request = requestOf(sent, signatureOf(body, keyring.signer()), opened, startedAt)
  const { answer, times, beginning } = await post(dispatcher, {
    ...request,
    headers: { ...request.headers, 'webhook-test': 'true' },
  })
  const outcome = outcomeOf(answer)
  logger.info({ webhookId, host: URL.parse(receiver.url)?.host, outcome }, 'a test event was sent')
  const statusCode = 'statusCode' in answer ? answer.statusCode : null
  const code = 'failure' in answer ? (answer.code ?? null) : null
  const made = { startedAt, outcome, statusCode, code, answer: excerptOf(beginning, body), ...times }
  return { notificationId, ...attemptFieldsView(made) }
}
