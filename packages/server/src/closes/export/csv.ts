/** CSV as spreadsheets of Brazil take it: `;`, a comma before the centavos, CRLF, and UTF-8 that says so. Pure. */

/** Begins a file: by it Excel knows that UTF-8 follows. */
export const BYTE_ORDER_MARK = '\ufeff'

/** A value of a cell. What is a number is no text: nothing has to be kept from being reckoned. */
export type Cell = string | number | { readonly cents: bigint } | null

/** What a spreadsheet would take for a formula, in wide letters too, or for what leads to one. */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])/

const NEEDS_QUOTES = /[;"\r\n\t]/

/**
 * A line with its end. Text that begins as a formula does gets an apostrophe before it, by which a spreadsheet shows it as it
 * is; amounts are `-1234,56`.
 * @source rules#export.1, rules#export.2
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(';')}\r\n`
}

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  if (typeof cell === 'object') return decimalText(cell.cents, ',')
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Centavos as reais, with the two digits after the mark. */
export function decimalText(cents: bigint, mark: ',' | '.'): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}${mark}${digits.slice(-2)}`
}
