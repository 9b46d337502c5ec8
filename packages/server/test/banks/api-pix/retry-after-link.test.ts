import assert from 'node:assert/strict'
import test from 'node:test'
import { retryAfterLink } from '../../../src/banks/api-pix/link.ts'
import type { Outcome, PartnerCall } from '../../../src/banks/link.ts'
import { linkTo, scriptedBank } from '../pixgate/scripted-bank.ts'

const PAYOUT = { method: 'PUT', path: `/v3/gn/pix/${'a'.repeat(32)}` } as const
const ANOTHER = { ...PAYOUT, path: `/v3/gn/pix/${'b'.repeat(32)}` } as const
const QUESTION = { method: 'GET', path: `/v2/cob/${'a'.repeat(32)}` } as const
const QR_CODE = { method: 'POST', path: '/v2/gn/qrcodes/detalhar' } as const
const FINE: Outcome = { kind: 'answered', httpStatus: 201, json: {} }

/** A bank that first answers this, and what it was asked. */
function bankOf(first: Outcome) {
  const calls: PartnerCall[] = []
  let now = 0
  const link = retryAfterLink(
    {
      exchange: async (call) => {
        calls.push(call)
        return calls.length === 1 ? first : FINE
      },
      close: async () => undefined,
    },
    () => now,
    ({ method }) => method !== 'POST',
  )
  const kindAt = async (nowMs: number, call: PartnerCall) => {
    now = nowMs
    return (await link.exchange(call)).kind
  }
  return { kindAt, calls, link }
}

const asking = (retryAfterMs: number) => ({ kind: 'answered', httpStatus: 429, json: {}, retryAfterMs }) as const

test('[api-pix.15] after Retry-After no call of that kind is sent for that time', async () => {
  const { kindAt, calls } = bankOf(asking(7_000))
  assert.equal(await kindAt(0, PAYOUT), 'answered')
  assert.deepEqual([await kindAt(6_999, PAYOUT), await kindAt(6_999, ANOTHER)], ['not sent', 'not sent'])
  assert.equal(await kindAt(6_999, QUESTION), 'answered', 'calls of another kind go on')
  assert.equal(await kindAt(7_000, PAYOUT), 'answered')
  assert.deepEqual(calls, [PAYOUT, QUESTION, PAYOUT], 'the same order under the same id')
})

test('[api-pix.15] Retry-After is capped at five minutes; without it nothing waits', async () => {
  const long = bankOf(asking(86_400_000))
  await long.kindAt(0, PAYOUT)
  assert.deepEqual([await long.kindAt(299_999, PAYOUT), await long.kindAt(300_000, PAYOUT)], ['not sent', 'answered'])
  const plain = bankOf({ kind: 'answered', httpStatus: 429, json: {} })
  await plain.kindAt(0, PAYOUT)
  assert.equal(await plain.kindAt(0, PAYOUT), 'answered')
})

test('[api-pix.15] a held-back call has the status of the bank and the time left', async () => {
  const { kindAt, link } = bankOf({ ...asking(65_000), httpStatus: 503 })
  assert.equal(link.pauseFor(PAYOUT), undefined)
  await kindAt(0, PAYOUT)
  assert.equal(await kindAt(60_000, ANOTHER), 'not sent')
  const held = { kind: 'not sent', reason: 'the bank asked to wait', httpStatus: 503, retryAfterMs: 5_000 }
  assert.deepEqual(
    [await link.exchange(ANOTHER), link.pauseFor(ANOTHER), link.pauseFor(QUESTION)],
    [held, held, undefined],
  )
})

test('[api-pix.15] Retry-After on a QR code query holds no other query back', async () => {
  const { kindAt } = bankOf(asking(7_000))
  await kindAt(0, QR_CODE)
  assert.equal(await kindAt(0, QR_CODE), 'answered')
})

const DATE = 'Sun, 22 Nov 2026 12:00:00 GMT'

for (const [status, header, retryAfterMs] of [
  [429, '3', 3_000],
  [503, ' 3 ', 3_000],
  [429, 'Sun, 22 Nov 2026 12:00:30 GMT', 30_000],
  [429, 'Sun, 22 Nov 2026 11:00:00 GMT', undefined],
  [429, '0', undefined],
  [429, '-3', undefined],
  [429, 'soon', undefined],
  [429, undefined, undefined],
  [500, '3', undefined],
  [200, '3', undefined],
] as const)
  test(`[api-pix.15] ${status} with Retry-After ${header} asks for ${retryAfterMs} ms`, async (t) => {
    const bank = await scriptedBank(t, (response) => {
      response.writeHead(status, { date: DATE, ...(header !== undefined && { 'retry-after': header }) }).end('{}')
    })
    const outcome = await linkTo(t, bank.url).exchange({ method: 'GET', path: '/' })
    assert.equal(outcome.kind === 'answered' && outcome.retryAfterMs, retryAfterMs)
  })
