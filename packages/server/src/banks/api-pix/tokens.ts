import { Type } from 'typebox'
import { isSuccess } from '../answers.ts'
import type { Outcome, PartnerCall, PartnerLink } from '../link.ts'
import { bodyTest } from './bodies.ts'
import type { TokenForm } from './presets.ts'

/** The access tokens of a bank, by OAuth 2.0's grant of client credentials (RFC 6749 §4.4). */
export interface Tokens {
  /**
   * The token of now. One request is under way at a time, whatever the number of those who wait for it.
   * @returns the token, or what came of asking for one
   */
  current(): Promise<Grant | { readonly failed: Outcome }>
  /** The bank took a token no more: whoever asks next gets another one. */
  refused(token: string): void
}

/** A token. */
export interface Grant {
  readonly token: string
  /** What it allows, where the bank says. */
  readonly scopes: readonly string[] | undefined
}

/** What it needs. */
export interface TokensOptions {
  readonly link: Pick<PartnerLink, 'exchange'>
  /** Relative to the link's address. */
  readonly path: string
  readonly clientId: string
  /** Absent where the bank gave out none. */
  readonly clientSecret: string | undefined
  /** None: none is asked for. */
  readonly scopes: readonly string[]
  readonly form: Pick<TokenForm, 'encoding' | 'credentials'>
  /** A clock that goes on while the process sleeps, milliseconds. */
  readonly monotonic: () => number
}

/** A token is not used in its last minute: a call that begins with it may arrive when it has ended. */
const MARGIN_MS = 60_000

const isGrant = bodyTest(
  Type.Object({
    access_token: Type.String({ minLength: 1, pattern: '^[!-~]+$' }),
    expires_in: Type.Number({ minimum: 0 }),
    scope: Type.Optional(Type.String()),
  }),
)

/** Makes it; nothing is asked before the first call. @source rules#api-pix.1 */
export function createTokens(options: TokensOptions): Tokens {
  const { link, path, monotonic } = options
  let kept: (Grant & { readonly until: number }) | undefined
  let underWay: ReturnType<Tokens['current']> | undefined

  const request = requestOf(options)

  async function ask(): ReturnType<Tokens['current']> {
    const askedAt = monotonic()
    const outcome = await link.exchange({ method: 'POST', path, ...request })
    if (outcome.kind !== 'answered' || !isSuccess(outcome) || !isGrant(outcome.json)) return { failed: outcome }
    const { access_token: token, expires_in: seconds, scope } = outcome.json
    const grant = { token, scopes: scope?.split(' ') }
    // One that hardly lives longer than the margin is used once by each who waited for it.
    kept = { ...grant, until: askedAt + seconds * 1_000 - MARGIN_MS }
    return grant
  }

  return {
    current: async () => {
      if (kept && monotonic() < kept.until) return kept
      underWay ??= ask().finally(() => {
        underWay = undefined
      })
      return underWay
    },
    refused: (token) => {
      if (kept?.token === token) kept = undefined
    },
  }
}

/** @source rules#api-pix.1, rules#api-pix.14 */
function requestOf(options: TokensOptions): Pick<PartnerCall, 'authorization' | 'form' | 'body'> {
  const { clientId, clientSecret = '', scopes, form } = options
  const { encoding, credentials } = form
  const request = {
    grant_type: 'client_credentials',
    ...(credentials !== 'header' && { client_id: clientId }),
    ...(credentials === 'body' && { client_secret: clientSecret }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  }
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  return {
    authorization: credentials === 'header' ? basic : null,
    ...(encoding === 'form' ? { form: new URLSearchParams(request) } : { body: request }),
  }
}
