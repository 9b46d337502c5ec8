import assert from 'node:assert/strict'
import test from 'node:test'
import { buildStaticBrCode } from '@pixgate/brcode'
import { type ApiPixBank, KEYS, problemIn, startApiPixBank, TXID, violated, WINDOW } from '../support/api-pix.ts'
import type { Answer } from '../support/bank.ts'
import { startReceiver } from '../support/callback-receiver.ts'
import { steppedClock } from '../support/clocks.ts'

const SENT_ID = '0198c0de8b22700080002c3d4e5f6a7b'

const [KEY] = KEYS

const ORDER = {
  valor: '12.34',
  pagador: { chave: KEY, infoPagador: 'Repasse 1' },
  favorecido: { chave: 'ana@exemplo.com.br', cpf: '93541134780' },
}

function send(bank: ApiPixBank, change: object = {}, id = SENT_ID, version = 'v3') {
  return bank.call('PUT', `/${version}/gn/pix/${id}`, { ...ORDER, ...change })
}

/** Resolves with the sent Pix as soon as it has this status. */
async function becomes(bank: ApiPixBank, status: string, id = SENT_ID): Promise<Answer['body']> {
  for (;;) {
    const { body } = await bank.call('GET', `/v2/gn/pix/enviados/id-envio/${id}`)
    if (body.status === status) return body
  }
}

test('[sandbox.18] a Pix is sent to a key with an id and found by that id, by its EndToEndId and in the list', async (t) => {
  const bank = await startApiPixBank(t)
  const { status, body } = await send(bank)
  assert.deepEqual([status, body.idEnvio, body.valor, body.status], [201, SENT_ID, '12.34', 'EM_PROCESSAMENTO'])
  const sent = await becomes(bank, 'REALIZADO')
  assert.equal(sent.endToEndId, body.e2eId)
  assert.deepEqual([sent.chave, sent.infoPagador, sent.valor], [KEY, 'Repasse 1', '12.34'])
  const identificacao = { nome: 'João Pereira', cpf: '***.411.347-**' }
  assert.deepEqual(sent.favorecido, { chave: 'ana@exemplo.com.br', identificacao })
  assert.deepEqual((await bank.call('GET', `/v2/gn/pix/enviados/${body.e2eId}`)).body, sent)
  assert.deepEqual((await bank.call('GET', `/v2/gn/pix/enviados?${WINDOW}`)).body.pix, [sent])
  const { payouts, availableCents } = (await bank.control('GET', '/control/book')).body
  assert.deepEqual([payouts[0].id, payouts[0].endToEndId, availableCents], [SENT_ID, body.e2eId, -1_234])
})

test('[sandbox.18] a repeated order is the same payment; another order with its id gets 409', async (t) => {
  const bank = await startApiPixBank(t)
  const { body } = await send(bank, {}, SENT_ID, 'v2')
  assert.deepEqual(await send(bank).then((again) => [again.status, again.body]), [201, body])
  const other = await send(bank, { valor: '1.00' })
  assert.deepEqual([other.status, other.body.nome], [409, 'id_envio_duplicado'])
  assert.equal(bank.book.payouts.size, 1)
  await bank.lie('repeatRefused')
  assert.equal((await send(bank)).status, 409)
})

for (const [what, id, change, status, nome] of [
  ['the key of another account', SENT_ID, { pagador: { chave: 'outra@exemplo.com.br' } }, 400, 'chave_invalida'],
  ['an amount of zero', SENT_ID, { valor: '0.00' }, 400, 'valor_invalido'],
  ['an id with a dash', 'a-b', {}, 400, 'valor_invalido'],
  [
    'a key of another document',
    SENT_ID,
    { favorecido: { chave: '39053344705', cpf: '93541134780' } },
    400,
    'chave_nao_pertence_ao_documento',
  ],
] as const) {
  test(`[sandbox.18] sending with ${what} gets ${status} ${nome}`, async (t) => {
    const bank = await startApiPixBank(t)
    const answer = await send(bank, change, id)
    assert.deepEqual([answer.status, answer.body.nome], [status, nome])
    assert.equal(bank.book.payouts.size, 0)
  })
}

