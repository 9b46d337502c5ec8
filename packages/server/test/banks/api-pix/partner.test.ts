import assert from 'node:assert/strict'
import test from 'node:test'
import { parseBrCode } from '@pixgate/brcode'
import { limits } from '@pixgate/spec'
import { markAfter, windowAt } from '../../../src/bank-statement/rules.ts'
import { createApiPixPartner } from '../../../src/banks/api-pix/bank.ts'
import { protocolOf } from '../../../src/banks/api-pix/protocol.ts'
import { createExchange } from '../../../src/banks/exchange.ts'
import type { Outcome, PartnerLink } from '../../../src/banks/link.ts'
import type { StatementQuery } from '../../../src/banks/port.ts'
import {
  COB,
  CODE,
  CREATED,
  DEVOLUCAO,
  E2E,
  ID,
  LOCATION,
  MERCHANT,
  NO_COB,
  NO_DEVOLUCAO,
  NOON,
  PAGE,
  PIX,
  pageOf,
  partnerOf,
  partnerWith,
  REFUND,
  REQUEST,
  RTR,
  TXID,
} from './fixture.ts'
import { answered, problem } from './scripted.ts'

test('[api-pix.2] a charge is created under its order id, with the whole seconds left', async () => {
  const bank = partnerOf(NOON, answered(201, COB))
  assert.equal((await bank.createCharge(ID, REQUEST)).kind, 'ACCEPTED')
  assert.deepEqual(bank.calls, [
    {
      method: 'PUT',
      path: `/v2/cob/${TXID}`,
      body: {
        calendario: { expiracao: 3_599 },
        devedor: { nome: 'Maria da Silva', cpf: '52998224725' },
        valor: { original: '150.00' },
        chave: MERCHANT.pixKey,
        solicitacaoPagador: 'Pedido 1',
      },
    },
  ])
})

test('[api-pix.2] a charge whose request is not sent within five seconds of counting its seconds is not created', async () => {
  let now = 1_000
  const isOver: (boolean | undefined)[] = []
  const link: Pick<PartnerLink, 'exchange'> = {
    exchange: async (_call, _deadline, window) => {
      for (const at of [6_000, 6_001]) {
        now = at
        isOver.push(window?.isOver())
      }
      return { kind: 'not sent', reason: 'timeout' }
    },
  }
  const exchange = createExchange(link, protocolOf(), '/v2')
  const options = {
    exchange,
    merchant: MERCHANT,
    hasIdempotentOrders: true,
    bankNow: () => NOON,
    monotonicMs: () => now,
  }
  assert.equal((await createApiPixPartner(options).createCharge(ID, REQUEST)).kind, 'NOT_SENT')
  assert.deepEqual(isOver, [false, true])
})

test('[api-pix.2] a company is named by its CNPJ, and optional members are left out', async () => {
  const bank = partnerOf(NOON, answered(201, COB), answered(201, COB))
  const { description: _, payer: __, ...bare } = REQUEST
  await bank.createCharge(ID, { ...bare, payer: { name: 'Loja', document: '12ABC34501DE35' } })
  await bank.createCharge(ID, bare)
  const bodies = bank.calls.map(({ body }) => body) as { devedor?: object; solicitacaoPagador?: string }[]
  assert.deepEqual(bodies[0]?.devedor, { nome: 'Loja', cnpj: '12ABC34501DE35' })
  assert.deepEqual(Object.keys(bodies[1] ?? {}), ['calendario', 'valor', 'chave'])
})

