import assert from 'node:assert/strict'
import test from 'node:test'
import { createBalanceHandlers } from '../../src/balance/index.ts'
import type { RequestContext } from '../../src/platform/http/handler.ts'
import { administer, testDatabase } from '../support/database.ts'
import { world } from '../support/world.ts'

test('[balance.1] a new merchant has one item, BRL, with nothing in it', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const { status, body } = await pix.call('GET', '/organization/balance')
  assert.equal(status, 200)
  const [{ id, ...item }, ...others] = body
  assert.deepEqual(others, [])
  assert.deepEqual(item, {
    amount: 0,
    code: 'BRL',
    name: 'Brazilian Real',
    symbol: 'R$',
    icon: null,
    reservedCents: 0,
    receivableCents: 0,
  })
  assert.match(id, /^[0-9a-f-]{36}$/)
  assert.equal((await pix.call('GET', '/organization/balance')).body[0].id, id)
})

test('[balance.1] [money.2] the amount is what is available, in reais, exact for everything the service takes', async (t) => {
  const { url, database } = await testDatabase(t)
  const { getBalance } = createBalanceHandlers(database)
  const read = async (available: bigint, reserved: bigint, receivable: bigint) => {
    for (const [code, cents] of Object.entries({ available, reserved, receivable })) {
      await administer(url, `UPDATE account SET balance_cents = ${cents} WHERE code = '${code}'`)
    }
    const { body } = await getBalance({
      params: undefined,
      query: undefined,
      body: undefined,
      context: {} as RequestContext,
    })
    const [{ id, ...item } = { id: '' }] = JSON.parse(JSON.stringify(body))
    return item
  }
  const { amount, reservedCents, receivableCents } = await read(29n, 71n, -5n)
  assert.deepEqual([amount, reservedCents, receivableCents], [0.29, 71, 5], 'what is reserved is not in the amount')
  assert.equal((await read(1999n, 0n, 0n)).amount, 19.99)
  assert.equal((await read(999_999_999_999n, 0n, 0n)).amount, 9_999_999_999.99)
  // Ten thousand of the largest charges: still below 2^53 centavos, still to the centavo.
  assert.equal((await read(9_007_199_254_740_991n, 0n, 0n)).amount, 90_071_992_547_409.91)
})
