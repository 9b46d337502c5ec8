import type { Logger } from '../../platform/log.ts'
import type { Claim } from './claims/store.ts'
import type { EndedAttempt, MovedLane } from './records/store.ts'

/** Is told of attempts to deliver. Throws nothing. */
export interface DeliveryObserver {
  /**
   * An attempt ended and was recorded.
   * @param outcome `delivered`, `refused` by the receiver's status, or why there was no answer
   * @param state what became of the delivery
   */
  onAttempt(outcome: string, state: EndedAttempt['state'], durationMs: number): void
}

/** Where a report goes. */
export interface DeliveryReporting {
  readonly logger: Logger
  readonly observer?: DeliveryObserver
}

/**
 * Reports an attempt. Of the receiver's address only the host is named: its path may be a secret.
 * @source rules#logs.1, rules#logs.3
 */
export function reportAttempt({ logger, observer }: DeliveryReporting, claim: Claim, ended: EndedAttempt): void {
  const { outcome, code, state, statusCode, nextAttemptAt } = ended
  observer?.onAttempt(outcome, state, ended.endedAt - ended.startedAt)
  if (state === 'DELIVERED') return
  const attempt = {
    webhookId: claim.subscriptionId,
    host: URL.parse(claim.url)?.host,
    delivery: claim.id,
    notification: claim.notificationId,
    attempt: ended.attempt,
    reason: statusCode === null ? outcome : `HTTP ${statusCode}`,
    ...(code === undefined ? {} : { code }),
  }
  if (nextAttemptAt === null) {
    logger.error(attempt, 'a delivery was given up: there will be no further attempt')
  } else {
    const next = new Date(nextAttemptAt).toISOString()
    logger.warn({ ...attempt, nextAttemptAt: next }, 'a delivery failed and is tried again')
  }
}

/**
 * Reports that a receiver no longer gets what is due, or gets it again.
 * @source rules#webhooks.16, rules#logs.3
 */
export function reportLane(logger: Logger, { subscriptionId, url, state, reason }: MovedLane): void {
  const lane = { webhookId: subscriptionId, host: URL.parse(url)?.host, ...(reason && { reason }) }
  if (state === 'paused') logger.error(lane, 'a receiver is paused: what is due is held until it is resumed')
  else if (state === 'degraded')
    logger.warn(lane, 'a receiver is probed: what is due is held until it takes two probes')
  else logger.info(lane, 'a receiver is well again: what was held is sent')
}
