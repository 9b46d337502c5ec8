import { limits } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import { type Database, instantOrNull, instantParameter, type Queries, statement } from '../platform/db/database.ts'
import { type Batcher, createBatcher } from '../platform/jobs/batcher.ts'
import type { Job } from '../platform/jobs/job.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createLogThrottle } from '../platform/runtime.ts'
import type { Sealer } from '../platform/sealing.ts'
import { type Circuit, circuitAfter } from './breaker.ts'
import type { Reach } from './endpoint-url.ts'
import { type AttemptsLeft, type NextStep, nextStep } from './schedule.ts'
import { type OpenSecrets, openingSecrets, type SealedSecret } from './secrets.ts'
import { type Attempt, type Dispatchers, type Signature, send } from './send.ts'
import type { Keyring, Signer } from './signing.ts'

/**
 * Delivery of notifications: claim due deliveries, send without a transaction, finish. Attempts count at the finish, so
 * a crash uses none. The finish compares the lease, so a worker whose lease has ended changes nothing.
 */

/**
 * Longer than any attempt. Another process claims the deliveries of a dead one afterwards.
 * @source failure-modes#NO-1
 */
const LEASE_MS = 30_000

/** Attempts not yet recorded; beyond it nothing is claimed. */
const UNFINISHED_MAX = 1_024

/**
 * Paced into large batches: finishes have no waiting client, and fewer statements leave CPU time for requests.
 */
const FINISHES = { batchMax: 256, paceMs: 40, queueMax: UNFINISHED_MAX }

/** A full endpoint is claimed for again once half of its slots are free, or by the next poll: few claims with many rows. */
const HALF_IN_FLIGHT = limits.webhookInFlight / 2

/** Observer of attempts. Must not throw. */
export interface DeliveryObserver {
  /**
   * Called for each recorded attempt.
   * @param outcome `delivered`, `refused` by a status, or the reason without an answer
   * @param state `PENDING`: will be retried, or a resend of an already delivered notification failed
   */
  onAttempt(outcome: string, state: 'PENDING' | 'DELIVERED' | 'FAILED', durationMs: number): void
}

export interface DeliverNeeds {
  readonly database: Database
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
  readonly keyring: Keyring
  readonly sealer: Sealer
  readonly dispatchers: Dispatchers
  /** Wakes the worker: a slot became free. */
  readonly onSlotFree: () => void
  readonly observer?: DeliveryObserver | undefined
}

/** A delivery leased to this process. */
export interface Claim extends AttemptsLeft {
  readonly id: string
  readonly endpointId: string
  readonly url: string
  readonly reach: Reach
  readonly notificationId: string
  readonly body: Buffer
  /** Secrets of the endpoint, newest first, with the sealed bytes in Base64. */
  readonly sealedSecrets: readonly { readonly id: string; readonly secret: string }[] | null
  /** The single attempt allowed by an open circuit breaker. */
  readonly isProbe: boolean
  readonly failedProbes: number
  /** Consecutive failures of the endpoint at the claim. */
  readonly failures: number
}

/** The current key as read by the claim. If the signer has another, nothing was claimed. */
interface CurrentKey {
  readonly keyId: string
  readonly keySignsFrom: number
}

export interface EndedAttempt {
  readonly claim: Claim
  readonly leasedUntil: number
  readonly keySignsFrom: number
  readonly attempt: Attempt
  readonly next: NextStep
}

/**
 * Sends deliveries. Each attempt is signed with the key that was current at its claim.
 * @source rules#webhooks.5, rules#webhooks.8, rules#webhooks.10, rules#webhook-secrets.4, rules#events.4
 * @source rules#signing-keys.5, failure-modes#NO-2, failure-modes#NO-7
 */
