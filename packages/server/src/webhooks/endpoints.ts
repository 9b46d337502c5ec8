import { type EventType, endpointReasons, type endpoints, eventTypes, limits, Refusal } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { Handlers, RequestContext } from '../platform/http/handler.ts'
import { instantText } from '../platform/http/page.ts'
import { isUuid } from '../platform/ids.ts'
import type { Job } from '../platform/jobs/job.ts'
import { refuseLapsed } from '../platform/live-request.ts'
import type { Logger } from '../platform/log.ts'
import type { Sealer } from '../platform/sealing.ts'
import type { Circuit } from './breaker.ts'
import { type Change, type ChangeNeeds, change } from './change.ts'
import { assertResolves, type Bounds, endpointUrl, type Reach } from './endpoint-url.ts'
import { attemptFieldsView } from './history.ts'
import { endSecrets, eraseSecrets, listSecrets, makeSecret, openingSecrets, type WebhookSecret } from './secrets.ts'
import { type Dispatchers, send } from './send.ts'
import type { Keyring } from './signing.ts'

export interface EndpointNeeds extends ChangeNeeds {
  readonly logger: Logger
  readonly keyring: Keyring
  readonly sealer: Sealer
  readonly bounds: Readonly<Record<Reach, Bounds>>
  readonly dispatchers: Dispatchers
  readonly onDue: () => void
}

export function createEndpointHandlers(needs: EndpointNeeds) {
  const { database, clock } = needs
  const sendTestEvent = createTestEvents(needs)
  const shown = async (id: string) => {
    const detail = await existingEndpoint(database, id, clock.now())
    return { status: 200, body: detailView(detail, await listSecrets(database, detail.id, clock.now())) } as const
  }
  return {
    createWebhook: async ({ body, context }) => ({
      status: 201,
      body: await register(needs, { ...body, reach: 'public' }, context),
    }),
    createOperatorWebhook: async ({ body, context }) => ({
      status: 201,
      body: await register(needs, { ...body, reach: 'inside' }, context),
    }),
    listWebhooks: async () => ({ status: 200, body: { data: (await listEndpoints(database)).map(endpointView) } }),
    getWebhook: async ({ params }) => shown(params.webhook_id),
    pauseWebhook: async ({ params, context }) => shown(await setPaused(needs, params.webhook_id, true, context)),
    resumeWebhook: async ({ params, context }) => shown(await setPaused(needs, params.webhook_id, false, context)),
    rotateWebhookSecret: async ({ params, body, context }) => {
      const overlapSeconds = body.overlapSeconds ?? limits.webhookSecretOverlapSeconds
      return { status: 200, body: await rotateSecret(needs, params.webhook_id, overlapSeconds, context) }
    },
    testWebhook: async ({ params, context }) => ({
      status: 200,
      body: await sendTestEvent(params.webhook_id, context),
    }),
    deleteWebhook: async ({ params, context }) => {
      await remove(needs, params.webhook_id, context)
      return { status: 204 }
    },
  } satisfies Partial<Handlers<typeof endpoints>>
}

/**
 * Registers an endpoint. Registrations are serialised, so that their maximum holds. The audit trail contains only the
 * host, since the path may be a secret.
 * @throws Refusal validation_error (400) · webhook_url_not_allowed (422) · duplicate_webhook (409) · too_many_webhooks
 * (422) · overloaded (503) when the request has lapsed, or the name cannot be resolved now
 * @source rules#webhooks.1, rules#webhooks.26, rules#webhook-secrets.1, rules#audit.6, failure-modes#NO-12
 */
