import assert from 'node:assert/strict'
import test from 'node:test'
import { createService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { alertKindsIn, CAUSES } from '../alerts/fixture.ts'
import { capturedLog } from '../support/captured-log.ts'
import { administer, testDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { ADMIN_TOKEN, ENVIRONMENT, request, world } from '../support/world.ts'

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
  await until(async () => (await alertKindsIn(database)).length >= 1)
  service.startWorkers()
  await chat.arrived(2)
  const titles = chat.received.map(({ body }) => JSON.parse(String(body)).attachments[0].content.body[0].text)
  assert.deepEqual(titles.sort(), [
    '[Pixgate sandbox] Payouts and refunds suspended',
    '[Pixgate sandbox] The bank does not answer',
  ])
})

test('[alerts.4] a channel that never answers holds up neither the others nor the end of the process', async (t) => {
  let isWaiting = true
  const silent = await startReceiver(t, (response) => {
    response.on('close', () => {
      isWaiting = false
    })
  })
  const chat = await startReceiver(t)
  const { url: DATABASE_URL } = await testDatabase(t)
  await administer(DATABASE_URL, `${CAUSES.case_opened}; ${CAUSES.endpoint_down}`)
  const addresses = {
    ...{ DATABASE_URL, PIXGATE_PARTNER_URL: 'http://127.0.0.1:9' },
    PIXGATE_ALERT_WEBHOOK_URLS: `slack:${silent.url}, teams:${chat.url}`,
  }
  const log = capturedLog()
  const service = await createService({
    config: readConfig({ ...ENVIRONMENT, ...addresses }),
    clock: createDatabaseClock(),
    pause: realPause,
    random: Math.random,
    logger: log.logger,
  })
  service.startWorkers()
  await silent.arrived(1)
  await chat.arrived(2)
  assert.ok(isWaiting)
  await service.stop()
  const ended = log.lines.find(({ event }) => event === 'alert.retry_scheduled')
  assert.ok(ended)
  assert.notEqual(ended.reason, 'timeout')
})
