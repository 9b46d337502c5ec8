import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import { isSuccess } from '../exchange.ts'
import type { Outcome, PartnerCall, PartnerLink } from '../link.ts'
import type { SendWindow } from '../port.ts'
import { bodyTest } from '../values.ts'
import type { ApiPixConfig } from './config.ts'
import type { AddedPart, AddedValue, TokenForm } from './presets.ts'

/** HTTP to a bank of API Pix: pauses requested by the bank, access tokens, and additions to the standard's calls. */

type NotSent = Extract<Outcome, { readonly kind: 'not sent' }>

export interface RetryAfterLink extends PartnerLink {
  /** Outcome of a call that would have to pause now; `undefined` if it would be sent. */
  pauseFor(call: PartnerCall): NotSent | undefined
}

/** Longer pauses are cut to this: five minutes. */
const LONGEST_WAIT_MS = 300_000

/**
 * Pauses calls of a kind for which the bank sent `Retry-After`. They are reported as not sent with the remaining
 * time, so that orders go out later under the same id. Banks limit each kind of call separately, so other kinds
 * continue.
 * @param monotonicMs milliseconds of a clock that goes on while the process is suspended
 * @param isPausable calls to pause; by default all
 * @source rules#api-pix.15
 */
export function retryAfterLink(
  link: PartnerLink,
  monotonicMs: () => number,
  isPausable: (call: PartnerCall) => boolean = () => true,
): RetryAfterLink {
  const waits = new Map<string, { readonly endsAt: number; readonly httpStatus: number }>()

  function pauseFor(call: PartnerCall): NotSent | undefined {
    const wait = isPausable(call) ? waits.get(kindOf(call)) : undefined
    if (!wait || monotonicMs() >= wait.endsAt) return undefined
    const { endsAt, httpStatus } = wait
    return { kind: 'not sent', reason: 'the bank asked to wait', httpStatus, retryAfterMs: endsAt - monotonicMs() }
  }
  return {
    pauseFor,
    exchange: async (call, deadline, window) => {
      const paused = pauseFor(call)
      if (paused) return paused
      const outcome = await link.exchange(call, deadline, window)
      if (outcome.kind === 'answered' && outcome.retryAfterMs !== undefined) {
        const endsAt = monotonicMs() + Math.min(outcome.retryAfterMs, LONGEST_WAIT_MS)
        waits.set(kindOf(call), { endsAt, httpStatus: outcome.httpStatus })
      }
      return outcome
    },
    close: () => link.close(),
  }
}

/**
 * Method and path without ids. The standard gives a txid 26 to 35 characters and an end-to-end id 32; no other part of a
 * path is that long.
 */
function kindOf({ method, path }: PartnerCall): string {
  const [named = ''] = path.split('?')
  return `${method} ${named.replace(/\/[^/]{26,}/g, '/{id}')}`
}

export type Tokens = ReturnType<typeof createTokens>

interface Grant {
  readonly token: string
  readonly scopes: readonly string[] | undefined
}

type TokenResult = Grant | { readonly failed: Outcome }

export interface TokensOptions extends Pick<ApiPixConfig, 'clientId' | 'clientSecret'> {
  readonly link: Pick<PartnerLink, 'exchange'>
  readonly path: string
  readonly scopes: readonly string[]
  readonly form: Pick<TokenForm, 'encoding' | 'credentials'>
  /** Milliseconds of a clock that goes on while the process is suspended. */
  readonly monotonicMs: () => number
}

/** Tokens are not used in their last minute: they might expire before the call arrives. */
const EXPIRY_MARGIN_MS = 60_000

const isGrant = bodyTest(
  Type.Object({
    access_token: Type.String({ minLength: 1, pattern: '^[!-~]+$' }),
    expires_in: Type.Number({ minimum: 0 }),
    scope: Type.Optional(Type.String()),
  }),
)

/** Requests access tokens and keeps the current one. @source rules#api-pix.1 */
export function createTokens(options: TokensOptions) {
  const { link, path, monotonicMs } = options
  let cached: (Grant & { readonly usableUntilMs: number }) | undefined
  let underWay: Promise<TokenResult> | undefined
  const request = tokenRequestOf(options)

  async function ask(): Promise<TokenResult> {
    const askedAt = monotonicMs()
    const outcome = await link.exchange({ method: 'POST', path, ...request })
    if (outcome.kind !== 'answered' || !isSuccess(outcome) || !isGrant(outcome.json)) return { failed: outcome }
    const { access_token: token, expires_in: seconds, scope } = outcome.json
    const grant = { token, scopes: scope?.split(' ') }
    // A token that lives no longer than the margin is used once, by the calls that waited for it.
    cached = { ...grant, usableUntilMs: askedAt + seconds * 1_000 - EXPIRY_MARGIN_MS }
    return grant
  }

  return {
    /** The current token, or the outcome of requesting one. Concurrent callers share one request. */
    current: async (): Promise<TokenResult> => {
      if (cached && monotonicMs() < cached.usableUntilMs) return cached
      underWay ??= ask().finally(() => {
        underWay = undefined
      })
      return underWay
    },
    /** Discards a token that the bank refused: the next call requests another. */
    discard: (token: string): void => {
      if (cached?.token === token) cached = undefined
    },
  }
}

