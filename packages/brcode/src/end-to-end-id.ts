import { BrCodeError } from './br-code.ts'

/** Parts of an identifier of the instant payment system. */
export interface EndToEndIdParts {
  /** Of the participant that makes the id: eight of `[0-9A-Z]`. */
  readonly ispb: string
  /** Written to the minute, in UTC. */
  readonly at: Date
  /** Eleven of `[0-9A-Za-z]`, the caller's to make unique. */
  readonly suffix: string
}

/**
 * The id of a payment, made by the payer's institution: `E` + ISPB + `yyyyMMddHHmm` in UTC + suffix, 32 characters.
 * @throws BrCodeError field_malformed
 * @source BCB, API Pix (EndToEndId)
 */
export function formatEndToEndId(parts: EndToEndIdParts): string {
  return formatId('E', parts)
}

/**
 * The id of a return, made by the receiver's institution: the same with `D` in front.
 * @throws BrCodeError field_malformed
 * @source BCB, API Pix (RtrId)
 */
export function formatReturnId(parts: EndToEndIdParts): string {
  return formatId('D', parts)
}

/** Whether `text` has the form of a payment's id. Published examples are often malformed: do not refuse on it alone. */
export function isEndToEndId(text: string): boolean {
  return /^E[0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/.test(text)
}

/** Whether `text` has the form of a return's id. */
export function isReturnId(text: string): boolean {
  return /^D[0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/.test(text)
}

function formatId(kind: 'E' | 'D', { ispb, at, suffix }: EndToEndIdParts): string {
  expect('ispb', /^[0-9A-Z]{8}$/.test(ispb))
  expect('suffix', /^[0-9A-Za-z]{11}$/.test(suffix))
  const year = at.getUTCFullYear() // NaN for an invalid date
  expect('at', year >= 0 && year <= 9999)
  return kind + ispb + at.toISOString().replace(/\D/g, '').slice(0, 'yyyyMMddHHmm'.length) + suffix
}

function expect(field: keyof EndToEndIdParts, ok: boolean): void {
  if (!ok) throw new BrCodeError('field_malformed', `${field} does not fit an end-to-end id`, { field })
}
