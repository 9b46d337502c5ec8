import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { type endpoints, limits, type PaymentPageState, Refusal } from '@pixgate/spec'
import { type CashIn, createCashInStore } from '../cash-in/index.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, statement } from '../platform/db/database.ts'
import type { Handlers, RequestContext } from '../platform/http/handler.ts'
import { isPassing } from '../platform/http/server.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import { clientNetworkOf } from '../platform/networks.ts'
import { createTokenBuckets } from '../platform/token-bucket.ts'
import { lookOf } from './look.ts'
import { chargePage, otherPage, pageStateOf } from './page.ts'

/** Payment pages: read by the pool of the console, so that no page delays a payment. */

export interface PaymentPageNeeds {
  /** The pool of the console. */
  readonly database: Database
  readonly clock: Clock
  readonly tokens: PageTokens
  readonly merchant: { readonly name: string }
  readonly look: { readonly color: string; readonly logo: string | undefined }
  readonly isDraining: () => boolean
}

type PageHandlers = Pick<Handlers<typeof endpoints>, 'getPaymentPage' | 'getPaymentState'>

/** Addresses whose requests are counted. */
const ADDRESSES_MAX = 10_000

/** @source rules#payment-page.1, rules#payment-page.6, rules#payment-page.8 */
export function createPaymentPageHandlers(needs: PaymentPageNeeds): PageHandlers {
  const { database, clock, tokens, merchant } = needs
  const look = lookOf(needs.look)
  const store = createCashInStore(database)
  const next = createStateWatch(needs, store)
  const requests = createTokenBuckets(clock, {
    perMinute: limits.paymentPagePerMinute,
    capacity: limits.paymentPageBurst,
    bucketsMax: ADDRESSES_MAX,
  })
  const secondsToWait = ({ remoteAddress }: RequestContext) =>
    Math.ceil(requests.take(clientNetworkOf(remoteAddress)) / 1_000)
  const find = async (token: string) => {
    const id = tokens.idOf(token)
    return id === undefined ? undefined : store.get(id)
  }
  const headers = {
    'content-security-policy': look.policy,
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow',
  }
  return {
    getPaymentPage: async ({ params: { token }, context }) => {
      const seconds = secondsToWait(context)
      if (seconds > 0) {
        const body = otherPage(look, merchant.name, 'limited')
        return { status: 429, headers: { ...headers, 'retry-after': String(seconds) }, body }
      }
      const found = await find(token).catch((error: unknown) => {
        if (!isPassing(error)) throw error
        return 'busy' as const
      })
      if (found === 'busy') {
        return { status: 503, headers: { ...headers, 'retry-after': '1' }, body: otherPage(look, merchant.name, found) }
      }
      if (!found) return { status: 404, headers, body: otherPage(look, merchant.name, 'unknown') }
      const now = clock.now()
      return { status: 200, headers, body: chargePage(look, found, pageStateOf(found, now), now) }
    },
    getPaymentState: async ({ params: { token }, query: { after }, context }) => {
      const seconds = secondsToWait(context)
      if (seconds > 0) return { status: 429, headers: { 'retry-after': String(seconds) } }
      const cashIn = await find(token)
      if (!cashIn) throw new Refusal('not_found')
      return { status: 200, body: { state: await next(cashIn, after, context) } }
    },
  }
}

interface VersionRow {
  readonly id: string
  readonly version: number
}

const selectVersions = statement<[ids: readonly string[]], VersionRow>(
  'payment_page.versions',
  'SELECT id, version FROM operation WHERE id = ANY ($1::uuid[])',
)

/**
 * Waits for another state than `after`. All waiting pages share one statement each half second, and none holds a
 * connection.
 * @source rules#payment-page.4
 */
function createStateWatch({ database, clock, isDraining }: PaymentPageNeeds, store: Pick<CashInStore, 'get'>) {
  const versions = createBatcher<string, number | undefined>(
    async (ids) => {
      const rows = await database.rows(selectVersions, [[...new Set(ids)]])
      const byId = new Map(rows.map(({ id, version }) => [id, version]))
      return ids.map((id) => ({ result: byId.get(id) }))
    },
    // More than can wait, so that each batch keeps the pace.
    { batchMax: WAITING_MAX + 1, queueMax: WAITING_MAX + 1, paceMs: limits.paymentPageLookMs },
  )
  let waiting = 0
  return async (found: CashIn, after: PaymentPageState | undefined, { isGone = () => false }: RequestContext) => {
    const endsAt = performance.now() + (waiting < WAITING_MAX ? limits.paymentPageWaitSeconds * 1_000 : 0)
    let cashIn = found
    waiting += 1
    try {
      while (pageStateOf(cashIn, clock.now()) === after && performance.now() < endsAt && !isGone() && !isDraining()) {
        const version = await versions.submit(cashIn.id)
        if (version !== cashIn.version) cashIn = (await store.get(cashIn.id)) ?? cashIn
      }
    } finally {
      waiting -= 1
    }
    return pageStateOf(cashIn, clock.now())
  }
}

type CashInStore = ReturnType<typeof createCashInStore>

const WAITING_MAX = limits.paymentPagesWaitingMax

/** Tokens: 128 bits that say nothing about the charge, and that find it by its primary key. */
export interface PageTokens {
  of(id: string): string
  /** @returns `undefined`: no token has this form. A token that was never given out yields an id that does not exist. */
  idOf(token: string): string | undefined
}

/**
 * A token is the charge's id, encrypted as one block of AES-256: a random permutation of 128 bits. Nothing is stored, so it
 * needs no index. The key is derived from the id of the installation, which never leaves the database: a rotation of
 * other keys changes no address, and a restored database has the same ones.
 * @source rules#payment-page.3, ADR-0064
 */
export function createPageTokens(installation: string): PageTokens {
  const key = Buffer.from(hkdfSync('sha256', installation, 'pixgate payment page', 'token', 32))
  const crypt = (cipher: ReturnType<typeof createCipheriv>, block: Buffer) =>
    Buffer.concat([cipher.setAutoPadding(false).update(block), cipher.final()])
  return {
    of: (id) =>
      crypt(createCipheriv('aes-256-ecb', key, null), Buffer.from(id.replaceAll('-', ''), 'hex')).toString('base64url'),
    idOf: (token) => {
      const block = Buffer.from(token, 'base64url')
      if (block.length !== BLOCK_BYTES || block.toString('base64url') !== token) return undefined
      const hex = crypt(createDecipheriv('aes-256-ecb', key, null), block).toString('hex')
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
  }
}

const BLOCK_BYTES = 16
