import assert from 'node:assert/strict'
import test from 'node:test'
import { attemptOutcomes } from '@pixgate/spec'
import { type Explained, explanationOf } from '../../src/webhooks/history.ts'

const NONE = { dnsMs: null, connectMs: null, tlsMs: null, waitMs: null }

function explain(attempt: Partial<Explained>): string {
  return explanationOf({ outcome: 'refused', statusCode: null, code: null, times: NONE, ...attempt })
}

/** Each of these attempts is explained in its own sentence. */
function assertDistinct(attempts: readonly Partial<Explained>[]): void {
  const sentences = attempts.map(explain)
  assert.equal(new Set(sentences).size, sentences.length, sentences.join('\n'))
}

test('[webhooks.17] statuses, the phase of a timeout and known codes are told apart', () => {
  const late = (times: Partial<Explained['times']>) => ({ outcome: 'timeout', times: { ...NONE, ...times } }) as const
  const phases = [{ dnsMs: 2_000 }, { dnsMs: 1, connectMs: 2_000 }, { dnsMs: 1, connectMs: 2, tlsMs: 9 }]
  assertDistinct([
    { outcome: 'delivered', statusCode: 204 },
    ...[500, 302, 401, 410].map((statusCode) => ({ statusCode })),
    ...[...phases, { waitMs: 5_000 }].map(late),
    { outcome: 'connect', code: 'ECONNREFUSED' },
    { outcome: 'connect', code: 'EWHATEVER' },
    { outcome: 'tls', code: 'CERT_HAS_EXPIRED' },
    { outcome: 'tls' },
    { outcome: 'dns', code: 'ENOTFOUND' },
    { outcome: 'dns' },
    { outcome: 'broken', code: 'ECONNRESET' },
    { outcome: 'broken', code: 'HPE_INVALID' },
    { outcome: 'address_not_allowed' },
  ])
})

test('[webhooks.17] every outcome has a sentence', () => {
  for (const outcome of attemptOutcomes) assert.match(explain({ outcome, statusCode: 500 }), /^(?:Your|The|No) .+\.$/)
})
