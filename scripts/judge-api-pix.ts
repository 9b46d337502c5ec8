import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { type Exchange, Judge } from './judge/exchanges.ts'

/**
 * `npm run judge-api-pix -- <openapi.yaml of API Pix 2.9.0> <recording>` validates recorded exchanges with the simulated bank
 * against the Central Bank's document, which is not part of this repository. Tests record to the file that
 * PIXGATE_API_PIX_RECORDING names.
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
  const lines = new Set<string>()
  for (const exchange of exchanges) {
    const verdict = judge.verdict(exchange)
    if (verdict === undefined) counts.elsewhere++
    else if (verdict.length === 0) counts.fits++
    else counts.wrong++
    const call = `${exchange.method} ${exchange.path.replace(/\?.*/, '').replaceAll(/[A-Za-z0-9]{26,}/g, '…')} ${exchange.status}`
    for (const fault of verdict ?? []) lines.add(`✘ ${call}: ${fault}`)
  }
  for (const line of lines) console.log(line)
  console.log(`${counts.fits} valid, ${counts.wrong} invalid, ${counts.elsewhere} not in the document`)
  process.exitCode = counts.wrong === 0 ? 0 : 1
}
