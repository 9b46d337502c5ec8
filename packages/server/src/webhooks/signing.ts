import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { type endpoints, limits, Refusal, type signingKeyView } from '@pixgate/spec'
import type { Static } from 'typebox'
import { sha256 } from '../platform/crypto.ts'
import { instantOrNull, instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { Handlers, RequestContext } from '../platform/http/handler.ts'
import { instantText } from '../platform/http/page.ts'
import { hasCurrent } from '../platform/http/request.ts'
import type { Logger } from '../platform/log.ts'
import type { Place, Sealer } from '../platform/sealing.ts'
import { KEYS_KNOWN_AFTER_MS } from './breaker.ts'
import { type Change, type ChangeNeeds, change } from './change.ts'
import { type SealedValue, Unreadable, unseal } from './sealed.ts'

/** Signing keys: their life cycle, the signer, and the published keys. */

/**
 * - `next`: published.
 * - `current`: signs.
 * - `previous`: published, since receivers may still hold notifications it signed.
 * - `retired`: verifies nothing.
 *
 * At most one of each of the first three.
 * @source rules#signing-keys.1
 */
export type SigningKeyState = 'next' | 'current' | 'previous' | 'retired'

export interface SigningKey {
  /** The first 16 base64url characters of the SHA-256 of the public key's SPKI in DER. */
  readonly id: string
  readonly publicPem: string
  readonly publishedAt: number
  /** `null`: it does not sign yet. */
  readonly signsFrom: number | null
  /** End of publication, set when another key replaces it. */
  readonly retiresAt: number | null
  /** Withdrawn at once, since it may have leaked. */
  readonly revokedAt: number | null
  /** Start of its replacement's signing. */
  readonly replacedAt: number | null
}

/** @source rules#signing-keys.1 */
function stateOf({ signsFrom, retiresAt, revokedAt }: SigningKey, nowMs: number): SigningKeyState {
  if (revokedAt !== null || (retiresAt !== null && retiresAt <= nowMs)) return 'retired'
  if (signsFrom === null) return 'next'
  return retiresAt === null ? 'current' : 'previous'
}

/**
 * Time from which a key may change state without force: the next one may sign, the previous one may retire. `null` for
 * others.
 * @source rules#signing-keys.2
 */
function mayMoveAt(key: SigningKey, nowMs: number): number | null {
  const state = stateOf(key, nowMs)
  if (state === 'next') return key.publishedAt + KEYS_KNOWN_AFTER_MS
  return state === 'previous' && key.replacedAt !== null ? key.replacedAt + KEYS_KNOWN_AFTER_MS : null
}

/** Signs notifications. Keeps the private key to itself. */
export interface Signer {
  readonly keyId: string
  readonly publicPem: string
  /**
   * ECDSA P-256 with SHA-256 over the bytes: DER in Base64. Takes 30 µs; on another thread it took twice the processor
   * time.
   */
  sign(bytes: Uint8Array): string
}

export interface Keyring {
  /** The key that was current when last opened. A claim of deliveries checks that it still is. */
  signer(): Signer
  /** Opens the current key. @throws Unreadable */
  refresh(): Promise<void>
}

export interface SigningNeeds extends ChangeNeeds {
  readonly sealer: Sealer
  readonly logger: Logger
}

/**
 * Opens the current signing key; the first start creates it.
 * @throws Unreadable when it was sealed with another encryption key
 * @source rules#webhooks.8, rules#signing-keys.5, ADR-0011, ADR-0029
 */
export async function openKeyring({ database, clock, sealer, logger }: Omit<SigningNeeds, 'ids'>): Promise<Keyring> {
  const selectCurrent = async () => (await database.rows(currentKeyStatement, []))[0]

  async function openCurrent(): Promise<Signer> {
    let stored = await selectCurrent()
    if (stored === undefined) {
      await insertKey(database, generateKey(sealer), clock.now(), clock.now())
      stored = await selectCurrent()
    }
    if (stored === undefined) throw new Error('the signing key just stored is missing')
    const { privateKey, publicPem } = openKey(stored, sealer)
    // Passing options, even the defaults, nearly doubles the time of a signature.
    const signBytes = (bytes: Uint8Array) => sign('sha256', bytes, privateKey).toString('base64')
    return { keyId: stored.id, publicPem, sign: signBytes }
  }

  let signer = await openCurrent()
  return {
    signer: () => signer,
    refresh: async () => {
      const opened = await openCurrent()
      if (opened.keyId === signer.keyId) return
      const line = { event: 'signing_key.changed', keyId: opened.keyId, before: signer.keyId }
      logger.info(line, 'The signing key changed; signing with the new one')
      signer = opened
    },
  }
}

interface SealedKey {
  readonly id: string
  /** PKCS #8 in DER. */
  readonly privateKey: Buffer
}

interface NewKey extends SealedKey {
  readonly publicPem: string
}

function generateKey(sealer: Sealer): NewKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = idOf(publicKey)
  const sealed = sealer.seal(privateKey.export({ format: 'der', type: 'pkcs8' }), placeOf(id))
  return { id, publicPem: pemOf(publicKey), privateKey: sealed }
}