export class Deliver implements Job {
  readonly #needs: DeliverNeeds
  readonly #openSecrets: OpenSecrets
  readonly #finishes: Batcher<EndedAttempt, FinishedDelivery | undefined>
  readonly #throttle = createLogThrottle()
  readonly #inFlight = new Map<string, number>()
  readonly #unfinished = new Set<Promise<void>>()
  /** Endpoints without a free slot; more of their deliveries may be due. */
  #full: ReadonlySet<string> = new Set()
  /** Endpoints whose last attempt failed, so a success must be written. */
  readonly #failing = new Set<string>()

  constructor(dependencies: DeliverNeeds) {
    this.#needs = dependencies
    this.#openSecrets = openingSecrets(dependencies.sealer, dependencies.logger)
    this.#finishes = createBatcher((ended) => finish(dependencies, this.#failing, ended), FINISHES)
  }

  /** Starts due deliveries without waiting for their end. @throws Error when a notification cannot be signed */
  readonly processNext = async (): Promise<boolean> => {
    if (this.#unfinished.size >= UNFINISHED_MAX) return false
    const { keyring, database, sealer, clock } = this.#needs
    const signer = keyring.signer()
    const now = clock.now()
    const freeSlots = [...this.#inFlight].map(
      ([id, count]) => [id, Math.max(0, limits.webhookInFlight - count)] as const,
    )
    const leasedUntil = now + LEASE_MS
    const { claims, key } = await claimDue(database, {
      signer,
      openablePrefixes: sealer.headers,
      freeSlots,
      now,
      leasedUntil,
    })
    if (key.keyId !== signer.keyId) {
      // Another process rotated the key, so nothing was claimed.
      await keyring.refresh()
      return true
    }
    this.#full = fullEndpoints(claims, new Map(freeSlots))
    const { signed, failure } = signAll(claims, signer)
    for (const [claim, signature] of signed) this.#start(claim, signature, leasedUntil, key.keySignsFrom)
    if (failure !== undefined) throw failure
    // Slots freed during the claim woke no one, as `#full` was not yet updated: claim again.
    return [...this.#full].some((id) => (this.#inFlight.get(id) ?? 0) <= HALF_IN_FLIGHT)
  }

  async settled(): Promise<void> {
    await Promise.all(this.#unfinished)
  }

  #start(claim: Claim, signature: Signature, leasedUntil: number, keySignsFrom: number): void {
    this.#inFlight.set(claim.endpointId, (this.#inFlight.get(claim.endpointId) ?? 0) + 1)
    const finished = this.#attempt(claim, signature, leasedUntil, keySignsFrom).finally(() => {
      const wasFull = this.#unfinished.size >= UNFINISHED_MAX
      this.#unfinished.delete(finished)
      if (wasFull) this.#needs.onSlotFree()
    })
    this.#unfinished.add(finished)
  }

