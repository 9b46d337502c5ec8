import type { Endpoint } from '@pixgate/spec'

/**
 * The schemas that an endpoint's JSON answers are written with, by status: a field that is not in them never leaves.
 *
 * `X or null` is told to the serialiser as `nullable`. Left as a union it would validate the value against X at every
 * answer, which takes twice the time, and would answer 500 where a stored text is longer than X allows.
 */
export function responseSchemas({ responses }: Endpoint): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(responses)
      .filter(([, { schema, contentType }]) => schema && !contentType)
      .map(([status, { schema }]) => [status, withNullable(schema)]),
  )
}

function withNullable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNullable)
  if (typeof schema !== 'object' || schema === null) return schema
  const rewritten = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withNullable(value)]))
  const { anyOf, ...rest } = rewritten
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1]?.type !== 'null') return rewritten
  return { ...rest, ...anyOf[0], nullable: true }
}
