import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { documents } from './generate/documents.ts'

/** `npm run gen` writes all generated files. */
for (const { path, content } of documents()) {
  const target = join(import.meta.dirname, '..', path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, content)
  console.log(path)
}
