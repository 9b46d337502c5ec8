import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type AnyOrder,
  createDispatcher,
  type Orders,
  type SendFacts,
  type Step,
} from '../../../src/modules/dispatch/index.ts'
import { cashOutAs } from '../cash-out/situations.ts'

/** A word of the bank that only these orders know. */
interface Answer {
  readonly on: 'answer'
  readonly to: 'send' | 'ask'
}

type AnyOrders = Orders<AnyOrder, Answer>

/** Orders that are what a test says and note what is done with them. */
function scripted(steps: Readonly<Record<string, Step>>, given: Partial<AnyOrders> = {}) {
  const done: string[] = []
  const call = (to: Answer['to']) => async (order: AnyOrder) => {
    done.push(`${to} ${order.id}`)
    return [{ on: 'answer', to } as const]
  }
  const wanted: unknown[] = []
  const orders: AnyOrders = {
    due: async (...asked) => {
      wanted.push(asked)
      return Object.keys(steps).map((id) => orderOf(id))
    },
    nextStep: ({ id }) => steps[id] ?? 'ask',
    take: async (order, inputs) => {
      for (const { on, ...facts } of inputs) done.push(`${order.id} ${on} ${JSON.stringify(facts)}`)
      return order
    },
    send: call('send'),
    ask: call('ask'),
    ...given,
  }
  return { orders, done, wanted }
}

const LEASE = '{"leaseMs":60000}'

function orderOf(id: string, facts: SendFacts = {}): AnyOrder {
  return { ...cashOutAs('RESERVED', { facts }), id }
}

const clockAt = (read: () => number = () => 0) => ({ now: read })

test('[cash-out.work] each order gets its step; what is sent or asked is claimed first', async () => {
  const { orders, done, wanted } = scripted({ a: 'send', b: 'ask', c: 'release', d: 'case' })
  const more = await createDispatcher(
    orders,
    clockAt(() => 7),
    async () => Number.POSITIVE_INFINITY,
  ).processNext()
  assert.equal(more, false)
  assert.deepEqual(wanted, [[7, 128, true]])
  const of = (id: string) => done.filter((line) => line.startsWith(`${id} `) || line.endsWith(` ${id}`))
  assert.deepEqual(of('a'), [`a send.claimed ${LEASE}`, 'send a', 'a answer {"to":"send"}'])
  assert.deepEqual(of('b'), [`b work.claimed ${LEASE}`, 'ask b', 'b answer {"to":"ask"}'])
  assert.deepEqual(of('c'), ['c clock.released {}'])
  assert.deepEqual(of('d'), ['d clock.overdue {}'])
})

test('[CO-21] who loses the claim neither sends nor asks', async () => {
  const { orders, done } = scripted({ a: 'send', b: 'ask' }, { take: async () => undefined })
  await createDispatcher(orders, clockAt(), async () => 64).processNext()
  assert.deepEqual(done, [])
})

test('[CO-20] an order is sent in the first half of its lease only, counted from before the claim', async () => {
  for (const [ms, told] of [
    [29_999, 'answer'],
    [30_000, 'send.not_sent'],
    [600_000, 'send.not_sent'],
  ] as const) {
    let now = 1_000
    const taken: string[] = []
    const { orders, done } = scripted(
      { a: 'send' },
      {
        take: async (order, inputs) => {
          taken.push(...inputs.map(({ on }) => on))
          // The process sleeps while its claim is written.
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
    assert.deepEqual(taken, ['send.claimed', told])
    assert.deepEqual(done, told === 'answer' ? ['send a'] : [])
  }
})

test('[CO-24] [cash-out.states.3] while nothing may be sent questions are asked and money is given back', async () => {
  const { orders, done, wanted } = scripted({ a: 'send', b: 'ask', c: 'release' })
  await createDispatcher(orders, clockAt(), async () => 0).processNext()
  assert.deepEqual(wanted, [[0, 128, false]])
  assert.deepEqual(
    done.toSorted(),
    ['ask b', 'b answer {"to":"ask"}', `b work.claimed ${LEASE}`, 'c clock.released {}'].toSorted(),
  )
})

test('[CO-10] where the bank is tried with one order, it is one that was tried before', async () => {
  const due = [orderOf('new'), orderOf('tried', { attempts: 2, unsentAttempts: 2 }), orderOf('newer')]
  const { orders, done } = scripted({ new: 'send', tried: 'send', newer: 'send' }, { due: async () => due })
  const more = await createDispatcher(orders, clockAt(), async () => 1).processNext()
  assert.deepEqual(done, [`tried send.claimed ${LEASE}`, 'send tried', 'tried answer {"to":"send"}'])
  assert.equal(more, false)
})

/** What was sent, and what was asked about. */
const calls = (done: readonly string[]) => done.filter((line) => /^(send|ask) /.test(line)).toSorted()

test('[CO-24] [P8] what was tried and may not be sent now is asked about; what never left waits', async () => {
  const due = [
    orderOf('new'),
    orderOf('unsent', { attempts: 2, unsentAttempts: 2 }),
    orderOf('open', { attempts: 2, unsentAttempts: 1 }),
  ]
  const { orders, done } = scripted({ new: 'send', unsent: 'send', open: 'send' }, { due: async () => due })
  await createDispatcher(orders, clockAt(), async () => 0).processNext()
  assert.deepEqual(done, [`open work.claimed ${LEASE}`, 'ask open', 'open answer {"to":"ask"}'])
})

test('[CO-10] [P8] where the bank is tried with one order, the others that were tried are asked about', async () => {
  const due = [orderOf('new'), orderOf('once', { attempts: 1 }), orderOf('twice', { attempts: 2 })]
  const { orders, done } = scripted({ new: 'send', once: 'send', twice: 'send' }, { due: async () => due })
  await createDispatcher(orders, clockAt(), async () => 1).processNext()
  assert.deepEqual(calls(done), ['ask once', 'send twice'])
})

test('[CO-10] [P8] where the bank is tried with one order, a crowd that waits to be sent holds up no question', async () => {
  const crowd = Array.from({ length: 128 }, (_, index) => orderOf(`order-${index}`))
  const { orders, done } = scripted(
    {},
    {
      due: async (_at, _most, isSending) => (isSending ? crowd : [orderOf('question')]),
      nextStep: ({ id }) => (id === 'question' ? 'ask' : 'send'),
    },
  )
  await createDispatcher(orders, clockAt(), async () => 1).processNext()
  assert.deepEqual(calls(done), ['ask question', 'send order-0'])
})

test('[CO-21] what is found twice while the bank is tried with one order is done once', async () => {
  const { orders, done } = scripted({ a: 'send', b: 'ask' })
  await createDispatcher(orders, clockAt(), async () => 1).processNext()
  assert.deepEqual(calls(done), ['ask b', 'send a'])
})

test('[cash-out.work] a full hand is followed by another at once, unless the bank is only being tried', async () => {
  const full = Array.from({ length: 128 }, (_, index) => orderOf(`order-${index}`))
  const { orders } = scripted({}, { due: async () => full })
  assert.equal(await createDispatcher(orders, clockAt(), async () => 64).processNext(), true)
  assert.equal(await createDispatcher(orders, clockAt(), async () => 1).processNext(), false)
  const fewer = scripted({}, { due: async () => full.slice(1) })
  assert.equal(await createDispatcher(fewer.orders, clockAt(), async () => 64).processNext(), false)
})
