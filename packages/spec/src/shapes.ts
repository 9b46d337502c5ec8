import { type TSchema, Type } from 'typebox'
import { limits } from './limits.ts'

/**
 * Shapes that several resources share. Strings are bounded and refuse C0 controls wherever a client writes them.
 */

/**
 * Text without C0 controls, DEL or half surrogates: what a database, a log and a bank can all hold.
 * @source rules#text.1
 */
export const PLAIN_TEXT = '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*$'

/** Characters of an `externalId`. */
export const REFERENCE = '^[A-Za-z0-9._:-]+$'

/** An `X-Correlation-ID` that is kept and echoed as it came: printable ASCII. @source rules#http.3 */
export const CORRELATION_ID = `^[ -~]{1,${limits.correlationIdMaxLength}}$`

/** Characters of a page's `nextCursor`. */
export const CURSOR = '^[A-Za-z0-9_-]{1,64}$'

/** A UUID in its canonical form, either case. */
export const uuid = Type.String({ format: 'uuid', minLength: 36, maxLength: 36 })

/** The path parameter of what is found by its id. */
export function idOf(resource: string) {
  return Type.Object({ id: Type.String({ maxLength: 128, description: `UUID of the ${resource}` }) })
}

/** ISO 8601, UTC. */
export const instant = Type.String({ format: 'date-time', maxLength: 40 })

/** Always BRL. */
export const currency = Type.Literal('BRL')

/** Integer centavos in an answer. */
export function cents(description?: string) {
  return Type.Integer({
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    ...(description === undefined ? {} : { description }),
  })
}

/** A value or an explicit `null`: keys are always present. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** Free text a client writes. @source rules#text.1 */
export function text(maxLength: number, description?: string) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: PLAIN_TEXT,
    ...(description === undefined ? {} : { description }),
  })
}

/** The client's own reference. @source rules#external-id.1 */
export const externalId = Type.String({
  minLength: 1,
  maxLength: limits.externalIdMaxLength,
  pattern: REFERENCE,
  description: 'Your reference: unique per operation type, for ever. Never change it when you retry.',
})

/** The request header `Idempotency-Key`. @source rules#idempotency.1 */
export const idempotencyKey = Type.String({
  minLength: 1,
  maxLength: 257,
  description:
    'Replays the 201 of the same request within 24 hours (`Idempotent-Replayed: true`). Optional: `externalId` is the lasting key.',
})

/**
 * Reais in a request. Decimals, sign and ceiling are judged after the shape, each with its own error.
 * @source rules#money.1
 */
export const reais = Type.Number({ description: 'BRL in reais, at most two decimals: 150.00. Never centavos.' })

/** `YYYY-MM-DD`, a UTC day. @source rules#lists.2 */
export function utcDay(description: string) {
  return Type.String({ format: 'date', minLength: 10, maxLength: 10, description })
}

/** The envelope of a list read by cursor. */
export function cursorList<T extends TSchema>(item: T) {
  return Type.Object(
    {
      data: Type.Array(item, { maxItems: limits.pageLimitMax }),
      pagination: Type.Object(
        {
          limit: Type.Integer({ minimum: 1, maximum: limits.pageLimitMax }),
          hasMore: Type.Boolean(),
          nextCursor: nullable(Type.String({ maxLength: 64 })),
        },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  )
}

/**
 * What every list of operations may be asked.
 * @param status a state of these operations
 * @source rules#lists.1
 */
export function operationQuery<Status extends TSchema>(status: Status) {
  return {
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageMax, default: limits.pageDefault })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageLimitMax, default: limits.pageLimitDefault })),
    start_date: Type.Optional(utcDay('First UTC day of creation, inclusive')),
    end_date: Type.Optional(utcDay('Last UTC day of creation, inclusive')),
    status: Type.Optional(status),
    external_id: Type.Optional(externalId),
    end_to_end_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64, pattern: PLAIN_TEXT })),
  }
}

/** An example of a list read by page: the only page of one item. */
export function onlyPage<Item>(item: Item) {
  return { data: [item], pagination: { page: 1, limit: 20, total: 1, totalPages: 1, hasMore: false } }
}

/** The envelope of a list read by page. @source rules#lists.1 */
export function pageList<T extends TSchema>(item: T) {
  const total = (description: string) => nullable(Type.Integer({ minimum: 0, maximum: 1e12, description }))
  return Type.Object(
    {
      data: Type.Array(item, { maxItems: limits.pageLimitMax }),
      pagination: Type.Object(
        {
          page: Type.Integer({ minimum: 1, maximum: limits.pageMax }),
          limit: Type.Integer({ minimum: 1, maximum: limits.pageLimitMax }),
          total: total(`Exact up to ${limits.exactTotalMax}, beyond that null`),
          totalPages: total('Null where the total is'),
          hasMore: Type.Boolean(),
        },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  )
}
