import { limits } from '@pixgate/spec'
import { type Database, instantOrNull, instantParameter, statement } from '../platform/db/database.ts'
import type { AlertContent, AlertKind } from './words.ts'

/** SQL of alerts: what needs a person, the messages about it, and their attempts. Writes no other table. */

/** Kinds that only processes know of, from what they have in memory. They end by themselves. */
const OBSERVED = `('bank_away', 'certificate_ends')`

/**
 * Conditions in the database that need a person now. Cases that have an alert of another kind are left out.
 * $1: closes made before are old.
 */
const FOUND = `
  SELECT 'case_opened' AS kind, id::text AS subject FROM "case"
   WHERE closed_at IS NULL AND kind NOT IN ('close_differs', 'adjustment_requested', 'refund_requested')
   UNION ALL
  SELECT 'payouts_suspended',
         CASE value ->> 'by' WHEN 'trip-wire' THEN 'trip_wire' WHEN 'database-watch' THEN 'restored' ELSE 'operator' END
         || ' ' || version
    FROM control WHERE name = 'cash_out_switch' AND NOT (value ->> 'enabled')::boolean
   UNION ALL
  SELECT 'endpoint_down', id || ' ' || state FROM endpoint
   WHERE deleted_at IS NULL AND state IN ('degraded', 'paused') AND reason NOT IN ('requested', 'resumed')
   UNION ALL
  SELECT 'close_differs', day::text FROM daily_close
   WHERE made_at > $1 AND content::jsonb ->> 'status' = 'DIFFERS'
   UNION ALL
  SELECT 'approval_waiting', 'payout ' || id FROM operation
   WHERE kind = 'cash_out' AND status = 'RESERVED' AND facts ? 'approval' AND NOT facts ? 'approvedAt'
   UNION ALL
  SELECT 'approval_waiting', 'case ' || s.case_id || ' ' || s.id
    FROM case_step s JOIN "case" c ON c.id = s.case_id AND c.closed_at IS NULL AND c.version::text = s.case_version
   WHERE s.step = 'proposed'
     AND NOT EXISTS (SELECT FROM case_step e WHERE e.proposal_id = s.id)
     AND EXISTS (SELECT FROM credential o WHERE o.id::text = s.operator_id AND o.deactivated_at IS NULL)`

const lockStatement = statement<[], never>('alerts.lock', 'SELECT pg_advisory_xact_lock(7046741014)')

const endStatement = statement<[closesSince: string, again: string, now: string]>(
  'alerts.end',
  `WITH found AS (${FOUND})
   UPDATE alert a SET ended_at = $3
    WHERE ended_at IS NULL
      AND CASE WHEN kind IN ${OBSERVED} THEN at <= $2
               ELSE NOT EXISTS (SELECT FROM found f WHERE f.kind = a.kind AND f.subject = a.subject) END`,
)

const openStatement = statement<[closesSince: string, again: string, now: string]>(
  'alerts.open',
  `INSERT INTO alert (id, kind, subject, at)
   SELECT gen_random_uuid(), f.kind, f.subject, $3
     FROM (${FOUND}) f
    WHERE NOT EXISTS (SELECT FROM alert a
                       WHERE a.kind = f.kind AND a.subject = f.subject AND (a.ended_at IS NULL OR a.at > $2))`,
)

const writeStatement = statement<[channels: readonly string[], since: string, now: string]>(
  'alerts.write',
  `WITH made AS (
     SELECT w.kind, gen_random_uuid() AS id FROM alert w
      WHERE w.message_id IS NULL
        AND NOT EXISTS (SELECT FROM alert_message m WHERE m.kind = w.kind AND m.made_at > $2)
      GROUP BY w.kind),
   assigned AS (
     UPDATE alert a SET message_id = made.id FROM made WHERE a.kind = made.kind AND a.message_id IS NULL)
   INSERT INTO alert_message (id, channel, kind, made_at, due_at)
   SELECT made.id, channel, made.kind, $3, $3 FROM made, unnest($1::text[]) AS channel`,
)

/**
 * Opens an alert for each new cause, ends those whose cause has ended, and makes the messages that are due. Processes take
 * turns, so that each alert is in one message.
 * @source rules#alerts.1, rules#alerts.2, rules#alerts.3
 */
