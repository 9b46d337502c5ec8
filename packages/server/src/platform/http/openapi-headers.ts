import { type ErrorCode, errors, type ResponseHeader, responseHeaders } from '@pixgate/spec'
import type { NamedSchemas } from './openapi-schemas.ts'
import { RETRY_STATUSES } from './problem.ts'

/** What every answer has, or every answer in production. */
const ON_EVERY_ANSWER: readonly ResponseHeader[] = [
  'X-Correlation-ID',
  'Cache-Control',
  'X-Content-Type-Options',
  'Strict-Transport-Security',
]

/**
 * The headers of an answer as the document declares them.
 * @param own those that not every answer has
 * @source rules#reference.8
 */
export function headersOf(own: readonly ResponseHeader[] = []): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...ON_EVERY_ANSWER, ...own].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
}

/** The headers that a problem of one of these codes has besides. @source rules#http.9 */
export function problemHeadersOf(codes: readonly ErrorCode[]): readonly ResponseHeader[] {
  return [
    ...(codes.some((code) => RETRY_STATUSES.includes(errors[code].status)) ? (['Retry-After'] as const) : []),
    ...(codes.some((code) => CHALLENGING.includes(code)) ? (['WWW-Authenticate'] as const) : []),
    ...(codes.includes('method_not_allowed') ? (['Allow'] as const) : []),
  ]
}

/** What says how to authenticate instead. */
const CHALLENGING: readonly ErrorCode[] = ['unauthorized', 'insufficient_scope']

/** The components that the answers of these operations refer to. */
export function headerComponents(paths: unknown, schemas: NamedSchemas): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(paths)
  const used = Object.entries(responseHeaders).filter(([name]) => text.includes(`"#/components/headers/${name}"`))
  return Object.fromEntries(
    used.map(([name, { isAlwaysThere, schema, ...header }]) => [
      name,
      { ...header, required: isAlwaysThere, schema: schemas.write(schema) },
    ]),
  )
}
