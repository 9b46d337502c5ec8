import assert from 'node:assert/strict'
import test from 'node:test'
import { attemptOutcomes } from '@pixgate/spec'
import { type Explained, explanationOf } from '../../src/webhooks/history.ts'

const NONE = { dnsMs: null, connectMs: null, tlsMs: null, waitMs: null }

function explain(attempt: Partial<Explained>): string {
  return explanationOf({ outcome: 'refused', statusCode: null, code: null, times: NONE, ...attempt })
}

test('[webhooks.17] a status is told, with what it means where that is known', () => {
  assert.equal(explain({ outcome: 'delivered', statusCode: 204 }), 'Your server took it: it answered 204.')
  assert.equal(explain({ statusCode: 500 }), 'Your server answered 500.')
  assert.equal(explain({ statusCode: 302 }), 'Your server answered 302: a redirect is never followed.')
  assert.equal(explain({ statusCode: 400 }), 'Your server answered 400.')
  assert.equal(explain({ statusCode: 410 }), 'Your server answered 410: it wants no more notifications.')
  for (const statusCode of [401, 403]) assert.match(explain({ statusCode }), /did not verify the signature/)
})

test('[webhooks.17] what took too long is named by what it hung in', () => {
  const late = (times: Partial<Explained['times']>) => explain({ outcome: 'timeout', times: { ...NONE, ...times } })
  assert.equal(late({ dnsMs: 2_000 }), 'The name of your server was not looked up in time.')
  assert.equal(late({ dnsMs: 1, connectMs: 2_000 }), 'Your server did not take the connection in time.')
  assert.equal(late({ dnsMs: 1, connectMs: 2, tlsMs: 9 }), 'Your server did not finish the TLS handshake in time.')
  assert.equal(late({ waitMs: 5_000 }), 'Your server took the connection and did not answer in time.')
  assert.equal(
    late({}),
    'Your server did not take the connection in time.',
    'of the version before nothing more is known',
  )
})

test('[webhooks.17] why there was no connection and no answer is told by the code, where it is known', () => {
  for (const [outcome, code, told] of [
    ['connect', 'ECONNREFUSED', 'Your server refuses connections.'],
    ['connect', 'EWHATEVER', 'No connection to your server could be made.'],
    ['tls', 'CERT_HAS_EXPIRED', 'Your server has a certificate that has expired.'],
    ['tls', null, 'No TLS connection to your server could be made.'],
    ['dns', 'ENOTFOUND', 'Your server cannot be found: its name does not resolve.'],
    ['dns', null, 'The name of your server has no address.'],
    ['broken', 'ECONNRESET', 'Your server closed the connection before answering.'],
    ['broken', null, 'Your server closed the connection before answering.'],
    ['broken', 'HPE_INVALID', 'Your server answered something that is not HTTP.'],
    [
      'address_not_allowed',
      null,
      'The name of your server led to an address that is not public: no connection was made.',
    ],
  ] as const) {
    assert.equal(explain({ outcome, code }), told)
  }
})

test('[webhooks.17] every outcome has a sentence', () => {
  for (const outcome of attemptOutcomes) assert.match(explain({ outcome, statusCode: 500 }), /^(?:Your|The|No) .+\.$/)
})
