import { randomBytes } from 'node:crypto'
import { type endpoints, limits, type OperatorRole, Refusal, roleIncludes } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import { markUsed } from '../access/index.ts'
import { insertAudit, operatorOf } from '../audit/trail.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256, sha256Hex } from '../platform/crypto.ts'
import { type Database, instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { Caller, Handlers, IncomingRequest, RequestContext } from '../platform/http/handler.ts'
import { type Ids, isUuid } from '../platform/ids.ts'

/**
 * Sessions of the web console: an operator's token, or a one-time link of the sandbox, is exchanged for a cookie. A
 * cookie counts only in requests that the console's own pages send.
 */

const MINUTE_MS = 60_000

/** `sessionsHint` of the console's words says these two. @source rules#console.4 */
const IDLE_MS = 15 * MINUTE_MS
/** @source rules#console.4 */
const LASTS_MS = 12 * 60 * MINUTE_MS
/** @source rules#console.3 */
const LINK_LASTS_MS = 5 * MINUTE_MS

const SECRET_BYTES = 32

/** Sent by the console with each request; `background` for polling, which is no activity. @source rules#console.2 */
const CONSOLE_HEADER = 'x-pixgate-console'

export interface ConsoleOptions {
  readonly mode: 'sandbox' | 'production'
  /** Names of hosts besides loopback under which the console answers. */
  readonly consoleHosts: readonly string[]
}

export interface SessionNeeds extends ConsoleOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  /** Authenticates an operator's token and counts wrong ones. @throws Refusal unauthorized · rate_limited */
  readonly authenticate: (request: IncomingRequest) => Promise<Caller>
}

interface OpenSession {
  readonly id: string
  readonly operatorId: string
  readonly name: string
  readonly role: OperatorRole
  /** Epoch milliseconds. */
  readonly activeAt: number
  readonly endsAt: number
}

const findStatement = statement<[hash: Buffer, idleSince: string, now: string], OpenSession>(
  'console.find_session',
  `SELECT s.id, c.id AS "operatorId", c.name, c.role, s.active_at AS "activeAt", s.ends_at AS "endsAt"
     FROM session s JOIN credential c ON c.id = s.operator_id
    WHERE s.hash = $1 AND s.active_at > $2 AND s.ends_at > $3 AND c.deactivated_at IS NULL`,
)

const touchStatement = statement<[id: string, at: string]>(
  'console.touch_session',
  'UPDATE session SET active_at = $2 WHERE id = $1 AND active_at < $2',
)

const insertStatement = statement<
  [id: string, operatorId: string, hash: Buffer, address: string, userAgent: string | null, at: string, endsAt: string]
>(
  'console.insert_session',
  `INSERT INTO session (id, operator_id, hash, address, user_agent, created_at, active_at, ends_at)
   VALUES ($1, $2, $3, $4, $5, $6, $6, $7)`,
)

const forgetStatement = statement<[]>('console.forget_sessions', 'SELECT forget_sessions()')

interface ListedSession extends Omit<OpenSession, 'role'> {
  readonly address: string
  readonly userAgent: string | null
  readonly createdAt: number
}

const listStatement = statement<[operatorId: string | null, idleSince: string, now: string], ListedSession>(
  'console.list_sessions',
  `SELECT s.id, s.operator_id AS "operatorId", c.name, s.address, s.user_agent AS "userAgent",
          s.created_at AS "createdAt", s.active_at AS "activeAt", s.ends_at AS "endsAt"
     FROM session s JOIN credential c ON c.id = s.operator_id
    WHERE s.active_at > $2 AND s.ends_at > $3 AND c.deactivated_at IS NULL AND ($1::uuid IS NULL OR c.id = $1)
    ORDER BY s.created_at DESC, s.id DESC
    LIMIT 500`,
)

const endStatement = statement<[id: string, operatorId: string | null, now: string], { operatorId: string }>(
  'console.end_session',
  `UPDATE session SET ends_at = $3
    WHERE id = $1 AND ends_at > $3 AND ($2::uuid IS NULL OR operator_id = $2)
   RETURNING operator_id AS "operatorId"`,
)

