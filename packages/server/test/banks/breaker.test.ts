import assert from 'node:assert/strict'
import test from 'node:test'
import { createBreaker, withBreaker } from '../../src/banks/breaker.ts'
import type { Outcome } from '../../src/banks/link.ts'
import { createHttpPartner } from '../../src/banks/pixgate/http-partner.ts'
import * as charges from './pixgate/charges.ts'
import * as payouts from './pixgate/payouts.ts'
import * as refunds from './pixgate/refunds.ts'

const ANY = Number.POSITIVE_INFINITY

const ACCEPTED = { kind: 'ACCEPTED' } as const
const REJECTED = { kind: 'REJECTED' } as const
const UNREACHABLE = { kind: 'NOT_SENT' } as const
const TIMEOUT = { kind: 'UNKNOWN', httpStatus: undefined } as const
const TOO_MANY = { kind: 'UNKNOWN', httpStatus: 429 } as const
const UNAUTHORIZED = { kind: 'UNKNOWN', httpStatus: 401 } as const

/** A breaker that was opened at 0 by five failures. */
function openBreaker() {
  const breaker = createBreaker()
  for (let failures = 0; failures < 5; failures++) breaker.noteSend(UNREACHABLE, 0)
  return breaker
}

test('[partner.6] [CO-10] five sends in a row without a definite answer open it, of whatever kind', () => {
  const breaker = createBreaker()
  for (const failure of [UNREACHABLE, TIMEOUT, UNREACHABLE, TIMEOUT]) {
    breaker.noteSend(failure, 0)
    assert.equal(breaker.sendsWanted(0), ANY)
  }
  breaker.noteSend(TIMEOUT, 0)
  assert.equal(breaker.sendsWanted(0), 0)
})

test('[CO-10] a definite answer in between, even a refusal, begins the count anew', () => {
  for (const answer of [ACCEPTED, REJECTED]) {
    const breaker = createBreaker()
    for (let sends = 0; sends < 12; sends++) breaker.noteSend(sends % 5 === 4 ? answer : TIMEOUT, 0)
    assert.equal(breaker.sendsWanted(0), ANY)
  }
})

test('[partner.6] [CO-10] half a minute later it is half open, for one send: a failure opens it again, an answer closes it', () => {
  const breaker = openBreaker()
  assert.equal(breaker.sendsWanted(29_999), 0)
  assert.equal(breaker.sendsWanted(30_000), 1)
  breaker.noteSend(TIMEOUT, 30_000)
  assert.equal(breaker.sendsWanted(59_999), 0)
  assert.equal(breaker.sendsWanted(60_000), 1)
  breaker.noteSend(ACCEPTED, 60_000)
  breaker.noteSend(TIMEOUT, 60_000)
  assert.equal(breaker.sendsWanted(60_000), ANY)
})

test('[CO-10] what is sent while it is open counts too: a failure keeps it open, an answer closes it at once', () => {
  const breaker = openBreaker()
  breaker.noteSend(TIMEOUT, 20_000)
  assert.equal(breaker.sendsWanted(40_000), 0)
  breaker.noteSend(REJECTED, 40_000)
  assert.equal(breaker.sendsWanted(40_000), ANY)
})

for (const [name, how, refusal] of [
  ['401 to a question', 'note', UNAUTHORIZED],
  ['401 to a send', 'noteSend', UNAUTHORIZED],
  ['429 to a send', 'noteSend', TOO_MANY],
] as const) {
  test(`[partner.3] [partner.6] [CO-13] one ${name} opens it for a minute`, () => {
    const breaker = createBreaker()
    breaker[how](refusal, 1_000)
    assert.equal(breaker.sendsWanted(60_999), 0)
    assert.equal(breaker.sendsWanted(61_000), ANY)
  })
}

test('[CO-13] an answer that was under way does not end the wait after a 429', () => {
  const breaker = createBreaker()
  breaker.noteSend(TOO_MANY, 0)
  breaker.noteSend(ACCEPTED, 1)
  assert.equal(breaker.sendsWanted(1), 0)
})

test('[partner.6] [partner.9] [AP-21] what came of an order alone is counted neither way', () => {
  const breaker = createBreaker()
  for (let sends = 0; sends < 50; sends++) breaker.noteSend({ ...UNREACHABLE, isOfOrderAlone: true }, 0)
  assert.equal(breaker.sendsWanted(0), ANY)
  const open = openBreaker()
  open.noteSend({ ...REJECTED, isOfOrderAlone: true }, 30_000)
  assert.equal(open.sendsWanted(30_000), 1, 'it is for another order to show whether the bank is back')
})

