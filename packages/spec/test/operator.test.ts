import assert from 'node:assert/strict'
import test from 'node:test'
import { type JournalTemplate, journals } from '../src/ledger.ts'
import { limits } from '../src/limits.ts'
import { adjustment, createAdjustment, setCashOutSwitch } from '../src/operator.ts'
import { ajv } from './support/ajv.ts'
import { rowsOf } from './support/rows.ts'

/** What each row does to the accounts, and what it books under the bank's own id; nothing where no money moves. */
const BOOKED: Readonly<
  Record<string, readonly [movement: string | undefined, postings: Readonly<Record<string, object>>]>
> = {
  '(none) operator.credited CREDITED': [undefined, { available: { v: 1 }, settlement: { v: -1 } }],
  '(none) operator.debited DEBITED': [undefined, { available: { v: -1 }, settlement: { v: 1 } }],
  '(none) line.unexplained HELD': [undefined, { settlement: { p: -1 }, suspense_in: { p: 1 } }],
  'HELD line.explained EXPLAINED': [undefined, { suspense_in: { p: -1 }, settlement: { p: 1 } }],
  'HELD operator.attributed EXPLAINED': [undefined, { suspense_in: { p: -1 }, settlement: { p: 1 } }],
  'HELD line.claimed EXPLAINED': [undefined, { suspense_in: { p: -1 }, settlement: { p: 1 } }],
  'EXPLAINED line.claimed SUSPENDED': ['in', { settlement: { p: -1 }, suspense_in: { p: 1 } }],
  'SUSPENDED operator.credited CREDITED': [undefined, { suspense_in: { p: -1 }, available: { p: 1 } }],
  'SUSPENDED operator.written_off GAINED': [undefined, { suspense_in: { p: -1 }, losses: { p: 1 } }],
  'SUSPENDED line.taken_back SUSPENDED': ['out', { suspense_in: { p: -1 }, settlement: { p: 1 } }],
  '(none) operator.debited BORNE of a movement': [
    'out',
    { settlement: { v: 1 }, available: { d: -1 }, receivable: { v: -1, d: 1 } },
  ],
  '(none) operator.written_off LOST of a movement': ['out', { settlement: { v: 1 }, losses: { v: -1 } }],
  '(none) operator.debited BORNE': [
    undefined,
    { settlement: { v: 1 }, available: { d: -1 }, receivable: { v: -1, d: 1 } },
  ],
  '(none) operator.written_off LOST': [undefined, { settlement: { v: 1 }, losses: { v: -1 } }],
  '(none) operator.written_off GAINED': [undefined, { settlement: { v: -1 }, losses: { v: 1 } }],
}

/** It is in suspense already. */
function isTakenBack({ when }: { readonly when: readonly string[] }): boolean {
  return when.includes('its movement was taken back')
}

for (const { row, title } of rowsOf(adjustment)) {
  test(`${title}: what it says of the accounts, and no notification is sent`, () => {
    const isOfMovement = row.when.includes('of a movement')
    const name = `${row.from ?? '(none)'} ${row.on} ${row.to}${isOfMovement ? ' of a movement' : ''}`
    assert.equal(row.emits, undefined)
    if (row.posts === undefined) return assert.ok(row.to === row.from || isTakenBack(row), name)
    const { postings, movement }: JournalTemplate = journals[row.posts]
    const found = Object.fromEntries(postings.map(({ account, amount }) => [account, amount]))
    assert.deepEqual([movement, found], BOOKED[name], name)
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
