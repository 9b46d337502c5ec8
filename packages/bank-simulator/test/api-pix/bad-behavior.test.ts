import assert from 'node:assert/strict'
import test from 'node:test'
import { agentOf, COB, problemIn, send, startApiPixBank, TXID, tokenOf, WINDOW } from '../support/api-pix.ts'
import { steppedClock } from '../support/clocks.ts'

test('[sandbox.16] a charge is refused, or created without a response', async (t) => {
  const bank = await startApiPixBank(t)
  await bank.control('PUT', '/control/behavior', { cashIn: 'reject' })
  assert.deepEqual(problemIn(await bank.cob()), [400, 'CobOperacaoInvalida'])
  assert.equal(bank.book.charges.size, 0)
  await bank.control('PUT', '/control/behavior', { cashIn: 'lost-response' })
  await assert.rejects(bank.cob())
  assert.equal(bank.book.charges.size, 1)
  await bank.control('PUT', '/control/behavior', { cashIn: 'reject' })
  assert.equal((await bank.cob()).status, 201)
})

test('[sandbox.16] a return is refused, executed without a response, or refused although it is executed', async (t) => {
  const bank = await startApiPixBank(t)
  const endToEndId = await bank.paidCob()
  const putReturn = (id: string) => bank.call('PUT', `/v2/pix/${endToEndId}/devolucao/${id}`, { valor: '1.00' })
  await bank.control('PUT', '/control/behavior', { refundIn: 'reject' })
  assert.deepEqual(problemIn(await putReturn('1')), [400, 'PixDevolucaoInvalida'])
  await bank.control('PUT', '/control/behavior', { refundIn: 'lost-response' })
  await assert.rejects(putReturn('2'))
  await bank.control('PUT', '/control/behavior', { refundIn: 'manual' })
  await bank.lie('falseRefusal')
  assert.deepEqual(problemIn(await putReturn('3')), [400, 'PixDevolucaoInvalida'])
  assert.deepEqual([...bank.book.refunds.keys()], ['2', '3'])
})

test('[sandbox.16] every response is delayed, but requests are executed at once', async (t) => {
  const clock = steppedClock()
  const bank = await startApiPixBank(t, { clock })
  await bank.control('PUT', '/control/behavior', { latencyMs: 60_000 })
  assert.equal((await bank.cob()).status, 201)
  assert.ok(clock.sleptMs.includes(60_000))
})

test('[sandbox.16] a request gets 500 before or after its execution', async (t) => {
  const bank = await startApiPixBank(t)
  await bank.lie('unavailable')
  assert.deepEqual(problemIn(await bank.cob()), [500, 'ErroInternoDoServidor'])
  assert.equal(bank.book.charges.size, 0)
  await bank.lie('errorAfterExecuting')
  assert.deepEqual(problemIn(await bank.cob()), [500, 'ErroInternoDoServidor'])
  assert.equal(bank.book.charges.size, 1)
})

test('[sandbox.16] a query responds not found, another operation, a wrong amount or a failure; the book is correct', async (t) => {
  const bank = await startApiPixBank(t)
  const endToEndId = await bank.paidCob()
  const other = '0198c0de7a11700080000000000000aa'
  await bank.paidCob(other)
  const under = async (lie: string, path = `/v2/cob/${TXID}`) => {
    await bank.lie(lie)
    return bank.call('GET', path)
  }
  assert.deepEqual(problemIn(await under('falseNotFound')), [404, 'CobNaoEncontrado'])
  assert.equal((await under('foreignAnswer')).body.txid, other)
  const dearer = (await under('wrongAmount')).body
  assert.deepEqual([dearer.valor.original, dearer.pix[0].valor], ['150.01', '150.01'])
  const failed = (await under('falseFailure')).body
  assert.deepEqual([failed.status, failed.pix], ['REMOVIDA_PELO_PSP', undefined])
  const pix = `/v2/pix/${endToEndId}`
  assert.deepEqual(problemIn(await under('falseNotFound', pix)), [404, 'PixNaoEncontrado'])
  assert.equal((await under('foreignAnswer', pix)).body.txid, other)
  assert.equal((await under('wrongAmount', pix)).body.valor, '150.01')
  assert.equal((await under('falseFailure', pix)).body.valor, '150.00')
  await bank.lie()
  await bank.control('PUT', '/control/behavior', { refundIn: 'manual' })
  const path = `${pix}/devolucao/1`
  await bank.call('PUT', path, { valor: '1.00' })
  assert.deepEqual(problemIn(await under('falseNotFound', path)), [404, 'PixDevolucaoNaoEncontrada'])
  assert.equal((await under('falseFailure', path)).body.status, 'NAO_REALIZADO')
  assert.equal((await under('wrongAmount', path)).body.valor, '1.01')
  await bank.lie()
  assert.deepEqual((await bank.call('GET', path)).body.status, 'EM_PROCESSAMENTO')
  assert.equal((await bank.call('GET', `/v2/cob/${TXID}`)).body.status, 'CONCLUIDA')
})