const activeOperatorStatement = statement<[id: string], { name: string; role: OperatorRole }>(
  'console.active_operator',
  "SELECT name, role FROM credential WHERE kind = 'operator' AND id = $1 AND deactivated_at IS NULL",
)

/** Of a person; a further log-in ends the one that was idle longest. @source rules#console.4 */
const SESSIONS_MAX = 20

/** Log-ins of one person wait for each other, as each counts the sessions. */
const lockOperatorStatement = statement<[id: string]>(
  'console.lock_operator',
  'SELECT FROM credential WHERE id = $1 FOR NO KEY UPDATE',
)

const endAtLogInStatement = statement<
  [hash: Buffer | null, operatorId: string, now: string],
  { id: string; operatorId: string }
>(
  'console.end_sessions_at_log_in',
  `UPDATE session SET ends_at = $3
    WHERE ends_at > $3
      AND (hash = $1 OR id IN (SELECT id FROM session WHERE operator_id = $2 AND ends_at > $3 AND hash IS DISTINCT FROM $1
                                ORDER BY active_at DESC, id DESC OFFSET ${SESSIONS_MAX - 1}))
   RETURNING id, operator_id AS "operatorId"`,
)

/** Endpoints that a cookie opens. @source rules#console.2 */
const OF_CONSOLE = /^\/(?:operator|console)\//

/**
 * The cookie's name carries the port, as cookies of one host are sent to all of its ports. `__Host-` demands HTTPS, which
 * a sandbox on loopback does not have.
 */
function cookieNameOf(mode: ConsoleOptions['mode'], port: number | undefined): string {
  return `${mode === 'production' ? '__Host-' : ''}pixgate-${port ?? 0}`
}

/**
 * The value of a cookie; `undefined` where it is missing or sent twice. Names are not trimmed, except of spaces: browsers
 * take a name that begins with another white space for one without the prefix, so that a sibling host may set it.
 */
function cookieOf(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '').split(';').flatMap((pair) => {
    const [key, ...value] = pair.replace(/^ +/, '').split('=')
    return key === name ? [value.join('=')] : []
  })
  return values.length === 1 ? values[0] : undefined
}

