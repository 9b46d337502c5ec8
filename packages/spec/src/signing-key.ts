import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { instant, nullable, text } from './shapes.ts'

/** Keys that sign notifications: their publication for receivers, and their rotation by the operator. */

const KEY_ID_LENGTH = 16

const keyId = Type.String({
  minLength: KEY_ID_LENGTH,
  maxLength: KEY_ID_LENGTH,
  description: 'The first 16 base64url characters of the SHA-256 of the key’s SPKI in DER',
})

const pem = Type.String({ title: 'PublicKey', maxLength: 1_024 })

const ifNoneMatch = {
  'If-None-Match': Type.String({
    maxLength: 256,
    description: 'The `ETag` of the answer that you have',
    examples: ['"brBF9ATMQOcuvXdP"'],
  }),
}

const PEM_EXAMPLE = '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE…\n-----END PUBLIC KEY-----\n'

const NOT_MODIFIED = {
  description: 'Unchanged: it is the version that `If-None-Match` names',
  headers: ['ETag'],
} as const

/** @source rules#webhooks.4 */
export const getPublicKey = endpoint({
  id: 'getPublicKey',
  method: 'GET',
  path: '/public-key',
  auth: 'none',
  tag: 'Webhooks',
  summary: 'The PEM key that verifies Digital-Signature',
  headers: ifNoneMatch,
  description:
    'SPKI in PEM, always, of the key that signs now. Cache it for five minutes and fetch it again when a signature does not verify. `GET /public-keys` has the one that will sign next, too.',
  responses: {
    200: {
      description: 'ECDSA P-256 public key',
      headers: ['ETag'],
      contentType: 'application/x-pem-file',
      schema: pem,
      example: PEM_EXAMPLE,
    },
    304: { description: 'The key is still the one that `If-None-Match` names', headers: ['ETag'] },
  },
  errors: [],
})

const publicKey = Type.Object(
  {
    id: keyId,
    state: Type.Enum(['next', 'current', 'previous'], {
      description: '`current` signs, `next` will, `previous` did: a delivery under way may still have its signature',
    }),
    publicKey: pem,
    since: { ...instant, description: 'When it came into this state' },
  },
  { title: 'PublicKeyItem', description: 'A key that `Digital-Signature-Key-Id` may name.' },
)

/** @source rules#signing-keys.4 */
export const listPublicKeys = endpoint({
  id: 'listPublicKeys',
  method: 'GET',
  path: '/public-keys',
  auth: 'none',
  tag: 'Webhooks',
  summary: 'All keys that may verify Digital-Signature, by id',
  headers: ifNoneMatch,
  description:
    'The key that signs, the one that will, and the one that did. Cache them for five minutes, take the one that `Digital-Signature-Key-Id` names, and fetch them again where it names none of them. A key that is not there verifies nothing.',
  responses: {
    200: {
      description: 'The keys, the newest first',
      headers: ['ETag'],
      schema: Type.Object(
        { data: Type.Array(publicKey, { minItems: 1, maxItems: limits.signingKeysPublishedMax }) },
        { title: 'PublicKeyList' },
      ),
      example: {
        data: [{ id: 'brBF9ATMQOcuvXdP', state: 'current', publicKey: PEM_EXAMPLE, since: '2026-11-21T13:00:00.000Z' }],
      },
    },
    304: NOT_MODIFIED,
  },
  errors: [],
})

const COORDINATE = Type.String({ minLength: 43, maxLength: 43, pattern: '^[A-Za-z0-9_-]+$' })

const jwk = Type.Object(
  {
    kty: Type.Literal('EC'),
    crv: Type.Literal('P-256'),
    x: COORDINATE,
    y: COORDINATE,
    kid: keyId,
    use: Type.Literal('sig'),
    alg: Type.Literal('ES256'),
  },
  { title: 'Jwk', description: 'A public key as RFC 7517 has it.' },
)

/** @source rules#signing-keys.4 */
export const getJwks = endpoint({
  id: 'getJwks',
  method: 'GET',
  path: '/.well-known/jwks.json',
  auth: 'none',
  tag: 'Webhooks',
  summary: 'The same keys as a JSON Web Key Set',
  headers: ifNoneMatch,
  description:
    'For libraries that read keys in this form (RFC 7517). `alg` names the curve and the hash; the signatures themselves are DER, where JOSE has the two numbers side by side: verify them as ECDSA and not as a JWS.',
  responses: {
    200: {
      description: 'The keys of `GET /public-keys`',
      headers: ['ETag'],
      schema: Type.Object(
        { keys: Type.Array(jwk, { minItems: 1, maxItems: limits.signingKeysPublishedMax }) },
        { title: 'JwkSet' },
      ),
      example: {
        keys: [
          {
            kty: 'EC',
            crv: 'P-256',
            x: '9hJUnk4-HlcCxu65w2LJGdIqb9dLx7ve-QJKRVJgHTc',
            y: 'H3bQPowpf8uF7GyplJzwPDLgmiSQG-HF-50u_7SkyZg',
            kid: 'brBF9ATMQOcuvXdP',
            use: 'sig',
            alg: 'ES256',
          },
        ],
      },
    },
    304: NOT_MODIFIED,
  },
  errors: [],
})

