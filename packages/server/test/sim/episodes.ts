import type { Operation } from '../../src/engine/operation.ts'
import type { BankCharge, BankOrder } from './bank-book.ts'
import {
  changedEvent,
  failedEvent,
  forcedReturnEvent,
  payoutReturnedEvent,
  type SentEvent,
  settledEvent,
} from './bank-events.ts'
import type { AskLine, CallLine, Line } from './script.ts'
import { orderAtBank } from './unsent.ts'
import type { World } from './world.ts'

/**
 * Troubles that last: for a while the calls about an operation go as it is written, and the bank's news go on meanwhile. Each
 * leads to situations that need several things one after the other; which of them, and when, the seed decides.
 */

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** Makes a trouble that lasts, where there is something to make it of. */
type Episode = (world: World) => void

const KINDS = { charge: 'cash_in', payout: 'cash_out', refund: 'refund_in' } as const
type Subject = keyof typeof KINDS
const ORDERS = ['payout', 'refund'] as const

function pick<T>(world: World, from: readonly T[]): T | undefined {
  return from.length === 0 ? undefined : world.chance.pick(from)
}

function ours({ tables }: World, subject: Subject, is: (operation: Operation) => boolean = () => true): Operation[] {
  return [...tables.operations.values()].filter(
    (one) => one.kind === KINDS[subject] && one.detail.origin !== 'PARTNER' && is(one),
  )
}

function isUnder({ status }: Operation): boolean {
  return ['RESERVED', 'DISPATCHED', 'PENDING', 'PROVIDER_RESULT_UNKNOWN'].includes(status)
}

/** Something happened, the bank says again and again, and not what: it is asked. */
function nudge(
  world: World,
  subject: Subject,
  { id, transactionId }: Pick<Operation, 'id' | 'transactionId'>,
  forMs: number,
): void {
  const { agenda, bank, chance } = world
  for (let at = world.now; at < world.now + forMs; at += MINUTE / 2 + chance.below(MINUTE)) {
    agenda.at(at, () => {
      const named = { id, transactionId: transactionId ?? bank.book.name('T') }
      world.tell({ ...changedEvent(subject, named, false), what: bank.book.name('W') })
    })
  }
}

/** Nobody answers; then the bank says anything. */
function silence({ chance }: World, from: number): Line[] {
  const silentUntil = from + chance.pick([4, 17, 19, 19, 21, 35]) * MINUTE
  const call = chance.pick<CallLine>(['refuses', 'refuses', 'refuses falsely', 'contradicts', 'accepts', 'unreachable'])
  const ask = chance.pick<AskLine>([
    'denies',
    'fails',
    'fails',
    'contradicts',
    'contradicts',
    'renames',
    'has it',
    'truth',
    'silent',
  ])
  return [
    { until: silentUntil, call: chance.pick<CallLine>(['silent', 'silent', 'unreachable']), ask: 'silent' },
    { until: silentUntil + 15 * MINUTE, call, ask },
  ]
}

/** No byte leaves, and nobody answers what became of it; then it is refused, or leaves at last. */
function absence({ chance }: World, from: number): Line[] {
  const untilAt = from + chance.pick([2, 5, 12, 18, 20, 22, 25, 34, 40]) * MINUTE
  const ask = chance.bool(0.2) ? 'denies' : 'silent'
  const call = chance.pick<CallLine>(['refuses', 'refuses', 'accepts', 'contradicts'])
  return [
    { until: untilAt, call: 'unreachable', ask },
    { until: untilAt + 20 * MINUTE, call, ask },
  ]
}

/** The bank has it, and tells no outcome for more than a day. */
function delay({ chance }: World, from: number): Line[] {
  const overAt = from + DAY + chance.pick([5, 20, 60]) * MINUTE
  const ask = chance.pick<AskLine>(['contradicts', 'contradicts', 'fails', 'truth', 'renames'])
  return [
    { until: overAt, call: 'accepts', ask: 'has it' },
    { until: overAt + 20 * MINUTE, call: 'accepts', ask },
    { until: overAt + 80 * MINUTE, call: 'accepts', ask: 'has it' },
  ]
}

/** It goes out by another amount. */
function anotherAmount(_: World, from: number): Line[] {
  return [{ until: from + 5 * MINUTE, call: 'another amount', ask: 'truth' }]
}

/** A process stands still with the answer in its hand, and others find out what became of it. */
function standing({ chance }: World, from: number): Line[] {
  const standsMs = chance.pick([2, 5, 20, 40]) * MINUTE
  const call = chance.pick<CallLine>(['refuses falsely', 'refuses falsely', 'contradicts', 'accepts'])
  return [
    { until: from + 1, call, ask: 'truth', standsMs },
    { until: from + 60 * MINUTE, ask: 'truth', call: 'accepts' },
  ]
}

