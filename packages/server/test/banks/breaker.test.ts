import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import * as breakers from '../../src/banks/breaker.ts'
import { guardCalls } from '../../src/banks/calls.ts'
import { createHttpPartner } from '../../src/banks/pixgate/bank.ts'
import type { AnyAnswer, BankCall, Partner } from '../../src/banks/port.ts'
import * as payouts from './pixgate/payouts.ts'

const ANY = Number.POSITIVE_INFINITY

const ACCEPTED = { kind: 'ACCEPTED' } as const
const REJECTED = { kind: 'REJECTED' } as const
const UNREACHABLE = { kind: 'NOT_SENT' } as const
const TIMEOUT = { kind: 'UNKNOWN', httpStatus: undefined } as const
const TOO_MANY = { kind: 'UNKNOWN', httpStatus: 429 } as const
const UNAUTHORIZED = { kind: 'UNKNOWN', httpStatus: 401 } as const

/** A breaker without a log, and at the times that are given. */
function createBreaker() {
  const clock = { at: 0, now: () => clock.at }
  const breaker = new breakers.Breakers(clock, pino({ level: 'silent' }))
  function at<Result>(now: number, act: () => Result): Result {
    clock.at = now
    return act()
  }
  return {
    wanted: (name: breakers.BreakerName, now: number, asker?: string) => at(now, () => breaker.wanted(name, asker)),
    begin: (call: BankCall, now: number, asker?: string) => at(now, () => breaker.begin(call, asker)),
    note: (call: BankCall, answer: AnyAnswer, now: number, asker?: string) =>
      at(now, () => breaker.note(call, answer, asker)),
  }
}

/** A breaker that was opened at 0 by five failures. */
function openBreaker() {
  const breaker = createBreaker()
  for (let failures = 0; failures < 5; failures++) breaker.note('sendPayout', UNREACHABLE, 0)
  return breaker
}

test('[partner.6] [CO-10] five sends in a row without a definite answer open it, of whatever kind', () => {
  const breaker = createBreaker()
  for (const failure of [UNREACHABLE, TIMEOUT, UNREACHABLE, TIMEOUT]) {
    breaker.note('sendPayout', failure, 0)
    assert.equal(breaker.wanted('orders', 0), ANY)
  }
  breaker.note('sendPayout', TIMEOUT, 0)
  assert.equal(breaker.wanted('orders', 0), 0)
})

test('[CO-10] a definite answer in between, even a refusal, resets the count', () => {
  for (const answer of [ACCEPTED, REJECTED]) {
    const breaker = createBreaker()
    for (let sends = 0; sends < 12; sends++) breaker.note('sendPayout', sends % 5 === 4 ? answer : TIMEOUT, 0)
    assert.equal(breaker.wanted('orders', 0), ANY)
  }
})

test('[partner.6] [CO-10] half a minute later it is half open, for one send: a failure opens it again, an answer closes it', () => {
  const breaker = openBreaker()
  assert.equal(breaker.wanted('orders', 29_999), 0)
  assert.equal(breaker.wanted('orders', 30_000), 1)
  breaker.note('sendPayout', TIMEOUT, 30_000)
  assert.equal(breaker.wanted('orders', 59_999), 0)
  assert.equal(breaker.wanted('orders', 60_000), 1)
  breaker.note('sendPayout', ACCEPTED, 60_000)
  breaker.note('sendPayout', TIMEOUT, 60_000)
  assert.equal(breaker.wanted('orders', 60_000), ANY)
})

test('[CO-10] what is sent while it is open counts too: a failure keeps it open, an answer closes it at once', () => {
  const breaker = openBreaker()
  breaker.note('getCharge', ACCEPTED, 0)
  assert.equal(breaker.wanted('orders', 0), 0, 'a question is not counted')
  breaker.note('sendPayout', TIMEOUT, 20_000)
  assert.equal(breaker.wanted('orders', 40_000), 0)
  breaker.note('sendPayout', REJECTED, 40_000)
  assert.equal(breaker.wanted('orders', 40_000), ANY)
})

for (const [name, call, refusal] of [
  ['401 to a question', 'getCharge', UNAUTHORIZED],
  ['401 to a send', 'sendPayout', UNAUTHORIZED],
  ['429 to a send', 'sendPayout', TOO_MANY],
] as const) {
  test(`[partner.3] [partner.6] [CO-13] one ${name} opens it for a minute`, () => {
    const breaker = createBreaker()
    breaker.note(call, refusal, 1_000)
    assert.equal(breaker.wanted('orders', 60_999), 0)
    assert.equal(breaker.wanted('orders', 61_000), ANY)
  })
}

