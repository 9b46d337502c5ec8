import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type AnyOrder,
  createDispatcher,
  LEASE_MS,
  type Orders,
  type Step,
} from '../../../src/modules/dispatch/index.ts'
import { cashOutAs } from '../cash-out/situations.ts'

/** Orders that are what a test says and note what is done with them. */
function scripted(steps: Readonly<Record<string, Step>>, given: Partial<Orders<AnyOrder>> = {}) {
  const done: string[] = []
  const note = (word: string) => async (order: AnyOrder) => {
    done.push(`${word} ${order.id}`)
  }
  const claim = (word: string) => async (order: AnyOrder, leaseMs: number) => {
    done.push(`${word} ${order.id} for ${leaseMs}`)
    return order
  }
  const wanted: unknown[] = []
  const orders: Orders<AnyOrder> = {
    due: async (...asked) => {
      wanted.push(asked)
      return Object.keys(steps).map((id) => orderOf(id))
    },
    nextStep: ({ id }) => steps[id] ?? 'nothing',
    claimSending: claim('claim'),
    claimAsking: claim('look'),
    send: note('send'),
    ask: note('ask'),
    release: note('release'),
    openCase: note('case'),
    notSent: note('not sent'),
    ...given,
  }
  return { orders, done, wanted }
}

function orderOf(id: string, attempts = 0): AnyOrder {
  return { ...cashOutAs('RESERVED', { facts: { attempts } }), id }
}

const clockAt = (read: () => number = () => 0) => ({ now: read })

test('[cash-out.work] each order gets its step; what is sent or asked is claimed first', async () => {
  const { orders, done, wanted } = scripted({ a: 'send', b: 'ask', c: 'release', d: 'case', e: 'nothing' })
  const more = await createDispatcher(
    orders,
    clockAt(() => 7),
    async () => 64,
  ).processNext()
  assert.equal(more, false)
  assert.deepEqual(wanted, [[7, 128, true]])
  assert.deepEqual(
    done.toSorted(),
    [`ask b`, `case d`, `claim a for ${LEASE_MS}`, `look b for ${LEASE_MS}`, 'release c', 'send a'].toSorted(),
  )
  assert.ok(done.indexOf(`claim a for ${LEASE_MS}`) < done.indexOf('send a'))
})

test('[CO-21] who loses the claim neither sends nor asks', async () => {
  const lost = { claimSending: async () => undefined, claimAsking: async () => undefined }
  const { orders, done } = scripted({ a: 'send', b: 'ask' }, lost)
  await createDispatcher(orders, clockAt(), async () => 64).processNext()
  assert.deepEqual(done, [])
})

test('[CO-20] an order is sent in the first half of its lease only, counted from before the claim', async () => {
  for (const [ms, told] of [
    [LEASE_MS / 2 - 1, 'send a'],
    [LEASE_MS / 2, 'not sent a'],
    [10 * LEASE_MS, 'not sent a'],
  ] as const) {
    let now = 1_000
    const { orders, done } = scripted(
      { a: 'send' },
      {
        // The process sleeps while its claim is written.
        claimSending: async (order) => {
          now += ms
          return order
        },
      },
    )
    await createDispatcher(
      orders,
      clockAt(() => now),
      async () => 64,
    ).processNext()
    assert.deepEqual(done, [told])
  }
})

test('[CO-24] [cash-out.states.3] while nothing may be sent questions are asked and money is given back', async () => {
  const { orders, done, wanted } = scripted({ a: 'send', b: 'ask', c: 'release' })
  await createDispatcher(orders, clockAt(), async () => 0).processNext()
  assert.deepEqual(wanted, [[0, 128, false]])
  assert.deepEqual(done.toSorted(), ['ask b', `look b for ${LEASE_MS}`, 'release c'].toSorted())
})

test('[CO-10] where the bank is tried with one order, it is one that was tried before', async () => {
  const due = [orderOf('new'), orderOf('tried', 2), orderOf('newer')]
  const { orders, done } = scripted({ new: 'send', tried: 'send', newer: 'send' }, { due: async () => due })
  const more = await createDispatcher(orders, clockAt(), async () => 1).processNext()
  assert.deepEqual(done, [`claim tried for ${LEASE_MS}`, 'send tried'])
  assert.equal(more, false)
})

test('[cash-out.work] a full hand is followed by another at once, unless the bank is only being tried', async () => {
  const full = Array.from({ length: 128 }, (_, index) => orderOf(`order-${index}`))
  const { orders } = scripted({}, { due: async () => full })
  assert.equal(await createDispatcher(orders, clockAt(), async () => 64).processNext(), true)
  assert.equal(await createDispatcher(orders, clockAt(), async () => 1).processNext(), false)
  const fewer = scripted({}, { due: async () => full.slice(1) })
  assert.equal(await createDispatcher(fewer.orders, clockAt(), async () => 64).processNext(), false)
})
