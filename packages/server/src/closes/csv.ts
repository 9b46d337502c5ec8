import type { Queries } from '../platform/db/database.ts'
import { type DayBounds, localTime } from '../platform/sao-paulo.ts'
import { openStatement, type StatementLine } from './statement.ts'

/** The statement as CSV, for parsers or for Excel in Brazil. */

/** `rfc4180`: `,` and `1234.56`; words that begin a formula get an apostrophe. `excel`: `;` and `1234,56`, and texts stay texts. */
export type Dialect = 'rfc4180' | 'excel'

/** Without it Excel does not read UTF-8. */
const BYTE_ORDER_MARK = '\ufeff'

/** A cell: words, an identifier, an amount in centavos, or a day or time that a spreadsheet reads as one. */
type Cell =
  | { readonly text: string | null }
  | { readonly id: string | null }
  | { readonly cents: bigint | null }
  | { readonly moment: string }

const COLUMNS: readonly (readonly [header: string, cell: (line: StatementLine) => Cell])[] = [
  ['Data', ({ at }) => ({ moment: localTime(at).day })],
  ['Hora', ({ at }) => ({ moment: localTime(at).time })],
  ['Tipo', ({ kind }) => ({ text: kind })],
  ['Nome', ({ name }) => ({ text: name })],
  ['Documento', ({ document }) => ({ text: document })],
  ['Valor', ({ cents }) => ({ cents })],
  ['Tarifa', ({ fee }) => ({ cents: fee?.cents ?? 0n })],
  ['Saldo', ({ balanceCents }) => ({ cents: balanceCents })],
  ['ID E2E', ({ endToEndId }) => ({ id: endToEndId })],
  ['ID da devolução', ({ returnId }) => ({ id: returnId })],
  ['ID externo', ({ externalId }) => ({ id: externalId })],
  ['txid', ({ txid }) => ({ id: txid })],
  ['Descrição', ({ description }) => ({ text: description })],
  ['ID do lançamento', ({ id }) => ({ id })],
]

/** The statement of a period. @param queries a snapshot @source rules#export.1, rules#export.2 */
export async function* statementCsv(queries: Queries, period: DayBounds, dialect: Dialect): AsyncGenerator<string> {
  // Read before the first byte: until then a failure is an answer of its own.
  const { pages } = await openStatement(queries, period)
  const headers = COLUMNS.map(([text]) => ({ text }))
  yield (dialect === 'excel' ? BYTE_ORDER_MARK : '') + csvLine(headers, dialect)
  for await (const lines of pages) {
    yield lines
      .map((line) =>
        csvLine(
          COLUMNS.map(([, cell]) => cell(line)),
          dialect,
        ),
      )
      .join('')
  }
}

/** A line with its end. @source rules#export.1, rules#export.2 */
export function csvLine(cells: readonly Cell[], dialect: Dialect): string {
  const isExcel = dialect === 'excel'
  return `${cells.map((cell) => cellText(cell, isExcel)).join(isExcel ? ';' : ',')}\r\n`
}

/** Text that a spreadsheet takes for a formula, full-width characters included. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/

/** Excel makes numbers, dates, times and amounts of texts such as `0012`, `mar/25`, `10:30` and `R$ 10`: all have a digit. */
const CONVERTIBLE = /\d/

function cellText(cell: Cell, isExcel: boolean): string {
  if ('moment' in cell) return cell.moment
  if ('cents' in cell) return cell.cents === null ? '' : decimalText(cell.cents, isExcel ? ',' : '.')
  const text = 'id' in cell ? cell.id : cell.text
  if (text === null || text === '') return ''
  if (isExcel && ('id' in cell || FORMULA.test(text) || CONVERTIBLE.test(text))) return quoted(textFormula(text))
  // Payers choose names and descriptions, and any file may be opened in a spreadsheet. Parsers need ids unchanged.
  return quoted('text' in cell && FORMULA.test(text) ? `'${text}` : text)
}

/** `="0001234"`: Excel shows exactly the text. An apostrophe would be shown too, and quotes alone do not keep zeros. */
function textFormula(text: string): string {
  return `="${text.replaceAll(/\s/g, ' ').replaceAll('"', '""')}"`
}

function quoted(text: string): string {
  return /[,;"\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Centavos as reais, with two digits after the mark. */
export function decimalText(cents: bigint | number, mark: ',' | '.'): string {
  const digits = String(cents).replace('-', '').padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}${mark}${digits.slice(-2)}`
}
