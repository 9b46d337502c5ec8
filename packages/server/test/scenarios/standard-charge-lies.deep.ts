import assert from 'node:assert/strict'
import test from 'node:test'
import type { CaseDecision } from '@pixgate/spec'
import type { Telling, Told } from '../support/lying-bank.ts'
import { FOREIGN, type LyingEfi, lyingEfi, type Standing } from '../support/lying-efi.ts'

/**
 * Efí tells of a charge what is not so, in its answers to our own authenticated questions. What it says arrived is booked, and what its
 * list says besides is in suspense; then it tells the truth, and what operators decide makes both books equal.
 */

const MINUTES_MS = 1_200_000

interface Cob {
  readonly chave: string
  readonly pix?: readonly object[]
}

const isCharge = ({ method, path }: Told) => method === 'GET' && path.includes('/v2/cob/')

function charges(fields: (charge: Cob) => object): Telling {
  return (told) => (isCharge(told) && told.status < 300 ? { body: { ...told.body, ...fields(told.body) } } : undefined)
}

function payments(fields: object): Telling {
  return charges(({ pix = [] }) => ({ pix: pix.map((one) => ({ ...one, ...fields })) }))
}

const NOT_FOUND = {
  status: 404,
  body: { type: 'https://pix.bcb.gov.br/api/v2/error/CobNaoEncontrado', title: 'Não encontrado', status: 404 },
}

const CREDITED = { available: 10_000n, settlement: -10_000n }
const SUSPENDED = { settlement: -10_000n, suspense_in: 10_000n }
const PAID: Standing = { status: 'PAID', balances: CREDITED, cases: [], notified: ['PAID'] }

interface Lie {
  readonly name: string
  readonly telling: (pix: LyingEfi, txid: string) => Telling
  readonly isPaid?: boolean
  readonly stands: Standing
  /** Decisions of operators once its answers are true. */
  readonly decisions?: readonly (readonly [kind: string, decision: CaseDecision, amountCents?: number])[]
  readonly ends?: Record<string, bigint>
}

const lies: readonly Lie[] = [
  {
    name: 'it was paid, and nothing arrived',
    telling: ({ clock }, txid) => {
      const horario = new Date(clock.now()).toISOString()
      return charges(({ chave }) => ({
        status: 'CONCLUIDA',
        pix: [{ endToEndId: FOREIGN, txid, valor: '100.00', chave, horario }],
      }))
    },
    isPaid: false,
    stands: { ...PAID, cases: ['line_missing'] },
    decisions: [['line_missing', 'reverse']],
    ends: {},
  },
  {
    name: 'more arrived than did',
    telling: () => payments({ valor: '300.00' }),
    stands: {
      status: 'RECONCILIATION_REQUIRED',
      balances: { settlement: -30_000n, suspense_in: 30_000n },
      cases: ['payment_in_suspense', 'line_differs'],
      notified: [],
    },
    decisions: [
      ['line_differs', 'write_off'],
      ['payment_in_suspense', 'accept', 10_000],
      ['payment_in_suspense', 'write_off'],
    ],
  },
  {
    name: 'less arrived than did',
    telling: () => payments({ valor: '1.00' }),
    stands: {
      status: 'RECONCILIATION_REQUIRED',
      balances: { settlement: -100n, suspense_in: 100n },
      cases: ['payment_in_suspense', 'line_differs'],
      notified: [],
    },
    // Nothing of it is the merchant's: a gain, until a second person accepts it.
    decisions: [
      ['line_differs', 'write_off'],
      ['payment_in_suspense', 'write_off'],
    ],
    ends: { settlement: -10_000n, losses: 10_000n },
  },
  {
    name: 'it was paid under another end-to-end id',
    telling: () => payments({ endToEndId: FOREIGN }),
    stands: {
      ...PAID,
      balances: { available: 10_000n, settlement: -20_000n, suspense_in: 10_000n },
      cases: ['payment_in_suspense', 'line_missing'],
    },
    decisions: [
      ['line_missing', 'write_off'],
      ['payment_in_suspense', 'write_off'],
    ],
  },
  { name: 'its payment is of another txid', telling: () => payments({ txid: 'f'.repeat(32) }), stands: PAID },
  { name: 'it was paid by nothing', telling: () => charges(() => ({ pix: [] })), stands: PAID },
  {
    name: 'it removed it, and it was paid',
    telling: () => charges(() => ({ status: 'REMOVIDA_PELO_PSP', pix: [] })),
    stands: {
      status: 'RECONCILIATION_REQUIRED',
      balances: SUSPENDED,
      cases: ['payment_in_suspense'],
      notified: ['FAILED'],
    },
    decisions: [['payment_in_suspense', 'accept', 10_000]],
  },
  {
    name: 'it does not know it, and it was paid',
    telling: () => (told) => (isCharge(told) ? NOT_FOUND : undefined),
    stands: PAID,
  },
  {
    name: 'it is of another value',
    telling: () => charges(() => ({ valor: { original: '1.00' } })),
    stands: {
      status: 'RECONCILIATION_REQUIRED',
      balances: SUSPENDED,
      cases: ['charge_unclear', 'payment_in_suspense'],
      notified: [],
    },
    decisions: [
      ['payment_in_suspense', 'accept', 10_000],
      ['charge_unclear', 'close'],
    ],
  },
]

for (const { name, telling, isPaid = true, stands, decisions = [], ends = CREDITED } of lies)
  test(`[AP-23] at efi, of a charge: ${name}`, async (t) => {
    const pix = await lyingEfi(t)
    const charge = await pix.charge('100')
    const txid = await pix.orderIdOf(charge.id)
    const path = `/api/pix/cash-in/${charge.id}`
    pix.tell(telling(pix, txid))
    if (isPaid) await pix.bankAction(`charges/${txid}/pay`)
    await pix.callBack({ txid, valor: '100.00' })
    await pix.pass(MINUTES_MS)
    assert.deepEqual(await pix.stands(path), stands)

    pix.tell()
    for (const [kind, decision, amountCents] of decisions) await pix.decide(kind, decision, amountCents)
    await pix.pass(MINUTES_MS)
    const { balances, cases } = await pix.stands(path)
    assert.deepEqual([balances, cases], [ends, []])
    await pix.assertBooksAgree()
  })
