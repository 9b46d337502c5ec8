import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * `scripts/node scripts/participants.ts bancos.json 2026-09-12`: writes the names of institutions by ISPB that receipts show, from
 * the list `bancos.json` of the npm package `bancos-brasileiros` (`npm pack bancos-brasileiros`) and its date.
 */
interface Institution {
  readonly ISPB: string
  readonly ShortName: string
}

const [source, date] = process.argv.slice(2)
if (source === undefined || date === undefined) throw new Error('give the path of bancos.json and its date')

const institutions: readonly Institution[] = JSON.parse(readFileSync(source, 'utf8').replace(/^\uFEFF/, ''))
const names = new Map(institutions.map(({ ISPB, ShortName }) => [ISPB, ShortName.replaceAll(/\s+/g, ' ').trim()]))
const lines = [...names].sort().map(([ispb, name]) => `${ispb} ${name}`)
const wrong = lines.filter((line) => !/^\d{8} [^`\\$]+$/.test(line))
if (wrong.length > 0) throw new Error(`not an institution: ${wrong.join(', ')}`)

const text = `/**
 * Short names of institutions by ISPB, as the Central Bank registers the participants of Pix and of its transfer system (STR).
 * Public facts, collected by the npm package bancos-brasileiros (repository under the Unlicense), of ${date}. Written by
 * scripts/participants.ts.
 */
const TEXT = \`
${lines.join('\n')}
\`

/** @source rules#receipt.3 */
export const participants: ReadonlyMap<string, string> = new Map(
  TEXT.trim()
    .split('\\n')
    .map((line) => [line.slice(0, 8), line.slice(9)]),
)
`
writeFileSync(fileURLToPath(import.meta.resolve('../packages/server/src/receipts/participants.ts')), text)
