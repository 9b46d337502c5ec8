import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { openLog } from '../src/log.ts'

const CANARY = 'canary'

/** What is written of a line with a secret. */
function written(isTTY: boolean): string {
  const destination = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream
  let text = ''
  destination.on('data', (bytes) => {
    text += bytes
  })
  openLog('info', destination).info({ token: CANARY, attempts: 3 }, 'something')
  return text
}

test('[logs.1] [logs.3] on a terminal the log is made for people, a line each, and redacts the same', () => {
  const text = written(true)
  assert.match(text, /^[^\n]*something[^\n]*attempts[^\n]*\n$/)
  assert.throws(() => JSON.parse(text))
  assert.ok(!text.includes(CANARY))
})

test('[logs.1] elsewhere it is the server’s, in lines of JSON', () => {
  const { msg, attempts, token } = JSON.parse(written(false))
  assert.deepEqual([msg, attempts, token], ['something', 3, '***'])
})
