import assert from 'node:assert/strict'
import test from 'node:test'
import { type BankSettings, lacking } from '../../src/banks/bank.ts'
import { type BankStanding, createStandingLog, guardCalls, standingOf } from '../../src/banks/calls.ts'
import type { AnyAnswer, Partner, StatementAnswer } from '../../src/banks/port.ts'
import { capturedLog } from '../support/captured-log.ts'
import * as payouts from './pixgate/payouts.ts'

const bankProblem = (answer: AnyAnswer, settings: BankSettings) => standingOf(answer, settings).problem
const isOfConfiguration = (answer: AnyAnswer) => standingOf(answer, SETTINGS).isOfConfiguration

const SETTINGS = { address: 'PIXGATE_PARTNER_URL', credentials: 'PIXGATE_PARTNER_TOKEN' }

test('[health.5] a failed call has a problem and the setting to check', () => {
  const notSent = (reason: string) => bankProblem({ kind: 'NOT_SENT', reason }, SETTINGS)
  const answered = (httpStatus: number) => bankProblem({ kind: 'UNKNOWN', reason: 'x', httpStatus }, SETTINGS)
  assert.equal(notSent('ENOTFOUND'), 'the bank cannot be found: its name does not resolve: check PIXGATE_PARTNER_URL')
  assert.equal(notSent('ECONNREFUSED'), 'the bank refuses connections: check PIXGATE_PARTNER_URL')
  assert.equal(notSent('constructor'), 'the bank does not answer: check PIXGATE_PARTNER_URL')
  assert.equal(answered(401), 'the bank answers 401: check PIXGATE_PARTNER_TOKEN')
  assert.equal(answered(403), 'the bank answers 403: check PIXGATE_PARTNER_TOKEN')
  assert.equal(answered(301), 'the bank answers 301: check PIXGATE_PARTNER_URL')
  assert.equal(answered(429), 'the bank answers 429: it takes no more calls for now')
  assert.equal(answered(500), 'the bank answers 500')
  assert.equal(answered(200), 'the bank answers what cannot be read')
  for (const kind of ['READ', 'REJECTED', 'NOT_FOUND', 'FINAL', 'CONTRADICTED']) {
    assert.equal(bankProblem({ kind, reason: 'x' }, SETTINGS), undefined, kind)
  }
})

test('[health.5] where TLS fails at a certificate, its own variable is named, if there is one', () => {
  const settings = { ...SETTINGS, certificate: 'OUR_CERTIFICATE', authorities: 'OUR_AUTHORITIES' }
  for (const [reason, variable] of [
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'OUR_CERTIFICATE'],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'OUR_CERTIFICATE'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'OUR_CERTIFICATE'],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'OUR_CERTIFICATE'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'OUR_AUTHORITIES'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'OUR_AUTHORITIES'],
    ['CERT_HAS_EXPIRED', 'PIXGATE_PARTNER_URL'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'PIXGATE_PARTNER_URL'],
    ['ECONNRESET', 'PIXGATE_PARTNER_URL'],
  ] as const) {
    const endsWith = new RegExp(`check ${variable}$`)
    assert.match(bankProblem({ kind: 'NOT_SENT', reason }, settings) ?? '', endsWith, reason)
    assert.match(bankProblem({ kind: 'NOT_SENT', reason }, SETTINGS) ?? '', /check PIXGATE_PARTNER_URL$/, reason)
  }
})

/** A bank of a host whose name may be logged, and what was logged. */
function guarded(given: Partial<Partner>) {
  const log = capturedLog()
  const bank = { ...lacking, capabilities: new Set(['statement', 'payout'] as const), idempotencyWindowMs: 0, ...given }
  const partner = guardCalls(bank, {
    configured: { settings: SETTINGS, host: 'bank.invalid' },
    logger: log.logger,
    clock: { now: () => 0 },
    onCall: () => undefined,
  })
  return { partner, lines: () => log.lines.map(({ level, event, msg }) => [level, event, msg]) }
}

const QUERY = { from: 0, to: 1, cursor: null }

