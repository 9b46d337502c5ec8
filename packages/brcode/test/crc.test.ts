import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { crc16 } from '../src/br-code.ts'
import { PUBLISHED } from './codes.ts'

test('[brcode.crc] the check value of CRC-16/CCITT-FALSE', () => {
  assert.equal(crc16('123456789'), '29B1')
  assert.equal(crc16(''), 'FFFF')
})

test('[brcode.crc] every published code carries the CRC computed here, zeros in front kept', () => {
  for (const code of Object.values(PUBLISHED)) assert.equal(crc16(code.slice(0, -4)), code.slice(-4))
  assert.equal(crc16(PUBLISHED.staticWithAmount.slice(0, -4)), '0DC6')
})

test('[brcode.crc] any text: the remainder of the polynomial division of its UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(crc16(text), remainder(new TextEncoder().encode(text)))
    }),
  )
})

/** The same checksum in another way: bit by bit through a shift register. */
function remainder(bytes: Uint8Array): string {
  let register = 0xffff
  for (const bit of [...bytes].flatMap((byte) => [...byte.toString(2).padStart(8, '0')].map(Number))) {
    const carry = (register >> 15) ^ bit
    register = ((register << 1) & 0xffff) ^ (carry ? 0x1021 : 0)
  }
  return register.toString(16).toUpperCase().padStart(4, '0')
}