async function register(
  needs: EndpointNeeds,
  asked: { readonly url: string; readonly events: readonly EventType[]; readonly reach: Reach },
  context: RequestContext,
) {
  const { reach } = asked
  const bounds = needs.bounds[reach]
  const url = endpointUrl(asked.url, bounds.urls)
  await assertResolves(bounds, url)
  const lock = (queries: Queries) => queries.rows(lockRegistrationsStatement, [])
  return change(needs, context, lock, async ({ queries, nowMs, audit }) => {
    const events = eventTypes.filter((type) => asked.events.includes(type))
    const existing = await listEndpoints(queries)
    const isSame = (other: WebhookEndpoint) => other.url === url.href && other.events.join() === events.join()
    if (existing.some(isSame)) throw new Refusal('duplicate_webhook')
    if (existing.length >= limits.webhookSubscriptionsMax) throw new Refusal('too_many_webhooks')
    const id = needs.ids.uuid()
    await queries.rows(insertEndpointStatement, [id, url.href, events, reach, instantParameter(nowMs)])
    const { text: secret } = await makeSecret(needs, queries, id, nowMs, 0)
    await audit('webhook.created', id, { host: url.host, events, ...(reach === 'inside' && { reach }) })
    return { ...endpointView({ id, url: url.href, reach, events, createdAt: nowMs, isPaused: false }), secret }
  })
}

/**
 * Removes an endpoint and cancels its deliveries. A running attempt may still arrive.
 * @throws Refusal not_found (404) unknown or already removed · overloaded (503) the request has lapsed
 * @source rules#webhooks.3, rules#webhook-secrets.3, failure-modes#NO-8
 */
async function remove(needs: EndpointNeeds, id: string, context: RequestContext): Promise<void> {
  await changeEndpoint(needs, id, context, async ({ queries, nowMs, audit }) => {
    await queries.rows(deleteEndpointStatement, [id, instantParameter(nowMs)])
    await audit('webhook.deleted', id)
    await endSecrets(queries, id, nowMs, nowMs)
  })
  await endUnsent(needs.database, needs.clock.now(), id)
}

/**
 * Pauses or resumes an endpoint. Only actual changes are audited.
 * @throws Refusal not_found (404) unknown or removed · overloaded (503) the request has lapsed
 * @source rules#webhooks.14, rules#webhooks.15
 */
async function setPaused(needs: EndpointNeeds, id: string, isPaused: boolean, context: RequestContext) {
  await changeEndpoint(needs, id, context, async ({ queries, nowMs, audit }) => {
    const changed = await queries.rows(isPaused ? pauseStatement : resumeStatement, [id, instantParameter(nowMs)])
    if (changed.length > 0) await audit(isPaused ? 'webhook.paused' : 'webhook.resumed', id)
  })
  if (!isPaused) needs.onDue()
  return id
}

/**
 * Creates another secret of an endpoint. Rotations of one endpoint are serialised.
 * @param overlapSeconds time for which the earlier secrets still sign
 * @throws Refusal not_found (404) unknown or removed · too_many_webhook_secrets (409) · overloaded (503) the request
 * has lapsed
 * @source rules#webhook-secrets.2, rules#webhook-secrets.3
 */
async function rotateSecret(needs: EndpointNeeds, id: string, overlapSeconds: number, context: RequestContext) {
  return changeEndpoint(needs, id, context, async ({ queries, nowMs, audit }) => {
    const made = await makeSecret(needs, queries, id, nowMs, overlapSeconds)
    const [, ...before] = await listSecrets(queries, id, nowMs)
    await audit('webhook.secret_rotated', id, { secret: made.id, overlapSeconds })
    const ends = before.map(({ expiresAt }) => expiresAt ?? nowMs)
    return {
      webhook_id: id.toLowerCase(),
      secret: made.text,
      createdAt: new Date(nowMs).toISOString(),
      previousExpiresAt: instantText(ends.length === 0 ? null : Math.max(...ends)),
    }
  })
}

const TEST_EVENT_TYPE = 'webhook_test'

/**
 * Sends test events: signed like any notification, sent once in any state of the endpoint, and not stored.
 * @throws Refusal not_found (404) unknown or removed · overloaded (503) the request has lapsed, or too many tests are
 * running
 * @source rules#webhooks.20
 */
