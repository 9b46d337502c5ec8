import assert from 'node:assert/strict'
import test from 'node:test'
import { type ApiPixBank, KEYS, problemIn, startApiPixBank, TXID, violated, WINDOW } from '../support/api-pix.ts'
import type { Answer } from '../support/bank.ts'
import { steppedClock } from '../support/clocks.ts'

const UNKNOWN = 'E9999901020261121131500aB3dE5fG7'

/** Resolves with the return as soon as it has this status. */
async function returnBecomes(bank: ApiPixBank, path: string, status: string): Promise<Answer['body']> {
  for (;;) {
    const { body } = await bank.call('GET', path)
    if (body.status === status) return body
  }
}

test('[sandbox.14] a payment is returned in parts, each with its own id, and with rtrId and time from the first response on', async (t) => {
  const bank = await startApiPixBank(t)
  const endToEndId = await bank.paidCob()
  const path = `/v2/pix/${endToEndId}/devolucao/1`
  const { status, body } = await bank.call('PUT', path, { valor: '50.00', descricao: 'Troca' })
  assert.deepEqual([status, body.status, body.natureza, body.descricao], [201, 'EM_PROCESSAMENTO', 'ORIGINAL', 'Troca'])
  const ended = await returnBecomes(bank, path, 'DEVOLVIDO')
  assert.deepEqual([ended.rtrId, ended.horario.solicitacao], [body.rtrId, body.horario.solicitacao])
  assert.ok(ended.horario.liquidacao)
  assert.deepEqual((await bank.call('PUT', path, { valor: '50.00', descricao: 'Troca' })).body, ended)
  await bank.call('PUT', `/v2/pix/${endToEndId}/devolucao/2`, { valor: '100.00' })
  await returnBecomes(bank, `/v2/pix/${endToEndId}/devolucao/2`, 'DEVOLVIDO')
  const { devolucoes } = (await bank.call('GET', `/v2/pix/${endToEndId}`)).body
  assert.deepEqual(
    devolucoes.map((it: Record<string, string>) => [it.id, it.valor]),
    [
      ['1', '50.00'],
      ['2', '100.00'],
    ],
  )
  assert.equal(bank.book.entries.filter(({ kind }) => kind === 'REFUND_SENT').length, 2)
})

test('[sandbox.14] a failed return keeps its rtrId and has a reason', async (t) => {
  const bank = await startApiPixBank(t)
  const endToEndId = await bank.paidCob()
  await bank.control('PUT', '/control/behavior', { refundIn: 'fail' })
  const { rtrId } = (await bank.call('PUT', `/v2/pix/${endToEndId}/devolucao/1`, { valor: '1.00' })).body
  const failed = await returnBecomes(bank, `/v2/pix/${endToEndId}/devolucao/1`, 'NAO_REALIZADO')
  assert.equal(failed.rtrId, rtrId)
  assert.match(failed.motivo, /^AC07/)
  assert.equal(failed.horario.liquidacao, undefined)
})

test('[sandbox.14] ids of returns are unique per payment: returns of two payments can have the same id', async (t) => {
  const bank = await startApiPixBank(t)
  const first = await bank.paidCob()
  const second = await bank.paidCob('0198c0de7a11700080000000000000aa')
  for (const endToEndId of [first, second]) {
    assert.equal((await bank.call('PUT', `/v2/pix/${endToEndId}/devolucao/A1`, { valor: '150.00' })).status, 201)
    await returnBecomes(bank, `/v2/pix/${endToEndId}/devolucao/A1`, 'DEVOLVIDO')
  }
  assert.equal((await bank.call('PUT', `/v2/pix/${second}/devolucao/A1`, { valor: '150.00' })).status, 201)
  assert.equal(bank.book.refunds.size, 2)
})

for (const [what, id, body, property] of [
  ['more than was paid', '1', { valor: '150.01' }, 'devolucao'],
  ['zero', '1', { valor: '0.00' }, 'devolucao.valor'],
  ['no amount', '1', {}, 'devolucao.valor'],
  ['an amount of one digit', '1', { valor: '1.5' }, 'devolucao.valor'],
  ['a withdrawal', '1', { valor: '1.00', natureza: 'RETIRADA' }, 'devolucao.natureza'],
  ['an amount with a long descricao', '1', { valor: '1.00', descricao: 'x'.repeat(141) }, 'devolucao.descricao'],
  ['an amount under an id with a dash', 'a-b', { valor: '1.00' }, 'devolucao.id'],
] as const) {
  test(`[sandbox.14] a return of ${what} gets 400 PixDevolucaoInvalida for ${property}`, async (t) => {
    const bank = await startApiPixBank(t)
    const endToEndId = await bank.paidCob()
    const answer = await bank.call('PUT', `/v2/pix/${endToEndId}/devolucao/${id}`, body)
    assert.deepEqual([problemIn(answer), violated(answer)], [[400, 'PixDevolucaoInvalida'], [property]])
    assert.equal(bank.book.refunds.size, 0)
  })
}