test('[partner.6] [api-pix.15] what was held back tells how long, and counts for nothing', () => {
  const held = (retryAfterMs: number) => ({ ...UNREACHABLE, httpStatus: 429, retryAfterMs })
  const breaker = createBreaker()
  breaker.noteSend(TOO_MANY, 0)
  for (let sends = 0; sends < 10; sends++) breaker.noteSend(held(5_000), 60_000)
  assert.deepEqual([breaker.sendsWanted(64_999), breaker.sendsWanted(65_000)], [0, ANY])
  breaker.noteSend(TOO_MANY, 65_000)
  breaker.noteSend(held(1_000), 65_000)
  assert.equal(breaker.sendsWanted(66_000), 0, 'a shorter wait ends no longer one')
})

test('[CO-10] questions and charges are not counted, whatever comes of them', () => {
  const breaker = openBreaker()
  breaker.note(ACCEPTED, 0)
  assert.equal(breaker.sendsWanted(0), 0)
  const closed = createBreaker()
  for (let failures = 0; failures < 50; failures++) closed.note(TIMEOUT, 0)
  assert.equal(closed.sendsWanted(0), ANY)
})

/** A partner behind a breaker whose bank answers every call with `outcome`. */
function guarded(outcome: Outcome) {
  const clock = { at: 0, now: () => clock.at }
  const link = { exchange: async () => outcome, close: async () => undefined }
  const bank = createHttpPartner(link)
  const partner = withBreaker(bank, clock)
  const calls = {
    createCharge: () => partner.createCharge(charges.ID, charges.REQUEST),
    getCharge: () => partner.getCharge(charges.ID, charges.REQUEST),
    cancelCharge: () => partner.cancelCharge(charges.ID),
    sendPayout: () => partner.sendPayout(payouts.ID, payouts.REQUEST),
    getPayout: () => partner.getPayout(payouts.ID, payouts.REQUEST),
    decodeQrCode: () => partner.decodeQrCode('000201'),
    sendRefund: () => partner.sendRefund(refunds.ID, refunds.REQUEST),
    getRefund: () => partner.getRefund(refunds.ID, refunds.REQUEST),
  }
  return { bank, partner, clock, calls }
}

const SENDS = ['sendPayout', 'sendRefund'] as const
const OTHERS = ['createCharge', 'getCharge', 'cancelCharge', 'getPayout', 'decodeQrCode', 'getRefund'] as const

for (const name of SENDS) {
  test(`[CO-10] five failures of ${name} make a bank unavailable for a while`, async () => {
    const { partner, clock, calls } = guarded({ kind: 'not sent', reason: 'ECONNREFUSED' })
    for (let failures = 0; failures < 5; failures++) {
      assert.equal(partner.sendsWanted(), ANY)
      assert.equal((await calls[name]()).kind, 'NOT_SENT')
    }
    assert.equal(partner.sendsWanted(), 0)
    clock.at = 30_000
    assert.equal(partner.sendsWanted(), 1)
  })
}

for (const name of OTHERS) {
  test(`[CO-10] failures of ${name} leave a bank available`, async () => {
    const { partner, calls } = guarded({ kind: 'not sent', reason: 'ECONNREFUSED' })
    for (let failures = 0; failures < 10; failures++) assert.equal((await calls[name]()).kind, 'NOT_SENT')
    assert.equal(partner.sendsWanted(), ANY)
  })
}

for (const name of OTHERS) {
  test(`[partner.6] [CO-13] a 429 to ${name} leaves a bank available for payouts and refunds`, async () => {
    const { partner, calls } = guarded({ kind: 'answered', httpStatus: 429, json: {} })
    for (let refusals = 0; refusals < 10; refusals++) assert.equal((await calls[name]()).kind, 'UNKNOWN')
    assert.equal(partner.sendsWanted(), ANY)
  })
}

for (const name of SENDS) {
  test(`[partner.6] [CO-13] a 429 to ${name} makes a bank unavailable for payouts and refunds, and not for charges`, async () => {
    const { partner, calls } = guarded({ kind: 'answered', httpStatus: 429, json: {} })
    await calls[name]()
    assert.deepEqual([partner.sendsWanted(), partner.chargesWanted(), partner.qrCodesWanted()], [0, ANY, ANY])
  })
}

for (const name of [...SENDS, ...OTHERS]) {
  test(`[partner.3] a 401 to ${name} makes a bank unavailable`, async () => {
    const { partner, calls } = guarded({ kind: 'answered', httpStatus: 401, json: {} })
    assert.equal((await calls[name]()).kind, 'UNKNOWN')
    assert.equal(partner.sendsWanted(), 0)
  })
}

test('[CO-10] an unavailable bank is still called by whoever calls it', async () => {
  const { partner, bank } = guarded({ kind: 'lost', reason: 'timeout' })
  for (let failures = 0; failures < 5; failures++) await partner.sendPayout(payouts.ID, payouts.REQUEST)
  assert.equal(partner.sendsWanted(), 0)
  assert.equal((await partner.sendPayout(payouts.ID, payouts.REQUEST)).kind, 'UNKNOWN')
  assert.deepEqual(partner.capabilities, bank.capabilities)
})

