import assert from 'node:assert/strict'
import test from 'node:test'
import { type JournalTemplate, journals } from '../src/ledger.ts'
import { limits } from '../src/limits.ts'
import { type AdjustmentStatus, adjustment, createAdjustment, setCashOutSwitch } from '../src/operator.ts'
import { ajv } from './support/ajv.ts'
import { rowsOf } from './support/rows.ts'

/** What each does to the accounts, by its own words. */
const POSTINGS: Readonly<Record<AdjustmentStatus, readonly (readonly [account: string, amount: object])[]>> = {
  CREDITED: [
    ['available', { v: 1 }],
    ['settlement', { v: -1 }],
  ],
  DEBITED: [
    ['available', { v: -1 }],
    ['settlement', { v: 1 }],
  ],
  CLEARING_ARRIVED: [
    ['settlement', { v: -1 }],
    ['clearing', { v: 1 }],
  ],
  CLEARING_LEFT: [
    ['settlement', { v: 1 }],
    ['clearing', { v: -1 }],
  ],
  CLEARING_ADDED: [
    ['settlement', { v: -1 }],
    ['clearing', { v: 1 }],
  ],
  CLEARING_REMOVED: [
    ['settlement', { v: 1 }],
    ['clearing', { v: -1 }],
  ],
  CLEARING_CREDITED: [
    ['clearing', { v: -1 }],
    ['available', { v: 1 }],
  ],
  CLEARING_DEBITED: [
    ['clearing', { v: 1 }],
    ['available', { d: -1 }],
    ['receivable', { v: -1, d: 1 }],
  ],
  CLEARING_GAINED: [
    ['clearing', { v: -1 }],
    ['losses', { v: 1 }],
  ],
  CLEARING_LOST: [
    ['clearing', { v: 1 }],
    ['losses', { v: -1 }],
  ],
}
/** What is booked under the bank's own id. */
const MOVEMENTS: Readonly<Record<string, string>> = { CLEARING_ARRIVED: 'in', CLEARING_LEFT: 'out' }

for (const { row, title } of rowsOf(adjustment)) {
  test(`${title}: what it says of the accounts, and no notification is sent`, () => {
    assert.ok(row.posts)
    const { postings, movement }: JournalTemplate = journals[row.posts]
    assert.deepEqual(
      postings.map(({ account, amount }) => [account, amount]),
      POSTINGS[row.to],
    )
    assert.equal(movement, MOVEMENTS[row.to])
    assert.equal(row.emits, undefined)
  })
}

test('[adjustment.create.1] a value is a whole number of centavos within the bounds, with a reason', () => {
  const accepts = (body: object) => ajv.validate(createAdjustment.body, { valueCents: 1, reason: 'x', ...body })
  const limit = Number(limits.valueMaxCents)
  for (const valueCents of [limit, -limit, 1, -1]) assert.ok(accepts({ valueCents }), String(valueCents))
  for (const valueCents of [limit + 1, -limit - 1, 1.5, '1', null])
    assert.ok(!accepts({ valueCents }), String(valueCents))
  for (const reason of ['', 'x'.repeat(141), 'a\nb', undefined]) assert.ok(!accepts({ reason }), reason)
  assert.ok(!accepts({ externalId: 'a' }))
})

test('[operator.switch.1] the switch is not set without a reason', () => {
  const accepts = (body: object) => ajv.validate(setCashOutSwitch.body, body)
  assert.ok(accepts({ enabled: true, reason: 'x'.repeat(140) }))
  for (const version of [null, 1, Number.MAX_SAFE_INTEGER])
    assert.ok(accepts({ enabled: true, reason: 'x', version }), String(version))
  for (const body of [
    { enabled: true },
    { reason: 'x' },
    { enabled: 'true', reason: 'x' },
    { enabled: true, reason: '' },
    { enabled: true, reason: 'x', version: 0 },
    { enabled: true, reason: 'x', version: 1.5 },
    { enabled: true, reason: 'x', version: '1' },
  ]) {
    assert.ok(!accepts(body), JSON.stringify(body))
  }
})
