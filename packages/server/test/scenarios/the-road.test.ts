import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createVerify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { world } from '../support/world.ts'

test('[cash-in.states.7] a charge is created, paid, booked and notified', async (t) => {
  const pix = await world(t, { PIXGATE_FEE_CASH_IN_CENTS: '10' })
  const charge = await pix.charge('150.25', { description: 'Pedido 1' })
  assert.equal(charge.status, 'PENDING')
  const ordered = await pix.call('POST', `/sandbox/cash-in/${charge.id}/pay`, { payerName: 'Maria da Silva' })
  assert.equal(ordered.status, 202)
  const paid = await pix.becomes(charge.id, 'PAID')
  assert.equal(paid.endToEndId, ordered.body.endToEndId)
  assert.equal(paid.payerName, 'Maria da Silva')

  const { body: balance } = await pix.call('GET', '/organization/balance')
  assert.equal(balance[0].amount, 150.15)
  const { body: ledger } = await pix.call('GET', '/api/pix/ledger')
  assert.deepEqual(
    ledger.data.map(({ operation, type, amountCents, balanceAfterCents }: Record<string, unknown>) => [
      operation,
      type,
      amountCents,
      balanceAfterCents,
    ]),
    [
      ['FEE', 'DEBIT', 10, 15015],
      ['CASH_IN', 'CREDIT', 15025, 15025],
    ],
  )

  await pix.receiver.arrived(1)
  const { event_type, event } = JSON.parse(String(pix.receiver.received[0]?.body))
  assert.equal(event_type, 'pix_cash_in')
  assert.equal(event.id, charge.id)
  assert.equal(event.status, 'PAID')
  await pix.assertBooksAgree()
})

test('[webhooks.4] a notification is verified by OpenSSL with the key of GET /public-key', async (t) => {
  const pix = await world(t)
  const charge = await pix.charge('10.00')
  await pix.call('POST', `/sandbox/cash-in/${charge.id}/pay`)
  await pix.receiver.arrived(1)
  const [notification] = pix.receiver.received
  assert.ok(notification)
  const { body: pem } = await pix.call('GET', '/public-key')
  const signature = Buffer.from(String(notification.headers['digital-signature']), 'base64')
  assert.ok(createVerify('SHA256').update(notification.body).verify(pem, signature))

  const directory = mkdtempSync(join(tmpdir(), 'pixgate-openssl-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(directory, name), content)
    return join(directory, name)
  }
  const verify = (body: string) =>
    execFileSync('openssl', [
      'dgst',
      '-sha256',
      '-verify',
      file('key.pem', pem),
      '-signature',
      file('s', signature),
      body,
    ])
  assert.match(String(verify(file('body', notification.body))), /Verified OK/)
  assert.throws(() => verify(file('forged', Buffer.concat([notification.body, Buffer.from(' ')]))))
})
