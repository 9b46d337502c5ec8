import assert from 'node:assert/strict'
import test from 'node:test'
import { parseBrCode } from '@pixgate/brcode'
import { COB, KEYS, problemIn, startApiPixBank, TXID, violated, WINDOW } from '../support/api-pix.ts'
import { ID } from '../support/bank.ts'
import { steppedClock } from '../support/clocks.ts'

const OTHER_TXID = '0198c0de7a11700080000000000000aa'

test('[sandbox.14] a charge is created with the requested txid and terms, and can be read and paid', async (t) => {
  const bank = await startApiPixBank(t)
  const { status, body } = await bank.cob()
  assert.equal(status, 201)
  const { calendario, loc, location, pixCopiaECola, ...asked } = body
  const { calendario: _, ...terms } = COB
  assert.deepEqual(asked, { ...terms, txid: TXID, revisao: 0, status: 'ATIVA' })
  assert.equal(calendario.expiracao, 3_600)
  assert.deepEqual([loc.location, loc.txid, location], [location, TXID, `bank.example/qr/v2/${TXID}`])
  const code = parseBrCode(pixCopiaECola)
  assert.equal(code.kind === 'dynamic' && code.url, location)
  assert.deepEqual((await bank.call('GET', `/v2/cob/${TXID}`)).body, body)
  const endToEndId = (await bank.control('POST', `/control/charges/${TXID}/pay`)).body.endToEndId
  const { body: paid } = await bank.call('GET', `/v2/cob/${TXID}`)
  assert.equal(paid.status, 'CONCLUIDA')
  assert.deepEqual(
    paid.pix.map((pix: Record<string, unknown>) => [pix.endToEndId, pix.txid, pix.valor, pix.chave]),
    [[endToEndId, TXID, '150.00', KEYS[1]]],
  )
})

test('[sandbox.14] both protocols share one book: each can read charges that the other created', async (t) => {
  const bank = await startApiPixBank(t)
  await bank.cob()
  const { body: charge } = await bank.control('GET', `/charges/${TXID}`)
  assert.deepEqual([charge.transactionId, charge.valueCents, charge.status], [TXID, 15_000, 'ACTIVE'])
  const merchant = { pixKey: KEYS[1], name: 'Loja', city: 'São Paulo' }
  const terms = { valueCents: 1, expiresAt: '2026-11-22T13:15:30.000Z', merchant }
  const { transactionId } = (await bank.control('PUT', `/charges/${ID}`, terms)).body
  const { body } = await bank.call('GET', `/v2/cob/${transactionId}`)
  assert.deepEqual([body.txid, body.valor.original, body.chave], [transactionId, '0.01', KEYS[1]])
})

test('[sandbox.14] amounts are exact in requests and responses, from one centavo to ten digits of reais', async (t) => {
  const bank = await startApiPixBank(t)
  for (const [index, original] of ['0.01', '0.10', '9007199254.74', '9999999999.99'].entries()) {
    const txid = `${TXID.slice(0, -1)}${index}`
    assert.equal((await bank.cob({ valor: { original } }, txid)).body.valor.original, original)
    assert.equal(
      String((await bank.control('GET', `/charges/${txid}`)).body.valueCents),
      original.replace(/^0\.0?|\./g, ''),
    )
  }
})

test('[sandbox.14] PUT revises an active charge, changes nothing when repeated, and gets 400 after the payment', async (t) => {
  const bank = await startApiPixBank(t)
  await bank.cob()
  assert.equal((await bank.cob()).body.revisao, 0)
  const { status, body } = await bank.cob({ valor: { original: '1.00' } })
  assert.deepEqual([status, body.revisao, body.valor.original], [201, 1, '1.00'])
  const first = await bank.call('GET', `/v2/cob/${TXID}?revisao=0`)
  assert.deepEqual([first.body.revisao, first.body.valor.original], [0, '150.00'])
  await bank.control('POST', `/control/charges/${TXID}/pay`)
  assert.deepEqual(problemIn(await bank.cob()), [400, 'CobOperacaoInvalida'])
  assert.deepEqual(problemIn(await bank.cob({ valor: { original: '2.00' } })), [400, 'CobOperacaoInvalida'])
})

