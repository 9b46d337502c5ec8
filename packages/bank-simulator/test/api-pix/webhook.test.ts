import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { until } from '../../../server/test/support/until.ts'
import {
  type ApiPixBank,
  CLIENT,
  certificatesDirectory,
  KEYS,
  problemIn,
  startApiPixBank,
  TXID,
  violated,
} from '../support/api-pix.ts'
import { startReceiver } from '../support/callback-receiver.ts'
import { steppedClock } from '../support/clocks.ts'

const [CNPJ_KEY, KEY] = KEYS

async function registered(
  t: TestContext,
  suffix = '',
  status?: (index: number) => number,
  options: Parameters<typeof startApiPixBank>[1] = {},
) {
  const bank = await startApiPixBank(t, options)
  const receiver = await startReceiver(t, bank.apiPix, status)
  const { status: answered } = await register(bank, receiver.url + suffix)
  assert.equal(answered, 200)
  return { bank, receiver }
}

function register(bank: ApiPixBank, webhookUrl: string, key: string = KEY) {
  return bank.call('PUT', `/v2/webhook/${encodeURIComponent(key)}`, { webhookUrl })
}

/** Resolves when no callback is pending. */
async function settled(bank: ApiPixBank): Promise<void> {
  await until(async () => (await bank.control('GET', '/control/book')).body.notices.pending === 0)
}

test('[sandbox.15] registering a webhook sends a test request; then the webhook receives payments, with the bank’s certificate', async (t) => {
  const { bank, receiver } = await registered(t)
  const endToEndId = await bank.paidCob()
  const [tested, callback] = await receiver.arrived(2)
  assert.deepEqual([tested?.path, tested?.body.evento, tested?.isFromBank], ['/avisos', 'teste_webhook', true])
  assert.deepEqual([callback?.path, callback?.isFromBank], ['/avisos/pix', true])
  assert.deepEqual(callback?.body, { pix: [(await bank.call('GET', `/v2/pix/${endToEndId}`)).body] })
  await settled(bank)
  assert.equal(receiver.received.length, 2)
})

test('[sandbox.15] a webhook receives another callback when a return settles and when the bank returns the payment', async (t) => {
  const { bank, receiver } = await registered(t)
  const endToEndId = await bank.paidCob()
  await receiver.arrived(2)
  await bank.call('PUT', `/v2/pix/${endToEndId}/devolucao/1`, { valor: '1.00' })
  const [returned] = await receiver.arrived(1, 2)
  assert.deepEqual([returned?.body.pix[0].txid, returned?.body.pix[0].devolucoes[0].status], [TXID, 'DEVOLVIDO'])
  await bank.control('PUT', '/control/behavior', { refundIn: 'fail' })
  await bank.call('PUT', `/v2/pix/${endToEndId}/devolucao/2`, { valor: '1.00' })
  const [failed] = await receiver.arrived(1, 3)
  assert.equal(failed?.body.pix[0].devolucoes[1].status, 'NAO_REALIZADO')
  await bank.control('POST', `/control/charges/${TXID}/return`, { valueCents: 5 })
  const [taken] = await receiver.arrived(1, 4)
  assert.equal(taken?.body.pix[0].devolucoes[2].natureza, 'MED_FRAUDE')
})

test('[sandbox.15] callbacks are sent only for payments with a txid to keys that have a webhook', async (t) => {
  const { bank, receiver } = await registered(t)
  await bank.control('POST', '/control/payments', { pixKey: KEY, valueCents: 1 })
  await bank.control('POST', '/control/payments', { pixKey: CNPJ_KEY, valueCents: 2, txid: 'balcao' })
  await bank.control('POST', '/control/payments', { pixKey: KEY, valueCents: 3, txid: 'balcao' })
  const [callback] = await receiver.arrived(1, 1)
  assert.deepEqual([callback?.body.pix[0].txid, callback?.body.pix[0].valor], ['balcao', '0.03'])
  await settled(bank)
  assert.equal(receiver.received.length, 2)
})

test('[sandbox.15] the suffix is appended to the whole URL, so Efí’s query receives it', async (t) => {
  const { bank, receiver } = await registered(t, '?hmac=abc&ignorar=')
  await bank.paidCob()
  const [tested, callback] = await receiver.arrived(2)
  assert.deepEqual([tested?.path, callback?.path], ['/avisos?hmac=abc&ignorar=', '/avisos?hmac=abc&ignorar=/pix'])
})

test('[sandbox.15] a callback is retried until a 2xx response, even across a restart', async (t) => {
  let isTaken = false
  const { bank, receiver } = await registered(t, '/', (index) => (index === 0 || isTaken ? 202 : 503))
  const endToEndId = await bank.paidCob()
  await receiver.arrived(3)
  await bank.stop()
  isTaken = true
  const before = receiver.received.length
  const again = await startApiPixBank(t, { dataDirectory: bank.directory })
  const [callback] = await receiver.arrived(1, before)
  assert.deepEqual([callback?.path, callback?.body.pix[0].endToEndId], ['/avisos/pix', endToEndId])
  await settled(again)
  assert.equal(receiver.received.length, before + 1)
})

