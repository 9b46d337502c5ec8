import assert from 'node:assert/strict'
import test from 'node:test'
import { balances } from '../support/books.ts'
import { cases, inbox } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { postEvent } from '../support/partner-events.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'
import { drifts } from './drifts.ts'
import { say } from './say.ts'

/**
 * F7: the merchant's own refund is paid from money in suspense. Of 150 for 100 the charge keeps 100, 50 are in suspense. The merchant
 * refunds 30; the bank tells that by its own ids before it answers (RF-12).
 */
test('ATTACK a refund of the merchant is not taken from money in suspense', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' }, { isStepped: true })
  const { id } = await pix.charge('100')
  await pix.bankAction(`charges/${id}/pay`, { valueCents: 150_00 })
  await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === 150_00)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const [{ id: caseId }] = (await pix.call('GET', `/operator/cases?operation_id=${id}`, undefined, ana)).body.data
  const { version } = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
  const asked = { decision: 'accept', version, reason: 'as the payer wants', amountCents: 100_00 }
  assert.equal((await pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, ana)).status, 200)
  /** What an operator can do about the refund. */
  const decideAll = async () => {
    const said: unknown[] = []
    for (const decision of ['close', 'not_executed', 'executed']) {
      for (const one of (await pix.call('GET', '/operator/cases?operation_id=' + refundId, undefined, ana)).body.data) {
        const whole = (await pix.call('GET', `/operator/cases/${one.id}`, undefined, ana)).body
        const asked = {
          decision,
          version: whole.version,
          reason: 'as the bank has it',
          ...(decision === 'executed' ? { evidence: { returnId: done.returnId } } : {}),
        }
        const { status, body } = await pix.call('POST', `/operator/cases/${one.id}/decisions`, asked, ana)
        said.push([one.kind, decision, status, body.code])
      }
      for (let minute = 0; minute < 8; minute++) await pix.later(60_000)
    }
    return said
  }
  const { endToEndId } = await pix.get(`/api/pix/cash-in/${id}`)
  await pix.behave({ refundIn: 'lost-response', eventDelayMs: 3_600_000 })
  const { id: refundId } = await pix.refundIn(id, 30)
  await pix.later(100)
  const carriedOut = async () =>
    (await pix.bank('GET', '/control/book')).body.refunds.find(
      ({ status }: { status: string }) => status === 'CONFIRMED',
    )
  let done = await carriedOut()
  while (!done) done = await carriedOut()
  await postEvent(pix, {
    event: 'CashInReversal',
    eventId: 'event of it',
    transactionId: done.transactionId,
    status: 'CONFIRMED',
    endToEndId,
    returnId: done.returnId,
    valueCents: 30_00,
    occurredAt: new Date(pix.clock.now()).toISOString(),
  })
  while ((await inbox(pix.database)).some(({ state }) => state === 'NEW'));
  await pix.behave({ refundIn: 'auto', eventDelayMs: 0 })
  for (let minute = 0; minute < 10; minute++) await pix.later(60_000)
  say(
    JSON.stringify({
      refund: (await pix.get(`/api/pix/refund/${refundId}`)).status,
      cases: await cases(pix.database),
      b: String(Object.entries(await balances(pix.database))),
      charge: await pix.get(`/api/pix/cash-in/${id}`),
    }),
  )
  say(JSON.stringify(await drifts(pix.database)))
  const { enabled, reason } = (
    await pix.call('GET', '/operator/cash-out-switch', undefined, { authorization: `Bearer ${ADMIN_TOKEN}` })
  ).body
  say(JSON.stringify({ enabled, reason }))
  const decided = await decideAll()
  say(
    JSON.stringify({
      decided,
      refund: await pix.get(`/api/pix/refund/${refundId}`),
      cases: await cases(pix.database),
      b: String(Object.entries(await balances(pix.database))),
    }),
  )
  assert.deepEqual(await balances(pix.database), { available: 70_00n, settlement: -120_00n, suspense_in: 50_00n })
  assert.equal((await pix.get(`/api/pix/refund/${refundId}`)).status, 'CONFIRMED')
})
