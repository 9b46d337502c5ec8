import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { type Exchange, Judge } from './judge/exchanges.ts'

/**
 * `npm run judge-api-pix -- <openapi.yaml of API Pix 2.9.0> <recording>`: holds what the simulated bank and its callers said
 * against the Central Bank's own document, which is no part of this repository. The tests make a recording where
 * PIXGATE_API_PIX_RECORDING names a file.
 */
const [documentPath, recordingPath] = process.argv.slice(2)

if (documentPath === undefined || recordingPath === undefined) {
  console.error('Usage: npm run judge-api-pix -- <document> <recording>')
  process.exitCode = 2
} else {
  const judge = new Judge(parse(readFileSync(documentPath, 'utf8')))
  for (const mended of judge.mended) console.log(`erratum  ${mended}`)
  const exchanges = readFileSync(recordingPath, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Exchange)
  const counts = { fits: 0, wrong: 0, elsewhere: 0 }
  const sentences = new Set<string>()
  for (const exchange of exchanges) {
    const verdict = judge.verdict(exchange)
    if (verdict === undefined) counts.elsewhere++
    else if (verdict.length === 0) counts.fits++
    else counts.wrong++
    const call = `${exchange.method} ${exchange.path.replace(/\?.*/, '').replaceAll(/[A-Za-z0-9]{26,}/g, '…')} ${exchange.status}`
    for (const fault of verdict ?? []) sentences.add(`✘ ${call}: ${fault}`)
  }
  for (const sentence of sentences) console.log(sentence)
  console.log(`${counts.fits} fit, ${counts.wrong} do not, ${counts.elsewhere} are no calls of the document`)
  process.exitCode = counts.wrong === 0 ? 0 : 1
}
