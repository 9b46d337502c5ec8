import assert from 'node:assert/strict'
import test from 'node:test'
import type { QueryAnswer, SendWindow } from '../../src/banks/port.ts'
import type { Step } from '../../src/engine/operation.ts'
import { type SendFacts, statusQueryFact } from '../../src/operations/attempts.ts'
import {
  type AnyOrder,
  type DirectSending,
  type DispatchBounds,
  Dispatcher,
  type Orders,
} from '../../src/operations/dispatcher.ts'
import { cashOutAs } from '../cash-out/situations.ts'

/** What the bank has of an order, and the input that follows. */
interface Answer {
  readonly kind: 'ACCEPTED' | 'FINAL' | 'CONTRADICTED'
  readonly to: 'send' | 'ask'
  readonly alreadyExisted?: true
}

type Input = { readonly on: 'answer'; readonly to: Answer['to'] }
type AnyOrders = Orders<AnyOrder, Input, Answer>

/** Orders that are what a test says and note what is done with them. */
function scripted(steps: Readonly<Record<string, Step>>, given: Partial<AnyOrders> = {}) {
  const done: string[] = []
  const call = (to: Answer['to']) => async (order: AnyOrder) => {
    done.push(`${to} ${order.id}`)
    return { kind: 'ACCEPTED', to } as const
  }
  const wanted: unknown[] = []
  const orders: AnyOrders = {
    due: async (...asked) => {
      wanted.push(asked)
      return Object.keys(steps).map((id) => orderOf(id))
    },
    nextStep: ({ id }) => steps[id] ?? 'ask',
    apply: async (order, inputs) => {
      for (const { on, ...facts } of inputs) done.push(`${order.id} ${on} ${JSON.stringify(facts)}`)
      return order
    },
    send: call('send'),
    query: call('ask'),
    inputsOf: (_, { to }) => [{ on: 'answer', to }],
    isAskedFirst: () => false,
    windowMs: 0,
    ...given,
  }
  return { orders, done, wanted }
}

const NOT_FOUND = { kind: 'NOT_FOUND' } as const
const TIMEOUT = { kind: 'UNKNOWN', reason: 'timeout', httpStatus: undefined } as const
const UNREACHABLE = { kind: 'NOT_SENT', reason: 'ECONNREFUSED' } as const

const LEASE = '{"leaseMs":5500}'

/** Calls of 3 s at most; events may cause what they like, and no time passes, unless a test says otherwise. */
const BOUNDS: DispatchBounds = {
  callTimeoutMs: 3_000,
  eventQueries: { take: (wanted) => wanted },
  monotonic: () => 0,
}

function dispatcher(orders: AnyOrders, sends: number, given: Partial<DispatchBounds> = {}, clock = clockAt()) {
  return new Dispatcher(orders, clock, async () => sends, { ...BOUNDS, ...given })
}

function orderOf(id: string, facts: SendFacts = {}): AnyOrder {
  return { ...cashOutAs('RESERVED', { facts }), id }
}

const clockAt = (read: () => number = () => 0) => ({ now: read })

test('[cash-out.work] each order gets its step; what is sent or asked is claimed first', async () => {
  const { orders, done, wanted } = scripted({ a: 'send', b: 'ask', c: 'release', d: 'case' })
  const clock = clockAt(() => 7)
  const more = await dispatcher(orders, Number.POSITIVE_INFINITY, {}, clock).processNext()
  assert.equal(more, false)
  assert.deepEqual(wanted, [[7, 128, true]])
  const of = (id: string) => done.filter((line) => line.startsWith(`${id} `) || line.endsWith(` ${id}`))
  assert.deepEqual(of('a'), [`a send.claimed ${LEASE}`, 'send a', 'a answer {"to":"send"}'])
  assert.deepEqual(of('b'), [`b work.claimed ${LEASE}`, 'ask b', 'b answer {"to":"ask"}', 'b work.done {}'])
  assert.deepEqual(of('c'), ['c clock.released {}'])
  assert.deepEqual(of('d'), ['d clock.overdue {}'])
})

test('[CO-21] who loses the claim neither sends nor asks', async () => {
  const { orders, done } = scripted({ a: 'send', b: 'ask' }, { apply: async () => undefined })
  await dispatcher(orders, 64).processNext()
  assert.deepEqual(done, [])
})

