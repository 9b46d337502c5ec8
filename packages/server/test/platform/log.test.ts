import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { createLogger } from '../../src/platform/log.ts'

/** A log, and what was written to it. */
function capture(level: string) {
  let text = ''
  const write = (line: string) => {
    text += line
  }
  return { logger: createLogger(level, { write }), written: () => text }
}

const CANARY = 'canary'

test('[logs.1] names, documents, keys and secrets are redacted, at the top and one level down', () => {
  const { logger, written } = capture('info')
  const fields = ['authorization', 'apiKey', 'token', 'secret', 'password', 'document', 'fullName', 'name', 'payer']
  for (const field of [...fields, 'pixKey', 'pixCode', 'body', 'headers', 'payerName', 'payerDocument', 'adminToken']) {
    logger.info({ [field]: CANARY, within: { [field]: CANARY }, id: 'visible' }, 'message')
  }
  assert.ok(!written().includes(CANARY), written())
  assert.ok(written().includes('"id":"visible"'))
})

test('[logs.1] an error that is logged by mistake shows neither its rows nor its parameters', () => {
  const { logger, written } = capture('info')
  const error = Object.assign(new Error('duplicate key value violates unique constraint'), {
    detail: `Key (external_id)=(${CANARY}) already exists.`,
    parameters: [CANARY],
  })
  logger.error({ err: error }, 'message')
  logger.error(error)
  assert.ok(!written().includes(CANARY), written())
  assert.ok(written().includes('duplicate key value'))
})

test('[config.1] a line is JSON with its level by name and its time in UTC; what is below the level is not written', () => {
  const { logger, written } = capture('warn')
  logger.info('nothing')
  logger.warn({ attempts: 3 }, 'something')
  const { time, ...line } = JSON.parse(written())
  assert.deepEqual(line, { level: 'warn', attempts: 3, msg: 'something' })
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('[logs.4] text of others neither ends a line nor changes its direction', () => {
  const { logger, written } = capture('info')
  const reference = 'a\nb\u0085c\u2028d\u2029e\u202ef\u2066g\u009bh'
  logger.info({ reference }, 'message')
  assert.doesNotMatch(written(), /[\u0080-\u009f\u2028-\u202e\u2066-\u2069]|\n(?!$)/)
  assert.equal(JSON.parse(written()).reference, reference)
})

test('[logs.2] a failing destination fails no caller', () => {
  const logger = createLogger('info', {
    write: () => {
      throw new Error('the disk is full')
    },
  })
  logger.error({ case: 'event_set_aside' }, 'message')
})

test('[logs.2] a reader of the log that goes away does not end the process', () => {
  const destination = new PassThrough()
  createLogger('info', destination).info('message')
  destination.destroy(new Error('EPIPE'))
  assert.equal(destination.listenerCount('error'), 1)
})
