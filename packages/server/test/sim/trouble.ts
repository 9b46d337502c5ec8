import type { Operation } from '../../src/engine/operation.ts'
import type { BankCharge, BankOrder } from './bank-book.ts'
import { forcedReturnEvent, paymentEvent, payoutReturnedEvent, type SentEvent, settledEvent } from './bank-events.ts'
import { orderAtBank } from './unsent.ts'
import type { World } from './world.ts'

/**
 * Trouble that chance alone would hardly ever make: each kind of it drives the rare rows of the tables. It goes through the
 * doors that there are: the bank does it, tells it, or falls silent.
 */

const MINUTE = 60_000

/** Makes trouble of one kind, where there is something to make it of. */
type Trouble = (world: World) => void

function pick<T>(world: World, from: readonly T[]): T | undefined {
  return from.length === 0 ? undefined : world.chance.pick(from)
}

function operationsOf({ tables }: World, kind: Operation['kind'], statuses?: readonly string[]): Operation[] {
  return [...tables.operations.values()].filter((one) => one.kind === kind && (statuses?.includes(one.status) ?? true))
}

function charges({ bank }: World): BankCharge[] {
  return [...bank.book.charges.values()]
}

function orders({ bank }: World, kind: BankOrder['kind']): BankOrder[] {
  return [...bank.book.orders.values()].filter((order) => order.kind === kind)
}

/** A movement that was booked is told for another operation. */
function tellElsewhere(world: World): void {
  const isIn = world.chance.bool(0.5)
  const movement = pick(
    world,
    [...world.tables.movements.values()].filter(({ direction }) => (direction === 'in') === isIn),
  )
  const target = pick(
    world,
    operationsOf(
      world,
      isIn
        ? world.chance.pick(['cash_in', 'cash_out'] as const)
        : world.chance.pick(['cash_out', 'refund_in'] as const),
    ),
  )
  if (!movement || !target || movement.operationId === target.id || target.detail.origin === 'PARTNER') return
  world.faults.note('movement of another')
  for (const id of [target.id, movement.operationId]) world.bank.book.lies.add(id)
  const { id, valueCents } = movement
  if (target.kind === 'cash_in') {
    payBy(world, target, id, valueCents)
    return
  }
  const order = orderAtBank(world, target)
  if (isIn) {
    const returned = { returnId: id, valueCents, occurredAt: world.now }
    order.returns.push(returned)
    world.tell(payoutReturnedEvent(order, returned, false))
    return
  }
  order.state = 'CONFIRMED'
  order.executions.unshift({ id, at: world.now })
  world.tell(settledEvent(order, { id, at: world.now }))
}

function payBy(world: World, { id }: Operation, endToEndId: string, valueCents: bigint): void {
  const charge = world.bank.book.charges.get(id)
  if (!charge) return
  const payment = { endToEndId, valueCents, occurredAt: world.now, returns: [] }
  charge.payments.push(payment)
  world.tell(paymentEvent(charge, payment))
}

/** A payment is dated long before its charge. */
function payBefore(world: World): void {
  const charge = pick(world, charges(world))
  if (!charge) return
  world.faults.note('event untimely')
  world.bank.book.lies.add(charge.id)
  charge.isCancelled = false
  world.bank.pay(charge, charge.valueCents, charge.acceptedAt - 20 * MINUTE)
}

/** Events tell of payments, more than are kept. */
function flood(world: World): void {
  const charge = pick(world, charges(world))
  if (!charge) return
  world.bank.book.lies.add(charge.id)
  for (let sent = 0; sent < 25; sent++) {
    world.faults.note('event lies')
    const payment = {
      endToEndId: world.bank.book.name('E'),
      valueCents: charge.valueCents,
      occurredAt: world.now,
      returns: [],
    }
    world.tell(paymentEvent(charge, payment))
  }
}

