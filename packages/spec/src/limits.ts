/**
 * Every bound of the service that is not a merchant's configuration, in one place. Units stand last in the names.
 */
export const limits = {
  /** BACEN writes amounts as `\d{1,10}\.\d{2}`. @source rules#money.3 */
  valueMaxCents: 999_999_999_999n,
  /** @source rules#cash-in.create.3 */
  expirationDefaultSeconds: 86_400,
  expirationMinSeconds: 1,
  expirationMaxSeconds: 2_592_000,
  descriptionMaxLength: 140,
  reasonMaxLength: 140,
  /** Of a reason for a decision about a case, and of what the bank says. */
  caseReasonMaxLength: 500,
  /** Of an id or a reference that an operator has from the bank. */
  bankIdMaxLength: 128,
  nameMaxLength: 200,
  externalIdMaxLength: 128,
  correlationIdMaxLength: 256,
  pixKeyMaxLength: 77,
  /** A key with its mask, as people write it. */
  pixKeyInputMaxLength: 120,
  pixCodeMaxLength: 512,
  /** A code with white space around it, as people paste it. */
  pixCodeInputMaxLength: 1_024,
  /** Lists. @source rules#lists.1 */
  pageDefault: 1,
  pageMax: 1_000_000,
  pageLimitDefault: 20,
  pageLimitMax: 100,
  /** A page with so many rows before it is read apart from others. @source rules#lists.4 */
  deepPageFrom: 1_000,
  /** Exact totals end here; beyond it a total is `null`. */
  exactTotalMax: 10_000,
  /** A payment settled this long after `expirationDate` still pays the charge. @source rules#cash-in.states.9 */
  settlementGraceMs: 60_000,
  /** A partner's `occurredAt` may be this far in the future, no further. */
  occurredAtFutureMs: 300_000,
  /** A payment may be dated this long before its charge was made, no longer. @source rules#cash-in.states.14 */
  paidBeforeChargeMs: 300_000,
  /** So many payments of a charge are booked, or kept to be verified, on the word of events. @source rules#cash-in.credits.5 */
  reportedPaymentsMax: 20,
  /** So many returns of a charge are known, or in doubt, on the word of events. @source rules#cash-in.returns.9 */
  reportedReturnsMax: 20,
  /** A charge whose end the bank does not tell for so long after its time is a case. @source rules#cash-in.expired.5 */
  expiryOverdueMs: 3_600_000,
  /** Asking about an unknown result: the waits after each question, the last one repeated. @source rules#partner.4 */
  unknownResultQueryDelaysMs: [5_000, 10_000, 15_000, 30_000, 60_000],
  /** An unknown result becomes a case after this. @source rules#partner.5 */
  unknownResultEscalationMs: 900_000,
  /**
   * A bank that has a refund under way, asked so long after a return was told, thereby says that it is not that refund.
   * @source rules#cash-in.returns.3
   */
  returnDeniedAfterMs: 10_000,
  /** Not found proves that a payout never arrived: asked twice with this between, this long after the last attempt. */
  notFoundApartMs: 60_000,
  notFoundAfterAttemptMs: 300_000,
  /** A payout that nobody could take up for this long is given back. @source rules#cash-out.states.3 */
  unclaimedReleaseMs: 86_400_000,
  /** A payout of which no attempt left within this is given back. @source rules#cash-out.states.10 */
  unsentReleaseMs: 1_800_000,
  /** A payout that the bank has had for so long without an outcome is a case. @source rules#cash-out.states.15 */
  outcomeOverdueMs: 86_400_000,
  /** The statement is read so often. @source rules#statement.1 */
  statementReadEveryMs: 60_000,
  /** How far the bank's time may be from ours while every movement is still found. @source rules#statement.2 */
  statementClockSkewMs: 300_000,
  /** The first window of the statement reaches so far back at most. @source rules#statement.2 */
  statementLookBackMs: 86_400_000,
  /** A window is no longer than this: what a crash makes us read again. */
  statementWindowMaxMs: 21_600_000,
  /** The bank's answer about what only the statement told is waited for so long. @source rules#statement.5 */
  statementAnswerWithinMs: 30_000,
  /** Incoming money that nothing has explained for so long is held in suspense, with a case. @source rules#statement.6 */
  statementUnexplainedMs: 60_000,
  /** An outgoing line that nothing has explained for so long is a case: an operator may be about to record a withdrawal. @source rules#statement.6 */
  statementDifferenceMs: 300_000,
  /** A create that died before its partner call is taken up again after this. @source rules#cash-in.work.4 */
  abandonedIntentMs: 15_000,
  /** The partner's signature is valid this far on either side of our clock. @source rules#partner-inbox.2 */
  partnerTimestampWindowMs: 300_000,
  /** Days of 24 hours, counted from `paidAt`. @source rules#cash-in.detail.5 */
  refundDeadlineDays: 89,
  /** For how long after its payment money in suspense may go back to its payer: as long as Pix takes a return. */
  returnToPayerDays: 90,
  webhookUrlMaxLength: 2_048,
  /** Besides 443. @source rules#webhooks.1 */
  webhookPortMin: 1_024,
  webhookSubscriptionsMax: 20,
  /** Wall clock of one delivery attempt, DNS to the end of the headers. @source rules#webhooks.5 */
  webhookTimeoutMs: 5_000,
  webhookConnectTimeoutMs: 2_000,
  /** What is read of a receiver's answer, at most. */
  webhookResponseMaxBytes: 16_384,
  /** What is kept of it, in characters. @source rules#webhooks.17 */
  webhookExcerptMaxLength: 256,
  /** Test events that a process has under way. @source rules#webhooks.20 */
  webhookTestsAtOnce: 8,
  /** Attempts of a resend. @source rules#webhooks.21 */
  webhookResendAttempts: 4,
  /** Deliveries of one request to recover, or to send what was missed. @source rules#webhooks.22 */
  webhookResendMax: 10_000,
  /** The last attempts of a delivery are shown, so many at most. @source rules#webhooks.18 */
  webhookAttemptsShownMax: 100,
  /**
   * Waits before each attempt after the first, counted from the end of the one before: 14 attempts, about 76 hours.
   * @source rules#webhooks.6
   */
  webhookRetryDelaysMs: [
    5_000, 30_000, 120_000, 300_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000, 43_200_000,
    86_400_000, 86_400_000,
  ],
  /**
   * What gets the whole schedule besides 5xx: receivers answer 401 and 404, too, while they roll out or take up a new key.
   * @source rules#webhooks.6
   */
  webhookRetriedStatuses: [401, 403, 404, 408, 409, 425, 429],
  /** How many attempts an answer gets that a retry is unlikely to change. @source rules#webhooks.7 */
  webhookShortScheduleAttempts: 4,
  /** Attempts that a process has under way at one endpoint. @source rules#webhooks.10 */
  webhookInFlight: 16,
  /** Longest wait of a later notification of an operation for the earlier one. @source rules#webhooks.25 */
  webhookOrderMs: 60_000,
  /**
   * Failures in a row that open the circuit breaker of an endpoint: the first number where the last one had no answer or a 5xx, the
   * second of any kind.
   * @source rules#webhooks.13
   */
  webhookOpenAfterOutages: 5,
  webhookOpenAfterFailures: 10,
  /** Waits before each probe of an endpoint; the last is that before all others. @source rules#webhooks.13 */
  webhookProbeDelaysMs: [5_000, 15_000, 30_000, 60_000],
  /** Time and attempts without a success after which an endpoint is paused. @source rules#webhooks.14 */
  webhookPauseAfterMs: 259_200_000,
  webhookPauseFailures: 20,
  /** A delivery that was held for so long is given up. @source rules#webhooks.14 */
  webhookHeldMs: 2_592_000_000,
  /** Longest time for which `Retry-After` holds an endpoint. @source rules#webhooks.12 */
  webhookHoldMaxMs: 60_000,
  /** Longest wait of a request for events, and most of them at once in a process and of an API key. @source rules#feed.6 */
  eventsWaitMaxSeconds: 20,
  eventsWaitingMax: 50,
  eventsWaitingOfKeyMax: 10,
  /** Of random bytes in an endpoint's secret. @source rules#webhook-secrets.1 */
  webhookSecretBytes: 32,
  /** Those of one endpoint that sign at the same time. @source rules#webhook-secrets.3 */
  webhookSecretsMax: 4,
  /** For which a secret signs beside the next one, unless told otherwise, and at most. @source rules#webhook-secrets.2 */
  webhookSecretOverlapSeconds: 86_400,
  webhookSecretOverlapMaxSeconds: 604_800,
  publicKeyMaxAgeSeconds: 300,
  /** What a process answers of the published keys is so old at most. @source rules#signing-keys.5 */
  publishedKeysAgeMs: 1_000,
  /** How long a key that was replaced is published. @source rules#signing-keys.1 */
  signingKeyPreviousMs: 2_592_000_000,
  /** Next, current and previous. @source rules#signing-keys.1 */
  signingKeysPublishedMax: 3,
  signingKeysListMax: 100,
  bodyMaxBytes: 65_536,
  /** A deactivated API key stops working everywhere within this. @source rules#api-keys.4 */
  apiKeyCacheMs: 5_000,
  /** Text of an address with its prefix. */
  cidrMaxLength: 49,
  /** Networks of one API key. @source rules#api-keys.9 */
  cidrsMax: 50,
  /** When a key or an operator was used is written so often at most. @source rules#api-keys.11 */
  lastUsedEveryMs: 60_000,
  /** Look-ups of API keys that turn out to be none, from one address. @source rules#api-keys.12 */
  unknownKeysPerMinuteAndAddress: 60,
  /** What an API key may ask for at once, of its requests a minute. @source rules#http.12 */
  rateLimitBurstSeconds: 10,
  /** Wrong administrative tokens, from one address and from all of them. @source rules#api-keys.7 */
  adminFailuresPerMinuteAndAddress: 5,
  adminFailuresPerMinute: 30,
} as const
