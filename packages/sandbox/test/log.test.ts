import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { openLog } from '../src/log.ts'

const CANARY = 'canary'

/** Output of one log entry. */
function written(isTTY: boolean, fields: object = { token: CANARY, attempts: 3 }, message = 'something'): string {
  const destination = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream
  let text = ''
  destination.on('data', (bytes) => {
    text += bytes
  })
  openLog('info', destination).info(fields, message)
  return text
}

test('[logs.1] [logs.3] on a terminal the log has one readable line per entry and the same redaction', () => {
  const text = written(true)
  assert.match(text, /^[^\n]*something[^\n]*attempts[^\n]*\n$/)
  assert.throws(() => JSON.parse(text))
  assert.ok(!text.includes(CANARY))
})

test('[logs.1] outside a terminal the log is the server’s lines of JSON', () => {
  const { msg, attempts, token } = JSON.parse(written(false))
  assert.deepEqual([msg, attempts, token], ['something', 3, '***'])
})

test('[logs.3] [logs.4] on a terminal an error is one line, with control characters of foreign text escaped', () => {
  const others = 'a\u202eb\u0085c\u2028d\u001b[2Je\nf\u007f'
  const text = written(true, { error: new Error(others), reason: others, err: { message: others } }, `it is ${others}`)
  assert.match(text, /^[^\n]*it is a\\u202eb\\?[^\n]*stack[^\n]*\n$/)
  // Colours of its own are the only sequences.
  assert.doesNotMatch(text.replaceAll(/\p{Cc}\[\d*m/gu, '').slice(0, -1), /[\p{Cc}\u2028-\u202e]/u)
})
