import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { limits } from '../src/limits.ts'
import {
  normalisePixKey,
  normaliseUntypedPixKey,
  type PixKeyType,
  pixKeyTypes,
  readPixKeyType,
} from '../src/pix-key.ts'

/** A key as DICT knows it, and as somebody wrote it. */
interface SpelledKey {
  readonly type: PixKeyType
  readonly key: string
  readonly text: string
}

const types: readonly [string, PixKeyType | null][] = [
  ['cpf', 'cpf'],
  ['CNPJ', 'cnpj'],
  ['Email', 'email'],
  ['PHONE', 'phone'],
  ['evp', 'evp'],
  ['random', 'evp'],
  ['RANDOM', 'evp'],
  ['random_key', 'evp'],
  ['Aleatoria', 'evp'],
  ['chave_aleatoria', 'evp'],
  ['telefone', 'phone'],
  ['CELULAR', 'phone'],
  ['cellphone', 'phone'],
  ['', null],
  ['e-mail', null],
  [' cpf', null],
  ['emaıl', null],
  ['EMAİL', null],
  ['toString', null],
]

for (const [text, type] of types) {
  test(`[pix-key.1] ${JSON.stringify(text)} names ${type ?? 'no type'}`, () => {
    assert.equal(readPixKeyType(text), type)
  })
}

const ruleOf: Readonly<Record<PixKeyType, string>> = {
  cpf: '[pix-key.3]',
  cnpj: '[pix-key.3]',
  email: '[pix-key.4]',
  phone: '[pix-key.5]',
  evp: '[pix-key.6]',
}

const uuid = '123e4567-e12b-12d1-a456-426655440000'
const longestEmail = `${'a'.repeat(limits.pixKeyMaxLength - 7)}@loja.b`