/** A charge as the bank reports it, by its clock, and the outcome. */
const told: [name: string, body: object, now: number, kind: string, status: string | undefined][] = [
  ['ATIVA', COB, NOON, 'ACCEPTED', 'ACTIVE'],
  ['ATIVA in its last millisecond', COB, CREATED + 3_599_999, 'ACCEPTED', 'ACTIVE'],
  ['ATIVA past its end', COB, CREATED + 3_600_000, 'FINAL', 'EXPIRED'],
  ['REMOVIDA by us', { ...COB, status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }, NOON, 'FINAL', 'CANCELLED'],
  ['REMOVIDA by the bank', { ...COB, status: 'REMOVIDA_PELO_PSP' }, NOON, 'FINAL', 'FAILED'],
  ['CONCLUIDA', { ...COB, status: 'CONCLUIDA', pix: [PIX] }, NOON, 'FINAL', 'PAID'],
  ['of another amount', { ...COB, valor: { original: '150.01' } }, NOON, 'CONTRADICTED', 'ACTIVE'],
  ['of another key', { ...COB, chave: 'outra@exemplo.com.br' }, NOON, 'CONTRADICTED', 'ACTIVE'],
  ['of another txid', { ...COB, txid: 'a'.repeat(32) }, NOON, 'CONTRADICTED', 'ACTIVE'],
  ['a word nobody knows', { ...COB, status: 'PAGA' }, NOON, 'UNKNOWN', undefined],
  ['an amount of three decimals', { ...COB, valor: { original: '150.000' } }, NOON, 'UNKNOWN', undefined],
  ['a time that is none', { ...COB, calendario: { criacao: 'ontem', expiracao: 1 } }, NOON, 'UNKNOWN', undefined],
]
for (const [name, body, now, kind, status] of told) {
  test(`[api-pix.2] [api-pix.5] a charge ${name} is ${kind} ${status ?? ''}`, async () => {
    const answer = await partnerOf(now, answered(200, body)).getCharge(ID, REQUEST)
    assert.deepEqual([answer.kind, 'charge' in answer ? answer.charge.status : undefined], [kind, status])
  })
}

test('[api-pix.5] the payments of a paid charge without payments are looked up by its txid', async () => {
  const second = { ...PIX, endToEndId: `${E2E.slice(0, -1)}z`, valor: '0.01' }
  const paid = answered(200, { ...COB, status: 'CONCLUIDA' })
  const bank = partnerOf(NOON, paid, answered(200, { parametros: PAGE, pix: [PIX, second] }))
  const answer = await bank.getCharge(ID, REQUEST)
  assert.deepEqual('charge' in answer && answer.charge.payments.map(({ valueCents }) => valueCents), [15_000n, 1n])
  const query = new URL(bank.calls[1]?.path ?? '', 'https://bank').searchParams
  assert.equal(query.get('txid'), TXID)
  assert.equal(query.get('fim'), new Date(NOON).toISOString(), 'no later than the time that the bank tells')
})

test('[api-pix.5] a paid charge without a payment anywhere is unknown', async () => {
  const paid = answered(200, { ...COB, status: 'CONCLUIDA' })
  for (const list of [answered(200, { parametros: PAGE, pix: [] }), answered(500, undefined)]) {
    assert.equal((await partnerOf(NOON, paid, list).getCharge(ID, REQUEST)).kind, 'UNKNOWN')
  }
})

test('[api-pix.6] a code that the bank omits is built from the location', async () => {
  const { pixCopiaECola: _, ...bare } = COB
  const answer = await partnerOf(NOON, answered(201, bare)).createCharge(ID, REQUEST)
  const code = parseBrCode(('charge' in answer && answer.charge.pixCode) || '')
  assert.equal(code.kind === 'dynamic' && code.url, LOCATION)
})

for (const [name, change] of [
  ['of another location', { location: 'pix.example.com/qr/v2/another' }],
  ['with a wrong checksum', { pixCopiaECola: `${CODE.slice(0, -4)}0000` }],
  ['that is missing, with its location', { pixCopiaECola: undefined, location: undefined }],
] as const) {
  test(`[api-pix.6] a code ${name} is not shown`, async () => {
    const answer = await partnerOf(NOON, answered(201, { ...COB, ...change })).createCharge(ID, REQUEST)
    assert.equal(answer.kind, 'UNKNOWN')
  })
}

