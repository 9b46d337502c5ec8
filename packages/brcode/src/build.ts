import {
  BrCodeError,
  crc16,
  formatAmount,
  formatTlv,
  isLocation,
  NO_TXID,
  PIX_GUI,
  PIX_TAG,
  TAG,
  TXID_TAG,
} from './br-code.ts'

/** Who receives. */
export interface MerchantInput {
  /** Accents folded, other characters outside ASCII dropped, cut at 25. */
  readonly merchantName: string
  /** The same, cut at 15. */
  readonly merchantCity: string
  /** ISO 18245, four digits; `0000` by default. */
  readonly merchantCategoryCode?: string | undefined
  /** CEP, eight digits. */
  readonly postalCode?: string | undefined
}

/** Content of a static code. */
export interface StaticBrCodeInput extends MerchantInput {
  /** In the form the DICT keeps: `+5511…`, digits only, lower case. At most 77 characters. */
  readonly pixKey: string
  /** Centavos, 1n … 999,999,999,999n; without it the payer chooses. */
  readonly amountCents?: bigint | undefined
  /** `[A-Za-z0-9]{1,25}` */
  readonly txid?: string | undefined
  /** Folded as the names and cut at what the key leaves: 73 characters less the key's. */
  readonly additionalInformation?: string | undefined
}

/** Content of a dynamic code. */
export interface DynamicBrCodeInput extends MerchantInput {
  /** Where the charge is, without scheme, at most 77 characters: `pix.example.com/qr/v2/…`. */
  readonly url: string
}

/**
 * A reusable code that pays to a key. Nothing can make it expire or be paid only once.
 * @throws BrCodeError field_malformed · field_missing (a name without any ASCII letter left) · amount_zero ·
 *   amount_malformed, each with the option's name as `field`
 * @source BCB, Manual de Padrões para Iniciação do Pix §2.6
 */
export function buildStaticBrCode(input: StaticBrCodeInput): string {
  const { amountCents, txid, additionalInformation = '' } = input
  const pixKey = expectForm('pixKey', input.pixKey, /^[!-~]{1,77}$/)
  if (txid !== undefined) expectForm('txid', txid, /^[A-Za-z0-9]{1,25}$/)
  const account = formatTlv(PIX_TAG.gui, PIX_GUI) + formatTlv(PIX_TAG.key, pixKey)
  const room = Math.max(0, MAX_VALUE - account.length - '0200'.length)
  const information = formatTlv(PIX_TAG.additionalInformation, fold(additionalInformation, room) || undefined)
  const amount = amountCents === undefined ? undefined : formatAmount(amountCents)
  return assemble(input, { account: account + information, amount, txid })
}

/**
 * A code that points to a charge at the receiver's institution; wallets pay it only where that institution's domain is
 * registered with the BCB.
 * @throws BrCodeError url_malformed · field_malformed · field_missing, each with the option's name as `field`
 * @source BCB, Manual de Padrões para Iniciação do Pix §2.7
 */
export function buildDynamicBrCode(input: DynamicBrCodeInput): string {
  const { url } = input
  if (!isLocation(url) || url.length > MAX_LOCATION) {
    throw new BrCodeError('url_malformed', 'url is not a host and a path without a scheme, of at most 77 characters', {
      field: 'url',
    })
  }
  return assemble(input, {
    pointOfInitiation: '12',
    account: formatTlv(PIX_TAG.gui, PIX_GUI) + formatTlv(PIX_TAG.url, url),
  })
}

const MAX_VALUE = 99
const MAX_LOCATION = 77

interface Payment {
  readonly pointOfInitiation?: string
  readonly account: string
  readonly amount?: string | undefined
  readonly txid?: string | undefined
}

function assemble(merchant: MerchantInput, payment: Payment): string {
  const { merchantCategoryCode = '0000', postalCode } = merchant
  expectForm('merchantCategoryCode', merchantCategoryCode, /^\d{4}$/)
  if (postalCode !== undefined) expectForm('postalCode', postalCode, /^\d{8}$/)
  const code = [
    formatTlv(TAG.payloadFormat, '01'),
    formatTlv(TAG.pointOfInitiation, payment.pointOfInitiation),
    formatTlv(TAG.pixAccount, payment.account),
    formatTlv(TAG.merchantCategoryCode, merchantCategoryCode),
    formatTlv(TAG.currency, '986'),
    formatTlv(TAG.amount, payment.amount),
    formatTlv(TAG.country, 'BR'),
    formatTlv(TAG.merchantName, foldName('merchantName', merchant.merchantName, 25)),
    formatTlv(TAG.merchantCity, foldName('merchantCity', merchant.merchantCity, 15)),
    formatTlv(TAG.postalCode, postalCode),
    formatTlv(TAG.additionalData, formatTlv(TXID_TAG, payment.txid ?? NO_TXID)),
    `${TAG.crc}04`,
  ].join('')
  return code + crc16(code)
}

function foldName(field: string, text: string, limit: number): string {
  const name = fold(text, limit)
  if (name === '') throw new BrCodeError('field_missing', `${field} has no printable ASCII character`, { field })
  return name
}

/** «São  Paulo ☕» → «Sao Paulo»: printable ASCII only, so that characters and bytes are the same number. */
function fold(text: string, limit: number): string {
  const ascii = text.normalize('NFD').replace(/[^ -~\s]/g, '')
  return ascii.replace(/\s+/g, ' ').trim().slice(0, limit).trimEnd()
}

function expectForm(field: string, value: string, form: RegExp): string {
  if (!form.test(value)) throw new BrCodeError('field_malformed', `${field} does not match ${form}`, { field })
  return value
}