/** @source rules#api-pix.1, rules#api-pix.14 */
function tokenRequestOf(options: TokensOptions): Pick<PartnerCall, 'authorization' | 'form' | 'body'> {
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

export interface CallForm {
  readonly added: readonly AddedPart[]
  readonly values: Readonly<Record<Exclude<AddedValue, 'new id'>, string | undefined>>
  /** Other prefix of PATCH calls. */
  readonly patchPath?: { readonly from: string; readonly to: string } | undefined
}

/**
 * Makes each call in the bank's form with the current token. A 401 means that only the token was read, so the call is
 * repeated once with a new token.
 * @source rules#api-pix.1, rules#api-pix.14
 */
export function authorizedLink(link: PartnerLink, tokens: Tokens, form: CallForm): PartnerLink {
  const applicationKey = form.values['application key']
  const redact = redactorOf(applicationKey === undefined ? [] : [applicationKey])

  async function attempt(
    call: PartnerCall,
    deadline?: AbortSignal,
    window?: SendWindow,
  ): Promise<{ readonly outcome: Outcome; readonly token?: string }> {
    const granted = await tokens.current()
    if ('failed' in granted) return { outcome: withoutToken(granted.failed) }
    const { token } = granted
    const authorized = { ...inForm(call, form), authorization: `Bearer ${token}` }
    const outcome = await link.exchange(authorized, deadline, window)
    if (outcome.kind !== 'answered' || outcome.httpStatus < 400) return { outcome, token }
    // A bank that refuses a call may echo its address, with the key in it.
    return { outcome: { ...outcome, json: redactedJson(outcome.json, redact) }, token }
  }
  return {
    exchange: async (call, deadline, window) => {
      const first = await attempt(call, deadline, window)
      if (first.token === undefined || first.outcome.kind !== 'answered' || first.outcome.httpStatus !== 401)
        return first.outcome
      tokens.discard(first.token)
      const second = await attempt(call, deadline, window)
      // A second attempt that was not sent proves nothing about the first, which was.
      return second.outcome.kind === 'not sent' ? first.outcome : second.outcome
    },
    close: () => link.close(),
  }
}

/**
 * Without a token no byte of the call was sent. OAuth 2.0 answers 400 to unknown credentials, some banks 403: both become
 * the 401 by which the circuit breaker stops orders until the credentials are right.
 */
function withoutToken(failed: Outcome): Outcome {
  if (failed.kind !== 'answered') return { kind: 'not sent', reason: failed.reason }
  const { httpStatus } = failed
  const refusesUs = httpStatus === 400 || httpStatus === 403
  return { kind: 'not sent', reason: `no token: HTTP ${httpStatus}`, httpStatus: refusesUs ? 401 : httpStatus }
}

function inForm(call: PartnerCall, { added, values, patchPath }: CallForm): PartnerCall {
  const partsOf = (where: AddedPart['in']): [name: string, value: string][] =>
    added.flatMap(({ in: place, name, value }) => {
      const text = value === 'new id' ? randomUUID() : values[value]
      return place !== where || text === undefined ? [] : [[name, text]]
    })
  const path = patchPath && call.method === 'PATCH' ? call.path.replace(patchPath.from, patchPath.to) : call.path
  const query = new URLSearchParams(partsOf('query')).toString()
  return {
    ...call,
    path: query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`,
    headers: { ...call.headers, ...Object.fromEntries(partsOf('header')) },
  }
}

const REDACTED = '…'

/** Removes secrets from a bank's texts: verbatim, and as in an address, encoded once or twice. */
export function redactorOf(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.filter((secret) => secret !== '').flatMap(formsOf)
  // Longest first: a secret may begin with a shorter one.
  const ordered = [...new Set(forms)].toSorted((one, other) => other.length - one.length)
  return (text) => ordered.reduce((redacted, form) => redacted.replaceAll(form, REDACTED), text)
}

function formsOf(secret: string): string[] {
  const forms = [secret, encodeURIComponent(secret), new URLSearchParams({ '': secret }).toString().slice(1)]
  return forms.flatMap((form) => [form, encodeURIComponent(form)])
}

function redactedJson(json: unknown, redact: (text: string) => string): unknown {
  if (json === undefined) return undefined
  return JSON.parse(JSON.stringify(json), (_, value) => (typeof value === 'string' ? redact(value) : value))
}
