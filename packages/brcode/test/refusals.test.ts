import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { BrCodeError, type BrCodeRefusal } from '../src/br-code.ts'
import { parseBrCode } from '../src/parse.ts'
import { codeWith, object, PIX_ACCOUNT, PIX_LOCATION, PIX_RECURRENCE, PUBLISHED, signed } from './codes.ts'

const GUI = object('00', 'br.gov.bcb.pix')
const valid = PUBLISHED.manualStatic
const body = codeWith().slice(0, -8)

/** At least one code for each reason: what is wrong → the code, and the field the error names. */
const REFUSED: Record<BrCodeRefusal, Record<string, readonly [code: string, field: string | undefined]>> = {
  too_long: { 'more than 512 characters': [`${valid}${'0'.repeat(512)}`, undefined] },
  invalid_characters: {
    'a line break': [`${valid.slice(0, 60)}\n${valid.slice(60)}`, undefined],
    'a zero-width space': [codeWith({ '59': 'Fulano\u200bde Tal' }), undefined],
    'a change of writing direction': [codeWith({ '59': 'Fulano \u202elaT ed' }), undefined],
    'half a surrogate pair': [codeWith({ '59': 'Fulano \ud83d' }), undefined],
  },
  payload_format_missing: {
    nothing: ['', '00'],
    'only white space': [' \n', '00'],
    'another text': ['https://example.com/', '00'],
    'another version': [signed(`000202${body.slice(6)}`), '00'],
    'the format not first': [signed(`${body.slice(6)}000201`), '00'],
  },
  crc_missing: {
    'cut off before the CRC': [valid.slice(0, -8), '63'],
    'cut off within the CRC': [valid.slice(0, -1), '63'],
    'not hexadecimal': [`${valid.slice(0, -1)}G`, '63'],
    'only within another value': [signed(`${body}6108`), '63'],
    'not last': [signed(`${body}6304ABCD${object('64', 'x')}${object('65', '6304ABCD', 16)}`), '63'],
  },
  crc_mismatch: {
    'another CRC': [`${valid.slice(0, -4)}1D3E`, '63'],
    'another key': [valid.replace('123e4567', '123e4568'), '63'],
  },
  malformed_tlv: {
    'an id that is no number': [signed(`${body}AB02xy`), undefined],
    'an empty object': [codeWith({ '59': '' }), '59'],
    'a template that holds no objects': [codeWith({ '62': 'abc' }), '62'],
    'an account that holds no objects': [codeWith({ '26': 'pix@example.com' }), '26'],
  },
  length_overrun: {
    'an object longer than the rest': [signed(`${body}6199x`), '61'],
    'an object longer than its template': [codeWith({ '62': '0525ABC' }), '62-05'],
  },
  duplicate_field: {
    'an object twice': [signed(`${body}540510.00540520.00`), '54'],
    'a key twice': [codeWith({ '26': `${PIX_ACCOUNT}${object('01', 'other@example.com')}` }), '26-01'],
    'a CRC twice': [signed(`${body}6304ABCD`), '63'],
  },
  field_missing: {
    'no category': [codeWith({ '52': undefined }), '52'],
    'no currency': [codeWith({ '53': undefined }), '53'],
    'no country': [codeWith({ '58': undefined }), '58'],
    'no name': [codeWith({ '59': undefined }), '59'],
    'no city': [codeWith({ '60': undefined }), '60'],
  },
  field_malformed: {
    'a category of letters': [codeWith({ '52': 'food' }), '52'],
    'an unknown point of initiation': [codeWith({ '01': '13' }), '01'],
    'a facilitator that is no ISPB': [codeWith({ '26': `${PIX_ACCOUNT}${object('03', '1234567')}` }), '26-03'],
  },
  pix_account_missing: {
    'no account at all': [codeWith({ '26': undefined }), undefined],
    'an account of another arrangement': [codeWith({ '26': object('00', 'BR.COM.OUTRO') }), undefined],
    'an account without GUI': [codeWith({ '26': object('01', 'pix@example.com') }), undefined],
    'an account outside 26 to 51': [codeWith({ '26': undefined, '25': PIX_ACCOUNT, '80': PIX_RECURRENCE }), undefined],
  },
  two_pix_accounts: { 'two keys to choose from': [codeWith({ '27': PIX_ACCOUNT }), '27-00'] },
  two_recurrences: { 'two to choose from': [codeWith({ '80': PIX_RECURRENCE, '81': PIX_RECURRENCE }), '81-00'] },
  key_and_url: { 'static and dynamic': [codeWith({ '26': `${PIX_LOCATION}${object('01', 'a@b.com')}` }), '26-25'] },
  key_or_url_missing: { 'an account that names nobody': [codeWith({ '26': GUI }), undefined] },
  url_malformed: {
    'a scheme': [codeWith({ '26': GUI + object('25', 'https://pix.example.com/1') }), '26-25'],
    'no path': [codeWith({ '26': GUI + object('25', 'pix.example.com') }), '26-25'],
    'a space': [codeWith({ '26': GUI + object('25', 'pix.example.com/a b') }), '26-25'],
    'user information': [codeWith({ '26': GUI + object('25', 'pix.example.com@evil.example/1') }), '26-25'],
    'a backslash': [codeWith({ '26': GUI + object('25', 'evil.example\\.pix.example.com/1') }), '26-25'],
    'a host without a dot': [codeWith({ '26': GUI + object('25', 'localhost/1') }), '26-25'],
    'a recurrence with a scheme': [codeWith({ '80': GUI + object('25', 'https://pix.example.com/1') }), '80-25'],
  },
  currency_not_brl: { dollars: [codeWith({ '53': '840' }), '53'] },
  country_not_br: { Portugal: [codeWith({ '58': 'PT' }), '58'] },
  amount_malformed: {
    'a decimal comma': [codeWith({ '54': '10,00' }), '54'],
    'three decimals': [codeWith({ '54': '1.005' }), '54'],
    negative: [codeWith({ '54': '-1.00' }), '54'],
    'too large': [codeWith({ '54': '10000000000.00' }), '54'],
  },
  amount_zero: { 'nothing to pay': [codeWith({ '54': '0.00' }), '54'] },
}

for (const [reason, codes] of Object.entries(REFUSED)) {
  for (const [fault, [code, field]] of Object.entries(codes)) {
    test(`[brcode.refuse.${reason}] ${fault}`, () => {
      assert.throws(
        () => parseBrCode(code),
        (error) => {
          assert(error instanceof BrCodeError)
          assert.deepEqual([error.reason, error.field], [reason, field])
          return true
        },
      )
    })
  }
}

test('[brcode.refuse] an error says where, and does not repeat what the code holds', () => {
  const code = codeWith({ '54': '10,00' })
  assert.throws(() => parseBrCode(`\n${code}`), {
    name: 'BrCodeError',
    message: `Object 54 is not an amount in reais (position ${code.indexOf('10,00')})`,
    position: code.indexOf('10,00'),
  })
})

test('[brcode.refuse] the README has exactly one row for each reason', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, section = ''] = /^## Why a code is refused\n(.*?)^## /ms.exec(readme) ?? []
  const rows = [...section.matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, reason]) => reason)
  assert.deepEqual(rows.toSorted(), Object.keys(REFUSED).toSorted())
})
