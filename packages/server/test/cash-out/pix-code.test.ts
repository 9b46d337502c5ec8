import assert from 'node:assert/strict'
import test from 'node:test'
import { buildDynamicBrCode, buildStaticBrCode } from '@pixgate/brcode'
import { Refusal } from '@pixgate/spec'
import type { QrCode } from '../../src/banks/port.ts'
import { type Asked, payableOf, readPixCode } from '../../src/cash-out/pix-code.ts'
import { NOW } from './situations.ts'

const MERCHANT = { merchantName: 'Padaria Central', merchantCity: 'RECIFE' }
const STATIC = buildStaticBrCode({ pixKey: 'padaria@example.com', ...MERCHANT })
const PRICED = buildStaticBrCode({ pixKey: 'padaria@example.com', amountCents: 12_34n, ...MERCHANT })
const DYNAMIC = buildDynamicBrCode({ url: 'bank.example/qr/1', ...MERCHANT })
/** BCB's manual, pix-utils' tests, and BCB's sandbox. */
const MANUAL =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D'
const SAQUE =
  '00020126630014br.gov.bcb.pix0115thalesog@me.com0210Pedido 1230308123412345204000053039865802BR5914THALES OGLIARI6015SAO MIGUEL DO O62070503***6304901C'
const RECURRENCE =
  '00020126180014br.gov.bcb.pix5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80950014br.gov.bcb.pix2573qr-h.sandbox.pix.bcb.gov.br/rest/api/rec/c7dc3d94706d4901a72480e98fcd52e16304BAEE'
const BOTH =
  '00020101021226940014br.gov.bcb.pix2572qr-h.sandbox.pix.bcb.gov.br/rest/api/v2/b1480b32f97f488997e523a6be0a07b85204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80950014br.gov.bcb.pix2573qr-h.sandbox.pix.bcb.gov.br/rest/api/rec/375a594f208645db99dec722f7a1682863042AC3'
const PRICED_DYNAMIC =
  '00020101021226760014BR.GOV.BCB.PIX2554pix-h.safra.com.br/gi/972769006bcf4c5ea3d12cb07ee16479520400005303986540413.05802BR5921COM E IMP SERTIC LTDA6009SAO PAULO62230519202010251755fcbd3e56304F64C'

const NOTHING: Asked = { valueCents: null, document: null }
const DECODED: QrCode = {
  decodeId: 'decode-1',
  valueCents: 50_00n,
  txid: 'txid',
  status: 'ACTIVE',
  expiresAt: undefined,
  recipient: { name: 'Padaria Central', document: '11.222.333/0001-81', pixKey: 'padaria@example.com' },
}

/** The code of the refusal, and the code of its field. */
function refusalOf(work: () => unknown): unknown[] | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    assert.ok(error instanceof Refusal)
    return [error.code, error.fields[0]?.code]
  }
}

const payable = (code: string, asked: Partial<Asked> = {}) =>
  refusalOf(() => readPixCode(code).assertPayable({ ...NOTHING, ...asked }))
const paid = (code: string, decoded: Partial<QrCode> = {}, asked: Partial<Asked> = {}) =>
  payableOf(readPixCode(code), { ...DECODED, ...decoded }, { ...NOTHING, ...asked }, NOW)
const refused = (decoded: Partial<QrCode>, asked: Partial<Asked> = {}) => refusalOf(() => paid(DYNAMIC, decoded, asked))

test('[cash-out.qrcode.1] [QR-1] a code is read with white space around it, and what is none says what is wrong', () => {
  assert.equal(readPixCode(` \n${MANUAL}\t`).text, MANUAL)
  const wrong: [string, string][] = [
    [`${MANUAL.slice(0, -1)}E`, 'crc_mismatch'],
    [MANUAL.slice(0, 40), 'crc_missing'],
    [`${MANUAL.slice(0, 60)} ${MANUAL.slice(60)}`, 'crc_mismatch'],
    ['0'.repeat(513), 'too_long'],
  ]
  for (const [code, reason] of wrong) {
    const told = refusalOf(() => readPixCode(code))
    assert.equal(told?.[0], 'invalid_pix_code', code)
    assert.equal(told?.[1], reason)
  }
})

test('[cash-out.qrcode.2] [QR-5] what asks for something else than a payment costs no question', () => {
  assert.deepEqual(payable(SAQUE), ['pix_code_not_payable', 'withdrawal'])
  assert.deepEqual(payable(RECURRENCE), ['pix_code_not_payable', 'recurrence_only'])
  assert.equal(payable(BOTH), undefined, 'a charge that also offers a recurrence')
})

test('[cash-out.qrcode.4] [QR-4] a static code’s amount must be the given one; without either there is nothing to pay', () => {
  assert.equal(payable(PRICED), undefined)
  assert.equal(payable(PRICED, { valueCents: 12_34n }), undefined)
  assert.deepEqual(payable(PRICED, { valueCents: 12_35n }), ['pix_code_value_mismatch', 'mismatch'])
  assert.deepEqual(payable(STATIC), ['pix_code_value_mismatch', 'required'])
  assert.equal(payable(STATIC, { valueCents: 1n }), undefined)
})

test('[cash-out.qrcode.4] [QR-4] what a dynamic code says of the amount counts for nothing: its bank’s answer does', () => {
  assert.equal(payable(PRICED_DYNAMIC, { valueCents: 99_00n }), undefined)
  assert.equal(paid(PRICED_DYNAMIC).valueCents, 50_00n)
  assert.equal(paid(DYNAMIC, {}, { valueCents: 50_00n }).valueCents, 50_00n)
  assert.equal(paid(DYNAMIC, { valueCents: undefined }, { valueCents: 7_00n }).valueCents, 7_00n)
  assert.deepEqual(refused({}, { valueCents: 50_01n }), ['pix_code_value_mismatch', 'mismatch'])
  assert.deepEqual(refused({ valueCents: undefined }), ['pix_code_value_mismatch', 'required'])
})