test('[sandbox.16] one token expires early, and no other', async (t) => {
  const bank = await startApiPixBank(t)
  const token = await bank.token()
  await bank.lie('tokenEndsEarly')
  const path = `/v2/cob?${WINDOW}`
  assert.equal((await bank.call('GET', path, undefined, { token })).status, 401)
  await bank.lie()
  assert.equal((await bank.call('GET', path, undefined, { token })).status, 401)
  assert.equal((await bank.call('GET', path, undefined, { token: await bank.token() })).status, 200)
})

test('[sandbox.16] a certificate is refused by a response or in the handshake, also for token requests', async (t) => {
  const bank = await startApiPixBank(t)
  const token = await bank.token()
  await bank.lie('certificateRefused')
  assert.deepEqual(problemIn(await bank.call('GET', `/v2/cob?${WINDOW}`, undefined, { token })), [403, 'AcessoNegado'])
  assert.equal(await bank.token(), undefined)
  await bank.lie('handshakeRefused')
  const agent = agentOf(bank.apiPix)
  await assert.rejects(tokenOf(bank.apiPix, agent))
  await agent.destroy()
})

test('[sandbox.16] a repeated request is refused although it was executed', async (t) => {
  const bank = await startApiPixBank(t)
  const endToEndId = await bank.paidCob('0198c0de7a11700080000000000000aa')
  await bank.lie('repeatRefused')
  assert.equal((await bank.cob()).status, 201)
  const again = await bank.cob()
  assert.deepEqual([again.status, again.body.nome], [409, 'txid_duplicado'])
  const path = `/v2/pix/${endToEndId}/devolucao/1`
  assert.equal((await bank.call('PUT', path, { valor: '1.00' })).status, 201)
  assert.deepEqual(problemIn(await bank.call('PUT', path, { valor: '1.00' })), [400, 'PixDevolucaoInvalida'])
})

test('[sandbox.16] a response omits the code of a charge, which can be derived from its location', async (t) => {
  const bank = await startApiPixBank(t)
  await bank.lie('codeWithheld')
  const { status, body } = await bank.cob()
  assert.deepEqual([status, body.pixCopiaECola, body.location], [201, undefined, `bank.example/qr/v2/${TXID}`])
})

test('[sandbox.16] requests get 429 with Retry-After, a proxy’s error page or a truncated response', async (t) => {
  const bank = await startApiPixBank(t)
  const token = await bank.token()
  const put = () => bank.call('PUT', `/v2/cob/${TXID}`, COB, { token })
  await bank.lie('tooManyRequests')
  const busy = await put()
  assert.deepEqual([busy.status, busy.headers['retry-after']], [429, '1'])
  await bank.lie('htmlAnswer')
  const page = await put()
  assert.deepEqual([page.status, page.headers['content-type']], [502, 'text/html'])
  assert.equal(bank.book.charges.size, 0)
  await bank.lie('cutBody')
  const agent = agentOf(bank.apiPix)
  t.after(() => agent.destroy())
  const headers = { authorization: `Bearer ${token}` }
  await assert.rejects(send(bank.apiPix, agent, 'PUT', `/v2/cob/${TXID}`, COB, headers))
  assert.equal(bank.book.charges.size, 1)
})
