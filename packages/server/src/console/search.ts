import { type endpoints, normaliseDocument, reaisToCents, type searchMatches } from '@pixgate/spec'
import { instantParameter, statement } from '../platform/db/database.ts'
import type { Handlers, RequestContext } from '../platform/http/handler.ts'
import { isUuid } from '../platform/ids.ts'
import { boundsOf, isDay } from '../platform/sao-paulo.ts'
import {
  auditSearch,
  EXAMINED_MAX,
  type ListNeeds,
  NOT_OPEN,
  OPEN,
  pageOf,
  pixKeysOf,
  readSummaries,
  spellingsOf,
} from './operations.ts'

/** Search of operations by one text. Every statement reads a bounded number of rows. */

type SearchMatch = (typeof searchMatches)[number]

interface Hit {
  readonly id: string
  readonly match: SearchMatch
}

const HITS_MAX = 20

/** Names with a common beginning that are sorted by time; of more, the newest operations are searched instead. */
const NAMES_MAX = 1_000

/** Open operations of a kind and status that are searched by name. */
const OPEN_MAX = 5_000

const DAY_MS = 24 * 60 * 60 * 1_000

/** How far back a correlation id is searched, which no index has. */
const CORRELATION_DAYS = 30
const CORRELATION_MAX = 10_000

/** @source rules#console.8 */
export function createSearchHandler(needs: ListNeeds): Pick<Handlers<typeof endpoints>, 'searchOperations'> {
  return {
    searchOperations: async ({ query, context }) => {
      const hits = await search(needs, query.q.trim(), context)
      const summaries = await readSummaries(needs, [...hits.keys()])
      const data = summaries.flatMap((operation) => {
        const match = hits.get(operation.id)
        return match ? [{ match, operation }] : []
      })
      return { status: 200, body: { data } }
    },
  }
}

/** Ids with what matched, the best match first, then the newest. */
async function search(needs: ListNeeds, text: string, context: RequestContext): Promise<Map<string, SearchMatch>> {
  const hits = new Map<string, SearchMatch>()
  if (text === '') return hits
  for (const look of [byReference, byPerson, byName, byAmount, byDay, byCorrelation]) {
    if (hits.size >= HITS_MAX || (look === byCorrelation && hits.size > 0)) break
    for (const { id, match } of await look(needs, text, context, hits.size > 0)) {
      if (hits.size < HITS_MAX && !hits.has(id)) hits.set(id, match)
    }
  }
  return hits
}

const selectByReference = statement<[text: string, id: string | null], Hit>(
  'console.by_reference',
  `SELECT id, match FROM (
     SELECT id, created_at, 0 AS rank, 'id' AS match FROM operation WHERE id = $2::uuid
     UNION ALL
     SELECT id, created_at, 1, 'external_id' FROM operation
      WHERE kind = ANY ('{cash_in,cash_out,refund_in,adjustment}') AND external_id = $1
     UNION ALL
     (SELECT id, created_at, 2, 'end_to_end_id' FROM operation WHERE end_to_end_id = $1 LIMIT ${HITS_MAX})
     UNION ALL
     SELECT o.id, o.created_at, 2, 'end_to_end_id' FROM movement m JOIN operation o ON o.id = m.operation_id
      WHERE m.direction = ANY ('{in,out}') AND m.id = $1
     UNION ALL
     (SELECT id, created_at, 3, 'transaction_id' FROM operation WHERE transaction_id = $1 LIMIT ${HITS_MAX})
     UNION ALL
     SELECT id, created_at, 3, 'transaction_id' FROM operation WHERE order_id = $1
   ) found ORDER BY rank, created_at DESC, id DESC`,
)

async function byReference({ database }: ListNeeds, text: string): Promise<Hit[]> {
  return database.rows(selectByReference, [text, isUuid(text) ? text : null])
}

/** By a CPF or CNPJ, or a Pix key. The id of an operation is no search by a random key. */
async function byPerson(needs: ListNeeds, text: string, context: RequestContext, isFound: boolean): Promise<Hit[]> {
  const [document, keys] = [normaliseDocument(text), pixKeysOf(text)]
  if (document === null && (keys.length === 0 || (isFound && isUuid(text)))) return []
  await auditSearch(needs, document === null ? 'pix_key' : 'document', document ?? keys[0] ?? text, context)
  const documents =
    document === null
      ? []
      : await pageOf(needs, { documents: spellingsOf(document) }, HITS_MAX).then(({ ids }) =>
          ids.map((id) => ({ id, match: 'document' }) as const),
        )
  const { ids } = await pageOf(needs, { keys }, HITS_MAX)
  return [...documents, ...ids.map((id) => ({ id, match: 'pix_key' }) as const)]
}

const NAME = 'person_name(detail, facts)'
// The last character of Unicode is above every name that begins so.
const BEGINS = `${NAME} ~>=~ plain_name($1) AND ${NAME} ~<~ (plain_name($1) || U&'\\+10FFFF')`

interface Named {
  readonly id: string
  readonly isWhole: boolean
  readonly candidates: bigint
}

/** Newest open operations, whose names have no index. */
const OPEN_NAMED = OPEN.map(
  (open, index) => `(
     SELECT id, created_at, name = plain_name($1) AS "isWhole" FROM (
       SELECT id, created_at, ${NAME} AS name FROM operation WHERE ${open}
        ORDER BY created_at DESC, id DESC LIMIT ${OPEN_MAX}) open_${index}
      WHERE name ~>=~ plain_name($1) AND name ~<~ (plain_name($1) || U&'\\+10FFFF') LIMIT ${HITS_MAX})`,
).join(' UNION ALL ')

