import type { Logger } from '../platform/log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../platform/runtime.ts'

/** Why somebody was not let in. `throttled`: 429, whatever was shown. @source rules#metrics.8 */
export const REFUSAL_REASONS = {
  api_key: ['malformed', 'unknown', 'deactivated', 'expired', 'wrong_address', 'throttled', 'insufficient_scope'],
  operator: ['malformed', 'unknown', 'retired_admin_token', 'throttled', 'insufficient_role'],
} as const

/** Whose credential was refused. */
export type RefusedCredential = keyof typeof REFUSAL_REASONS

/** Is told of each that was refused; throws nothing. */
export type OnRefused = <Kind extends RefusedCredential>(
  kind: Kind,
  reason: (typeof REFUSAL_REASONS)[Kind][number],
) => void

/** Where refused credentials are reported. */
export interface RefusalReports {
  /** Of an API key. @param apiKeyId where the key is known */
  apiKey(reason: (typeof REFUSAL_REASONS)['api_key'][number], address: string, apiKeyId?: string): void
  /** Of what an operator shows. @param operatorId where it is known */
  operator(reason: (typeof REFUSAL_REASONS)['operator'][number], address: string, operatorId?: string): void
}

/** Makes the reports: a line at the first of a kind, then one a minute with how many more. @source rules#api-keys.9, rules#logs.3 */
export function createRefusalReports(
  logger: Logger,
  onRefused: OnRefused = () => undefined,
  heartbeat: Heartbeat = createHeartbeat(),
): RefusalReports {
  function line(sentence: string | undefined, fields: Readonly<Record<string, unknown>>, kind: string): void {
    if (sentence === undefined) return
    heartbeat.report(kind, (more) => logger.warn(fields, sentence + andMore(more)))
  }
  return {
    apiKey: (reason, address, apiKeyId) => {
      onRefused('api_key', reason)
      line(OF_API_KEYS[reason], { apiKeyId, reason, address }, `${apiKeyId} ${reason}`)
    },
    operator: (reason, address, operatorId) => {
      onRefused('operator', reason)
      line(OF_OPERATORS[reason], { operatorId, reason, address }, `${operatorId} ${reason}`)
    },
  }
}

/** What is malformed is counted and no more: nobody can mean it. */
const OF_API_KEYS: Readonly<Partial<Record<(typeof REFUSAL_REASONS)['api_key'][number], string>>> = {
  unknown: 'an API key that nobody has was refused',
  deactivated: 'an API key that was deactivated was refused; whoever uses it still has it',
  expired: 'an API key that has expired was refused; its owner needs another one',
  wrong_address: 'an API key was refused, as it may not be used from this address; somebody else may have it',
  throttled: 'an address has shown too many API keys that nobody has: more are refused without a look',
  insufficient_scope: 'a call was refused, as its API key does not have the scope',
}

const OF_OPERATORS: Readonly<Partial<Record<(typeof REFUSAL_REASONS)['operator'][number], string>>> = {
  unknown: 'a token that opens nothing was refused at an endpoint of the operator; somebody may be guessing',
  retired_admin_token:
    'PIXGATE_ADMIN_TOKEN was refused: since there is a named admin it makes API keys and reads the metrics, and nothing else',
  throttled: 'wrong tokens at the endpoints of the operator are answered 429 from now on; right ones pass',
  insufficient_role: 'a call was refused, as the role of its operator does not allow it',
}