function createTestEvents(needs: EndpointNeeds) {
  const { database, clock, ids, logger, keyring } = needs
  const openSecrets = openingSecrets(needs.sealer, logger)
  let underWay = 0

  async function sendOne(id: string, { live }: RequestContext) {
    const now = clock.now()
    const found = await existingEndpoint(database, id, now)
    await keyring.refresh()
    const secrets = openSecrets(await listSecrets(database, found.id, now))
    refuseLapsed(live)
    const notificationId = ids.uuid()
    const event = { id: notificationId, created_at: new Date(now).toISOString() }
    const body = Buffer.from(JSON.stringify({ event_type: TEST_EVENT_TYPE, event }))
    const message = { url: found.url, reach: found.reach, notificationId, body }
    const { keyId, sign } = keyring.signer()
    const signature = { text: sign(body), keyId }
    const attempt = await send(needs, message, signature, secrets, { 'webhook-test': 'true' })
    const { outcome, statusCode, code, excerpt, times } = attempt
    const line = { event: 'endpoint.tested', webhookId: found.id, host: URL.parse(found.url)?.host, outcome }
    logger.info(line, 'A test event was sent')
    const made = { startedAt: attempt.startedAt, outcome, statusCode, code, answer: excerpt, ...times }
    return { notificationId, ...attemptFieldsView(made) }
  }

  return async (id: string, context: RequestContext) => {
    if (underWay >= limits.webhookTestsAtOnce) throw new Refusal('overloaded', { retryAfterSeconds: 1 })
    underWay += 1
    try {
      return await sendOne(id, context)
    } finally {
      underWay -= 1
    }
  }
}

/**
 * Ends deliveries that are no longer sent, in batches: those of removed endpoints, and those held for too long. Erases
 * secrets that no longer sign.
 * @source rules#webhooks.3, rules#webhooks.14, rules#webhook-secrets.3
 */
export function createHousekeeping(needs: Pick<EndpointNeeds, 'database' | 'clock' | 'logger'>): Job {
  const { database, clock, logger } = needs
  return {
    processNext: async () => {
      const now = clock.now()
      await eraseSecrets(database, now)
      const ended = await endUnsent(database, now, null)
      for (const { endpointId: webhookId, isRemoved, count } of ended) {
        if (isRemoved) continue
        const line = { event: 'delivery.held_too_long', webhookId, count }
        logger.error(line, 'Deliveries were held for too long and are marked as failed')
      }
      return ended.length > 0
    },
  }
}

const lockRegistrationsStatement = statement<[], never>(
  'webhooks.lockRegistrations',
  'SELECT pg_advisory_xact_lock(7046741002)',
)

const lockEndpointStatement = statement<[string], { id: string }>(
  'webhooks.lockEndpoint',
  'SELECT id FROM endpoint WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE',
)

/** Locks an endpoint until the transaction ends. @throws Refusal not_found (404) unknown or removed */
export async function lockEndpoint(queries: Queries, id: string): Promise<void> {
  const found = isUuid(id) ? await queries.rows(lockEndpointStatement, [id]) : []
  if (found.length === 0) throw new Refusal('not_found')
}

/** @throws Refusal not_found (404) unknown or removed · overloaded (503) the request has lapsed */
export function changeEndpoint<Result>(
  needs: ChangeNeeds,
  id: string,
  context: RequestContext,
  make: (change: Change) => Promise<Result>,
): Promise<Result> {
  return change(needs, context, (queries) => lockEndpoint(queries, id), make)
}

export interface WebhookEndpoint {
  readonly id: string
  readonly url: string
  readonly reach: Reach
  /** In the order of `eventTypes`. */
  readonly events: readonly EventType[]
  readonly createdAt: number
  readonly isPaused: boolean
}

const listEndpointsStatement = statement<[], WebhookEndpoint>(
  'webhooks.listEndpoints',
  `SELECT id, url, reach, events, created_at AS "createdAt", state = 'paused' AS "isPaused"
     FROM endpoint
    WHERE deleted_at IS NULL
    ORDER BY created_at, id`,
)

export function listEndpoints(queries: Queries): Promise<WebhookEndpoint[]> {
  return queries.rows(listEndpointsStatement, [])
}

