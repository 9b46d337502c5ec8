import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { maskDocument, normaliseCnpj, normaliseCpf, normaliseDocument, receiptDocument } from '../src/document.ts'

const cpfs = ['52998224725', '11144477735', '39053344705', '93541134780', '00000000191', '12345678909']
const cnpjs = [
  '12ABC34501DE35',
  '11222333000181',
  '00000000000191',
  '33000267000138',
  'A1B2C3D4000193',
  'Z9Y8X7W6000105',
  'ABCDEFGH000195',
  '00ABC000000226',
  'AAAAAAAAAAAA45',
]

for (const cpf of cpfs) {
  test(`[documents.1] ${cpf} is a CPF`, () => {
    assert.equal(normaliseCpf(cpf), cpf)
    assert.equal(normaliseDocument(cpf.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4')), cpf)
    assert.equal(normaliseCnpj(cpf), null)
  })
}

for (const cnpj of cnpjs) {
  test(`[documents.1] ${cnpj} is a CNPJ, in either case`, () => {
    assert.equal(normaliseCnpj(cnpj), cnpj)
    assert.equal(normaliseCnpj(cnpj.toLowerCase()), cnpj)
    assert.equal(normaliseDocument(cnpj.replace(/(..)(...)(...)(....)(..)/, '$1.$2.$3/$4-$5')), cnpj)
    assert.equal(normaliseCpf(cnpj), null)
  })
}

const refused = [
  '',
  '52998224724',
  '11111111111',
  '5299822472',
  '529982247255',
  '529.982247-25',
  ' 52998224725',
  '52998224725\n',
  '٥٢٩٩٨٢٢٤٧٢٥',
  '12ABC34501DE34',
  '12ABC34501DEX5',
  '00000000000000',
  '12.ABC.345/01DE35',
  'ÁBCDEFGH000195',
  'ı2ABC34501DE42',
  'ßABC34501DE99',
]

for (const text of refused) {
  test(`[documents.1] ${JSON.stringify(text)} is neither`, () => {
    assert.equal(normaliseDocument(text), null)
  })
}

test('[documents.1] another check digit never passes', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...cpfs, ...cnpjs),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      (document, last, shift) => {
        const at = document.length - (last ? 1 : 2)
        const digit = (Number(document[at]) + shift) % 10
        assert.equal(normaliseDocument(`${document.slice(0, at)}${digit}${document.slice(at + 1)}`), null)
      },
    ),
  )
})

test('[documents.2] a receipt shows only the middle of a document', () => {
  assert.equal(maskDocument('52998224725'), '***.982.247-**')
  assert.equal(maskDocument('12ABC34501DE35'), '**.ABC.345/01DE-**')
})

test('[receipt.4] a receipt shows the middle of a CPF and all of a CNPJ, and nothing that is neither', () => {
  assert.deepEqual(['52998224725', '12abc34501de35', '***.982.247-**', '***', '123', null].map(receiptDocument), [
    '***.982.247-**',
    '12.ABC.345/01DE-35',
    '***.982.247-**',
    null,
    null,
    null,
  ])
})
