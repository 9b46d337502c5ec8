import assert from 'node:assert/strict'
import test from 'node:test'
import { buildStaticBrCode } from '@pixgate/brcode'
import { createEfiPartner, EFI_PROTOCOL, type EfiOptions } from '../../../src/banks/efi/bank.ts'
import { createExchange } from '../../../src/banks/exchange.ts'
import type { Outcome, PartnerCall } from '../../../src/banks/link.ts'
import type { KeyPayoutRequest, QrCodePayoutRequest } from '../../../src/banks/port.ts'
import { sha256 } from '../../../src/platform/crypto.ts'
import { ID, MERCHANT, pageOf } from '../api-pix/fixture.ts'
import { answered, problem, scripted } from '../api-pix/scripted.ts'

const ID_ENVIO = ID
const E2E = 'E99999001202611221210abcdefghijk'
const RTR = 'D12345678202611221230abcdefghijk'
const NOW = Date.parse('2026-11-22T12:20:00Z')

const TO_KEY: KeyPayoutRequest = {
  valueCents: 1_234n,
  description: 'Fornecedor',
  recipient: { pixKey: 'joao@exemplo.com.br', pixKeyType: 'email', document: '39053344705' },
}
const TERMS = { valueCents: 1_234n, pixKey: 'joao@exemplo.com.br' }

const TAKEN = {
  idEnvio: ID_ENVIO,
  e2eId: E2E,
  valor: '12.34',
  horario: { solicitacao: '2026-11-22T12:10:00.000Z' },
  status: 'EM_PROCESSAMENTO',
}
const SENT = {
  endToEndId: E2E,
  idEnvio: ID_ENVIO,
  valor: '12.34',
  chave: MERCHANT.pixKey,
  status: 'REALIZADO',
  horario: { solicitacao: '2026-11-22T12:10:00.000Z', liquidacao: '2026-11-22T12:10:02.000Z' },
  favorecido: { chave: 'joao@exemplo.com.br', identificacao: { nome: 'João', cpf: '***.533.447-**' } },
}
const BACK = { rtrId: RTR, valor: '2.34', horario: { liquidacao: '2026-11-22T12:30:00.000Z' }, status: 'DEVOLVIDO' }
/** The same, as Efí's own client types it. */
const BACK_AT = { rtrId: RTR, valor: '2.34', horario: '2026-11-22T12:30:00.000Z' }
const NOT_SENT = problem(404, 'PixEnviadoNaoEncontrado')

function efiOf(...outcomes: Outcome[]) {
  return efiWith({}, ...outcomes)
}

function efiWith(given: Partial<EfiOptions>, ...outcomes: Outcome[]) {
  const link = scripted(...outcomes)
  const partner = createEfiPartner({
    exchange: createExchange(link, EFI_PROTOCOL, '/v2'),
    sending: createExchange(link, EFI_PROTOCOL),
    merchant: MERCHANT,
    hasIdempotentOrders: true,
    monotonicMs: () => 0,
    paysQrCodes: true,
    bankNow: () => NOW,
    pauseFor: () => undefined,
    now: () => NOW,
    ...given,
  })
  return { ...partner, calls: link.calls }
}

/** The page of the list of sent Pix that has these. */
async function listOf(...pix: readonly object[]) {
  const answer = await efiOf(pageOf(pix)).readStatement({ from: NOW - 60_000, to: NOW, cursor: 'sent:0' })
  return answer.kind === 'READ' ? answer.page : assert.fail(answer.reason)
}

test('[efi.2] a payout to a key is sent under our id, from our key, with the document for the bank to check', async () => {
  const bank = efiOf(answered(201, TAKEN))
  const answer = await bank.sendPayout(ID, TO_KEY)
  assert.deepEqual([answer.kind, 'payout' in answer && answer.payout.endToEndId], ['ACCEPTED', undefined])
  assert.deepEqual(bank.calls, [
    {
      method: 'PUT',
      path: `/v3/gn/pix/${ID_ENVIO}`,
      body: {
        valor: '12.34',
        pagador: { chave: MERCHANT.pixKey, infoPagador: 'Fornecedor' },
        favorecido: { chave: 'joao@exemplo.com.br', cpf: '39053344705' },
      },
    },
  ])
})

