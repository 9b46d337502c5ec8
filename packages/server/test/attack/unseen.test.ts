import assert from 'node:assert/strict'
import test from 'node:test'
import { balances } from '../support/books.ts'
import { cases, inbox } from '../support/evidence.ts'
import { IMPATIENT } from '../support/impatience.ts'
import { makeOperator } from '../support/operators.ts'
import { postEvent } from '../support/partner-events.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'
import { drifts } from './drifts.ts'
import { say } from './say.ts'

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` }

/**
 * F11, after F5, with another open case of the charge: the sum of what refunds return is beyond what is in suspense, and the
 * guard of `executed` counts from zero.
 */
test('ATTACK the verification of the books finds money in suspense that was used twice', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000', ...IMPATIENT }, { isStepped: true })
  const { id } = await pix.charge('100')
  await pix.bankAction(`charges/${id}/pay`, { valueCents: 150_00 })
  await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === 150_00)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const list = async (of: string) =>
    (await pix.call('GET', `/operator/cases?operation_id=${of}`, undefined, ana)).body.data
  const read = async (caseId: string) => (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
  const decide = async (caseId: string, decision: string, more: object = {}) => {
    const { version } = await read(caseId)
    return pix.call(
      'POST',
      `/operator/cases/${caseId}/decisions`,
      { decision, version, reason: 'as it is', ...more },
      ana,
    )
  }
  const lie = (perThousand: object) => pix.bank('PUT', '/control/lies', { perThousand })
  const book = async () => (await pix.bank('GET', '/control/book')).body
  const [{ id: caseId }] = await list(id)
  await pix.behave({ refundIn: 'timeout', eventDelayMs: 3_600_000 })
  assert.equal((await decide(caseId, 'return_to_payer', { amountCents: 50_00 })).status, 200)
  const [{ id: refundId }] = (await pix.call('GET', '/api/pix/refund')).body.data
  let unknown: { id: string } | undefined
  for (let minute = 0; minute < 40 && !unknown; minute++) {
    await pix.later(60_000)
    ;[unknown] = await list(refundId)
  }
  assert.ok(unknown)
  // No byte leaves any more: the last attempt gets older than 5 minutes.
  await lie({ unavailable: 1_000 })
  await pix.call('PUT', '/operator/cash-out-switch', { enabled: false, reason: 'the bank is silent' }, ADMIN)
  let answer = await decide(unknown.id, 'not_executed')
  for (let minute = 0; minute < 10 && answer.status !== 200; minute++) {
    await pix.later(60_000)
    answer = await decide(unknown.id, 'not_executed')
  }
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal((await pix.get(`/api/pix/refund/${refundId}`)).status, 'FAILED')
  await lie({})
  await pix.behave({ refundIn: 'auto' })
  // The merchant keeps 100, and 50 are ordered to go back once more.
  assert.equal((await decide(caseId, 'accept', { amountCents: 100_00 })).status, 200)
  await pix.behave({ refundIn: 'manual' })
  const on = (await pix.call('GET', '/operator/cash-out-switch', undefined, ADMIN)).body
  await pix.call('PUT', '/operator/cash-out-switch', { enabled: true, reason: 'on', version: on.version }, ADMIN)
  assert.equal((await decide(caseId, 'return_to_payer', { amountCents: 50_00 })).status, 200)
  await pix.later(1_000)
  const [{ id: second }] = (await pix.call('GET', '/api/pix/refund')).body.data
  assert.notEqual(second, refundId)
  await pix.behave({ refundIn: 'auto' })
  // The call of the first, that was given up, arrives after all.
  const { endToEndId } = (await book()).entries.find(({ kind }: { kind: string }) => kind === 'PAYMENT_RECEIVED')
  await pix.bank('PUT', `/refunds/${await pix.orderIdOf(refundId)}`, { endToEndId, valueCents: 50_00 })
  while ((await book()).entries.every(({ kind }: { kind: string }) => kind !== 'REFUND_SENT'));
  const done = (await book()).refunds.find(({ status }: { status: string }) => status === 'CONFIRMED')
  await postEvent(pix, {
    event: 'CashInReversal',
    eventId: 'event of it',
    transactionId: done.transactionId,
    status: 'CONFIRMED',
    endToEndId,
    returnId: done.returnId,
    valueCents: 50_00,
    occurredAt: new Date(pix.clock.now()).toISOString(),
  })
  while ((await inbox(pix.database)).some(({ state }) => state === 'NEW'));
  for (let minute = 0; minute < 2; minute++) await pix.later(60_000)
  say(JSON.stringify({ cases: await cases(pix.database), b: String(Object.entries(await balances(pix.database))) }))
  await pix.bankAction(`charges/${id}/pay`, { valueCents: 10_00 })
  await pix.later(60_000)
  const debit = (await list(refundId)).find(({ kind }: { kind: string }) => kind === 'debit_in_suspense')
  const executed = await decide(debit.id, 'executed')
  say(
    JSON.stringify({
      executed: executed.status,
      cases: await cases(pix.database),
      b: String(Object.entries(await balances(pix.database))),
    }),
  )
  await pix.bankAction(`refunds/${second}/confirm`)
  for (let minute = 0; minute < 10; minute++) {
    try {
      await pix.later(60_000)
    } catch (error) {
      say(String(error))
    }
  }
  say(
    JSON.stringify({
      refunds: (await pix.call('GET', '/api/pix/refund')).body.data.map((one: Record<string, unknown>) => [
        one.status,
        one.valueCents,
      ]),
      cases: await cases(pix.database),
      b: String(Object.entries(await balances(pix.database))),
    }),
  )
  say(JSON.stringify(await drifts(pix.database)))
  assert.notDeepEqual(await drifts(pix.database), [], 'suspense_in is below zero')
})
