import { explanationOf } from './explanation.ts'
import type { AttemptRow, DeliveryRow } from './store.ts'

/** Writes a delivery for the API. @source rules#webhooks.18 */
export function deliveryView(row: DeliveryRow) {
  const { id, webhookId, notificationId, eventType, operationId, correlationId, state, attemptCount } = row
  return {
    ...{ id, webhookId, notificationId, eventType, operationId, correlationId, state, attemptCount },
    nextAttemptAt: instantOrNull(row.nextAttemptAt),
    createdAt: new Date(row.createdAt).toISOString(),
    finishedAt: instantOrNull(row.finishedAt),
  }
}

/** What every attempt shows, kept or just made. @source rules#webhooks.17 */
export function attemptFieldsView(row: Omit<AttemptRow, 'attempt' | 'endedAt' | 'replayId'>) {
  const { startedAt, outcome, statusCode, code, answer, dnsMs, connectMs, tlsMs, waitMs, totalMs } = row
  const times = { dnsMs, connectMs, tlsMs, waitMs, totalMs }
  const explanation = explanationOf({ outcome, statusCode, code, times })
  return { startedAt: new Date(startedAt).toISOString(), outcome, explanation, statusCode, answer, times }
}

/** Writes an attempt that was kept. */
export function attemptView({ attempt, endedAt, replayId, ...row }: AttemptRow) {
  return { attempt, ...attemptFieldsView(row), endedAt: new Date(endedAt).toISOString(), replayId }
}

function instantOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString()
}
