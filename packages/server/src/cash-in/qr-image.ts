import { crc32, deflateSync } from 'node:zlib'
import { encodeQR } from 'qr'

/** Images of a Pix code as a QR code. @source rules#cash-in.qrcode.2 */

/** White margin in modules, as ISO/IEC 18004 requires. */
const QUIET_ZONE = 4

/** Dark modules by row, with the quiet zone. */
function modulesOf(pixCode: string): boolean[][] {
  return encodeQR(pixCode, 'raw', { ecc: 'medium', border: QUIET_ZONE })
}

/** @param size width and height in pixels */
export function qrCodeSvg(pixCode: string, size: number): string {
  const rows = modulesOf(pixCode)
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  const { length } = rows
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${length} ${length}" ` +
    `shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${length}v${length}H0z"/><path d="${dark.join('')}"/></svg>`
  )
}

/**
 * A PNG of one bit per pixel. Modules have whole pixels, so that scanners see sharp edges; the rest is margin.
 * @param size width and height in pixels
 */
export function qrCodePng(pixCode: string, size: number): Buffer {
  const rows = modulesOf(pixCode)
  const scale = Math.floor(size / rows.length)
  const margin = Math.floor((size - rows.length * scale) / 2)
  const stride = 1 + Math.ceil(size / 8)
  // Each line starts with its filter: none. Ones are white.
  const pixels = Buffer.alloc(stride * size, 0xff)
  for (let y = 0; y < size; y++) {
    pixels[y * stride] = 0
    const row = rows[Math.floor((y - margin) / scale)] ?? []
    for (let x = 0; x < size; x++) {
      if (!row[Math.floor((x - margin) / scale)]) continue
      const at = y * stride + 1 + (x >> 3)
      pixels[at] = (pixels[at] ?? 0) & ~(0x80 >> (x & 7))
    }
  }
  return Buffer.concat([SIGNATURE, chunk('IHDR', header(size)), chunk('IDAT', deflateSync(pixels)), chunk('IEND')])
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Grey, one bit a pixel, not interlaced. */
function header(size: number): Buffer {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(size, 0)
  data.writeUInt32BE(size, 4)
  data[8] = 1
  return data
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
