import assert from 'node:assert/strict'
import test from 'node:test'
import { lacking } from '../../src/banks/lacking.ts'
import type { StatementAnswer } from '../../src/banks/port.ts'
import { bankProblem } from '../../src/banks/problem.ts'
import { watchBank } from '../../src/banks/watch.ts'

const SETTINGS = { address: 'PIXGATE_PARTNER_URL', credentials: 'PIXGATE_PARTNER_TOKEN' }

test('[health.5] what is wrong with the way to the bank, or with what it answers, and what to look at', () => {
  const notSent = (reason: string) => bankProblem({ kind: 'NOT_SENT', reason }, SETTINGS)
  const answered = (httpStatus: number) => bankProblem({ kind: 'UNKNOWN', reason: 'x', httpStatus }, SETTINGS)
  assert.equal(notSent('ENOTFOUND'), 'the bank cannot be found: its name does not resolve: check PIXGATE_PARTNER_URL')
  assert.equal(notSent('ECONNREFUSED'), 'the bank refuses connections: check PIXGATE_PARTNER_URL')
  assert.equal(notSent('timeout'), 'the bank does not answer in time: check PIXGATE_PARTNER_URL')
  assert.equal(
    notSent('CERT_HAS_EXPIRED'),
    'the bank has a certificate that has expired: the bank has to renew it, or check PIXGATE_PARTNER_URL',
  )
  assert.equal(notSent('constructor'), 'the bank does not answer: check PIXGATE_PARTNER_URL')
  const lost = { kind: 'UNKNOWN', reason: 'ECONNRESET', httpStatus: undefined }
  assert.equal(bankProblem(lost, SETTINGS), 'the bank cuts the connection: check PIXGATE_PARTNER_URL')
  assert.equal(answered(401), 'the bank answers 401: check PIXGATE_PARTNER_TOKEN')
  assert.equal(answered(403), 'the bank answers 403: check PIXGATE_PARTNER_TOKEN')
  assert.equal(answered(404), 'the bank answers 404: check PIXGATE_PARTNER_URL')
  assert.equal(answered(301), 'the bank answers 301: check PIXGATE_PARTNER_URL')
  assert.equal(answered(429), 'the bank answers 429: it takes no more calls for now')
  assert.equal(answered(500), 'the bank answers 500')
  assert.equal(answered(200), 'the bank answers what cannot be read')
  for (const kind of ['READ', 'REJECTED', 'NOT_FOUND', 'FINAL', 'CONTRADICTED']) {
    assert.equal(bankProblem({ kind, reason: 'x' }, SETTINGS), undefined, kind)
  }
})

test('[health.5] [config.10] the bank stands as its last answer says, and the first one is told', async () => {
  const answers: StatementAnswer[] = [
    { kind: 'UNKNOWN', reason: 'HTTP 401', httpStatus: 401 },
    { kind: 'READ', page: { entries: [], openingCents: 0n, closingCents: 0n, nextCursor: null } },
  ]
  const bank = {
    ...lacking,
    capabilities: new Set(['statement'] as const),
    idempotencyWindowMs: 0,
    readStatement: async () => answers.shift() as StatementAnswer,
  }
  const first: (string | undefined)[] = []
  const { partner, standing } = watchBank(bank, { settings: SETTINGS, host: undefined }, (known) => first.push(known))
  const query = { from: 0, to: 1, cursor: null }
  assert.deepEqual(standing(), { isKnown: false, problem: undefined })
  assert.equal((await partner.readStatement(query)).kind, 'UNKNOWN')
  const problem = 'the bank answers 401: check PIXGATE_PARTNER_TOKEN'
  assert.deepEqual(standing(), { isKnown: true, problem })
  assert.equal((await partner.readStatement(query)).kind, 'READ')
  assert.deepEqual(standing(), { isKnown: true, problem: undefined })
  assert.deepEqual(first, [problem])
})

test('[health.5] [config.10] the log names a host that does not resolve; what anybody is told does not', async () => {
  const answer: StatementAnswer = { kind: 'UNKNOWN', reason: 'ENOTFOUND', httpStatus: undefined }
  const bank = {
    ...lacking,
    capabilities: new Set(['statement'] as const),
    idempotencyWindowMs: 0,
    readStatement: async () => answer,
  }
  const first: (string | undefined)[] = []
  const { partner, standing } = watchBank(bank, { settings: SETTINGS, host: 'bank.invalid' }, (known) =>
    first.push(known),
  )
  await partner.readStatement({ from: 0, to: 1, cursor: null })
  const sentence = (who: string) => `${who} cannot be found: its name does not resolve: check PIXGATE_PARTNER_URL`
  assert.deepEqual([standing().problem, first], [sentence('the bank'), [sentence('the bank at bank.invalid')]])
})