/** A payout as the bank reports it, and the outcome. */
const told: [name: string, change: object, kind: string, status: string | undefined][] = [
  ['EM_PROCESSAMENTO', { status: 'EM_PROCESSAMENTO' }, 'ACCEPTED', 'PROCESSING'],
  ['REALIZADO', {}, 'FINAL', 'CONFIRMED'],
  ['REALIZADO, a part of it back', { devolucoes: [BACK] }, 'FINAL', 'CONFIRMED'],
  [
    'REALIZADO, all of it back',
    { devolucoes: [BACK, { ...BACK, rtrId: `${RTR}2`, valor: '10.00' }] },
    'FINAL',
    'RETURNED',
  ],
  ['REALIZADO, all of it back without a status', { devolucoes: [{ ...BACK_AT, valor: '12.34' }] }, 'FINAL', 'RETURNED'],
  ['REALIZADO, nothing back yet', { devolucoes: [{ ...BACK, status: 'EM_PROCESSAMENTO' }] }, 'FINAL', 'CONFIRMED'],
  ['NAO_REALIZADO', { status: 'NAO_REALIZADO' }, 'FINAL', 'FAILED'],
  ['of another amount', { valor: '12.35' }, 'CONTRADICTED', 'CONFIRMED'],
  ['to another key', { favorecido: { chave: 'outro@exemplo.com.br' } }, 'CONTRADICTED', 'CONFIRMED'],
  ['of another id', { idEnvio: 'a'.repeat(32) }, 'CONTRADICTED', 'CONFIRMED'],
  ['REALIZADO without an end-to-end id', { endToEndId: null }, 'UNKNOWN', undefined],
  ['REALIZADO without a time', { horario: null }, 'UNKNOWN', undefined],
  ['in a word nobody knows', { status: 'AGENDADO' }, 'UNKNOWN', undefined],
  ['whose optional members are null', { favorecido: null, gnExtras: null, devolucoes: null }, 'FINAL', 'CONFIRMED'],
  ['whose amount is a number', { valor: 12.34 }, 'FINAL', 'CONFIRMED'],
  ['with an odd return', { devolucoes: [{ ...BACK, valor: 'odd' }, BACK] }, 'FINAL', 'CONFIRMED'],
]
for (const [name, change, kind, status] of told) {
  test(`[efi.3] [AP-7] [api-pix.18] a payout ${name} is ${kind} ${status ?? ''}`, async () => {
    const answer = await efiOf(answered(200, { ...SENT, ...change })).getPayout(ID, TERMS)
    assert.deepEqual([answer.kind, 'payout' in answer ? answer.payout.status : undefined], [kind, status])
  })
}

test('[efi.3] a return that is listed twice has come back once', async () => {
  const half = { ...BACK, valor: '6.17' }
  const of = async (...devolucoes: object[]) => {
    const answer = await efiOf(answered(200, { ...SENT, devolucoes })).getPayout(ID, TERMS)
    return 'payout' in answer ? [answer.payout.status, answer.payout.returns.length] : answer.kind
  }
  assert.deepEqual(await of(half, half), ['CONFIRMED', 1])
  assert.deepEqual(await of(half, { ...half, rtrId: `${RTR.slice(0, -1)}z` }), ['RETURNED', 2])
})

test('[efi.5] [api-pix.18] the payee in the list may have any form, and an id that cannot be stored names nothing', async () => {
  const { entries, unreadable } = await listOf(
    { ...SENT, favorecido: 'x', gnExtras: [] },
    { ...SENT, favorecido: { identificacao: { nome: 7 }, contaBanco: [] } },
    { ...SENT, idEnvio: `${ID_ENVIO}\u0000` },
    { ...SENT, endToEndId: ' ' },
  )
  assert.deepEqual(
    entries.map(({ reference }) => reference),
    [ID, ID, E2E],
  )
  assert.deepEqual(
    unreadable?.map(({ member }) => member),
    ['/endToEndId'],
  )
})

test('[efi.3] a failed payout has the code of the rejection', async () => {
  const gnExtras = { erro: { codigo: 'AC03', origem: 'PSP', motivo: 'conta inválida' } }
  const answer = await efiOf(answered(200, { ...SENT, status: 'NAO_REALIZADO', gnExtras })).getPayout(ID, TERMS)
  assert.ok(answer.kind === 'FINAL')
  assert.deepEqual([answer.payout.errorCode, answer.payout.errorMessage], ['AC03', 'conta inválida'])
})

test('[efi.3] a payout is queried by our id', async () => {
  const bank = efiOf(NOT_SENT)
  assert.equal((await bank.getPayout(ID, TERMS)).kind, 'NOT_FOUND')
  assert.equal(bank.calls[0]?.path, `/v2/gn/pix/enviados/id-envio/${ID_ENVIO}`)
})