/** A signing key in the operator's view. */
export const signingKeyView = Type.Object(
  {
    id: keyId,
    state: Type.Enum(['next', 'current', 'previous', 'retired'], {
      description: '`next`: published. `current`: signs. `previous`: published. `retired`: no longer verifies',
    }),
    publicKey: pem,
    createdAt: { ...instant, description: 'When it was made, and published' },
    promotedAt: nullable({ ...instant, description: 'When it began to sign' }),
    replacedAt: nullable({ ...instant, description: 'When another began to sign in its place' }),
    retiredAt: nullable({ ...instant, description: 'Instant at which it was unpublished' }),
    mayMoveAt: nullable({
      ...instant,
      description: 'From when on the next key may be promoted, and the previous one retired, without `force`',
    }),
  },
  { title: 'SigningKey', description: 'A signing key and its dates; `null` for dates in the future.' },
)

const NEXT = {
  id: 'brBF9ATMQOcuvXdP',
  state: 'next',
  publicKey: PEM_EXAMPLE,
  createdAt: '2026-11-21T13:00:00.000Z',
  promotedAt: null,
  replacedAt: null,
  retiredAt: null,
  mayMoveAt: '2026-11-21T13:05:01.000Z',
}

const PROMOTED = { ...NEXT, state: 'current', promotedAt: '2026-11-21T13:10:00.000Z', mayMoveAt: null }

const RETIRED = {
  ...PROMOTED,
  state: 'retired',
  replacedAt: '2027-11-21T13:10:00.000Z',
  retiredAt: '2027-11-28T13:10:00.000Z',
}

const params = Type.Object({
  key_id: Type.String({ maxLength: 128, description: 'Id of the signing-key', examples: ['brBF9ATMQOcuvXdP'] }),
})

const reason = text(limits.reasonMaxLength, 'The reason, for the audit trail')

const force = Type.Optional(
  nullable(Type.Boolean({ description: 'Even if receivers may not have the next key yet: for a key that has leaked' })),
)

const change = Type.Object({ reason, force }, { title: 'SigningKeyChange', additionalProperties: false })

/** @source rules#signing-keys.1 */
export const listSigningKeys = endpoint({
  id: 'listSigningKeys',
  method: 'GET',
  path: '/operator/signing-keys',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'List the signing keys, their states and dates',
  description: 'Those that are published first, then the newest.',
  responses: {
    200: {
      description: 'The keys, a hundred at most',
      schema: Type.Object(
        { data: Type.Array(signingKeyView, { maxItems: limits.signingKeysListMax }) },
        { title: 'SigningKeyList' },
      ),
      example: { data: [NEXT] },
    },
  },
  errors: [],
})

/** @source rules#signing-keys.1 */
export const createSigningKey = endpoint({
  id: 'createSigningKey',
  method: 'POST',
  path: '/operator/signing-keys',
  auth: 'admin',
  role: 'admin',
  tag: 'Operator',
  summary: 'Make the next signing key',
  description: 'It is published at once, and signs nothing before it is promoted.',
  body: Type.Object({ reason }, { title: 'SigningKeyRequest', additionalProperties: false }),
  example: { reason: 'Yearly rotation' },
  responses: { 201: { description: 'Made, and published', schema: signingKeyView, example: NEXT } },
  errors: ['next_signing_key_exists'],
})

/** @source rules#signing-keys.2 */
export const promoteSigningKey = endpoint({
  id: 'promoteSigningKey',
  method: 'POST',
  path: '/operator/signing-keys/{key_id}/promote',
  auth: 'admin',
  role: 'admin',
  tag: 'Operator',
  summary: 'Let the next signing key sign',
  description:
    'From the next delivery on, in every process. The current key becomes the previous one, which is published for 30 days more; an earlier previous one is retired. 409 `signing_key_too_soon` until the next key was published for as long as receivers cache keys, unless `force`.',
  params,
  body: change,
  example: { reason: 'Yearly rotation' },
  responses: { 200: { description: 'It signs', schema: signingKeyView, example: PROMOTED } },
  errors: ['not_found', 'signing_key_state_conflict', 'signing_key_too_soon'],
})

/** @source rules#signing-keys.2 */
export const retireSigningKey = endpoint({
  id: 'retireSigningKey',
  method: 'POST',
  path: '/operator/signing-keys/{key_id}/retire',
  auth: 'admin',
  role: 'admin',
  tag: 'Operator',
  summary: 'Unpublish a signing key',
  description:
    'The previous one, or a next one that is not wanted. Of the previous one 409 `signing_key_too_soon` until it was replaced for as long as receivers cache keys, unless `force`.',
  params,
  body: change,
  example: { reason: 'Yearly rotation is over' },
  responses: { 200: { description: 'It no longer verifies signatures', schema: signingKeyView, example: RETIRED } },
  errors: ['not_found', 'signing_key_state_conflict', 'signing_key_too_soon'],
})
