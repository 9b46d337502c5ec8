import assert from 'node:assert/strict'
import test from 'node:test'
import { administer, openTestDatabase } from '../support/database.ts'
import { makeOperator } from '../support/operators.ts'
import { backupOf } from '../support/restored-database.ts'
import { enable } from '../support/restored-orders.ts'
import { stepUntil } from '../support/stepping.ts'
import { wallNow } from '../support/wall-clock.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

void administer
void openTestDatabase
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` }
const ALONE = { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' }

async function desk(pix: World, token: string, id: string) {
  const ana = { authorization: `Bearer ${token}` }
  const [{ id: caseId }] = (await pix.call('GET', `/operator/cases?operation_id=${id}`, undefined, ana)).body.data
  return async (amountCents: number) => {
    const { version } = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
    const asked = { decision: 'return_to_payer', version, reason: 'as the payer wants', amountCents }
    return pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, ana)
  }
}

/**
 * F4: order ids of returns are counted, also those that never reached the bank. One that never did, and the second that did, are forgotten by a
 * restored database: ordered again, it goes out under the id of the first, which the bank does not know.
 */
for (const isNoticed of [true, false])
  test(`ATTACK a return that a restored database has forgotten is not made a second time (noticed: ${isNoticed})`, async (t) => {
    const before = await world(t, ALONE, { isStepped: true })
    const { id } = await before.charge('100')
    await before.bankAction(`charges/${id}/pay`, { valueCents: 150_00 })
    await before.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === 150_00)
    const token = await makeOperator(before, 'operator', 'Ana')
    const backup = await backupOf(t, before.databaseUrl)
    if (!isNoticed)
      await administer(backup, 'UPDATE database_identity SET cluster = NULL, tables = NULL, timeline = NULL')
    const order = await desk(before, token, id)
    // The first is refused before anybody sends it: an amount was wrong.
    assert.equal((await order(60_00)).status, 200)
    const bia = { authorization: `Bearer ${await makeOperator(before, 'approver', 'Bia')}` }
    const [{ id: first }] = (await before.call('GET', '/api/pix/refund')).body.data
    const refused = await before.call(
      'PUT',
      `/operator/approvals/${first}`,
      { approved: false, reason: 'a wrong amount' },
      bia,
    )
    assert.equal(refused.status, 200, JSON.stringify(refused.body))
    assert.equal((await order(50_00)).status, 200)
    const [{ id: second }] = (await before.call('GET', '/api/pix/refund')).body.data
    await stepUntil(before, `/api/pix/refund/${second}`, 'CONFIRMED')
    before.clock.advance(Math.max(0, wallNow() - before.clock.now()))

    const pix = await world(t, ALONE, { isStepped: true, bankUrl: before.bankUrl, reach: async () => backup })
    if (isNoticed) await enable(pix)
    void ADMIN
    const again = await (await desk(pix, token, id))(50_00)
    assert.equal(again.status, 200, JSON.stringify(again.body))
    for (let seconds = 0; seconds < 60; seconds++) await pix.later(1_000)
    const { entries } = (await before.bank('GET', '/control/book')).body
    const sent = entries.filter(({ kind }: { readonly kind: string }) => kind === 'REFUND_SENT')
    assert.deepEqual(
      sent.map(({ valueCents }: { readonly valueCents: number }) => valueCents),
      [50_00],
    )
  })
