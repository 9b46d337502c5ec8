import assert from 'node:assert/strict'
import test from 'node:test'
import { isOtherRecipient } from '../../src/cash-out/cash-out.ts'

const WANTED = { name: 'Padaria', document: '11222333000181', pixKey: '+5511987654321', pixKeyType: null } as const
const NOTHING = { name: undefined, document: undefined, ispb: undefined, pixKey: undefined }

test('[cash-out.qrcode.9] another document, or another key where a document is missing or masked, is another recipient', () => {
  const isOther = (told: object) => isOtherRecipient(WANTED, { ...NOTHING, ...told })
  assert.equal(isOther({ document: '11.222.333/0001-81', pixKey: 'another@example.com' }), false)
  assert.equal(isOther({ document: '52998224725', pixKey: WANTED.pixKey }), true)
  assert.equal(isOther({ document: '***982247**', pixKey: 'another@example.com' }), true)
  assert.equal(isOther({ pixKey: '5511987654321' }), false, 'another spelling of the key')
  assert.equal(isOther({ pixKey: '***.982.247-**' }), false, 'a masked key')
  assert.equal(isOther({ name: 'Somebody else' }), false)
  assert.equal(isOtherRecipient(WANTED, undefined), false)
})

test('[cash-out.qrcode.9] [privacy.6] a key that was erased is compared with nothing', () => {
  const erased = { ...WANTED, document: null, pixKey: '***' }
  assert.equal(isOtherRecipient(erased, { ...NOTHING, pixKey: 'another@example.com' }), false)
})
