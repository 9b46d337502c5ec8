import assert from 'node:assert/strict'
import test from 'node:test'
import { alertKindsIn } from '../alerts/fixture.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { ADMIN_TOKEN, request, world } from '../support/world.ts'

test('[alerts.1] [alerts.9] the service sends alerts about a suspension and about a bank that is away', async (t) => {
  const chat = await startReceiver(t)
  const { service, operatorUrl, charge, database } = await world(
    t,
    { PIXGATE_ALERT_WEBHOOK_URLS: `teams:${chat.url}`, PIXGATE_ALERT_LANGUAGE: 'en' },
    { isStepped: true, bankUrl: 'http://127.0.0.1:1' },
  )
  const off = { enabled: false, reason: 'Ana Souza, 111.444.777-35' }
  const { status } = await request(`${operatorUrl}/operator/cash-out-switch`, ADMIN_TOKEN, 'PUT', off)
  assert.equal(status, 200)
  for (let count = 0; count < 5; count += 1) await charge('10.00')
  service.startWatch()
  while ((await alertKindsIn(database)).length < 1);
  service.startWorkers()
  await chat.arrived(2)
  const titles = chat.received.map(({ body }) => JSON.parse(String(body)).attachments[0].content.body[0].text)
  assert.deepEqual(titles.sort(), [
    '[Pixgate sandbox] Payouts and refunds suspended',
    '[Pixgate sandbox] The bank does not answer',
  ])
})
