import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import fc from 'fast-check'
import { adjustmentView } from '../../src/controls/api.ts'
import { decideAdjustment } from '../../src/controls/commands.ts'
import type { State } from '../../src/engine/operation.ts'
import { entriesOf } from '../../src/engine/postings.ts'
import { NOTHING_USED } from '../support/limits.ts'
import { adjustmentRequest } from './fixture.ts'

const NOW = Date.parse('2026-11-21T13:00:00.000Z')
const ID = '0198c0f0-3f00-7000-8000-1a2b3c4d5e6f'

function having(available: bigint): State {
  return {
    operation: () => undefined,
    openCase: () => undefined,
    movement: () => undefined,
    balance: () => available,
    control: () => ({}),
    versionOf: () => 1n,
    ...NOTHING_USED,
  }
}

const decide = (valueCents: bigint, available = 0n) =>
  decideAdjustment(adjustmentRequest(ID, valueCents), having(available), NOW)

test('[adjustment.create.2] what is free can be taken out to the last centavo, and no further', () => {
  assert.equal(decide(-100_00n, 100_00n).outcome.status, 'DEBITED')
  assert.throws(() => decide(-100_01n, 100_00n), { code: 'insufficient_balance' })
  assert.throws(() => decide(-1n), { code: 'insufficient_balance' })
})

test('[adjustment.create.1] any value is answered as it was sent, and moves what is free by it', () => {
  const value = fc.bigInt({ min: -limits.valueMaxCents, max: limits.valueMaxCents }).filter((cents) => cents !== 0n)
  fc.assert(
    fc.property(value, (valueCents) => {
      const { journals = [], outcome } = decide(valueCents, limits.valueMaxCents)
      const moved = journals.flatMap(entriesOf).find(({ account }) => account === 'available')?.amountCents
      assert.equal(moved, valueCents)
      assert.deepEqual(adjustmentView(outcome), {
        id: ID,
        valueCents: Number(valueCents),
        reason: 'Opening balance',
        createdAt: '2026-11-21T13:00:00.000Z',
      })
    }),
  )
})
