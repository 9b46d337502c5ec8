import assert from 'node:assert/strict'
import test from 'node:test'
import { buildDynamicBrCode, buildStaticBrCode, type StaticBrCodeInput } from '../src/build.ts'
import { parseBrCode } from '../src/parse.ts'
import { PUBLISHED } from './codes.ts'

const FULANO = { merchantName: 'Fulano de Tal', merchantCity: 'BRASILIA' }
const OGLIARI = { merchantName: 'THALES OGLIARI', merchantCity: 'SAO MIGUEL DO O' }
const PLAIN: StaticBrCodeInput = { pixKey: 'pix@example.com', ...FULANO }

test('[brcode.build] published codes come out character by character', () => {
  const pixKey = '123e4567-e12b-12d1-a456-426655440000'
  assert.equal(buildStaticBrCode({ pixKey, ...FULANO }), PUBLISHED.manualStatic)
  assert.equal(
    buildStaticBrCode({
      pixKey: 'thalesog@me.com',
      amountCents: 1000n,
      additionalInformation: 'Pedido 123',
      ...OGLIARI,
    }),
    PUBLISHED.staticWithAmount,
  )
  assert.equal(
    buildStaticBrCode({
      pixKey,
      amountCents: 100n,
      txid: '9134e2866f71427abf0010000',
      merchantName: 'Call_me_Awesome',
      merchantCity: 'Sao_Paulo',
    }),
    PUBLISHED.staticWithTxid,
  )
  assert.equal(
    buildDynamicBrCode({ url: 'payload.psp.com/3ec9d2f9-5f03-4e0e-820d-63a81e769e87', ...OGLIARI }),
    PUBLISHED.dynamicOnce,
  )
})

test('[brcode.build] category and postal code are written', () => {
  const code = parseBrCode(buildStaticBrCode({ ...PLAIN, merchantCategoryCode: '5411', postalCode: '70074900' }))
  assert.equal(code.merchantCategoryCode, '5411')
  assert.equal(code.postalCode, '70074900')
})

test('[brcode.build] names are folded to ASCII and cut at 25 and 15', () => {
  const code = parseBrCode(
    buildStaticBrCode({
      ...PLAIN,
      merchantName: ' Padaria\tSão João ☕ – Pães & Doces ',
      merchantCity: 'Santo Antônio do Descoberto',
    }),
  )
  assert.equal(code.merchantName, 'Padaria Sao Joao Paes & D')
  assert.equal(code.merchantCity, 'Santo Antonio d')
})

test('[brcode.build] a cut between two words leaves no space behind', () => {
  const code = parseBrCode(buildStaticBrCode({ ...PLAIN, merchantCity: 'Feira de Santo Antônio' }))
  assert.equal(code.merchantCity, 'Feira de Santo')
})

test('[brcode.build] additional information gets the room the key leaves', () => {
  const read = (pixKey: string, additionalInformation: string) => {
    const code = parseBrCode(buildStaticBrCode({ ...PLAIN, pixKey, additionalInformation }))
    assert(code.kind === 'static')
    return code.additionalInformation
  }
  assert.equal(read('a@b.com', 'Pedido nº 1,\nà vista'), 'Pedido n 1, a vista')
  assert.equal(read('a@b.com', 'x'.repeat(200)), 'x'.repeat(66))
  assert.equal(read('k'.repeat(72), 'xyz'), 'x')
  assert.equal(read('k'.repeat(73), 'xyz'), undefined)
  assert.equal(read('k'.repeat(77), 'x'.repeat(99)), undefined)
  assert.equal(read('a@b.com', '☕'), undefined)
})

for (const [field, reason, changes] of [
  ['pixKey', 'field_malformed', { pixKey: '' }],
  ['pixKey', 'field_malformed', { pixKey: 'k'.repeat(78) }],
  ['pixKey', 'field_malformed', { pixKey: '123.456.789 09' }],
  ['pixKey', 'field_malformed', { pixKey: 'joão@example.com' }],
  ['txid', 'field_malformed', { txid: '' }],
  ['txid', 'field_malformed', { txid: 'a'.repeat(26) }],
  ['txid', 'field_malformed', { txid: 'RP12345678-2019' }],
  ['txid', 'field_malformed', { txid: '***' }],
  ['amountCents', 'amount_zero', { amountCents: 0n }],
  ['amountCents', 'amount_malformed', { amountCents: -1n }],
  ['amountCents', 'amount_malformed', { amountCents: 1_000_000_000_000n }],
  ['merchantName', 'field_missing', { merchantName: '' }],
  ['merchantName', 'field_missing', { merchantName: '北京' }],
  ['merchantCity', 'field_missing', { merchantCity: ' \n' }],
  ['merchantCategoryCode', 'field_malformed', { merchantCategoryCode: '12' }],
  ['postalCode', 'field_malformed', { postalCode: '70074-900' }],
] as const) {
  test(`[brcode.build] ${reason}: ${JSON.stringify(changes, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`, () => {
    assert.throws(() => buildStaticBrCode({ ...PLAIN, ...changes }), { name: 'BrCodeError', reason, field })
  })
}

test('[brcode.build] a location is a host and a path, of at most 77 characters', () => {
  const longest = `pix.example.com/${'a'.repeat(61)}`
  const code = parseBrCode(buildDynamicBrCode({ url: longest, ...FULANO }))
  assert(code.kind === 'dynamic')
  assert.equal(code.url, longest)
  for (const url of [`${longest}a`, 'https://pix.example.com/1', 'pix.example.com', '']) {
    assert.throws(() => buildDynamicBrCode({ url, ...FULANO }), { reason: 'url_malformed', field: 'url' })
  }
})