function idOf(publicKey: KeyObject): string {
  return sha256(publicKey.export({ format: 'der', type: 'spki' }))
    .toString('base64url')
    .slice(0, 16)
}

/** Excludes ids that the database cannot even look up, such as U+0000. */
function isKeyId(text: string): boolean {
  return /^[A-Za-z0-9_-]{16}$/.test(text)
}

function pemOf(publicKey: KeyObject): string {
  return publicKey.export({ format: 'pem', type: 'spki' }).toString()
}

function placeOf(id: string): Place {
  return { table: 'signing_key', row: id, column: 'private_key' }
}

const resealStatement = statement<[string, Buffer, Buffer], { isDone: boolean }>(
  'signingKeys.reseal',
  'SELECT reseal_signing_key($1, $2, $3) AS "isDone"',
)

function sealedValue({ id, privateKey }: SealedKey): SealedValue {
  return {
    kind: 'signing_key',
    id,
    sealed: privateKey,
    place: placeOf(id),
    name: `the webhook signing key ${id}`,
    reseal: async (queries, anew) => (await queries.rows(resealStatement, [id, privateKey, anew]))[0]?.isDone === true,
  }
}

const sealedKeysStatement = statement<[], SealedKey>(
  'signingKeys.sealed',
  `SELECT id, private_key AS "privateKey" FROM signing_key WHERE private_key IS NOT NULL ORDER BY published_at, id`,
)

export async function readSealedKeys(queries: Queries): Promise<SealedValue[]> {
  return (await queries.rows(sealedKeysStatement, [])).map(sealedValue)
}

/**
 * Opens a key. Its public key is derived from the private one; the row's is not trusted.
 * @throws Unreadable when no configured key opens it, or it is not the key of its id
 * @source rules#encryption.1, rules#encryption.5
 */
function openKey(sealed: SealedKey, sealer: Sealer): { readonly privateKey: KeyObject; readonly publicPem: string } {
  const { plain } = unseal(sealedValue(sealed), sealer)
  const privateKey = createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey)
  if (idOf(publicKey) !== sealed.id) throw new Unreadable(`the webhook signing key ${sealed.id}`, 'changed')
  return { privateKey, publicPem: pemOf(publicKey) }
}

const KEY = `k.id, k.public_pem AS "publicPem", k.published_at AS "publishedAt", k.signs_from AS "signsFrom",
          k.retires_at AS "retiresAt", k.revoked_at AS "revokedAt",
          (SELECT min(after.signs_from) FROM signing_key after
            WHERE k.retires_at IS NOT NULL AND after.signs_from >= k.signs_from AND after.id <> k.id) AS "replacedAt"`

const IS_PUBLISHED = 'k.revoked_at IS NULL AND (k.retires_at IS NULL OR k.retires_at > $1)'

