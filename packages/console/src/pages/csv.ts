import { type Query, readFile } from '../api.ts'
import { csvOf } from '../format.ts'

/** Files that a person saves. */

/** Offers a file as Excel in Brazil reads it. */
export function saveCsv(name: string, rows: readonly (readonly string[])[]): void {
  save(name, new Blob([csvOf(rows)], { type: 'text/csv' }))
}

/** Offers a file of the service: a link would lack the header without which the session does not count. */
export async function saveFile(path: string, query: Query = {}): Promise<void> {
  const { name, content } = await readFile(path, query)
  save(name, content)
}

function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