test('[sandbox.14] POST generates the txid; the default lifetime is one day', async (t) => {
  const bank = await startApiPixBank(t)
  const { status, body } = await bank.call('POST', '/v2/cob', { ...COB, calendario: {} })
  assert.deepEqual([status, body.calendario.expiracao], [201, 86_400])
  assert.equal((await bank.call('GET', `/v2/cob/${body.txid}`)).body.txid, body.txid)
})

test('[sandbox.14] PATCH changes only the given fields; the lifetime counts from the creation', async (t) => {
  const clock = steppedClock()
  const bank = await startApiPixBank(t, { clock })
  await bank.cob()
  clock.nowMs += 60_000
  const change = { calendario: { expiracao: 7_200 }, valor: { original: '3.00', modalidadeAlteracao: 1 } }
  const { status, body } = await bank.call('PATCH', `/v2/cob/${TXID}`, change)
  assert.equal(status, 200)
  assert.deepEqual([body.revisao, body.valor, body.calendario.expiracao], [1, change.valor, 7_200])
  assert.deepEqual([body.devedor, body.infoAdicionais], [COB.devedor, COB.infoAdicionais])
  const { expiresAt } = (await bank.control('GET', `/charges/${TXID}`)).body
  assert.equal(Date.parse(expiresAt), Date.parse(body.calendario.criacao) + 7_200_000)
})

test('[sandbox.14] a charge is removed by its status alone; a charge that is not active cannot be changed', async (t) => {
  const bank = await startApiPixBank(t)
  await bank.cob()
  const status = 'REMOVIDA_PELO_USUARIO_RECEBEDOR'
  const both = await bank.call('PATCH', `/v2/cob/${TXID}`, { status, solicitacaoPagador: 'x' })
  assert.deepEqual([problemIn(both), violated(both)], [[400, 'CobOperacaoInvalida'], ['cob.status']])
  const { body } = await bank.call('PATCH', `/v2/cob/${TXID}`, { status })
  assert.deepEqual([body.status, body.revisao], [status, 1])
  assert.deepEqual(problemIn(await bank.call('PATCH', `/v2/cob/${TXID}`, { status })), [400, 'CobOperacaoInvalida'])
  assert.equal((await bank.control('GET', `/charges/${TXID}`)).body.status, 'CANCELLED')
  await bank.cob({}, OTHER_TXID)
  await bank.control('POST', `/control/charges/${OTHER_TXID}/fail`)
  assert.equal((await bank.call('GET', `/v2/cob/${OTHER_TXID}`)).body.status, 'REMOVIDA_PELO_PSP')
})

test('[sandbox.14] an expired charge is still ATIVA, because the standard has no status for it', async (t) => {
  const clock = steppedClock()
  const bank = await startApiPixBank(t, { clock })
  await bank.cob({ calendario: { expiracao: 1 } })
  clock.nowMs += 2_000
  assert.equal((await bank.call('GET', `/v2/cob/${TXID}`)).body.status, 'ATIVA')
  assert.equal((await bank.control('GET', `/charges/${TXID}`)).body.status, 'EXPIRED')
})