test('[sandbox.14] a known id with another amount and a payment older than 90 days are not returned', async (t) => {
  const clock = steppedClock()
  const bank = await startApiPixBank(t, { clock })
  const endToEndId = await bank.paidCob()
  await bank.call('PUT', `/v2/pix/${endToEndId}/devolucao/1`, { valor: '1.00' })
  const again = await bank.call('PUT', `/v2/pix/${endToEndId}/devolucao/1`, { valor: '2.00' })
  assert.deepEqual(problemIn(again), [400, 'PixDevolucaoInvalida'])
  await bank.control('POST', `/control/charges/${TXID}/pay`, { occurredAt: '2026-08-01T00:00:00Z' })
  const old = [...bank.book.receipts.keys()].at(-1)
  const late = await bank.call('PUT', `/v2/pix/${old}/devolucao/1`, { valor: '1.00' })
  assert.deepEqual([problemIn(late), violated(late)], [[400, 'PixDevolucaoInvalida'], ['pix.horario']])
})

test('[sandbox.14] an unknown payment or return gets 404, an invalid id 400', async (t) => {
  const bank = await startApiPixBank(t)
  const endToEndId = await bank.paidCob()
  assert.deepEqual(problemIn(await bank.call('GET', `/v2/pix/${UNKNOWN}`)), [404, 'PixNaoEncontrado'])
  const none = await bank.call('GET', `/v2/pix/${endToEndId}/devolucao/9`)
  assert.deepEqual(problemIn(none), [404, 'PixDevolucaoNaoEncontrada'])
  const foreign = await bank.call('PUT', `/v2/pix/${UNKNOWN}/devolucao/9`, { valor: '1.00' })
  assert.deepEqual(problemIn(foreign), [404, 'NaoEncontrado'])
  for (const [method, path, body] of [
    ['GET', '/v2/pix/short', undefined],
    ['GET', '/v2/pix/short/devolucao/1', undefined],
    ['PUT', '/v2/pix/short/devolucao/1', { valor: '1.00' }],
  ] as const) {
    assert.deepEqual(problemIn(await bank.call(method, path, body)), [400, 'RequisicaoInvalida'])
  }
})

test('[sandbox.7] a return by the bank itself is listed with its nature', async (t) => {
  const bank = await startApiPixBank(t)
  const endToEndId = await bank.paidCob()
  await bank.control('POST', `/control/charges/${TXID}/return`, { valueCents: 100 })
  await bank.control('POST', `/control/charges/${TXID}/return`, { valueCents: 200, nature: 'MED_OPERACIONAL' })
  const { devolucoes } = (await bank.call('GET', `/v2/pix/${endToEndId}`)).body
  assert.deepEqual(
    devolucoes.map((it: Record<string, string>) => [it.valor, it.natureza, it.status]),
    [
      ['1.00', 'MED_FRAUDE', 'DEVOLVIDO'],
      ['2.00', 'MED_OPERACIONAL', 'DEVOLVIDO'],
    ],
  )
  const { id } = devolucoes[0]
  assert.equal((await bank.call('GET', `/v2/pix/${endToEndId}/devolucao/${id}`)).body.valor, '1.00')
})

test('[sandbox.17] a payment to a key without a charge is in the balance and the list, and can be returned', async (t) => {
  const bank = await startApiPixBank(t)
  const pay = (order: object) =>
    bank.control('POST', '/control/payments', { pixKey: KEYS[0], valueCents: 500, ...order })
  const { status, body } = await pay({})
  assert.equal(status, 202)
  const { endToEndId } = body
  const { body: pix } = await bank.call('GET', `/v2/pix/${endToEndId}`)
  assert.deepEqual([pix.txid, pix.chave, pix.valor], [undefined, KEYS[0], '5.00'])
  await pay({ txid: 'balcao1', valueCents: 700 })
  assert.deepEqual((await bank.call('GET', `/v2/pix?${WINDOW}&txid=balcao1`)).body.pix[0].valor, '7.00')
  assert.equal((await bank.control('GET', '/control/book')).body.availableCents, 1_200)
  await bank.call('PUT', `/v2/pix/${endToEndId}/devolucao/1`, { valor: '2.00' })
  await returnBecomes(bank, `/v2/pix/${endToEndId}/devolucao/1`, 'DEVOLVIDO')
  const taken = await bank.control('POST', `/control/payments/${endToEndId}/return`, { valueCents: 300 })
  assert.equal(taken.status, 202)
  const more = await bank.control('POST', `/control/payments/${endToEndId}/return`, { valueCents: 1 })
  assert.equal(more.status, 409)
  assert.equal((await bank.control('POST', `/control/payments/${UNKNOWN}/return`, { valueCents: 1 })).status, 404)
  assert.equal((await bank.control('GET', '/control/book')).body.availableCents, 700)
})