/** A return is told without its id, and perhaps with it afterwards. */
function tellUnnamed(world: World): void {
  world.faults.note('return without id')
  const order = pick(world, orders(world, world.chance.pick(['payout', 'refund'])))
  const charge = pick(world, charges(world))
  const returned = {
    returnId: `unnamed ${world.bank.book.name('U')}`,
    valueCents: order?.valueCents ?? 1n,
    occurredAt: world.now,
  }
  if (order?.kind === 'payout') {
    world.bank.book.lies.add(order.id)
    world.tell(payoutReturnedEvent(order, returned, true))
    return
  }
  const [payment] = charge?.payments ?? []
  if (order && world.chance.bool(0.5)) {
    world.bank.book.lies.add(order.id)
    world.tell({
      ...settledEvent(order, { id: returned.returnId, at: world.now }),
      isUnnamed: true,
    } as SentEvent)
    return
  }
  if (!charge || !payment) return
  world.bank.book.lies.add(charge.id)
  const news = {
    ...returned,
    valueCents: payment.valueCents,
    transactionId: charge.transactionId,
    origin: 'BANK' as const,
  }
  world.tell(forcedReturnEvent(charge, world.chance.pick([payment.endToEndId, null]), news, true))
  if (world.chance.bool(0.5)) world.bank.forceReturn(charge, payment, 1)
}

/** What was told is told once more with another amount. */
function restate(world: World): void {
  const order = pick(world, orders(world, world.chance.pick(['payout', 'refund'])))
  const [returned] = order?.returns ?? []
  if (order && returned) {
    misstates(world, order.id)
    order.returns[0] = { ...returned, valueCents: returned.valueCents + 1n }
    world.tell(payoutReturnedEvent(order, order.returns[0] ?? returned, false))
    return
  }
  const charge = pick(
    world,
    charges(world).filter(({ payments }) => payments.some(({ returns }) => returns.length > 0)),
  )
  const [back] = charge?.payments[0]?.returns ?? []
  if (!charge || !back) return
  misstates(world, charge.id)
  const other = { ...back, valueCents: back.valueCents + 1n }
  charge.payments[0]?.returns.splice(0, 1, other)
  world.tell(forcedReturnEvent(charge, charge.payments[0]?.endToEndId ?? null, other, false))
}

/** The bank tells another amount of an operation. */
function misstates({ bank: { book }, faults }: World, id: string): void {
  faults.note('answer lies')
  book.lies.add(id)
}

/** More comes back than left. */
function comeBackTwice(world: World): void {
  const order = pick(
    world,
    orders(world, 'payout').filter(({ executions }) => executions.length > 0),
  )
  if (!order) return
  world.faults.note('payout returned')
  world.bank.comeBack(order, 1)
  world.bank.comeBack(order, world.chance.pick([1, 2]))
}

/** An event tells a return by another payment’s id. */
function tellOtherPayment(world: World): void {
  const kind = world.chance.pick(['payout', 'refund'] as const)
  const order = pick(world, orders(world, kind))
  if (!order) return
  world.faults.note('event lies')
  world.bank.book.lies.add(order.id)
  const returned = { returnId: world.bank.book.name('D'), valueCents: order.valueCents, occurredAt: world.now }
  const event =
    kind === 'payout'
      ? payoutReturnedEvent(order, returned, false)
      : settledEvent(order, { id: returned.returnId, at: world.now })
  world.tell({ ...event, endToEndId: world.bank.book.name('E') } as SentEvent)
}

/** The bank carries out what nobody sent, or what was given back. */
function carryOutUnasked(world: World): void {
  const kind = world.chance.pick(['cash_out', 'refund_in'] as const)
  const statuses = world.chance.pick([
    ['RESERVED', 'PENDING'],
    ['RELEASED'],
    ['FAILED', 'RELEASED'],
    ['REVERSED', 'CONFIRMED'],
  ])
  const operation = pick(
    world,
    operationsOf(world, kind, statuses).filter(({ detail }) => detail.origin !== 'PARTNER'),
  )
  if (!operation) return
  world.faults.note('payout doubled')
  const order = orderAtBank(world, operation)
  if (order.state === 'PROCESSING') {
    world.bank.end(order, true)
    return
  }
  order.state = 'CONFIRMED'
  world.bank.execute(order)
}