/** A process that sleeps while its claim is written, and what is told of the order then. */
async function sleepsAfterClaim(ms: number, sendsAfterwards = 64) {
  let now = 1_000
  let sends = 64
  const taken: string[] = []
  const { orders, done } = scripted(
    { a: 'send' },
    {
      apply: async (order, inputs) => {
        taken.push(...inputs.map(({ on }) => on))
        now += ms
        sends = sendsAfterwards
        return order
      },
    },
  )
  await new Dispatcher(orders, clockAt(), async () => sends, { ...BOUNDS, monotonic: () => now }).processNext()
  return { taken, done }
}

test('[CO-20] [CO-40] an order is sent within 2 s of its claim or not at all, by a clock that goes on while the process sleeps', async () => {
  for (const [ms, told] of [
    [2_000, 'answer'],
    [2_001, 'send.not_sent'],
    [600_000, 'send.not_sent'],
  ] as const) {
    const { taken, done } = await sleepsAfterClaim(ms)
    assert.deepEqual(taken, ['send.claimed', told])
    assert.deepEqual(done, told === 'answer' ? ['send a'] : [])
  }
})

test('[CO-40] [P10] an order is not sent by a claim that turns out to be old: the clock that dated it had stood still', async () => {
  let now = 1_000
  const taken: string[] = []
  const { orders, done } = scripted(
    { a: 'send' },
    {
      apply: async (order, inputs) => {
        taken.push(...inputs.map(({ on }) => on))
        const claimed = { ...order, facts: { ...order.facts, lastAttemptAt: now } }
        // The database tells the time with its reply.
        now = 601_000
        return claimed
      },
    },
  )
  await dispatcher(
    orders,
    64,
    {},
    clockAt(() => now),
  ).processNext()
  assert.deepEqual([taken, done], [['send.claimed', 'send.not_sent'], []])
})

test('[CO-40] [CO-24] more than 500 ms after the claim it is looked once more whether anything may be sent', async () => {
  assert.deepEqual((await sleepsAfterClaim(500, 0)).taken, ['send.claimed', 'answer'])
  assert.deepEqual((await sleepsAfterClaim(501, 0)).taken, ['send.claimed', 'send.not_sent'])
  assert.deepEqual((await sleepsAfterClaim(501, 1)).taken, ['send.claimed', 'answer'])
})

test('[CO-40] the window goes with the call, so that it is looked at right before the first byte', async () => {
  let now = 0
  let window: SendWindow | undefined
  const { orders } = scripted(
    { a: 'send' },
    {
      send: async (_order, given) => {
        window = given
        return UNREACHABLE
      },
    },
  )
  await dispatcher(orders, 64, { monotonic: () => now }).processNext()
  now = 2_000
  assert.equal(window?.isOver(), false)
  now = 2_001
  assert.equal(window?.isOver(), true)
})

/** Orders of which the bank, asked, has this. */
function asking(id: string, windowMs: number, answer: QueryAnswer<Answer> = NOT_FOUND) {
  const tried = orderOf(id, { attempts: 1, firstAttemptAt: 0 })
  return scripted({ [id]: 'ask' }, { due: async () => [tried], query: async () => answer, windowMs })
}

test('[CO-9] [CO-42] [cash-out.unknown.7] an order that the bank does not know, or reports no outcome of, is sent again at once', async () => {
  for (const answer of [NOT_FOUND, TIMEOUT]) {
    const { orders, done } = asking('a', 1_000, answer)
    await dispatcher(orders, 64).processNext()
    const again = { askedAt: orderOf('a').updatedAt, windowMs: 1_000 }
    assert.deepEqual(done.slice(-3), [
      `a send.claimed ${JSON.stringify({ leaseMs: 5_500, again })}`,
      'send a',
      'a answer {"to":"send"}',
    ])
  }
})

test('[CO-42] nothing is sent again where the bank reported an outcome, is not idempotent, or is not called now', async () => {
  for (const [windowMs, answer, sends] of [
    [1_000, { kind: 'ACCEPTED', to: 'ask' }, 64],
    [0, NOT_FOUND, 64],
    [1_000, NOT_FOUND, 0],
  ] as const) {
    const { orders, done } = asking('a', windowMs, answer)
    await dispatcher(orders, sends).processNext()
    assert.deepEqual(
      done.filter((line) => line.startsWith('send')),
      [],
    )
  }
})

test('[CO-10] [CO-42] where the bank is tried with one order, one is sent, new or again', async () => {
  const due = [orderOf('one', { attempts: 1 }), orderOf('two', { attempts: 1 })]
  const { orders, done } = scripted(
    { one: 'ask', two: 'ask' },
    { due: async () => due, query: async () => NOT_FOUND, windowMs: 1_000 },
  )
  await dispatcher(orders, 1).processNext()
  assert.equal(done.filter((line) => line.startsWith('send ')).length, 1)
})

