import assert from 'node:assert/strict'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { HIDDEN_CHARACTER } from '@pixgate/spec'
import fc from 'fast-check'
import { excerptOf } from '../../src/webhooks/send.ts'

const SENT = Buffer.from('{"event_type":"pix_cash_in","event":{"id":"a","payer_name":"João \\"Zé\\" da Silva"}}')

function excerpt(text: string | Uint8Array): string | null {
  return excerptOf(Buffer.from(text), SENT)
}

test('[webhooks.17] an answer is shown in one line, without what nobody sees', () => {
  assert.equal(excerpt('<h1>Server\r\n\tError</h1>\u0000\u202e'), '<h1>Server Error</h1>')
  assert.equal(excerpt('  '), null)
  assert.equal(excerpt(''), null)
})

test('[webhooks.17] no more than 256 characters are kept, and none of them is half of one', () => {
  assert.equal(excerpt('ab '.repeat(300))?.length, 256)
  assert.equal([...(excerpt('💸'.repeat(255)) ?? '')].length, 255)
  assert.equal(excerpt(Buffer.from('não é💸').subarray(0, -2)), 'não é', 'a character that was cut off is left out')
  assert.equal(excerpt(Buffer.from('usuário inválido', 'latin1')), 'usuário inválido')
})

test('[webhooks.17] no half of a character is left where something beside it was left out', () => {
  const kept = excerpt(`${'🙂'.repeat(32)}b@x`) ?? ''
  assert.ok(kept.isWellFormed(), JSON.stringify(kept))
  assert.ok(excerpt(`${'🙂'.repeat(200)}b@x${'🙂'.repeat(200)}`)?.isWellFormed())
})

test('[webhooks.17] what is no text is not kept', () => {
  assert.equal(excerpt(gzipSync('a page that was compressed, whoever asked for it')), null)
  assert.equal(excerpt(Buffer.alloc(100)), null)
})

test('[webhooks.17] secrets, and what belongs to a person, are left out', () => {
  for (const [answered, kept] of [
    ['Authorization: Bearer abc.def', 'Authorization: ***'],
    ['got Bearer abc.def.ghi', 'got Bearer ***'],
    ['{"token":"s3cr3t-value"}', '{"token":"***"}'],
    ['senha=hunter22 errada', 'senha=*** errada'],
    ['key sk_live_51H8xGq2eZvKYlo2C0aB', 'key ***'],
    ['CPF 529.982.247-25 recusado', 'CPF *** recusado'],
    ['cnpj 11222333000181', 'cnpj ***'],
    ['ligue +55 11 98765-4321', 'ligue +***'],
    ['fale com joao@example.com', 'fale com ***'],
    ['obrigado, João "Zé" da Silva!', 'obrigado, ***!'],
    ['obrigado, JOÃO "ZÉ" da silva!', 'obrigado, ***!'],
    ['obrigado, João "Zé" da Silva!'.normalize('NFD'), 'obrigado, ***!'],
    [SENT.toString(), '{"event_type":"pix_cash_in","event":{"id":"a","payer_name":"***"}}'],
  ] as const) {
    assert.equal(excerpt(answered), kept)
  }
})

/** As PHP and Python write a text in JSON by default: in ASCII, and PHP with the slashes escaped. */
function escaped(text: string): string {
  const ascii = JSON.stringify(text).replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return ascii.replaceAll('/', '\\/')
}

test('[webhooks.17] so are they where an answer writes them with the escapes of JSON, once or twice', () => {
  for (const [answered, kept] of [
    ['obrigado, João "Zé" da Silva!', 'obrigado, ***!'],
    [SENT.toString(), '{"event_type":"pix_cash_in","event":{"id":"a","payer_name":"***"}}'],
    ['{"token":"s3cr3t-value"}', '{"token":"***"}'],
    ['fale com joão@exemplo.com.br', 'fale com ***'],
    ['a 💸 that was paid', 'a 💸 that was paid'],
  ] as const) {
    assert.equal(excerpt(escaped(answered)), `"${kept}"`)
    assert.equal(excerpt(escaped(escaped(answered))), `""${kept}""`)
  }
  assert.equal(
    excerpt('{"mail":"joao\\u0040example.com","x":"\\u202e\\u0000hidden\\ud800"}'),
    '{"mail":"***","x":" hidden "}',
  )
})

test('[webhooks.17] a name is found as it is, whatever characters it has', () => {
  for (const [name, kept] of [
    ['A. (B) [C] {D} $1 ^|\\ *+?/-', 'got *** here'],
    [' ', 'got here'],
  ] as const) {
    const sent = Buffer.from(JSON.stringify({ event: { payer_name: name } }))
    assert.equal(excerptOf(Buffer.from(`got ${name} here`), sent), kept)
  }
})

test('[webhooks.17] what helps to find the fault stays', () => {
  for (const answered of [
    'Internal Server Error at 2026-11-21T13:12:00Z',
    'at 2026-11-21 13:12:00 the token expired',
    'order 0198c0de-7a11-7000-8000-5f1d3c2b1a09 is unknown',
    String.raw`Class App\Http\FooController not found in C:\new\tax\file.php`,
    'Undefined array key "external_id" in /var/www/html/app/Http/Controllers/PixController.php on line 42',
  ]) {
    assert.equal(excerpt(answered), answered)
  }
})

test('[webhooks.17] whatever comes, it is short, has nothing hidden and throws nothing', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1_024 }), (bytes) => {
      const shown = excerptOf(bytes, SENT)
      if (shown === null) return
      assert.ok([...shown].length <= 256)
      assert.equal(shown.replace(HIDDEN_CHARACTER, ''), shown)
    }),
  )
})