test('[cash-out.qrcode.4] a static code is paid with the amount that is in it, whatever is decoded', () => {
  assert.equal(paid(PRICED, { valueCents: 12_34n }).valueCents, 12_34n)
  assert.equal(paid(PRICED, { valueCents: undefined }).valueCents, 12_34n)
  assert.deepEqual(
    refusalOf(() => paid(PRICED, { valueCents: 99_00n })),
    ['pix_code_value_mismatch', 'mismatch'],
  )
})

test('[cash-out.qrcode.4] [QR-5] what is paid, ended or expired at its bank is not payable', () => {
  for (const status of ['PAID', 'CANCELLED', 'EXPIRED', 'FAILED'] as const) {
    assert.deepEqual(refused({ status }), ['pix_code_not_payable', status.toLowerCase()])
  }
  assert.deepEqual(refused({ expiresAt: NOW }), ['pix_code_not_payable', 'expired'])
  assert.equal(refused({ expiresAt: NOW + 1 }), undefined)
})

test('[cash-out.qrcode.5] [QR-10] a given document must be a document, and the recipient’s', () => {
  assert.equal(refused({}, { document: '11222333000181' }), undefined)
  assert.deepEqual(refused({}, { document: '52998224725' }), ['pix_code_not_payable', 'other_recipient'])
  assert.deepEqual(refused({}, { document: 'nobody' }), ['invalid_document', 'invalid_document'])
})

test('[cash-out.qrcode.5] [QR-10] a document that the bank masks is compared for what it shows', () => {
  const asked = { document: '52998224725' }
  const faultOf = (document: string) =>
    refused({ recipient: { name: 'Maria', document, pixKey: 'maria@example.com' } }, asked)?.[1]
  for (const same of ['***.982.247-**', '***982247**', '529.982.247-**']) assert.equal(faultOf(same), undefined, same)
  for (const other of ['***.982.248-**', '*****2247**', '***********', '***.982.247-***', '', '**.998.222/4725-**'])
    assert.equal(faultOf(other), 'other_recipient', other)
})

test('[cash-out.qrcode.5] [QR-11] of a document that the bank masks the payout keeps the one that the client gave', () => {
  const recipient = { ...DECODED.recipient, document: '***.982.247-**' }
  const keptFor = (document: string | null) => paid(DYNAMIC, { recipient }, { document }).detail.recipient.document
  assert.equal(keptFor('529.982.247-25'), '52998224725')
  assert.equal(keptFor(null), null, 'a mask is nobody’s document')
})

test('[cash-out.qrcode.6] [QR-8] a dynamic code is identified by its location, however it is written; a static one is not', () => {
  const other = buildDynamicBrCode({ url: 'bank.example/qr/1', merchantName: 'Another', merchantCity: 'OLINDA' })
  assert.equal(readPixCode(other).exclusiveKey, readPixCode(DYNAMIC).exclusiveKey)
  assert.equal(readPixCode(DYNAMIC).exclusiveKey, 'pix-code bank.example/qr/1')
  assert.equal(readPixCode(PRICED).exclusiveKey, null)
})

test('[QR-6] the payout keeps the code and the bank’s decoding of it', () => {
  assert.deepEqual(paid(` ${DYNAMIC} `).detail, {
    recipient: {
      name: 'Padaria Central',
      document: '11222333000181',
      pixKey: 'padaria@example.com',
      pixKeyType: null,
    },
    qrCode: { pixCode: DYNAMIC, decodeId: 'decode-1' },
  })
})

test('[cash-out.qrcode.7] the key that the bank decodes is kept as DICT knows it; what is no key is not payable', () => {
  const recipientOf = (pixKey: string, document = DECODED.recipient.document) =>
    paid(STATIC, { valueCents: undefined, recipient: { ...DECODED.recipient, document, pixKey } }, { valueCents: 1n })
      .detail.recipient
  for (const pixKey of ['+55 (11) 98765-4321', '5511987654321', '11987654321', '(11) 9 8765-4321']) {
    assert.equal(recipientOf(pixKey).pixKey, '+5511987654321')
  }
  assert.equal(recipientOf('529.982.247-25', '529.982.247-25').pixKey, '52998224725')
  assert.equal(recipientOf('Padaria@Example.COM').pixKey, 'padaria@example.com')
  for (const pixKey of ['padaria', ' padaria@example.com', '+551133334444']) {
    assert.deepEqual(
      refusalOf(() => recipientOf(pixKey)),
      ['pix_code_not_payable', 'pix_key'],
    )
  }
})

test('[cash-out.qrcode.7] [pix-key.7] whose eleven digits are the key is told by a masked document too, and by the one that the client gave', () => {
  const both = '11987654374'
  const keyFor = (told: string, document: string | null = null) => {
    const recipient = { ...DECODED.recipient, document: told, pixKey: both }
    return paid(DYNAMIC, { recipient }, { document }).detail.recipient.pixKey
  }
  assert.equal(keyFor('***.876.543-**'), both)
  assert.equal(keyFor('***.982.247-**'), `+55${both}`, 'the mask is of another CPF')
  assert.equal(keyFor('**.222.333/0001-**'), `+55${both}`, 'the mask is of a company')
  assert.equal(keyFor('***.982.247-**', '52998224725'), `+55${both}`)
  assert.equal(keyFor('***.876.543-**', both), both)
  assert.equal(keyFor(''), both, 'nobody tells who is paid')
})
