import { createPublicKey } from 'node:crypto'
import type { getJwks, listPublicKeys, signingKeyView as shape } from '@pixgate/spec'
import type { Static } from 'typebox'
import { mayMoveAt } from './rules.ts'
import type { SigningKey } from './signing-key.ts'

/** What operators and receivers read of signing keys. */

type PublicKeyItem = Static<(typeof listPublicKeys)['responses'][200]['schema']>['data'][number]
type Jwk = Static<(typeof getJwks)['responses'][200]['schema']>['keys'][number]

/** For the operator. */
export function signingKeyView(key: SigningKey): Static<typeof shape> {
  const { id, state, publicPem, createdAt, promotedAt, replacedAt, retiredAt } = key
  return {
    id,
    state,
    publicKey: publicPem,
    createdAt: instantText(createdAt),
    promotedAt: instantOrNull(promotedAt),
    replacedAt: instantOrNull(replacedAt),
    retiredAt: instantOrNull(retiredAt),
    mayMoveAt: instantOrNull(mayMoveAt(key)),
  }
}

/** For receivers; not of a retired one. */
export function publicKeyView({ id, state, publicPem, ...key }: SigningKey): PublicKeyItem {
  if (state === 'retired') throw new Error('a retired key is not published')
  const since = { next: key.createdAt, current: key.promotedAt, previous: key.replacedAt }[state]
  return { id, state, publicKey: publicPem, since: instantText(since ?? key.createdAt) }
}

/** RFC 7517; the signatures are DER, which JOSE has not. @source rules#signing-keys.4 */
export function jwkView({ id, publicPem }: SigningKey): Jwk {
  const { x = '', y = '' } = createPublicKey(publicPem).export({ format: 'jwk' })
  return { kty: 'EC', crv: 'P-256', x, y, kid: id, use: 'sig', alg: 'ES256' }
}

function instantText(ms: number): string {
  return new Date(ms).toISOString()
}

function instantOrNull(ms: number | null): string | null {
  return ms === null ? null : instantText(ms)
}
