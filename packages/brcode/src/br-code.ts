/** Fields that every code has. Names may be longer than the 25 and 15 characters of the manual. */
export interface BrCodeMerchant {
  readonly merchantName: string
  readonly merchantCity: string
  /** ISO 18245, four digits; `0000` where the merchant has none. */
  readonly merchantCategoryCode: string
  readonly postalCode?: string
  /** `11` reusable, `12` once. Advisory: tell static and dynamic apart by `kind`. */
  readonly pointOfInitiation?: '11' | '12'
}

/** Fields of every code with a Pix key. */
export interface PixKeyBrCode extends BrCodeMerchant {
  /** As written, of any key type; neither normalised nor checked. */
  readonly pixKey: string
  /** As written; absent for `***`. Not always the `[A-Za-z0-9]{1,25}` of the manual. */
  readonly txid?: string
  readonly additionalInformation?: string
  /** Offers a Pix Automático besides the payment. */
  readonly recurrenceUrl?: string
}

/** Pays to a Pix key. Reusable and without expiry, whatever `pointOfInitiation` says. */
export interface StaticBrCode extends PixKeyBrCode {
  readonly kind: 'static'
  /** Centavos, more than zero; absent where the payer chooses. */
  readonly amountCents?: bigint
}

/** A Pix Saque: pays to a Pix key to be handed cash there, which only a person at the counter can take. */
export interface WithdrawalBrCode extends PixKeyBrCode {
  readonly kind: 'withdrawal'
  readonly withdrawalFacilitatorIspb: string
  /** Centavos, zero or more. */
  readonly amountCents?: bigint
}

/**
 * Points to a charge; amount, txid and expiry are what the URL answers, never what the code says besides. Whether the
 * charge is a Pix Saque or a Pix Troco, too, only the URL's answer says.
 */
export interface DynamicBrCode extends BrCodeMerchant {
  readonly kind: 'dynamic'
  /** Without scheme; the payer's institution adds `https://`. */
  readonly url: string
  /** Offers a Pix Automático besides the payment. */
  readonly recurrenceUrl?: string
}

/** Offers a Pix Automático and no payment. */
export interface RecurrenceBrCode extends BrCodeMerchant {
  readonly kind: 'recurrence'
  /** Without scheme. */
  readonly recurrenceUrl: string
}

/** A Pix code that was read. `static` and `dynamic` are payments; `withdrawal` and `recurrence` ask for something else. */
export type BrCode = StaticBrCode | DynamicBrCode | WithdrawalBrCode | RecurrenceBrCode

/**
 * Why a code was refused, or why one cannot be built. Stable: safe to store, to branch on and to translate.
 * The README has one row for each.
 */
export type BrCodeRefusal =
  | 'too_long'
  | 'invalid_characters'
  | 'payload_format_missing'
  | 'crc_missing'
  | 'crc_mismatch'
  | 'malformed_tlv'
  | 'length_overrun'
  | 'duplicate_field'
  | 'field_missing'
  | 'field_malformed'
  | 'pix_account_missing'
  | 'two_pix_accounts'
  | 'two_recurrences'
  | 'key_and_url'
  | 'key_or_url_missing'
  | 'url_malformed'
  | 'currency_not_brl'
  | 'country_not_br'
  | 'amount_malformed'
  | 'amount_zero'

/** Where the fault is; what is unknown or has no place stays out. */
export interface BrCodeFault {
  /** Reading: ids from the outside in, as `54` or `26-01`. Building: the name of the option, as `txid`. */
  readonly field?: string | undefined
  /** Reading only: index into the code without its outer white space. */
  readonly position?: number | undefined
}

/**
 * The only error this package throws on purpose. `message` is English, names field and position, and never repeats
 * what the code holds (a Pix key is personal data), so it may be logged.
 */
export class BrCodeError extends Error {
  override readonly name = 'BrCodeError'
  readonly reason: BrCodeRefusal
  readonly field: string | undefined
  readonly position: number | undefined

  constructor(reason: BrCodeRefusal, explanation: string, { field, position }: BrCodeFault = {}) {
    super(position === undefined ? explanation : `${explanation} (position ${position})`)
    this.reason = reason
    this.field = field
    this.position = position
  }
}

