import assert from 'node:assert/strict'
import test from 'node:test'
import { stampOffset } from '../../../src/banks/api-pix/charges.ts'
import type { Outcome } from '../../../src/banks/link.ts'
import {
  COB,
  CREATED,
  DEVOLUCAO,
  E2E,
  ID,
  NO_COB,
  NO_DEVOLUCAO,
  NOON,
  PIX,
  pageOf,
  partnerOf,
  REFUND,
  REQUEST,
  RTR,
  TXID,
} from './fixture.ts'
import { answered, problem } from './scripted.ts'

/** Banks of the standard as public bug reports have them. Amounts and states are what the merchant expects. */

const PAID = { ...COB, status: 'CONCLUIDA', pix: [PIX] }

async function chargeOf(body: object, put = false) {
  const bank = partnerOf(NOON, answered(put ? 201 : 200, body))
  const answer = await (put ? bank.createCharge(ID, REQUEST) : bank.getCharge(ID, REQUEST))
  return 'charge' in answer ? answer.charge : assert.fail(JSON.stringify(answer))
}

async function statementOf(...items: unknown[]) {
  const bank = partnerOf(NOON, pageOf(items as object[]))
  const answer = await bank.readStatement({ from: CREATED, to: NOON, cursor: null })
  return answer.kind === 'READ' ? answer.page : assert.fail(JSON.stringify(answer))
}

test('[api-pix.18] a charge and its payment are read with null for every optional member', async () => {
  const { status, pixCode, payments } = await chargeOf({
    ...PAID,
    loc: null,
    devedor: null,
    infoAdicionais: null,
    pix: [{ ...PIX, devolucoes: null, gnExtras: null, infoPagador: null, componentesValor: null }],
  })
  assert.deepEqual([status, pixCode !== undefined, payments.length], ['PAID', true, 1])
  const made = await chargeOf({ ...COB, pix: null, solicitacaoPagador: null }, true)
  assert.deepEqual([made.status, made.pixCode], ['ACTIVE', COB.pixCopiaECola])
})

for (const [name, valor] of [
  ['text without decimals', '150'],
  ['text with one decimal', '150.0'],
  ['a number', 150],
] as const)
  test(`[api-pix.18] an amount is read as ${name}`, async () => {
    const { valueCents, payments } = await chargeOf({ ...PAID, valor: { original: valor }, pix: [{ ...PIX, valor }] })
    assert.deepEqual([valueCents, payments[0]?.valueCents], [15_000n, 15_000n])
  })

test('[api-pix.18] the ISPB of a payer may have letters', async () => {
  const endToEndId = 'EA1B2C3D4202611221210abcdefghijk'
  const { payments } = await chargeOf({ ...PAID, pix: [{ ...PIX, endToEndId }] })
  assert.equal(payments[0]?.payer.ispb, 'A1B2C3D4')
})

test('[api-pix.18] each payment and each return of a charge is judged alone', async () => {
  const second = { ...PIX, endToEndId: `${E2E.slice(0, -1)}z`, valor: '0.01', devolucoes: [{ id: '?' }, DEVOLUCAO] }
  const { payments } = await chargeOf({ ...PAID, pix: ['odd', { ...PIX, valor: 'odd' }, second] })
  assert.deepEqual(
    payments.map(({ valueCents, returns = [] }) => [valueCents, returns.map(({ returnId }) => returnId)]),
    [[1n, [RTR]]],
  )
})

test('[api-pix.18] [api-pix.8] a return made in the bank’s app has no id, and is the bank’s own', async () => {
  const { id: _, ...made } = { ...DEVOLUCAO, valor: '1.00', natureza: 'ORIGINAL' }
  const { entries, unreadable } = await statementOf({ ...PIX, devolucoes: [made] })
  assert.deepEqual(unreadable, [])
  assert.deepEqual(
    entries.map(({ kind, movementId, valueCents, reference }) => [kind, movementId, valueCents, reference]),
    [
      ['PAYMENT_RECEIVED', E2E, 15_000n, ID],
      ['PAYMENT_TAKEN_BACK', RTR, 100n, ID],
    ],
  )
  const { payments } = await chargeOf({ ...PAID, pix: [{ ...PIX, devolucoes: [made] }] })
  assert.deepEqual(
    payments[0]?.returns?.map(({ returnId, origin }) => [returnId, origin]),
    [[RTR, 'BANK']],
  )
})

