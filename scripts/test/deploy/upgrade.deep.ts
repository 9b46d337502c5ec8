import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { administer, testDatabase } from '../../../packages/server/test/support/database.ts'
import { as } from '../../../packages/server/test/support/logins.ts'
import { blocksOf } from './guide.ts'
import { bareMachine, endOf, placeProgram, productionSettings, ready, settingsFile } from './installation.ts'

/** The steps of the guide on upgrading, line by line, beside an installed version. */
const [prepareFirst = ''] = blocksOf('Starting it for real', 'sh')
const [prepare = '', install = '', change = '', verify = ''] = blocksOf('Upgrading', 'sh')
const [makeLogin = ''] = blocksOf('Upgrading', 'sql')

test('the installed version is kept, then the new one starts in its place and the books are right', async (t) => {
  const { folder, here, succeed, start, run } = await bareMachine(t)
  await succeed(here(prepareFirst))
  mkdirSync(join(folder, 'opt/pixgate/bin'))
  placeProgram(join(folder, 'opt/pixgate/bin/pixgate'), 'echo "the version before"')
  const { url: owner } = await testDatabase(t)
  const password = randomUUID()
  await administer(owner, makeLogin.replace('choose-another', password))
  t.after(() => administer(process.env.PIXGATE_TEST_DATABASE_URL ?? '', 'DROP ROLE pixgate_server'))
  const server = as(owner, { role: 'pixgate_server', password })
  const settings = {
    pixgate: productionSettings({ DATABASE_URL: server, PORT: '0' }),
    migration: { PIXGATE_MODE: 'production', PIXGATE_MIGRATION_URL: owner },
  }
  for (const [name, values] of Object.entries(settings)) {
    writeFileSync(join(folder, `etc/pixgate/${name}.env`), settingsFile(values), { mode: 0o644 })
  }

  await succeed(here(prepare))
  await succeed(here(install))
  assert.equal(await succeed(here('/opt/pixgate/bin/pixgate')), 'the version before\n')

  const orders = join(folder, 'orders')
  placeProgram(join(folder, 'sbin/systemctl'), `echo "$*" >> "${orders}"`)
  await succeed(here(change))
  assert.equal(readFileSync(orders, 'utf8'), 'stop pixgate-api pixgate-worker\nstart pixgate-api pixgate-worker\n')
  assert.equal(await succeed(here('/opt/pixgate-before/bin/pixgate')), 'the version before\n')
  const started = start(here(verify.replace(/pixgate verify-ledger$/m, 'pixgate all').replace(/^(?=\/)/m, 'exec ')))
  await ready(started)
  assert.match(await succeed(here(verify)), /no drift/)
  started.kill('SIGTERM')
  const { code, stdout, stderr } = await endOf(started)
  assert.deepEqual([code, stdout.includes('"applied"'), stderr], [0, false, ''])

  await succeed(here(prepare))
  mkdirSync(join(folder, 'opt/pixgate-next/bin'))
  writeFileSync(orders, '')
  const again = await run(here(change))
  assert.notEqual(again.code, 0, 'the version before is not lost to a second upgrade')
  assert.equal(readFileSync(orders, 'utf8'), '', 'and nothing was stopped')
  assert.deepEqual(readdirSync(join(folder, 'opt')).sort(), ['pixgate', 'pixgate-before', 'pixgate-next'])
})