/** Against DNS rebinding. @source rules#console.2 */
export function isConsoleHost(host: string | undefined, allowed: readonly string[]): boolean {
  const name = URL.parse(`http://${host ?? ''}`)?.hostname
  if (name === undefined || /[@/?#\\]/.test(host ?? '')) return false
  return LOOPBACK.test(name) || allowed.includes(name)
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Whether a page of this very origin sent the request: other ports of a host are the same site, but not the same origin,
 * and no page can add the header to a cross-site request.
 * @source rules#console.2
 */
function isFromConsole({ headers }: Pick<IncomingRequest, 'headers'>): boolean {
  if (headers[CONSOLE_HEADER] === undefined) return false
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const origin = URL.parse(headers.origin ?? '')
  return origin !== null && origin.host === headers.host
}

/** @source rules#console.1, rules#console.2, rules#console.3, rules#console.4 */
export class Sessions {
  readonly #needs: SessionNeeds
  /** By the hex of the hash, for as long as API keys are. */
  readonly #cached = new LRUCache<string, { readonly session: OpenSession; readonly readAt: number }>({ max: 1_000 })
  /** Counts ended sessions: one that was looked up meanwhile is not remembered. */
  #ends = 0
  /** One-time links by the hex of their code's hash. */
  readonly #links = new Map<string, { readonly operatorId: string; readonly endsAt: number }>()

  constructor(needs: SessionNeeds) {
    this.#needs = needs
  }

  /** The operator of a request's cookie; `undefined` where it has none that counts. @throws DatabaseUnavailable */
  async callerOf(request: IncomingRequest): Promise<Caller | undefined> {
    const { database, clock, mode, consoleHosts } = this.#needs
    const { headers, endpoint } = request
    const secret = cookieOf(headers.cookie, cookieNameOf(mode, request.localPort))
    if (secret === undefined || !OF_CONSOLE.test(endpoint.path)) return undefined
    if (!isFromConsole(request) || !isConsoleHost(headers.host, consoleHosts)) return undefined
    const session = await this.#find(secret)
    if (session === undefined) return undefined
    const { id, operatorId, name, role, activeAt, endsAt } = session
    const now = clock.now()
    if (headers[CONSOLE_HEADER] !== 'background' && now - activeAt > MINUTE_MS) {
      await database.rows(touchStatement, [id, instantParameter(now)])
      await markUsed(database, [{ id: operatorId, usedAt: now }])
      this.#cached.delete(sha256Hex(secret))
    }
    return { credential: 'admin', id: operatorId, name, role, session: { id, endsAt } }
  }

  /** @throws Refusal unauthorized · rate_limited · misdirected_request */
  async start({ token, link }: { token?: string | null; link?: string | null }, context: RequestContext) {
    const { mode, consoleHosts } = this.#needs
    if (!isConsoleHost(context.headers.host, consoleHosts)) throw new Refusal('misdirected_request')
    if (!isFromConsole(context)) throw new Refusal('unauthorized')
    const caller = link ? await this.#operatorOfLink(link) : await operatorOfToken(this.#needs, token, context)
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    const name = cookieNameOf(mode, context.localPort)
    const session = await insertSession(this.#needs, caller, secret, context, cookieOf(context.headers.cookie, name))
    this.#forgetCached()
    return { caller: { ...caller, session }, cookie: `${name}=${secret}` }
  }

  /** @returns false for an unknown session, or one that the caller may not end */
  async end(id: string, context: RequestContext): Promise<boolean> {
    const { database, clock } = this.#needs
    const ended = await database.transaction(async (queries) => {
      const [found] = await queries.rows(endStatement, [id, ownerOf(context), instantParameter(clock.now())])
      if (!found) return false
      await audit(this.#needs, queries, context, 'console.session_ended', { session: id, of: found.operatorId })
      return true
    })
    this.#forgetCached()
    return ended
  }

  list(context: RequestContext): Promise<ListedSession[]> {
    const { database, clock } = this.#needs
    const now = clock.now()
    return database.rows(listStatement, [ownerOf(context), instantParameter(now - IDLE_MS), instantParameter(now)])
  }

  /** A code that logs an operator in once, within five minutes, in this process. @source rules#console.3 */
  link(operatorId: string): string {
    const code = randomBytes(SECRET_BYTES).toString('base64url')
    this.#links.set(sha256Hex(code), { operatorId, endsAt: this.#needs.clock.now() + LINK_LASTS_MS })
    return code
  }

  /** The header that sets the cookie. @param lasts its `Max-Age` in seconds, 0 to delete it */
  setCookie(cookie: string, lasts: number): Readonly<Record<string, string>> {
    const secure = this.#needs.mode === 'production' ? '; Secure' : ''
    return { 'set-cookie': `${cookie}; Max-Age=${lasts}; Path=/; HttpOnly; SameSite=Strict${secure}` }
  }

  deleteCookie(port: number | undefined): Readonly<Record<string, string>> {
    return this.setCookie(`${cookieNameOf(this.#needs.mode, port)}=`, 0)
  }

  #forgetCached(): void {
    this.#ends += 1
    this.#cached.clear()
  }

  async #find(secret: string): Promise<OpenSession | undefined> {
    const { database, clock } = this.#needs
    const hash = sha256Hex(secret)
    const now = clock.now()
    const known = this.#cached.get(hash)
    if (known && now - known.readAt < limits.apiKeyCacheMs && known.session.endsAt > now) return known.session
    const parameters = [Buffer.from(hash, 'hex'), instantParameter(now - IDLE_MS), instantParameter(now)] as const
    const ends = this.#ends
    const [session] = await database.rows(findStatement, [...parameters])
    if (session && ends === this.#ends) this.#cached.set(hash, { session, readAt: now })
    else this.#cached.delete(hash)
    return session
  }

  async #operatorOfLink(link: string): Promise<Caller> {
    const { database, clock } = this.#needs
    const hash = sha256Hex(link)
    const found = this.#links.get(hash)
    this.#links.delete(hash)
    const isGood = found !== undefined && found.endsAt > clock.now()
    const [operator] = isGood ? await database.rows(activeOperatorStatement, [found.operatorId]) : []
    if (!operator) throw new Refusal('unauthorized')
    return { credential: 'admin', id: found?.operatorId ?? '', ...operator }
  }
}

/** Whose sessions the caller sees and ends; `null`: everybody's. */
function ownerOf({ caller }: RequestContext): string | null {
  return caller.role !== undefined && roleIncludes(caller.role, 'admin') ? null : caller.id
}

/** The administrative token names no person, so it gets no session. */
async function operatorOfToken(
  { authenticate }: SessionNeeds,
  token: string | null | undefined,
  context: RequestContext,
): Promise<Caller> {
  const caller = await authenticate({ ...context, headers: { authorization: `Bearer ${token ?? ''}` } })
  if (caller.name === undefined) throw new Refusal('unauthorized')
  return caller
}

/** @param before the cookie of the browser, whose session ends */
async function insertSession(
  needs: SessionNeeds,
  caller: Caller,
  secret: string,
  context: RequestContext,
  before: string | undefined,
) {
  const { database, clock, ids } = needs
  const id = ids.uuid()
  const now = clock.now()
  const endsAt = now + LASTS_MS
  const times = [instantParameter(now), instantParameter(endsAt)] as const
  const userAgent = context.headers['user-agent']?.slice(0, 256) ?? null
  await database.transaction(async (queries) => {
    await queries.rows(forgetStatement, [])
    const by = { ...context, caller }
    const own = before === undefined ? null : sha256(before)
    await queries.rows(lockOperatorStatement, [caller.id])
    const ended = await queries.rows(endAtLogInStatement, [own, caller.id, times[0]])
    for (const { id: session, operatorId: of } of ended) {
      await audit(needs, queries, by, 'console.session_ended', { session, of })
    }
    const hash = sha256(secret)
    await queries.rows(insertStatement, [id, caller.id, hash, context.remoteAddress, userAgent, ...times])
    await markUsed(queries, [{ id: caller.id, usedAt: now }])
    await audit(needs, queries, by, 'console.session_started', { session: id })
  })
  return { id, endsAt }
}

function audit(
  { clock, ids }: SessionNeeds,
  queries: Queries,
  context: RequestContext,
  action: string,
  facts: Readonly<Record<string, string>>,
): Promise<void> {
  const operator = operatorOf(context)
  return insertAudit(queries, { ...operator, id: ids.uuid(), at: clock.now(), action, subject: operator.actor, facts })
}

/** About the service, for the console's first request. */
export interface SessionFacts {
  readonly mode: 'sandbox' | 'production'
  readonly version: string
  readonly hasSimulatedBank: boolean
  readonly approvalFromCents: number
}

type SessionHandlers = Handlers<
  Pick<typeof endpoints, 'startSession' | 'getSession' | 'endSession' | 'listSessions' | 'revokeSession'>
>

export function createSessionHandlers(sessions: Sessions, facts: SessionFacts): SessionHandlers {
  const viewOf = ({ id, name, role = 'viewer', session }: Caller) => ({
    operator: { id, name: name ?? id, role },
    ...facts,
    endsAt: session === undefined ? null : new Date(session.endsAt).toISOString(),
  })
  return {
    startSession: async ({ body, context }) => {
      const { caller, cookie } = await sessions.start(body, context)
      return { status: 201, headers: sessions.setCookie(cookie, LASTS_MS / 1_000), body: viewOf(caller) }
    },
    getSession: async ({ context }) => ({ status: 200, body: viewOf(context.caller) }),
    endSession: async ({ context }) => {
      const { session } = context.caller
      if (session) await sessions.end(session.id, context)
      return { status: 204, headers: sessions.deleteCookie(context.localPort) }
    },
    listSessions: async ({ context }) => ({
      status: 200,
      body: {
        data: (await sessions.list(context)).map(({ operatorId, name, createdAt, activeAt, endsAt, ...session }) => ({
          ...session,
          operator: { id: operatorId, name },
          createdAt: new Date(createdAt).toISOString(),
          activeAt: new Date(activeAt).toISOString(),
          endsAt: new Date(endsAt).toISOString(),
          isOwn: session.id === context.caller.session?.id,
        })),
      },
    }),
    revokeSession: async ({ params: { id }, context }) => {
      if (!isUuid(id) || !(await sessions.end(id, context))) throw new Refusal('not_found')
      return { status: 204 }
    },
  }
}
