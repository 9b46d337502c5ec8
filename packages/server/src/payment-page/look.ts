import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { limits } from '@pixgate/spec'

/** Style, script and policy of the page, and what the merchant chooses of its look. */

function textOf(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}

const STYLE = textOf('page.css')
export const SCRIPT = textOf('script.js')

export interface Look {
  readonly style: string
  readonly logo: string | undefined
  readonly policy: string
}

/** @source rules#payment-page.7, rules#payment-page.9 */
export function lookOf({ color, logo }: { readonly color: string; readonly logo: string | undefined }): Look {
  const style = `:root{--brand:${color};--on-brand:${textOn(color)}}\n${STYLE}`
  return { style, logo: logo === undefined ? undefined : logoUrl(logo), policy: policyOf(style) }
}

/** @source rules#payment-page.8 */
function policyOf(style: string): string {
  return [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(SCRIPT)}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

/** White or black, whichever has the higher contrast: at least 4.58 to 1 on any color. @source rules#payment-page.7 */
export function textOn(color: string): '#ffffff' | '#000000' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
  return 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 ? '#ffffff' : '#000000'
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const JPEG = Buffer.from('ffd8ff', 'hex')
const SVG = /^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<svg[\s>]/

/** @returns why a file cannot be the logo @source rules#payment-page.7 */
export function logoFault(path: string): string | undefined {
  const bytes = bytesOf(path)
  if (bytes === undefined) return 'cannot be read'
  if (bytes.length > limits.paymentPageLogoMaxBytes) return `has more than ${limits.paymentPageLogoMaxBytes} bytes`
  return typeOf(bytes) === undefined ? 'is not a PNG, JPEG or SVG' : undefined
}

function bytesOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

function typeOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'image/png'
  if (bytes.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg'
  return SVG.test(bytes.toString('latin1')) ? 'image/svg+xml' : undefined
}

function logoUrl(path: string): string {
  const bytes = readFileSync(path)
  return `data:${typeOf(bytes)};base64,${bytes.toString('base64')}`
}
