import { limits, Refusal } from '@pixgate/spec'

/** When a receiver's secret is exchanged, and what becomes of those before it. Pure. */

/**
 * From when on the secrets of before sign no more, in epoch milliseconds. One that ends earlier keeps its end.
 * @param overlapSeconds for which both sign; 0: it has leaked
 * @throws Refusal too_many_webhook_secrets (409) where as many as may be would still sign beside the new one
 * @source rules#webhook-secrets.2, rules#webhook-secrets.3
 */
export function endOfOverlap(signing: number, overlapSeconds: number, nowMs: number): number {
  if (overlapSeconds > 0 && signing >= limits.webhookSecretsMax) throw new Refusal('too_many_webhook_secrets')
  return nowMs + overlapSeconds * 1_000
}
