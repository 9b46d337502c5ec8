/** CSV as a spreadsheet of Brazil reads it, for comparing what was exported with what is in the books. */

/** The rows of a file by the names of its columns. */
export function readCsv(text: string): Record<string, string>[] {
  const [names = [], ...rows] = rowsOf(text.replace(/^\ufeff/, ''))
  return rows.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])))
}

/** Reais with a decimal comma as centavos; nothing is none. */
export function centsOf(text = ''): bigint {
  return text === '' ? 0n : BigInt(text.replace(',', ''))
}

function rowsOf(text: string): string[][] {
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
    else if (letter === ';' && !isQuoted) endCell()
    else if (letter === '\r' && next === '\n' && !isQuoted) {
      endCell()
      rows.push([])
      at += 1
    } else cell += letter
  }
  return rows.filter((row) => row.length > 0)
}
