import { type TSchema, Type } from 'typebox'
import { limits } from './limits.ts'
import { centsToReais } from './money.ts'
import type { ResponseHeader } from './response-headers.ts'

/**
 * Shapes shared by several resources. Strings are bounded and refuse control characters wherever a client writes them.
 * A shape with a `title` has its own name in the OpenAPI document and in generated clients.
 */

/**
 * Text without C0 controls, DEL or half surrogates: databases, logs and banks can all store it.
 * @source rules#text.1
 */
export const PLAIN_TEXT = '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*$'

/**
 * Control characters C0 and C1, line separators, bidi overrides and half surrogates: invisible characters, and those
 * that hide other text.
 */
const HIDDEN = '\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff'

/** A hidden character, in text that a client did not write. @source rules#text.3 */
export const HIDDEN_CHARACTER = new RegExp(`[\\u0000-\\u001f${HIDDEN}]`, 'gu')

/** A line of text from a client. @source rules#text.1 */
export const FREE_TEXT = `^[^\\u0000-\\u001f${HIDDEN}]*$`

/** One or more lines of text; each break becomes a space. @source rules#text.2 */
export const TEXT_OF_LINES = `^[^\\u0000-\\u0009\\u000b\\u000c\\u000e-\\u001f${HIDDEN}]*$`

/** Unicode letters without a glyph. */
const FILLERS = '\\u115f\\u1160\\u3164\\uffa0'

/** Unicode classes of control, format, unassigned, surrogate and line separator characters. */
const INVISIBLE = '\\p{Cc}\\p{Cf}\\p{Cn}\\p{Cs}\\p{Zl}\\p{Zp}'

/** Invisible too, but scripts and emoji need them. */
const JOINERS = '\\u200c\\u200d'

/**
 * An `externalId`: printable, without a space at either end. Length and emptiness are defined where it is used.
 * @source rules#external-id.1
 */
export const EXTERNAL_ID = `^(?!\\p{Zs})(?:[${JOINERS}]|[^${INVISIBLE}${FILLERS}])*(?<!\\p{Zs})$`

/** Characters excluded from an `externalId` that have a four-digit escape. */
const UNPRINTABLE = `\\u0000-\\u001f${HIDDEN}${FILLERS}\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2060-\\u2065\\u206a-\\u206f\\ufdd0-\\ufdef\\ufeff\\ufff9-\\ufffb\\ufffe\\uffff`

const SPACES = ' \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000'

/** Approximation for every language: some lack Unicode classes or look-behind. Refuses less. */
export const EXTERNAL_ID_PUBLISHED = `^(?:[^${UNPRINTABLE}${SPACES}](?:[^${UNPRINTABLE}]*[^${UNPRINTABLE}${SPACES}])?)?$`

/** Letters of languages in Latin script, including Vietnamese. */
const LATIN_LETTERS =
  'A-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u0137\\u0139-\\u0148\\u014a-\\u017e\\u01a0\\u01a1\\u01af\\u01b0\\u1ea0-\\u1ef9'

/**
 * Name of a person in Latin letters. Letters of other scripts can look the same, so that one person could have two
 * names.
 * @source rules#operators.1
 */
export const PERSON_NAME = `^[${LATIN_LETTERS}](?:[${LATIN_LETTERS} .'\\u2019-]*[${LATIN_LETTERS}.])?$`

/** A valid `X-Correlation-ID`, echoed unchanged: printable ASCII. @source rules#http.3 */
export const CORRELATION_ID = `^[ -~]{1,${limits.correlationIdMaxLength}}$`

/** The name of a state of an operation. */
export const STATUS_NAME = '^[A-Z_]+$'

/** The name of an audited action: `cash_out_switch.set`. */
export const ACTION_NAME = '^[a-z_.]+$'

/** A CPF or CNPJ, with or without punctuation. */
export const DOCUMENT_TEXT = '^[0-9A-Z./-]+$'

/** Characters of a page's `nextCursor`. */
export const CURSOR = '^[A-Za-z0-9_-]{1,64}$'

/**
 * Replaces a shape in the OpenAPI document where validation is wider than what a client should send, or has errors of its own.
 * @source rules#reference.12
 */
export const PUBLISHED: unique symbol = Symbol('published')

/** A UUID in its canonical form, either case. */
export const uuid = Type.String({ format: 'uuid', minLength: 36, maxLength: 36 })

/** An id in a path; one that is no UUID is not found. */
export function idText(resource: string, example: string) {
  const shown = { description: `UUID of the ${resource}`, examples: [example] }
  return Type.String({ maxLength: 128, ...shown, [PUBLISHED]: { type: 'string', format: 'uuid', ...shown } })
}

const EXAMPLE_IDS = {
  'cash-in': '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
  'cash-out': '0198c0e1-22b4-7000-8000-6a7b8c9d0e1f',
  'refund-in': '0198c0e4-51d7-7000-8000-3b4c5d6e7f80',
  'ledger-entry': '7f3c1c5e-8a2b-8d4e-8000-00000000002a',
  'api-key': '0198c0de-3f00-7000-8000-1a2b3c4d5e6f',
  operator: '0198c0d1-3f00-7000-8000-5e6f1a2b3c4d',
} as const

