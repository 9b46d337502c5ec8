import type { Chance } from '../fuzz/chance.ts'
import { ask } from '../support/process-world.ts'
import type { MerchantRequest, Reply, RequestKind } from './history.ts'

/** A merchant's program: asks either server, gives up waiting, asks again with the same words. */
export interface Merchant {
  /**
   * Asks for something until it has an answer that is more than «later», three times at most.
   * @returns its id, where there is one
   */
  place(kind: RequestKind, path: string, body: object, marker: string): Promise<string | undefined>
  /** Asks once, for what changes nothing or may happen twice. */
  read(path: string): Promise<{ readonly status: number; readonly body: Body } | undefined>
}

// biome-ignore lint/suspicious/noExplicitAny: who asks knows what is answered.
type Body = any

/** A client waits so long, as many do. */
const PATIENCE_MS = 3_000

const TRIES = 3

/** Refusals of what is stored: it was asked for before, or has failed. */
const IS_THERE = new Set(['duplicate_external_id', 'partner_refused'])

/** What a merchant's program needs. */
export interface MerchantOptions {
  readonly apiUrls: readonly string[]
  readonly apiKey: string
  readonly adminToken: string
  readonly chance: Chance
  readonly history: MerchantRequest[]
}

/** Makes it. */
export function createMerchant({ apiUrls, apiKey, adminToken, chance, history }: MerchantOptions): Merchant {
  async function once(kind: RequestKind, path: string, body: object, key: string | undefined): Promise<Reply> {
    const token = kind === 'adjustment' ? adminToken : apiKey
    const answer = await exchange(chance.pick(apiUrls) + path, token, 'POST', body, key)
    if (!answer) return 'lost'
    const { status, body: content } = answer
    const id = status === 201 ? content.id : IS_THERE.has(content?.code) ? content.existing.id : undefined
    return { status, ...(status >= 400 && { code: content?.code }), ...(id !== undefined && { id }) }
  }
  return {
    place: async (kind, path, body, marker) => {
      const asked: MerchantRequest = { kind, marker, replies: [] }
      history.push(asked)
      const key = kind === 'adjustment' || chance.bool(0.3) ? marker : undefined
      while (asked.replies.length < TRIES) {
        const reply = await once(kind, path, body, key)
        asked.replies.push(reply)
        if (reply === 'lost' || reply.status >= 500 || reply.code === 'request_in_progress') continue
        return reply.id
      }
      return undefined
    },
    read: (path) => exchange(chance.pick(apiUrls) + path, apiKey, 'GET'),
  }
}

/** One exchange, given up after a while: from then on nobody waits for it, and the connection is closed. */
export async function exchange(url: string, token: string, method: string, body?: object, key?: string) {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  return ask(url, token, method, body, headers, signal)
}