const duplicate = answered(409, { nome: 'id_envio_duplicado', mensagem: 'O id já foi utilizado' })
const blocked = answered(400, { nome: 'documento_bloqueado', mensagem: 'O documento tem bloqueios' })

/** Answer to an order, answer to the query after it, and the outcome of both. */
const refusals: [name: string, put: Outcome, get: Outcome, kind: string][] = [
  ['a refusal of what is not there', blocked, NOT_SENT, 'REJECTED'],
  ['a refusal of what is there', blocked, answered(200, SENT), 'FINAL'],
  ['a refusal that cannot be asked about', blocked, answered(500, undefined), 'UNKNOWN'],
  ['a duplicate of what is there', duplicate, answered(200, SENT), 'FINAL'],
  ['a duplicate of what was never seen', duplicate, NOT_SENT, 'UNKNOWN'],
]
for (const [name, put, get, kind] of refusals) {
  test(`[efi.1] [api-pix.3] ${name}: ${kind}`, async () => {
    assert.equal((await efiOf(put, get).sendPayout(ID, TO_KEY)).kind, kind)
  })
}

test('[efi.1] a refusal is reported in the bank’s words', async () => {
  assert.deepEqual(await efiOf(blocked, NOT_SENT).sendPayout(ID, TO_KEY), {
    kind: 'REJECTED',
    errorCode: 'documento_bloqueado',
    errorMessage: 'O documento tem bloqueios',
  })
})

const CODE = {
  tipoCob: 'cob',
  txid: '7978c0c97ea847e78e8849634473c1f1',
  revisao: 2,
  calendario: { criacao: '2026-11-22T12:00:00.000Z', apresentacao: '2026-11-22T12:01:00.000Z', expiracao: 3_600 },
  status: 'ATIVA',
  recebedor: { nome: 'Empresa', cnpj: '11222333000181' },
  valor: { final: '567.89' },
  chave: 'a1f4102e-a446-4a57-bcce-6fa48899c1d1',
}

/** The order of a code, as it was read before. */
async function orderOf(code: object): Promise<QrCodePayoutRequest> {
  const read = await efiOf(answered(200, code)).decodeQrCode('000201')
  assert.ok(read.kind === 'DECODED')
  return { valueCents: 56_789n, pixCode: '000201', decodeId: read.qrCode.decodeId }
}

const DECODE_ID = `7978c0c97ea847e78e8849634473c1f1:2:${sha256(JSON.stringify(['567.89', CODE.chave, '11222333000181'])).toString('hex')}`

test('[efi.2] [efi.4] a QR code is read again right before it is paid, and paid as it is', async () => {
  const bank = efiOf(answered(200, CODE), answered(201, { ...TAKEN, valor: '567.89' }))
  assert.equal((await bank.sendPayout(ID, await orderOf(CODE))).kind, 'ACCEPTED')
  assert.deepEqual(bank.calls, [
    { method: 'POST', path: '/v2/gn/qrcodes/detalhar', body: { pixCopiaECola: '000201' } },
    {
      method: 'PUT',
      path: `/v2/gn/pix/${ID_ENVIO}/qrcode`,
      body: { pagador: { chave: MERCHANT.pixKey }, pixCopiaECola: '000201' },
    },
  ])
})

for (const [name, change] of [
  ['asks for more', { valor: { final: '567.90' } }],
  ['asks for less', { valor: { final: '0.01' } }],
  ['pays another key', { chave: 'ladrao@exemplo.com.br' }],
  ['pays somebody else', { recebedor: { nome: 'Empresa', cnpj: '33000267000138' } }],
  ['was revised', { revisao: 3 }],
  ['was withdrawn', { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }],
] as const)
  test(`[efi.4] a code that ${name} since it was ordered is not paid; an earlier attempt counts`, async () => {
    const order = await orderOf(CODE)
    const changed = answered(200, { ...CODE, ...change })
    const paid = answered(200, { ...SENT, valor: '567.89' })
    const never = efiOf(changed, NOT_SENT)
    const answer = await never.sendPayout(ID, order)
    assert.deepEqual([answer.kind, 'errorCode' in answer && answer.errorCode], ['REJECTED', 'qr_code_changed'])
    assert.equal(answer.isQrCodeFault, true)
    assert.equal((await efiOf(changed, paid).sendPayout(ID, order)).kind, 'FINAL')
    assert.equal((await efiOf(changed, answered(500, {})).sendPayout(ID, order)).kind, 'UNKNOWN')
    assert.ok(never.calls.every(({ method }) => method !== 'PUT'))
  })

