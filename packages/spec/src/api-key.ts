import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { cursorList, idOf, instant, nullable, pageLimit, uuid } from './shapes.ts'

/**
 * API keys: `pix_test_` or `pix_live_`, 43 base62 characters (256 random bits), 6 base62 characters of CRC-32 over what
 * stands before them.
 */

/** What secret scanners look for. @source rules#api-keys.2 */
export const API_KEY_PATTERN = '^pix_(?:test|live)_[0-9A-Za-z]{49}$'

/** @source rules#api-keys.1 */
export const generateApiKey = endpoint({
  id: 'generateApiKey',
  method: 'POST',
  path: '/api-key/generate',
  auth: 'admin',
  tag: 'API keys',
  summary: 'Make an API key; it is shown this once',
  description: 'The key opens the business endpoints. Keep it like a password: only its hash is stored here.',
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
    createdAt: instant,
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
  tag: 'API keys',
  summary: 'List the API keys, newest first',
  description: 'Their ids, first characters and dates, deactivated ones too; never the keys.',
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
            createdAt: '2026-11-21T13:00:00.000Z',
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
  tag: 'API keys',
  summary: 'Deactivate an API key, for ever',
  description: 'It stops working within five seconds everywhere. Make the key that follows it first.',
  params: idOf('api-key'),
  responses: { 204: { description: 'Deactivated' } },
  errors: ['not_found'],
})