for (const [what, change, property] of [
  ['no value', { valor: {} }, 'cob.valor.original'],
  ['an amount without centavos', { valor: { original: '1' } }, 'cob.valor.original'],
  ['an amount as a number', { valor: { original: 1.5 } }, 'cob.valor.original'],
  ['an amount of zero', { valor: { original: '0.00' } }, 'cob.valor.original'],
  ['an amount of eleven digits', { valor: { original: '10000000000.00' } }, 'cob.valor.original'],
  ['a withdrawal', { valor: { original: '1.00', retirada: {} } }, 'cob.valor.retirada'],
  ['a lifetime of zero', { calendario: { expiracao: 0 } }, 'cob.calendario.expiracao'],
  ['no calendar', { calendario: undefined }, 'cob.calendario'],
  ['the key of another account', { chave: 'outra@exemplo.com.br' }, 'cob.chave'],
  ['a key too long', { chave: 'x'.repeat(78) }, 'cob.chave'],
  ['a name without a document', { devedor: { nome: 'João' } }, 'cob.devedor'],
  ['two documents', { devedor: { nome: 'João', cpf: '11144477735', cnpj: '11222333000181' } }, 'cob.devedor'],
  ['a document with a mask', { devedor: { nome: 'João', cpf: '111.444.777-35' } }, 'cob.devedor.cpf'],
  ['a solicitacaoPagador that is too long', { solicitacaoPagador: 'x'.repeat(141) }, 'cob.solicitacaoPagador'],
  ['51 infoAdicionais', { infoAdicionais: Array(51).fill({ nome: 'a', valor: 'b' }) }, 'cob.infoAdicionais'],
  ['an infoAdicionais entry without a value', { infoAdicionais: [{ nome: 'a' }] }, 'cob.infoAdicionais.0.valor'],
  ['an unknown location', { loc: { id: 9 } }, 'cob.loc.id'],
] as const) {
  test(`[sandbox.14] creating a charge with ${what} gets 400 CobOperacaoInvalida for ${property}`, async (t) => {
    const bank = await startApiPixBank(t)
    const answer = await bank.cob(change)
    assert.deepEqual(problemIn(answer), [400, 'CobOperacaoInvalida'])
    assert.deepEqual(violated(answer), [property])
    assert.equal(bank.book.charges.size, 0)
  })
}

test('[sandbox.14] a response has all violations; a body that is not JSON gets 400 RequisicaoInvalida', async (t) => {
  const bank = await startApiPixBank(t)
  const answer = await bank.call('PUT', `/v2/cob/${TXID}`, { valor: { original: 'x' }, solicitacaoPagador: 1 })
  assert.deepEqual(violated(answer).sort(), [
    'cob.calendario',
    'cob.chave',
    'cob.solicitacaoPagador',
    'cob.valor.original',
  ])
  assert.deepEqual(problemIn(await bank.call('PUT', `/v2/cob/${TXID}`, '{')), [400, 'RequisicaoInvalida'])
  const short = await bank.cob({}, 'short')
  assert.deepEqual([problemIn(short), violated(short)], [[400, 'CobOperacaoInvalida'], ['txid']])
})

for (const [what, change, property] of [
  ['an amount of zero', { valor: { original: '0.00' } }, 'cob.valor.original'],
  ['the key of another account', { chave: 'outra@exemplo.com.br' }, 'cob.chave'],
  ['a status that only the bank sets', { status: 'REMOVIDA_PELO_PSP' }, 'cob.status'],
  ['a lifetime of zero', { calendario: { expiracao: 0 } }, 'cob.calendario.expiracao'],
  ['two documents', { devedor: { nome: 'João', cpf: '11144477735', cnpj: '11222333000181' } }, 'cob.devedor'],
] as const) {
  test(`[sandbox.14] changing a charge to ${what} gets 400 CobOperacaoInvalida for ${property}`, async (t) => {
    const bank = await startApiPixBank(t)
    await bank.cob()
    const answer = await bank.call('PATCH', `/v2/cob/${TXID}`, change)
    assert.deepEqual([problemIn(answer), violated(answer)], [[400, 'CobOperacaoInvalida'], [property]])
    assert.equal((await bank.call('GET', `/v2/cob/${TXID}`)).body.revisao, 0)
  })
}

test('[sandbox.14] a charge with a generated txid is validated in the same way', async (t) => {
  const bank = await startApiPixBank(t)
  const answer = await bank.call('POST', '/v2/cob', { ...COB, chave: 'outra@exemplo.com.br' })
  assert.deepEqual([problemIn(answer), violated(answer)], [[400, 'CobOperacaoInvalida'], ['cob.chave']])
  await bank.control('PUT', '/control/behavior', { cashIn: 'reject' })
  assert.deepEqual(problemIn(await bank.call('POST', '/v2/cob', COB)), [400, 'CobOperacaoInvalida'])
  assert.equal(bank.book.charges.size, 0)
})

