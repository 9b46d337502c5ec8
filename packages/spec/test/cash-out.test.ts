import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type CashOutStatus,
  cashOut,
  createCashOut,
  createCashOutFromQrCode,
  listCashOuts,
} from '../src/cash-out/index.ts'
import type { EventType } from '../src/events.ts'
import { journals, type Posting } from '../src/ledger.ts'
import { ajv } from './support/ajv.ts'
import { assertDecision, isDecision, rowsOf } from './support/rows.ts'

const HOLDS: readonly (CashOutStatus | null)[] = ['RESERVED', 'DISPATCHED', 'PROVIDER_RESULT_UNKNOWN']
const EVENTS: Partial<Record<CashOutStatus, EventType>> = {
  CONFIRMED: 'pix_cash_out',
  FAILED: 'pix_cash_out',
  RELEASED: 'pix_cash_out',
  REVERSED: 'pix_cash_out_reversal',
}

for (const { row, title } of rowsOf(cashOut)) {
  test(`${title}: reservation, notification and case agree`, () => {
    if (isDecision(row)) return assertDecision(row)
    const enters = row.from !== row.to
    assert.equal(row.posts === 'left_after_release' ? 0 : reservedBy(row.posts), heldBy(row))

    const isReturn = row.posts === 'cash_out_returned'
    assert.equal(row.emits, enters || isReturn ? EVENTS[row.to] : undefined)

    if (row.posts?.endsWith('unattributed')) assert.ok(row.opens, 'money in suspense always has a case')
    if (enters && row.to === 'RECONCILIATION_REQUIRED') assert.ok(row.opens, 'a doubt always has a case')
  })
}

test('[cash-out.unknown.3] a missing or unclear answer never releases money: each release proves that nothing left', () => {
  const releases = cashOut.lines.filter(({ posts }) => posts === 'cash_out_released')
  assert.deepEqual(
    releases.map(({ on, when = [], unless = [] }) => [on, [when].flat(), [unless].flat()]),
    [
      ['clock.released', ['it was not claimed within 24 hours'], ['the bank has it']],
      ['clock.released', ['nothing of it left', 'it was tried for 30 minutes'], ['the bank has it']],
      ['send.rejected', ['refusal is of the latest attempt'], ['the bank has it', 'another attempt may arrive']],
      ['partner.failed', [], ['only an event reports it', 'the statement shows it']],
      ['partner.not_found', ['absence is proven'], ['it may be sent again']],
      // From `RESERVED` only, where nothing was sent.
      ['operator.refused', [], ['the bank has it']],
      ['operator.approved', ['an approval is missing', 'the code asks for something else'], ['the bank has it']],
      // What an operator has from the bank.
      [
        'operator.not_executed',
        [],
        ['an attempt may still arrive', 'the statement shows it', 'money of it is in suspense'],
      ],
      [
        'operator.not_executed',
        [],
        [
          'an attempt may still arrive',
          'the statement shows it',
          'money of it is in suspense',
          'it is confirmed',
          'the reservation was given back',
        ],
      ],
    ],
  )
})

test('[cash-out.approval.11] [cash-out.unknown.3] what an operator ends was never claimed, and nothing becomes RESERVED again but by a decision about what was never sent', () => {
  const ended = cashOut.rows.filter((row) => row.on.startsWith('operator.') && row.posts && !isDecision(row))
  assert.deepEqual(new Set(ended.map(({ from }) => from)), new Set(['RESERVED']))
  const entering = cashOut.rows.filter(
    (row) => row.to === 'RESERVED' && row.from !== 'RESERVED' && row.from !== null && !isDecision(row),
  )
  assert.deepEqual(entering, [])
})

