/** What an API key may be for. @source rules#api-keys.8 */
export const apiKeyScopes = ['read', 'charge', 'payout', 'refund', 'webhook'] as const

/** One of {@link apiKeyScopes}. */
export type ApiKeyScope = (typeof apiKeyScopes)[number]