/** Ids of the objects of a BR Code. @source BCB, Manual do BR Code */
export const TAG = {
  payloadFormat: '00',
  pointOfInitiation: '01',
  pixAccount: '26',
  merchantCategoryCode: '52',
  currency: '53',
  amount: '54',
  country: '58',
  merchantName: '59',
  merchantCity: '60',
  postalCode: '61',
  additionalData: '62',
  crc: '63',
} as const

/** Ids within a Pix template: the account (26–51) and the recurrence (80–99). */
export const PIX_TAG = {
  gui: '00',
  key: '01',
  additionalInformation: '02',
  withdrawalFacilitator: '03',
  url: '25',
} as const

/** Id of the txid within the additional data (62). */
export const TXID_TAG = '05'

/** Placeholder for a missing txid. */
export const NO_TXID = '***'

/** Marks a template as Pix's; read in any case. */
export const PIX_GUI = 'br.gov.bcb.pix'

/**
 * Object 54 in centavos. Besides `10.50` the forms EMV allows and issuers write: `10`, `10.`, `10.5`.
 * Undefined where the text is none of them.
 */
export function parseAmount(text: string): bigint | undefined {
  const [, reais, centavos = ''] = /^(\d{1,10})(?:\.(\d{0,2}))?$/.exec(text) ?? []
  return reais === undefined ? undefined : BigInt(reais + centavos.padEnd(2, '0'))
}

/**
 * Centavos as `\d{1,10}\.\d{2}`: 1n … 999,999,999,999n.
 * @throws BrCodeError amount_zero · amount_malformed (negative, or too large to be written)
 */
export function formatAmount(amountCents: bigint): string {
  const field = 'amountCents'
  if (amountCents === 0n) throw new BrCodeError('amount_zero', 'The amount must be greater than zero', { field })
  const digits = String(amountCents).padStart(3, '0')
  const amount = `${digits.slice(0, -2)}.${digits.slice(-2)}`
  if (!/^\d{1,10}\.\d{2}$/.test(amount)) {
    throw new BrCodeError('amount_malformed', 'The amount must be between 0.01 and 9999999999.99', { field })
  }
  return amount
}

/**
 * CRC-16/CCITT-FALSE (polynomial 0x1021, start 0xFFFF, not reflected) over the UTF-8 bytes of `text`, as four
 * upper-case hex digits, zeros in front kept: `crc16('123456789') === '29B1'`. A BR Code's CRC covers everything up
 * to and including `6304`.
 * @source BCB, Manual do BR Code (object 63)
 */
export function crc16(text: string): string {
  let crc = 0xffff
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
    crc &= 0xffff
  }
  return crc.toString(16).toUpperCase().padStart(4, '0')
}

/**
 * Whether `text` is what object 25 holds: a host with a dot, perhaps a port, and a path, without a scheme (the payer
 * adds `https://`). A shape only: it says nothing about where the host leads.
 * @source BCB, Manual de Padrões para Iniciação do Pix §2.7
 */
export function isLocation(text: string): boolean {
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d{1,5})?\/[!-~]+$/i.test(text)
}

/** One object: two digits of id, two of length (01–99), then the value. */
export interface TlvObject {
  /** Ids from the outside in: `54`, `26-01`. */
  readonly path: string
  readonly value: string
  /** Index of the value's first character in the whole code. */
  readonly position: number
}

/** The objects of a code or of a template, by id, in the order they were written. */
export type Tlv = ReadonlyMap<string, TlvObject>

/**
 * Unit of a length. EMV counts characters; some issuers count UTF-8 bytes, which differs outside ASCII only, and
 * some languages count an emoji as the two UTF-16 units it takes.
 */
export type LengthUnit = 'characters' | 'UTF-16 units' | 'bytes'

/**
 * Splits a code, or the template `parent`, into its objects.
 * @throws BrCodeError malformed_tlv · length_overrun · duplicate_field
 * @source EMVCo, QR Code Specification for Payment Systems: Merchant-Presented Mode
 */
