/** Bounds of the API, and those that several files share. A number of one module is a constant there. Units are at the end of the names. */
export const limits = {
  /** BACEN writes amounts as `\d{1,10}\.\d{2}`. @source rules#money.3 */
  valueMaxCents: 999_999_999_999n,
  /** @source rules#cash-in.create.3 */
  expirationDefaultSeconds: 86_400,
  expirationMinSeconds: 1,
  expirationMaxSeconds: 2_592_000,
  descriptionMaxLength: 140,
  reasonMaxLength: 140,
  /** Reasons of decisions, and texts of the bank. */
  caseReasonMaxLength: 500,
  /** Ids and references that an operator copies from the bank. */
  bankIdMaxLength: 128,
  nameMaxLength: 200,
  externalIdMaxLength: 128,
  correlationIdMaxLength: 256,
  pixKeyMaxLength: 77,
  /** A key with its mask. */
  pixKeyInputMaxLength: 120,
  pixCodeMaxLength: 512,
  /** Sides of a QR code's image. @source rules#cash-in.qrcode.2 */
  qrCodeMinPixels: 128,
  qrCodeMaxPixels: 2_000,
  qrCodeDefaultPixels: 300,
  /** Receipts made at a time, and those that wait for it. @source rules#receipt.7 */
  receiptsAtOnce: 2,
  receiptsWaiting: 50,
  /** A code with surrounding white space. */
  pixCodeInputMaxLength: 1_024,
  /** Lists. @source rules#lists.1 */
  pageDefault: 1,
  pageMax: 1_000_000,
  pageLimitDefault: 20,
  pageLimitMax: 100,
  /** Pages with at least this many rows before them are read in a pool apart. @source rules#lists.4 */
  deepPageFrom: 1_000,
  /** Maximum of exact totals; beyond it a total is `null`. */
  exactTotalMax: 10_000,
  /** Latest settlement after `expirationDate` that still pays the charge. @source rules#cash-in.states.9 */
  settlementGraceMs: 60_000,
  /** Maximum of a partner's `occurredAt` ahead of our clock. */
  occurredAtFutureMs: 300_000,
  /** Maximum of a payment's date before its charge's creation. @source rules#cash-in.states.14 */
  paidBeforeChargeMs: 300_000,
  /**
   * Maximum of payments of a charge that are booked or kept for verification on events alone.
   * @source rules#cash-in.credits.5
   */
  reportedPaymentsMax: 20,
  /** Maximum of returns of a charge that are known or in doubt on events alone. @source rules#cash-in.returns.9 */
  reportedReturnsMax: 20,
  /**
   * Time after the expiry without the bank's answer after which a charge becomes a case.
   * @source rules#cash-in.expired.5
   */
  expiryOverdueMs: 3_600_000,
  /** Delays between queries of an unknown result, the last one repeated. @source rules#partner.4 */
  unknownResultQueryDelaysMs: [5_000, 10_000, 15_000, 30_000, 60_000],
  /** Age at which an unknown result becomes a case. @source rules#partner.5 */
  unknownResultEscalationMs: 900_000,
  /**
   * If the bank reports a refund in progress this long after a return was reported, the return is not that refund.
   * @source rules#cash-in.returns.3
   */
  returnDeniedAfterMs: 10_000,
  /**
   * «Not found» proves that a payout never arrived if two queries agree, this far apart and this long after the last
   * attempt.
   */
  notFoundApartMs: 60_000,
  notFoundAfterAttemptMs: 300_000,
  /** Age of an unclaimed payout that is released. @source rules#cash-out.states.3 */
  unclaimedReleaseMs: 86_400_000,
  /** Time without a sent attempt after which a payout is released. @source rules#cash-out.states.10 */
  unsentReleaseMs: 1_800_000,
  /** Time in progress at the bank after which a payout becomes a case. @source rules#cash-out.states.15 */
  outcomeOverdueMs: 86_400_000,
  /** Interval of reading the statement. @source rules#statement.1 */
  statementReadEveryMs: 60_000,
  /**
   * Maximum difference between the bank's clock and ours at which every movement is found.
   * @source rules#statement.2
   */
  statementClockSkewMs: 300_000,
  /** Maximum look-back of the statement's first window. @source rules#statement.2 */
  statementLookBackMs: 86_400_000,
  /** Maximum length of a window, which bounds repeated reading after a crash. */
  statementWindowMaxMs: 21_600_000,
  /** Wait for the bank's answer about a line of the statement. @source rules#statement.5 */
  statementAnswerWithinMs: 30_000,
  /** Age at which unexplained incoming money is held in suspense, with a case. @source rules#statement.6 */
  statementUnexplainedMs: 60_000,
  /**
   * Age at which an unexplained outgoing line becomes a case: an operator may be about to record a withdrawal.
   * @source rules#statement.6
   */
  statementDifferenceMs: 300_000,
  /** Age at which a create that crashed before its partner call is resumed. @source rules#cash-in.work.4 */
  abandonedIntentMs: 15_000,
  /** Validity of the partner's signature on either side of our clock. @source rules#partner-inbox.2 */
  partnerTimestampWindowMs: 300_000,
  /** Days of 24 hours, counted from `paidAt`. @source rules#cash-in.detail.5 */
  refundDeadlineDays: 89,
  /** Time after its payment in which money in suspense can be returned to the payer, as Pix allows. */
  returnToPayerDays: 90,
  webhookUrlMaxLength: 2_048,
  /** In addition to 443. @source rules#webhooks.1 */
  webhookPortMin: 1_024,
  webhookSubscriptionsMax: 20,
  /** Wall time of a delivery attempt, from DNS to the end of the headers. @source rules#webhooks.5 */
  webhookTimeoutMs: 5_000,
  webhookConnectTimeoutMs: 2_000,
  /** Maximum that is read of a receiver's answer. */
  webhookResponseMaxBytes: 16_384,
  /** Maximum that is stored of it, in characters. @source rules#webhooks.17 */
  webhookExcerptMaxLength: 256,
  /** Concurrent test events of a process. @source rules#webhooks.20 */
  webhookTestsAtOnce: 8,
  /** Attempts of a resend. @source rules#webhooks.21 */
  webhookResendAttempts: 4,
  /** Maximum of deliveries per request to recover or to send missed ones. @source rules#webhooks.22 */
  webhookResendMax: 10_000,
  /** Maximum of shown attempts of a delivery, the last ones. @source rules#webhooks.18 */
  webhookAttemptsShownMax: 100,
  /**
   * Delays of retries, counted from the end of the previous attempt: 14 attempts, about 76 hours.
   * @source rules#webhooks.6
   */
  webhookRetryDelaysMs: [
    5_000, 30_000, 120_000, 300_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000, 43_200_000,
    86_400_000, 86_400_000,
  ],
  /**
   * Statuses with the full schedule besides 5xx: receivers also answer 401 and 404 while they deploy or adopt a new
   * key.
   * @source rules#webhooks.6
   */
  webhookRetriedStatuses: [401, 403, 404, 408, 409, 425, 429],
  /** Attempts for an answer that a retry is unlikely to change. @source rules#webhooks.7 */
  webhookShortScheduleAttempts: 4,
  /** Concurrent attempts of a process per endpoint. @source rules#webhooks.10 */
  webhookInFlight: 48,
  /** Maximum wait of an operation's later notification for the earlier one. @source rules#webhooks.25 */
  webhookOrderMs: 60_000,
  /**
   * Consecutive failures that open the circuit breaker of an endpoint: the first number if the last one was unanswered
   * or a 5xx, the second for any kind.
   * @source rules#webhooks.13
   */
  webhookOpenAfterOutages: 5,
  webhookOpenAfterFailures: 10,
  /** Delays of an endpoint's probes, the last one repeated. @source rules#webhooks.13 */
  webhookProbeDelaysMs: [5_000, 15_000, 30_000, 60_000],
  /** Time and failures without a success after which an endpoint is paused. @source rules#webhooks.14 */
  webhookPauseAfterMs: 259_200_000,
  webhookPauseFailures: 20,
  /** Maximum time for which a delivery is held. @source rules#webhooks.14 */
  webhookHeldMs: 2_592_000_000,
  /** Maximum time for which `Retry-After` holds an endpoint. @source rules#webhooks.12 */
  webhookHoldMaxMs: 60_000,
  /**
   * Maximum wait of a request for events, and maximum of waiting requests per process and API key.
   * @source rules#feed.6
   */
  eventsWaitMaxSeconds: 20,
  eventsWaitingMax: 50,
  eventsWaitingOfKeyMax: 10,
  /** Random bytes of an endpoint's secret. @source rules#webhook-secrets.1 */
  webhookSecretBytes: 32,
  /** Concurrently signing secrets of an endpoint. @source rules#webhook-secrets.3 */
  webhookSecretsMax: 4,
  /** Default and maximum time for which a secret signs beside the next one. @source rules#webhook-secrets.2 */
  webhookSecretOverlapSeconds: 86_400,
  webhookSecretOverlapMaxSeconds: 604_800,
  /** Minimum time between two alerts about the same. @source rules#alerts.2 */
  alertAgainMs: 1_800_000,
  /** Minimum time between two messages of a kind, and alerts that a message lists. @source rules#alerts.3 */
  alertMessageEveryMs: 300_000,
  alertLinesMax: 10,
  /** Waits after failed attempts; the last one repeats until the maximum of attempts. @source rules#alerts.4 */
  alertRetryDelaysMs: [60_000, 300_000, 900_000, 1_800_000, 3_600_000],
  alertAttemptsMax: 24,
  alertTimeoutMs: 15_000,
  /** Closes that are looked at. */
  alertCloseAgeMs: 604_800_000,
  publicKeyMaxAgeSeconds: 300,
  /** Requests of one address to payment pages: each minute, and at once. @source rules#payment-page.6 */
  paymentPagePerMinute: 600,
  paymentPageBurst: 200,
  /**
   * Maximum wait of a page for the next state, maximum of waiting pages per process, and time between two looks.
   * @source rules#payment-page.4
   */
  paymentPageWaitSeconds: 20,
  paymentPagesWaitingMax: 1_000,
  paymentPageLookMs: 500,
  /** @source rules#payment-page.7 */
  paymentPageLogoMaxBytes: 32_768,
  /** Maximum age of published keys in an answer. @source rules#signing-keys.5 */
  publishedKeysAgeMs: 1_000,
  /** Time for which a replaced key is published. @source rules#signing-keys.1 */
  signingKeyPreviousMs: 2_592_000_000,
  /** Next, current and previous. @source rules#signing-keys.1 */
  signingKeysPublishedMax: 3,
  signingKeysListMax: 100,
  bodyMaxBytes: 65_536,
  /** Time within which a deactivated API key stops working everywhere. @source rules#api-keys.4 */
  apiKeyCacheMs: 5_000,
  /** An address with its prefix. */
  cidrMaxLength: 49,
  /** Networks of an API key. @source rules#api-keys.9 */
  cidrsMax: 50,
  /** Minimum interval of writing the last use of a key or operator. @source rules#api-keys.11 */
  lastUsedEveryMs: 60_000,
  /** Look-ups of unknown API keys from one address. @source rules#api-keys.12 */
  unknownKeysPerMinuteAndAddress: 60,
  /** Burst of an API key, as a share of its requests a minute. @source rules#http.12 */
  rateLimitBurstSeconds: 10,
  /** Wrong administrative tokens from one address, and from all. @source rules#api-keys.7 */
  adminFailuresPerMinuteAndAddress: 5,
  adminFailuresPerMinute: 30,
} as const