for (const [name, outcome] of [
  ['is paid, perhaps by us', answered(200, { ...CODE, status: 'CONCLUIDA' })],
  ['is refused without a reason', answered(400, {})],
  ['has expired by our time', answered(200, { ...CODE, calendario: { ...CODE.calendario, expiracao: 60 } })],
  ['is asked about too often', answered(429, undefined)],
  ['cannot be read', answered(500, undefined)],
  ['is not told', { kind: 'lost', reason: 'timeout' }],
] as const)
  test(`[efi.4] [AP-21] a code that ${name} is not paid, and no money is released for that`, async () => {
    const bank = efiOf(outcome as Outcome)
    const { kind, isQrCodeFault } = await bank.sendPayout(ID, await orderOf(CODE))
    assert.deepEqual([kind, isQrCodeFault], ['NOT_SENT', true])
    assert.equal(bank.calls.length, 1)
  })

test('[efi.4] a code that the bank refuses to read is refused in its words, once it has nothing under our id', async () => {
  const refused = answered(400, { nome: 'qrcode_invalido', mensagem: 'O QR Code foi removido' })
  const order = await orderOf(CODE)
  assert.deepEqual(await efiOf(refused, NOT_SENT).sendPayout(ID, order), {
    kind: 'REJECTED',
    errorCode: 'qrcode_invalido',
    errorMessage: 'O QR Code foi removido',
    isQrCodeFault: true,
  })
  assert.equal((await efiOf(refused, answered(200, { ...SENT, valor: '567.89' })).sendPayout(ID, order)).kind, 'FINAL')
  assert.equal((await efiOf(refused, answered(500, {})).sendPayout(ID, order)).kind, 'UNKNOWN')
})

test('[efi.4] [AP-22] our clock decides whether a code has expired, not the bank’s', async () => {
  const outcomes = [answered(200, CODE), answered(201, { ...TAKEN, valor: '567.89' })]
  const bank = efiWith({ bankNow: () => NOW + 86_400_000 }, ...outcomes)
  assert.equal((await bank.sendPayout(ID, await orderOf(CODE))).kind, 'ACCEPTED')
  assert.equal(bank.calls[1]?.method, 'PUT')
})

test('[efi.4] a code that decodes to another charge, revision or amount than ordered is not paid', async () => {
  const order = await orderOf(CODE)
  for (const change of [{ valor: { final: '567.90' } }, { revisao: 3 }, { txid: 'a'.repeat(32) }])
    assert.equal((await efiOf(answered(200, { ...CODE, ...change }), NOT_SENT).sendPayout(ID, order)).kind, 'REJECTED')
})

test('[efi.4] [CO-40] reading a code leaves time to send the order, and a late code is not ordered', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const order = await orderOf(CODE)
  const deadlines: (AbortSignal | undefined)[] = []
  const { promise: read, resolve } = Promise.withResolvers<Outcome>()
  const link = {
    exchange: (_call: PartnerCall, deadline?: AbortSignal) => {
      deadlines.push(deadline)
      return read
    },
  }
  const bank = efiWith({ sending: createExchange(link, EFI_PROTOCOL) })
  const answer = bank.sendPayout(ID, order, { isOver: () => true })
  t.mock.timers.tick(1_499)
  assert.equal(deadlines[0]?.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(deadlines[0]?.aborted, true)
  resolve(answered(200, CODE))
  const { kind, isQrCodeFault } = await answer
  assert.deepEqual([kind, isQrCodeFault, deadlines.length], ['NOT_SENT', true, 1])
})

test('[efi.4] [api-pix.15] no code is read while the bank’s Retry-After for payouts of codes runs', async () => {
  const asked: PartnerCall[] = []
  const pauseFor: EfiOptions['pauseFor'] = (call) => {
    asked.push(call)
    return { kind: 'not sent', reason: 'the bank asked to wait', httpStatus: 503, retryAfterMs: 7_000 }
  }
  const bank = efiWith({ pauseFor })
  assert.deepEqual(await bank.sendPayout(ID, await orderOf(CODE)), {
    kind: 'NOT_SENT',
    reason: 'the bank asked to wait',
    httpStatus: 503,
    retryAfterMs: 7_000,
  })
  assert.deepEqual(asked, [{ method: 'PUT', path: `/v2/gn/pix/${ID_ENVIO}/qrcode` }])
  assert.deepEqual(bank.calls, [])
})

