import assert from 'node:assert/strict'
import test from 'node:test'
import { authorizedLink, redactorOf } from '../../../src/banks/api-pix/link.ts'
import type { Outcome } from '../../../src/banks/link.ts'

const SECRET = `a&b'c"d<e>f g`

test('[api-pix.13] a secret is concealed plain, and encoded once and twice as in an address', () => {
  const redact = redactorOf([SECRET, ''])
  const form = new URLSearchParams({ hmac: SECRET }).toString().slice('hmac='.length)
  const once = encodeURIComponent(SECRET)
  for (const repeated of [SECRET, once, encodeURIComponent(once), form, encodeURIComponent(form)])
    assert.equal(redact(`x?hmac=${repeated}&y`), 'x?hmac=…&y')
  assert.equal(redactorOf(['ab', 'abc'])('abc ab'), '… …', 'none is left in part')
})

test('[api-pix.14] a bank that refuses a call and repeats its address does not repeat the key of the application', async () => {
  const added = [{ in: 'query', name: 'gw-dev-app-key', value: 'application key' }] as const
  const values = { 'client id': 'client', 'application key': SECRET, account: undefined }
  const answering = async (httpStatus: number) => {
    const exchange = async ({ path }: { readonly path: string }) =>
      ({ kind: 'answered', httpStatus, json: { violacoes: [{ razao: `no ${path}` }], valor: 1 } }) as Outcome
    const tokens = { current: async () => ({ token: 'a', scopes: undefined }), discard: () => undefined }
    const link = authorizedLink({ exchange, close: async () => undefined }, tokens, { added, values })
    const outcome = await link.exchange({ method: 'GET', path: '/v2/cob/1' })
    return outcome.kind === 'answered' ? outcome.json : undefined
  }
  const refused = { violacoes: [{ razao: 'no /v2/cob/1?gw-dev-app-key=…' }], valor: 1 }
  assert.deepEqual(await answering(400), refused)
  assert.notDeepEqual(await answering(399), refused, 'what a bank has done is not touched')
})
