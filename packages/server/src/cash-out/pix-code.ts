import { type BrCode, BrCodeError, parseBrCode } from '@pixgate/brcode'
import { normaliseDocument, normaliseUntypedPixKey, Refusal } from '@pixgate/spec'
import type { QrCode } from '../banks/port.ts'
import type { CashOutDetail } from './cash-out.ts'

/**
 * Checks Pix codes to be paid: by the code alone, and by the bank's decoding. Pure; URLs inside codes are never called.
 */

export interface PixCode {
  /** Trimmed. */
  readonly text: string
  /** A dynamic code is paid once; static codes have none. */
  readonly exclusiveKey: string | null
  /** Amount of a static code; `null` if its bank or the payer decides. */
  readonly valueCents: bigint | null
  /**
   * @throws pix_code_not_payable · pix_code_value_mismatch (422)
   * @source rules#cash-out.qrcode.2
   */
  assertPayable(asked: Asked): void
}

/** The client's data; `null` if absent. */
export interface Asked {
  readonly valueCents: bigint | null
  readonly document: string | null
}

/**
 * @throws invalid_pix_code (400)
 * @source rules#cash-out.qrcode.1
 */
export function readPixCode(pasted: string): PixCode {
  const text = pasted.trim()
  const code = parsed(text)
  return {
    text,
    exclusiveKey: code.kind === 'dynamic' ? `pix-code ${code.url}` : null,
    valueCents: code.kind === 'static' ? (code.amountCents ?? null) : null,
    assertPayable: (asked) => assertPayable(code, asked),
  }
}

function parsed(text: string): BrCode {
  try {
    return parseBrCode(text)
  } catch (error) {
    if (!(error instanceof BrCodeError)) throw error
    throw new Refusal('invalid_pix_code', {
      message: `pixCode is not a valid BR Code: ${error.message}`,
      fields: [{ field: 'transaction.pixCode', code: error.reason, message: error.message }],
    })
  }
}

/** The amount in a dynamic code is ignored; only its bank's answer counts. */
function assertPayable(code: BrCode, { valueCents }: Asked): void {
  if (code.kind === 'recurrence') throw notPayable('recurrence_only', 'the code offers a recurrence and no payment')
  if (code.kind === 'withdrawal') throw notPayable('withdrawal', 'the code is a Pix Saque')
  if (code.kind === 'static') agreedValue(code.amountCents, valueCents)
}

/**
 * Value and recipient of the payment.
 * @throws pix_code_not_payable · pix_code_value_mismatch · invalid_document (422)
 * @source rules#cash-out.qrcode.4, rules#cash-out.qrcode.7
 */
export function payableOf(code: PixCode, decoded: QrCode, asked: Asked, now: number) {
  if (decoded.status !== 'ACTIVE') throw notPayable(decoded.status.toLowerCase(), `the code is ${decoded.status}`)
  if (decoded.expiresAt !== undefined && decoded.expiresAt <= now) throw notPayable('expired', 'the code has expired')
  const { name, document: reported, pixKey: reportedKey } = decoded.recipient
  assertSameDocument(reported, asked.document)
  // A masked document is completed by the client's, if that matches.
  const document = normaliseDocument(reported) ?? normaliseDocument(asked.document ?? '')
  const pixKey = normaliseUntypedPixKey(reportedKey, document ?? mismatchedDocument(reportedKey, reported))
  if (pixKey === null) throw notPayable('pix_key', 'the code contains no valid Pix key')
  const detail: Pick<CashOutDetail, 'recipient' | 'qrCode'> = {
    recipient: { name, document, pixKey, pixKeyType: null },
    qrCode: { pixCode: code.text, decodeId: decoded.decodeId },
  }
  return { valueCents: agreedValue(decoded.valueCents, code.valueCents ?? asked.valueCents), detail }
}

/** @source rules#cash-out.qrcode.5 */
function assertSameDocument(reported: string, asked: string | null): void {
  if (asked === null) return
  const message = 'recipient.document does not match the recipient of the code'
  if (normaliseDocument(asked) === null) throw new Refusal('invalid_document', fault('invalid_document', message))
  const document = normaliseDocument(asked) ?? ''
  if (normaliseDocument(reported) !== document && !isMaskOf(reported, document)) {
    throw new Refusal('pix_code_not_payable', { message, ...fault('other_recipient', message) })
  }
}

/** Visible digits of a masked CPF (`***.123.456-**`); fewer prove too little. */
const SHOWN_MIN = 6

/** The masked document matches at every visible position. */
function isMaskOf(reported: string, document: string): boolean {
  const shown = placesOf(reported).filter((place) => place !== '*')
  return fits(reported, document) && shown.length >= SHOWN_MIN
}

function fits(masked: string, document: string): boolean {
  const places = placesOf(masked)
  return places.length === document.length && places.every((place, at) => place === '*' || place === document[at])
}

function placesOf(masked: string): string[] {
  return [...masked.replaceAll(/[.\-/\s]/g, '')]
}

/** The masked document, if it cannot belong to the key's document; otherwise `null`. */
function mismatchedDocument(key: string, reported: string): string | null {
  const document = normaliseDocument(key)
  return reported.includes('*') && document !== null && !fits(reported, document) ? reported : null
}

function fault(code: string, message: string) {
  return { fields: [{ field: 'recipient.document', code, message }] }
}

function agreedValue(inCode: bigint | undefined, asked: bigint | null): bigint {
  if (inCode === undefined && asked === null) throw mismatch('required', 'value is required: the code has no amount')
  if (inCode !== undefined && asked !== null && inCode !== asked) {
    throw mismatch('mismatch', 'value does not match the amount of the Pix code')
  }
  return inCode ?? asked ?? 0n
}

function mismatch(code: string, message: string): Refusal {
  return new Refusal('pix_code_value_mismatch', { message, fields: [{ field: 'transaction.value', code, message }] })
}

function notPayable(code: string, message: string): Refusal {
  return new Refusal('pix_code_not_payable', { fields: [{ field: 'transaction.pixCode', code, message }] })
}