test('[sandbox.18] a body that does not match the schema gets a problem that names each property', async (t) => {
  const bank = await startApiPixBank(t)
  const answer = await send(bank, { valor: 1, favorecido: { contaBanco: {} } })
  assert.deepEqual(problemIn(answer), [400, 'RequisicaoInvalida'])
  assert.deepEqual(violated(answer).sort(), ['envio.favorecido.chave', 'envio.valor'])
})

test('[sandbox.18] a failed payout is NAO_REALIZADO; a returned payout has a return', async (t) => {
  const bank = await startApiPixBank(t)
  await bank.control('PUT', '/control/behavior', { cashOut: 'fail' })
  await send(bank)
  const failed = await becomes(bank, 'NAO_REALIZADO')
  assert.equal(failed.horario.liquidacao, undefined)
  await bank.control('PUT', '/control/behavior', { cashOut: 'auto' })
  await send(bank, {}, 'segundo')
  await becomes(bank, 'REALIZADO', 'segundo')
  await bank.control('POST', '/control/payouts/segundo/reverse', { valueCents: 234 })
  const { devolucoes, status } = await becomes(bank, 'REALIZADO', 'segundo')
  assert.deepEqual([devolucoes[0].valor, status], ['2.34', 'REALIZADO'])
  const ids = async (query: string) => {
    const { body } = await bank.call('GET', `/v2/gn/pix/enviados?${WINDOW}&${query}`)
    return body.pix.map(({ idEnvio }: { idEnvio: string }) => idEnvio)
  }
  assert.deepEqual(await ids('status=NAO_REALIZADO'), [SENT_ID])
  assert.deepEqual(await ids('devolucaoPresente=true'), ['segundo'])
  assert.deepEqual(await ids('cpf=93541134780'), [SENT_ID, 'segundo'])
  assert.deepEqual(await ids('paginacao.itensPorPagina=1&paginacao.paginaAtual=1'), ['segundo'])
  assert.deepEqual(violated(await bank.call('GET', '/v2/gn/pix/enviados')), ['inicio', 'fim'])
})

test('[sandbox.18] an unknown idEnvio or EndToEndId gets 404 PixEnviadoNaoEncontrado', async (t) => {
  const bank = await startApiPixBank(t)
  for (const path of [`id-envio/${SENT_ID}`, 'E9999901020261121131500aB3dE5fG7']) {
    const answer = await bank.call('GET', `/v2/gn/pix/enviados/${path}`)
    assert.deepEqual(problemIn(answer), [404, 'PixEnviadoNaoEncontrado'])
  }
})

test('[sandbox.18] the code of a charge is decoded and paid once; both sides have the same payment', async (t) => {
  const bank = await startApiPixBank(t)
  const { pixCopiaECola } = (await bank.cob()).body
  const { body: detail } = await bank.call('POST', '/v2/gn/qrcodes/detalhar', { pixCopiaECola })
  assert.deepEqual([detail.txid, detail.valor.final, detail.calendario.expiracao], [TXID, '150.00', 3_600])
  assert.deepEqual(detail.devedor, { nome: 'João Souza', cpf: '***.444.777-**' })
  const pay = () => bank.call('PUT', `/v2/gn/pix/${SENT_ID}/qrcode`, { pagador: { chave: KEY }, pixCopiaECola })
  const { status, body } = await pay()
  assert.deepEqual([status, body.valor], [201, '150.00'])
  await becomes(bank, 'REALIZADO')
  assert.deepEqual((await pay()).body, body)
  const { pix } = (await bank.call('GET', `/v2/cob/${TXID}`)).body
  assert.equal(pix[0].endToEndId, body.e2eId)
  const again = await bank.call('PUT', '/v2/gn/pix/outro/qrcode', { pagador: { chave: KEY }, pixCopiaECola })
  assert.deepEqual(problemIn(again), [400, 'QrcodeOperacaoInvalida'])
})

