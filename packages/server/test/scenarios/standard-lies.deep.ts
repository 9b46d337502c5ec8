import assert from 'node:assert/strict'
import test from 'node:test'
import type { CaseDecision } from '@pixgate/spec'
import { payoutSwitch } from '../support/evidence.ts'
import type { Telling, Told } from '../support/lying-bank.ts'
import { FOREIGN, type LyingEfi, lyingEfi, type Standing, withFields } from '../support/lying-efi.ts'
import { PIX_KEY } from '../support/standard-bank.ts'

/**
 * Efí tells what is not so, in its answers to our own authenticated questions. What it says moved is booked; doubt gives nothing back,
 * and what does not fit is a case. Then it tells the truth, and what operators decide makes both books equal.
 */

const NOT_FOUND = {
  status: 404,
  body: { type: 'https://pix.bcb.gov.br/api/v2/error/PixEnviadoNaoEncontrado', title: 'Não encontrado', status: 404 },
}
const FAILED = { status: 'NAO_REALIZADO', horario: null }
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const isOrder = ({ method, path }: Told) => method === 'PUT' && path.includes('/gn/pix/')
const isQuestion = ({ path }: Told) => path.includes('/enviados/id-envio/')
const isList = ({ path }: Told) => path.includes('/gn/pix/enviados?')

/** The bank pays under another id of its own, and lists both under ours. */
function payingTwice(): Telling {
  let idEnvio: string | undefined
  return async (told, call) => {
    if (isOrder(told) && idEnvio === undefined) {
      idEnvio = told.path.split('/').at(-1) ?? ''
      const order = { valor: '30.00', pagador: { chave: PIX_KEY }, favorecido: { chave: 'joao@example.com' } }
      assert.equal((await call('PUT', told.path.replace(idEnvio, 'f'.repeat(32)), order)).status, 201)
    }
    return isList(told)
      ? { body: { ...told.body, pix: told.body.pix.map((one: object) => ({ ...one, idEnvio })) } }
      : undefined
  }
}

const HELD = { available: 7_000n, reserved: 3_000n }
const PAID_OUT = { available: 7_000n, settlement: -7_000n }

interface Lie {
  readonly rows: string
  readonly name: string
  /** The bank's answers from the order on, and from the confirmation on. */
  readonly telling?: () => Telling
  readonly afterwards?: (pix: LyingEfi) => Telling
  readonly passMs?: number
  readonly stands: Standing
  readonly isSuspended?: boolean
  /** Decisions of operators once its answers are true. */
  readonly decisions: readonly (readonly [kind: string, decision: CaseDecision])[]
  readonly ends: Record<string, bigint>
}