const listKeysStatement = statement<[now: string, max: number], SigningKey>(
  'signingKeys.list',
  `SELECT ${KEY} FROM signing_key k ORDER BY NOT (${IS_PUBLISHED}), k.published_at DESC, k.id LIMIT $2`,
)

const publishedKeysStatement = statement<[now: string], SigningKey>(
  'signingKeys.published',
  `SELECT ${KEY} FROM signing_key k WHERE ${IS_PUBLISHED} ORDER BY k.published_at DESC, k.id`,
)

const findKeyStatement = statement<[string], SigningKey>(
  'signingKeys.find',
  `SELECT ${KEY} FROM signing_key k WHERE k.id = $1`,
)

const currentKeyStatement = statement<[], SealedKey>(
  'signingKeys.current',
  `SELECT id, private_key AS "privateKey" FROM signing_key WHERE private_key IS NOT NULL AND signs_from IS NOT NULL`,
)

// Creates no second key of its kind: processes that start concurrently share one.
const insertKeyStatement = statement<[string, string, Buffer, string, string | null]>(
  'signingKeys.insert',
  `INSERT INTO signing_key (id, public_pem, private_key, published_at, signs_from) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT ((signs_from IS NULL)) WHERE private_key IS NOT NULL DO NOTHING`,
)

async function insertKey(queries: Queries, key: NewKey, nowMs: number, signsFrom: number | null): Promise<void> {
  const instants = [instantParameter(nowMs), instantOrNull(signsFrom)] as const
  await queries.rows(insertKeyStatement, [key.id, key.publicPem, key.privateKey, ...instants])
}

const setSignsFromStatement = statement<[id: string, now: string]>(
  'signingKeys.setSignsFrom',
  'UPDATE signing_key SET signs_from = $2 WHERE id = $1',
)

/** A trigger erases the private key with it. */
const setRetiresAtStatement = statement<[id: string, at: string]>(
  'signingKeys.setRetiresAt',
  'UPDATE signing_key SET retires_at = least(retires_at, $2) WHERE id = $1',
)

const setRevokedAtStatement = statement<[id: string, at: string]>(
  'signingKeys.setRevokedAt',
  'UPDATE signing_key SET revoked_at = $2 WHERE id = $1',
)

const lockKeysStatement = statement<[], never>('signingKeys.lock', 'SELECT pg_advisory_xact_lock(7046741003)')

interface Order {
  readonly reason: string
  /** Skips the wait for receivers' caches: for a leaked key. */
  readonly force: boolean
}

interface KeysChange extends Change {
  readonly published: readonly SigningKey[]
}

/**
 * Changes keys, one operator at a time.
 * @throws Refusal overloaded (503) the request has lapsed
 * @source rules#signing-keys.6
 */
function changeKeys(
  needs: SigningNeeds,
  context: RequestContext,
  make: (change: KeysChange) => Promise<string>,
): Promise<SigningKey> {
  const lock = (queries: Queries) => queries.rows(lockKeysStatement, [])
  return change(needs, context, lock, async (changing) => {
    const published = await changing.queries.rows(publishedKeysStatement, [instantParameter(changing.nowMs)])
    return existingKey(changing.queries, await make({ ...changing, published }))
  })
}

/** @throws Refusal not_found (404) */
async function existingKey(queries: Queries, id: string): Promise<SigningKey> {
  const key = isKeyId(id) ? (await queries.rows(findKeyStatement, [id]))[0] : undefined
  if (key === undefined) throw new Refusal('not_found')
  return key
}

/**
 * Creates and publishes the next key.
 * @throws Refusal next_signing_key_exists (409)
 * @source rules#signing-keys.1
 */
function makeNextKey(needs: SigningNeeds, reason: string, context: RequestContext): Promise<SigningKey> {
  return changeKeys(needs, context, async ({ queries, nowMs, published, audit }) => {
    if (published.some((key) => stateOf(key, nowMs) === 'next')) throw new Refusal('next_signing_key_exists')
    const made = generateKey(needs.sealer)
    await insertKey(queries, made, nowMs, null)
    await audit('signing_key.made', made.id, { reason })
    return made.id
  })
}

