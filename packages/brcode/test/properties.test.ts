import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { BrCodeError } from '../src/br-code.ts'
import { buildDynamicBrCode, buildStaticBrCode } from '../src/build.ts'
import { parseBrCode } from '../src/parse.ts'
import { codeWith, object, objectsOf, PUBLISHED, signed } from './codes.ts'
import { dynamicInput, pixKey, staticInput } from './inputs.ts'

const printable = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code))
const validCode = fc.oneof(
  staticInput.map(buildStaticBrCode),
  dynamicInput.map(buildDynamicBrCode),
  fc.constantFrom(...Object.values(PUBLISHED)),
)

test('[brcode.properties] what is built is read back, nothing more and nothing less', () => {
  fc.assert(
    fc.property(staticInput, (input) => {
      const expected = { kind: 'static', merchantCategoryCode: '0000', ...input }
      assert.deepEqual(parseBrCode(buildStaticBrCode(input)), expected)
    }),
  )
  fc.assert(
    fc.property(dynamicInput, (input) => {
      const expected = { kind: 'dynamic', merchantCategoryCode: '0000', pointOfInitiation: '12', ...input }
      assert.deepEqual(parseBrCode(buildDynamicBrCode(input)), expected)
    }),
  )
})

test('[brcode.properties] whatever the texts, a code is built that can be read, or the build is refused', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 })
  const input = fc.record({ pixKey, merchantName: text, merchantCity: text, additionalInformation: text })
  fc.assert(
    fc.property(input, (texts) => {
      const code = valueOrRefusal(() => buildStaticBrCode(texts))
      if (code === undefined) return
      assert.match(code, /^[ -~]{1,512}$/)
      const { merchantName, merchantCity } = parseBrCode(code)
      assert(merchantName.length <= 25 && merchantCity.length <= 15)
    }),
  )
})

test('[brcode.properties] the order of the objects, in the code and in its templates, means nothing', () => {
  fc.assert(
    fc.property(validCode, fc.infiniteStream(fc.nat()), (code, chance) => {
      const shuffle = (objects: [id: string, value: string][]) =>
        objects
          .map(([id, value]) => ({ text: object(id, value), rank: chance.next().value }))
          .sort((left, right) => left.rank - right.rank)
          .map(({ text }) => text)
          .join('')
      const middle = objectsOf(code.slice('000201'.length, -'6304ABCD'.length))
      const shuffled = shuffle(
        middle.map(([id, value]) => [id, ['26', '62', '80'].includes(id) ? shuffle(objectsOf(value)) : value]),
      )
      assert.deepEqual(parseBrCode(signed(`000201${shuffled}`)), parseBrCode(code))
    }),
  )
})

// A CRC of 16 bits finds every burst of errors up to 16 bits long: one character, or two neighbours.
test('[brcode.properties] no single wrong character goes unnoticed', () => {
  fc.assert(
    fc.property(validCode, fc.nat(), printable, (code, index, character) => {
      const at = index % code.length
      const changed = code.slice(0, at) + character + code.slice(at + 1)
      fc.pre(changed.slice(0, -4) + changed.slice(-4).toUpperCase() !== code)
      assert.throws(() => parseBrCode(changed), BrCodeError)
    }),
    { numRuns: 1_000 },
  )
})

test('[brcode.properties] no two neighbours change places unnoticed', () => {
  fc.assert(
    fc.property(validCode, fc.nat(), (code, index) => {
      const at = index % (code.length - 1)
      const swapped = code.slice(0, at) + code.charAt(at + 1) + code.charAt(at) + code.slice(at + 2)
      fc.pre(swapped !== code)
      assert.throws(() => parseBrCode(swapped), BrCodeError)
    }),
    { numRuns: 1_000 },
  )
})

test('[brcode.properties] no beginning of a code passes for the code', () => {
  for (const code of Object.values(PUBLISHED)) {
    for (let length = 0; length < code.length; length += 1) {
      assert.throws(() => parseBrCode(code.slice(0, length)), BrCodeError)
    }
  }
})

test('[brcode.properties] any text is read or refused with a reason', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 600 }),
    fc.string({ unit: 'binary', maxLength: 200 }).map((text) => signed(`000201${text}`)),
  )
  fc.assert(
    fc.property(anyText, (text) => {
      valueOrRefusal(() => parseBrCode(text))
    }),
    { numRuns: 1_000 },
  )
})

test('[brcode.properties] any objects under a true CRC are read or refused with a reason', () => {
  const value = fc.oneof(
    fc.constantFrom(
      'br.gov.bcb.pix',
      'a@b.com',
      'pix.example.com/1',
      'BR',
      '986',
      '0000',
      '12',
      '***',
      '0.00',
      '10.00',
    ),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  )
  const template = fc
    .dictionary(fc.constantFrom('00', '01', '02', '03', '05', '25'), value, { minKeys: 1 })
    .map((objects) => Object.entries({ '00': 'br.gov.bcb.pix', ...objects }).map(([id, text]) => object(id, text)))
    .map((objects) => objects.join(''))
  const changes = fc.dictionary(
    fc.constantFrom('01', '26', '27', '52', '53', '54', '58', '59', '60', '61', '62', '80', '81'),
    fc.oneof(value, { weight: 2, arbitrary: template }),
    { maxKeys: 3 },
  )
  fc.assert(
    fc.property(changes, (objects) => {
      valueOrRefusal(() => parseBrCode(codeWith(objects)))
    }),
    { numRuns: 1_000 },
  )
})

/** Undefined for a refusal; any other error fails the test. */
function valueOrRefusal<Value>(run: () => Value): Value | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof BrCodeError) return undefined
    throw error
  }
}
