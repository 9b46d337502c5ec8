import { type Endpoint, getMetrics } from '@pixgate/spec'
import { secretsEqual } from '../platform/crypto.ts'
import type { Caller } from '../platform/http/handler.ts'

/** The tokens that stand in the configuration, each also as it was before while it is being replaced. */
export interface ConfiguredTokens {
  /** `PIXGATE_ADMIN_TOKEN`. */
  readonly adminToken: string
  /** `PIXGATE_ADMIN_TOKEN_PREVIOUS`. */
  readonly adminTokenPrevious?: string | undefined
  /** `PIXGATE_METRICS_TOKEN`. */
  readonly metricsToken?: string | undefined
  /** `PIXGATE_METRICS_TOKEN_PREVIOUS`. */
  readonly metricsTokenPrevious?: string | undefined
}

/** Whose token it is. */
export interface ConfiguredToken {
  readonly text: string | undefined
  readonly caller: Caller
  /** The variable that it stands in, where it is one that is being replaced. */
  readonly previousSecret?: string
}

/** Who comes with the administrative token. */
export const BY_ADMIN_TOKEN: Caller = { credential: 'admin', id: 'admin', role: 'admin' }

const BY_SCRAPER: Caller = { credential: 'admin', id: 'metrics', role: 'viewer' }

/**
 * Finds the configured token that was shown; that of the metrics counts where these are read, and nowhere else.
 * @source rules#metrics.4, rules#rotation.1
 */
export function createConfiguredTokens(
  tokens: ConfiguredTokens,
): (shown: string, endpoint: Endpoint) => ConfiguredToken | undefined {
  const known: readonly ConfiguredToken[] = [
    { text: tokens.adminToken, caller: BY_ADMIN_TOKEN },
    { text: tokens.adminTokenPrevious, caller: BY_ADMIN_TOKEN, previousSecret: 'PIXGATE_ADMIN_TOKEN_PREVIOUS' },
    { text: tokens.metricsToken, caller: BY_SCRAPER },
    { text: tokens.metricsTokenPrevious, caller: BY_SCRAPER, previousSecret: 'PIXGATE_METRICS_TOKEN_PREVIOUS' },
  ]
  return (shown, endpoint) =>
    known.find(
      ({ text, caller }) =>
        (caller !== BY_SCRAPER || endpoint === getMetrics) && text !== undefined && secretsEqual(shown, text),
    )
}
