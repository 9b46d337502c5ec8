import { parseAmount } from './amount.ts'
import type { BrCode, BrCodeMerchant, StaticBrCode } from './br-code.ts'
import { BrCodeError, type BrCodeRefusal } from './br-code-error.ts'
import { crc16 } from './crc.ts'
import { isLocation } from './location.ts'
import { NO_TXID, PIX_GUI, PIX_TAG, TAG, TXID_TAG } from './tags.ts'
import { type LengthUnit, parseTlv, type Tlv, type TlvObject } from './tlv.ts'

const MAX_CHARACTERS = 512

/**
 * Reads a Pix code as it was pasted or scanned: lenient about what issuers really write, strict about everything that
 * could mean another payment. Does no I/O; the URL of a dynamic code is returned, never fetched.
 * @throws BrCodeError with the reason; the README lists them
 * @source decisions#12; BCB, Manual do BR Code; BCB, Manual de Padrões para Iniciação do Pix §2.6 and §2.7
 */
export function parseBrCode(text: string): BrCode {
  const code = text.trim()
  checkEnvelope(code)
  const { fields, templates } = parseObjects(code)

  expectValue(fields, TAG.currency, '986', 'currency_not_brl')
  expectValue(fields, TAG.country, 'BR', 'country_not_br')
  const account = onlyPixTemplate(templates, '26', '51', 'two_pix_accounts')
  if (!account) throw new BrCodeError('pix_account_missing', 'None of the objects 26 to 51 is a Pix account')
  const key = account.get(PIX_TAG.key)
  const url = account.get(PIX_TAG.url)
  if (key && url) throw refuse('key_and_url', url, 'stands beside a Pix key; a code has one of the two')

  const recurrence = onlyPixTemplate(templates, '80', '99', 'two_recurrences')?.get(PIX_TAG.url)
  const recurrenceUrl = recurrence && readLocation(recurrence)
  const offered = { ...optional('recurrenceUrl', recurrenceUrl), ...readMerchant(fields) }
  if (key) return { ...readStatic(key, account, fields, templates), ...offered }
  if (url) return { kind: 'dynamic', url: readLocation(url), ...offered }
  if (recurrenceUrl) return { kind: 'recurrence', ...offered, recurrenceUrl }
  throw new BrCodeError('key_or_url_missing', 'The Pix account has neither a key nor a URL')
}

/** What can be said before any object is read: the cheap checks, and the CRC, which vouches for all the rest. */
function checkEnvelope(code: string): void {
  if (code.length > MAX_CHARACTERS) {
    throw new BrCodeError('too_long', `A code has at most ${MAX_CHARACTERS} characters`, { position: MAX_CHARACTERS })
  }
  // Control and invisible characters and halves of surrogate pairs: no issuer writes them, and they hide or break text.
  const unfit = code.search(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
  if (unfit >= 0) throw new BrCodeError('invalid_characters', 'An invisible character', { position: unfit })
  if (!code.startsWith('000201')) {
    throw new BrCodeError('payload_format_missing', 'A code begins with 000201', { field: '00', position: 0 })
  }
  if (!/6304[0-9A-F]{4}$/i.test(code)) throw crcMissing(code)
  if (crc16(code.slice(0, -4)) !== code.slice(-4).toUpperCase()) {
    throw new BrCodeError('crc_mismatch', 'The CRC does not match: the code was changed or mistyped', {
      field: TAG.crc,
      position: code.length - 4,
    })
  }
}

function crcMissing(code: string): BrCodeError {
  const fault = { field: TAG.crc, position: code.length }
  return new BrCodeError('crc_missing', 'A code ends with 6304 and four hex digits: this one may be cut off', fault)
}

interface Objects {
  readonly fields: Tlv
  readonly templates: ReadonlyMap<string, Tlv>
}

/** Lengths in characters, or else in bytes; if neither fits, what is wrong by characters, as the standard counts. */
function parseObjects(code: string): Objects {
  try {
    return parseObjectsBy('characters', code)
  } catch (error) {
    try {
      return parseObjectsBy('bytes', code)
    } catch {
      throw error
    }
  }
}

function parseObjectsBy(unit: LengthUnit, code: string): Objects {
  const fields = parseTlv(code, unit)
  if (fields.get(TAG.crc)?.position !== code.length - 4) throw crcMissing(code)
  const templates = new Map<string, Tlv>()
  for (const [id, object] of fields) {
    if (isTemplate(id)) templates.set(id, parseTlv(object.value, unit, object))
  }
  return { fields, templates }
}

function isTemplate(id: string): boolean {
  return (id >= '26' && id <= '51') || id === TAG.additionalData || id >= '80'
}

/** Templates of other arrangements (their own GUI) may stand beside Pix's. */
function onlyPixTemplate(
  templates: ReadonlyMap<string, Tlv>,
  first: string,
  last: string,
  reasonForTwo: BrCodeRefusal,
): Tlv | undefined {
  let found: Tlv | undefined
  for (const [id, template] of templates) {
    const gui = template.get(PIX_TAG.gui)
    if (id < first || id > last || gui?.value.toLowerCase() !== PIX_GUI) continue
    if (found) throw refuse(reasonForTwo, gui, 'marks a second Pix template')
    found = template
  }
  return found
}

function readStatic(key: TlvObject, account: Tlv, fields: Tlv, templates: ReadonlyMap<string, Tlv>) {
  const withdrawalFacilitator = account.get(PIX_TAG.withdrawalFacilitator)
  if (withdrawalFacilitator) expectForm(withdrawalFacilitator, /^[0-9A-Z]{8}$/, 'field_malformed', 'is not an ISPB')
  const txid = templates.get(TAG.additionalData)?.get(TXID_TAG)?.value
  return {
    kind: 'static',
    pixKey: key.value,
    ...optional('amountCents', readAmount(fields.get(TAG.amount), withdrawalFacilitator !== undefined)),
    ...optional('txid', txid === NO_TXID ? undefined : txid),
    ...optional('additionalInformation', account.get(PIX_TAG.additionalInformation)?.value),
    ...optional('withdrawalFacilitatorIspb', withdrawalFacilitator?.value),
  } as const satisfies Partial<StaticBrCode>
}

/** A Pix Saque without a purchase says zero; in any other code zero is an amount nobody can pay. */
function readAmount(amount: TlvObject | undefined, zeroAllowed: boolean): bigint | undefined {
  if (!amount) return undefined
  const amountCents = parseAmount(amount.value)
  if (amountCents === undefined) throw refuse('amount_malformed', amount, 'is not an amount in reais')
  if (amountCents === 0n && !zeroAllowed) throw refuse('amount_zero', amount, 'is zero')
  return amountCents
}

function readMerchant(fields: Tlv): BrCodeMerchant {
  const merchantCategoryCode = required(fields, TAG.merchantCategoryCode)
  expectForm(merchantCategoryCode, /^\d{4}$/, 'field_malformed', 'is not four digits')
  const pointOfInitiation = fields.get(TAG.pointOfInitiation)
  if (pointOfInitiation) expectForm(pointOfInitiation, /^1[12]$/, 'field_malformed', 'is neither 11 nor 12')
  return {
    merchantName: required(fields, TAG.merchantName).value,
    merchantCity: required(fields, TAG.merchantCity).value,
    merchantCategoryCode: merchantCategoryCode.value,
    ...optional('postalCode', fields.get(TAG.postalCode)?.value),
    ...optional('pointOfInitiation', pointOfInitiation?.value as '11' | '12' | undefined),
  }
}