test('[partner.7] [CO-46] status queries that events request have a budget; scheduled ones do not wait for it', async () => {
  const due = [
    orderOf('scheduled'),
    orderOf('told', statusQueryFact('requested')),
    orderOf('again', statusQueryFact('in_flight')),
  ]
  const { orders, done } = scripted({}, { due: async () => due })
  const taken: number[] = []
  const eventQueries = {
    take: (wanted: number) => {
      taken.push(wanted)
      return 1
    },
  }
  await dispatcher(orders, 0, { eventQueries }).processNext()
  assert.deepEqual([calls(done), taken], [['ask scheduled', 'ask told'], [2]])
})

test('[CO-46] a status query requested during a call is made right after it, not at the next poll', async () => {
  const { orders } = scripted({ a: 'ask' }, { apply: async (order) => ({ ...order, dueAt: 0 }) })
  assert.equal(await dispatcher(orders, 0).processNext(), true)
})

test('[CO-24] [cash-out.states.3] while nothing may be sent questions are asked and money is released', async () => {
  const { orders, done, wanted } = scripted({ a: 'send', b: 'ask', c: 'release' })
  await dispatcher(orders, 0).processNext()
  assert.deepEqual(wanted, [[0, 128, false]])
  assert.deepEqual(
    done.toSorted(),
    ['ask b', 'b answer {"to":"ask"}', 'b work.done {}', `b work.claimed ${LEASE}`, 'c clock.released {}'].toSorted(),
  )
})

test('[CO-10] where the bank is tried with one order, it is one that was tried before', async () => {
  const due = [orderOf('new'), orderOf('tried', { attempts: 2, unsentAttempts: 2 }), orderOf('newer')]
  const { orders, done } = scripted({ new: 'send', tried: 'send', newer: 'send' }, { due: async () => due })
  const more = await dispatcher(orders, 1).processNext()
  assert.deepEqual(done, [`tried send.claimed ${LEASE}`, 'send tried', 'tried answer {"to":"send"}'])
  assert.equal(more, false)
})

test('[CO-10] [partner.9] where the bank is tried with one order, it is none that has just not left for a reason of its own', async () => {
  const due = [orderOf('bad', { attempts: 9, unsentAttempts: 9 }), orderOf('tried', { attempts: 2 }), orderOf('new')]
  const sent: string[] = []
  let isBad = true
  const { orders } = scripted(
    {},
    {
      nextStep: () => 'send',
      due: async () => due.filter(({ id }) => !sent.includes(id) || id === 'bad'),
      send: async ({ id }) => {
        sent.push(id)
        const isQrCodeFault = id === 'bad' && isBad
        return { ...UNREACHABLE, ...(isQrCodeFault && { isQrCodeFault }) }
      },
    },
  )
  const worker = dispatcher(orders, 1)
  for (let looks = 0; looks < 4; looks++) await worker.processNext()
  assert.deepEqual(sent, ['bad', 'tried', 'new', 'bad'])
  isBad = false
  due.push(orderOf('newer', { attempts: 1 }))
  await worker.processNext()
  await worker.processNext()
  assert.deepEqual(sent.slice(4), ['newer', 'bad'])
  due.push(orderOf('newest', { attempts: 8 }))
  await worker.processNext()
  assert.equal(sent.at(-1), 'bad', 'another try has shown that the reason is gone')
})

/** What was sent, and what was asked about. */
const calls = (done: readonly string[]) => done.filter((line) => /^(send|ask) /.test(line)).toSorted()

test('[CO-10] [P8] where the bank is tried with one order, a backlog that waits to be sent holds up no question', async () => {
  const crowd = Array.from({ length: 128 }, (_, index) => orderOf(`order-${index}`))
  const { orders, done } = scripted(
    {},
    {
      due: async (_nowMs, _limit, isSending) => (isSending ? crowd : [orderOf('question')]),
      nextStep: ({ id }) => (id === 'question' ? 'ask' : 'send'),
    },
  )
  await dispatcher(orders, 1).processNext()
  assert.deepEqual(calls(done), ['ask question', 'send order-0'])
})

test('[CO-21] what is found twice while the bank is tried with one order is done once', async () => {
  const { orders, done } = scripted({ a: 'send', b: 'ask' })
  await dispatcher(orders, 1).processNext()
  assert.deepEqual(calls(done), ['ask b', 'send a'])
})

