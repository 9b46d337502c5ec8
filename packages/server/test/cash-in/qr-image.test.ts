import assert from 'node:assert/strict'
import test from 'node:test'
import { inflateSync } from 'node:zlib'
import { limits } from '@pixgate/spec'
import { decodeQR } from 'qr/decode.js'
import { qrCodePng, qrCodeSvg } from '../../src/cash-in/qr-image.ts'
import { type World, world } from '../support/world.ts'
import { PIX_CODE } from './fixture.ts'

/** QR codes of charges, read again by a decoder. */

const LONGEST = PIX_CODE.padEnd(limits.pixCodeMaxLength, 'x')

/** The grey values of a square, as a decoder takes them. */
function decoded(size: number, isDark: (x: number, y: number) => boolean): string {
  const data = new Uint8Array(size * size * 4).fill(255)
  for (let pixel = 0; pixel < size * size; pixel++) {
    if (isDark(pixel % size, Math.floor(pixel / size))) data.fill(0, pixel * 4, pixel * 4 + 3)
  }
  return decodeQR({ width: size, height: size, data })
}

function readPng(png: Buffer): { readonly size: number; readonly text: string } {
  assert.equal(png.toString('latin1', 1, 4), 'PNG')
  const size = png.readUInt32BE(16)
  const pixels = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)))
  const stride = 1 + Math.ceil(size / 8)
  const isDark = (x: number, y: number) => ((pixels[y * stride + 1 + (x >> 3)] ?? 0) & (0x80 >> (x & 7))) === 0
  return { size, text: decoded(size, isDark) }
}

function readSvg(svg: string): { readonly size: number; readonly text: string } {
  const [, size, modules] = /^<svg [^>]*width="(\d+)"[^>]*viewBox="0 0 (\d+) /.exec(svg) ?? []
  const dark = new Set([...svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x} ${y}`))
  const isDark = (x: number, y: number) => dark.has(`${x >> 2} ${y >> 2}`)
  return { size: Number(size), text: decoded(Number(modules) * 4, isDark) }
}

test('[cash-in.qrcode.2] images of every size are decoded again, also of the longest code', () => {
  for (const code of [PIX_CODE, LONGEST]) {
    assert.equal(readSvg(qrCodeSvg(code, 300)).text, code)
    for (const size of [limits.qrCodeMinPixels, 301, limits.qrCodeMaxPixels]) {
      assert.deepEqual(readPng(qrCodePng(code, size)), { size, text: code })
    }
  }
})

/** The image of a charge as it is sent. */
async function image(pix: World, id: string, query = '', accept = '*/*') {
  const response = await fetch(`${pix.url}/api/pix/cash-in/${id}/qrcode${query}`, {
    headers: { authorization: `Bearer ${pix.apiKey}`, accept },
  })
  const { status, headers } = response
  return { status, type: headers.get('content-type'), headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

test('[cash-in.qrcode.1] the code of a charge is drawn as `format`, else `Accept`, says', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const { id, pixCode } = await pix.charge('10.00', { expirationTime: 3_600 })
  const svg = await image(pix, id)
  assert.deepEqual(
    [svg.status, svg.type, readSvg(svg.bytes.toString())],
    [200, 'image/svg+xml', { size: 300, text: pixCode }],
  )
  const png = await image(pix, id, '?format=png&size=200', 'image/svg+xml')
  assert.deepEqual([png.type, readPng(png.bytes)], ['image/png', { size: 200, text: pixCode }])
  const types = ['image/png', 'image/png, image/svg+xml', 'image/avif,image/svg+xml,image/png', 'application/json']
  const answered = await Promise.all(types.map(async (accept) => (await image(pix, id, '', accept)).type))
  assert.deepEqual(answered, ['image/png', 'image/png', 'image/svg+xml', 'image/svg+xml'])
  for (const query of ['size=127', 'size=2001', 'size=1.5', 'format=gif']) {
    const { status, body } = await pix.call('GET', `/api/pix/cash-in/${id}/qrcode?${query}`)
    assert.deepEqual([status, body.code], [400, 'validation_error'], query)
  }
})

test('[cash-in.qrcode.3] an image is kept a minute, and not beyond the expiry', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const ages = await Promise.all(
    [3_600, 30].map(async (expirationTime) => {
      const { id } = await pix.charge('10.00', { expirationTime })
      const { headers } = await image(pix, id)
      assert.equal(headers.get('vary'), 'accept')
      return headers.get('cache-control')
    }),
  )
  assert.equal(ages[0], 'private, max-age=60')
  assert.match(ages[1] ?? '', /^private, max-age=(?:[12]?\d|30)$/)
})

test('[cash-in.qrcode.3] a charge without a code that can be paid has no image: 409; an unknown one is 404', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const refused = async (id: string) => {
    const { status, body } = await pix.call('GET', `/api/pix/cash-in/${id}/qrcode`)
    return [status, body.code, body.existing?.status]
  }
  assert.deepEqual(await refused('none'), [404, 'not_found', undefined])
  const undrawn = await pix.charge('10.00', { generateQrCode: false })
  assert.deepEqual(await refused(undrawn.id), [409, 'not_possible_in_state', 'PENDING'])
  const paid = await pix.paid('10.00')
  assert.deepEqual(await refused(paid.id), [409, 'not_possible_in_state', 'PAID'])
  const expired = await pix.charge('10.00', { expirationTime: 60 })
  const cancelled = await pix.charge('10.00')
  await pix.call('POST', `/api/pix/cash-in/${cancelled.id}/cancel`)
  assert.deepEqual(await refused(cancelled.id), [409, 'not_possible_in_state', 'FAILED'])
  await pix.later(60_001)
  assert.deepEqual(await refused(expired.id), [409, 'not_possible_in_state', 'EXPIRED'])
})
