import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createHttpPartner } from '../../../../src/banks/pixgate/bank.ts'
import { answer, scriptedBank } from '../scripted-bank.ts'

const QUERY = { from: Date.parse('2026-11-22T12:00:00.000Z'), to: Date.parse('2026-11-22T12:15:00.250Z'), cursor: null }

const PAYMENT = {
  kind: 'PAYMENT_RECEIVED',
  endToEndId: 'E9999901020261122120000aB3dE5fG7',
  reference: '0198c0de7a11700080005f1d3c2b1a09',
  valueCents: 15_000,
  sign: '+',
  occurredAt: '2026-11-22T12:01:00.000Z',
}

const RETURN = { ...PAYMENT, kind: 'REFUND_SENT', returnId: 'D9999901020261122120000aB3dE5fG7', sign: '-' }

const TARIFF = { ...PAYMENT, kind: 'TARIFF', valueCents: 50, sign: '-' }

const PAGE = { entries: [PAYMENT, RETURN, TARIFF], openingCents: -100, closingCents: -150, nextCursor: null }

/** Outcome of a bank's answer to a reading of the statement. */
async function read(t: TestContext, status: number, body: unknown, query = QUERY) {
  const bank = await scriptedBank(t, (response) => answer(response, status, body))
  return { told: await createHttpPartner(bank.link).readStatement(query), received: bank.received }
}

test('[statement.1] a page is read by the window of booking and its cursor, each movement under its own id', async (t) => {
  const { told, received } = await read(t, 200, PAGE, { ...QUERY, cursor: 'a&b' } as never)
  assert.deepEqual(
    received.map(({ method, path }) => [method, path]),
    [['GET', '/statement?from=2026-11-22T12%3A00%3A00.000Z&to=2026-11-22T12%3A15%3A00.250Z&cursor=a%26b']],
  )
  assert.equal(told.kind, 'READ')
  const { page } = told as Extract<typeof told, { kind: 'READ' }>
  assert.deepEqual(page.entries[0], {
    kind: 'PAYMENT_RECEIVED',
    direction: 'in',
    movementId: PAYMENT.endToEndId,
    endToEndId: PAYMENT.endToEndId,
    reference: PAYMENT.reference,
    valueCents: 15_000n,
    occurredAt: Date.parse(PAYMENT.occurredAt),
  })
  assert.deepEqual(
    page.entries.map(({ direction, movementId }) => [direction, movementId]),
    [
      ['in', PAYMENT.endToEndId],
      ['out', RETURN.returnId],
      ['out', TARIFF.reference],
    ],
  )
  assert.equal(page.nextCursor, null)
})

for (const [name, body] of [
  ['no object', 'rubbish'],
  ['no entries', { ...PAGE, entries: undefined }],
  ['no next cursor at all', { ...PAGE, nextCursor: undefined }],
  ['a balance that is no number', { ...PAGE, closingCents: '-150' }],
  ['a balance beyond what a number holds', { ...PAGE, closingCents: 2 ** 60 }],
  ['a kind that nobody knows', { ...PAGE, entries: [{ ...PAYMENT, kind: 'GIFT' }] }],
  ['the wrong sign', { ...PAGE, entries: [PAYMENT, { ...RETURN, sign: '+' }] }],
  ['a return without its id', { ...PAGE, entries: [{ ...RETURN, returnId: undefined }] }],
  ['half a centavo', { ...PAGE, entries: [{ ...PAYMENT, valueCents: 0.5 }] }],
  ['nothing moved', { ...PAGE, entries: [{ ...PAYMENT, valueCents: 0 }] }],
  ['a day that is none', { ...PAGE, entries: [{ ...PAYMENT, occurredAt: '2026-02-30T00:00:00Z' }] }],
  ['a NUL in an id', { ...PAGE, entries: [{ ...PAYMENT, endToEndId: 'E\u0000' }] }],
  ['no reference', { ...PAGE, entries: [{ ...PAYMENT, reference: '' }] }],
] as const) {
  test(`[statement.3] [PL-13] a whole statement with ${name} is UNKNOWN`, async (t) => {
    const { told } = await read(t, 200, body)
    assert.equal(told.kind, 'UNKNOWN')
  })
}

for (const status of [204, 302, 401, 404, 429, 500]) {
  test(`[statement.3] a statement answered with ${status} is UNKNOWN`, async (t) => {
    const { told } = await read(t, status, { errorCode: 'not_found' })
    assert.deepEqual([told.kind, 'httpStatus' in told && told.httpStatus], ['UNKNOWN', status])
  })
}
