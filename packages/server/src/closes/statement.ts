import { maskReported } from '@pixgate/spec'
import { entryId } from '../ledger/index.ts'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { DayBounds } from '../platform/sao-paulo.ts'
import { type AccountOfPeriod, accountsOf } from './figures.ts'

/**
 * The merchant's statement: a line for each Pix and adjustment, in the order of booking. The merchant has `available` and `reserved`
 * together, so a reservation and its release are no lines.
 */

/** A line of the statement. Instants are epoch milliseconds. */
export interface StatementLine {
  /** The id of its ledger entry. */
  readonly id: string
  /** When it was booked. */
  readonly at: number
  /** Its kind, in Portuguese. */
  readonly kind: string
  /** The other party: payer or recipient. */
  readonly name: string | null
  /** The other party's CPF or CNPJ, masked. */
  readonly document: string | null
  readonly cents: bigint
  /** The fee that was booked with it, at most 0, with the id of its own ledger entry. */
  readonly fee: { readonly id: string; readonly kind: string; readonly cents: bigint } | null
  /** Available and reserved money after line and fee. */
  readonly balanceCents: bigint
  readonly endToEndId: string | null
  readonly returnId: string | null
  readonly externalId: string | null
  readonly txid: string | null
  readonly description: string | null
}

export interface Statement {
  readonly accountId: string
  readonly closingCents: bigint
  /** The lines, in pages. */
  readonly pages: AsyncIterable<readonly StatementLine[]>
}

/** Entries of `available` that mirror `reserved`: together with it they change nothing. */
export const RESERVATIONS = ['CASH_OUT_RESERVE', 'CASH_OUT_RELEASE', 'REFUND_IN_RESERVE', 'REFUND_IN_RELEASE'] as const

const KINDS: Readonly<Record<string, string>> = {
  CASH_IN: 'Pix recebido',
  CASH_OUT: 'Pix enviado',
  CASH_OUT_REVERSAL: 'Devolução recebida',
  REFUND_IN: 'Devolução enviada',
  FORCED_DEBIT: 'Débito',
  ADJUSTMENT: 'Ajuste',
}

/** Journals whose kind says more than the merchant's name of the entry. */
const KINDS_OF_JOURNALS: Readonly<Record<string, string>> = {
  held_credited: 'Pix recebido',
  taken_by_bank: 'Devolução pelo banco',
  return_debited: 'Devolução pelo banco',
  debt_recovered: 'Abatimento de dívida',
  credit_reversed: 'Estorno de crédito',
}

/** Kinds whose journal has the id of a return as its reference. */
const RETURNS: ReadonlySet<string> = new Set(['Devolução recebida', 'Devolução enviada', 'Devolução pelo banco'])

interface LineRow {
  readonly version: string
  readonly at: number
  readonly journal: string
  readonly reference: string
  readonly shown: string
  /** Centavos, as text: a snapshot has no parser for wide numbers. */
  readonly cents: string
  readonly feeVersion: string | null
  readonly feeCents: string | null
  readonly externalId: string | null
  readonly endToEndId: string | null
  readonly txid: string | null
  readonly name: string | null
  readonly document: string | null
  readonly description: string | null
}

/** By the primary key, so later pages are not slower. A refund has the payer of its charge. */
const selectLines = statement<
  [accountId: number, after: string, upTo: string, from: string, to: string, limit: number],
  LineRow
