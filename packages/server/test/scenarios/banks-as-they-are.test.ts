import assert from 'node:assert/strict'
import test from 'node:test'
import { capturedLog } from '../support/captured-log.ts'
import { administer } from '../support/database.ts'
import { caseFacts, openCases } from '../support/evidence.ts'
import type { Telling, Told } from '../support/lying-bank.ts'
import { type LyingEfi, lyingEfi } from '../support/lying-efi.ts'
import { callbackAddress } from '../support/standard-bank.ts'
import { stepUntil } from '../support/stepping.ts'

/** Banks of the standard as public bug reports have them: what the merchant has in the end. */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

function mapped(json: unknown, map: (object: Record<string, unknown>) => object): unknown {
  if (Array.isArray(json)) return json.map((item) => mapped(item, map))
  if (typeof json !== 'object' || json === null) return json
  return map(Object.fromEntries(Object.entries(json).map(([name, value]) => [name, mapped(value, map)])))
}

const telling =
  (map: (object: Record<string, unknown>) => object): Telling =>
  ({ body }) => ({ body: mapped(body, map) })

const NULLS = ['devolucoes', 'pix', 'gnExtras', 'favorecido', 'motivo', 'natureza', 'violacoes', 'loc', 'devedor']

const nulled = telling((object) => ({ ...Object.fromEntries(NULLS.map((name) => [name, null])), ...object }))

const withoutDecimals = telling((object) =>
  typeof object.valor === 'string' ? { ...object, valor: Number(object.valor) } : object,
)

/** Three hours behind, and still marked `Z`. */
const inLocalTime = telling((object) =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*Z$/.test(value)
        ? new Date(Date.parse(value) - 3 * HOUR_MS).toISOString()
        : value,
    ]),
  ),
)

async function charged(pix: LyingEfi, value = '100') {
  const made = await pix.charge(value)
  return { ...made, path: `/api/pix/cash-in/${made.id}`, atBank: `charges/${made.id}` }
}

async function paid(pix: LyingEfi, value?: string) {
  const charge = await charged(pix, value)
  await pix.bankAction(`${charge.atBank}/pay`)
  await stepUntil(pix, charge.path, 'PAID', 1_000)
  return charge
}

/** No callback comes: the statement alone reports payments. */
const loseCallbacks = (pix: LyingEfi) => pix.bank('PUT', '/control/lies', { perThousand: { eventLost: 1_000 } })

