import { type endpoints, limits } from '@pixgate/spec'
import { operatorOf } from '../audit/operator.ts'
import { sha256 } from '../platform/crypto.ts'
import { hasCurrent } from '../platform/http/etag.ts'
import type { Handlers, RequestContext } from '../platform/http/handler.ts'
import { makeNextKey, promoteNextKey, retireSigningKey, type SigningKeyDependencies } from './commands.ts'
import type { PublishedKeys } from './published.ts'
import { listKeys } from './store.ts'
import { jwkView, publicKeyView, signingKeyView } from './view.ts'

/** The endpoints of this module, each with its handler. */
export type SigningKeyHandlers = Handlers<
  Pick<
    typeof endpoints,
    | 'getPublicKey'
    | 'listPublicKeys'
    | 'getJwks'
    | 'listSigningKeys'
    | 'createSigningKey'
    | 'promoteSigningKey'
    | 'retireSigningKey'
  >
>

/** Binds the endpoints to commands and queries. */
export function createSigningKeyHandlers(
  dependencies: SigningKeyDependencies,
  published: PublishedKeys,
): SigningKeyHandlers {
  const ordering = (context: RequestContext) => ({ operator: operatorOf(context), live: context.live })
  return {
    getPublicKey: async ({ context }) => {
      const current = (await published.read()).find(({ state }) => state === 'current')
      if (current === undefined) throw new Error('no key is current')
      return cacheable(current.publicPem, `"${current.id}"`, context)
    },
    listPublicKeys: async ({ context }) => {
      const body = { data: (await published.read()).map(publicKeyView) }
      return cacheable(body, etagOf(body), context)
    },
    getJwks: async ({ context }) => {
      const body = { keys: (await published.read()).map(jwkView) }
      return cacheable(body, etagOf(body), context)
    },
    listSigningKeys: async () => {
      const keys = await listKeys(dependencies.database, limits.signingKeysListMax)
      return { status: 200, body: { data: keys.map(signingKeyView) } }
    },
    createSigningKey: async ({ body, context }) => {
      return { status: 201, body: signingKeyView(await makeNextKey(dependencies, body, ordering(context))) }
    },
    promoteSigningKey: async ({ params, body: { reason, force = false }, context }) => {
      const key = await promoteNextKey(dependencies, params.key_id, { reason, force }, ordering(context))
      return { status: 200, body: signingKeyView(key) }
    },
    retireSigningKey: async ({ params, body: { reason, force = false }, context }) => {
      const key = await retireSigningKey(dependencies, params.key_id, { reason, force }, ordering(context))
      return { status: 200, body: signingKeyView(key) }
    },
  }
}

/** An answer that anybody may keep for a while, or 304 to who has it. @source rules#webhooks.4, rules#signing-keys.4 */
function cacheable<Body>(body: Body, etag: string, { headers: given }: RequestContext) {
  const headers = { 'cache-control': `public, max-age=${limits.publicKeyMaxAgeSeconds}`, etag }
  return hasCurrent(etag, given['if-none-match'])
    ? ({ status: 304, headers } as const)
    : ({ status: 200, headers, body } as const)
}

function etagOf(body: object): string {
  return `"${sha256(JSON.stringify(body)).toString('base64url').slice(0, 16)}"`
}
