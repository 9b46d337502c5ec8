import assert from 'node:assert/strict'
import test from 'node:test'
import { faultInProduction, lacking } from '../../src/banks/bank.ts'
import { guardCalls } from '../../src/banks/calls.ts'
import type { Partner, PartnerCapability, PayoutAnswer } from '../../src/banks/port.ts'
import { capturedLog } from '../support/captured-log.ts'

const ALL = {
  createCharge: 'charge',
  getCharge: 'query-charge',
  cancelCharge: 'cancel-charge',
  sendPayout: 'payout',
  getPayout: 'query-payout',
  decodeQrCode: 'decode-qr-code',
  sendRefund: 'refund',
  getRefund: 'query-refund',
  readStatement: 'statement',
  readBalance: 'balance',
} as const satisfies Partial<Record<keyof Partner, PartnerCapability>>

const NAMES = Object.keys(ALL) as (keyof typeof ALL)[]

/** A bank that can do everything but what is given here, with a log and a clock. */
function guarded(given: Partial<Partner>) {
  const log = capturedLog()
  const reported: string[] = []
  let nowMs = 0
  const bank: Partner = { ...lacking, capabilities: new Set(Object.values(ALL)), idempotencyWindowMs: 1, ...given }
  const partner = guardCalls(bank, {
    configured: { settings: { address: 'ADDRESS', credentials: 'CREDENTIALS' }, host: undefined },
    logger: log.logger,
    clock: { now: () => nowMs },
    onCall: (name, outcome) => reported.push(`${name} ${outcome}`),
  })
  const advance = (ms: number) => {
    nowMs += ms
  }
  const breakerLines = () =>
    log.lines
      .filter(({ breaker }) => breaker !== undefined)
      .map(({ level, event, breaker, reason }) => [level, event, breaker, reason])
  return { bank, partner, advance, log, reported, breakerLines }
}

/** A bank that says which call it got. */
function talkative(capabilities: readonly PartnerCapability[]) {
  const called: string[] = []
  const calls = NAMES.map((name) => [
    name,
    async () => {
      called.push(name)
      return { kind: 'NOT_FOUND' }
    },
  ])
  return { ...guarded({ capabilities: new Set(capabilities), ...Object.fromEntries(calls) }), called }
}

/** Makes a call; with what does not matter here. */
function call(partner: Partner, name: keyof typeof ALL): Promise<{ readonly kind: string }> {
  return (partner[name] as unknown as () => Promise<{ readonly kind: string }>)()
}

for (const missing of NAMES) {
  test(`[partner.10] [PL-60] a bank without \u00ab${ALL[missing]}\u00bb is called for everything else`, async () => {
    const { partner, called, reported } = talkative(
      NAMES.map((name) => ALL[name]).filter((name) => name !== ALL[missing]),
    )
    for (const name of NAMES) {
      assert.equal((await call(partner, name)).kind, name === missing ? 'NOT_SENT' : 'NOT_FOUND', name)
    }
    const others = NAMES.filter((name) => name !== missing)
    assert.deepEqual(called, others)
    assert.deepEqual(
      reported,
      others.map((name) => `${name} not_found`),
    )
  })
}

test('[api-pix.17] [partner.10] all other members of a bank come from the connector', () => {
  const { bank, partner } = guarded({
    statementDelayMs: { ...lacking.statementDelayMs, PAYOUT_SENT: 2 },
    clockOffset: { offsetMs: () => 3, assume: () => undefined },
    unlistedFees: { centsPerMovement: 1n, percent: 1n },
  })
  for (const name of [
    'capabilities',
    'idempotencyWindowMs',
    'statementDelayMs',
    'clockOffset',
    'unlistedFees',
  ] as const) {
    assert.equal(partner[name], bank[name])
  }
})

test('[cash-in.credits.2] production does not start with a bank whose charges cannot be queried', () => {
  const all = Object.values(ALL)
  assert.equal(faultInProduction({ capabilities: new Set(all) }), undefined)
  const others = all.filter((capability) => capability !== 'query-charge')
  assert.match(faultInProduction({ capabilities: new Set(others) }) ?? '', /^PIXGATE_BANK: /)
})

const PAYOUT = { valueCents: 100n, recipient: { pixKey: 'a@b.example', pixKeyType: 'email' } } as const

test('[logs.3] the breaker of orders logs when it opens and why, and when it closes', async () => {
  let answer: PayoutAnswer = { kind: 'NOT_SENT', reason: 'ECONNREFUSED' }
  const { partner, advance, breakerLines } = guarded({ sendPayout: async () => answer })
  for (let sends = 0; sends < 5; sends++) await partner.sendPayout('payout-1', PAYOUT)
  const opened = ['error', 'bank.breaker_opened', 'orders', 'ECONNREFUSED']
  assert.deepEqual(breakerLines(), [opened])
  advance(60_000)
  answer = { kind: 'REJECTED', errorCode: 'no_such_key', errorMessage: undefined }
  await partner.sendPayout('payout-1', PAYOUT)
  assert.deepEqual(breakerLines(), [opened, ['info', 'bank.breaker_closed', 'orders', undefined]])
})

test('[partner.6] a fault of ours in one order holds no other order back', async () => {
  const thrown = async () => assert.fail('a fault of ours')
  const { partner } = guarded({ sendPayout: thrown, createCharge: thrown })
  for (let sends = 0; sends < 10; sends++) {
    await assert.rejects(partner.sendPayout('payout-1', PAYOUT))
    await assert.rejects(partner.createCharge('charge-1', undefined as never))
  }
  assert.deepEqual([partner.allowedSends(), partner.allowedCharges()], [Infinity, Infinity])
})

test('[logs.3] a bank that refuses our credentials opens the breaker of orders, whichever call it was', async () => {
  const { partner, breakerLines, reported } = guarded({
    getCharge: async () => ({ kind: 'UNKNOWN', reason: 'HTTP 401', httpStatus: 401 }),
  })
  await partner.getCharge('charge-1', undefined as never)
  assert.equal(partner.allowedSends(), 0)
  assert.deepEqual(breakerLines(), [['error', 'bank.breaker_opened', 'orders', 'HTTP 401']])
  assert.deepEqual(reported, ['getCharge unauthorized'])
})

test('[logs.3] a call that failed is a line with its code, its id and the reason; a payable code is in none', async () => {
  const { partner, log } = guarded({
    sendRefund: async () => ({ kind: 'UNKNOWN', reason: 'timeout', httpStatus: undefined }),
    decodeQrCode: async () => ({ kind: 'NOT_SENT', reason: 'ECONNREFUSED' }),
  })
  await partner.sendRefund('refund-1', { valueCents: 1n, endToEndId: 'E1' })
  await partner.decodeQrCode('000201')
  const lines = log.lines.filter(({ event }) => event === 'bank.call_failed')
  assert.deepEqual(
    lines.map(({ level, call: name, answer, reason, orderId }) => [level, name, answer, reason, orderId]),
    [
      ['warn', 'sendRefund', 'UNKNOWN', 'timeout', 'refund-1'],
      ['warn', 'decodeQrCode', 'NOT_SENT', 'ECONNREFUSED', undefined],
    ],
  )
  assert.doesNotMatch(JSON.stringify(log.lines), /000201/)
})
