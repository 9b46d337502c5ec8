import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../clock.ts'
import type { Liar } from '../lies.ts'

/** All scopes of this bank. @source BCB, API Pix (securitySchemes); Efí from `pix.send` on */
export const SCOPES = [
  'cob.read',
  'cob.write',
  'pix.read',
  'pix.write',
  'webhook.read',
  'webhook.write',
  'payloadlocation.read',
  'pix.send',
  'gn.pix.send.read',
  'gn.qrcodes.read',
  'gn.qrcodes.pay',
  'gn.balance.read',
] as const

/** One of {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number]

/** The OAuth client that can get tokens. */
export interface Client {
  readonly id: string
  readonly secret: string
  /** Allowed scopes; all of {@link SCOPES} by default. */
  readonly scopes?: readonly Scope[]
}

/** Dependencies of {@link Tokens}. */
export interface TokensOptions {
  readonly client: Client
  readonly clock: Clock
  readonly liar: Liar
}

interface Token {
  readonly scopes: readonly string[]
  /** Epoch milliseconds. */
  readonly endsAt: number
}

const LIFE_SECONDS = 3_600

/** Valid access tokens of the client credentials grant (RFC 6749, section 4.4). A restart revokes them all. */
export class Tokens {
  readonly #options: TokensOptions
  readonly #tokens = new Map<string, Token>()

  constructor(options: TokensOptions) {
    this.#options = options
  }

  /**
   * Whether these are the client's credentials. Without a secret the client id alone counts, as the connection proves the
   * client by its certificate (RFC 8705).
   */
  isClient({ id, secret }: Credentials): boolean {
    const { client } = this.#options
    return isEqual(id, client.id) && (secret === undefined || isEqual(secret, client.secret))
  }

  /** Issues a token for the requested scopes that are allowed, or for all allowed scopes if none are requested. */
  issue(asked: string | undefined): { readonly token: string; readonly scopes: readonly string[] } {
    const { client, clock } = this.#options
    const allowed: readonly string[] = client.scopes ?? SCOPES
    const scopes = asked === undefined ? allowed : asked.split(' ').filter((scope) => allowed.includes(scope))
    const token = randomBytes(32).toString('base64url')
    this.#tokens.set(token, { scopes, endsAt: clock.now() + LIFE_SECONDS * 1_000 })
    return { token, scopes }
  }

  /**
   * Scopes of a token; `undefined` if it is unknown or expired.
   * @source rules#sandbox.16
   */
  scopesOf(token: string): readonly string[] | undefined {
    const { clock, liar } = this.#options
    const known = this.#tokens.get(token)
    if (known === undefined) return undefined
    if (known.endsAt > clock.now() && !liar.tells('tokenEndsEarly')) return known.scopes
    this.#tokens.delete(token)
    return undefined
  }
}

/** Client id and secret of a token request. */
interface Credentials {
  readonly id: string
  readonly secret?: string | undefined
}

/** Body of a token request. */
interface TokenRequest {
  readonly grant_type?: unknown
  readonly scope?: unknown
  readonly client_id?: unknown
  readonly client_secret?: unknown
}

/**
 * Adds `POST /oauth/token`. Accepts a form, as OAuth requires, and JSON, as Efí's client sends it. The credentials are in
 * the `Authorization` header (Efí, Sicredi), in the body (Inter, Itaú, Santander), or only the id is (Sicoob).
 */
export function tokenRoute(app: FastifyInstance, tokens: Tokens): void {
  app.addContentTypeParser<string>('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, text, done) =>
    done(null, Object.fromEntries(new URLSearchParams(text))),
  )
  app.post<{ Querystring: TokenRequest }>('/oauth/token', async ({ headers, query, body }, reply) => {
    const request = (body ?? {}) as TokenRequest
    const credentials =
      headers.authorization === undefined ? bodyCredentials(request) : basicCredentials(headers.authorization)
    if (!credentials || !tokens.isClient(credentials)) {
      return reply
        .code(401)
        .header('www-authenticate', 'Basic realm="pix"')
        .send({ error: 'invalid_client', error_description: 'Invalid or inactive credentials' })
    }
    // Santander's clients send the grant type in the query.
    const { grant_type: grant = query.grant_type, scope } = request
    if (grant !== 'client_credentials') return reply.code(400).send({ error: 'unsupported_grant_type' })
    const { token, scopes } = tokens.issue(typeof scope === 'string' && scope !== '' ? scope : undefined)
    if (scopes.length === 0) return reply.code(400).send({ error: 'invalid_scope' })
    const response = { access_token: token, token_type: 'Bearer', expires_in: LIFE_SECONDS, scope: scopes.join(' ') }
    return reply.header('cache-control', 'no-store').send(response)
  })
}

function bodyCredentials({ client_id: id, client_secret: secret }: TokenRequest): Credentials | undefined {
  if (typeof id !== 'string') return undefined
  return { id, secret: secret === undefined ? undefined : String(secret) }
}

function basicCredentials(authorization: string): Credentials | undefined {
  const [, encoded = ''] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(authorization) ?? []
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { id: text.slice(0, colon), secret: text.slice(colon + 1) }
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer]
  return timingSafeEqual(a, b)
}