test('[CO-13] an answer that was under way does not end the wait after a 429', () => {
  const breaker = createBreaker()
  breaker.note('sendPayout', TOO_MANY, 0)
  breaker.note('sendPayout', ACCEPTED, 1)
  assert.equal(breaker.wanted('orders', 1), 0)
})

test('[partner.6] [partner.9] [AP-21] an answer about one order alone is not counted', () => {
  const breaker = createBreaker()
  for (let sends = 0; sends < 50; sends++) breaker.note('sendPayout', { ...UNREACHABLE, isQrCodeFault: true }, 0)
  assert.equal(breaker.wanted('orders', 0), ANY)
  const open = openBreaker()
  open.note('sendPayout', { ...REJECTED, isQrCodeFault: true }, 30_000)
  assert.equal(open.wanted('orders', 30_000), 1, 'it is for another order to show whether the bank is back')
})

test('[partner.6] [api-pix.15] a held-back call prolongs the wait and is not counted', () => {
  const held = (retryAfterMs: number) => ({ ...UNREACHABLE, httpStatus: 429, retryAfterMs })
  const breaker = createBreaker()
  breaker.note('sendPayout', TOO_MANY, 0)
  for (let sends = 0; sends < 10; sends++) breaker.note('sendPayout', held(5_000), 60_000)
  assert.deepEqual([breaker.wanted('orders', 64_999), breaker.wanted('orders', 65_000)], [0, ANY])
  breaker.note('sendPayout', TOO_MANY, 65_000)
  breaker.note('sendPayout', held(1_000), 65_000)
  assert.equal(breaker.wanted('orders', 66_000), 0, 'a shorter wait ends no longer one')
})

const SENDS = ['sendPayout', 'sendRefund'] as const
const OTHERS = ['createCharge', 'getCharge', 'cancelCharge', 'getPayout', 'decodeQrCode', 'getRefund'] as const

for (const call of SENDS) {
  test(`[CO-10] [CO-13] five failures of ${call}, or one 429, hold payouts and refunds back, and nothing else`, () => {
    for (const [answer, times] of [
      [UNREACHABLE, 5],
      [TOO_MANY, 1],
    ] as const) {
      const breaker = createBreaker()
      for (let failures = 0; failures < times; failures++) {
        assert.equal(breaker.wanted('orders', 0), ANY)
        breaker.note(call, answer, 0)
      }
      const wanted = (['orders', 'charges', 'qr_codes'] as const).map((name) => breaker.wanted(name, 0))
      assert.deepEqual(wanted, [0, ANY, ANY])
    }
  })
}

for (const call of OTHERS) {
  test(`[partner.6] [CO-10] [CO-13] failures of ${call}, and 429s, hold no payout or refund back`, () => {
    const breaker = createBreaker()
    for (let failures = 0; failures < 10; failures++) breaker.note(call, failures % 2 ? TOO_MANY : UNREACHABLE, 0)
    assert.equal(breaker.wanted('orders', 0), ANY)
  })
}

for (const call of [...SENDS, ...OTHERS]) {
  test(`[partner.3] a 401 to ${call} holds payouts and refunds back`, () => {
    const breaker = createBreaker()
    breaker.note(call, UNAUTHORIZED, 0)
    assert.equal(breaker.wanted('orders', 0), 0)
  })
}

test('[partner.6] a statement or balance that may not be read holds no payout or refund back', () => {
  const breaker = createBreaker()
  for (const call of ['readStatement', 'readBalance'] as const)
    for (const refusal of [UNAUTHORIZED, TOO_MANY]) breaker.note(call, refusal, 0)
  assert.equal(breaker.wanted('orders', 0), ANY)
})

test('[CO-10] the breaker holds no call back by itself', async () => {
  const bank = createHttpPartner({ exchange: async () => ({ kind: 'lost', reason: 'timeout' }), close: async () => {} })
  const partner = guarding(bank)
  for (let failures = 0; failures < 5; failures++) await partner.sendPayout(payouts.ID, payouts.REQUEST)
  assert.equal(partner.allowedSends(), 0)
  assert.equal((await partner.sendPayout(payouts.ID, payouts.REQUEST)).kind, 'UNKNOWN')
  assert.deepEqual(partner.capabilities, bank.capabilities)
})

function guarding(bank: Partner) {
  const configured = { settings: { address: '', credentials: '' }, host: undefined }
  const logger = pino({ level: 'silent' })
  return guardCalls(bank, { configured, logger, clock: { now: () => 0 }, onCall: () => undefined })
}