const insertEndpointStatement = statement<[string, string, readonly string[], Reach, string]>(
  'webhooks.insertEndpoint',
  'INSERT INTO endpoint (id, url, events, reach, created_at, since) VALUES ($1, $2, $3, $4, $5, $5)',
)

const deleteEndpointStatement = statement<[string, string]>(
  'webhooks.deleteEndpoint',
  'UPDATE endpoint SET deleted_at = $2 WHERE id = $1',
)

const pauseStatement = statement<[string, string], { id: string }>(
  'webhooks.pause',
  `UPDATE endpoint SET state = 'paused', reason = 'requested', since = $2, failed_probes = 0, probe_at = NULL
    WHERE id = $1 AND state <> 'paused'
   RETURNING id`,
)

// The breaker stays open until a probe succeeds; the days of failing are counted anew.
const resumeStatement = statement<[string, string], { id: string }>(
  'webhooks.resume',
  `UPDATE endpoint
      SET state = 'degraded', reason = 'resumed', since = $2, failed_probes = 0, probe_at = $2, held_until = NULL, failures = 0,
          failing_since = NULL
    WHERE id = $1 AND state = 'paused'
   RETURNING id`,
)

/** Maximum of deliveries ended per endpoint and statement. A literal, so that PostgreSQL plans for it. */
const ENDED_AT_ONCE = 500

interface EndedUnsent {
  readonly endpointId: string
  readonly isRemoved: boolean
  readonly count: number
}

// Deliveries with a running attempt are left to a later sweep, since it may arrive. A concurrent fan-out may add
// deliveries to a removed endpoint.
const endUnsentStatement = statement<[now: string, heldSince: string, endpointId: string | null], EndedUnsent>(
  'webhooks.endUnsent',
  `WITH over AS (
     SELECT found.id, e.deleted_at IS NOT NULL AS is_removed
       FROM endpoint e
      CROSS JOIN LATERAL (
        SELECT id FROM delivery d
         WHERE d.endpoint_id = e.id AND (d.leased_until IS NULL OR d.leased_until <= $1)
           AND d.due_at < CASE WHEN e.deleted_at IS NULL THEN $2::timestamptz ELSE 'infinity' END
         ORDER BY d.due_at
         LIMIT ${ENDED_AT_ONCE}
           FOR UPDATE SKIP LOCKED) AS found
      WHERE (e.deleted_at IS NOT NULL OR e.state <> 'active' AND e.since < $2) AND ($3::uuid IS NULL OR e.id = $3)),
   ended AS (
     UPDATE delivery d
        SET state = CASE WHEN d.state <> 'PENDING' THEN d.state WHEN over.is_removed THEN 'CANCELLED' ELSE 'FAILED' END,
            last_outcome = CASE WHEN over.is_removed THEN d.last_outcome ELSE 'held_too_long' END,
            due_at = NULL, leased_until = NULL, resend_after = NULL, schedule_left = 0, resend_left = 0, finished_at = $1
       FROM over
      WHERE d.id = over.id
     RETURNING d.endpoint_id, over.is_removed)
   SELECT endpoint_id AS "endpointId", is_removed AS "isRemoved", count(*)::integer AS count FROM ended GROUP BY 1, 2`,
)

/**
 * Ends the next deliveries of removed endpoints, and those held for too long.
 * @param endpointId `null` for all endpoints
 * @source rules#webhooks.3, rules#webhooks.14
 */
function endUnsent(queries: Queries, nowMs: number, endpointId: string | null): Promise<EndedUnsent[]> {
  const heldSince = instantParameter(nowMs - limits.webhookHeldMs)
  return queries.rows(endUnsentStatement, [instantParameter(nowMs), heldSince, endpointId])
}

