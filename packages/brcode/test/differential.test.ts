import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { runInNewContext } from 'node:vm'
import emvqr from 'emvqr'
import fc from 'fast-check'
import { createDynamicPix, createRecurrencePix, createStaticPix } from 'pix-utils'
import { type BrCode, BrCodeError } from '../src/br-code.ts'
import { buildDynamicBrCode, buildStaticBrCode } from '../src/build.ts'
import { parseBrCode } from '../src/parse.ts'
import { changedCodes } from './changed-codes.ts'
import { signed } from './codes.ts'
import { dynamicInput, staticInput } from './inputs.ts'
import { GROCERY, KNOWN_DIFFERENCES, type KnownDifference } from './known-differences.ts'
import { readHere, verdictOf } from './other-libraries.ts'

const SEED = 20_260_101

for (const { codes, verdicts, examples, includes } of KNOWN_DIFFERENCES) {
  test(`[brcode.differential] ${codes}: here ${verdicts[0]}, pix-utils ${verdicts[1]}, emvqr ${verdicts[2]}`, () => {
    assert(examples.length > 0)
    for (const code of examples) {
      const here = readHere(code)
      assert.deepEqual(verdictsOn(code, here), verdicts, code)
      assert(includes(code, here), code)
    }
  })
}

test('[brcode.differential] the README lists exactly the known differences', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, section = ''] = /^## Compared with other libraries\n(.*?)^## /ms.exec(readme) ?? []
  const [, , ...rows] = [...section.matchAll(/^\| (.*?) +\|$/gm)].map(([, row = '']) => row.split(/ +\| +/))
  assert.deepEqual(
    rows,
    KNOWN_DIFFERENCES.map(({ codes, verdicts, because }) => [codes, ...verdicts, because]),
  )
})

test('[brcode.differential] a negative length is refused here and by pix-utils, and holds emvqr for ever', () => {
  const code = signed('00020101-4x')
  assert.throws(() => parseBrCode(code), { reason: 'malformed_tlv' })
  assert.equal(verdictOf('pix-utils', code, readHere(code)), 'refuses')
  const decode = () => runInNewContext('decode(code)', { decode: emvqr.decode, code }, { timeout: 100 })
  assert.throws(decode, { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' })
})

test('[brcode.differential] what is built here is read alike by all', () => {
  const code = fc.oneof(
    staticInput.map((input) => buildStaticBrCode({ ...input, merchantCategoryCode: GROCERY })),
    dynamicInput.map((input) => buildDynamicBrCode({ ...input, merchantCategoryCode: GROCERY })),
  )
  fc.assert(
    fc.property(code, (code) => {
      assert(!(readHere(code) instanceof BrCodeError))
      assertAlikeOrKnown(code)
    }),
    { seed: SEED, numRuns: 300 },
  )
})

test('[brcode.differential] pix-utils builds the same codes, but for capitals in names, and they are read here', () => {
  fc.assert(
    fc.property(staticInput, (input) => {
      const { pixKey, amountCents, txid } = input
      const names = capitals(input)
      const transactionAmount = Number(amountCents ?? 0n) / 100
      const pix = createStaticPix({ pixKey, transactionAmount, ...(txid && { txid }), ...names })
      assert.equal(pix.throwIfError().toBRCode(), buildStaticBrCode({ pixKey, amountCents, txid, ...names }))
    }),
    { seed: SEED },
  )
  fc.assert(
    fc.property(dynamicInput, (input) => {
      const dynamic = { url: input.url, ...capitals(input) }
      const pix = createDynamicPix({ ...dynamic, oneTime: true })
      assert.equal(pix.throwIfError().toBRCode(), buildDynamicBrCode(dynamic))
    }),
    { seed: SEED },
  )
})

test('[brcode.differential] withdrawals and recurrences that pix-utils builds are read here', () => {
  fc.assert(
    fc.property(staticInput, dynamicInput, fc.stringMatching(/^\d{8}$/), ({ pixKey, ...input }, { url }, ispb) => {
      fc.pre(pixKey.length <= 65) // pix-utils writes longer ones beyond the 99 characters that a template has
      const names = capitals(input)
      const expected = { ...names, merchantCategoryCode: '0000', recurrenceUrl: url }
      const withdrawal = { kind: 'withdrawal', pixKey, withdrawalFacilitatorIspb: ispb }
      const codes = [
        [createStaticPix({ pixKey, transactionAmount: 0, urlRec: url, ...names }), { kind: 'static', pixKey }],
        [createStaticPix({ pixKey, transactionAmount: 0, urlRec: url, fss: ispb, ...names }), withdrawal],
        [createDynamicPix({ url, urlRec: url, ...names }), { kind: 'dynamic', url }],
        [createRecurrencePix({ urlRec: url, ...names }), { kind: 'recurrence' }],
      ] as const
      for (const [pix, kind] of codes) {
        const code = pix.throwIfError().toBRCode()
        assert.deepEqual(parseBrCode(code), { ...expected, ...kind })
      }
    }),
    { seed: SEED },
  )
})

test('[brcode.differential] whatever pix-utils is asked to build is read alike, or the difference is known', () => {
  const text = fc.string({ unit: fc.constantFrom(...'Aãßé09 6304*☕'), minLength: 1, maxLength: 26 })
  const input = fc.record({
    pixKey: text,
    infoAdicional: fc.array(text, { maxLength: 4 }).map((texts) => texts.join('')),
    txid: text,
    merchantName: text,
    merchantCity: text,
    transactionAmount: fc.integer({ min: 0, max: 10 ** 14 }).map((cents) => cents / 100),
  })
  fc.assert(
    fc.property(input, (input) => {
      const pix = createStaticPix(input)
      if ('toBRCode' in pix) assertAlikeOrKnown(pix.toBRCode())
    }),
    { seed: SEED, numRuns: 300 },
  )
})

test('[brcode.differential] a changed code is read or refused alike, or the difference is known', () => {
  fc.assert(
    fc.property(changedCodes(GROCERY), (code) => assertAlikeOrKnown(code)),
    { seed: SEED, numRuns: 1_000 },
  )
})

function verdictsOn(code: string, here: BrCode | BrCodeError): KnownDifference['verdicts'] {
  const verdict = here instanceof BrCodeError ? 'refuses' : 'reads'
  return [verdict, verdictOf('pix-utils', code, here), verdictOf('emvqr', code, here)]
}

function assertAlikeOrKnown(code: string): void {
  const here = readHere(code)
  const verdicts = verdictsOn(code, here)
  for (const library of [1, 2] as const) {
    const isAlike = verdicts[library] === verdicts[0]
    const isKnown = () =>
      KNOWN_DIFFERENCES.some((it) => it.verdicts[library] === verdicts[library] && it.includes(code, here))
    assert(isAlike || isKnown(), `${JSON.stringify(code)}: ${verdicts.join(' · ')}; here: ${here}`)
  }
}

function capitals({ merchantName, merchantCity }: { merchantName: string; merchantCity: string }) {
  return { merchantName: merchantName.toUpperCase(), merchantCity: merchantCity.toUpperCase() }
}
