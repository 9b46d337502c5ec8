import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { PUBLISHED, packPackage } from './pack/package.ts'

/**
 * `npm run pack`: builds the packages that are published and packs each into `dist`, or into the folder given after `--`.
 * The workspace itself runs from its sources and never needs this. The server is packed with the console and the documents.
 */
await import('./prepare.ts')
const folder = resolve(process.argv[2] ?? 'dist')

mkdirSync(folder, { recursive: true })
for (const name of PUBLISHED) console.log(packPackage(name, folder))
