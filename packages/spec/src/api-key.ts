import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { instant } from './shapes.ts'

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
  responses: {
    201: {
      description: 'The key. Only its hash is kept.',
      schema: Type.Object(
        { apiKey: Type.String({ pattern: API_KEY_PATTERN, maxLength: 64 }), createdAt: instant },
        { additionalProperties: false },
      ),
      example: {
        apiKey: 'pix_test_0000000000000000000000000000000000000000000000000',
        createdAt: '2026-11-21T13:00:00.000Z',
      },
    },
  },
  errors: [],
})
