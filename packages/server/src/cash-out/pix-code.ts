import { type BrCode, BrCodeError, parseBrCode } from '@pixgate/brcode'
import { normaliseDocument, normaliseUntypedPixKey, Refusal } from '@pixgate/spec'
import type { QrCode } from '../banks/port.ts'
import type { CashOutDetail } from './cash-out.ts'

/**
 * Pix codes that are to be paid: what can be told from the code alone, and what the bank's decoding adds. Pure; an
 * address inside a code is never called.
 */

/** A code that was read. */
export interface PixCode {
  /** Without outer white space. */
  readonly text: string
  /** A dynamic code is paid once; a static one as often as one likes. */
  readonly exclusiveKey: string | null
  /** What a static code asks for; `null` where that is for its bank or the payer to say. */
  readonly valueCents: bigint | null
  /**
   * @throws pix_code_not_payable · pix_code_value_mismatch (422)
   * @source rules#cash-out.qrcode.2
   */
  assertPayable(asked: Asked): void
}

/** What the client says about the payment; `null` where it says nothing. */
export interface Asked {
  readonly valueCents: bigint | null
  readonly document: string | null
}

/**
 * Reads a code.
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

/** The amount in a dynamic code counts for nothing: its bank's answer does. */
function assertPayable(code: BrCode, { valueCents }: Asked): void {
  if (code.kind === 'recurrence') throw notPayable('recurrence_only', 'the code offers a recurrence and no payment')
  if (code.kind === 'withdrawal') throw notPayable('withdrawal', 'the code is a Pix Saque')
  if (code.kind === 'static') agreedValue(code.amountCents, valueCents)
}

/**
 * What is paid for a code.
 * @throws pix_code_not_payable · pix_code_value_mismatch · invalid_document (422)
 * @source rules#cash-out.qrcode.4, rules#cash-out.qrcode.7
 */
export function payableOf(code: PixCode, decoded: QrCode, asked: Asked, now: number) {
  if (decoded.status !== 'ACTIVE') throw notPayable(decoded.status.toLowerCase(), `the code is ${decoded.status}`)
  if (decoded.expiresAt !== undefined && decoded.expiresAt <= now) throw notPayable('expired', 'the code has expired')
  const { name, document: told, pixKey: spelled } = decoded.recipient
  assertSameDocument(told, asked.document)
  // A bank that masks it tells less than the client, whose document fits what is shown.
  const document = normaliseDocument(told) ?? normaliseDocument(asked.document ?? '')
  const pixKey = normaliseUntypedPixKey(spelled, document ?? strangerTo(spelled, told))
  if (pixKey === null) throw notPayable('pix_key', 'the code pays a text that is no Pix key')
  const detail: Pick<CashOutDetail, 'recipient' | 'qrCode'> = {
    recipient: { name, document, pixKey, pixKeyType: null },
    qrCode: { pixCode: code.text, decodeId: decoded.decodeId },
  }
  return { valueCents: agreedValue(decoded.valueCents, code.valueCents ?? asked.valueCents), detail }
}

/** A given document must be the recipient's. @source rules#cash-out.qrcode.5 */
function assertSameDocument(told: string, asked: string | null): void {
  if (asked === null) return
  const message = 'recipient.document is not that of the recipient of the code'
  if (normaliseDocument(asked) === null) throw new Refusal('invalid_document', fault('invalid_document', message))
  const document = normaliseDocument(asked) ?? ''
  if (normaliseDocument(told) !== document && !isMaskOf(told, document)) {
    throw new Refusal('pix_code_not_payable', { message, ...fault('other_recipient', message) })
  }
}

/** Fewer characters than a bank shows of a CPF (`***.123.456-**`) tell too little. */
const SHOWN_MIN = 6

/** Whether a document that a bank masks may be this one: all that it shows is the same, place by place. */
function isMaskOf(told: string, document: string): boolean {
  const shown = placesOf(told).filter((place) => place !== '*')
  return fits(told, document) && shown.length >= SHOWN_MIN
}

function fits(masked: string, document: string): boolean {
  const places = placesOf(masked)
  return places.length === document.length && places.every((place, at) => place === '*' || place === document[at])
}

function placesOf(masked: string): string[] {
  return [...masked.replaceAll(/[.\-/\s]/g, '')]
}

/** A masked document that cannot be the one that a key may be; `null`: it can, or nobody tells one. */
function strangerTo(spelledKey: string, told: string): string | null {
  const document = normaliseDocument(spelledKey)
  return told.includes('*') && document !== null && !fits(told, document) ? told : null
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