test('[sandbox.14] the location of another charge is refused, the charge’s own is accepted', async (t) => {
  const bank = await startApiPixBank(t)
  const { loc } = (await bank.cob()).body
  assert.equal((await bank.cob({ loc: { id: loc.id, tipoCob: 'cob' } })).status, 201)
  const answer = await bank.cob({ loc: { id: loc.id, tipoCob: 'cob' } }, OTHER_TXID)
  assert.match(answer.body.violacoes[0].razao, /já está sendo utilizado/)
})

test('[sandbox.14] an unknown charge gets 404, an unknown revision 400', async (t) => {
  const bank = await startApiPixBank(t)
  assert.deepEqual(problemIn(await bank.call('GET', `/v2/cob/${TXID}`)), [404, 'CobNaoEncontrado'])
  assert.deepEqual(problemIn(await bank.call('PATCH', `/v2/cob/${TXID}`, {})), [404, 'CobNaoEncontrado'])
  await bank.cob()
  assert.deepEqual(problemIn(await bank.call('GET', `/v2/cob/${TXID}?revisao=1`)), [400, 'CobConsultaInvalida'])
})

test('[sandbox.14] the list returns the charges of a window, filtered by document and status, in pages', async (t) => {
  const clock = steppedClock()
  const bank = await startApiPixBank(t, { clock })
  await bank.cob()
  clock.nowMs += 1_000
  await bank.cob({ devedor: { cnpj: '11222333000181', nome: 'Empresa' } }, OTHER_TXID)
  await bank.control('POST', `/control/charges/${OTHER_TXID}/pay`)
  const txids = async (query: string) => {
    const { body } = await bank.call('GET', `/v2/cob?${query}`)
    return body.cobs.map(({ txid }: { txid: string }) => txid)
  }
  assert.deepEqual(await txids(WINDOW), [TXID, OTHER_TXID])
  const at = '2026-11-21T13:15:30.000Z'
  assert.deepEqual(await txids(`inicio=${at}&fim=${at}`), [TXID])
  assert.deepEqual(await txids(`${WINDOW}&cpf=11144477735`), [TXID])
  assert.deepEqual(await txids(`${WINDOW}&cnpj=11222333000181`), [OTHER_TXID])
  assert.deepEqual(await txids(`${WINDOW}&status=CONCLUIDA`), [OTHER_TXID])
  assert.deepEqual(await txids(`${WINDOW}&locationPresente=false`), [])
  const { body } = await bank.call('GET', `/v2/cob?${WINDOW}&paginacao.itensPorPagina=1&paginacao.paginaAtual=1`)
  assert.equal(body.cobs[0].txid, OTHER_TXID)
  const paginacao = { paginaAtual: 1, itensPorPagina: 1, quantidadeDePaginas: 2, quantidadeTotalDeItens: 2 }
  assert.deepEqual(body.parametros.paginacao, paginacao)
})

test('[sandbox.14] a list request without a window or with invalid parameters gets 400 with each violation', async (t) => {
  const bank = await startApiPixBank(t)
  const refused = async (query: string) => {
    const answer = await bank.call('GET', `/v2/cob?${query}`)
    assert.deepEqual(problemIn(answer), [400, 'CobConsultaInvalida'])
    return violated(answer)
  }
  assert.deepEqual(await refused(''), ['inicio', 'fim'])
  assert.deepEqual(await refused('inicio=2026-11-02T00:00:00Z&fim=2026-11-01T00:00:00Z'), ['fim'])
  assert.deepEqual(await refused(`${WINDOW}&cpf=11144477735&cnpj=11222333000181`), ['cpf'])
  assert.deepEqual(await refused(`${WINDOW}&cpf=1&locationPresente=maybe`), ['cpf', 'locationPresente'])
  const pages = 'paginacao.paginaAtual=-1&paginacao.itensPorPagina=1001'
  assert.deepEqual(await refused(`${WINDOW}&${pages}`), ['paginacao.paginaAtual', 'paginacao.itensPorPagina'])
})