type Lines = (world: World, from: number) => Line[]

/** What may become of an operation from the first call about it on, each so often. */
const FATES: readonly (readonly Lines[])[] = [
  [silence],
  [silence],
  [absence],
  [absence],
  [delay],
  [standing],
  [anotherAmount],
  [silence, absence, standing, anotherAmount],
]

/** In a calm world most operations have the same kind of fate, which little else disturbs. */
export function beCalm(world: World): void {
  const fates = world.chance.pick(FATES)
  if (fates[0] === delay)
    world.agenda.at(world.now + (30 + world.chance.below(60)) * MINUTE, () => standStill(world, DAY + 2 * MINUTE))
  world.script.writeEach((kind, id, nowMs) => {
    const isOrder = kind === 'payout' || kind === 'refund'
    const isFated = world.chance.bool(isOrder ? 0.8 : 0.3) && (isOrder || (kind === 'charge' && fates[0] === silence))
    const operation = world.tables.operations.get(id)
    if (!isFated || !operation) return []
    const lines = world.chance.pick(fates)(world, nowMs)
    nudge(world, kind as Subject, operation, 45 * MINUTE)
    return lines
  })
}

/** Nobody answers about an operation that is under way, or one that is to come. */
function fallSilent(world: World): void {
  const { chance, now } = world
  const subject = chance.pick(['charge', 'payout', 'payout', 'refund', 'refund'] as const)
  const target = pick(world, ours(world, subject, isUnder))
  if (target && chance.bool(0.5)) {
    world.script.write(target.id, silence(world, now))
    nudge(world, subject, target, 40 * MINUTE)
    return
  }
  world.script.writeNext(subject, (from) => silence(world, from))
}

/** No byte of the next order leaves. */
function neverLeave(world: World): void {
  const kind = world.chance.pick(ORDERS)
  world.script.writeNext(kind, (from) => {
    for (const operation of ours(world, kind, ({ createdAt }) => createdAt > from - 5 * MINUTE))
      nudge(world, kind, operation, 45 * MINUTE)
    return absence(world, from)
  })
}

/** Nothing is sent for a while, and the bank tells of what nobody sent. */
function suspendAndTell(world: World): void {
  const { agenda } = world
  // What is asked for meanwhile is not claimed before nothing may be sent.
  standStill(world, 3 * MINUTE)
  agenda.at(world.now + 3 * MINUTE - 1_000, () => {
    world.faults.note('suspended')
    world.setSwitch(false)
    tellWhileSuspended(world)
  })
}

function tellWhileSuspended(world: World): void {
  const { chance, agenda, bank } = world
  const forMs = chance.pick([10, 20, 30, 40]) * MINUTE
  agenda.at(world.now + forMs, () => world.setSwitch(true))
  for (const subject of ORDERS) {
    for (const waiting of ours(world, subject, (one) => isUnder(one) && one.facts.attempts === undefined)) {
      const ask = chance.pick<AskLine>(['silent', 'silent', 'truth'])
      world.script.write(waiting.id, [{ until: world.now + forMs, ask }])
      nudge(world, subject, waiting, forMs)
      const newsAt = world.now + chance.below(forMs)
      agenda.at(newsAt, () => tellOfUnsent(world, subject, waiting))
      if (chance.bool(0.3))
        agenda.at(newsAt + MINUTE, () =>
          world.tell({ ...failedOf(world, subject, waiting), what: bank.book.name('W') }),
        )
    }
  }
}

function failedOf(world: World, subject: (typeof ORDERS)[number], { id, transactionId }: Operation): SentEvent {
  world.faults.note('event failure')
  world.bank.book.lies.add(id)
  return failedEvent(subject, { id, transactionId: transactionId ?? world.bank.book.name('T') }, world.now)
}

/** An order of which nobody knows: carried out, or only told. */
function tellOfUnsent(world: World, subject: (typeof ORDERS)[number], operation: Operation): void {
  const { bank, chance, faults } = world
  const isDone = chance.bool(0.4)
  const times = chance.pick([1, 2, 3])
  bank.book.lies.add(operation.id)
  if (isDone) {
    faults.note('payout doubled')
    bank.end(orderAtBank(world, operation), true)
    return
  }
  const news = {
    kind: subject,
    id: operation.id,
    transactionId: bank.book.name('T'),
    valueCents: operation.valueCents,
    paymentId: operation.endToEndId ?? '',
  }
  for (let time = 0; time < times; time++) {
    faults.note('event lies')
    world.tell(settledEvent(news as BankOrder, { id: bank.book.name('E'), at: world.now }))
  }
}