test('[efi.4] a static code is refused with a reason, and the bank is not asked', async () => {
  const bank = efiOf()
  const code = buildStaticBrCode({ pixKey: 'joao@exemplo.com.br', merchantName: 'Joao', merchantCity: 'SAO PAULO' })
  const answer = await bank.decodeQrCode(code)
  assert.deepEqual([answer.kind, 'errorCode' in answer && answer.errorCode], ['REJECTED', 'static_qr_code'])
  assert.deepEqual(bank.calls, [])
})

test('[efi.4] a code is read as it is now', async () => {
  const bank = efiOf(answered(200, CODE))
  assert.deepEqual(await bank.decodeQrCode('000201'), {
    kind: 'DECODED',
    qrCode: {
      decodeId: DECODE_ID,
      valueCents: 56_789n,
      txid: '7978c0c97ea847e78e8849634473c1f1',
      status: 'ACTIVE',
      expiresAt: Date.parse('2026-11-22T13:00:00.000Z'),
      recipient: { name: 'Empresa', document: '11222333000181', pixKey: 'a1f4102e-a446-4a57-bcce-6fa48899c1d1' },
    },
  })
  assert.deepEqual(bank.calls, [{ method: 'POST', path: '/v2/gn/qrcodes/detalhar', body: { pixCopiaECola: '000201' } }])
})

for (const [name, outcome, kind] of [
  ['a static one', problem(400, 'QrcodeOperacaoInvalida'), 'REJECTED'],
  ['an invalid one', problem(422, 'QrcodeOperacaoInvalida'), 'REJECTED'],
  ['without an amount', answered(200, { ...CODE, valor: {} }), 'UNKNOWN'],
  ['too many questions', problem(429, 'BaldeFichasVazio'), 'UNKNOWN'],
  ['switched off', problem(500, 'QrcodeErroInterno'), 'UNKNOWN'],
] as const) {
  test(`[efi.4] ${name}: ${kind}`, async () => {
    assert.equal((await efiOf(outcome).decodeQrCode('000201')).kind, kind)
  })
}

for (const [name, back] of [
  ['as the standard tells what goes back', BACK],
  ['as the bank’s own client types it', BACK_AT],
] as const)
  test(`[efi.3] [efi.5] a return is read ${name}`, async () => {
    const returned = [{ returnId: RTR, valueCents: 234n, occurredAt: Date.parse(BACK_AT.horario) }]
    const told = await efiOf(answered(200, { ...SENT, devolucoes: [back] })).getPayout(ID, { valueCents: 1_234n })
    assert.deepEqual('payout' in told && told.payout.returns, returned)
    const { entries } = await listOf({ ...SENT, devolucoes: [back] })
    assert.deepEqual(
      entries.map(({ movementId }) => movementId),
      [E2E, RTR],
    )
  })

test('[efi.5] the statement has payouts and their returns', async () => {
  const pix = [
    { ...SENT, devolucoes: [BACK] },
    { ...SENT, status: 'NAO_REALIZADO' },
    { ...SENT, idEnvio: undefined },
  ]
  const bank = efiOf(pageOf(pix))
  const answer = await bank.readStatement({ from: NOW - 60_000, to: NOW, cursor: 'sent:0' })
  assert.ok(answer.kind === 'READ')
  assert.deepEqual(
    answer.page.entries.map(({ kind, movementId, reference, valueCents }) => [kind, movementId, reference, valueCents]),
    [
      ['PAYOUT_SENT', E2E, ID, 1_234n],
      ['PAYOUT_RETURNED', RTR, ID, 234n],
      ['PAYOUT_SENT', E2E, E2E, 1_234n],
    ],
  )
  assert.match(bank.calls[0]?.path ?? '', /^\/v2\/gn\/pix\/enviados\?/)
})

test('[efi.5] late settlements and returns are listed again: two days every hour, a hundred every day', async () => {
  const bank = efiOf(...Array.from({ length: 5 }, () => pageOf([])))
  const lists: (string | null)[] = []
  for (let cursor: string | null = null; lists.length < 6; ) {
    const answer = await bank.readStatement({ from: NOW - 60_000, to: NOW, cursor })
    lists.push(cursor)
    if (answer.kind !== 'READ' || answer.page.nextCursor === null) break
    cursor = answer.page.nextCursor
  }
  assert.deepEqual(lists, [null, 'sent:0', 'sentlately:0', 'sentlong:0', 'returned:0'])
})

