import assert from 'node:assert/strict'
import test from 'node:test'
import { createCashOutCommands } from '../../src/cash-out/commands.ts'
import { createInboxCommands } from '../../src/inbox/receive.ts'
import type { Receivers } from '../../src/inbox/receivers.ts'
import { createInboxStore } from '../../src/inbox/store.ts'
import { cashOutRequest, TERMS } from '../cash-out/situations.ts'
import { assertBooks, balances } from '../support/books.ts'
import { openTestDatabase } from '../support/database.ts'
import { cashInRequest, payment, testEngine } from '../support/engine.ts'
import { inbound, paidEvent, UNREAD } from '../support/partner-events.ts'
import { replicatedPostgres } from '../support/standby.ts'
import { tcpProxy, through } from '../support/tcp-proxy.ts'

test('[DB-7] [PL-40] after a fail-over nothing that was answered is missing, and what was not answered is done once', async (t) => {
  const postgres = await replicatedPostgres(t)
  const proxy = await tcpProxy(t, portOf(postgres.primaryUrl))
  const url = through(proxy, postgres.primaryUrl)
  const one = testEngine(t, url)
  const charge = cashInRequest({ id: one.ids.uuid(), externalId: 'funding' })
  await one.cashIns.create(charge)
  const paid = payment({ endToEndId: 'E-funding' })
  await one.cashIns.apply(charge.id, { on: 'partner.confirmed', payment: paid, transactionId: 'tx-funding' })
  const database = openTestDatabase(url, 1)
  t.after(() => database.close())
  const { accept } = createInboxCommands({
    store: createInboxStore(database),
    inbound,
    receivers: {} as Receivers,
    reports: UNREAD,
    clock: one.clock,
    ids: one.ids,
    onStored: () => undefined,
  })
  const request = cashOutRequest({ id: one.ids.uuid(), externalId: 'hanging', idempotencyKey: 'key' })
  const elsewhere = createCashOutCommands(testEngine(t, url).engine, TERMS)
  const event = Buffer.from(JSON.stringify(paidEvent({ id: charge.id, valueCents: 1, providerTransactionId: 'tx' })))

  await postgres.stopStandby()
  // In doubt for more than 5 s it is told «later».
  const first = createCashOutCommands(one.engine, TERMS)
    .create(request)
    .then(
      ({ cashOut }) => cashOut.id,
      ({ code }) => code,
    )
  await postgres.cancelWaits()
  const lost = assert.rejects(accept({ endpoint: 'cash-in', body: event, isProven: true }))
  // What the payout became is asked by a write, which hangs as well.
  await postgres.cancelWaits(2)
  await lost
  // Both can be read now. Whoever asks again is told nothing that only this machine has.
  const again = assert.rejects(elsewhere.create({ ...request, id: one.ids.uuid() }), { code: 'overloaded' })
  const reportedAgain = assert.rejects(accept({ endpoint: 'cash-in', body: event, isProven: true }))
  await postgres.hanging(2, 'pg_logical_emit_message')
  await postgres.failOver()
  proxy.target = portOf(postgres.standbyUrl)
  proxy.cutAll()
  await Promise.all([again, reportedAgain])

  assert.ok([request.id, 'overloaded'].includes(await first))
  const replayed = await elsewhere.create({ ...request, id: one.ids.uuid() })
  assert.deepEqual([replayed.cashOut.id, replayed.isReplayed], [request.id, true])
  await accept({ endpoint: 'cash-in', body: event, isProven: true })
  const standby = openTestDatabase(postgres.standbyUrl)
  t.after(() => standby.close())
  assert.equal((await balances(standby)).reserved, 31_00n)
  await assertBooks(standby)
})

function portOf(url: string): number {
  return Number(new URL(url).port)
}