const lies: readonly Lie[] = [
  {
    rows: '[AP-9] [CO-15]',
    name: 'the answer to an order tells another amount',
    telling: () => withFields(isOrder, { valor: '30.01' }),
    stands: {
      status: 'RECONCILIATION_REQUIRED',
      balances: { ...HELD, settlement: -7_000n, suspense_out: -3_000n },
      cases: ['outcome_unknown', 'debit_in_suspense'],
      notified: ['PAID'],
    },
    decisions: [
      ['debit_in_suspense', 'executed'],
      ['outcome_unknown', 'close'],
    ],
    ends: PAID_OUT,
  },
  {
    rows: '[AP-9] [EV-14]',
    name: 'another amount left, it says when it is asked',
    telling: () => withFields(isQuestion, { valor: '30.01' }),
    stands: {
      status: 'RECONCILIATION_REQUIRED',
      balances: { ...HELD, settlement: -6_999n, suspense_out: -3_001n },
      cases: ['debit_in_suspense', 'line_differs'],
      notified: ['PAID'],
    },
    decisions: [
      ['debit_in_suspense', 'executed'],
      ['line_differs', 'credit'],
    ],
    ends: PAID_OUT,
  },
  {
    rows: '[AP-10]',
    name: 'it left under another end-to-end id, it says when it is asked',
    telling: () => withFields(isQuestion, { endToEndId: FOREIGN }),
    passMs: 3 * HOUR_MS,
    stands: {
      status: 'RECONCILIATION_REQUIRED',
      balances: { available: 7_000n, settlement: -4_000n, suspense_out: -3_000n },
      cases: ['line_missing', 'debit_in_suspense'],
      notified: ['PAID', 'CONFIRMED'],
    },
    decisions: [
      ['line_missing', 'write_off'],
      ['debit_in_suspense', 'write_off'],
    ],
    ends: PAID_OUT,
  },
  {
    rows: '[AP-11]',
    name: 'it pays twice under one id',
    telling: payingTwice,
    stands: {
      status: 'RECONCILIATION_REQUIRED',
      balances: { available: 7_000n, settlement: -4_000n, suspense_out: -3_000n },
      cases: ['debit_in_suspense'],
      notified: ['PAID', 'CONFIRMED'],
    },
    decisions: [['debit_in_suspense', 'write_off']],
    ends: { available: 7_000n, settlement: -4_000n, losses: -3_000n },
  },
  {
    rows: '[AP-12]',
    name: 'a payout came back, it says when it is asked, and nothing did',
    afterwards: ({ clock }) => {
      const horario = new Date(clock.now()).toISOString()
      return withFields(isQuestion, { devolucoes: [{ rtrId: FOREIGN.replace('E', 'D'), valor: '30.00', horario }] })
    },
    passMs: 3 * DAY_MS,
    stands: {
      status: 'REVERSED',
      balances: { available: 10_000n, settlement: -10_000n },
      cases: ['line_missing'],
      notified: ['PAID', 'CONFIRMED', 'REVERSED'],
    },
    isSuspended: true,
    decisions: [['line_missing', 'reverse']],
    ends: PAID_OUT,
  },
  {
    rows: '[AP-13] [EV-21]',
    name: 'it failed, it says after it confirmed it',
    afterwards: () => withFields(isQuestion, FAILED),
    stands: {
      status: 'RECONCILIATION_REQUIRED',
      balances: PAID_OUT,
      cases: ['bank_contradicts'],
      notified: ['PAID', 'CONFIRMED'],
    },
    decisions: [['bank_contradicts', 'close']],
    ends: PAID_OUT,
  },
  {
    rows: '[AP-13] [EV-21]',
    name: 'it does not know it, it says after it confirmed it',
    afterwards: () => (told) => (isQuestion(told) ? NOT_FOUND : undefined),
    stands: { status: 'CONFIRMED', balances: PAID_OUT, cases: ['bank_contradicts'], notified: ['PAID', 'CONFIRMED'] },
    decisions: [['bank_contradicts', 'close']],
    ends: PAID_OUT,
  },
  {
    rows: '[AP-14] [EV-20]',
    name: 'it refuses, knows nothing of it when it is asked, and has paid',
    telling: () => (told) => {
      if (isOrder(told)) return { status: 422, body: { nome: 'pagamento_negado', mensagem: 'Pagamento negado' } }
      return isQuestion(told) ? NOT_FOUND : undefined
    },
    stands: {
      status: 'RECONCILIATION_REQUIRED',
      balances: { ...HELD, settlement: -7_000n, suspense_out: -3_000n },
      cases: ['debit_in_suspense'],
      notified: ['PAID', 'FAILED'],
    },
    decisions: [['debit_in_suspense', 'executed']],
    ends: PAID_OUT,
  },
  {
    rows: '[AP-14] [EV-20]',
    name: 'it failed, it says when it is asked, and it has paid',
    telling: () => withFields(isQuestion, FAILED),
    stands: {
      status: 'RECONCILIATION_REQUIRED',
      balances: { ...HELD, settlement: -7_000n, suspense_out: -3_000n },
      cases: ['debit_in_suspense'],
      notified: ['PAID', 'FAILED'],
    },
    decisions: [['debit_in_suspense', 'executed']],
    ends: PAID_OUT,
  },
]

for (const { rows, name, telling, afterwards, passMs = 0, stands, isSuspended = false, decisions, ends } of lies)
  test(`${rows} at efi: ${name}`, async (t) => {
    const pix = await lyingEfi(t)
    const charge = await pix.charge('100')
    await pix.bankAction(`charges/${charge.id}/pay`)
    await pix.until(`/api/pix/cash-in/${charge.id}`, ({ status }) => status === 'PAID')
    pix.tell(telling?.())
    const { id } = await pix.cashOut()
    const path = `/api/pix/cash-out/${id}`
    await pix.later(30_000)
    await pix.moved('PAYOUT_SENT')
    if (afterwards) {
      await pix.until(path, ({ status }) => status === 'CONFIRMED')
      pix.tell(afterwards(pix))
    }
    await pix.callBack({ tipo: 'SOLICITACAO', status: 'REALIZADO', gnExtras: { idEnvio: id } })
    await pix.pass(passMs, HOUR_MS)
    await pix.pass(1_200_000)
    assert.deepEqual(await pix.stands(path), stands)
    assert.equal((await payoutSwitch(pix.database)).isSuspended, isSuspended)

    pix.tell()
    for (const [kind, decision] of decisions) await pix.decide(kind, decision)
    await pix.pass(1_200_000)
    const { balances, cases } = await pix.stands(path)
    assert.deepEqual([balances, cases], [ends, []])
    await pix.assertBooksAgree()
  })