test('[partner.6] a statement that may not be read leaves the bank available for payouts', async () => {
  for (const httpStatus of [401, 429]) {
    const { partner } = guarded({ kind: 'answered', httpStatus, json: {} })
    assert.equal((await partner.readStatement({ from: 0, to: 1, cursor: null })).kind, 'UNKNOWN')
    assert.equal(partner.sendsWanted(), ANY)
  }
})

test('[partner.9] [CI-16] five charges in a row without a definite answer open it for charges, for 5 seconds', () => {
  const breaker = createBreaker()
  for (const failure of [UNREACHABLE, TIMEOUT, UNREACHABLE, TIMEOUT]) breaker.noteCharge(failure, 0)
  assert.equal(breaker.chargesWanted(0), ANY)
  breaker.noteCharge(TOO_MANY, 0)
  assert.equal(breaker.chargesWanted(4_999), 0)
  assert.equal(breaker.chargesWanted(5_000), 1)
  breaker.beginCharge(5_000)
  assert.equal(breaker.chargesWanted(5_000), 0, 'one shows whether the bank is back')
  breaker.noteCharge(REJECTED, 5_100)
  assert.equal(breaker.chargesWanted(5_100), ANY)
})

/** Somebody asks about so many codes, and this is what comes of each. */
function ask(
  breaker: ReturnType<typeof createBreaker>,
  asker: string,
  answer: Parameters<typeof breaker.note>[0],
  times: number,
) {
  for (let asked = 0; asked < times; asked++) {
    breaker.beginQrCode(asker, 0)
    breaker.noteQrCode(asker, answer, 0)
  }
}

test('[partner.9] [QR-2] questions about QR codes have a count of their own', () => {
  const breaker = createBreaker()
  ask(breaker, 'shop', TIMEOUT, 5)
  assert.deepEqual(
    [breaker.qrCodesWanted('shop', 4_999), breaker.chargesWanted(0), breaker.sendsWanted(0)],
    [0, ANY, ANY],
  )
  assert.equal(breaker.qrCodesWanted('shop', 5_000), 1)
  breaker.beginQrCode('shop', 5_000)
  assert.equal(breaker.qrCodesWanted('shop', 5_000), 0, 'one shows whether the bank is back')
  breaker.noteQrCode('shop', REJECTED, 5_100)
  assert.equal(breaker.qrCodesWanted('shop', 5_100), ANY)
})

for (const [name, answer] of [
  ['no answer', TIMEOUT],
  ['429', TOO_MANY],
] as const) {
  test(`[partner.9] [QR-2] ${name} to the QR codes of one who asks holds back nobody else`, () => {
    const breaker = createBreaker()
    ask(breaker, 'thief', answer, 50)
    assert.deepEqual([breaker.qrCodesWanted('thief', 0), breaker.qrCodesWanted('shop', 0)], [0, ANY])
    assert.equal(breaker.qrCodesWanted(undefined, 0), 0, 'whoever looks at all of them sees it')
    ask(breaker, 'shop', ACCEPTED, 1)
    assert.equal(breaker.qrCodesWanted('thief', 0), 0, 'and what the bank decodes for others is no answer to theirs')
  })
}

test('[partner.9] nobody asks about more than sixteen QR codes at once, so that no one holds the connections to the bank', () => {
  const breaker = createBreaker()
  for (let asked = 0; asked < 16; asked++) {
    assert.equal(breaker.qrCodesWanted('thief', 0), ANY)
    breaker.beginQrCode('thief', 0)
  }
  assert.deepEqual([breaker.qrCodesWanted('thief', 0), breaker.qrCodesWanted('shop', 0)], [0, ANY])
  breaker.noteQrCode('thief', ACCEPTED, 0)
  assert.equal(breaker.qrCodesWanted('thief', 0), ANY)
})

test('[partner.9] a question about a QR code that ends in an error is under way no longer', async () => {
  const bank = createHttpPartner({ exchange: () => Promise.reject(new Error('a fault')), close: async () => undefined })
  const partner = withBreaker(bank, { now: () => 0 })
  await assert.rejects(partner.decodeQrCode('000201', undefined, 'shop'), /a fault/)
  assert.equal(partner.qrCodesWanted('shop'), ANY)
  for (let asked = 0; asked < 4; asked++) await assert.rejects(partner.decodeQrCode('000201', undefined, 'shop'))
  assert.equal(partner.qrCodesWanted('shop'), 0, 'it counts as no answer')
})

test('[partner.9] [CI-16] payouts and charges are counted apart, and other calls are not counted at all', () => {
  assert.equal(openBreaker().chargesWanted(0), ANY)
  const breaker = createBreaker()
  for (let failures = 0; failures < 9; failures++) {
    breaker.noteCharge(TIMEOUT, 0)
    breaker.note(TIMEOUT, 0)
  }
  assert.deepEqual([breaker.sendsWanted(0), breaker.chargesWanted(0)], [ANY, 0])
  const refused = createBreaker()
  refused.note(UNAUTHORIZED, 0)
  assert.deepEqual([refused.sendsWanted(0), refused.chargesWanted(0)], [0, ANY])
})
