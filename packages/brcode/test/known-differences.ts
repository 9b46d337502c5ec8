import { createStaticPix } from 'pix-utils'
import { type BrCode, BrCodeError, type BrCodeRefusal, crc16 } from '../src/br-code.ts'
import { codeWith, object, objectsOf, PIX_ACCOUNT, PIX_LOCATION, PIX_RECURRENCE, signed } from './codes.ts'
import type { Verdict } from './other-libraries.ts'

/** Codes that the libraries do not all treat alike; the README has a row for each. */
export interface KnownDifference {
  readonly codes: string
  readonly verdicts: readonly [here: Verdict, pixUtils: Verdict, emvqr: Verdict]
  readonly because: string
  readonly examples: readonly string[]
  /** Whether a code is one of these, given what it is here. */
  readonly includes: (code: string, here: BrCode | BrCodeError) => boolean
}

/** The one category in these tests that emvqr knows. */
export const GROCERY = '5411'

/** A plain static code that all three read, with some of its objects changed. */
const codeOf = (changes: Record<string, string | undefined> = {}) => codeWith({ '52': GROCERY, ...changes })
const plain = codeOf()
const body = plain.slice(0, -'6304ABCD'.length)
const GUI = object('00', 'br.gov.bcb.pix')
const OTHER_KEY = object('00', 'BR.COM.OUTRO') + object('01', 'other@example.com')
const OTHER_URL = object('00', 'BR.COM.OUTRO') + object('25', 'example.com/1')

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    codes: 'category `0000`',
    verdicts: ['reads', 'reads', 'refuses'],
    because: 'nearly every Pix code has it; emvqr looks categories up in a list without it',
    examples: [codeOf({ '52': '0000' })],
    includes: whereRead((_, { merchantCategoryCode }) => merchantCategoryCode !== GROCERY),
  },
  {
    codes: 'a CRC that begins with `00`',
    verdicts: ['reads', 'reads', 'refuses'],
    because: 'one code in 256; emvqr computes `7F` and finds `007F`',
    examples: [codeWhoseCrc(/^00/)],
    includes: whereRead((code) => code.slice(-4).startsWith('00')),
  },
  {
    codes: 'a CRC in lower case',
    verdicts: ['reads', 'refuses', 'refuses'],
    because: 'some issuers write it; the others compare letters',
    examples: [codeWhoseCrc(/[A-F]/)].map((code) => code.slice(0, -4) + code.slice(-4).toLowerCase()),
    includes: whereRead((code) => /[a-f]/.test(code.slice(-4))),
  },
  {
    codes: '`6304` at the end of the object before the CRC',
    verdicts: ['reads', 'refuses', 'reads'],
    because: 'pix-utils takes it for the CRC',
    examples: [codeOf({ '62': object('05', 'ORDER6304') })],
    includes: whereRead((code) => code.slice(0, -8).endsWith('6304')),
  },
  {
    codes: 'the same, with the CRC that pix-utils writes',
    verdicts: ['refuses', 'reads', 'refuses'],
    because: 'it is wrong: `crc_mismatch`',
    examples: [
      createStaticPix({
        pixKey: 'pix@example.com',
        merchantName: 'Fulano de Tal',
        merchantCity: 'BRASILIA',
        transactionAmount: 1,
        txid: 'ORDER6304',
      })
        .throwIfError()
        .toBRCode(),
    ],
    includes: whereRefused(['crc_mismatch'], (code) => code.slice(0, -8).endsWith('6304')),
  },
  {
    codes: 'outer white space',
    verdicts: ['reads', 'refuses', 'refuses'],
    because: 'codes are pasted; the others leave it to the caller',
    examples: [`${plain}\n`, ` ${plain}`],
    includes: (code) => code !== code.trim(),
  },
  {
    codes: 'lengths in UTF-8 bytes',
    verdicts: ['reads', 'refuses', 'misreads'],
    because: 'some issuers count bytes; emvqr reads `José6` and then nonsense',
    examples: [signed(body.replace('5913Fulano de Tal', object('59', 'José', 5)))],
    includes: whereRead((code) => /[^ -~]/.test(code)),
  },
  {
    codes: 'an emoji counted once',
    verdicts: ['reads', 'refuses', 'refuses'],
    because: 'it is one character; the others count its two UTF-16 units, which is read here, too',
    examples: [signed(body.replace('5913Fulano de Tal', object('59', 'José 🍰', 6)))],
    includes: whereRead((code) => /[\u{10000}-\u{10ffff}]/u.test(code)),
  },
  {
    codes: 'an account of a card network (02 to 25)',
    verdicts: ['reads', 'reads', 'refuses'],
    because: 'the manual’s own example has one; emvqr expects objects within',
    examples: [codeOf({ '04': 'card-4141-1234' })],
    includes: whereRead((code) => idsOf(code).some((id) => id >= '02' && id <= '25')),
  },
  {
    codes: 'the Pix account in 27 to 51',
    verdicts: ['reads', 'refuses', 'reads'],
    because: 'EMV gives Pix no number of its own; pix-utils looks into 26',
    examples: [codeOf({ '26': undefined, '27': PIX_ACCOUNT }), codeOf({ '26': undefined, '51': PIX_LOCATION })],
    includes: whereRead((code) => !isPix(code, '26')),
  },
  {
    codes: 'the same, and a key of another arrangement in 26',
    verdicts: ['reads', 'misreads', 'reads'],
    because: 'pix-utils pays that key: it does not look for `br.gov.bcb.pix`',
    examples: [codeOf({ '26': OTHER_KEY, '27': PIX_ACCOUNT })],
    includes: whereRead((code) => !isPix(code, '26')),
  },
  {
    codes: 'a recurrence in 81 to 99, beside a payment',
    verdicts: ['reads', 'misreads', 'reads'],
    because: 'the same; pix-utils looks into 80 and loses it',
    examples: [codeOf({ '81': PIX_RECURRENCE }), codeOf({ '26': PIX_LOCATION, '99': PIX_RECURRENCE })],
    includes: whereRead((code, here) => here.recurrenceUrl !== undefined && !isPix(code, '80')),
  },
  {
    codes: 'a recurrence in 81 to 99 and no payment',
    verdicts: ['reads', 'refuses', 'reads'],
    because: 'the same',
    examples: [codeOf({ '26': GUI, '81': PIX_RECURRENCE })],
    includes: whereRead((code, { kind }) => kind === 'recurrence' && !isPix(code, '80')),
  },
  {
    codes: 'a URL of another arrangement in 80',
    verdicts: ['reads', 'misreads', 'reads'],
    because: 'pix-utils takes it for a recurrence: it does not look for `br.gov.bcb.pix`',
    examples: [codeOf({ '80': OTHER_URL })],
    includes: whereRead((code) => idsOf(code).includes('80') && !isPix(code, '80')),
  },
  {
    codes: 'a Pix Saque of zero',
    verdicts: ['reads', 'misreads', 'reads'],
    because: 'cash without a purchase; in pix-utils zero and no amount are the same',
    examples: [codeOf({ '26': PIX_ACCOUNT + object('03', '12345678'), '54': '0.00' })],
    includes: whereRead((_, here) => here.kind === 'withdrawal' && here.amountCents === 0n),
  },
  {
    codes: '`too_long` · `invalid_characters`',
    verdicts: ['refuses', 'reads', 'reads'],
    because: 'no issuer writes them; an invisible character hides something',
    examples: [
      signed(body + ['64', '65', '66', '67', '68'].map((id) => object(id, 'x'.repeat(90))).join('')),
      codeOf({ '59': 'Fulano\u200bde Tal' }),
      codeOf({ '59': 'Fulano \u202elaT ed' }),
    ],
    includes: whereRefused(['too_long', 'invalid_characters']),
  },
  {
    codes: '`payload_format_missing`',
    verdicts: ['refuses', 'reads', 'reads'],
    because: 'EMV wants `000201` first',
    examples: [signed(`000202${body.slice(6)}`), signed(`${body.slice(6)}000201`), signed(body.slice(6))],
    includes: whereRefused(['payload_format_missing']),
  },
  {
    codes: '`crc_missing`: its digits in another object',
    verdicts: ['refuses', 'refuses', 'reads'],
    because: 'emvqr compares the last four characters, whatever they are',
    examples: [`${body}6504${crc16(`${body}6504`)}`],
    includes: whereRefused(['crc_missing']),
  },
  {
    codes: '`malformed_tlv`: an id or a length that is not two digits',
    verdicts: ['refuses', 'reads', 'reads'],
    because: 'the others take `6.` and ` 6` for 6',
    examples: [signed(`${body}61 6ABCDEF`), signed(`${body}616.ABCDEF`), signed(`${body}AB02xy`)],
    includes: whereRefused(['malformed_tlv']),
  },
  {
    codes: '`malformed_tlv`: an empty object',
    verdicts: ['refuses', 'refuses', 'reads'],
    because: 'EMV has none',
    examples: [codeOf({ '61': '' })],
    includes: whereRefused(['malformed_tlv']),
  },
  {
    codes: '`length_overrun`',
    verdicts: ['refuses', 'refuses', 'reads'],
    because: 'emvqr takes what there is',
    examples: [codeOf({ '62': '0525ABC' }), codeOf({ '26': `${PIX_ACCOUNT}0299x` })],
    includes: whereRefused(['length_overrun']),
  },
  {
    codes: '`length_overrun` in 27 to 51, 81 to 99 or the 62 of a dynamic code',
    verdicts: ['refuses', 'reads', 'reads'],
    because: 'pix-utils does not look into it',
    examples: [codeOf({ '27': '0099BR.COM.OUTRO' }), codeOf({ '26': PIX_LOCATION, '62': '0525ABC' })],
    includes: whereRefused(['length_overrun'], (_, { field = '' }) => /^(?!26|80)..-/.test(field)),
  },
  {
    codes: '`duplicate_field`',
    verdicts: ['refuses', 'reads', 'reads'],
    because: 'two amounts or keys are two payments; the others take the last',
    examples: [
      signed(`${body}540510.00540520.00`),
      codeOf({ '26': `${PIX_ACCOUNT}${object('01', 'other@example.com')}` }),
    ],
    includes: whereRefused(['duplicate_field']),
  },
  {
    codes: '`field_missing`: category, currency or country',
    verdicts: ['refuses', 'reads', 'reads'],
    because: 'EMV demands them',
    examples: ['52', '53', '58'].map((id) => codeOf({ [id]: undefined })),
    includes: whereRefused(['field_missing'], (_, { field = '' }) => ['52', '53', '58'].includes(field)),
  },
  {
    codes: '`field_missing`: name or city',
    verdicts: ['refuses', 'refuses', 'reads'],
    because: 'EMV demands them',
    examples: ['59', '60'].map((id) => codeOf({ [id]: undefined })),
    includes: whereRefused(['field_missing'], (_, { field = '' }) => ['59', '60'].includes(field)),
  },
  {
    codes: '`field_malformed`: the category',
    verdicts: ['refuses', 'reads', 'refuses'],
    because: 'pix-utils hands on what is written',
    examples: [codeOf({ '52': 'food' })],
    includes: whereRefused(['field_malformed'], (_, { field }) => field === '52'),
  },
  {
    codes: '`field_malformed`: the point of initiation, the facilitator',
    verdicts: ['refuses', 'reads', 'reads'],
    because: 'the others hand on what is written',
    examples: [codeOf({ '01': '13' }), codeOf({ '26': PIX_ACCOUNT + object('03', '1234567') })],
    includes: whereRefused(['field_malformed'], (_, { field }) => field !== '52'),
  },
  {
    codes: '`pix_account_missing` · `two_pix_accounts` · `two_recurrences` · `key_and_url`',
    verdicts: ['refuses', 'reads', 'reads'],
    because: 'it is not clear who is paid; pix-utils pays the key in 26, whatever arrangement it belongs to',
    examples: [
      codeOf({ '26': OTHER_KEY }),
      codeOf({ '27': PIX_ACCOUNT }),
      codeOf({ '80': PIX_RECURRENCE, '81': PIX_RECURRENCE }),
      codeOf({ '26': PIX_LOCATION + object('01', 'pix@example.com') }),
    ],
    includes: whereRefused(['pix_account_missing', 'two_pix_accounts', 'two_recurrences', 'key_and_url']),
  },
  {
    codes: '`key_or_url_missing`',
    verdicts: ['refuses', 'reads', 'reads'],
    because: 'nobody is paid; pix-utils reads it if another arrangement has a URL in 80',
    examples: [codeOf({ '26': GUI, '80': OTHER_URL })],
    includes: whereRefused(['key_or_url_missing']),
  },
  {
    codes: '`url_malformed` · `currency_not_brl` · `country_not_br`',
    verdicts: ['refuses', 'reads', 'reads'],
    because: 'no Pix; the others hand on what is written',
    examples: [
      codeOf({ '26': GUI + object('25', 'https://pix.example.com/1') }),
      codeOf({ '26': GUI + object('25', 'pix.example.com@evil.example/1') }),
      codeOf({ '53': '840' }),
      codeOf({ '58': 'PT' }),
    ],
    includes: whereRefused(['url_malformed', 'currency_not_brl', 'country_not_br']),
  },
  {
    codes: '`amount_malformed` · `amount_zero`',
    verdicts: ['refuses', 'reads', 'reads'],
    because: 'pix-utils takes both for no amount, so that the payer chooses',
    examples: [codeOf({ '54': '10,00' }), codeOf({ '54': '0.00' })],
    includes: whereRefused(['amount_malformed', 'amount_zero']),
  },
]

function whereRead(includes: (code: string, here: BrCode) => boolean): KnownDifference['includes'] {
  return (code, here) => !(here instanceof BrCodeError) && includes(code.trim(), here)
}

function whereRefused(
  reasons: readonly BrCodeRefusal[],
  includes: (code: string, here: BrCodeError) => boolean = () => true,
): KnownDifference['includes'] {
  return (code, here) => here instanceof BrCodeError && reasons.includes(here.reason) && includes(code, here)
}

/** Whether the template `id` is there and Pix's. */
function isPix(code: string, id: string): boolean {
  const template = new Map(objectsOf(code)).get(id)
  return template !== undefined && new Map(objectsOf(template)).get('00')?.toLowerCase() === 'br.gov.bcb.pix'
}

function idsOf(code: string): string[] {
  return objectsOf(code).map(([id]) => id)
}

function codeWhoseCrc(matches: RegExp): string {
  for (let order = 0; ; order += 1) {
    const code = codeOf({ '62': object('05', `ORDER${order}`) })
    if (matches.test(code.slice(-4))) return code
  }
}