>(
  'closes.statement_lines',
  `SELECT e.version::text AS version, floor(extract(epoch FROM e.at) * 1000)::float8 AS at, e.journal, e.reference, e.shown,
          e.amount_cents::text AS cents, f.version::text AS "feeVersion", f.amount_cents::text AS "feeCents",
          o.external_id AS "externalId", o.end_to_end_id AS "endToEndId",
          c.transaction_id AS txid,
          coalesce(c.facts ->> 'payerName', c.detail #>> '{payer,fullName}',
                   o.facts ->> 'recipientName', o.detail #>> '{recipient,name}') AS name,
          coalesce(c.facts ->> 'payerDocument', c.detail #>> '{payer,document}',
                   o.facts ->> 'recipientDocument', o.detail #>> '{recipient,document}') AS document,
          coalesce(o.detail ->> 'description', o.detail ->> 'reason') AS description
     FROM (SELECT * FROM entry
            WHERE account_id = $1 AND version > $2 AND version <= $3 AND at >= $4 AND at < $5
              AND shown <> 'FEE' AND shown NOT IN (${RESERVATIONS.map((name) => `'${name}'`).join(', ')})
            ORDER BY version LIMIT $6) e
     -- Not by its account, whose index would be read from its beginning.
     LEFT JOIN LATERAL (SELECT * FROM entry
                         WHERE operation_id = e.operation_id AND journal = e.journal AND reference = e.reference AND shown = 'FEE'
                         LIMIT 1) f ON true
     LEFT JOIN operation o ON o.id = e.operation_id
     LEFT JOIN operation c ON c.id = CASE o.kind WHEN 'cash_in' THEN o.id
                                                 WHEN 'refund_in' THEN (o.detail ->> 'cashInId')::uuid END
    ORDER BY e.version`,
)

/** Lines read at a time; twice as many are in memory. */
const PAGE = 2_000

/** Opens the statement of a period. @param queries a snapshot @source rules#export.3, rules#export.4 */
export async function openStatement(queries: Queries, period: DayBounds): Promise<Statement> {
  const accounts = await accountsOf(queries, period)
  const [available, reserved] = (['available', 'reserved'] as const).map((code) =>
    accounts.find(({ account }) => account === code),
  )
  if (available === undefined || reserved === undefined) throw new Error('an account of the merchant is missing')
  return {
    accountId: available.publicId,
    closingCents: available.closingCents + reserved.closingCents,
    pages: pagesOf(queries, available, period, available.openingCents + reserved.openingCents),
  }
}

/** One page is read while the one before is sent. */
async function* pagesOf(
  queries: Queries,
  { id, publicId, versions }: AccountOfPeriod,
  { from, to }: DayBounds,
  openingCents: bigint,
): AsyncGenerator<readonly StatementLine[]> {
  const pageAfter = (after: string) => {
    const bounds = [instantParameter(from), instantParameter(to)] as const
    const page = queries.rows(selectLines, [id, after, String(versions.upTo), ...bounds, PAGE])
    // A failure is thrown where the page is awaited.
    page.catch(() => undefined)
    return page
  }
  let balanceCents = openingCents
  let page: Promise<LineRow[]> | undefined = pageAfter(String(versions.after))
  while (page !== undefined) {
    const rows: readonly LineRow[] = await page
    const last = rows.at(-1)
    page = rows.length < PAGE || last === undefined ? undefined : pageAfter(last.version)
    yield rows.map((row) => {
      balanceCents += BigInt(row.cents) + BigInt(row.feeCents ?? 0)
      return lineOf(row, publicId, balanceCents)
    })
  }
}

function lineOf(row: LineRow, accountId: string, balanceCents: bigint): StatementLine {
  const { version, at, journal, reference, shown, feeVersion, externalId, txid, description } = row
  const kind = KINDS_OF_JOURNALS[journal] ?? KINDS[shown] ?? shown
  const isPayment = kind === 'Pix recebido' || kind === 'Pix enviado'
  const endToEndId = isPayment && reference !== '' ? reference : row.endToEndId
  // A charge knows the payer of one of its payments.
  const isOfAnother = kind === 'Pix recebido' && endToEndId !== row.endToEndId
  const fee = feeVersion === null ? null : BigInt(feeVersion)
  return {
    ...{ at, kind, balanceCents, endToEndId, externalId, txid, description },
    id: entryId(accountId, BigInt(version)),
    name: isOfAnother ? null : row.name,
    document: isOfAnother ? null : maskReported(row.document),
    cents: BigInt(row.cents),
    fee:
      fee === null
        ? null
        : { id: entryId(accountId, fee), kind: `Tarifa de ${kind}`, cents: BigInt(row.feeCents ?? 0) },
    returnId: RETURNS.has(kind) && reference !== '' ? reference : null,
  }
}
