import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { buildDynamicBrCode, buildStaticBrCode } from '@pixgate/brcode'
import { balances } from '../support/books.ts'
import { cases, notifiedStatuses } from '../support/evidence.ts'
import { IMPATIENT, TOO_LATE_MS } from '../support/impatience.ts'
import { stepUntil } from '../support/stepping.ts'
import { codeOf } from '../support/suspense.ts'
import { world } from '../support/world.ts'

const MERCHANT = { merchantName: 'Padaria Central', merchantCity: 'Recife' }
const STATIC = { pixKey: 'padaria@example.com', ...MERCHANT }
const SAQUE =
  '00020126630014br.gov.bcb.pix0115thalesog@me.com0210Pedido 1230308123412345204000053039865802BR5914THALES OGLIARI6015SAO MIGUEL DO O62070503***6304901C'

async function funded(t: TestContext, environment: Record<string, string> = {}) {
  const pix = await world(t, environment, { isStepped: true })
  await pix.balance(100_00)
  let payouts = 0
  async function pay(pixCode: string, transaction: object = {}, more: object = {}) {
    payouts += 1
    const given = { pixCode, externalId: `payout-${payouts}`, ...transaction }
    return pix.call('POST', '/api/pix/cash-out-qrcode', { transaction: given, ...more })
  }
  async function dynamicCode(order: object): Promise<string> {
    const { status, body } = await pix.bank('POST', '/control/qr-codes', order)
    assert.equal(status, 201, JSON.stringify(body))
    return body.pixCode
  }
  const becomes = (id: string, status: string) => stepUntil(pix, `/api/pix/cash-out/${id}`, status)
  return { ...pix, pay, dynamicCode, becomes }
}

test('[cash-out.qrcode.1] [QR-1] an invalid code is 400 before anything else, and says what is wrong', async (t) => {
  const pix = await funded(t)
  const code = buildStaticBrCode(STATIC)
  for (const [wrong, reason] of [
    [`${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`, 'crc_mismatch'],
    [code.slice(0, 60), 'crc_missing'],
    ['hello', 'payload_format_missing'],
    ['0'.repeat(600), 'too_long'],
  ] as const) {
    const { status, body } = await pix.pay(wrong)
    assert.deepEqual(
      [status, body.code, body.errors[0].field, body.errors[0].code],
      [400, 'invalid_pix_code', 'transaction.pixCode', reason],
    )
  }
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_000n })
})

test('[cash-out.qrcode.4] [QR-4] a static code is paid with its amount, or with the given one', async (t) => {
  const pix = await funded(t)
  const priced = buildStaticBrCode({ ...STATIC, amountCents: 1_050n })
  const open = buildStaticBrCode(STATIC)
  assert.deepEqual(codeOf(await pix.pay(priced, { value: 10 })), [422, 'pix_code_value_mismatch'])
  assert.deepEqual(codeOf(await pix.pay(open)), [422, 'pix_code_value_mismatch'])
  const paid = await pix.pay(`  ${priced}\n`, { description: 'Pão' })
  assert.deepEqual(
    [paid.status, paid.body.status, paid.body.valueCents, paid.body.paymentType, paid.body.recipient.pixKey],
    [201, 'RESERVED', 1050, 'qrcode', STATIC.pixKey],
  )
  const detail = await pix.becomes(paid.body.id, 'CONFIRMED')
  assert.deepEqual([detail.paymentType, detail.description], ['qrcode', 'Pão'])
  const again = await pix.pay(priced, { value: 10.5 })
  assert.equal(again.status, 201, 'a static code may be paid any number of times')
  await pix.becomes((await pix.pay(open, { value: 1 })).body.id, 'CONFIRMED')
  await pix.assertBooksAgree()
})

test('[cash-out.qrcode.2] [QR-5] a code for something other than a payment is not payable', async (t) => {
  const pix = await funded(t)
  assert.deepEqual(codeOf(await pix.pay(SAQUE, { value: 1 })), [422, 'pix_code_not_payable'])
  const unknown = buildDynamicBrCode({ url: 'nobody.example/qr/v2/1', ...MERCHANT })
  assert.deepEqual(codeOf(await pix.pay(unknown)), [422, 'pix_code_not_payable'])
  const expired = await pix.dynamicCode({ valueCents: 100, expiresAt: new Date(pix.clock.now() + 5_000).toISOString() })
  pix.clock.advance(6_000)
  assert.deepEqual(codeOf(await pix.pay(expired)), [422, 'pix_code_not_payable'])
})

