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

/** F2b: the same where the bank is silent about the return, and an operator says that it is the bank's own. */
test('ATTACK money in suspense can be decided after an operator said whose a return is', async (t) => {
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
  const taken = await pix.bankAction(`charges/${id}/return`, { valueCents: 50_00, nature: 'MED_FRAUDE' })
  const event = (await book()).events.pending.find(
    (pending: { returnId?: string }) => pending.returnId === taken.returnId,
  )
  await lie({ unavailable: 1_000 })
  const status = await postEvent(pix, {
    event: 'CashInReversal',
    eventId: 'event of it',
    transactionId: event.transactionId,
    status: 'CONFIRMED',
    endToEndId: taken.endToEndId,
    returnId: taken.returnId,
    valueCents: 50_00,
    occurredAt: new Date(pix.clock.now()).toISOString(),
  })
  assert.equal(status, 200)
  while ((await inbox(pix.database)).some(({ state }) => state === 'NEW'));
  for (let minute = 0; minute < 25; minute++) await pix.later(60_000)
  say(JSON.stringify({ cases: await cases(pix.database), b: String(Object.entries(await balances(pix.database))) }))
  assert.deepEqual(await drifts(pix.database), [])
  const unexplained = (await list(id)).find(({ kind }: { kind: string }) => kind === 'return_unexplained')
  if (unexplained) say(JSON.stringify((await decide(unexplained.id, 'book')).status))
  for (let minute = 0; minute < 3; minute++) await pix.later(60_000)
  say(JSON.stringify({ cases: await cases(pix.database), b: String(Object.entries(await balances(pix.database))) }))
  assert.deepEqual(await drifts(pix.database), [])
  await lie({})
  for (let minute = 0; minute < 60; minute++) await pix.later(60_000)
  const options = (await read(caseId)).options
  say(
    JSON.stringify(
      options.map(({ decision, isOffered, maxCents }: Record<string, unknown>) => [decision, isOffered, maxCents]),
    ),
  )
  say(JSON.stringify({ cases: await cases(pix.database), b: String(Object.entries(await balances(pix.database))) }))
  assert.deepEqual(await balances(pix.database), { suspense_in: 100_00n, settlement: -100_00n })
  assert.equal((await decide(caseId, 'write_off')).status, 200)
})