test('[cash-out.work] a full hand is followed by another at once, unless the bank is only being tried', async () => {
  const full = Array.from({ length: 128 }, (_, index) => orderOf(`order-${index}`))
  const { orders } = scripted({}, { due: async () => full })
  assert.equal(await dispatcher(orders, 64).processNext(), true)
  assert.equal(await dispatcher(orders, 1).processNext(), false)
  const fewer = scripted({}, { due: async () => full.slice(1) })
  assert.equal(await dispatcher(fewer.orders, 64).processNext(), false)
})

test('[cash-out.unknown.7] what was never tried is not sent because a status query reported no outcome', async () => {
  const { orders, done } = scripted({ a: 'ask' }, { query: async () => NOT_FOUND, windowMs: 86_400_000 })
  await dispatcher(orders, 64).processNext()
  assert.deepEqual(
    done.filter((line) => line.includes('send')),
    [],
  )
})

test('[CO-40] [P10] by itself the worker sees that its machine slept', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000 })
  const { orders, done } = scripted(
    { a: 'send' },
    {
      apply: async (order, inputs) => {
        done.push(...inputs.map(({ on }) => on))
        t.mock.timers.setTime(601_000)
        return order
      },
    },
  )
  const { monotonic: _, ...bounds } = BOUNDS
  await new Dispatcher(orders, clockAt(), async () => 64, bounds).processNext()
  assert.deepEqual(done, ['send.claimed', 'send.not_sent'])
})

/** What becomes of an order after a restore where the bank, asked first, has this. */
async function askedFirst(answer: QueryAnswer<Answer>, facts: SendFacts = { attempts: 1 }, isNear = true) {
  const { orders, done } = scripted(
    { a: 'send' },
    {
      due: async () => [orderOf('a', facts)],
      query: async () => {
        done.push('ask a')
        return answer
      },
      isAskedFirst: () => isNear,
    },
  )
  await dispatcher(orders, 64).processNext()
  return done.slice(1)
}

test('[restored.4] what the bank has counts as the answer to the order, and nothing is sent', async () => {
  for (const kind of ['ACCEPTED', 'FINAL', 'CONTRADICTED'] as const) {
    assert.deepEqual(await askedFirst({ kind, to: 'ask' }), ['ask a', 'a answer {"to":"ask"}'])
  }
})

test('[restored.4] what the bank does not know is sent; without an answer nothing is, and the outcome is unknown', async () => {
  assert.deepEqual(await askedFirst(NOT_FOUND), ['ask a', 'send a', 'a answer {"to":"send"}'])
  for (const answer of [TIMEOUT, UNREACHABLE]) {
    assert.deepEqual(await askedFirst(answer), ['ask a', `a send.unknown {"reason":"${answer.reason}"}`])
  }
})

test('[restored.4] without a restore, and once another attempt may have arrived, the bank is not asked first', async () => {
  const straight = ['send a', 'a answer {"to":"send"}']
  assert.deepEqual(await askedFirst(NOT_FOUND, {}, false), straight)
  assert.deepEqual(await askedFirst(NOT_FOUND, { attempts: 2 }), straight)
  assert.deepEqual(await askedFirst(NOT_FOUND, { attempts: 2, unsentAttempts: 1 }), ['ask a', ...straight])
})

/** A dispatcher where orders are made, of which so many may be sent, and what each of them was given to be claimed with. */
function making(orders: AnyOrders, wanted: number, given: Partial<DirectSending> = {}, bounds = BOUNDS) {
  const directSending = { wanted: () => wanted, onDue: () => undefined, onFailure: () => undefined, ...given }
  const sender = new Dispatcher(orders, clockAt(), async () => wanted, bounds, directSending)
  const claims: (number | undefined)[] = []
  const make = (id: string) =>
    sender.createAndSend(async (claim) => {
      claims.push(claim?.leaseMs)
      return { claimed: claim && orderOf(id) }
    })
  return { sender, make, claims }
}

test('[cash-out.work.7] what is claimed as it is made is sent without another claim, and nobody waits for that but a shutdown', async () => {
  const bank = Promise.withResolvers<void>()
  const { orders, done } = scripted({})
  const slow = {
    ...orders,
    send: async (...sent: Parameters<AnyOrders['send']>) => bank.promise.then(() => orders.send(...sent)),
  }
  const { sender, make, claims } = making(slow, Number.POSITIVE_INFINITY)
  await make('a')
  assert.deepEqual([claims, done], [[5_500], []])
  const drained = sender.drained()
  bank.resolve()
  await drained
  assert.deepEqual(done, ['send a', 'a answer {"to":"send"}'])
})