test('[sandbox.15] a webhook can be read, listed, changed and removed; a removed webhook gets no callbacks', async (t) => {
  const { bank, receiver } = await registered(t)
  const { body } = await bank.call('GET', `/v2/webhook/${KEY}`)
  assert.deepEqual([body.webhookUrl, body.cnpj], [receiver.url, '11222333000181'])
  await register(bank, receiver.url, CNPJ_KEY)
  const list = await bank.call('GET', '/v2/webhook?paginacao.itensPorPagina=1')
  assert.equal(list.body.parametros.paginacao.quantidadeTotalDeItens, 2)
  const window = 'inicio=2020-01-01T00:00:00Z&fim=2020-01-02T00:00:00Z'
  assert.deepEqual((await bank.call('GET', `/v2/webhook?${window}`)).body.webhooks, [])
  assert.equal((await bank.call('DELETE', `/v2/webhook/${KEY}`)).status, 204)
  await bank.paidCob()
  await settled(bank)
  assert.equal(receiver.received.length, 2)
  for (const method of ['GET', 'DELETE']) {
    assert.deepEqual(problemIn(await bank.call(method, `/v2/webhook/${KEY}`)), [404, 'WebhookNaoEncontrado'])
  }
  const wrong = await bank.call('GET', '/v2/webhook?inicio=x')
  assert.deepEqual(problemIn(wrong), [400, 'WebhookConsultaInvalida'])
})

test('[sandbox.15] a key of the maximum length works in a path, even percent-encoded', async (t) => {
  const bank = await startApiPixBank(t)
  const answer = await bank.call('GET', `/v2/webhook/${'%2B'.repeat(77)}`)
  assert.deepEqual(problemIn(answer), [404, 'WebhookNaoEncontrado'])
})

test('[sandbox.15] a webhook is refused for another account’s key, without HTTPS, if unreachable, or if the test request fails', async (t) => {
  const bank = await startApiPixBank(t)
  const refusing = await startReceiver(t, bank.apiPix, () => 500)
  const foreign = await register(bank, refusing.url, 'outra@exemplo.com.br')
  assert.deepEqual([problemIn(foreign), violated(foreign)], [[400, 'WebhookOperacaoInvalida'], ['chave']])
  const refused = async (url: string) => {
    const answer = await register(bank, url)
    assert.deepEqual([problemIn(answer), violated(answer)], [[400, 'WebhookOperacaoInvalida'], ['webhook.webhookUrl']])
    return answer.body.violacoes[0].razao
  }
  await refused('')
  await refused('exemplo')
  await refused('http://exemplo.com.br/')
  assert.match(await refused('https://localhost:1/'), /inacessível/)
  assert.match(await refused(refusing.url), /código HTTP 500/)
  assert.equal(bank.book.notices.webhooks.size, 0)
})

test('[sandbox.15] a webhook with a certificate of a private CA is called if the bank is configured to trust that CA', async (t) => {
  const { createAuthority } = await import('../../src/index.ts')
  const authority = await createAuthority('of the receiver')
  const stranger = await startApiPixBank(t)
  const { certificates } = stranger.apiPix
  const receiver = await startReceiver(t, {
    certificates: { ...certificates, authority: { ...authority, certificate: certificates.authority.certificate } },
  })
  assert.deepEqual(problemIn(await register(stranger, receiver.url)), [400, 'WebhookOperacaoInvalida'])
  const apiPix = { port: 0, certificatesDirectory: await certificatesDirectory(), client: CLIENT, keys: KEYS }
  const trusting = await startApiPixBank(t, { apiPix: { ...apiPix, callbackCa: authority.certificate } })
  assert.equal((await register(trusting, receiver.url)).status, 200)
})

test('[sandbox.16] a callback is lost, doubled, has a wrong amount, no txid, another charge or another account’s key', async (t) => {
  const { bank, receiver } = await registered(t)
  await bank.cob({}, '0198c0de7a11700080000000000000aa')
  await bank.cob()
  const under = async (count: number, ...lies: string[]) => {
    await bank.lie(...lies)
    const before = receiver.received.length
    await bank.control('POST', `/control/charges/${TXID}/pay`)
    const callback = await receiver.arrived(count, before)
    await settled(bank)
    assert.equal(receiver.received.length, before + count)
    return callback.map(({ body }) => body.pix[0])
  }
  assert.deepEqual(await under(0, 'eventLost'), [])
  const [one, same] = await under(2, 'eventDoubled')
  assert.deepEqual(one, same)
  assert.equal((await under(1, 'eventWrongAmount'))[0].valor, '150.01')
  assert.equal((await under(1, 'eventWithoutOurIds'))[0].txid, undefined)
  assert.equal((await under(1, 'eventForeign'))[0].txid, '0198c0de7a11700080000000000000aa')
  const [stranger, truth] = await under(2, 'eventOfStranger')
  assert.deepEqual([stranger.chave, truth.chave], ['ninguem@exemplo.com.br', KEY])
  await bank.control('PUT', '/control/behavior', { eventCopies: 2 })
  await under(2)
})

test('[sandbox.16] callbacks are sent in batches', async (t) => {
  const { bank, receiver } = await registered(t)
  await bank.cob()
  await bank.lie('eventsBatched')
  for (const valueCents of [1, 2, 3]) await bank.control('POST', `/control/charges/${TXID}/pay`, { valueCents })
  await settled(bank)
  const callback = receiver.received.slice(1).map(({ body }) => body.pix.map(({ valor }: { valor: string }) => valor))
  assert.deepEqual(callback.flat().sort(), ['0.01', '0.02', '0.03'])
  assert.ok(callback.length < 3, JSON.stringify(callback))
})

test('[sandbox.16] a callback is sent late', async (t) => {
  const clock = steppedClock()
  const { bank, receiver } = await registered(t, '', undefined, { clock })
  await bank.lie('eventLate')
  const endToEndId = await bank.paidCob()
  await settled(bank)
  assert.deepEqual(
    receiver.received.slice(1).map(({ body }) => body.pix[0].endToEndId),
    [endToEndId],
  )
  assert.ok(clock.sleptMs.includes(10_000), `it waited ${clock.sleptMs}`)
})
