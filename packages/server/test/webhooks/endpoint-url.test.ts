import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import fc from 'fast-check'
import { type AllowedUrls, endpointUrl } from '../../src/webhooks/endpoint-url.ts'

/** The stored form, or the code of the refusal and the reason where it has several. */
function judge(text: string, allowed: AllowedUrls): string {
  try {
    return endpointUrl(text, allowed).href
  } catch (error) {
    assert.ok(error instanceof Refusal)
    return error.code === 'webhook_url_not_allowed' ? `${error.code} ${error.fields[0]?.code}` : error.code
  }
}

test('[webhooks.1] what is no absolute URL is malformed', () => {
  const texts = ['loja.example', '/hook', '', 'https://', 'https://a b/', 'https://[::1', 'http://1.2.3.256/', '//a.b/']
  for (const text of [...texts, `https://loja.example/${'é'.repeat(400)}`]) {
    assert.equal(judge(text, 'public'), 'validation_error', text)
    assert.equal(judge(text, 'any'), 'validation_error', text)
  }
})

test('[webhooks.1] [http.1] the refusal names the field and tells what is wrong', () => {
  for (const [text, code] of [
    ['loja.example', 'format'],
    [`https://loja.example/${'x'.repeat(2_048)}`, 'too_long'],
  ] as const) {
    assert.throws(
      () => endpointUrl(text, 'public'),
      (error) => error instanceof Refusal && error.fields[0]?.field === 'url' && error.fields[0].code === code,
    )
  }
})

test('[webhooks.1] public https is stored as URL writes it', () => {
  const stored: [string, string][] = [
    ['https://loja.example', 'https://loja.example/'],
    ['https://LOJA.example:443/a/../b?c=d e', 'https://loja.example/b?c=d%20e'],
    ['https://pagamentos.açaí.example/x', 'https://pagamentos.xn--aa-4iaz.example/x'],
  ]
  for (const [text, href] of stored) assert.equal(judge(text, 'public'), href)
})

const REFUSED = {
  not_https: ['http://loja.example/', 'ftp://loja.example/', 'mailto:pix@loja.example', 'javascript:alert(1)'],
  user_info: ['https://user@loja.example/', 'https://user:secret@loja.example/'],
  fragment: ['https://loja.example/#part', 'https://loja.example/#'],
  port: [
    'https://loja.example:80/',
    'https://loja.example:22/',
    'https://loja.example:1023/',
    'https://loja.example:0/',
  ],
  private_address: [
    'https://localhost/',
    'https://a.localhost/',
    'https://intranet/',
    'https://printer.local/',
    'https://db.internal/',
    'https://loja.example./',
    'https://8.8.8.8/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[2606:4700::1111]/',
    'https://[::ffff:127.0.0.1]/',
    'https://metadata.google.internal/',
  ],
}

for (const [reason, urls] of Object.entries(REFUSED)) {
  test(`[webhooks.1] [webhooks.11] in production an address is refused for ${reason}`, () => {
    for (const url of urls) assert.equal(judge(url, 'public'), `webhook_url_not_allowed ${reason}`, url)
  })
}

test('[webhooks.1] in production ports from 1024 up are accepted beside 443', () => {
  for (const url of ['https://loja.example:1024/', 'https://loja.example:8443/x', 'https://loja.example:65535/']) {
    assert.equal(judge(url, 'public'), url)
  }
})

test('[webhooks.26] inside, a name of a private network is accepted too; https, the ports and a name are still required', () => {
  for (const url of [
    'https://db.internal:8443/',
    'https://printer.local/',
    'https://pix.default.svc.cluster.local/x',
  ]) {
    assert.equal(judge(url, 'inside'), url)
  }
  for (const [reason, urls] of Object.entries(REFUSED)) {
    if (reason === 'private_address') continue
    for (const url of urls) assert.equal(judge(url, 'inside'), `webhook_url_not_allowed ${reason}`, url)
  }
  for (const host of ['localhost', '10.20.0.5', '127.0.0.1', '0x7f.1', '[::1]', '[fd12::1]', '[::ffff:10.20.0.5]']) {
    assert.equal(judge(`https://${host}/`, 'inside'), 'webhook_url_not_allowed network_not_allowed', host)
  }
})

test('[webhooks.1] in the sandbox: http, any port and any host too', () => {
  for (const url of [
    'http://localhost:3000/',
    'http://127.0.0.1:8080/hook',
    'https://[::1]:9/',
    'https://a.example/',
  ]) {
    assert.equal(judge(url, 'any'), url)
  }
  for (const [url, reason] of [
    ['ftp://a.example/', 'not_https'],
    ['http://user@localhost/', 'user_info'],
    ['http://localhost/#x', 'fragment'],
  ] as const) {
    assert.equal(judge(url, 'any'), `webhook_url_not_allowed ${reason}`, url)
  }
})

test('[webhooks.1] every URL accepted in production is https on 443 or a high port of a dotted name, and is accepted again', () => {
  fc.assert(
    fc.property(fc.oneof(fc.webUrl({ withFragments: true }), fc.string({ unit: 'binary' })), (text) => {
      const verdict = judge(text, 'public')
      if (verdict === 'validation_error' || verdict.startsWith('webhook_url_not_allowed')) return
      const url = new URL(verdict)
      assert.deepEqual([url.protocol, url.username, url.hash], ['https:', '', ''])
      assert.ok(url.port === '' || Number(url.port) >= 1_024)
      assert.match(url.hostname, /^[^.]+(\.[^.]+)*\.[^.]*[a-z][^.]*$/)
      assert.equal(judge(verdict, 'public'), verdict)
    }),
    { numRuns: 1_000 },
  )
})