test('[cash-out.work.7] what came to be unclaimed is not sent', async () => {
  const { orders, done } = scripted({})
  const { sender } = making(orders, Number.POSITIVE_INFINITY)
  await sender.createAndSend(async () => ({ claimed: undefined }))
  await sender.drained()
  assert.deepEqual(done, [])
})

test('[cash-out.work.7] [partner.6] nothing is claimed as it is made where this process sends nothing, or the bank is only tried', async () => {
  for (const sends of [0, 1, 127]) {
    const { make, claims } = making(scripted({}).orders, sends)
    await make('a')
    assert.deepEqual(claims, [undefined])
  }
})

test('[cash-out.work.7] of those that are made 128 are worked on at once; one that could not be made leaves its place', async () => {
  const bank = Promise.withResolvers<void>()
  const { orders } = scripted({}, { send: async () => bank.promise.then(() => UNREACHABLE) })
  const { sender, make, claims } = making(orders, Number.POSITIVE_INFINITY)
  await assert.rejects(
    sender.createAndSend(() => Promise.reject(new Error('refused'))),
    { message: 'refused' },
  )
  for (let index = 0; index < 129; index++) await make(`order-${index}`)
  assert.deepEqual([claims.filter(Boolean).length, claims.at(-1)], [128, undefined])
  bank.resolve()
  await sender.drained()
  await make('later')
  assert.equal(claims.at(-1), 5_500)
})

test('[cash-out.work.7] while more is due than can be worked on, what is made waits for its turn', async () => {
  let due = 128
  const { orders } = scripted(
    {},
    { due: async () => Array.from({ length: due }, (_, index) => orderOf(`order-${index}`)) },
  )
  const { sender, make, claims } = making(orders, Number.POSITIVE_INFINITY)
  await sender.processNext()
  await make('new')
  due = 127
  await sender.processNext()
  await make('newer')
  assert.deepEqual(claims, [undefined, 5_500])
})

test('[CO-40] [cash-out.work.7] what took too long to be made is not sent: the time counts from before its claim', async () => {
  let now = 0
  const { orders, done } = scripted({})
  const { sender, make } = making(orders, Number.POSITIVE_INFINITY, {}, { ...BOUNDS, monotonic: () => now })
  const made = sender.createAndSend(async () => {
    now = 2_001
    return { claimed: orderOf('slow') }
  })
  await Promise.all([made, sender.drained()])
  await make('next')
  await sender.drained()
  assert.deepEqual(
    done.filter((line) => line.includes('slow')),
    ['slow send.not_sent {"attempt":0,"reason":"too late after the claim"}'],
  )
})

test('[cash-out.work.7] [logs.3] what fails while a new order is sent is told, each time, and the worker goes on with what is due', async () => {
  const told: string[] = []
  const { orders, done } = scripted({ old: 'ask' }, { send: () => Promise.reject(new Error('broken')) })
  const { sender, make } = making(orders, Number.POSITIVE_INFINITY, {
    onFailure: (reason) => told.push(String(reason)),
  })
  await make('a')
  await make('b')
  await sender.drained()
  assert.deepEqual(told, ['Error: broken', 'Error: broken'])
  assert.equal(await sender.processNext(), false)
  assert.deepEqual(calls(done), ['ask old'])
})

test('[cash-out.work.7] [PL-2] a shutdown waits for what is being made, and then for its sending', async () => {
  const commit = Promise.withResolvers<void>()
  const { orders, done } = scripted({})
  const { sender } = making(orders, Number.POSITIVE_INFINITY)
  const made = sender.createAndSend(async () => {
    await commit.promise
    return { claimed: orderOf('a') }
  })
  const drained = sender.drained().then(() => done.push('drained'))
  commit.resolve()
  await Promise.all([made, drained])
  assert.deepEqual(done, ['send a', 'a answer {"to":"send"}', 'drained'])
})

test('[cash-out.work.7] what is wanted at once of a new order when its call has ended wakes the worker', async () => {
  for (const [dueAt, times] of [
    [0, 1],
    [1, 0],
    [null, 0],
  ] as const) {
    let woken = 0
    const { orders } = scripted({}, { apply: async (order) => ({ ...order, dueAt }) })
    const { sender, make } = making(orders, Number.POSITIVE_INFINITY, { onDue: () => woken++ })
    await make('a')
    await sender.drained()
    assert.equal(woken, times)
  }
})
