import { type TSchema, Type } from 'typebox'
import { limits } from './limits.ts'
import type { ResponseHeader } from './response-headers.ts'

/**
 * Shapes that several resources share. Strings are bounded and refuse control characters wherever a client writes them. A
 * shape with a `title` has a name of its own in the OpenAPI document, and in what is generated from it.
 */

/**
 * Text without C0 controls, DEL or half surrogates: what a database, a log and a bank can all hold.
 * @source rules#text.1
 */
export const PLAIN_TEXT = '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*$'

/** Control characters C0 and C1, line separators, bidi overrides, half surrogates: what nobody sees, or what hides other text. */
const HIDDEN = '\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff'

/** One of them, wherever somebody else than a client wrote it. @source rules#text.3 */
export const HIDDEN_CHARACTER = new RegExp(`[\\u0000-\\u001f${HIDDEN}]`, 'gu')

/** Text that a client writes, in one line. @source rules#text.1 */
export const FREE_TEXT = `^[^\\u0000-\\u001f${HIDDEN}]*$`

/** The same in one line or several: each break becomes a space. @source rules#text.2 */
export const TEXT_OF_LINES = `^[^\\u0000-\\u0009\\u000b\\u000c\\u000e-\\u001f${HIDDEN}]*$`

/** Letters that have no shape, though Unicode calls them letters. */
const FILLERS = '\\u115f\\u1160\\u3164\\uffa0'

/** What Unicode calls control, format, unassigned, half a surrogate, and separator of lines. */
const INVISIBLE = '\\p{Cc}\\p{Cf}\\p{Cn}\\p{Cs}\\p{Zl}\\p{Zp}'

/** They have no shape either, but scripts and emoji are joined, or kept apart, by them. */
const JOINERS = '\\u200c\\u200d'

/**
 * An `externalId`: printable, no space at either end. How long it is, and whether it may be empty, is said beside it.
 * @source rules#external-id.1
 */
export const EXTERNAL_ID = `^(?!\\p{Zs})(?:[${JOINERS}]|[^${INVISIBLE}${FILLERS}])*(?<!\\p{Zs})$`

/** Of what is no part of an `externalId`, what has an escape of four digits. */
const UNPRINTABLE = `\\u0000-\\u001f${HIDDEN}${FILLERS}\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2060-\\u2065\\u206a-\\u206f\\ufdd0-\\ufdef\\ufeff\\ufff9-\\ufffb\\ufffe\\uffff`

const SPACES = ' \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000'

/** Nearly the same in the words of every language: not each has the classes of Unicode, or looks behind. It refuses less. */
export const EXTERNAL_ID_PUBLISHED = `^(?:[^${UNPRINTABLE}${SPACES}](?:[^${UNPRINTABLE}]*[^${UNPRINTABLE}${SPACES}])?)?$`

/** Letters of the languages that write in Latin script, Vietnamese included. */
const LATIN_LETTERS =
  'A-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u0137\\u0139-\\u0148\\u014a-\\u017e\\u01a0\\u01a1\\u01af\\u01b0\\u1ea0-\\u1ef9'

/**
 * Name of a person in Latin letters. Letters of other scripts can look the same, so that one person could have two names.
 * @source rules#operators.1
 */
export const PERSON_NAME = `^[${LATIN_LETTERS}](?:[${LATIN_LETTERS} .'\\u2019-]*[${LATIN_LETTERS}.])?$`

/** An `X-Correlation-ID` that is kept and echoed as it came: printable ASCII. @source rules#http.3 */
export const CORRELATION_ID = `^[ -~]{1,${limits.correlationIdMaxLength}}$`

/** Characters of a page's `nextCursor`. */
export const CURSOR = '^[A-Za-z0-9_-]{1,64}$'

/** A UUID in its canonical form, either case. */
export const uuid = Type.String({ format: 'uuid', minLength: 36, maxLength: 36 })

/** An id in a path, as clients write it; what is no UUID is found nowhere. */
export function idText(resource: string, example: string) {
  return Type.String({ maxLength: 128, description: `UUID of the ${resource}`, examples: [example] })
}

/** An example of an id, by what it is the id of. */
const EXAMPLE_IDS = {
  'cash-in': '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
  'cash-out': '0198c0e1-22b4-7000-8000-6a7b8c9d0e1f',
  'refund-in': '0198c0e4-51d7-7000-8000-3b4c5d6e7f80',
  'ledger-entry': '7f3c1c5e-8a2b-8d4e-8000-00000000002a',
  'api-key': '0198c0de-3f00-7000-8000-1a2b3c4d5e6f',
  operator: '0198c0d1-3f00-7000-8000-5e6f1a2b3c4d',
} as const

/** The path parameter of what is found by its id. */
export function idOf(resource: keyof typeof EXAMPLE_IDS) {
  return Type.Object({ id: idText(resource, EXAMPLE_IDS[resource]) })
}

/** ISO 8601, UTC. */
export const instant = Type.String({ format: 'date-time', maxLength: 40 })

/** Always BRL. */
export const currency = Type.Literal('BRL')

/**
 * A whole number that 32 bits may not hold. Where the format does not say so, clients generated for Java or C# have an `int`,
 * and fail at an answer whose request was carried out.
 * @source rules#reference.6
 */
export function int64(bounds: { readonly minimum: number; readonly maximum: number; readonly description?: string }) {
  return Type.Integer({ format: 'int64', ...bounds })
}

/** The status in a 201: the one in which an operation begins, whatever became of it meanwhile. */
export function firstStatus<const Status extends string>(status: Status) {
  return Type.Enum([status])
}

/** Integer centavos in an answer. */
export function cents(description?: string) {
  return int64({
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    ...(description === undefined ? {} : { description }),
  })
}