test('[partner.9] [CI-16] five charges in a row without a definite answer open it for charges, for 5 seconds', () => {
  const breaker = createBreaker()
  for (const failure of [UNREACHABLE, TIMEOUT, UNREACHABLE, TIMEOUT]) breaker.note('createCharge', failure, 0)
  assert.equal(breaker.wanted('charges', 0), ANY)
  breaker.note('createCharge', TOO_MANY, 0)
  assert.equal(breaker.wanted('charges', 4_999), 0)
  assert.equal(breaker.wanted('charges', 5_000), 1)
  breaker.begin('createCharge', 5_000)
  assert.equal(breaker.wanted('charges', 5_000), 0, 'one shows whether the bank is back')
  breaker.note('createCharge', REJECTED, 5_100)
  assert.equal(breaker.wanted('charges', 5_100), ANY)
})

/** Somebody asks about so many codes, and this is what comes of each. */
function ask(breaker: ReturnType<typeof createBreaker>, asker: string, answer: AnyAnswer, times: number) {
  for (let asked = 0; asked < times; asked++) {
    breaker.begin('decodeQrCode', 0, asker)
    breaker.note('decodeQrCode', answer, 0, asker)
  }
}

test('[partner.9] [QR-2] QR code queries are counted apart', () => {
  const breaker = createBreaker()
  ask(breaker, 'shop', TIMEOUT, 5)
  assert.deepEqual(
    [breaker.wanted('qr_codes', 4_999, 'shop'), breaker.wanted('charges', 0), breaker.wanted('orders', 0)],
    [0, ANY, ANY],
  )
  assert.equal(breaker.wanted('qr_codes', 5_000, 'shop'), 1)
  breaker.begin('decodeQrCode', 5_000, 'shop')
  assert.equal(breaker.wanted('qr_codes', 5_000, 'shop'), 0, 'one shows whether the bank is back')
  breaker.note('decodeQrCode', REJECTED, 5_100, 'shop')
  assert.equal(breaker.wanted('qr_codes', 5_100, 'shop'), ANY)
})

for (const [name, answer] of [
  ['no answer', TIMEOUT],
  ['429', TOO_MANY],
] as const) {
  test(`[partner.9] [QR-2] ${name} to the QR codes of one client holds back no other client`, () => {
    const breaker = createBreaker()
    ask(breaker, 'thief', answer, 50)
    assert.deepEqual([breaker.wanted('qr_codes', 0, 'thief'), breaker.wanted('qr_codes', 0, 'shop')], [0, ANY])
    assert.equal(breaker.wanted('qr_codes', 0, undefined), 0, 'whoever looks at all of them sees it')
    ask(breaker, 'shop', ACCEPTED, 1)
    assert.equal(
      breaker.wanted('qr_codes', 0, 'thief'),
      0,
      'and what the bank decodes for others is no answer to theirs',
    )
  })
}

test('[partner.9] at most sixteen QR code queries of one client are in flight', () => {
  const breaker = createBreaker()
  for (let asked = 0; asked < 16; asked++) {
    assert.equal(breaker.wanted('qr_codes', 0, 'thief'), ANY)
    breaker.begin('decodeQrCode', 0, 'thief')
  }
  assert.deepEqual([breaker.wanted('qr_codes', 0, 'thief'), breaker.wanted('qr_codes', 0, 'shop')], [0, ANY])
  breaker.note('decodeQrCode', ACCEPTED, 0, 'thief')
  assert.equal(breaker.wanted('qr_codes', 0, 'thief'), ANY)
})

test('[partner.9] a QR code query that ends in an error is no longer in flight', async () => {
  const bank = createHttpPartner({ exchange: () => Promise.reject(new Error('a fault')), close: async () => undefined })
  const partner = guarding(bank)
  await assert.rejects(partner.decodeQrCode('000201', undefined, 'shop'), /a fault/)
  assert.equal(partner.allowedQrCodes('shop'), ANY)
  for (let asked = 0; asked < 4; asked++) await assert.rejects(partner.decodeQrCode('000201', undefined, 'shop'))
  assert.equal(partner.allowedQrCodes('shop'), 0, 'it counts as no answer')
})

test('[partner.9] [CI-16] payouts and charges are counted apart, and other calls are not counted at all', () => {
  assert.equal(openBreaker().wanted('charges', 0), ANY)
  const breaker = createBreaker()
  for (let failures = 0; failures < 9; failures++) {
    breaker.note('createCharge', TIMEOUT, 0)
    breaker.note('getCharge', TIMEOUT, 0)
  }
  assert.deepEqual([breaker.wanted('orders', 0), breaker.wanted('charges', 0)], [ANY, 0])
  const refused = createBreaker()
  refused.note('getCharge', UNAUTHORIZED, 0)
  assert.deepEqual([refused.wanted('orders', 0), refused.wanted('charges', 0)], [0, ANY])
})