/**
 * Makes the next key sign from now on. The current key becomes the previous one, and an earlier previous one is
 * retired. Idempotent.
 * @throws Refusal not_found (404) · signing_key_state_conflict (409) · signing_key_too_soon (409)
 * @source rules#signing-keys.1, rules#signing-keys.2, rules#signing-keys.3
 */
function promoteKey(needs: SigningNeeds, id: string, order: Order, context: RequestContext): Promise<SigningKey> {
  return changeKeys(needs, context, async ({ queries, nowMs, published, audit }) => {
    const key = await existingKey(queries, id)
    const state = stateOf(key, nowMs)
    if (state === 'current') return id
    if (state !== 'next') throw new Refusal('signing_key_state_conflict')
    refuseTooSoon(key, order, nowMs)
    const inState = (wanted: SigningKeyState) => published.find((other) => stateOf(other, nowMs) === wanted)
    const [previous, current] = [inState('previous'), inState('current')]
    if (current === undefined) throw new Error('no signing key is current')
    if (previous) await queries.rows(setRetiresAtStatement, [previous.id, instantParameter(nowMs)])
    await queries.rows(setRetiresAtStatement, [current.id, instantParameter(nowMs + limits.signingKeyPreviousMs)])
    await queries.rows(setSignsFromStatement, [id, instantParameter(nowMs)])
    const facts = { ...order, replaced: current.id, ...(previous && { retired: previous.id }) }
    await audit('signing_key.promoted', id, facts)
    return id
  })
}

/**
 * Ends the publication of the previous key, or of an unwanted next one. `force` revokes it. Idempotent.
 * @throws Refusal not_found (404) · signing_key_state_conflict (409) · signing_key_too_soon (409)
 * @source rules#signing-keys.1, rules#signing-keys.2, rules#signing-keys.3
 */
function retireKey(needs: SigningNeeds, id: string, order: Order, context: RequestContext): Promise<SigningKey> {
  return changeKeys(needs, context, async ({ queries, nowMs, audit }) => {
    const key = await existingKey(queries, id)
    const was = stateOf(key, nowMs)
    if (was === 'retired') return id
    if (was === 'current') throw new Refusal('signing_key_state_conflict')
    if (was === 'previous') refuseTooSoon(key, order, nowMs)
    const ending = order.force ? setRevokedAtStatement : setRetiresAtStatement
    await queries.rows(ending, [id, instantParameter(nowMs)])
    await audit('signing_key.retired', id, { ...order, was })
    return id
  })
}

function refuseTooSoon(key: SigningKey, { force }: Order, nowMs: number): void {
  if (!force && nowMs < (mayMoveAt(key, nowMs) ?? 0)) throw new Refusal('signing_key_too_soon')
}

/** Published keys, at most a second old. While the database is unavailable, as old as a receiver may cache them. */
export type ReadPublishedKeys = () => Promise<readonly SigningKey[]>

const STALE_MAX_MS = limits.publicKeyMaxAgeSeconds * 1_000

/**
 * Reads the published keys, at most once a second for all callers.
 * @throws DatabaseUnavailable when they are too old
 * @source rules#signing-keys.4, rules#signing-keys.5
 */
export async function readingPublishedKeys({
  database,
  clock,
}: Pick<SigningNeeds, 'database' | 'clock'>): Promise<ReadPublishedKeys> {
  const select = () => database.rows(publishedKeysStatement, [instantParameter(clock.now())])
  let [keys, readAt, triedAt] = [await select(), clock.now(), clock.now()]
  let reading: Promise<void> | undefined

  async function readAgain(startedAt: number): Promise<void> {
    triedAt = startedAt
    try {
      keys = await select()
      // The age counts from the start of the query.
      readAt = startedAt
    } catch (error) {
      if (clock.now() - readAt > STALE_MAX_MS) throw error
    }
  }

  return async () => {
    const now = clock.now()
    if (now - triedAt < limits.publishedKeysAgeMs && now - readAt <= STALE_MAX_MS) return keys
    reading ??= readAgain(now).finally(() => {
      reading = undefined
    })
    await reading
    return keys
  }
}