const odd: [name: string, item: unknown, member: string][] = [
  ['no payment', 'odd', ''],
  ['of a wrong amount', { ...PIX, valor: '1,00' }, '/valor'],
  ['without an end-to-end id', { ...PIX, endToEndId: null }, '/endToEndId'],
  ['without a time', { ...PIX, horario: undefined }, '/horario'],
  ['of nothing', { ...PIX, valor: '0.00' }, '/valor'],
  ['of a time that no database keeps', { ...PIX, horario: '0001-01-01T00:00:00+01:00' }, '/horario'],
  ['of a time past the year 9999', { ...PIX, horario: '9999-12-31T23:59:59-03:00' }, '/horario'],
]
for (const [name, item, member] of odd)
  test(`[api-pix.18] an item ${name} hides none of the others`, async () => {
    const others = Array.from({ length: 99 }, (_, one) => ({ ...PIX, endToEndId: `${E2E.slice(0, -3)}${one + 100}` }))
    const { entries, unreadable } = await statementOf(...others.slice(0, 50), item, ...others.slice(50))
    assert.equal(entries.length, 99)
    assert.deepEqual(
      unreadable?.map(({ list, member }) => [list, member]),
      [['received', member]],
    )
  })

const HUNDRED = Array.from({ length: 100 }, (_, index) => ({
  ...PIX,
  endToEndId: `E${String(index).padStart(31, '0')}`,
}))

for (const [name, body, expected] of [
  [
    'numbers as text',
    { parametros: { paginacao: { paginaAtual: '0', quantidadeDePaginas: '2' } }, pix: [PIX] },
    [1, 'received:1'],
  ],
  ['null for all of it, and a page that is not full', { parametros: null, pix: [PIX] }, [1, 'returned:0']],
  ['nothing, and a full page', { pix: HUNDRED }, [100, 'received:1']],
  [
    'a shorter length, and a full page',
    { parametros: { paginacao: { itensPorPagina: 1 } }, pix: [PIX] },
    [1, 'received:1'],
  ],
  ['an empty list', { pix: [] }, [0, 'returned:0']],
  ['another page', { parametros: { paginacao: { paginaAtual: 1, quantidadeDePaginas: 2 } }, pix: [PIX] }, 'UNKNOWN'],
  ['neither pages nor items', {}, 'UNKNOWN'],
] as const)
  test(`[api-pix.18] a bank reports its pages: ${name}`, async () => {
    const answer = await partnerOf(NOON, answered(200, body)).readStatement({ from: CREATED, to: NOON, cursor: null })
    const read = answer.kind === 'READ' ? [answer.page.entries.length, answer.page.nextCursor] : answer.kind
    assert.deepEqual(read, expected)
  })

test('[api-pix.18] a bank that reports no number of pages is not read for ever', async () => {
  const bank = partnerOf(NOON, answered(200, { pix: HUNDRED }))
  const answer = await bank.readStatement({ from: CREATED, to: NOON, cursor: 'received:100' })
  assert.equal(answer.kind, 'UNKNOWN')
})

test('[api-pix.18] members other than money may have any form', async () => {
  const odd = { gnExtras: { pagador: { nome: 7, cpf: 52998224725 } }, chave: 7, infoPagador: {}, componentesValor: '' }
  const { entries, unreadable } = await statementOf({ ...PIX, ...odd, devolucoes: [{ ...DEVOLUCAO, motivo: 7 }] })
  assert.deepEqual([entries.length, unreadable], [2, []])
  const { payments } = await chargeOf({ ...PAID, pix: [{ ...PIX, ...odd }] })
  assert.deepEqual(payments[0]?.payer, { name: undefined, document: undefined, ispb: '12345678' })
})

for (const txid of [`${TXID}\u0000`, `${TXID}\ud800`, 'x'.repeat(200), ' '])
  test(`[api-pix.18] a txid that cannot be stored identifies nothing: ${JSON.stringify(txid).slice(0, 50)}`, async () => {
    const { entries } = await statementOf({ ...PIX, txid })
    assert.deepEqual(
      entries.map(({ reference }) => reference),
      [E2E],
    )
  })

for (const rtrId of ['', ' ', `${RTR.slice(1)}\u0000`, 'D'.repeat(200)])
  test(`[api-pix.7] [api-pix.18] a return whose id cannot be stored is ignored: ${JSON.stringify(rtrId).slice(0, 50)}`, async () => {
    const { entries, unreadable } = await statementOf({ ...PIX, devolucoes: [{ ...DEVOLUCAO, rtrId }] })
    assert.deepEqual([entries.length, unreadable?.map(({ member }) => member)], [1, ['/rtrId']])
    const answer = await partnerOf(NOON, answered(200, { ...DEVOLUCAO, rtrId })).getRefund(ID, REFUND)
    assert.equal(answer.kind, 'UNKNOWN')
  })