const INDEXED = `operation WHERE ${NOT_OPEN} AND ${NAME} IS NOT NULL`

const selectByName = statement<[name: string], Named>(
  'console.by_name',
  `WITH begun AS MATERIALIZED (SELECT id, created_at FROM ${INDEXED} AND ${BEGINS} LIMIT ${NAMES_MAX + 1}),
   whole AS (
     SELECT id, created_at FROM ${INDEXED} AND ${NAME} = plain_name($1) ORDER BY created_at DESC, id DESC LIMIT ${HITS_MAX}),
   newest AS (SELECT id, created_at FROM begun ORDER BY created_at DESC, id DESC LIMIT ${HITS_MAX})
   SELECT id, "isWhole", (SELECT count(*) FROM begun) AS candidates FROM (
     SELECT id, created_at, true AS "isWhole" FROM whole UNION ALL
     SELECT id, created_at, false FROM newest UNION ALL
     ${OPEN_NAMED}
   ) found ORDER BY "isWhole" DESC, created_at DESC, id DESC`,
)

/** Of a common beginning the newest operations have enough. */
const selectNewestByName = statement<[name: string], Pick<Hit, 'id'>>(
  'console.newest_by_name',
  `SELECT id FROM (${['cash_in', 'cash_out']
    .map(
      (kind) => `(
     SELECT id, created_at FROM (
       SELECT id, created_at, detail, facts FROM operation WHERE kind = '${kind}'
        ORDER BY created_at DESC, id DESC LIMIT ${EXAMINED_MAX}) ${kind}
      WHERE ${BEGINS} ORDER BY created_at DESC, id DESC LIMIT ${HITS_MAX})`,
    )
    .join(' UNION ALL ')}) found
    ORDER BY created_at DESC, id DESC LIMIT ${HITS_MAX}`,
)

async function byName({ database }: ListNeeds, text: string): Promise<Hit[]> {
  if (!/\p{L}/u.test(text)) return []
  const rows = await database.rows(selectByName, [text])
  const isCommon = (rows[0]?.candidates ?? 0n) > BigInt(NAMES_MAX)
  const newest = isCommon ? await database.rows(selectNewestByName, [text]) : []
  return [...rows.filter(({ isWhole }) => isWhole), ...newest, ...rows].map(({ id }) => ({ id, match: 'name' }))
}

/** `150,00`, `1.234,56` and `150.00`, with or without `R$`; at most seven digits without decimals. */
const AMOUNT = /^(?:R\$\s?)?(\d{1,7}|\d{1,3}(?:\.\d{3})+|\d+)(?:[,.](\d{2}))?$/

/** Centavos of an amount in reais; `null`: the text is none. */
function amountOf(text: string): number | null {
  const [, whole = '', decimals] = AMOUNT.exec(text) ?? []
  const digits = whole.replaceAll('.', '')
  if (digits === '' || digits.length > 12 || (decimals === undefined && digits.length > 7)) return null
  const cents = reaisToCents(Number(`${digits}.${decimals ?? '00'}`))
  return cents === null || cents === 0n ? null : Number(cents)
}

async function byAmount(needs: ListNeeds, text: string): Promise<Hit[]> {
  const cents = amountOf(text)
  if (cents === null) return []
  const { ids } = await pageOf(needs, { minCents: cents, maxCents: cents }, HITS_MAX)
  return ids.map((id) => ({ id, match: 'amount' }))
}

/** `2026-11-21` of `21/11/2026` or the same; `null`: the text is no day. */
function dayOfText(text: string): string | null {
  const [, dd, mm, yyyy] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text) ?? []
  const day = yyyy === undefined ? text : `${yyyy}-${mm}-${dd}`
  return isDay(day) ? day : null
}

async function byDay(needs: ListNeeds, text: string): Promise<Hit[]> {
  const day = dayOfText(text)
  if (day === null) return []
  const { ids } = await pageOf(needs, { created: boundsOf(day) }, HITS_MAX)
  return ids.map((id) => ({ id, match: 'day' }))
}

const selectByCorrelation = statement<[correlationId: string, since: string], Pick<Hit, 'id'>>(
  'console.by_correlation',
  `SELECT id FROM (${['cash_in', 'cash_out', 'refund_in', 'adjustment']
    .map(
      (kind) => `(
     SELECT id, created_at FROM (
       SELECT id, created_at, correlation_id FROM operation WHERE kind = '${kind}' AND created_at >= $2::timestamptz
        ORDER BY created_at DESC, id DESC LIMIT ${CORRELATION_MAX}) ${kind}
      WHERE correlation_id = $1 LIMIT ${HITS_MAX})`,
    )
    .join(' UNION ALL ')}) found
    ORDER BY created_at DESC, id DESC LIMIT ${HITS_MAX}`,
)

/** The last resort: an id of a request, among the newest operations. */
async function byCorrelation({ database, clock }: ListNeeds, text: string): Promise<Hit[]> {
  if (/\s/.test(text) || amountOf(text) !== null || dayOfText(text) !== null) return []
  const since = instantParameter(clock.now() - CORRELATION_DAYS * DAY_MS)
  const rows = await database.rows(selectByCorrelation, [text, since])
  return rows.map(({ id }) => ({ id, match: 'correlation_id' }))
}