test('[sandbox.2] a payment has the payer and the text that the control sets, and neither by default', async (t) => {
  const bank = await startApiPixBank(t)
  await bank.cob()
  const payer = { name: 'Ana Lima', document: '93541134780' }
  const { body } = await bank.control('POST', `/control/charges/${TXID}/pay`, { payer, infoPagador: 'Mesa 7' })
  const { body: pix } = await bank.call('GET', `/v2/pix/${body.endToEndId}`)
  assert.deepEqual([pix.infoPagador, pix.pagador], ['Mesa 7', { cpf: '93541134780', nome: 'Ana Lima' }])
  assert.deepEqual(pix.gnExtras, { pagador: { nome: 'Ana Lima', cpf: '***.411.347-**' } })
  const toKey = await bank.control('POST', '/control/payments', { pixKey: KEYS[1], valueCents: 5, infoPagador: 'Oi' })
  assert.equal((await bank.call('GET', `/v2/pix/${toKey.body.endToEndId}`)).body.infoPagador, 'Oi')
  const { body: plain } = await bank.call('GET', `/v2/pix/${await bank.paidCob('0198c0de7a11700080005f1d3c2b1a10')}`)
  assert.deepEqual([plain.infoPagador, plain.pagador, plain.gnExtras], [undefined, undefined, undefined])
})

test('[sandbox.14] the list returns the payments of a window, by every filter and in pages', async (t) => {
  const clock = steppedClock()
  const bank = await startApiPixBank(t, { clock })
  const first = await bank.paidCob()
  clock.nowMs += 60_000
  const { endToEndId: second } = (await bank.control('POST', '/control/payments', { pixKey: KEYS[0], valueCents: 5 }))
    .body
  await bank.control('POST', `/control/charges/${TXID}/return`, { valueCents: 100 })
  const ids = async (query: string) => {
    const { body } = await bank.call('GET', `/v2/pix?${query}`)
    return body.pix.map(({ endToEndId }: { endToEndId: string }) => endToEndId)
  }
  assert.deepEqual(await ids(WINDOW), [first, second])
  assert.deepEqual(await ids('inicio=2026-11-21T13:16:30Z&fim=2026-11-21T13:16:30Z'), [second])
  assert.deepEqual(await ids(`${WINDOW}&txid=${TXID}`), [first])
  assert.deepEqual(await ids(`${WINDOW}&txIdPresente=true`), [first])
  assert.deepEqual(await ids(`${WINDOW}&txIdPresente=false`), [second])
  assert.deepEqual(await ids(`${WINDOW}&devolucaoPresente=true`), [first])
  assert.deepEqual(await ids(`${WINDOW}&devolucaoPresente=false`), [second])
  assert.deepEqual(await ids(`${WINDOW}&cpf=11144477735`), [first])
  assert.deepEqual(await ids(`${WINDOW}&cnpj=11222333000181`), [])
  assert.deepEqual(await ids(`${WINDOW}&paginacao.itensPorPagina=1&paginacao.paginaAtual=1`), [second])
  const { parametros } = (await bank.call('GET', `/v2/pix?${WINDOW}&txIdPresente=true&paginacao.itensPorPagina=1`)).body
  assert.deepEqual([parametros.txIdPresente, parametros.paginacao.quantidadeDePaginas], [true, 1])
})

test('[sandbox.14] a list request with invalid parameters gets 400 PixConsultaInvalida', async (t) => {
  const bank = await startApiPixBank(t)
  for (const [query, properties] of [
    ['', ['inicio', 'fim']],
    ['inicio=yesterday&fim=2026-11-01T00:00:00Z', ['inicio']],
    [`${WINDOW}&txIdPresente=yes&txid=a-b`, ['txid', 'txIdPresente']],
    [`${WINDOW}&paginacao.itensPorPagina=0`, ['paginacao.itensPorPagina']],
  ] as const) {
    const answer = await bank.call('GET', `/v2/pix?${query}`)
    assert.deepEqual([problemIn(answer), violated(answer)], [[400, 'PixConsultaInvalida'], properties])
  }
})