test('[sandbox.18] dynamic codes of another bank are decoded and paid; static ones are only paid, with an amount', async (t) => {
  const bank = await startApiPixBank(t)
  const { pixCode } = (await bank.control('POST', '/control/qr-codes', { valueCents: 500 })).body
  const { body: foreign } = await bank.call('POST', '/v2/gn/qrcodes/detalhar', { pixCopiaECola: pixCode })
  assert.deepEqual([foreign.valor.original, foreign.status], ['5.00', 'ATIVA'])
  const pixCopiaECola = buildStaticBrCode({ pixKey: '39053344705', merchantName: 'Ana', merchantCity: 'Recife' })
  const detail = await bank.call('POST', '/v2/gn/qrcodes/detalhar', { pixCopiaECola })
  assert.deepEqual([problemIn(detail), violated(detail)], [[400, 'QrcodeOperacaoInvalida'], ['qrcode.pixCopiaECola']])
  const pay = (body: object) => bank.call('PUT', `/v2/gn/pix/${SENT_ID}/qrcode`, { pagador: { chave: KEY }, ...body })
  assert.equal((await pay({ pixCopiaECola })).body.nome, 'valor_invalido')
  assert.equal((await pay({ pixCopiaECola, valor: '7.00' })).body.valor, '7.00')
  assert.equal((await pay({ pixCopiaECola: pixCode })).body.nome, 'id_envio_duplicado')
  const broken = await bank.call('POST', '/v2/gn/qrcodes/detalhar', { pixCopiaECola: `${pixCode}0` })
  assert.deepEqual(problemIn(broken), [400, 'QrcodeOperacaoInvalida'])
})

test('[sandbox.18] the balance can be negative and includes blocked amounts on request', async (t) => {
  const bank = await startApiPixBank(t)
  await bank.paidCob()
  assert.deepEqual((await bank.call('GET', '/v2/gn/saldo')).body, { saldo: '150.00' })
  const nothing = { judicial: '0.00', med: '0.00', total: '0.00' }
  const blocked = await bank.call('GET', '/v2/gn/saldo?bloqueios=true')
  assert.deepEqual(blocked.body, { saldo: '150.00', bloqueios: nothing })
  await bank.control('POST', '/control/debits', { valueCents: 15_001 })
  assert.equal((await bank.call('GET', '/v2/gn/saldo')).body.saldo, '-0.01')
  await bank.lie('balanceShort')
  assert.equal((await bank.call('GET', '/v2/gn/saldo')).body.saldo, '-100.01')
})

test('[sandbox.18] without overdraft, an order beyond the balance and the orders in progress is refused', async (t) => {
  const bank = await startApiPixBank(t, { hasOverdraft: false })
  const beyond = await send(bank, {}, 'vazio1')
  assert.deepEqual([beyond.status, beyond.body.nome], [422, 'saldo_insuficiente'])
  await bank.control('POST', '/control/payments', { pixKey: KEYS[1], valueCents: 2_000 })
  await bank.control('PUT', '/control/behavior', { cashOut: 'manual' })
  assert.equal((await send(bank, {}, 'coberto1')).status, 201)
  assert.equal((await send(bank, {}, 'vazio2')).status, 422)
  await bank.control('POST', '/control/payouts/coberto1/fail')
  assert.equal((await send(bank, {}, 'coberto2')).status, 201)
})

test('[sandbox.14] without overdraft, a return beyond the balance is refused with its reason in Portuguese', async (t) => {
  const bank = await startApiPixBank(t, { hasOverdraft: false })
  const endToEndId = await bank.paidCob()
  await bank.control('POST', '/control/debits', { valueCents: 14_999 })
  const refused = await bank.call('PUT', `/v2/pix/${endToEndId}/devolucao/1`, { valor: '1.00' })
  assert.deepEqual(problemIn(refused), [400, 'PixDevolucaoInvalida'])
  assert.match(refused.body.violacoes[0].razao, /saldo/)
})

test('[sandbox.18] each of Efí’s endpoints requires its own scope', async (t) => {
  const bank = await startApiPixBank(t)
  const token = await bank.token('cob.read')
  for (const [method, path] of [
    ['PUT', '/v3/gn/pix/1'],
    ['PUT', '/v2/gn/pix/1'],
    ['PUT', '/v2/gn/pix/1/qrcode'],
    ['POST', '/v2/gn/qrcodes/detalhar'],
    ['GET', '/v2/gn/pix/enviados'],
    ['GET', '/v2/gn/pix/enviados/1'],
    ['GET', '/v2/gn/pix/enviados/id-envio/1'],
    ['GET', '/v2/gn/saldo'],
    ['PUT', '/v2/webhook/1'],
    ['GET', '/v2/webhook/1'],
    ['DELETE', '/v2/webhook/1'],
    ['GET', '/v2/webhook'],
  ] as const) {
    assert.deepEqual(problemIn(await bank.call(method, path, undefined, { token })), [403, 'AcessoNegado'], path)
  }
})

