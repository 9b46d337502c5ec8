import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { callsTo, chargeBy, TOKEN } from '../../bank-simulator/test/support/bank.ts'
import { openLog } from '../src/log.ts'
import { startSimulator } from '../src/simulator-process.ts'

test('[config.10] the simulated bank leaves its usual port to the service', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'pixgate-simulator-'))
  t.after(() => rm(dataDirectory, { recursive: true, force: true }))
  const logger = openLog('info', new PassThrough() as unknown as NodeJS.WriteStream)
  const secrets = { partnerToken: TOKEN, partnerSecret: 'the secret' }
  const eventsUrl = 'http://127.0.0.1:8081'
  const simulator = await startSimulator({ dataDirectory, simulatorPort: undefined, ...secrets, eventsUrl, logger })
  t.after(() => simulator.stop())
  assert.notEqual(new URL(simulator.url).port, '8081')
})

test('[logs.3] a warning of the simulated bank is a line of the log', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'pixgate-simulator-'))
  t.after(() => rm(dataDirectory, { recursive: true, force: true }))
  const output = new PassThrough()
  const logger = openLog('info', output as unknown as NodeJS.WriteStream)
  const secrets = { partnerToken: TOKEN, partnerSecret: 'the secret' }
  const options = { dataDirectory, simulatorPort: 0, ...secrets, eventsUrl: 'http://127.0.0.1:9', logger }
  const simulator = await startSimulator(options)
  t.after(() => simulator.stop())
  const line = once(createInterface({ input: output }), 'line')
  const call = callsTo(simulator.url)
  await chargeBy(call, 'paid')
  await call('POST', '/control/charges/paid/pay')
  const { level, event } = JSON.parse((await line)[0])
  assert.deepEqual([level, event], ['warn', 'bank_simulator.warning'])
})
