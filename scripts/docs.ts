import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { endpoints } from '@pixgate/spec'
import { contentSecurityPolicy } from '../packages/server/src/reference/frame.ts'
import { type ServedDocument, servedDocuments } from '../packages/server/src/reference/index.ts'

/**
 * `npm run docs -- FOLDER` writes the documents of a sandbox as static files, for the root of any web server. Its policy stands in
 * each page, as far as a page may state it.
 */
const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Usage: npm run docs -- FOLDER')
  process.exit(2)
}

const POLICY = contentSecurityPolicy(false)
  .split('; ')
  .filter((rule) => !rule.startsWith('frame-ancestors'))
  .join('; ')

const documents = servedDocuments({ endpoints: Object.values(endpoints), isSandbox: true, url: () => undefined })
for (const document of documents) {
  const path = join(folder, fileOf(document))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, textOf(document))
}
console.log(`${documents.length} files in ${folder}`)

function isPage({ type }: ServedDocument): boolean {
  return type.startsWith('text/html')
}

function fileOf(document: ServedDocument): string {
  return isPage(document) ? join(document.path, 'index.html') : document.path
}

function textOf(document: ServedDocument): string {
  const text = document.write()
  const meta = `<meta charset="utf-8">\n<meta http-equiv="content-security-policy" content="${POLICY}">`
  return isPage(document) ? text.replace('<meta charset="utf-8">', meta) : text
}
