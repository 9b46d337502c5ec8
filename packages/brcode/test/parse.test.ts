import assert from 'node:assert/strict'
import test from 'node:test'
import type { BrCode } from '../src/br-code.ts'
import { parseBrCode } from '../src/parse.ts'
import {
  codeWith,
  object,
  PIX_ACCOUNT,
  PIX_LOCATION,
  PIX_RECURRENCE,
  PLAIN_OBJECTS,
  PUBLISHED,
  signed,
} from './codes.ts'

const FULANO = { merchantName: 'Fulano de Tal', merchantCity: 'BRASILIA', merchantCategoryCode: '0000' }
const OGLIARI = { merchantName: 'THALES OGLIARI', merchantCity: 'SAO MIGUEL DO O', merchantCategoryCode: '0000' }

const EXPECTED: Record<keyof typeof PUBLISHED, BrCode> = {
  manualStatic: { kind: 'static', pixKey: '123e4567-e12b-12d1-a456-426655440000', ...FULANO },
  staticWithAmount: {
    kind: 'static',
    pixKey: 'thalesog@me.com',
    amountCents: 1000n,
    additionalInformation: 'Pedido 123',
    ...OGLIARI,
  },
  staticWithTxid: {
    kind: 'static',
    pixKey: '123e4567-e12b-12d1-a456-426655440000',
    amountCents: 100n,
    txid: '9134e2866f71427abf0010000',
    merchantName: 'Call_me_Awesome',
    merchantCity: 'Sao_Paulo',
    merchantCategoryCode: '0000',
  },
  dynamicOnce: {
    kind: 'dynamic',
    url: 'payload.psp.com/3ec9d2f9-5f03-4e0e-820d-63a81e769e87',
    pointOfInitiation: '12',
    ...OGLIARI,
  },
  dynamicWithoutPointOfInitiation: {
    kind: 'dynamic',
    url: 'payload.psp.com/3ec9d2f9-5f03-4e0e-820d-63a81e769e87',
    ...OGLIARI,
  },
  pixSaque: {
    kind: 'withdrawal',
    pixKey: 'thalesog@me.com',
    additionalInformation: 'Pedido 123',
    withdrawalFacilitatorIspb: '12341234',
    ...OGLIARI,
  },
  manualWithOtherArrangements: {
    kind: 'static',
    pixKey: '123e4567-e12b-12d1-a456-426655440000',
    amountCents: 12345n,
    txid: 'RP12345678-2019',
    merchantName: 'NOME DO RECEBEDOR',
    merchantCity: 'BRASILIA',
    merchantCategoryCode: '0000',
    postalCode: '70074900',
  },
  recurrenceOnly: {
    kind: 'recurrence',
    recurrenceUrl: 'qr-h.sandbox.pix.bcb.gov.br/rest/api/rec/c7dc3d94706d4901a72480e98fcd52e1',
    ...FULANO,
  },
  dynamicWithRecurrence: {
    kind: 'dynamic',
    url: 'qr-h.sandbox.pix.bcb.gov.br/rest/api/v2/b1480b32f97f488997e523a6be0a07b8',
    recurrenceUrl: 'qr-h.sandbox.pix.bcb.gov.br/rest/api/rec/375a594f208645db99dec722f7a16828',
    pointOfInitiation: '12',
    ...FULANO,
  },
  staticWithRecurrence: {
    kind: 'static',
    pixKey: 'f4c6089a-bfde-4c00-a2d9-9eaa584b0219',
    amountCents: 16207n,
    txid: 'c6ef3f314123446a8e0cab39e',
    additionalInformation: 'CobrancaEstatica',
    recurrenceUrl: 'qr-h.sandbox.pix.bcb.gov.br/rest/api/rec/1f7a74f715974d1982c70f0715fb851c',
    merchantName: 'Pix',
    merchantCity: 'BRASILIA',
    merchantCategoryCode: '0000',
  },
  dynamicWithObsoleteVersion: {
    kind: 'dynamic',
    url: 'spi.hom.cloud.itau.com.br/documentos/ae40f1f9-daa1-41ea-83c7-62fe15efa0a2',
    merchantName: 'TESTE PIX PORTAB ',
    merchantCity: 'SAO PAULO',
    merchantCategoryCode: '0000',
    pointOfInitiation: '11',
  },
  dynamicWithAmountAndTxid: {
    kind: 'dynamic',
    url: 'pix-h.safra.com.br/gi/972769006bcf4c5ea3d12cb07ee16479',
    merchantName: 'COM E IMP SERTIC LTDA',
    merchantCity: 'SAO PAULO',
    merchantCategoryCode: '0000',
    pointOfInitiation: '12',
  },
}