export function findAlerts(database: Database, channels: readonly string[], now: number): Promise<void> {
  const found = [
    instantParameter(now - limits.alertCloseAgeMs),
    instantParameter(now - limits.alertAgainMs),
    instantParameter(now),
  ] as const
  return database.transaction(async (queries) => {
    await queries.rows(lockStatement, [])
    await queries.rows(endStatement, [...found])
    await queries.rows(openStatement, [...found])
    const since = instantParameter(now - limits.alertMessageEveryMs)
    await queries.rows(writeStatement, [channels, since, instantParameter(now)])
  })
}

/** Something that only a process knows of. */
export interface Observed {
  readonly kind: AlertKind
  readonly subject: string
  /** No new alert if there was one about the same since then. */
  readonly alertedSince: number
}

const observeStatement = statement<[kind: string, subject: string, alertedSince: string, now: string]>(
  'alerts.observe',
  `INSERT INTO alert (id, kind, subject, at)
   SELECT gen_random_uuid(), $1, $2, $4
    WHERE NOT EXISTS (SELECT FROM alert WHERE kind = $1 AND subject = $2 AND at > $3)
   ON CONFLICT DO NOTHING`,
)

/** Opens an alert about it, unless there was one since `alertedSince`. */
export async function openObserved(database: Database, observed: Observed, now: number): Promise<void> {
  const { kind, subject, alertedSince } = observed
  await database.rows(observeStatement, [kind, subject, instantParameter(alertedSince), instantParameter(now)])
}

/** A message leased to this process. */
export interface ClaimedMessage extends AlertContent {
  readonly id: string
  /** Attempts that failed. */
  readonly attempts: number
}

const claimStatement = statement<[channel: string, now: string, leasedUntil: string, linesMax: number], ClaimedMessage>(
  'alerts.claim',
  `WITH claimed AS (
     UPDATE alert_message SET leased_until = $3
      WHERE channel = $1
        AND id = (SELECT id FROM alert_message
                   WHERE channel = $1 AND due_at <= $2 AND (leased_until IS NULL OR leased_until <= $2)
                   ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING id, kind, made_at, attempts)
   SELECT c.id, c.kind, c.made_at AS "madeAt", c.attempts,
          (SELECT count(*)::integer FROM alert WHERE message_id = c.id) AS count,
          ARRAY(SELECT subject FROM alert WHERE message_id = c.id ORDER BY at, id LIMIT $4) AS subjects
     FROM claimed c`,
)

/** Leases the message of a channel that is due first. */
export async function claimMessage(
  database: Database,
  channel: string,
  now: number,
  leasedUntil: number,
): Promise<ClaimedMessage | undefined> {
  const instants = [instantParameter(now), instantParameter(leasedUntil)] as const
  return (await database.rows(claimStatement, [channel, ...instants, limits.alertLinesMax]))[0]
}

const finishStatement = statement<
  [id: string, channel: string, leasedUntil: string, sentAt: string | null, dueAt: string | null]
>(
  'alerts.finish',
  `UPDATE alert_message
      SET leased_until = NULL, due_at = $5, sent_at = $4, attempts = attempts + ($4::timestamptz IS NULL)::integer
    WHERE id = $1 AND channel = $2 AND leased_until = $3`,
)

export interface Finish {
  readonly id: string
  readonly channel: string
  readonly leasedUntil: number
  /** `null`: it was not sent. */
  readonly sentAt: number | null
  /** `null`: there is no next attempt. */
  readonly dueAt: number | null
}

/** Records an attempt. A worker whose lease was taken by another one changes nothing. */
export async function finishMessage(database: Database, { id, channel, ...instants }: Finish): Promise<void> {
  const { leasedUntil, sentAt, dueAt } = instants
  const until = instantParameter(leasedUntil)
  await database.rows(finishStatement, [id, channel, until, instantOrNull(sentAt), instantOrNull(dueAt)])
}

const forgetStatement = statement<[]>('alerts.forget', 'SELECT forget_alerts()')

/** @source rules#alerts.10 */
export async function forgetAlerts(database: Database): Promise<void> {
  await database.rows(forgetStatement, [])
}