test('[cash-out.qrcode.6] [QR-8] [QR-9] a dynamic code is paid by one payout at a time, and never called by us', async (t) => {
  const pix = await funded(t)
  const code = await pix.dynamicCode({ valueCents: 2_500 })
  assert.deepEqual(codeOf(await pix.pay(code, { value: 24.99 })), [422, 'pix_code_value_mismatch'])
  const answers = await Promise.all(Array.from({ length: 8 }, () => pix.pay(code)))
  const accepted = answers.filter(({ status }) => status === 201)
  assert.equal(accepted.length, 1)
  for (const answer of answers) {
    if (answer.status !== 201) {
      assert.deepEqual(codeOf(answer), [409, 'pix_code_in_use'])
      assert.equal(answer.body.existing.id, accepted[0]?.body.id)
    }
  }
  await pix.becomes(accepted[0]?.body.id, 'CONFIRMED')
  assert.deepEqual(codeOf(await pix.pay(code)), [409, 'pix_code_in_use'], 'done is in use for ever')
  await pix.assertBooksAgree()
})

test('[cash-out.qrcode.6] [QR-8] a code whose payout failed may be paid again', async (t) => {
  const pix = await funded(t)
  const code = await pix.dynamicCode({ valueCents: 2_500 })
  await pix.behave({ cashOut: 'fail' })
  await pix.becomes((await pix.pay(code)).body.id, 'FAILED')
  await pix.behave({ cashOut: 'auto' })
  await pix.becomes((await pix.pay(code)).body.id, 'CONFIRMED')
  await pix.assertBooksAgree()
})

test('[cash-out.qrcode.3] [QR-2] a bank that does not decode is 503, and nothing is stored', async (t) => {
  const pix = await funded(t, IMPATIENT)
  const code = await pix.dynamicCode({ valueCents: 2_500 })
  await pix.behave({ latencyMs: TOO_LATE_MS })
  const refused = await pix.pay(code, { externalId: 'again' })
  assert.deepEqual(codeOf(refused), [503, 'partner_unavailable'])
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  await pix.behave({ latencyMs: 0 })
  assert.equal((await pix.pay(code, { externalId: 'again' })).status, 201)
})

test('[partner.9] [QR-2] after five failed decodings the bank is not called, and the client does not wait; 5 s later it is called', async (t) => {
  const pix = await funded(t, IMPATIENT)
  const code = await pix.dynamicCode({ valueCents: 2_500 })
  await pix.behave({ latencyMs: TOO_LATE_MS })
  for (let asked = 0; asked < 5; asked++) assert.equal((await pix.pay(code)).status, 503)
  await pix.behave({ latencyMs: 0 })
  assert.deepEqual(codeOf(await pix.pay(code)), [503, 'partner_unavailable'], 'it would have answered')
  pix.clock.advance(5_000)
  assert.equal((await pix.pay(code)).status, 201)
})

test('[cash-out.qrcode.3] [QR-6] the same request again is answered without asking the bank', async (t) => {
  const pix = await funded(t, IMPATIENT)
  const code = await pix.dynamicCode({ valueCents: 2_500 })
  const transaction = { pixCode: code, externalId: 'one' }
  const key = { 'idempotency-key': 'k1' }
  const first = await pix.call('POST', '/api/pix/cash-out-qrcode', { transaction }, key)
  assert.equal(first.status, 201)
  await pix.behave({ latencyMs: TOO_LATE_MS })
  const replayed = await pix.call('POST', '/api/pix/cash-out-qrcode', { transaction }, key)
  assert.deepEqual([replayed.status, replayed.headers.get('idempotent-replayed')], [201, 'true'])
  assert.deepEqual(replayed.body, first.body)
  const duplicate = await pix.call('POST', '/api/pix/cash-out-qrcode', { transaction })
  assert.deepEqual(
    [duplicate.status, duplicate.body.code, duplicate.body.existing.samePayload],
    [409, 'duplicate_external_id', true],
  )
  const other = { pixCode: await pix.dynamicCode({ valueCents: 1 }).catch(() => code), externalId: 'one' }
  const different = await pix.call('POST', '/api/pix/cash-out-qrcode', { transaction: { ...other, description: 'x' } })
  assert.deepEqual([different.status, different.body.existing.samePayload], [409, false])
})