const keys: readonly [PixKeyType, text: string, key: string][] = [
  ['cpf', '529.982.247-25', '52998224725'],
  ['cpf', '52998224725', '52998224725'],
  ['cnpj', '12.abc.345/01de-35', '12ABC34501DE35'],
  ['cnpj', '11222333000181', '11222333000181'],
  ['email', 'Loja@Exemplo.COM.BR', 'loja@exemplo.com.br'],
  ['email', "!#$&'*+/=?^_`{|}~-.@a", "!#$&'*+/=?^_`{|}~-.@a"],
  ['email', longestEmail, longestEmail],
  ['phone', '(11) 99999-8888', '+5511999998888'],
  ['phone', '(11) 9 9999-8888', '+5511999998888'],
  ['phone', '11999998888', '+5511999998888'],
  ['phone', '+55 11 99999-8888', '+5511999998888'],
  ['phone', '+55 (11) 99999-8888', '+5511999998888'],
  ['phone', '5511999998888', '+5511999998888'],
  ['phone', '55999998888', '+5555999998888'],
  ['phone', '5555999998888', '+5555999998888'],
  ['phone', '+12125550123', '+12125550123'],
  ['phone', '+351912345678', '+351912345678'],
  ['evp', uuid, uuid],
  ['evp', uuid.toUpperCase(), uuid],
  ['evp', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'],
]

for (const [type, text, key] of keys) {
  test(`${ruleOf[type]} the ${type} ${JSON.stringify(text)} is ${key}`, () => {
    assert.equal(normalisePixKey(type, text), key)
  })
}

const refused: readonly [PixKeyType, text: string][] = [
  ['cpf', '11999998888'],
  ['cpf', '11222333000181'],
  ['cpf', '52998224724'],
  ['cnpj', '52998224725'],
  ['cnpj', '12ABC34501DE34'],
  ['email', uuid],
  ['email', ''],
  ['email', 'loja'],
  ['email', 'loja@'],
  ['email', '@exemplo.com.br'],
  ['email', 'loja%centro@exemplo.com.br'],
  ['email', 'loja@exemplo..br'],
  ['email', 'loja@-exemplo.br'],
  ['email', 'loja@exemplo_a.br'],
  ['email', `a${longestEmail}`],
  ['email', 'weiß@exemplo.com.br'],
  ['email', 'loja@exemplo.com.br\u0000'],
  ['email', '\u212Aarin@exemplo.com.br'],
  ['phone', '39053344705'],
  ['phone', '1133334444'],
  ['phone', '+551133334444'],
  ['phone', '+55999998888'],
  ['phone', '+55 99999-8888'],
  ['phone', '01999998888'],
  ['phone', '011999998888'],
  ['phone', '+011999998888'],
  ['phone', '(11 99999-8888'],
  ['phone', '119-9999-8888'],
  ['phone', '12125550123'],
  ['phone', '+1 212 555 0123'],
  ['phone', '+1234567890123456'],
  ['phone', '１１９９９９９８８８８'],
  ['phone', '٠١١٩٩٩٩٩٨٨٨٨'],
  ['phone', '11\u00A099999-8888'],
  ['evp', 'loja@exemplo.com.br'],
  ['evp', uuid.replaceAll('-', '')],
  ['evp', `{${uuid}}`],
  ['evp', `urn:uuid:${uuid}`],
  ['evp', uuid.replace('e', 'g')],
]

for (const [type, text] of refused) {
  test(`${ruleOf[type]} ${JSON.stringify(text)} is no key of the type ${type}`, () => {
    assert.equal(normalisePixKey(type, text), null)
  })
}

test('[pix-key.2] every spelling of a key is normalised to the same text, which stays as it is', () => {
  fc.assert(
    fc.property(spelledKey(), ({ type, key, text }) => {
      assert.equal(normalisePixKey(type, text), key)
      assert.equal(normalisePixKey(type, key), key)
    }),
  )
})

test('[pix-key.2] of whatever is written, only printable ASCII within 77 characters becomes a key', () => {
  const anyone = spelledKey().chain(({ text }) => edited(text, fc.string({ unit: 'grapheme', maxLength: 3 })))
  fc.assert(
    fc.property(fc.constantFrom(...pixKeyTypes), anyone, (type, text) => {
      const key = normalisePixKey(type, text)
      if (key === null) return
      assert.match(key, /^[!-~]{1,77}$/)
      assert.equal(normalisePixKey(type, key), key)
    }),
  )
})

test('[pix-key.2] one control character or one beyond ASCII, anywhere, and there is no key', () => {
  const stranger = fc.oneof(
    fc.constantFrom('ß', 'ı', 'İ', 'ſ', '\u212A', 'é', '０', '٠', '－', '＋', '＠', '\u00A0', '\u200B', '\uFEFF'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((text) => !/^[ -~]$/.test(text)),
  )
  const spoiled = spelledKey().chain(({ type, text }) => fc.tuple(fc.constant(type), edited(text, stranger)))
  fc.assert(fc.property(spoiled, ([type, text]) => assert.equal(normalisePixKey(type, text), null)))
})

test('[pix-key.2] white space around a key is refused', () => {
  const space = fc.constantFrom(' ', '\t', '\n', '\r\n', '\u00A0')
  fc.assert(
    fc.property(spelledKey(), space, ({ type, text }, white) => {
      assert.equal(normalisePixKey(type, white + text), null)
      assert.equal(normalisePixKey(type, text + white), null)
    }),
  )
})

test('[pix-key.7] every spelling of a key whose type nobody tells is the text that it is with its type', () => {
  fc.assert(
    fc.property(spelledKey(), ({ type, key, text }) => {
      const holder = type === 'cpf' || type === 'cnpj' ? key : '11222333000181'
      assert.equal(normaliseUntypedPixKey(text, holder), key)
      assert.equal(normaliseUntypedPixKey(key, holder), key)
    }),
  )
})

test('[pix-key.7] eleven digits that are a CPF and a mobile are the CPF, unless somebody else is paid', () => {
  const both = '11987654374'
  assert.deepEqual(
    [normalisePixKey('cpf', both), normalisePixKey('phone', both)],
    [both, `+55${both}`],
    'the example is both',
  )
  assert.equal(normaliseUntypedPixKey(both, both), both)
  assert.equal(normaliseUntypedPixKey(both, null), both)
  assert.equal(normaliseUntypedPixKey(both, '52998224725'), `+55${both}`)
  assert.equal(normaliseUntypedPixKey('11144477735', '11222333000181'), '11144477735', 'no mobile')
  for (const text of ['', 'padaria', ' padaria@example.com', '11987654300-']) {
    assert.equal(normaliseUntypedPixKey(text, null), null)
  }
})

function spelledKey(): fc.Arbitrary<SpelledKey> {
  const cpf = fc
    .stringMatching(/^\d{9}$/)
    .filter((base) => !/^(\d)\1*$/.test(base))
    .map((base) => withCheckDigits(base, 10))
  const cnpj = fc.stringMatching(/^[1-9][0-9A-Z]{10}0$/).map((base) => withCheckDigits(base, 8))
  const mobile = fc.stringMatching(/^[1-9]\d9\d{8}$/)
  const email = fc.stringMatching(/^[a-z0-9.!#$&'*+/=?^_`{|}~-]{1,30}@[a-z0-9]{1,20}(?:\.[a-z0-9]{1,9}){0,2}$/)
  return fc.oneof(
    cpf.chain((key) => spelled('cpf', key, masked(key, /(...)(...)(...)(..)/, ['$1.$2.$3-$4']))),
    cnpj.chain((key) =>
      spelled('cnpj', key, fc.mixedCase(masked(key, /(..)(...)(...)(....)(..)/, ['$1.$2.$3/$4-$5']))),
    ),
    mobile.chain((digits) =>
      spelled(
        'phone',
        `+55${digits}`,
        masked(digits, /(..)(.)(....)(....)/, [
          '+55$1$2$3$4',
          '55$1$2$3$4',
          '+55 $1 $2$3-$4',
          '+55 ($1) $2$3-$4',
          '($1) $2$3-$4',
          '($1) $2 $3-$4',
          '$1 $2$3 $4',
        ]),
      ),
    ),
    email.chain((key) => spelled('email', key, fc.mixedCase(fc.constant(key)))),
    fc.uuid().chain((key) => spelled('evp', key, fc.mixedCase(fc.constant(key)))),
  )
}

function spelled(type: PixKeyType, key: string, texts: fc.Arbitrary<string>): fc.Arbitrary<SpelledKey> {
  return texts.map((text) => ({ type, key, text }))
}

function masked(bare: string, groups: RegExp, masks: readonly string[]): fc.Arbitrary<string> {
  return fc.constantFrom(bare, ...masks.map((mask) => bare.replace(groups, mask)))
}

/** The text with something put in, or put in the place of one of its characters. */
function edited(text: string, put: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(text.length), fc.nat(1), put)
    .map(([at, removed, inserted]) => text.slice(0, at) + inserted + text.slice(at + removed))
}

/** Modulo 11 as the Receita Federal tells it: weights 2, 3, … from the right, beginning again after `period` of them. */
function withCheckDigits(base: string, period: number): string {
  const append = (text: string) => {
    const values = Array.from(text, (character) => character.charCodeAt(0) - 48).reverse()
    const sum = values.reduce((total, value, index) => total + value * (2 + (index % period)), 0)
    return `${text}${((sum * 10) % 11) % 10}`
  }
  return append(append(base))
}