test('[health.5] [config.10] the bank’s standing follows its last answer, and is logged', async () => {
  const answers: StatementAnswer[] = [
    { kind: 'UNKNOWN', reason: 'HTTP 401', httpStatus: 401 },
    { kind: 'READ', page: { entries: [], nextCursor: null } },
  ]
  const { partner, lines } = guarded({ readStatement: async () => answers.shift() as StatementAnswer })
  assert.deepEqual(partner.standing(), { isKnown: false, problem: undefined, isOfConfiguration: false })
  assert.equal((await partner.readStatement(QUERY)).kind, 'UNKNOWN')
  const problem = 'the bank answers 401: check PIXGATE_PARTNER_TOKEN'
  assert.deepEqual(partner.standing(), { isKnown: true, problem, isOfConfiguration: true })
  assert.equal((await partner.readStatement(QUERY)).kind, 'READ')
  assert.deepEqual(partner.standing(), { isKnown: true, problem: undefined, isOfConfiguration: false })
  assert.deepEqual(lines(), [
    ['error', 'bank.refuses_configuration', problem],
    ['info', 'bank.answers', 'the bank answers'],
  ])
})

test('[health.5] [config.10] the log names a host that does not resolve; public answers do not', async () => {
  const answer: StatementAnswer = { kind: 'UNKNOWN', reason: 'ENOTFOUND', httpStatus: undefined }
  const { partner, lines } = guarded({ readStatement: async () => answer })
  await partner.readStatement(QUERY)
  const sentence = (who: string) => `${who} cannot be found: its name does not resolve: check PIXGATE_PARTNER_URL`
  assert.equal(partner.standing().problem, sentence('the bank'))
  assert.deepEqual(lines(), [['error', 'bank.refuses_configuration', sentence('the bank at bank.invalid')]])
})

test('[health.5] an answer about one order alone does not change the standing of the bank', async () => {
  const { partner, lines } = guarded({
    sendPayout: async () => ({ kind: 'NOT_SENT', reason: 'its QR code cannot be read', isQrCodeFault: true }),
  })
  assert.equal((await partner.sendPayout(payouts.ID, payouts.REQUEST)).kind, 'NOT_SENT')
  assert.equal(partner.standing().isKnown, false)
  assert.deepEqual(
    lines().map(([, event]) => event),
    ['bank.call_failed'],
  )
})

test('[config.10] [logs.3] a fault of configuration is an error, logged every ten minutes, and so is its end', () => {
  const log = capturedLog()
  let nowMs = 0
  const say = createStandingLog(log.logger, { now: () => nowMs })
  const refused = { isKnown: true, problem: 'the bank answers 401', isOfConfiguration: true }
  const passing = { isKnown: true, problem: 'the bank answers 503', isOfConfiguration: false }
  const well = { isKnown: true, problem: undefined, isOfConfiguration: false }
  const saidAfter = (ms: number, standing: BankStanding) => {
    nowMs += ms
    const before = log.lines.length
    say(standing)
    return log.lines.slice(before).map(({ level, msg }) => `${level}: ${msg}`)
  }
  assert.deepEqual(saidAfter(0, passing), ['warn: the bank answers 503'])
  assert.deepEqual(saidAfter(1, passing), [], 'its calls have lines')
  assert.deepEqual(saidAfter(1, refused), ['error: the bank answers 401'])
  assert.deepEqual(saidAfter(599_999, refused), [])
  assert.deepEqual(saidAfter(1, refused), ['error: the bank answers 401'])
  assert.deepEqual(saidAfter(1, well), ['info: the bank answers'])
  assert.deepEqual(saidAfter(1, well), [])
  assert.deepEqual(saidAfter(1, refused), [], 'a bank that refuses one call and answers the others floods nothing')
  assert.deepEqual(saidAfter(1, well), [])
  assert.deepEqual(saidAfter(600_000, refused), ['error: the bank answers 401'])
})

test('[config.10] name, certificate and credentials are faults of configuration; an unreachable bank is not', () => {
  const notSent = (reason: string) => isOfConfiguration({ kind: 'NOT_SENT', reason })
  for (const reason of ['ENOTFOUND', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'EPROTO']) {
    assert.equal(notSent(reason), true, reason)
  }
  for (const reason of ['ECONNREFUSED', 'timeout', 'EAI_AGAIN']) assert.equal(notSent(reason), false, reason)
  for (const [httpStatus, expected] of [
    [401, true],
    [403, true],
    [503, false],
  ] as const) {
    assert.equal(isOfConfiguration({ kind: 'UNKNOWN', reason: 'x', httpStatus }), expected)
  }
  assert.equal(isOfConfiguration({ kind: 'REJECTED', reason: 'ENOTFOUND' }), false)
})