test('[cash-out.qrcode.4] [QR-7] a payout of another amount than the bank decoded needs reconciliation, and the reservation stays', async (t) => {
  const pix = await funded(t)
  const code = await pix.dynamicCode({ valueCents: 2_500, changesToCents: 2_600 })
  const { body } = await pix.pay(code)
  await pix.becomes(body.id, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await cases(pix.database), ['debit_in_suspense'])
  assert.equal((await balances(pix.database)).reserved, 2_500n)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  await pix.assertBooksAgree()
})

test('[cash-out.qrcode.5] [QR-10] a document that is not the recipient’s is refused', async (t) => {
  const pix = await funded(t)
  const code = await pix.dynamicCode({ valueCents: 2_500 })
  const wrong = await pix.pay(code, {}, { recipient: { document: '529.982.247-25' } })
  assert.deepEqual([...codeOf(wrong), wrong.body.errors[0].code], [422, 'pix_code_not_payable', 'other_recipient'])
  const invalid = await pix.pay(code, {}, { recipient: { document: '123' } })
  assert.deepEqual(codeOf(invalid), [422, 'invalid_document'])
})

/** Keys as DICT knows them, and spellings of each that a code may have. */
const SPELLINGS: readonly [key: string, pixKeyType: string, ...spellings: string[]][] = [
  ['+5581999998888', 'phone', '+5581999998888', '5581999998888', '81999998888', '(81)99999-8888'],
  ['11144477735', 'cpf', '11144477735', '111.444.777-35'],
  ['12ABC34501DE35', 'cnpj', '12abc34501de35', '12.ABC.345/01DE-35'],
  ['joao@example.com', 'email', 'joao@example.com', 'JOAO@example.com', 'jOaO@Example.COM'],
  ['123e4567-e89b-12d3-a456-426614174001', 'evp', '123E4567-E89B-12D3-A456-426614174001'],
]

test('[cash-out.qrcode.7] [limits.4] every spelling of a key in codes is one recipient, the same as of payouts to the key', async (t) => {
  const pix = await funded(t, { PIXGATE_NEW_RECIPIENT_MAX_CENTS: '500' })
  let payouts = 0
  for (const [pixKey, pixKeyType, ...spellings] of SPELLINGS) {
    const typed = (value: number) => {
      const transaction = { value, externalId: `typed-${++payouts}` }
      return pix.call('POST', '/api/pix/cash-out', { transaction, recipient: { pixKey, pixKeyType } })
    }
    const scanned = (spelling: string, value: number) =>
      pix.pay(buildStaticBrCode({ pixKey: spelling, merchantName: 'JOAO', merchantCity: 'RECIFE' }), { value })
    for (const spelling of spellings) {
      const { status, body } = await scanned(spelling, 1)
      assert.deepEqual([status, body.recipient.pixKey], [201, pixKey])
    }
    assert.equal((await typed(5 - spellings.length)).status, 201)
    for (const refused of [await typed(0.01), ...(await Promise.all(spellings.map((text) => scanned(text, 0.01))))]) {
      assert.deepEqual([refused.status, refused.body.limit?.name], [422, 'new_recipient'])
    }
  }
})

test('[cash-out.qrcode.7] a code that pays no key is refused before anything is stored', async (t) => {
  const pix = await funded(t)
  const code = buildStaticBrCode({ pixKey: '+551133334444', merchantName: 'JOAO', merchantCity: 'RECIFE' })
  const { status, body } = await pix.pay(code, { value: 1 })
  assert.deepEqual(
    [status, body.code, body.errors[0].field, body.errors[0].code],
    [422, 'pix_code_not_payable', 'transaction.pixCode', 'pix_key'],
  )
})