for (const [name, expected] of Object.entries(EXPECTED)) {
  test(`[brcode.parse] published code: ${name}`, () => {
    assert.deepEqual(parseBrCode(PUBLISHED[name as keyof typeof PUBLISHED]), expected)
  })
}

const PLAIN: BrCode = { kind: 'static', pixKey: 'pix@example.com', ...FULANO }

test('[brcode.parse.lenient] the middle objects come in any order', () => {
  const shuffled = ['60', '62', '26', '59', '53', '58', '52']
  const body = shuffled.map((id) => object(id, PLAIN_OBJECTS[id] ?? '')).join('')
  assert.deepEqual(parseBrCode(signed(`000201${body}`)), PLAIN)
})

test('[brcode.parse.lenient] the GUI and the CRC are read in any case', () => {
  const account = object('00', 'Br.GoV.bcb.PIX') + object('01', 'pix@example.com')
  assert.deepEqual(parseBrCode(codeWith({ '26': account })), PLAIN)
  const code = PUBLISHED.manualStatic
  assert.deepEqual(parseBrCode(code.slice(0, -4) + code.slice(-4).toLowerCase()), EXPECTED.manualStatic)
})

test('[brcode.parse.lenient] lengths count characters or, where that does not fit, bytes', () => {
  const account = (length?: number) =>
    object('00', 'br.gov.bcb.pix') + object('01', 'pix@example.com') + object('02', 'Café ☕', length)
  const start = '000201'
  const middle = '5204000053039865802BR'
  const byCharacters = `${start}${object('26', account())}${middle}${object('59', 'João')}${object('60', 'Maceió')}`
  const byBytes = `${start}${object('26', account(9), 50)}${middle}${object('59', 'João', 5)}${object('60', 'Maceió', 7)}`
  const expected = {
    ...PLAIN,
    additionalInformation: 'Café ☕',
    merchantName: 'João',
    merchantCity: 'Maceió',
  }
  assert.deepEqual(parseBrCode(signed(byCharacters)), expected)
  assert.deepEqual(parseBrCode(signed(byBytes)), expected)
})

test('[brcode.parse.lenient] a length may count the two UTF-16 units of an emoji', () => {
  const body = codeWith({ '59': undefined }).slice(0, -8)
  for (const [unit, length] of Object.entries({ characters: 6, 'UTF-16 units': 7, bytes: 10 })) {
    const code = signed(body + object('59', 'Café 🍰', length))
    assert.deepEqual(parseBrCode(code), { ...PLAIN, merchantName: 'Café 🍰' }, unit)
  }
})

test('[brcode.parse.lenient] bytes are counted also where characters would swallow just the next object', () => {
  const information = 'é'.repeat('52040000'.length)
  const account = PIX_ACCOUNT + object('02', information, 16)
  const body = `000201${object('26', account, account.length + 8)}5204000053039865802BR5903Ana6006RECIFE`
  const code = parseBrCode(signed(body))
  assert(code.kind === 'static')
  assert.equal(code.additionalInformation, information)
})