test('[api-pix.18] a deeply nested item opens a case and exhausts no stack', async () => {
  const more = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
  const { entries, unreadable } = await statementOf({ ...PIX, valor: '?', more }, PIX)
  assert.deepEqual([entries.length, unreadable?.length], [1, 1])
})

test('[api-pix.18] an odd return hides neither its payment nor the other returns', async () => {
  const { entries, unreadable } = await statementOf({
    ...PIX,
    devolucoes: [
      { ...DEVOLUCAO, rtrId: null },
      { ...DEVOLUCAO, horario: null },
      { ...DEVOLUCAO, status: 'PAGO' },
      DEVOLUCAO,
    ],
  })
  assert.deepEqual(
    entries.map(({ movementId }) => movementId),
    [E2E, RTR],
  )
  assert.deepEqual(
    unreadable?.map(({ member }) => member),
    ['/rtrId', '/horario', '/status'],
  )
  assert.deepEqual(JSON.parse(unreadable?.[2]?.json ?? ''), { ...DEVOLUCAO, status: 'PAGO' })
})

test('[api-pix.18] [privacy.3] an item is stored without personal data', async () => {
  const pagador = { nome: 'Maria', cpf: '52998224725' }
  const { unreadable = [] } = await statementOf({ ...PIX, valor: '?', infoPagador: 'aluguel', gnExtras: { pagador } })
  assert.doesNotMatch(unreadable[0]?.json ?? '', /Maria|52998224725|aluguel/)
})

/** Answer to a PUT, answer to the query after it, and the outcome of both. */
const refusals: [name: string, put: Outcome, absent: boolean, comesTo: string][] = [
  ['412', problem(412, 'CobOperacaoInvalida'), true, 'REJECTED'],
  ['412 of what may be there', problem(412, 'CobOperacaoInvalida'), false, 'UNKNOWN'],
  ['400 whose violations are null', problem(400, 'CobOperacaoInvalida', { violacoes: null }), true, 'REJECTED'],
  ['400 whose violations are odd', problem(400, 'CobOperacaoInvalida', { violacoes: ['odd', {}] }), true, 'REJECTED'],
  ['422 without a type', answered(422, { title: 'Inválido', status: 422 }), true, 'REJECTED'],
  ['400 that has nothing but a detail', answered(400, { detail: 'no' }), true, 'REJECTED'],
  ['400 without a type, of what may be there', answered(400, { detail: 'no' }), false, 'UNKNOWN'],
  ['400 whose texts are odd', problem(400, 'CobOperacaoInvalida', { title: 7, detail: {} }), true, 'REJECTED'],
  ['400 of a proxy', answered(400, { message: 'Bad Request' }), true, 'UNKNOWN'],
  ['400 that says nothing', answered(400, { title: 7, detail: [] }), true, 'UNKNOWN'],
]
for (const [name, put, isAbsent, comesTo] of refusals)
  test(`[api-pix.3] a PUT answered ${name} is ${comesTo}`, async () => {
    const untyped = answered(404, { title: 'Not Found', status: 404 })
    const made = await partnerOf(NOON, put, isAbsent ? NO_COB : untyped).createCharge(ID, REQUEST)
    const back = await partnerOf(NOON, put, isAbsent ? NO_DEVOLUCAO : untyped).sendRefund(ID, REFUND)
    assert.deepEqual([made.kind, back.kind], [comesTo, comesTo])
  })

test('[api-pix.4] [api-pix.18] «not found» is decided by the type of the problem alone', async () => {
  const absent = problem(404, 'CobNaoEncontrado', { title: 7, detail: {}, violacoes: '', status: '404' })
  assert.equal((await partnerOf(NOON, absent).getCharge(ID, REQUEST)).kind, 'NOT_FOUND')
})

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const offsets: [name: string, ms: number, offsetMs: number][] = [
  ['right', 0, 0],
  ['two minutes off', -2 * MINUTE_MS, 0],
  ['Brasília, as Z', -3 * HOUR_MS, -3 * HOUR_MS],
  ['the same, three minutes slow', -3 * HOUR_MS - 3 * MINUTE_MS, -3 * HOUR_MS],
  ['Nepal', 5.75 * HOUR_MS, 5.75 * HOUR_MS],
  ['as far east as a zone is', 14 * HOUR_MS, 14 * HOUR_MS],
  ['further than any zone', 15 * HOUR_MS, 0],
]
for (const [name, ms, offsetMs] of offsets)
  test(`[api-pix.17] a stamp that is ${name} is ${offsetMs / HOUR_MS} hours off`, () => {
    assert.equal(stampOffset(CREATED + ms, CREATED), offsetMs)
  })

