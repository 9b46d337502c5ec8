import {
  type BrCode,
  BrCodeError,
  type BrCodeMerchant,
  type BrCodeRefusal,
  checkEnvelope,
  isLocation,
  type LengthUnit,
  NO_TXID,
  PIX_GUI,
  PIX_TAG,
  type PixKeyBrCode,
  parseAmount,
  parseStructure,
  type StaticBrCode,
  type Structure,
  TAG,
  type Tlv,
  type TlvObject,
  TXID_TAG,
  type WithdrawalBrCode,
} from './br-code.ts'

/**
 * Reads a Pix code as it was pasted or scanned: lenient about what issuers really write, strict about everything that
 * could mean another payment. Does no I/O; the URL of a dynamic code is returned, never fetched.
 * @throws BrCodeError with the reason; the README lists them
 * @source BCB, Manual do BR Code; BCB, Manual de Padrões para Iniciação do Pix §2.6 and §2.7
 */
export function parseBrCode(text: string): BrCode {
  const code = text.trim()
  checkEnvelope(code)
  try {
    return readCode(parseStructure(code, 'characters'))
  } catch (error) {
    const brCode = readWhereFitting(code, 'UTF-16 units') ?? readWhereFitting(code, 'bytes')
    if (brCode) return brCode
    throw error // by characters, as the standard counts
  }
}

function readWhereFitting(code: string, unit: LengthUnit): BrCode | undefined {
  try {
    return readCode(parseStructure(code, unit))
  } catch {
    return undefined
  }
}

function readCode({ fields, templates }: Structure): BrCode {
  expectForm(required(fields, TAG.currency), /^986$/, 'currency_not_brl', 'is not 986, the Brazilian real')
  expectForm(required(fields, TAG.country), /^BR$/, 'country_not_br', 'is not BR')

  const account = onlyPixTemplate(templates, '26', '51', 'two_pix_accounts')
  if (!account) throw new BrCodeError('pix_account_missing', 'None of the objects 26 to 51 is a Pix account')
  const key = account.get(PIX_TAG.key)
  const url = account.get(PIX_TAG.url)
  if (key && url) throw refuse('key_and_url', url, 'stands beside a Pix key; a code has one of the two')
  const recurrence = onlyPixTemplate(templates, '80', '99', 'two_recurrences')?.get(PIX_TAG.url)

  const merchant = readMerchant(fields)
  const recurrenceUrl = recurrence && readLocation(recurrence)
  const offer = optional('recurrenceUrl', recurrenceUrl)
  if (key) return { ...readPurpose(account, fields), ...readKey(key, account, templates), ...offer, ...merchant }
  if (url) return { kind: 'dynamic', url: readLocation(url), ...offer, ...merchant }
  if (recurrenceUrl) return { kind: 'recurrence', recurrenceUrl, ...merchant }
  throw new BrCodeError('key_or_url_missing', 'The Pix account has neither a key nor a URL')
}

/** Templates of other arrangements, under a GUI of their own, may stand beside Pix's. */
function onlyPixTemplate(
  templates: Structure['templates'],
  firstId: string,
  lastId: string,
  reasonForTwo: BrCodeRefusal,
): Tlv | undefined {
  let found: Tlv | undefined
  for (const [id, template] of templates) {
    const gui = template.get(PIX_TAG.gui)
    if (id < firstId || id > lastId || gui?.value.toLowerCase() !== PIX_GUI) continue
    if (found) throw refuse(reasonForTwo, gui, 'marks a second Pix template')
    found = template
  }
  return found
}

/** Who hands out cash makes it a Pix Saque, which may say zero; elsewhere zero is an amount nobody can pay. */
function readPurpose(
  account: Tlv,
  fields: Tlv,
): Omit<StaticBrCode, keyof PixKeyBrCode> | Omit<WithdrawalBrCode, keyof PixKeyBrCode> {
  const amount = fields.get(TAG.amount)
  const amountCents = amount && readAmount(amount)
  const facilitator = account.get(PIX_TAG.withdrawalFacilitator)
  if (facilitator) {
    expectForm(facilitator, /^[0-9A-Z]{8}$/, 'field_malformed', 'is not an ISPB')
    return {
      kind: 'withdrawal',
      withdrawalFacilitatorIspb: facilitator.value,
      ...optional('amountCents', amountCents),
    }
  }
  if (amount && amountCents === 0n) throw refuse('amount_zero', amount, 'is an amount of zero')
  return { kind: 'static', ...optional('amountCents', amountCents) }
}

function readAmount(amount: TlvObject): bigint {
  const amountCents = parseAmount(amount.value)
  if (amountCents === undefined) throw refuse('amount_malformed', amount, 'is not an amount in reais')
  return amountCents
}

function readKey(
  key: TlvObject,
  account: Tlv,
  templates: Structure['templates'],
): Pick<PixKeyBrCode, 'pixKey' | 'txid' | 'additionalInformation'> {
  const txid = templates.get(TAG.additionalData)?.get(TXID_TAG)?.value
  return {
    pixKey: key.value,
    ...optional('txid', txid === NO_TXID ? undefined : txid),
    ...optional('additionalInformation', account.get(PIX_TAG.additionalInformation)?.value),
  }
}

function readLocation(url: TlvObject): string {
  if (!isLocation(url.value)) throw refuse('url_malformed', url, 'is not a host and a path without a scheme')
  return url.value
}

function readMerchant(fields: Tlv): BrCodeMerchant {
  const merchantCategoryCode = required(fields, TAG.merchantCategoryCode)
  expectForm(merchantCategoryCode, /^\d{4}$/, 'field_malformed', 'is not four digits')
  return {
    merchantName: required(fields, TAG.merchantName).value,
    merchantCity: required(fields, TAG.merchantCity).value,
    merchantCategoryCode: merchantCategoryCode.value,
    ...optional('postalCode', fields.get(TAG.postalCode)?.value),
    ...optional('pointOfInitiation', readPointOfInitiation(fields.get(TAG.pointOfInitiation))),
  }
}

function readPointOfInitiation(object: TlvObject | undefined): '11' | '12' | undefined {
  if (!object) return undefined
  const { value } = object
  if (value === '11' || value === '12') return value
  throw refuse('field_malformed', object, 'is neither 11 nor 12')
}

function required(fields: Tlv, id: string): TlvObject {
  const object = fields.get(id)
  if (!object) throw new BrCodeError('field_missing', `Object ${id} is missing`, { field: id })
  return object
}

function expectForm(object: TlvObject, form: RegExp, reason: BrCodeRefusal, fault: string): void {
  if (!form.test(object.value)) throw refuse(reason, object, fault)
}

function refuse(reason: BrCodeRefusal, { path, position }: TlvObject, fault: string): BrCodeError {
  return new BrCodeError(reason, `Object ${path} ${fault}`, { field: path, position })
}

/** A key for what is there, none for what is not. */
function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]?: Value })
}
