import { type TSchema, Type } from 'typebox'
import { limits } from './limits.ts'
import { CORRELATION_ID } from './shapes.ts'

export interface ResponseHeaderDefinition {
  readonly description: string
  readonly schema: TSchema
  readonly example: string | number
  /** Whether every response that declares it has it. */
  readonly isAlwaysThere: boolean
}

/** Every response header of the service by name, except HTTP's own. @source rules#reference.8 */
export const responseHeaders = {
  'X-Correlation-ID': {
    description: 'The `X-Correlation-ID` of the request, or the one made for it.',
    schema: Type.String({ minLength: 1, maxLength: limits.correlationIdMaxLength, pattern: CORRELATION_ID }),
    example: 'checkout-77',
    isAlwaysThere: true,
  },
  'Cache-Control': {
    description: 'Whether the answer may be cached: `no-store`, except for public resources.',
    schema: Type.String(),
    example: 'no-store',
    isAlwaysThere: true,
  },
  'X-Content-Type-Options': {
    description: 'The content is of the declared type.',
    schema: Type.String(),
    example: 'nosniff',
    isAlwaysThere: true,
  },
  'Strict-Transport-Security': {
    description: 'In production: that browsers use HTTPS only.',
    schema: Type.String(),
    example: 'max-age=31536000; includeSubDomains',
    isAlwaysThere: false,
  },
  Location: {
    description: 'Path of the created resource.',
    schema: Type.String({ format: 'uri-reference' }),
    example: '/api/pix/cash-in/0198c0de-7a11-7000-8000-5f1d3c2b1a09',
    isAlwaysThere: true,
  },
  'Idempotent-Replayed': {
    description: 'This 201 was made for an earlier request with the same `Idempotency-Key`.',
    schema: Type.Enum(['true']),
    example: 'true',
    isAlwaysThere: false,
  },
  'Set-Cookie': {
    description: 'The cookie of the session, or its removal.',
    schema: Type.String(),
    example: 'pixgate-8080=…; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict',
    isAlwaysThere: true,
  },
  'Referrer-Policy': {
    description: 'The browser sends no Referer with requests of the page.',
    schema: Type.String(),
    example: 'no-referrer',
    isAlwaysThere: true,
  },
  'X-Robots-Tag': {
    description: 'Search engines leave the page out.',
    schema: Type.String(),
    example: 'noindex, nofollow',
    isAlwaysThere: true,
  },
  'Content-Disposition': {
    description: 'The name of the file.',
    schema: Type.String(),
    example: 'attachment; filename="pixgate-2026-11-22.csv"',
    isAlwaysThere: true,
  },
  'Content-Security-Policy': {
    description: 'Content security policy of a page.',
    schema: Type.String(),
    example: "default-src 'none'",
    isAlwaysThere: false,
  },
  Vary: {
    description: 'The request headers on which the answer depends.',
    schema: Type.String(),
    example: 'accept',
    isAlwaysThere: true,
  },
  ETag: {
    description: 'Names this version; `If-None-Match` asks whether there is another.',
    schema: Type.String(),
    example: '"brBF9ATMQOcuvXdP"',
    isAlwaysThere: true,
  },
  'Retry-After': {
    description: 'Seconds to wait before the same request may succeed. Every 429 and every problem with 503 has it.',
    schema: Type.Integer({ minimum: 1, maximum: 3_600 }),
    example: 1,
    isAlwaysThere: false,
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    schema: Type.String(),
    example: 'Bearer',
    isAlwaysThere: true,
  },
  Allow: {
    description: 'The methods that the path has.',
    schema: Type.String(),
    example: 'GET, HEAD, POST',
    isAlwaysThere: true,
  },
} as const satisfies Readonly<Record<string, ResponseHeaderDefinition>>

export type ResponseHeader = keyof typeof responseHeaders
