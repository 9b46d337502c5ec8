/** CSV as a spreadsheet of Brazil or a parser reads it, for comparing what was exported with what is in the books. */

/** The rows of a file by the names of its columns. @param separator `;` of the dialect for Excel, `,` of RFC 4180 */
export function readCsv(text: string, separator: ',' | ';' = ','): Record<string, string>[] {
  const [names = [], ...rows] = rowsOf(text.replace(/^\ufeff/, ''), separator)
  return rows.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])))
}

/** Reais with a decimal comma or point as centavos; nothing is none. */
export function centsOf(text = ''): bigint {
  return text === '' ? 0n : BigInt(text.replace(/[.,]/, ''))
}

/** What Excel shows for a cell. @throws Error it would be another text, a number or a date */
export function shownByExcel(cell: string): string {
  const [, text] = /^="((?:[^"]|"")*)"$/.exec(cell) ?? []
  if (text !== undefined) return text.replaceAll('""', '"')
  if (/^\s*[=+\-@0-9]/.test(cell)) throw new Error(`Excel reads ${cell} as something else`)
  return cell
}

function rowsOf(text: string, separator: string): string[][] {
  const rows: string[][] = [[]]
  let [cell, isQuoted] = ['', false]
  const endCell = () => {
    rows.at(-1)?.push(cell)
    cell = ''
  }
  for (let at = 0; at < text.length; at += 1) {
    const [letter = '', next = ''] = [text[at], text[at + 1]]
    if (isQuoted && letter === '"' && next === '"') {
      cell += '"'
      at += 1
    } else if (letter === '"') isQuoted = !isQuoted
    else if (letter === separator && !isQuoted) endCell()
    else if (letter === '\r' && next === '\n' && !isQuoted) {
      endCell()
      rows.push([])
      at += 1
    } else cell += letter
  }
  return rows.filter((row) => row.length > 0)
}
