import assert from 'node:assert/strict'
import test from 'node:test'
import { testDatabase } from './support/database.ts'
import { startServerProcess } from './support/server-process.ts'
import { tcpProxy, through } from './support/tcp-proxy.ts'
import { ENVIRONMENT } from './support/world.ts'

test('[health.8] a worker goes on while its database is away, and works when that is back', async (t) => {
  const { url } = await testDatabase(t)
  const link = await tcpProxy(t, Number(new URL(url).port))
  const addresses = { DATABASE_URL: through(link, url), PIXGATE_PARTNER_URL: 'http://127.0.0.1:9' }
  const worker = startServerProcess({ ...ENVIRONMENT, ...addresses, PIXGATE_LOG_LEVEL: 'info' }, 0, 'worker')
  t.after(async () => {
    worker.kill()
    await worker.gone
  })
  assert.ok(await worker.ready)
  const ended = worker.gone.then(() => assert.fail('it ended'))
  const away = Promise.withResolvers<void>()
  let attempts = 0
  link.judge = () => {
    attempts += 1
    if (attempts > 20) away.resolve()
    return 'cut'
  }
  link.cutAll()
  await Promise.race([ended, away.promise])
  const back = Promise.withResolvers<void>()
  link.judge = (direction) => {
    if (direction === 'response') back.resolve()
    return 'pass'
  }
  await Promise.race([ended, back.promise])
})