for (const [name, change] of [
  ['paid', { status: 'CONCLUIDA', pix: [PIX] }],
  ['withdrawn', { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }],
] as const) {
  test(`[api-pix.6] a charge that is ${name} needs no code, not even from its location`, async () => {
    for (const code of [
      { pixCopiaECola: undefined, location: undefined },
      { location: 'pix.example.com/qr/v2/other' },
    ]) {
      const answer = await partnerOf(NOON, answered(200, { ...COB, ...change, ...code })).getCharge(ID, REQUEST)
      assert.deepEqual([answer.kind, 'charge' in answer && answer.charge.pixCode], ['FINAL', undefined])
    }
  })
}

/** Answer to a PUT, answer to the query after it, and the outcome of both: of a charge, of a refund. */
const refusals: [name: string, put: Outcome, get: 'nothing' | 'it' | 'silence', charge: string, refund: string][] = [
  ['400', problem(400, 'CobOperacaoInvalida'), 'nothing', 'REJECTED', 'REJECTED'],
  ['400 of what is there', problem(400, 'CobOperacaoInvalida'), 'it', 'ACCEPTED', 'FINAL'],
  ['400, then silence', problem(400, 'CobOperacaoInvalida'), 'silence', 'UNKNOWN', 'UNKNOWN'],
  ['422', problem(422, 'CobOperacaoInvalida'), 'nothing', 'REJECTED', 'REJECTED'],
  ['404', problem(404, 'PixNaoEncontrado'), 'nothing', 'REJECTED', 'REJECTED'],
  ['409 of what is there', problem(409, 'CobOperacaoInvalida'), 'it', 'ACCEPTED', 'FINAL'],
  ['409 of what was never seen', problem(409, 'CobOperacaoInvalida'), 'nothing', 'REJECTED', 'UNKNOWN'],
]
for (const [name, put, get, charge, refund] of refusals) {
  test(`[api-pix.3] ${name}: a charge is ${charge}, a refund ${refund}`, async () => {
    const answers = { nothing: [NO_COB, NO_DEVOLUCAO], it: [answered(200, COB), answered(200, DEVOLUCAO)] }
    const lost = { kind: 'lost', reason: 'timeout' } as const
    const [ofCharge, ofRefund] = get === 'silence' ? [lost, lost] : answers[get]
    const made = await partnerOf(NOON, put, ofCharge as Outcome).createCharge(ID, REQUEST)
    assert.equal(made.kind, charge)
    const back = await partnerOf(NOON, put, ofRefund as Outcome).sendRefund(ID, REFUND)
    assert.equal(back.kind, refund)
  })
}

for (const [name, outcome] of [
  ['401', answered(401, undefined)],
  ['403', problem(403, 'AcessoNegado')],
  ['429', answered(429, {})],
  ['500', problem(500, 'ErroInternoDoServidor')],
  ['503', problem(503, 'ServicoIndisponivel')],
  ['400 of a proxy', answered(400, undefined)],
  ['302', answered(302, COB)],
  ['200 of a proxy', answered(200, undefined)],
] as const) {
  test(`[api-pix.3] ${name} refuses nothing and causes no query`, async () => {
    const bank = partnerOf(NOON, outcome)
    assert.equal((await bank.createCharge(ID, REQUEST)).kind, 'UNKNOWN')
    assert.equal(bank.calls.length, 1)
    assert.equal((await partnerOf(NOON, outcome).sendRefund(ID, REFUND)).kind, 'UNKNOWN')
  })
}

test('[api-pix.3] the reason of a refusal has the fields that the bank names', async () => {
  const violacoes = [{ razao: 'deve ser maior que zero', propriedade: 'cob.valor.original' }]
  const bank = partnerOf(NOON, problem(400, 'CobOperacaoInvalida', { violacoes }), NO_COB)
  const answer = await bank.createCharge(ID, REQUEST)
  assert.deepEqual(answer, {
    kind: 'REJECTED',
    errorCode: 'CobOperacaoInvalida',
    errorMessage: 'cob.valor.original: deve ser maior que zero',
  })
})