/** The bank tells that what it does not have was carried out, by events alone. */
function tellUnsent(world: World): void {
  const operation = pick(world, operationsOf(world, world.chance.pick(['cash_out', 'refund_in'])))
  if (!operation || operation.detail.origin === 'PARTNER') return
  world.faults.note('event lies')
  world.bank.book.lies.add(operation.id)
  const order = {
    kind: operation.kind === 'cash_out' ? 'payout' : 'refund',
    id: operation.id,
    transactionId: operation.transactionId ?? world.bank.book.name('T'),
  } as BankOrder
  const news = {
    ...order,
    valueCents: operation.valueCents,
    paymentId: operation.endToEndId ?? '',
    executions: [],
    returns: [],
  }
  for (let times = 0; times < 2; times++)
    world.tell(settledEvent(news, { id: world.bank.book.name('E'), at: world.now }))
}

/** The bank takes a tariff for any payout. */
function deductTariff(world: World): void {
  const operation = pick(
    world,
    operationsOf(
      world,
      'cash_out',
      world.chance.pick([['RESERVED'], ['RELEASED'], ['REVERSED'], ['FAILED', 'DISPATCHED']]),
    ),
  )
  if (!operation) return
  world.faults.note('tariff taken')
  world.bank.deductTariff(operation.id)
}

/** For a while no call leaves, or none is answered. */
function cutOff(world: World): void {
  world.outage = { isSilent: world.chance.bool(0.6), until: world.now + world.chance.pick([20, 45, 45, 90]) * MINUTE }
  world.say(world.outage.isSilent ? 'the bank falls silent' : 'no call leaves for the bank')
}

/** The bank takes a payment back as if it were our refund, and does not say which it was. */
function returnLikeRefund(world: World): void {
  const refund = pick(
    world,
    operationsOf(world, 'refund_in', ['PENDING']).filter(({ detail }) => detail.origin !== 'PARTNER'),
  )
  const charge = world.bank.book.charges.get(String(refund?.detail.cashInId))
  const payment = charge?.payments.find(({ valueCents }) => valueCents >= (refund?.valueCents ?? 0n))
  if (!refund || !charge || !payment) return
  world.faults.note('payment taken back')
  for (const id of [refund.id, charge.id]) world.bank.book.lies.add(id)
  world.bank.forceReturnAs(charge, payment, refund.valueCents, charge.transactionId)
  if (world.chance.bool(0.7)) cutOff(world)
}

/** Of several payments one is taken back, and it is not told which. */
function returnAny(world: World): void {
  const charge =
    pick(
      world,
      charges(world).filter(({ payments }) => payments.length > 1),
    ) ?? pick(world, charges(world))
  if (!charge) return
  charge.isCancelled = false
  const payment = charge.payments.at(-1) ?? world.bank.pay(charge, charge.valueCents)
  if (!payment) return
  world.faults.note('payment taken back')
  world.bank.book.lies.add(charge.id)
  const returned = world.bank.forceReturn(charge, payment, 1)
  world.tell(forcedReturnEvent(charge, null, { ...returned, transactionId: charge.transactionId }, false))
}

const TROUBLES: readonly Trouble[] = [
  tellElsewhere,
  tellElsewhere,
  payBefore,
  flood,
  tellUnnamed,
  tellUnnamed,
  restate,
  comeBackTwice,
  tellOtherPayment,
  carryOutUnasked,
  carryOutUnasked,
  tellUnsent,
  deductTariff,
  cutOff,
  returnLikeRefund,
  returnAny,
]

/** Makes any trouble. */
export function makeTrouble(world: World): void {
  world.chance.pick(TROUBLES)(world)
}
