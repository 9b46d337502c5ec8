import { type TSchema, Type } from 'typebox'
import { apiKeyScopes } from './access.ts'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import {
  centsMoved,
  cursorList,
  idOf,
  instant,
  int64,
  nullable,
  optional,
  optionalText,
  pageLimit,
  text,
  uuid,
} from './shapes.ts'

/**
 * API keys: `pix_test_` or `pix_live_`, 43 base62 characters (256 random bits), and 6 base62 characters of CRC-32 over
 * all of that.
 */

/** Pattern for secret scanners. @source rules#api-keys.2 */
export const API_KEY_PATTERN = '^pix_(?:test|live)_[0-9A-Za-z]{49}$'

const scope = Type.Enum([...apiKeyScopes], { title: 'ApiKeyScope' })

const CAPS = {
  paymentCents: 'One payout or refund',
  hourCents: 'Any 60 minutes',
  dayCents: 'Any 24 hours',
  nightCents: 'A night: 20:00 to 06:00 in São Paulo',
  newRecipientCents: 'One Pix key that was never paid before',
} as const

function caps<Field extends TSchema>(field: (description: string) => Field) {
  const { paymentCents, hourCents, dayCents, nightCents, newRecipientCents } = CAPS
  return {
    paymentCents: field(paymentCents),
    hourCents: field(hourCents),
    dayCents: field(dayCents),
    nightCents: field(nightCents),
    newRecipientCents: field(newRecipientCents),
  }
}

/** @source rules#api-keys.1, rules#api-keys.8, rules#api-keys.9, rules#api-keys.10 */
const generateApiKeyBody = Type.Object(
  {
    name: optionalText(limits.nameMaxLength, 'Purpose, for lists of keys'),
    scopes: optional(
      Type.Array(scope, {
        minItems: 1,
        maxItems: apiKeyScopes.length,
        uniqueItems: true,
        description: 'Permissions. All of them if omitted',
      }),
    ),
    cidrs: optional(
      Type.Array(text(limits.cidrMaxLength), {
        minItems: 1,
        maxItems: limits.cidrsMax,
        description: 'Addresses and networks that may use it. Any if omitted',
      }),
    ),
    expiresAt: optional(Type.String({ ...instant, description: 'Instant from which it is refused. Never if omitted' })),
    caps: optional(
      Type.Object(
        caps((description) => optional({ ...centsMoved, description })),
        {
          title: 'ApiKeyCapsRequest',
          additionalProperties: false,
          description: 'Caps on money sent with this key, in centavos. If omitted, only the service’s caps apply',
        },
      ),
    ),
  },
  { title: 'ApiKeyRequest', additionalProperties: false },
)

/** @source rules#api-keys.1 */
export const generateApiKey = endpoint({
  id: 'generateApiKey',
  method: 'POST',
  path: '/api-key/generate',
  auth: 'admin',
  role: 'admin',
  tag: 'API keys',
  summary: 'Make an API key; it is shown this once',
  description:
    'The key opens the business endpoints. Keep it like a password: only its hash is stored here. Without a body it may do everything, from anywhere, for ever.',
  body: generateApiKeyBody,
  example: { name: 'Shop', scopes: [...apiKeyScopes] },
  responses: {
    201: {
      description: 'The key. Only its hash is kept.',
      schema: Type.Object(
        { apiKey: Type.String({ pattern: API_KEY_PATTERN, maxLength: 64 }), createdAt: instant },
        { title: 'ApiKeyCreated' },
      ),
      example: {
        apiKey: 'pix_test_0000000000000000000000000000000000000000000000000',
        createdAt: '2026-11-21T13:00:00.000Z',
      },
    },
  },
  errors: [],
})

