import assert from 'node:assert/strict'
import test from 'node:test'
import { balances } from '../support/books.ts'
import { makeOperator } from '../support/operators.ts'
import { world } from '../support/world.ts'

test('[adjustment.create.4] from the amount of the desk on an admin adjusts the balance, and no operator, either way', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' }, { isStepped: true })
  const [operator, admin] = [await makeOperator(pix, 'operator', 'Ana'), await makeOperator(pix, 'admin', 'Bia')]
  const adjust = (token: string, valueCents: number) =>
    pix.call('POST', '/operator/adjustments', { valueCents, reason: 'the tests' }, { authorization: `Bearer ${token}` })
  for (const valueCents of [1000, -1000, 5000]) {
    const { status, body } = await adjust(operator, valueCents)
    assert.deepEqual([status, body.code], [403, 'insufficient_role'])
  }
  assert.deepEqual(await balances(pix.database), {})
  assert.equal((await adjust(admin, 5000)).status, 201)
  assert.equal((await adjust(operator, 999)).status, 201)
  assert.equal((await adjust(operator, -999)).status, 201)
  assert.deepEqual(await balances(pix.database), { available: 5000n, settlement: -5000n })
})