/** The same body, its stamps three hours behind. */
function behind<Body>(body: Body): Body {
  const shifted = (_: string, value: unknown) =>
    typeof value === 'string' && /^\d{4}-.*Z$/.test(value)
      ? new Date(Date.parse(value) - 3 * HOUR_MS).toISOString()
      : value
  return JSON.parse(JSON.stringify(body, shifted))
}

function at(dateMs: number, httpStatus: number, body: unknown): Outcome {
  return { kind: 'answered', httpStatus, json: behind(body), dateMs }
}

const MADE = CREATED + 1_000

test('[api-pix.17] local times marked Z are detected by the answer that made the charge and corrected from then on', async () => {
  const returned = { ...PIX, devolucoes: [DEVOLUCAO] }
  const { json: page } = pageOf([returned]) as { json: unknown }
  const bank = partnerOf(NOON, at(MADE, 201, COB), at(NOON, 200, PAID), at(NOON, 200, DEVOLUCAO), at(NOON, 200, page))
  const made = await bank.createCharge(ID, REQUEST)
  if (!('charge' in made)) return assert.fail(made.kind)
  assert.deepEqual([made.kind, made.charge.stampOffsetMs], ['ACCEPTED', -3 * HOUR_MS])
  assert.equal(made.charge.expiresAt, MADE + 3_599_000)
  const paid = await bank.getCharge(ID, REQUEST)
  const [payment] = 'charge' in paid ? paid.charge.payments : []
  assert.deepEqual([payment?.occurredAt, payment?.chargedAt], [Date.parse(PIX.horario), MADE])
  const refund = await bank.getRefund(ID, REFUND)
  const settled = Date.parse(DEVOLUCAO.horario.liquidacao)
  assert.equal('refund' in refund && refund.refund.occurredAt, settled)
  const window = { from: CREATED - HOUR_MS, to: NOON - HOUR_MS / 2 }
  const read = await bank.readStatement({ ...window, cursor: null })
  assert.deepEqual(read.kind === 'READ' && read.page.entries.map(({ occurredAt }) => occurredAt), [
    Date.parse(PIX.horario),
    settled,
  ])
  const query = new URL(bank.calls[3]?.path ?? '', 'https://bank').searchParams
  assert.equal(query.get('inicio'), new Date(window.from - 3 * HOUR_MS).toISOString())
  assert.equal(query.get('fim'), new Date(window.to - 1).toISOString())
})

test('[api-pix.17] the offset measured for a charge counts for it, not later ones of others', async () => {
  const bank = partnerOf(NOON, { kind: 'answered', httpStatus: 201, json: COB, dateMs: MADE }, at(NOON, 200, PAID))
  const made = await bank.createCharge(ID, REQUEST)
  assert.equal('charge' in made && made.charge.stampOffsetMs, 0)
  const paid = await bank.getCharge(ID, { ...REQUEST, stampOffsetMs: -3 * HOUR_MS })
  assert.equal('charge' in paid && paid.charge.payments[0]?.occurredAt, Date.parse(PIX.horario))
})

test('[api-pix.17] a stamp of an earlier attempt measures nothing; the stored offset is assumed', async () => {
  const bank = partnerOf(NOON, at(MADE, 201, COB), at(MADE, 201, COB))
  const again = await bank.createCharge(ID, { ...REQUEST, isRepeated: true })
  assert.equal('charge' in again && again.charge.stampOffsetMs, undefined)
  assert.equal(bank.clockOffset?.offsetMs(), undefined)
  bank.clockOffset?.assume(-3 * HOUR_MS)
  const assumed = await bank.createCharge(ID, { ...REQUEST, isRepeated: true })
  assert.equal('charge' in assumed && assumed.charge.expiresAt, MADE + 3_599_000)
})

test('[api-pix.18] a refund is read without its id, since the query names it', async () => {
  const { id: _, ...bare } = DEVOLUCAO
  const answer = await partnerOf(NOON, answered(200, bare)).getRefund(ID, REFUND)
  assert.deepEqual([answer.kind, 'refund' in answer && answer.refund.transactionId], ['FINAL', TXID])
})