for (const [saldo, availableCents] of [
  ['-0.5', -50n],
  [100.05, 10_005n],
  ['-100.05', -10_005n],
  ['9999999999999.99', 999_999_999_999_999n],
] as const) {
  test(`[efi.6] the balance ${saldo} is read to the centavo, with what the bank has blocked`, async () => {
    const bank = efiOf(
      answered(200, { saldo }),
      answered(200, { saldo, bloqueios: { judicial: '1.00', med: '2.50', total: '3.50' } }),
    )
    const read = { availableCents, asOf: null }
    assert.deepEqual(await bank.readBalance(), { kind: 'READ', balance: read })
    assert.deepEqual(await bank.readBalance(), { kind: 'READ', balance: { ...read, blockedCents: 350n } })
    assert.equal(bank.calls[0]?.path, '/v2/gn/saldo?bloqueios=true')
  })
}

for (const saldo of ['100,05', '1e5', '+1.00', '--1.00', '1.005', '.50', '12345678901234.00', '', ' 1.00', 1.005, null])
  test(`[efi.6] ${JSON.stringify(saldo)} is no balance, and says so`, async () => {
    const answer = await efiOf(answered(200, { saldo })).readBalance()
    assert.deepEqual([answer.kind, 'httpStatus' in answer && answer.httpStatus], ['UNKNOWN', 200])
  })

for (const total of ['1e1', '-1.00', '-0.01'])
  test(`[efi.6] a blocked amount of ${total} is no amount`, async () => {
    const answer = await efiOf(answered(200, { saldo: '1.00', bloqueios: { total } })).readBalance()
    assert.equal(answer.kind, 'UNKNOWN')
  })

test('[partner.8] a bank without idempotent orders lacks those capabilities', () => {
  const partner = efiWith({ hasIdempotentOrders: false, paysQrCodes: false })
  assert.equal(partner.capabilities.has('decode-qr-code'), false)
  const kept = [...partner.capabilities].filter((capability) => capability.startsWith('idempotent-'))
  assert.deepEqual(kept, ['idempotent-charge'])
})

test('[efi.5] [api-pix.18] odd items of the list of sent Pix hide none of the others', async () => {
  const { entries, unreadable } = await listOf(
    { ...SENT, favorecido: null, gnExtras: null, devolucoes: null },
    { ...SENT, endToEndId: null },
    { ...SENT, valor: 'odd' },
    { ...SENT, horario: null },
    { ...SENT, devolucoes: [{ ...BACK, rtrId: null }, { ...BACK, horario: null }, BACK] },
  )
  assert.deepEqual(
    entries.map(({ movementId }) => movementId),
    [E2E, E2E, RTR],
  )
  assert.deepEqual(
    unreadable?.map(({ list, member }) => [list, member]),
    ['/endToEndId', '/valor', '/horario', '/rtrId', '/horario'].map((member) => ['sent', member]),
  )
})

for (const [name, put, comesTo] of [
  ['412', problem(412, 'PixOperacaoInvalida'), 'REJECTED'],
  ['422 without a type', answered(422, { detail: 'chave inválida', violacoes: null }), 'REJECTED'],
  ['400 of Efí’s own form', answered(400, { nome: 'valor_invalido', mensagem: null }), 'REJECTED'],
  ['400 of a proxy', answered(400, { message: 'Bad Request' }), 'UNKNOWN'],
] as const)
  test(`[api-pix.3] [efi.1] a payout answered ${name} is ${comesTo}`, async () => {
    assert.equal((await efiOf(put, NOT_SENT).sendPayout(ID, TO_KEY)).kind, comesTo)
    const untyped = answered(404, { title: 'Not Found' })
    assert.equal((await efiOf(put, untyped).sendPayout(ID, TO_KEY)).kind, 'UNKNOWN')
  })

test('[api-pix.17] times of a sent Pix are correct although the bank’s stamps are off', async () => {
  const bank = efiOf(answered(200, SENT))
  bank.clockOffset?.assume(-3 * 3_600_000)
  const answer = await bank.getPayout(ID, { valueCents: 1_234n })
  const at = Date.parse(SENT.horario.liquidacao) + 3 * 3_600_000
  assert.equal('payout' in answer && answer.payout.occurredAt, at)
})
