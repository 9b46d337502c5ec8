import assert from 'node:assert/strict'
import test from 'node:test'
import { COB, startApiPixBank, TXID } from './support/api-pix.ts'
import { becomes, PAYOUT, REFUND_ID, startBank, TERMS } from './support/bank.ts'
import { steppedClock } from './support/clocks.ts'
import { startService } from './support/receiving-gateway.ts'

const terms = (description: string) => ({ ...TERMS, description })
const payout = (description: string) => ({ ...PAYOUT, description })

test('[sandbox.21] a charge with a marker is refused, unanswered, paid or failed, and others are not', async (t) => {
  const bank = await startBank(t)
  assert.equal((await bank.charge('refused', terms('Pedido bank:reject'))).body.errorCode, 'charge_refused')
  await assert.rejects(bank.charge('lost', terms('bank:lost-response')))
  assert.equal((await bank.call('GET', '/charges/lost')).body.status, 'ACTIVE')
  await bank.charge('paid', terms('Pedido 7 bank:pay'))
  await bank.charge('failed', terms('bank:fail Pedido 8'))
  await becomes(bank, '/charges/paid', 'PAID')
  await becomes(bank, '/charges/failed', 'FAILED')
  for (const text of ['Pedido 9', 'xbank:reject', 'bank:reject,', 'bank:unknown']) {
    assert.equal((await bank.charge(text, terms(text))).body.status, 'ACTIVE', text)
  }
})

test('[sandbox.21] a payout with a marker waits, fails with its reason or comes back', async (t) => {
  const bank = await startBank(t)
  await bank.payout('failed', payout('bank:fail:AB03'))
  assert.equal((await becomes(bank, '/payouts/failed', 'FAILED')).errorCode, 'AB03')
  await bank.payout('closed', payout('bank:fail'))
  assert.equal((await becomes(bank, '/payouts/closed', 'FAILED')).errorCode, 'AC07')
  await bank.payout('reversed', payout('bank:reverse'))
  await becomes(bank, '/payouts/reversed', 'RETURNED')
  await bank.payout('waiting', payout('bank:manual'))
  await bank.payout('ordinary')
  await becomes(bank, '/payouts/ordinary', 'CONFIRMED')
  assert.equal((await bank.call('GET', '/payouts/waiting')).body.status, 'PROCESSING')
  assert.equal((await bank.payout('refused', payout('bank:reject'))).status, 422)
})

test('[sandbox.21] a refund has its marker in its reason', async (t) => {
  const bank = await startBank(t)
  const endToEndId = await bank.paidCharge()
  await bank.call('PUT', `/refunds/${REFUND_ID}`, { endToEndId, valueCents: 100, reason: 'bank:fail:AC06' })
  assert.equal((await becomes(bank, `/refunds/${REFUND_ID}`, 'FAILED')).errorCode, 'AC06')
})

test('[sandbox.21] the events of an operation are late or doubled', async (t) => {
  const service = await startService(t)
  const clock = steppedClock()
  const bank = await startBank(t, { clock, eventsUrl: service.url })
  await bank.charge('late', terms('bank:late:20'))
  await bank.call('POST', '/control/charges/late/pay')
  await service.arrived(1)
  assert.ok(clock.sleptMs.includes(20_000))
  await bank.payout('doubled', payout('bank:twice'))
  const arrived = await service.arrived(3)
  assert.deepEqual(
    arrived.map(({ event }) => event.externalId),
    ['late', 'doubled', 'doubled'],
  )
})

test('[sandbox.21] markers work in the texts of API Pix', async (t) => {
  const bank = await startApiPixBank(t)
  await bank.cob({ solicitacaoPagador: 'Pedido bank:pay' })
  const paid = await becomesIn(bank, `/v2/cob/${TXID}`, 'CONCLUIDA')
  const returning = `/v2/pix/${paid.pix[0].endToEndId}/devolucao/1`
  await bank.call('PUT', returning, { valor: '1.00', descricao: 'bank:fail:AC06' })
  assert.match((await becomesIn(bank, returning, 'NAO_REALIZADO')).motivo, /^AC06: /)
  const pagador = { chave: COB.chave, infoPagador: 'bank:fail:AB03' }
  await bank.call('PUT', '/v3/gn/pix/repasse1', { valor: '1.00', pagador, favorecido: { chave: 'ana@exemplo.com.br' } })
  await becomesIn(bank, '/v2/gn/pix/enviados/id-envio/repasse1', 'NAO_REALIZADO')
})

/** Polls until the object has a status. */
async function becomesIn(bank: Awaited<ReturnType<typeof startApiPixBank>>, path: string, status: string) {
  for (;;) {
    const { body } = await bank.call('GET', path)
    if (body.status === status) return body
  }
}
