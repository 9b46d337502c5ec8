import { limits } from '@pixgate/spec'

const ESCALATE_MINUTES = limits.unknownResultEscalationMs / 60_000

/**
 * What a client does about what it reads and what it is notified of, in the words of the specification.
 * @source rules#reference.9
 */
export const clientRules: readonly string[] = [
  'GET by id is the authoritative view. Notifications come at least once and in any order. Where GET is ahead of a notification, trust GET; where a notification is ahead of GET, wait a few seconds and read again.',
  `\`PROVIDER_RESULT_UNKNOWN\` is not a failure: read it every 60 seconds, and escalate after ${ESCALATE_MINUTES} minutes without an outcome.`,
  '`RECONCILIATION_REQUIRED`: open a support ticket with the `id` and the `X-Correlation-ID`, and do not conclude the operation in your systems.',
  '`RELEASED`: a payout that was never sent; its money is free again, and its notification says `FAILED`. A status that you do not know is none of these: wait, and read again.',
]
