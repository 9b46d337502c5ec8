import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { buildDynamicBrCode, buildStaticBrCode } from '@pixgate/brcode'
import type { QrCodeAnswer } from '../../src/banks/port.ts'
import { makeOperator } from '../support/operators.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

const HONEST = buildStaticBrCode({
  pixKey: 'padaria@example.com',
  merchantName: 'Padaria Central',
  merchantCity: 'Recife',
})
const THIEVES = buildStaticBrCode({ pixKey: 'ladrao@example.com', merchantName: 'Ladrao', merchantCity: 'Recife' })

const STALLED: QrCodeAnswer = { kind: 'UNKNOWN', reason: 'timeout', httpStatus: undefined }
const TOO_MANY: QrCodeAnswer = { kind: 'UNKNOWN', reason: 'HTTP 429', httpStatus: 429 }

/** A shop with R$ 100,00 and a thief with one of its keys; the bank gives this answer to codes of the thief's own. */
async function robbed(t: TestContext, answer: QrCodeAnswer, environment: Readonly<Record<string, string>> = {}) {
  const decoded: string[] = []
  const pix = await world(t, environment, {
    isStepped: true,
    bank: (simulated) => ({
      ...simulated,
      decodeQrCode: async (...call) => {
        decoded.push(call[0])
        return call[0] === THIEVES ? answer : simulated.decodeQrCode(...call)
      },
    }),
  })
  await pix.paid('100.00')
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const stolen = (await pix.call('POST', '/api-key/generate', undefined, admin)).body.apiKey
  let codes = 0
  const pay = (token: string, pixCode: string, value: number | undefined = 0.01) => {
    codes += 1
    const transaction = { pixCode, externalId: `code-${codes}`, ...(value === undefined ? {} : { value }) }
    return pix.call('POST', '/api/pix/cash-out-qrcode', { transaction }, { authorization: `Bearer ${token}` })
  }
  return { ...pix, stolen, decoded, pay, steal: () => pay(stolen, THIEVES) }
}

test('[partner.6] [partner.9] a 429 about the codes of one key stops neither payouts nor the codes of another', async (t) => {
  const pix = await robbed(t, TOO_MANY)
  assert.equal((await pix.steal()).status, 503)
  const { id } = await pix.cashOut({ value: 1 })
  for (let round = 0; round < 10; round++) {
    assert.equal((await pix.pay(pix.apiKey, HONEST)).status, 201)
    assert.equal((await pix.steal()).status, 503)
  }
  for (let second = 0; second < 5; second++) await pix.later(1_000)
  await pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'CONFIRMED')
  assert.equal(pix.decoded.filter((code) => code === THIEVES).length, 5, 'and the bank is not asked about more of them')
})

test('[partner.9] [cash-out.approval.9] slow codes of one key keep no other key from paying codes, and none from being approved', async (t) => {
  const pix = await robbed(t, STALLED, { PIXGATE_APPROVAL_FROM_CENTS: '1000' })
  const approver = await makeOperator(pix, 'approver')
  const { body: waiting } = await pix.pay(pix.apiKey, HONEST, 10)
  for (let round = 0; round < 20; round++) {
    assert.equal((await pix.steal()).status, 503)
    assert.equal((await pix.pay(pix.apiKey, HONEST)).status, 201)
    pix.clock.advance(round % 5 === 4 ? 5_001 : 0)
  }
  const said = await approve(pix, approver, waiting.id)
  assert.deepEqual([said.status, said.body.code], [200, undefined])
})

function approve(pix: World, token: string, id: string) {
  const body = { approved: true, reason: 'checked' }
  return pix.call('PUT', `/operator/approvals/${id}`, body, { authorization: `Bearer ${token}` })
}

test('[cash-out.qrcode.8] a code is not decoded for a payout that would be refused anyway', async (t) => {
  const pix = await robbed(t, STALLED, { PIXGATE_PAYMENT_MAX_CENTS: '5000', PIXGATE_HOUR_MAX_CENTS: '6000' })
  const open = buildDynamicBrCode({ url: 'bank.example/qr/1', merchantName: 'Padaria', merchantCity: 'Recife' })
  const refused = async (pixCode: string, value?: number, token = pix.apiKey) => {
    const { status, body } = await pix.pay(token, pixCode, value)
    return [status, body.code, body.limit?.name]
  }
  assert.deepEqual(await refused(HONEST, 50.01), [422, 'limit_exceeded', 'payment'])
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const made = await pix.call(
    'POST',
    '/api-key/generate',
    { name: 'small', scopes: ['payout'], caps: { hourCents: 100 } },
    admin,
  )
  assert.equal(made.status, 201)
  assert.deepEqual(await refused(HONEST, 1.01, made.body.apiKey), [422, 'limit_exceeded', 'hour'])
  const invalid = { transaction: { pixCode: HONEST, value: 1, externalId: 'invalid' }, recipient: { document: '123' } }
  assert.equal((await pix.call('POST', '/api/pix/cash-out-qrcode', invalid)).body.code, 'invalid_document')

  await pix.cashOut({ value: 50, externalId: 'half' })
  await pix.cashOut({ value: 10, externalId: 'rest' })
  assert.deepEqual(
    await refused(open, undefined),
    [422, 'limit_exceeded', 'hour'],
    'no code asks for less than a centavo',
  )
  pix.clock.advance(3_700_000)
  assert.deepEqual(await refused(HONEST, 40.01), [422, 'insufficient_balance', undefined])
  const off = { enabled: false, reason: 'a key was stolen' }
  assert.equal((await pix.call('PUT', '/operator/cash-out-switch', off, admin)).status, 200)
  assert.deepEqual(await refused(open, undefined), [503, 'cash_out_suspended', undefined])
  assert.deepEqual(pix.decoded, [])
})