  /**
   * A success frees its slot at once. A failure or probe frees it once recorded, so that the circuit breaker is
   * updated first.
   */
  async #attempt(claim: Claim, signature: Signature, leasedUntil: number, keySignsFrom: number): Promise<void> {
    const secrets = this.#openSecrets(secretsOf(claim))
    const attempt = await send(this.#needs, claim, signature, secrets)
    const next = nextStep(attempt.answer, claim, attempt.endedAt, this.#needs.random())
    const freesSlotAtOnce = next.result === 'delivered' && !claim.isProbe
    if (freesSlotAtOnce) this.#freeSlot(claim)
    const ended = { claim, leasedUntil, keySignsFrom, attempt, next }
    try {
      reportAttempt(this.#needs, ended, await this.#finishes.submit(ended))
    } catch (error) {
      this.#reportUnfinished(claim, String(error))
    } finally {
      if (!freesSlotAtOnce) this.#freeSlot(claim)
    }
  }

  #freeSlot({ endpointId, isProbe }: Claim): void {
    const count = (this.#inFlight.get(endpointId) ?? 1) - 1
    if (count > 0) this.#inFlight.set(endpointId, count)
    else this.#inFlight.delete(endpointId)
    if (isProbe || (this.#full.has(endpointId) && count <= HALF_IN_FLIGHT)) this.#needs.onSlotFree()
  }

  #reportUnfinished({ id }: Claim, reason: string): void {
    const line = { event: 'delivery.not_recorded', delivery: id, reason }
    this.#throttle.report(reason, (more) =>
      this.#needs.logger.warn(line, `An attempt was not recorded; repeating it when its lease ends${andMore(more)}`),
    )
  }
}

function secretsOf({ endpointId, sealedSecrets }: Claim): SealedSecret[] {
  return (sealedSecrets ?? []).map(({ id, secret }) => ({ endpointId, id, secret: Buffer.from(secret, 'base64') }))
}

function fullEndpoints(claims: readonly Claim[], freeSlots: ReadonlyMap<string, number>): ReadonlySet<string> {
  const byEndpoint = Map.groupBy(claims, ({ endpointId }) => endpointId)
  const filled = [...byEndpoint].filter(([id, { length }]) => length >= (freeSlots.get(id) ?? limits.webhookInFlight))
  const withoutSlots = [...freeSlots].filter(([, count]) => count === 0)
  return new Set([...filled, ...withoutSlots].map(([id]) => id))
}

/**
 * Signs all notifications before the first is sent, so that no attempt waits for another's signature. A notification
 * that cannot be signed does not block others; it is claimed again when its lease ends.
 */
function signAll(claims: readonly Claim[], signer: Signer) {
  const signatures = new Map<string, Signature>()
  const signed: (readonly [Claim, Signature])[] = []
  let failure: Error | undefined
  for (const claim of claims) {
    try {
      const known = signatures.get(claim.notificationId)
      const signature = known ?? { text: signer.sign(claim.body), keyId: signer.keyId }
      signatures.set(claim.notificationId, signature)
      signed.push([claim, signature])
    } catch (cause) {
      failure ??= new Error(`notification ${claim.notificationId} cannot be signed: ${String(cause)}`, { cause })
    }
  }
  return { signed, failure }
}

/**
 * Deliveries per endpoint that a claim examines, since another process may have locked the first ones. A literal in the
 * statement: with an unknown limit PostgreSQL reads and sorts the whole backlog.
 */
const CANDIDATES_MAX = 2 * limits.webhookInFlight

// Each endpoint offers its own free slots, so a backlog or a hanging endpoint does not affect others. Rows of open
// circuit breakers are locked with SKIP LOCKED: one probe over all processes. Nothing is claimed by a process whose
// signing key is not current in this very statement, or that cannot open all secrets of the endpoint. OFFSET 0 and LIMIT 1
// fix the order of work: candidates by their due time, each looked up by index, until there are enough.
const claimStatement = statement<
  [
    ...[now: string, leasedUntil: string, keyId: string, openablePrefixes: readonly Buffer[]],
    ...[endpointIds: readonly string[], freeSlots: readonly number[], inFlight: number],
    ...[orderWindowStart: string, resendAttempts: number],
  ],
  CurrentKey & (Claim | { readonly id: null })
>(
  'webhooks.claim',
  `WITH signing AS (SELECT id, signs_from FROM signing_key WHERE private_key IS NOT NULL AND signs_from IS NOT NULL),
   secret AS (
     SELECT endpoint_id,
            -- JSON: the driver parses arrays character by character, which is slow.
            json_agg(json_build_object('id', id, 'secret', encode(secret, 'base64')) ORDER BY created_at DESC, id DESC) AS sealed,
            bool_and(substring(secret FROM 1 FOR 12) = ANY ($4::bytea[])) AS is_opened
       FROM webhook_secret
      WHERE secret IS NOT NULL AND (expires_at IS NULL OR expires_at > $1)
      GROUP BY endpoint_id),
   slots AS (SELECT * FROM unnest($5::uuid[], $6::integer[]) AS slots (id, free)),
   probed AS (
     SELECT id FROM endpoint e
      WHERE deleted_at IS NULL AND state = 'degraded' AND probe_at <= $1
        AND (SELECT true FROM delivery d WHERE d.endpoint_id = e.id AND d.due_at <= $1 ORDER BY d.due_at LIMIT 1)
        FOR NO KEY UPDATE SKIP LOCKED),
   ready AS (
     SELECT e.id, e.url, e.reach, e.failures, e.failed_probes, e.state = 'degraded' AS is_probe, secret.sealed,
            least(coalesce(slots.free, $7::integer), CASE WHEN e.state = 'degraded' THEN 1 END) AS free
       FROM endpoint e
       JOIN signing ON signing.id = $3
       LEFT JOIN slots ON slots.id = e.id
       LEFT JOIN secret ON secret.endpoint_id = e.id
      WHERE e.deleted_at IS NULL AND (e.state = 'active' OR e.id IN (SELECT id FROM probed))
        AND (e.held_until IS NULL OR e.held_until <= $1) AND coalesce(secret.is_opened, true)),
   due AS (
     SELECT ready.*, found.delivery_id, found.due_at, found.notification_id, found.body
       FROM ready
      CROSS JOIN LATERAL (
        SELECT d.id AS delivery_id, d.due_at, candidate.notification_id, candidate.body
          FROM (
            SELECT queued.id, n.id AS notification_id, n.body
              FROM (
                SELECT * FROM delivery
                 WHERE endpoint_id = ready.id AND due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1)
                 ORDER BY due_at OFFSET 0) AS queued
             CROSS JOIN LATERAL (
               SELECT * FROM notification WHERE id = queued.notification_id AND erased_at IS NULL OFFSET 0) AS n
             WHERE (queued.state <> 'PENDING' OR (
                 SELECT true
                   FROM notification earlier
                  CROSS JOIN LATERAL (
                    SELECT * FROM delivery
                     WHERE notification_id = earlier.id AND endpoint_id = queued.endpoint_id OFFSET 0) AS waiting
                  WHERE earlier.operation_id = n.operation_id AND earlier.position < n.position
                    AND waiting.state = 'PENDING' AND waiting.created_at > $8
                  LIMIT 1) IS NULL)
             ORDER BY queued.due_at
             LIMIT ${CANDIDATES_MAX}) AS candidate
          JOIN delivery d
            ON d.id = candidate.id AND d.due_at <= $1 AND (d.leased_until IS NULL OR d.leased_until <= $1)
         ORDER BY d.due_at
         LIMIT ready.free
           FOR UPDATE OF d SKIP LOCKED) AS found),
   claimed AS (
     UPDATE delivery d
        -- Still due, so a crashed claim needs no cleanup; and no index has the lease, so none changes.
        SET leased_until = $2, resend_after = NULL,
            -- resend_after: a resend was requested during a lease that was never finished.
            resend_left = CASE WHEN d.resend_after IS NULL THEN d.resend_left ELSE $9::integer END
       FROM due
      WHERE d.id = due.delivery_id
     RETURNING d.id, d.endpoint_id, d.notification_id, d.schedule_left, d.resend_left, due.due_at AS was_due_at, due.body,
               due.url, due.reach, due.failures, due.failed_probes, due.is_probe, due.sealed),
   probing AS (
     UPDATE endpoint e SET probe_at = $2 FROM claimed WHERE e.id = claimed.endpoint_id AND claimed.is_probe)
   SELECT signing.id AS "keyId", signing.signs_from AS "keySignsFrom", c.id, c.endpoint_id AS "endpointId", c.url, c.reach,
          c.notification_id AS "notificationId", c.body, c.schedule_left AS "scheduleLeft", c.resend_left AS "resendLeft",
          c.sealed AS "sealedSecrets", c.is_probe AS "isProbe", c.failed_probes AS "failedProbes", c.failures
     FROM signing
     LEFT JOIN claimed c ON true
    ORDER BY c.was_due_at`,
)

interface ClaimBounds {
  readonly signer: Signer
  /** Prefixes of the ciphertext of secrets that this process can open. */
  readonly openablePrefixes: readonly Buffer[]
  /** Endpoints that are not listed have all slots free. */
  readonly freeSlots: readonly (readonly [endpointId: string, slots: number])[]
  readonly now: number
  readonly leasedUntil: number
}

/**
 * Claims due deliveries, oldest first per endpoint. A notification waits while an earlier one of its operation is
 * pending and less than a minute old.
 * @source rules#webhooks.10, rules#webhooks.25, rules#signing-keys.5, rules#webhook-secrets.4
 */
export async function claimDue(
  queries: Queries,
  { signer, openablePrefixes, freeSlots, now, leasedUntil }: ClaimBounds,
): Promise<{ readonly claims: readonly Claim[]; readonly key: CurrentKey }> {
  const rows = await queries.rows(claimStatement, [
    instantParameter(now),
    instantParameter(leasedUntil),
    signer.keyId,
    openablePrefixes,
    freeSlots.map(([id]) => id),
    freeSlots.map(([, slots]) => slots),
    limits.webhookInFlight,
    instantParameter(now - limits.webhookOrderMs),
    limits.webhookResendAttempts,
  ])
  const [first] = rows
  if (first === undefined) throw new Error('no signing key is current')
  return { claims: rows.filter((row) => row.id !== null), key: first }
}

interface FinishedDelivery {
  readonly id: string
  readonly state: 'PENDING' | 'DELIVERED' | 'FAILED'
  readonly attempt: number
  readonly dueAt: number | null
}

// A resend requested during the attempt replaces the attempt's retry, unless the attempt succeeded. Rows are locked in id
// order, so that finishes cannot deadlock.
const finishStatement = statement<[ended: string, resendAttempts: number], FinishedDelivery>(
  'webhooks.finish',
  `WITH ended AS (
     SELECT * FROM jsonb_to_recordset($1::jsonb)
       AS ended (id uuid, "leasedUntil" timestamptz, result text, "dueAt" timestamptz, "scheduleLeft" integer,
                 "resendLeft" integer, outcome text, code text, "statusCode" integer, excerpt text, "startedAt" timestamptz,
                 "endedAt" timestamptz, "dnsMs" integer, "connectMs" integer, "tlsMs" integer, "waitMs" integer,
                 "totalMs" integer)),
   ours AS (
     SELECT ended.*, ended.result = 'delivered' AS is_delivered, ended.result = 'given_up' AS is_given_up
       FROM delivery d
       JOIN ended ON ended.id = d.id AND ended."leasedUntil" = d.leased_until
      ORDER BY d.id
        FOR UPDATE OF d),
   done AS (
     UPDATE delivery d
        SET attempts = d.attempts + 1, leased_until = NULL, resend_after = NULL, last_outcome = ours.outcome,
            schedule_left = ours."scheduleLeft",
            state = CASE WHEN ours.is_delivered OR d.state = 'DELIVERED' THEN 'DELIVERED'
                         WHEN ours.is_given_up AND d.resend_after IS NULL THEN 'FAILED' ELSE d.state END,
            due_at = CASE WHEN ours.is_delivered THEN NULL ELSE coalesce(d.resend_after, ours."dueAt") END,
            resend_left = CASE WHEN d.resend_after IS NULL OR ours.is_delivered THEN ours."resendLeft" ELSE $2::integer END,
            delivered_at = CASE WHEN ours.is_delivered THEN coalesce(d.delivered_at, ours."endedAt") ELSE d.delivered_at END,
            finished_at = CASE WHEN ours.is_delivered OR ours.is_given_up AND d.resend_after IS NULL THEN ours."endedAt"
                               ELSE d.finished_at END
       FROM ours
      WHERE d.id = ours.id
     RETURNING d.id, d.state, d.attempts, d.due_at, d.endpoint_id),
   recorded AS (
     INSERT INTO delivery_attempt (delivery_id, attempt, endpoint_id, outcome, status_code, code, excerpt, started_at, ended_at,
                                   dns_ms, connect_ms, tls_ms, wait_ms, total_ms)
     SELECT id, done.attempts, done.endpoint_id, outcome, "statusCode", code, excerpt, "startedAt", "endedAt", "dnsMs",
            "connectMs", "tlsMs", "waitMs", "totalMs"
       FROM ours
       JOIN done USING (id))
   SELECT id, state, attempts AS attempt, due_at AS "dueAt" FROM done`,
)

/**
 * Records attempts whose lease is still valid, then updates their endpoints. Losing the second step in a crash costs
 * nothing: later attempts repeat it.
 * @source rules#webhooks.13, rules#webhooks.17, rules#webhooks.21
 */
async function finish(needs: DeliverNeeds, failing: Set<string>, ended: readonly EndedAttempt[]) {
  const rows = await needs.database.rows(finishStatement, [
    JSON.stringify(ended.map(rowOf)),
    limits.webhookResendAttempts,
  ])
  const finished = new Map(rows.map((row) => [row.id, row]))
  await updateCircuits(
    needs,
    failing,
    ended.filter(({ claim }) => finished.has(claim.id)),
  )
  return ended.map(({ claim }) => ({ result: finished.get(claim.id) }))
}

function rowOf({ claim, leasedUntil, attempt, next }: EndedAttempt) {
  const { outcome, code, statusCode, excerpt, startedAt, endedAt, times } = attempt
  return {
    ...times,
    id: claim.id,
    result: next.result,
    scheduleLeft: next.scheduleLeft,
    resendLeft: next.resendLeft,
    outcome,
    code,
    statusCode,
    excerpt,
    leasedUntil: instantParameter(leasedUntil),
    dueAt: instantOrNull(next.dueAt),
    startedAt: instantParameter(startedAt),
    endedAt: instantParameter(endedAt),
  }
}

interface CircuitRow extends Circuit {
  readonly id: string
  readonly url: string
}

const lockCircuitsStatement = statement<[ids: readonly string[]], CircuitRow>(
  'webhooks.lockCircuits',
  `SELECT id, url, state, reason, since, failures, failing_since AS "failingSince", failed_probes AS "failedProbes",
          probe_at AS "probeAt", held_until AS "heldUntil"
     FROM endpoint
    WHERE id = ANY ($1::uuid[]) AND deleted_at IS NULL
    ORDER BY id
      FOR NO KEY UPDATE`,
)

const setCircuitsStatement = statement<[circuits: string]>(
  'webhooks.setCircuits',
  `UPDATE endpoint e
      SET state = c.state, reason = c.reason, since = c.since, failures = c.failures, failing_since = c."failingSince",
          failed_probes = c."failedProbes", probe_at = c."probeAt", held_until = c."heldUntil"
     FROM jsonb_to_recordset($1::jsonb)
       AS c (id uuid, state text, reason text, since timestamptz, failures integer, "failingSince" timestamptz,
             "failedProbes" integer, "probeAt" timestamptz, "heldUntil" timestamptz)
    WHERE e.id = c.id`,
)

/** Updates the circuit breakers of endpoints. Writes nothing for a healthy endpoint. */
async function updateCircuits(
  { database, logger }: Pick<DeliverNeeds, 'database' | 'logger'>,
  failing: Set<string>,
  ended: readonly EndedAttempt[],
): Promise<void> {
  const changing = ended.filter(({ claim, next }) => {
    return next.result !== 'delivered' || claim.failures > 0 || claim.isProbe || failing.has(claim.endpointId)
  })
  if (changing.length === 0) return
  const ids = [...new Set(changing.map(({ claim }) => claim.endpointId))]
  const changes = await database.transaction(async (queries) => {
    const circuits = await queries.rows(lockCircuitsStatement, [ids])
    const results = circuits.map((before) => ({ before, after: circuitAfterAll(before, ended) }))
    const rows = results.map(({ before, after }) => circuitRow(after, before.id))
    await queries.rows(setCircuitsStatement, [JSON.stringify(rows)])
    return results
  })
  for (const { before, after } of changes) {
    if (after.failures > 0) failing.add(before.id)
    else failing.delete(before.id)
    if (before.state !== after.state) reportCircuit(logger, before, after)
  }
}

// With the plain successes between: each resets the count of failures.
function circuitAfterAll(before: CircuitRow, ended: readonly EndedAttempt[]): Circuit {
  return ended
    .filter(({ claim }) => claim.endpointId === before.id)
    .map(({ claim, attempt, keySignsFrom }) => ({ ...attempt, isProbe: claim.isProbe, keySignsFrom }))
    .sort((one, other) => one.endedAt - other.endedAt)
    .reduce<Circuit>(circuitAfter, before)
}

function circuitRow(circuit: Circuit, id: string) {
  return {
    ...circuit,
    id,
    since: instantParameter(circuit.since),
    failingSince: instantOrNull(circuit.failingSince),
    probeAt: instantOrNull(circuit.probeAt),
    heldUntil: instantOrNull(circuit.heldUntil),
  }
}

/**
 * Reports a recorded attempt. Only the host of the URL is logged, since its path may be a secret.
 * @source rules#logs.1, rules#logs.3
 */
function reportAttempt(
  { logger, observer }: Pick<DeliverNeeds, 'logger' | 'observer'>,
  { claim, attempt }: EndedAttempt,
  finished: FinishedDelivery | undefined,
): void {
  // The lease had ended: another worker repeats the attempt.
  if (finished === undefined) return
  const { outcome, statusCode, code } = attempt
  const isDelivered = outcome === 'delivered'
  const hasFailed = finished.state === 'FAILED' && finished.dueAt === null
  const state = isDelivered ? 'DELIVERED' : hasFailed ? 'FAILED' : 'PENDING'
  observer?.onAttempt(outcome, state, attempt.endedAt - attempt.startedAt)
  if (isDelivered) return
  const line = {
    webhookId: claim.endpointId,
    host: URL.parse(claim.url)?.host,
    delivery: claim.id,
    notification: claim.notificationId,
    attempt: finished.attempt,
    reason: statusCode === null ? outcome : `HTTP ${statusCode}`,
    ...(code === null ? {} : { code }),
  }
  if (finished.dueAt === null) {
    logger.error({ event: 'delivery.given_up', ...line }, 'A delivery was given up: it has no attempts left')
  } else {
    const nextAttemptAt = new Date(finished.dueAt).toISOString()
    logger.warn({ event: 'delivery.retry_scheduled', ...line, nextAttemptAt }, 'A delivery attempt failed; retrying')
  }
}

/** @source rules#webhooks.16, rules#logs.3 */
function reportCircuit(logger: Logger, { id, url }: CircuitRow, { state, reason }: Circuit): void {
  const line = { webhookId: id, host: URL.parse(url)?.host, ...(reason && { reason }) }
  if (state === 'paused') {
    logger.error(
      { event: 'endpoint.paused', ...line },
      'An endpoint was paused and its deliveries are held; fix it, then resume it',
    )
  } else if (state === 'degraded') {
    logger.warn({ event: 'endpoint.circuit_opened', ...line }, 'The circuit breaker of an endpoint opened; probing it')
  } else {
    logger.info({ event: 'endpoint.circuit_closed', ...line }, 'The circuit breaker of an endpoint closed')
  }
}