test('[sandbox.15] the webhook of the debited key receives the outcome of a sent Pix', async (t) => {
  const bank = await startApiPixBank(t)
  const receiver = await startReceiver(t, bank.apiPix)
  await bank.call('PUT', `/v2/webhook/${KEY}`, { webhookUrl: receiver.url })
  const { e2eId } = (await send(bank)).body
  const [, reported] = await receiver.arrived(2)
  const { horario, ...item } = reported?.body.pix[0] ?? {}
  const named = { endToEndId: e2eId, chave: KEY, tipo: 'SOLICITACAO', valor: '12.34' }
  assert.deepEqual(item, { ...named, status: 'REALIZADO', gnExtras: { idEnvio: SENT_ID } })
  assert.ok(horario)
  await bank.control('POST', `/control/payouts/${SENT_ID}/reverse`)
  const [returned] = await receiver.arrived(1, 2)
  assert.equal(returned?.body.pix[0].devolucoes[0].valor, '12.34')
  await bank.control('PUT', '/control/behavior', { cashOut: 'fail' })
  await send(bank, {}, 'segundo')
  const [failed] = await receiver.arrived(1, 3)
  const { status, gnExtras } = failed?.body.pix[0] ?? {}
  assert.deepEqual([status, gnExtras.erro.codigo, failed?.body.pix[0].horario], ['NAO_REALIZADO', 'AC07', null])
})

test('[sandbox.16] sending is refused, executed without a response, or refused although executed; the book is correct', async (t) => {
  const clock = steppedClock()
  const bank = await startApiPixBank(t, { clock })
  await bank.control('PUT', '/control/behavior', { cashOut: 'reject' })
  assert.deepEqual(await send(bank).then(({ status, body }) => [status, body.nome]), [422, 'pagamento_negado'])
  await bank.control('PUT', '/control/behavior', { cashOut: 'lost-response' })
  await assert.rejects(send(bank))
  await bank.control('PUT', '/control/behavior', { cashOut: 'manual' })
  await bank.lie('falseRefusal')
  assert.equal((await send(bank, {}, 'segundo')).body.nome, 'pagamento_negado')
  await bank.lie('unavailable')
  assert.deepEqual(await send(bank, {}, 'terceiro').then(({ status, body }) => [status, body.nome]), [
    500,
    'erro_aplicacao',
  ])
  assert.deepEqual([...bank.book.payouts.keys()], [SENT_ID, 'segundo'])
  const path = '/v2/gn/pix/enviados/id-envio/segundo'
  await bank.lie('falseNotFound')
  assert.deepEqual(problemIn(await bank.call('GET', path)), [404, 'PixEnviadoNaoEncontrado'])
  await bank.lie('falseFailure')
  assert.equal((await bank.call('GET', path)).body.status, 'NAO_REALIZADO')
  await bank.lie('foreignAnswer')
  assert.equal((await bank.call('GET', path)).body.idEnvio, SENT_ID)
  await bank.lie('wrongAmount')
  assert.equal((await bank.call('GET', path)).body.valor, '12.35')
  assert.equal((await send(bank, {}, 'segundo')).body.valor, '12.35')
})

test('[sandbox.16] a callback reports a failure of a sent Pix before its success, or names another payout', async (t) => {
  const bank = await startApiPixBank(t)
  const receiver = await startReceiver(t, bank.apiPix)
  await bank.call('PUT', `/v2/webhook/${KEY}`, { webhookUrl: receiver.url })
  await bank.lie('eventFalseFailure')
  await send(bank)
  const reported = await receiver.arrived(2, 1)
  assert.deepEqual(
    reported.map(({ body }) => body.pix[0].status),
    ['NAO_REALIZADO', 'REALIZADO'],
  )
  await bank.lie('eventForeign')
  await send(bank, {}, 'segundo')
  const [foreign] = await receiver.arrived(1, 3)
  assert.equal(foreign?.body.pix[0].gnExtras.idEnvio, SENT_ID)
  await bank.lie('eventWithoutOurIds')
  await send(bank, {}, 'terceiro')
  const [nameless] = await receiver.arrived(1, 4)
  assert.deepEqual(nameless?.body.pix[0].gnExtras, {})
})