for (const type of ['CobNaoEncontrado', 'PixNaoEncontrado', 'PixDevolucaoNaoEncontrada', 'NaoEncontrado']) {
  test(`[api-pix.4] 404 ${type} is «not found»`, async () => {
    assert.equal((await partnerOf(NOON, problem(404, type)).getCharge(ID, REQUEST)).kind, 'NOT_FOUND')
  })
}
for (const [name, outcome] of [
  ['without a body', answered(404, undefined)],
  ['of another type', problem(404, 'RotaNaoEncontrada')],
  ['in another form', answered(404, { nome: 'nao_encontrado' })],
  ['as a 410', problem(410, 'CobNaoEncontrado')],
] as const) {
  test(`[api-pix.4] a «not found» ${name} does not count`, async () => {
    assert.equal((await partnerOf(NOON, outcome).getCharge(ID, REQUEST)).kind, 'UNKNOWN')
    assert.equal((await partnerOf(NOON, outcome).getRefund(ID, REFUND)).kind, 'UNKNOWN')
  })
}

test('[api-pix.2] a charge is cancelled by its status alone', async () => {
  const removed = answered(200, { ...COB, status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' })
  const bank = partnerOf(NOON, removed, answered(200, COB), NO_COB, problem(400, 'CobOperacaoInvalida'))
  const kinds = []
  for (let call = 0; call < 5; call++) kinds.push((await bank.cancelCharge(ID)).kind)
  assert.deepEqual(kinds, ['CANCELLED', 'UNKNOWN', 'NOT_FOUND', 'REJECTED', 'UNKNOWN'])
  assert.deepEqual(bank.calls[0], {
    method: 'PATCH',
    path: `/v2/cob/${TXID}`,
    body: { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' },
  })
})

test('[api-pix.7] a refund is created under its payment and our id', async () => {
  const bank = partnerOf(NOON, answered(201, { ...DEVOLUCAO, status: 'EM_PROCESSAMENTO' }))
  const answer = await bank.sendRefund(ID, REFUND)
  assert.deepEqual([answer.kind, 'refund' in answer && answer.refund.returnId], ['ACCEPTED', undefined])
  assert.deepEqual(bank.calls, [
    { method: 'PUT', path: `/v2/pix/${E2E}/devolucao/${TXID}`, body: { valor: '5.00', descricao: 'troca' } },
  ])
})

const devolucoes: [name: string, change: object, kind: string, returnId: string | undefined][] = [
  ['DEVOLVIDO', {}, 'FINAL', RTR],
  ['NAO_REALIZADO, with an rtrId', { status: 'NAO_REALIZADO', motivo: 'saldo' }, 'FINAL', undefined],
  ['DEVOLVIDO without an rtrId', { rtrId: undefined }, 'UNKNOWN', undefined],
  ['DEVOLVIDO without a time', { horario: undefined }, 'UNKNOWN', undefined],
  ['of another amount', { valor: '5.01' }, 'CONTRADICTED', RTR],
  ['of another id', { id: 'a'.repeat(32) }, 'CONTRADICTED', RTR],
]
for (const [name, change, kind, returnId] of devolucoes) {
  test(`[api-pix.7] a refund ${name} is ${kind}`, async () => {
    const answer = await partnerOf(NOON, answered(200, { ...DEVOLUCAO, ...change })).getRefund(ID, REFUND)
    assert.deepEqual([answer.kind, 'refund' in answer ? answer.refund.returnId : undefined], [kind, returnId])
  })
}

/** Whose a return is, by its id and its nature. */
const natures: [name: string, change: object, kind: string, reference: string][] = [
  ['of our id', {}, 'REFUND_SENT', ID],
  ['of our id, ORIGINAL', { natureza: 'ORIGINAL' }, 'REFUND_SENT', ID],
  ['after a fraud', { natureza: 'MED_FRAUDE' }, 'PAYMENT_TAKEN_BACK', ID],
  ['by the bank’s own mistake', { natureza: 'MED_OPERACIONAL' }, 'PAYMENT_TAKEN_BACK', ID],
  ['that somebody asked for elsewhere', { id: '000AAA111' }, 'PAYMENT_TAKEN_BACK', ID],
]
for (const [name, change, kind, reference] of natures) {
  test(`[api-pix.8] a return ${name} is ${kind}`, async () => {
    const page = pageOf([{ ...PIX, devolucoes: [{ ...DEVOLUCAO, ...change }] }])
    const answer = await partnerOf(NOON, page).readStatement({ from: CREATED, to: NOON, cursor: null })
    const entry = answer.kind === 'READ' ? answer.page.entries[1] : undefined
    assert.deepEqual([entry?.kind, entry?.movementId, entry?.reference], [kind, RTR, reference])
  })
}

test('[api-pix.9] the statement has every payment of the window, with or without a txid', async () => {
  const toTheKey = { ...PIX, txid: undefined, endToEndId: `${E2E.slice(0, -1)}z` }
  const bank = partnerOf(NOON, pageOf([PIX, toTheKey], 0, 2))
  const answer = await bank.readStatement({ from: CREATED, to: NOON, cursor: null })
  assert.equal(answer.kind, 'READ')
  if (answer.kind !== 'READ') return
  assert.deepEqual(answer.page.nextCursor, 'received:1')
  assert.deepEqual(
    answer.page.entries.map(({ kind, reference }) => [kind, reference]),
    [
      ['PAYMENT_RECEIVED', ID],
      ['PAYMENT_RECEIVED', toTheKey.endToEndId],
    ],
  )
  const query = new URL(bank.calls[0]?.path ?? '', 'https://bank').searchParams
  assert.deepEqual(Object.fromEntries(query), {
    inicio: '2026-11-22T12:00:00.000Z',
    fim: '2026-11-22T12:00:59.999Z',
    'paginacao.paginaAtual': '0',
    'paginacao.itensPorPagina': '100',
  })
})

test('[api-pix.9] the list is not queried beyond the bank’s present, unless the bank’s time is unreliable', async () => {
  const MINUTE = 60_000
  const WINDOW_MS = limits.statementWindowMaxMs
  for (const [name, bankNow, fim] of [
    ['five minutes behind the end', NOON, NOON],
    ['at the end', NOON + 5 * MINUTE, NOON + 5 * MINUTE - 1],
    ['past it', NOON + 60 * MINUTE, NOON + 5 * MINUTE - 1],
    ['ten minutes behind it', NOON - 5 * MINUTE, NOON - 5 * MINUTE],
    ['further behind, as after a sleep', NOON - 5 * MINUTE - 1, NOON + 5 * MINUTE - 1],
  ] as const) {
    const bank = partnerOf(bankNow, pageOf([]))
    await bank.readStatement({ from: NOON - 10 * MINUTE, to: NOON + 5 * MINUTE, cursor: null })
    const query = new URL(bank.calls[0]?.path ?? '', 'https://bank').searchParams
    assert.equal(query.get('fim'), new Date(fim).toISOString(), name)
  }
  for (const [name, from, to, fim] of [
    ['a window ahead of it', NOON + MINUTE, NOON + 2 * MINUTE, NOON],
    ['one of full length, which may be of the past', NOON - WINDOW_MS, NOON + 1, NOON],
    ['the same, to a little later', NOON + MINUTE - WINDOW_MS, NOON + MINUTE, NOON + MINUTE - 1],
  ] as const) {
    const bank = partnerOf(NOON, pageOf([]))
    await bank.readStatement({ from, to, cursor: null })
    const query = new URL(bank.calls[0]?.path ?? '', 'https://bank').searchParams
    assert.deepEqual(
      [query.get('inicio'), query.get('fim')],
      [Math.min(from, NOON), fim].map((at) => new Date(at).toISOString()),
      name,
    )
  }
})

/** The ends of what a bank was asked for, epoch milliseconds, where its time is this. */
async function askedOf(hasWholeSeconds: boolean, bankNow: number, window: Pick<StatementQuery, 'from' | 'to'>) {
  const bank = partnerWith({ bankNow: () => bankNow, hasWholeSeconds }, pageOf([]))
  await bank.readStatement({ ...window, cursor: null })
  const query = new URL(bank.calls[0]?.path ?? '', 'https://bank').searchParams
  return { inicio: Date.parse(query.get('inicio') ?? ''), fim: Date.parse(query.get('fim') ?? '') }
}

for (const hasWholeSeconds of [false, true])
  test(`[api-pix.9] [statement.2] no future time is queried and none is left out, in ${hasWholeSeconds ? 'seconds' : 'milliseconds'}`, async () => {
    for (const skewMs of [-298_999, -500, -1, 0, 1, 500, 299_999]) {
      let matchedUntil: number | null = null
      let askedUntil: number | undefined
      for (let now = NOON + 251; now < NOON + 300_000; now += 60_333) {
        const window = windowAt(now, NOON - 3_600_000, matchedUntil)
        const { inicio, fim } = await askedOf(hasWholeSeconds, now + skewMs, window)
        assert.ok(fim <= now + skewMs, 'no later than the bank’s time')
        assert.ok(inicio <= (askedUntil ?? inicio), 'what was made after the last end is in the next window')
        matchedUntil = markAfter(window, matchedUntil, [], now)
        assert.ok(matchedUntil <= fim + 1, 'what counts as read was asked for')
        askedUntil = fim
      }
    }
  })

test('[api-pix.9] [api-pix.5] a bank of whole seconds is not queried for a second that has not begun', async () => {
  const { fim } = await askedOf(true, NOON + 1, { from: NOON - 60_000, to: NOON + 300_000 })
  assert.equal(fim, NOON)
  const paid = answered(200, { ...COB, status: 'CONCLUIDA' })
  const bank = partnerWith({ bankNow: () => NOON + 999, hasWholeSeconds: true }, paid, pageOf([PIX]))
  await bank.getCharge(ID, REQUEST)
  const query = new URL(bank.calls[1]?.path ?? '', 'https://bank').searchParams
  assert.equal(query.get('fim'), '2026-11-22T12:01:00Z')
})

test('[api-pix.9] returns of older payments are listed every hour, over the last hundred days', async () => {
  let elapsedMs = 0
  const bank = partnerWith({ bankNow: () => NOON + elapsedMs }, ...Array.from({ length: 8 }, () => pageOf([PIX])))
  const read = async () => {
    const lists = []
    for (let cursor: string | null = null; ; ) {
      const answer = await bank.readStatement({ from: CREATED, to: NOON, cursor })
      if (answer.kind !== 'READ') return assert.fail(answer.reason)
      lists.push(cursor)
      cursor = answer.page.nextCursor
      if (cursor === null) return lists
    }
  }
  assert.deepEqual(await read(), [null, 'returned:0'])
  elapsedMs += 3_599_999
  assert.deepEqual(await read(), [null])
  elapsedMs += 1
  assert.deepEqual(await read(), [null, 'returned:0'])
  const query = new URL(bank.calls[1]?.path ?? '', 'https://bank').searchParams
  assert.equal(query.get('devolucaoPresente'), 'true')
  assert.equal(query.get('inicio'), new Date(NOON - 100 * 86_400_000).toISOString())
})

test('[api-pix.9] a refused page does not count', async () => {
  const bank = partnerOf(NOON, problem(403, 'AcessoNegado'))
  assert.equal((await bank.readStatement({ from: CREATED, to: NOON, cursor: null })).kind, 'UNKNOWN')
})

test('[api-pix.5] payments of other charges, from a bank that ignores the filter, do not count for this one', async () => {
  const paid = answered(200, { ...COB, status: 'CONCLUIDA' })
  const others = answered(200, { parametros: PAGE, pix: [PIX, { ...PIX, txid: 'b'.repeat(32) }] })
  assert.equal((await partnerOf(NOON, paid, others).getCharge(ID, REQUEST)).kind, 'UNKNOWN')
})

test('[api-pix.9] a list that reaches further back than the window is marked so', async () => {
  const reachesBeforeWindow = async (cursor: string | null) => {
    const answer = await partnerOf(NOON, pageOf([PIX])).readStatement({ from: CREATED, to: NOON, cursor })
    return answer.kind === 'READ' && answer.page.reachesBeforeWindow
  }
  assert.deepEqual([await reachesBeforeWindow(null), await reachesBeforeWindow('returned:0')], [false, true])
})