export function idOf(resource: keyof typeof EXAMPLE_IDS) {
  return Type.Object({ id: idText(resource, EXAMPLE_IDS[resource]) })
}

/** ISO 8601, UTC. */
export const instant = Type.String({ format: 'date-time', maxLength: 40 })

/** Always BRL. */
export const currency = Type.Literal('BRL')

/**
 * A whole number that may exceed 32 bits. Without the format, clients generated for Java or C# use an `int` and fail at
 * an answer whose request was executed.
 * @source rules#reference.6
 */
export function int64(bounds: { readonly minimum: number; readonly maximum: number; readonly description?: string }) {
  return Type.Integer({ format: 'int64', ...bounds })
}

/** The status in a 201: the initial one, whatever happened since. */
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

/** Integer centavos of a movement. */
export const centsMoved = int64({ minimum: 1, maximum: Number(limits.valueMaxCents) })

/** A value or an explicit `null`: keys are always present. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** An optional field of a request body; `null` counts as absent. @source rules#http.16 */
export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()], { [PUBLISHED]: schema }))
}

/** Free text of a client. @source rules#text.1 */
export function text(maxLength: number, description?: string) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: FREE_TEXT,
    ...(description === undefined ? {} : { description }),
  })
}

/**
 * Optional free text; empty text counts as absent.
 * @param pattern of allowed characters
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

/** The reference in an answer, possibly older than the current rule. */
export const knownExternalId = Type.String({ maxLength: limits.externalIdMaxLength, description: 'Your reference' })

/** The reference as a filter. @source rules#cash-in.list.3 */
const externalIdFilter = Type.String({
  minLength: 1,
  maxLength: limits.externalIdMaxLength,
  pattern: PLAIN_TEXT,
  description: 'The operation that has exactly this reference of yours',
  examples: ['order-1001'],
})

/**
 * An `Idempotency-Key`: quoted, as in the header's draft, or bare; up to 255 printable characters.
 * @source rules#idempotency.1
 */
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
 * Reais in a request. Decimals, sign and maximum are checked after the shape, each with its own error.
 * @source rules#money.1
 */
export const reais = Type.Number({
  [PUBLISHED]: {
    type: 'number',
    format: 'double',
    minimum: centsToReais(1n),
    maximum: centsToReais(limits.valueMaxCents),
    description: 'BRL in reais, in steps of 0.01: 150.00. Never centavos.',
  },
})

/** `YYYY-MM-DD`, a UTC day. @source rules#lists.2 */
export function utcDay(description: string) {
  return Type.String({ format: 'date', minLength: 10, maxLength: 10, description, examples: ['2026-11-21'] })
}

/** A UTC day, or an instant with its offset: `2026-11-21`, `2026-11-21T00:00:00-03:00`. @source rules#lists.2 */
function dayOrInstant(description: string) {
  const shown = { maxLength: 40, description, examples: ['2026-11-21'] }
  return Type.String({ format: 'day-or-instant', minLength: 10, ...shown, [PUBLISHED]: { type: 'string', ...shown } })
}

/** From and to, as a list takes them. @param what happened then @source rules#lists.2 */
export function between(what: string) {
  return {
    start_date: Type.Optional(dayOrInstant(`${what} from then on: a UTC day, or an instant with its offset`)),
    end_date: Type.Optional(dayOrInstant(`${what} until then: a UTC day, which is in it, or an instant, which is not`)),
  }
}

/** The same of payments. @source rules#cash-in.list.6 */
export function paidBetween() {
  return {
    paid_from: Type.Optional(
      dayOrInstant('Paid from then on (`paidAt`), last payment first: a UTC day, or an instant with its offset'),
    ),
    paid_to: Type.Optional(dayOrInstant('Paid until then: a UTC day, which is in it, or an instant, which is not')),
  }
}

/** Headers of the 201 for resources with an `Idempotency-Key` and their own path. */
export const CREATED_HEADERS = ['Location', 'Idempotent-Replayed'] as const satisfies readonly ResponseHeader[]

/** The envelope of a list read by cursor, titled by its shape. */
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

/** Length of a page. @source rules#lists.1 */
export const pageLimit = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: limits.pageLimitMax,
    default: limits.pageLimitDefault,
    description: 'How many items a page has',
  }),
)

/**
 * Filters of every list of operations.
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
      }),
    ),
    limit: pageLimit,
    ...between('Created'),
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

/** Example of a paged list with one item. */
export function onlyPage<Item>(item: Item) {
  return { data: [item], pagination: { page: 1, limit: 20, total: 1, totalPages: 1, hasMore: false, nextCursor: null } }
}

/** The envelope of a list read by page, titled by its shape. @source rules#lists.1 */
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

/** The bank's id of a movement: visible ASCII characters. */
export const VISIBLE_ASCII = '^[!-~]+$'

/**
 * An end-to-end id as the Central Bank defines it, or empty. Since API Pix 2.9.0 an ISPB may contain capitals, like a
 * CNPJ.
 * @source rules#cases.17
 */
export const END_TO_END_ID = '^(?:E[0-9A-Z]{8}[0-9]{12}[0-9A-Za-z]{11})?$'

/** A return id likewise. @source rules#cases.17 */
export const RETURN_ID = '^(?:D[0-9A-Z]{8}[0-9]{12}[0-9A-Za-z]{11})?$'