export function parseTlv(text: string, unit: LengthUnit, parent?: TlvObject): Tlv {
  const objects = new Map<string, TlvObject>()
  let at = 0
  while (at < text.length) {
    const position = (parent?.position ?? 0) + at
    const [, id, length] = /^(\d\d)(\d\d)$/.exec(text.slice(at, at + 4)) ?? []
    if (id === undefined) {
      const explanation = 'Expected two digits of id and two of length'
      throw new BrCodeError('malformed_tlv', explanation, { field: parent?.path, position })
    }
    const path = parent ? `${parent.path}-${id}` : id
    const fault = { field: path, position }
    if (length === '00') throw new BrCodeError('malformed_tlv', `Object ${path} is empty`, fault)
    if (objects.has(id)) throw new BrCodeError('duplicate_field', `Object ${path} occurs twice`, fault)
    const end = endOfValue(text, at + 4, Number(length), unit)
    if (end === undefined) {
      throw new BrCodeError('length_overrun', `Object ${path} claims ${length} ${unit}, more than there are`, fault)
    }
    objects.set(id, { path, value: text.slice(at + 4, end), position: position + 4 })
    at = end
  }
  return objects
}

/**
 * Writes one object; an absent value writes nothing.
 * @throws BrCodeError field_malformed: the value is not 1–99 characters of printable ASCII, where all ways of counting
 *   agree
 */
export function formatTlv(id: string, value: string | undefined): string {
  if (value === undefined) return ''
  if (!/^[ -~]{1,99}$/.test(value)) {
    throw new BrCodeError('field_malformed', `Object ${id} is not 1–99 characters of printable ASCII`, { field: id })
  }
  return id + String(value.length).padStart(2, '0') + value
}

/** Index just after a value of `length` units, or undefined where the text ends too early or inside a character. */
function endOfValue(text: string, start: number, length: number, unit: LengthUnit): number | undefined {
  let end = start
  let missing = length
  for (const character of text.slice(start)) {
    if (missing <= 0) break
    missing -= UNITS_IN[unit](character)
    end += character.length
  }
  return missing === 0 ? end : undefined
}

const UNITS_IN: Record<LengthUnit, (character: string) => number> = {
  characters: () => 1,
  'UTF-16 units': (character) => character.length,
  bytes: (character) => new TextEncoder().encode(character).length,
}

/** A code taken apart: its objects, and the objects within those that are templates, each by id. */
export interface Structure {
  readonly fields: Tlv
  readonly templates: ReadonlyMap<string, Tlv>
}

const MAX_CHARACTERS = 512

/**
 * Checks before any object is read: the cheap ones, and the CRC, which covers all the rest.
 * @throws BrCodeError too_long · invalid_characters · payload_format_missing · crc_missing · crc_mismatch
 * @source BCB, Manual do BR Code
 */
export function checkEnvelope(code: string): void {
  if (code.length > MAX_CHARACTERS) {
    throw new BrCodeError('too_long', `A code has at most ${MAX_CHARACTERS} characters`, { position: MAX_CHARACTERS })
  }
  // Control and invisible characters, line breaks, halves of surrogate pairs: no issuer writes them.
  const unfit = code.search(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
  if (unfit >= 0) {
    throw new BrCodeError('invalid_characters', 'A control or invisible character', { position: unfit })
  }
  if (!code.startsWith('000201')) {
    throw new BrCodeError('payload_format_missing', 'A code begins with 000201', {
      field: TAG.payloadFormat,
      position: 0,
    })
  }
  if (!/6304[0-9A-F]{4}$/i.test(code)) throw crcMissing(code)
  if (crc16(code.slice(0, -4)) !== code.slice(-4).toUpperCase()) {
    throw new BrCodeError('crc_mismatch', 'The CRC does not match: the code was changed or mistyped', {
      field: TAG.crc,
      position: code.length - 4,
    })
  }
}

/**
 * Takes a code apart, without asking what it pays.
 * @throws BrCodeError malformed_tlv · length_overrun · duplicate_field · crc_missing
 * @source BCB, Manual do BR Code
 */
export function parseStructure(code: string, unit: LengthUnit): Structure {
  const fields = parseTlv(code, unit)
  if (fields.get(TAG.crc)?.position !== code.length - 4) throw crcMissing(code)
  const templates = new Map<string, Tlv>()
  for (const [id, object] of fields) {
    if (isTemplate(id)) templates.set(id, parseTlv(object.value, unit, object))
  }
  return { fields, templates }
}

/** The templates Pix uses. 64, the merchant's name in another language, is one too, but nothing in it is read. */
function isTemplate(id: string): boolean {
  return (id >= '26' && id <= '51') || id === TAG.additionalData || id >= '80'
}

function crcMissing(code: string): BrCodeError {
  return new BrCodeError('crc_missing', 'A code ends with 6304 and four hex digits: this one may be cut off', {
    field: TAG.crc,
    position: code.length,
  })
}