test('[cash-out.confirmed.4] what left never comes back but by a return', () => {
  for (const state of ['CONFIRMED', 'REVERSED'] as const) {
    const rows = cashOut.rows.filter(({ from, posts }) => from === state && posts !== undefined)
    const freeing = rows.filter(({ posts }) => posts !== 'left_unattributed' && posts !== 'tariff_deducted')
    assert.deepEqual(new Set(freeing.map(({ on }) => on)), new Set(['partner.returned']))
  }
})

test('[cash-out.unknown.1] [cash-out.unknown.7] what was tried is sent again under a condition only', () => {
  const sends = cashOut.rows.filter(({ from, on }) => on === 'send.claimed' && from !== 'RESERVED')
  for (const { when } of sends) {
    assert.ok(when.includes('payouts and refunds are enabled'))
    assert.ok(when.includes('nothing of it left') || when.includes('asked in vain and safe to repeat'))
  }
})

const isCreate = ajv.compile(createCashOut.body)
const isQrCreate = ajv.compile(createCashOutFromQrCode.body)
const transaction = { value: 30, externalId: 'payout-2001' }
const recipient = { pixKey: 'joao@example.com', pixKeyType: 'email' }

test('[cash-out.create.1] a value, an external id, a key and its type are enough; an unknown field is too much', () => {
  assert.ok(isCreate({ transaction, recipient }))
  assert.ok(isCreate(createCashOut.example))
  for (const pixKeyType of ['cpf', 'CNPJ', 'Email', 'pHONE', 'evp', 'RANDOM']) {
    assert.ok(isCreate({ transaction, recipient: { ...recipient, pixKeyType } }), pixKeyType)
  }
  const wrong = [
    { transaction },
    { recipient },
    { transaction: { value: 30 }, recipient },
    { transaction, recipient: { pixKey: 'joao@example.com' } },
    { transaction, recipient: { ...recipient, pixKeyType: 'iban' } },
    { transaction, recipient: { ...recipient, bank: '99999010' } },
    { transaction: { ...transaction, valueCents: 1 }, recipient },
    { transaction: { ...transaction, description: 'x'.repeat(141) }, recipient },
  ]
  for (const body of wrong) assert.ok(!isCreate(body), JSON.stringify(body))
})

test('[cash-out.qrcode.1] a code and an external id are enough; the value may be left out', () => {
  const pixCode = createCashOutFromQrCode.example.transaction.pixCode
  assert.ok(isQrCreate({ transaction: { pixCode, externalId: 'a' } }))
  assert.ok(isQrCreate({ transaction: { pixCode, externalId: 'a', value: 1 }, recipient: { document: '52998224725' } }))
  for (const body of [
    { transaction: { pixCode } },
    { transaction: { externalId: 'a' } },
    { transaction: { pixCode: '', externalId: 'a' } },
    { transaction: { pixCode: '0'.repeat(1_025), externalId: 'a' } },
    { transaction: { pixCode, externalId: 'a' }, recipient: { pixKey: 'joao@example.com' } },
  ]) {
    assert.ok(!isQrCreate(body), JSON.stringify(body))
  }
})

test('[cash-out.list.1] every state can be asked for', () => {
  const isQuery = ajv.compile(listCashOuts.query)
  for (const status of cashOut.states) assert.ok(isQuery({ page: 1, limit: 20, status }))
  assert.ok(!isQuery({ page: 1, limit: 20, status: 'PAID' }))
})

/** What a move does to the hold, told from its states: a doubt keeps what there is. */
function heldBy({ from, to }: { from: CashOutStatus | null; to: CashOutStatus }): number {
  if (from === null) return 1
  if (to === 'RECONCILIATION_REQUIRED' || HOLDS.includes(to)) return 0
  return from === 'RECONCILIATION_REQUIRED' || HOLDS.includes(from) ? -1 : 0
}

/** What a journal does to the hold, told from its postings. */
function reservedBy(journal: keyof typeof journals | undefined): number {
  const postings: readonly Posting[] = journal === undefined ? [] : journals[journal].postings
  return postings.find(({ account }) => account === 'reserved')?.amount.v ?? 0
}