test('[brcode.parse.lenient] a name counted in bytes may be the last object before the CRC', () => {
  const body = `000201${object('26', PIX_ACCOUNT)}5204000053039865802BR6008BRASILIA${object('59', 'José'.repeat(6), 30)}`
  assert.equal(parseBrCode(signed(body)).merchantName, 'José'.repeat(6))
})

test('[brcode.parse.lenient] the additional data and its txid may be missing', () => {
  assert.deepEqual(parseBrCode(codeWith({ '62': undefined })), PLAIN)
  assert.deepEqual(parseBrCode(codeWith({ '62': object('03', 'loja 1') })), PLAIN)
})

test('[brcode.parse.lenient] the Pix account is any of 26 to 51', () => {
  for (const id of ['26', '27', '40', '51']) {
    assert.deepEqual(parseBrCode(codeWith({ '26': undefined, [id]: PIX_ACCOUNT })), PLAIN)
  }
})

test('[brcode.parse.lenient] the recurrence is any of 80 to 99', () => {
  for (const id of ['80', '81', '99']) {
    assert.deepEqual(parseBrCode(codeWith({ [id]: PIX_RECURRENCE })), {
      ...PLAIN,
      recurrenceUrl: 'pix.example.com/rec/1',
    })
  }
})

test('[brcode.parse.lenient] names longer than the manual allows are read whole', () => {
  const merchantName = 'Comércio e Indústria de Alimentos'
  const merchantCity = 'Presidente Prudente'
  assert.deepEqual(parseBrCode(codeWith({ '59': merchantName, '60': merchantCity })), {
    ...PLAIN,
    merchantName,
    merchantCity,
  })
})

test('[brcode.parse.lenient] outer white space is dropped', () => {
  assert.deepEqual(parseBrCode(`\n\t ${PUBLISHED.manualStatic} \r\n`), EXPECTED.manualStatic)
})

test('[brcode.parse] amount and txid beside a URL mean nothing, whatever they say', () => {
  const expected = { kind: 'dynamic', url: 'pix.example.com/qr/v2/1', ...FULANO }
  for (const amount of ['0.00', '10.00', 'ten']) {
    assert.deepEqual(
      parseBrCode(codeWith({ '26': PIX_LOCATION, '54': amount, '62': object('05', 'ABC123') })),
      expected,
    )
  }
})

test('[brcode.parse] a Pix Saque may say zero', () => {
  const code = codeWith({ '26': PIX_ACCOUNT + object('03', '12345678'), '54': '0.00' })
  assert.deepEqual(parseBrCode(code), {
    ...PLAIN,
    kind: 'withdrawal',
    amountCents: 0n,
    withdrawalFacilitatorIspb: '12345678',
  })
})

test('[brcode.parse] an ISPB may have letters', () => {
  const code = parseBrCode(codeWith({ '26': PIX_ACCOUNT + object('03', '12ABC345') }))
  assert.deepEqual(code, { ...PLAIN, kind: 'withdrawal', withdrawalFacilitatorIspb: '12ABC345' })
})

test('[brcode.parse] a location may be in capitals, name a port and hold any printable character', () => {
  const url = 'PIX-HOM.EXAMPLE.COM:8443/API/a,b?c=%20#d'
  const code = parseBrCode(codeWith({ '26': object('00', 'br.gov.bcb.pix') + object('25', url) }))
  assert.deepEqual(code, { kind: 'dynamic', url, ...FULANO })
})

test('[brcode.parse] 512 characters are read', () => {
  const filler = [65, 66, 67, 68].map((id) => object(String(id), 'x'.repeat(90))).join('')
  const free = 512 - codeWith().length - filler.length - 4
  const body = codeWith().slice(0, -8) + filler + object('69', 'x'.repeat(free))
  assert.equal(signed(body).length, 512)
  assert.deepEqual(parseBrCode(signed(body)), PLAIN)
  assert.throws(() => parseBrCode(signed(`${body.slice(0, -free - 4)}${object('69', 'x'.repeat(free + 1))}`)), {
    reason: 'too_long',
  })
})