export type SigningKeyHandlers = ReturnType<typeof createSigningKeyHandlers>

export function createSigningKeyHandlers(needs: SigningNeeds, read: ReadPublishedKeys) {
  const now = () => needs.clock.now()
  const shown = (key: SigningKey) => operatorView(key, now())
  return {
    getPublicKey: async ({ context }) => {
      const current = (await read()).find((key) => stateOf(key, now()) === 'current')
      if (current === undefined) throw new Error('no signing key is current')
      return cacheable(current.publicPem, `"${current.id}"`, context)
    },
    listPublicKeys: async ({ context }) => {
      const body = { data: (await read()).flatMap((key) => publicView(key, now())) }
      return cacheable(body, etagOf(body), context)
    },
    getJwks: async ({ context }) => {
      const body = { keys: (await read()).filter((key) => stateOf(key, now()) !== 'retired').map(jwkView) }
      return cacheable(body, etagOf(body), context)
    },
    listSigningKeys: async () => {
      const parameters = [instantParameter(now()), limits.signingKeysListMax] as const
      const keys = await needs.database.rows(listKeysStatement, [...parameters])
      return { status: 200, body: { data: keys.map(shown) } }
    },
    createSigningKey: async ({ body: { reason }, context }) => ({
      status: 201,
      body: shown(await makeNextKey(needs, reason, context)),
    }),
    promoteSigningKey: async ({ params, body: { reason, force }, context }) => ({
      status: 200,
      body: shown(await promoteKey(needs, params.key_id, { reason, force: force ?? false }, context)),
    }),
    retireSigningKey: async ({ params, body: { reason, force }, context }) => ({
      status: 200,
      body: shown(await retireKey(needs, params.key_id, { reason, force: force ?? false }, context)),
    }),
  } satisfies Partial<Handlers<typeof endpoints>>
}

/** A cacheable answer, or 304. @source rules#webhooks.4, rules#signing-keys.4 */
function cacheable<Body>(body: Body, etag: string, { headers: given }: RequestContext) {
  const headers = { 'cache-control': `public, max-age=${limits.publicKeyMaxAgeSeconds}`, etag }
  return hasCurrent(etag, given['if-none-match'])
    ? ({ status: 304, headers } as const)
    : ({ status: 200, headers, body } as const)
}

function etagOf(body: object): string {
  return `"${sha256(JSON.stringify(body)).toString('base64url').slice(0, 16)}"`
}

function operatorView(key: SigningKey, nowMs: number): Static<typeof signingKeyView> {
  const state = stateOf(key, nowMs)
  return {
    id: key.id,
    state,
    publicKey: key.publicPem,
    createdAt: new Date(key.publishedAt).toISOString(),
    promotedAt: instantText(key.signsFrom),
    replacedAt: instantText(key.replacedAt),
    retiredAt: state === 'retired' ? instantText(Math.min(key.revokedAt ?? Infinity, key.retiresAt ?? Infinity)) : null,
    mayMoveAt: instantText(mayMoveAt(key, nowMs)),
  }
}

/** Excludes a key that has retired since it was read. */
function publicView(key: SigningKey, nowMs: number) {
  const state = stateOf(key, nowMs)
  if (state === 'retired') return []
  const since = { next: key.publishedAt, current: key.signsFrom, previous: key.replacedAt }[state] ?? key.publishedAt
  return [{ id: key.id, state, publicKey: key.publicPem, since: new Date(since).toISOString() }]
}

/** RFC 7517. The signatures are DER, which JOSE does not define. @source rules#signing-keys.4 */
function jwkView({ id, publicPem }: SigningKey) {
  const { x = '', y = '' } = createPublicKey(publicPem).export({ format: 'jwk' })
  return { kty: 'EC', crv: 'P-256', x, y, kid: id, use: 'sig', alg: 'ES256' } as const
}