interface EndpointDetail extends WebhookEndpoint, Omit<Circuit, 'failedProbes'> {
  /** Unsent deliveries, counted up to 10,000. */
  readonly pending: number
  /** Creation time of the oldest notification among the first due deliveries. */
  readonly oldestPendingAt: number | null
  readonly nextAttemptAt: number | null
  /** Attempts of the last 24 hours, counted up to 1,000. */
  readonly recentAttempts: number
  readonly recentSuccesses: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

const COUNTED_MAX = 10_000

/** @source rules#webhooks.19 */
const RECENT_MS = 24 * 60 * 60 * 1_000

// The oldest notification is searched among the first due deliveries.
const selectEndpointStatement = statement<[string, number, recentSince: string], EndpointDetail>(
  'webhooks.selectEndpoint',
  `SELECT e.id, e.url, e.reach, e.events, e.created_at AS "createdAt", e.state, e.reason, e.since, e.failures,
          e.failing_since AS "failingSince", e.probe_at AS "probeAt", e.held_until AS "heldUntil", e.state = 'paused' AS "isPaused",
          counted.pending, first.oldest AS "oldestPendingAt", first.due AS "nextAttemptAt", recent.*
     FROM endpoint e
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS pending
        FROM (SELECT FROM delivery WHERE endpoint_id = e.id AND due_at IS NOT NULL LIMIT $2) AS waiting) AS counted
    CROSS JOIN LATERAL (
      SELECT min(d.due_at) AS due, min(n.created_at) AS oldest
        FROM (SELECT notification_id, due_at FROM delivery
               WHERE endpoint_id = e.id AND due_at IS NOT NULL
               ORDER BY due_at LIMIT 100) AS d
        JOIN notification n ON n.id = d.notification_id) AS first
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS "recentAttempts",
             (count(*) FILTER (WHERE outcome = 'delivered'))::integer AS "recentSuccesses",
             percentile_disc(0.5) WITHIN GROUP (ORDER BY total_ms) AS "p50Ms",
             percentile_disc(0.95) WITHIN GROUP (ORDER BY total_ms) AS "p95Ms"
        FROM (SELECT outcome, total_ms FROM delivery_attempt
               WHERE endpoint_id = e.id AND ended_at >= $3
               ORDER BY ended_at DESC LIMIT 1000) AS made) AS recent
    WHERE e.id = $1 AND e.deleted_at IS NULL`,
)

/** @throws Refusal not_found (404) unknown or removed @source rules#webhooks.15, rules#webhooks.19 */
async function existingEndpoint(queries: Queries, id: string, nowMs: number): Promise<EndpointDetail> {
  const recentSince = instantParameter(nowMs - RECENT_MS)
  const found = isUuid(id) ? await queries.rows(selectEndpointStatement, [id, COUNTED_MAX, recentSince]) : []
  if (found[0] === undefined) throw new Refusal('not_found')
  return found[0]
}

function endpointView({ id, url, events, createdAt, isPaused }: WebhookEndpoint) {
  return { webhook_id: id, url, events: [...events], active: !isPaused, createdAt: new Date(createdAt).toISOString() }
}

/** @source rules#webhooks.15, rules#webhooks.19, rules#webhook-secrets.2 */
function detailView(detail: EndpointDetail, secrets: readonly WebhookSecret[]) {
  const {
    state,
    reason,
    failures,
    pending,
    recentAttempts: attempts,
    recentSuccesses: succeeded,
    p50Ms,
    p95Ms,
  } = detail
  const successRate = attempts === 0 ? null : Math.round((succeeded / attempts) * 10_000) / 10_000
  return {
    ...endpointView(detail),
    delivery: {
      state,
      reason,
      explanation: reason === null ? null : endpointReasons[reason],
      since: new Date(detail.since).toISOString(),
      failures,
      failingSince: instantText(detail.failingSince),
      nextProbeAt: instantText(detail.probeAt),
      heldUntil: instantText(detail.heldUntil),
      pending,
      oldestPendingAt: instantText(detail.oldestPendingAt),
      nextAttemptAt: instantText(detail.nextAttemptAt),
      recent: { attempts, succeeded, successRate, p50Ms, p95Ms },
    },
    secrets: secrets.map(({ createdAt, expiresAt }) => ({
      createdAt: new Date(createdAt).toISOString(),
      expiresAt: instantText(expiresAt),
    })),
  }
}