const apiKey = Type.Object(
  {
    id: uuid,
    display: Type.String({ maxLength: 8, description: 'The first characters after the prefix, to tell keys apart' }),
    name: nullable(Type.String({ maxLength: limits.nameMaxLength })),
    scopes: Type.Array(scope, { maxItems: apiKeyScopes.length }),
    cidrs: nullable(
      Type.Array(Type.String({ maxLength: limits.cidrMaxLength }), {
        maxItems: limits.cidrsMax,
        description: 'From where alone it may be used; `null`: from anywhere',
      }),
    ),
    caps: Type.Object(
      caps((description) => nullable(int64({ minimum: 1, maximum: Number(limits.valueMaxCents), description }))),
      {
        title: 'ApiKeyCaps',
        description: 'Caps on money sent with this key, in centavos; `null`: only the service’s caps apply',
      },
    ),
    createdAt: instant,
    createdBy: nullable({ ...uuid, description: 'The operator who made it; `null`: the administrative token' }),
    expiresAt: nullable(instant),
    lastUsedAt: nullable({ ...instant, description: 'To the minute' }),
    deactivatedAt: nullable(instant),
  },
  { title: 'ApiKey', description: 'A key, never its text.' },
)

/** @source rules#api-keys.5 */
export const listApiKeys = endpoint({
  id: 'listApiKeys',
  method: 'GET',
  path: '/api-key',
  auth: 'admin',
  role: 'viewer',
  tag: 'API keys',
  summary: 'List the API keys, newest first',
  description:
    'Permissions, last use and first characters of each key, deactivated ones included; never the keys themselves.',
  query: Type.Object(
    {
      cursor: Type.Optional({
        ...uuid,
        description: '`nextCursor` of the page before',
        examples: ['0198c0de-3f00-7000-8000-1a2b3c4d5e6f'],
      }),
      limit: pageLimit,
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of keys, deactivated ones too',
      schema: cursorList(apiKey, 'ApiKeyPage'),
      example: {
        data: [
          {
            id: '0198c0de-3f00-7000-8000-1a2b3c4d5e6f',
            display: '003aUlTJ',
            name: 'Shop',
            scopes: ['read', 'charge', 'payout'],
            cidrs: ['203.0.113.0/24'],
            caps: {
              paymentCents: 500000,
              hourCents: null,
              dayCents: 5000000,
              nightCents: null,
              newRecipientCents: null,
            },
            createdAt: '2026-11-21T13:00:00.000Z',
            createdBy: null,
            expiresAt: null,
            lastUsedAt: '2026-11-21T14:21:00.000Z',
            deactivatedAt: null,
          },
        ],
        pagination: { limit: 20, hasMore: false, nextCursor: null },
      },
    },
  },
  errors: [],
})

/** @source rules#api-keys.6 */
export const deactivateApiKey = endpoint({
  id: 'deactivateApiKey',
  method: 'DELETE',
  path: '/api-key/{id}',
  auth: 'admin',
  role: 'admin',
  tag: 'API keys',
  summary: 'Deactivate an API key, for ever',
  description: 'It stops working within five seconds everywhere. Make the key that follows it first.',
  params: idOf('api-key'),
  responses: { 204: { description: 'Deactivated' } },
  errors: ['not_found'],
})

/** @source rules#api-keys.14 */
export const deactivateAllApiKeys = endpoint({
  id: 'deactivateAllApiKeys',
  method: 'POST',
  path: '/api-key/deactivate-all',
  auth: 'admin',
  role: 'admin',
  tag: 'API keys',
  summary: 'Emergency: deactivate every API key, for ever',
  description:
    'Deactivates all keys at once, when it is unknown which one was stolen: within five seconds every client is refused until it has a new key. A repeated call finds none, and answers 200 as well.',
  body: Type.Object(
    { reason: text(limits.reasonMaxLength, 'The reason, for the audit trail') },
    { title: 'DeactivateAllApiKeysRequest', additionalProperties: false },
  ),
  example: { reason: 'Incident 42: a key was stolen, which one is unknown' },
  responses: {
    200: {
      description: 'No active key',
      schema: Type.Object(
        {
          deactivatedCount: int64({
            minimum: 0,
            maximum: Number.MAX_SAFE_INTEGER,
            description: 'How many were active',
          }),
        },
        { title: 'ApiKeysDeactivated' },
      ),
      example: { deactivatedCount: 3 },
    },
  },
  errors: [],
})