/** All processes stand still, while the bank goes on. */
export function standStill(world: World, forMs: number): void {
  for (const { name } of world.processes) {
    world.faults.note('pause')
    world.pausedUntil.set(name, world.now + forMs)
  }
  world.say('all processes stand still')
}

/** For a day: once in a run, and not in each, as whatever else was to be in that day is not. */
function sleepForADay(world: World): void {
  const hasPassed = world.now - world.begunAt > DAY
  if (!hasPassed && world.chance.bool(0.3)) standStill(world, DAY + world.chance.below(30 * MINUTE))
}

/** The bank takes the next order, and tells no outcome for days; perhaps something else of it meanwhile. */
function keepForADay(world: World): void {
  if (world.now - world.begunAt > DAY || world.chance.bool(0.5)) return
  world.script.writeNext(world.chance.pick(ORDERS), (from) => delay(world, from))
  world.agenda.at(world.now + 10 * MINUTE, () => standStill(world, DAY + 2 * MINUTE))
}

/** The bank carries an order out by another amount: one that is to come, or one that was given back. */
function payAnotherAmount(world: World): void {
  const { bank, chance, faults, script } = world
  const kind = chance.pick(ORDERS)
  const given = pick(
    world,
    ours(
      world,
      kind,
      ({ id, status }) => ['RELEASED', 'FAILED', 'RESERVED', 'PENDING'].includes(status) && !bank.book.orders.has(id),
    ),
  )
  if (!given || chance.bool(0.5)) {
    script.writeNext(kind, (from) => anotherAmount(world, from))
    return
  }
  faults.note('payout of another amount')
  bank.end(orderAtBank(world, given, 1n + BigInt(chance.below(300))), true)
  nudge(world, kind, given, 10 * MINUTE)
}

/** More comes back at once than left. */
function comeBackLarger(world: World): void {
  const { bank, chance, faults } = world
  const order = pick(
    world,
    [...bank.book.orders.values()].filter(
      ({ kind, state, returns }) => kind === 'payout' && state === 'CONFIRMED' && returns.length === 0,
    ),
  )
  const [execution] = order?.executions ?? []
  if (!order || !execution) return
  faults.note('payout returned')
  bank.book.lies.add(order.id)
  const returnId = bank.bringBack(order, order.valueCents + BigInt(1 + chance.below(100)), execution.id)
  const returned = order.returns.find((one) => one.returnId === returnId)
  if (returned) world.tell(payoutReturnedEvent(order, returned, false))
  nudge(world, 'payout', order, 10 * MINUTE)
}

/** A process stands still with the answer to the next order in its hand. */
function standStillWithAnswer(world: World): void {
  world.script.writeNext(world.chance.pick(ORDERS), (from) => standing(world, from))
}

/** About what has ended the bank is asked once more, and contradicts itself. */
function contradictEnded(world: World): void {
  const { chance, script, now } = world
  const subject = chance.pick(ORDERS)
  const statuses = chance.pick([['RELEASED'], ['FAILED'], ['REVERSED'], ['CONFIRMED']])
  const operation = pick(
    world,
    ours(world, subject, ({ status }) => statuses.includes(status)),
  )
  if (!operation) return
  script.write(operation.id, [
    {
      until: now + 15 * MINUTE,
      ask: chance.pick<AskLine>(['contradicts', 'contradicts', 'renames', 'denies', 'fails', 'has it']),
    },
  ])
  nudge(world, subject, operation, 8 * MINUTE)
}

/** A movement that was booked is told for an operation that was given back, or came back. */
function tellElsewhereLate(world: World): void {
  const { bank, chance, faults, tables } = world
  const statuses = chance.pick([['RELEASED'], ['REVERSED'], ['FAILED'], ['RESERVED'], ['PENDING'], ['CONFIRMED']])
  const kind = chance.pick(ORDERS)
  const target = pick(
    world,
    ours(world, kind, ({ status }) => statuses.includes(status)),
  )
  const isBack = kind === 'payout' && chance.bool(0.4)
  const movement = pick(
    world,
    [...tables.movements.values()].filter(
      ({ direction, operationId }) => (direction === 'in') === isBack && operationId !== target?.id,
    ),
  )
  if (!target || !movement) return
  faults.note('movement of another')
  for (const id of [target.id, movement.operationId]) bank.book.lies.add(id)
  const order = orderAtBank(world, target)
  const { id, valueCents } = movement
  order.state = 'CONFIRMED'
  if (isBack) {
    const returned = { returnId: id, valueCents, occurredAt: world.now }
    order.returns.push(returned)
    world.tell(payoutReturnedEvent(order, returned, false))
  } else {
    order.executions.unshift({ id, at: world.now })
    world.tell(settledEvent(order, { id, at: world.now }))
  }
  nudge(world, kind, target, 10 * MINUTE)
}