for (const standard of ['api-pix', 'efi'] as const) {
  for (const [name, tells] of [
    ['writes null for what is absent', nulled],
    ['writes amounts as numbers', withoutDecimals],
  ] as const)
    test(`[api-pix.18] at ${standard}, a bank that ${name}: charges are paid, refunded, and found without a callback`, async (t) => {
      const pix = await lyingEfi(t, { standard })
      pix.tell(tells)
      const { id, pixCode } = await paid(pix)
      assert.equal(typeof pixCode, 'string')
      const { id: refundId } = await pix.refundIn(id, 30)
      await stepUntil(pix, `/api/pix/refund/${refundId}`, 'CONFIRMED', 1_000)
      await loseCallbacks(pix)
      const lost = await charged(pix)
      await pix.bankAction(`${lost.atBank}/pay`)
      await pix.pass(2 * MINUTE_MS, 10_000)
      assert.equal((await pix.get(lost.path)).status, 'PAID')
      await pix.pass(10 * MINUTE_MS)
      assert.deepEqual(await openCases(pix.database), [])
      await pix.assertBooksAgree()
    })

  test(`[api-pix.17] at ${standard}, a bank that marks local time Z: paid when it was paid, found without a callback`, async (t) => {
    const pix = await lyingEfi(t, { standard })
    pix.tell(inLocalTime)
    const { path } = await paid(pix)
    const { paidAt, status } = await pix.get(path)
    assert.equal(status, 'PAID')
    assert.ok(Math.abs(Date.parse(paidAt) - pix.clock.now()) < 5 * MINUTE_MS, paidAt)
    await loseCallbacks(pix)
    const lost = await charged(pix)
    assert.equal(typeof lost.pixCode, 'string')
    await pix.bankAction(`${lost.atBank}/pay`)
    await pix.pass(2 * MINUTE_MS, 10_000)
    assert.equal((await pix.get(lost.path)).status, 'PAID')
    await pix.pass(10 * MINUTE_MS)
    assert.deepEqual(await openCases(pix.database), [])
    await pix.assertBooksAgree()
  })

  test(`[api-pix.8] [api-pix.18] at ${standard}, a return made in the bank’s app, without an id, is the bank’s own`, async (t) => {
    const pix = await lyingEfi(t, { standard })
    const { id, path, atBank } = await paid(pix)
    pix.tell(
      telling((object) => {
        if (!('rtrId' in object) || !('horario' in object)) return object
        const { id: _, ...rest } = object
        return { ...rest, natureza: 'ORIGINAL' }
      }),
    )
    await pix.bankAction(`${atBank}/return`, { valueCents: 100 })
    await pix.pass(3 * MINUTE_MS, 10_000)
    const { data } = await pix.get(`/api/pix/refund?cash_in_id=${id}`)
    assert.deepEqual(
      data.map((one: { status: string; origin: string; valueCents: number }) => [
        one.status,
        one.origin,
        one.valueCents,
      ]),
      [['CONFIRMED', 'PARTNER', 100]],
    )
    assert.equal((await pix.get(path)).status, 'PAID')
    assert.deepEqual(await openCases(pix.database), [])
    await pix.assertBooksAgree()
  })

  test(`[api-pix.3] at ${standard}, a PUT refused with 412 is a refusal once the bank reports that nothing exists`, async (t) => {
    const pix = await lyingEfi(t, { standard })
    const { id } = await paid(pix)
    const refusal = (type: string, status: number) => ({
      status,
      body: { type: `https://pix.bcb.gov.br/api/v2/error/${type}`, title: type, status, violacoes: null },
    })
    const refuses: Telling = ({ method, path }: Told) => {
      if (path.includes('/cob/'))
        return method === 'PUT' ? refusal('CobOperacaoInvalida', 412) : refusal('CobNaoEncontrado', 404)
      if (!path.includes('/devolucao/')) return undefined
      return method === 'PUT' ? refusal('PixDevolucaoInvalida', 412) : refusal('PixDevolucaoNaoEncontrada', 404)
    }
    await pix.bank('PUT', '/control/behavior', { refundIn: 'manual' })
    pix.tell(refuses)
    const { status } = await pix.call('POST', '/api/pix/cash-in', { transaction: { value: 5, externalId: 'refused' } })
    assert.equal(status, 422)
    const { id: refundId } = await pix.refundIn(id, 30)
    await stepUntil(pix, `/api/pix/refund/${refundId}`, 'FAILED', 1_000)
    assert.deepEqual((await pix.stands(`/api/pix/refund/${refundId}`)).balances, {
      available: 10_000n,
      settlement: -10_000n,
    })
  })

  test(`[statement.12] at ${standard}, an item that cannot be read is a case, hides nothing, and is read once it is readable`, async (t) => {
    const log = capturedLog()
    const pix = await lyingEfi(t, { standard, logger: log.logger })
    await loseCallbacks(pix)
    const [odd, other] = [await charged(pix), await charged(pix)]
    for (const { atBank } of [odd, other]) await pix.bankAction(`${atBank}/pay`)
    const oddTxid = await pix.orderIdOf(odd.id)
    pix.tell(
      telling((object) => (object.txid === oddTxid && 'endToEndId' in object ? { ...object, valor: '?' } : object)),
    )
    await pix.pass(2 * MINUTE_MS, 10_000)
    assert.equal((await pix.get(other.path)).status, 'PAID')
    assert.deepEqual(await openCases(pix.database), ['statement_unreadable'])
    const [{ list, member, item }] = (await caseFacts(pix.database, 'statement_unreadable')) as [Record<string, string>]
    assert.deepEqual([list, member, JSON.parse(item ?? '').txid], ['received', '/valor', oddTxid])
    await pix.pass(30 * MINUTE_MS)
    assert.deepEqual(await openCases(pix.database), ['statement_unreadable'])
    pix.tell()
    await pix.pass(HOUR_MS)
    assert.deepEqual(await openCases(pix.database), [])
    assert.equal((await pix.get(odd.path)).status, 'PAID')
    await pix.assertBooksAgree()
  })

  test(`[statement.12] at ${standard}, an item whose case was closed opens no second one`, async (t) => {
    const pix = await lyingEfi(t, { standard })
    await loseCallbacks(pix)
    const { id, atBank } = await charged(pix)
    const txid = await pix.orderIdOf(id)
    await pix.bankAction(`${atBank}/pay`)
    pix.tell(telling((object) => (object.txid === txid && 'endToEndId' in object ? { ...object, valor: '?' } : object)))
    await pix.pass(MINUTE_MS, 10_000)
    assert.deepEqual(await openCases(pix.database), ['statement_unreadable'])
    await administer(pix.databaseUrl, `UPDATE "case" SET closed_at = now()`)
    await pix.pass(3 * MINUTE_MS)
    assert.deepEqual(await openCases(pix.database), [])
  })

  test(`[api-pix.11] at ${standard}, a callback of another form is read, and an unreadable one is logged and counted`, async (t) => {
    const log = capturedLog()
    const pix = await lyingEfi(t, { standard, logger: log.logger })
    await loseCallbacks(pix)
    const post = async (body: unknown) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(callbackAddress(pix.url), { method: 'POST', headers, body: JSON.stringify(body) })
      assert.equal(answer.status, 200)
    }
    for (const wrap of [(item: object) => ({ pix: item }), (item: object) => [item]]) {
      const { id, path, atBank } = await charged(pix)
      const { endToEndId } = await pix.bankAction(`${atBank}/pay`)
      await post(wrap({ endToEndId: endToEndId ?? 'E', txid: await pix.orderIdOf(id) }))
      await pix.work()
      assert.equal((await pix.get(path)).status, 'PAID')
    }
    await post({ pagamento: {} })
    await log.line('', { event: 'callback.unreadable' })
  })
}