/** Integer centavos that move. */
export const centsMoved = int64({ minimum: 1, maximum: Number(limits.valueMaxCents) })

/** A value or an explicit `null`: keys are always present. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/**
 * A field of a request body that may be left out, or be `null`, which is the same.
 * @source rules#http.16
 */
export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(nullable(schema))
}

/** Free text a client writes. @source rules#text.1 */
export function text(maxLength: number, description?: string) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: FREE_TEXT,
    ...(description === undefined ? {} : { description }),
  })
}

/**
 * The same where it may be left out: then empty text is none either.
 * @param pattern which characters it may have
 * @source rules#http.16
 */
export function optionalText(maxLength: number, description?: string, pattern: string = FREE_TEXT) {
  return optional(Type.String({ maxLength, pattern, ...(description === undefined ? {} : { description }) }))
}

/** The client's own reference. @source rules#external-id.1 */
export const externalId = Type.String({
  minLength: 1,
  maxLength: limits.externalIdMaxLength,
  pattern: EXTERNAL_ID,
  description:
    'Your reference: unique per operation type, for ever. Never change it when you retry. Printable characters, none that is invisible, no space at either end.',
})

/** The same as it is told. It may be older than the rule of what is accepted. */
export const knownExternalId = Type.String({ maxLength: limits.externalIdMaxLength, description: 'Your reference' })

/** The same as lists find it. @source rules#cash-in.list.3 */
const externalIdFilter = Type.String({
  minLength: 1,
  maxLength: limits.externalIdMaxLength,
  pattern: PLAIN_TEXT,
  description: 'The operation that has exactly this reference of yours',
  examples: ['order-1001'],
})

/** An `Idempotency-Key`: quoted, as the header's draft says, or bare; up to 255 printable characters. @source rules#idempotency.1 */
export const IDEMPOTENCY_KEY = '^(?:"([ !#-\\[\\]-~]{1,255})"|([!#-+\\--\\[\\]-~]{1,255}))$'

/** The request header `Idempotency-Key`. @source rules#idempotency.1 */
export const idempotencyKey = Type.String({
  minLength: 1,
  maxLength: 257,
  pattern: IDEMPOTENCY_KEY,
  examples: ['2f1d3c9a-charge-order-1001'],
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
  return Type.String({ format: 'date', minLength: 10, maxLength: 10, description, examples: ['2026-11-21'] })
}

/** Of the 201 of what may be created with an `Idempotency-Key`, and is read at a path of its own. */
export const CREATED_HEADERS = ['Location', 'Idempotent-Replayed'] as const satisfies readonly ResponseHeader[]

/** The envelope of a list read by cursor, under the title of its shape. */
export function cursorList<T extends TSchema>(item: T, title: string) {
  return Type.Object(
    {
      data: Type.Array(item, { maxItems: limits.pageLimitMax }),
      pagination: Type.Object(
        {
          limit: Type.Integer({ minimum: 1, maximum: limits.pageLimitMax }),
          hasMore: Type.Boolean(),
          nextCursor: nullable(Type.String({ maxLength: 64 })),
        },
        { title: 'CursorPagination' },
      ),
    },
    { title },
  )
}

/** How long a page of a list is. @source rules#lists.1 */
export const pageLimit = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: limits.pageLimitMax,
    default: limits.pageLimitDefault,
    description: 'How many items a page has',
  }),
)

/**
 * What every list of operations may be asked.
 * @param status a state of these operations
 * @source rules#lists.1
 */
export function operationQuery<Status extends TSchema>(status: Status) {
  return {
    page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: limits.pageMax, default: limits.pageDefault, description: 'Which page' }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: CURSOR,
        description:
          '`nextCursor` of the page before, with the same filters and without `page`: however deep, it is as fast as the first',
        examples: ['AQAAAAIBmsDeehEBmMDeehFwAIAAXx08KxoJ'],
      }),
    ),
    limit: pageLimit,
    start_date: Type.Optional(utcDay('First UTC day of creation, inclusive')),
    end_date: Type.Optional(utcDay('Last UTC day of creation, inclusive')),
    status: Type.Optional(status),
    external_id: Type.Optional(externalIdFilter),
    end_to_end_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        pattern: PLAIN_TEXT,
        description: 'The operation whose payment has exactly this id in the network',
        examples: ['E9999901020261121131500aB3dE5fG7'],
      }),
    ),
  }
}

/** An example of a list read by page: the only page of one item. */
export function onlyPage<Item>(item: Item) {
  return { data: [item], pagination: { page: 1, limit: 20, total: 1, totalPages: 1, hasMore: false, nextCursor: null } }
}

/** The envelope of a list read by page, under the title of its shape. @source rules#lists.1 */
export function pageList<T extends TSchema>(item: T, title: string) {
  const total = (description: string) => nullable(int64({ minimum: 0, maximum: 1e12, description }))
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
          nextCursor: nullable(Type.String({ maxLength: 64, description: 'Null on the last page' })),
        },
        { title: 'PagePagination' },
      ),
    },
    { title },
  )
}

/** The name of a kind of case. */
export const CASE_KIND = '^[a-z_]{1,64}$'

/** The bank's name of a movement: visible ASCII characters. */
export const VISIBLE_ASCII = '^[!-~]+$'

/**
 * An end-to-end id as the Central Bank writes it, or nothing: since API Pix 2.9.0 an ISPB may have capitals, as a CNPJ may.
 * @source rules#cases.17
 */
export const END_TO_END_ID = '^(?:E[0-9A-Z]{8}[0-9]{12}[0-9A-Za-z]{11})?$'

/** A return id likewise. @source rules#cases.17 */
export const RETURN_ID = '^(?:D[0-9A-Z]{8}[0-9]{12}[0-9A-Za-z]{11})?$'