/** A return that was booked on another operation is told of a charge. */
function returnElsewhere(world: World): void {
  const { bank, faults, tables } = world
  const charge = pick(
    world,
    [...bank.book.charges.values()].filter(({ payments }) => payments.length > 0),
  )
  const movement = pick(
    world,
    [...tables.movements.values()].filter(
      ({ direction, operationId }) => direction === 'out' && operationId !== charge?.id,
    ),
  )
  const payment = charge && pick(world, charge.payments)
  if (!charge || !payment || !movement) return
  const { detail } = tables.operations.get(movement.operationId) ?? {}
  if (detail?.cashInId === charge.id) return
  faults.note('movement of another')
  for (const id of [charge.id, movement.operationId]) bank.book.lies.add(id)
  const returned = {
    returnId: movement.id,
    transactionId: bank.book.name('R'),
    valueCents: movement.valueCents,
    occurredAt: world.now,
    origin: 'BANK' as const,
  }
  payment.returns.push(returned)
  world.tell(forcedReturnEvent(charge, payment.endToEndId, returned, false))
  nudge(world, 'charge', charge, 10 * MINUTE)
}

/** A payer pays another charge than the one meant, by the amount of that. */
function payTheOtherCharge(world: World): void {
  const { bank, chance, faults, script } = world
  const unpaid = ours(
    world,
    'charge',
    ({ id, facts }) => facts.payments === undefined && (bank.book.charges.get(id)?.payments.length ?? 0) === 0,
  )
  const meant = pick(world, unpaid)
  const paid = pick(
    world,
    [...bank.book.charges.values()].filter(({ id }) => id !== meant?.id),
  )
  if (!meant || !paid) return
  faults.note('payment of another amount')
  paid.isCancelled = false
  const ahead = chance.bool(0.2) ? 20 * MINUTE : 0
  if (ahead > 0) bank.book.lies.add(paid.id)
  bank.pay(paid, meant.valueCents, ahead > 0 ? paid.acceptedAt - ahead : world.now)
  nudge(world, 'charge', paid, 5 * MINUTE)
  const meantAtBank: BankCharge | undefined = bank.book.charges.get(meant.id)
  if (meantAtBank) meantAtBank.isMeant = true
  if (chance.bool(0.5)) script.write(meant.id, [{ until: world.now + 40 * MINUTE, call: 'silent', ask: 'silent' }])
}

/** The bank is heard again about a return of its own making. */
function nudgeReturns(world: World): void {
  const made = pick(
    world,
    [...world.tables.operations.values()].filter(
      ({ kind, detail }) => kind === 'refund_in' && detail.origin === 'PARTNER',
    ),
  )
  if (made) nudge(world, 'refund', made, 3 * MINUTE)
}

/** A refund goes back, and the bank tells it without a return id. */
function confirmUnnamed(world: World): void {
  const { bank, faults } = world
  const refund = pick(
    world,
    ours(world, 'refund', ({ status }) => status === 'PENDING'),
  )
  if (!refund) return
  faults.note('return without id')
  const order = orderAtBank(world, refund)
  if (order.state !== 'PROCESSING') return
  const returnId = `unnamed ${bank.book.name('U')}`
  world.tell({ ...settledEvent(order, { id: returnId, at: world.now }), isUnnamed: true } as SentEvent)
}

const EPISODES: readonly Episode[] = [
  fallSilent,
  fallSilent,
  fallSilent,
  neverLeave,
  neverLeave,
  neverLeave,
  suspendAndTell,
  keepForADay,
  sleepForADay,
  payAnotherAmount,
  payAnotherAmount,
  comeBackLarger,
  standStillWithAnswer,
  standStillWithAnswer,
  contradictEnded,
  contradictEnded,
  tellElsewhereLate,
  tellElsewhereLate,
  returnElsewhere,
  payTheOtherCharge,
  payTheOtherCharge,
  payTheOtherCharge,
  nudgeReturns,
  confirmUnnamed,
]

/** Makes any trouble that lasts. */
export function beginEpisode(world: World): void {
  const episode = world.chance.pick(EPISODES)
  world.say(`an episode: ${episode.name}`)
  episode(world)
}
