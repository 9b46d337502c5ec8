import type { BankCharge, PaidIn } from './bank-book.ts'
import { forcedReturnEvent, paymentEvent } from './bank-events.ts'
import type { Scene } from './scenes.ts'
import type { Stage } from './stage.ts'

/** Scenes of charges. */

interface Credited {
  readonly id: string
  readonly charge: BankCharge
  /** Of another amount than the charge. An operator wrote it off, so that nothing pays the charge yet. */
  readonly payment: PaidIn
}

/**
 * A charge that waits for its payment again, after a contradiction that an operator explained.
 * @param ask what the bank answers about it from then on: `silent`, and its result is unknown
 */
async function writtenOff(stage: Stage, ask: 'truth' | 'silent', afterMinutes = 1): Promise<Credited> {
  const { bank } = stage.world
  const id = await stage.charge({ call: 'silent', ask: 'contradicts' })
  const { valueCents, expiresAt } = stage.operation(id)
  const charge = bank.acceptCharge(id, { valueCents, expiresAt: expiresAt ?? 0 })
  await stage.pass(1)
  stage.write(id, { ask: 'truth' })
  const payment = bank.pay(charge, valueCents + 500n) as PaidIn
  await stage.settle()
  await stage.decide(id, 'payment_in_suspense', 'write_off')
  await stage.pass(afterMinutes)
  stage.write(id, { ask })
  await stage.decide(id, 'charge_unclear', 'ask_again')
  return { id, charge, payment }
}

/** Of the payment that it told the bank knows nothing any more. */
function forget(stage: Stage, { id, charge }: Credited): void {
  stage.world.bank.book.lies.add(id)
  charge.payments.splice(0)
}

/** The bank tells a return of this payment. */
function tellReturn(
  stage: Stage,
  { charge, payment }: Credited,
  reported: { readonly returnId: string; readonly valueCents: bigint },
  isUnnamed = false,
): Promise<void> {
  const { bank, now } = stage.world
  bank.book.lies.add(charge.id)
  const returned = { ...reported, transactionId: charge.transactionId, occurredAt: now, origin: 'BANK' as const }
  return stage.tell(forcedReturnEvent(charge, payment.endToEndId, returned, isUnnamed))
}

/** The bank tells a return that went out as a refund of another charge, and an operator closes that. */
async function returnElsewhere(stage: Stage, credited: Credited): Promise<void> {
  const refund = await stage.refund(await stage.paid())
  const order = stage.world.bank.book.orders.get(refund)
  if (order) stage.world.bank.end(order, true)
  await stage.settle()
  await tellReturn(stage, credited, { returnId: order?.executions[0]?.id ?? '', valueCents: 400n })
  await stage.decide(credited.id, 'movement_elsewhere', 'close')
}

/** All that a return can be that is told before the charge has ended; and its payment is restated. */
async function returns(stage: Stage, credited: Credited): Promise<void> {
  const { id, charge, payment } = credited
  const { bank } = stage.world
  await tellReturn(stage, credited, { returnId: 'unnamed 1', valueCents: 300n }, true)
  await tellReturn(stage, credited, { returnId: 'unnamed 2', valueCents: 300n }, true)
  const named = bank.forceReturnAs(charge, payment, 300n, charge.transactionId)
  await stage.settle()
  await stage.decide(id, 'debit_in_suspense', 'write_off')
  await tellReturn(stage, credited, { ...named, valueCents: 301n })
  const restated = paymentEvent(charge, { ...payment, valueCents: payment.valueCents + 1n })
  await stage.tell({ ...restated, what: 'otherwise' })
  bank.forceReturnAs(charge, payment, 200n, charge.transactionId)
  await stage.settle()
  await stage.decide(id, 'debit_in_suspense', 'write_off')
  await returnElsewhere(stage, credited)
}

/** A charge whose time is over, unpaid. */
async function expired(stage: Stage): Promise<[id: string, charge: BankCharge]> {
  const id = await stage.charge({ minutes: 1 })
  await stage.pass(5)
  const charge = stage.atBank(id)
  charge.isCancelled = false
  return [id, charge]
}

/** A case about a payment of this charge is decided: it was meant for another one. */
async function attribute(stage: Stage, id: string, kind: string): Promise<void> {
  await stage.charge()
  await stage.decide(id, kind, 'book')
}

const LACKS = ['cancel-charge'] as const

const RETURNS = [
  'cash-in.paid.3 STATE partner.confirmed [payment restated] → STATE',
  'cash-in.refunds.6 STATE return.told [return restated] → STATE',
  'cash-in.refunds.11 STATE return.told [movement belongs to another operation] → STATE',
  'cash-in.refunds.10 STATE return.told [return has no id, return may be known] → STATE',
  'cash-in.refunds.10 STATE return.told [return has no id] → STATE',
  'cash-in.refunds.9 STATE return.told [payment cannot be identified] → STATE',
  'cash-in.returns.5 STATE return.known [money of it is held] → STATE',
  'cash-in.cases.9 STATE operator.written_off [money that left is in suspense, not its movement is known] → STATE',
]

function returnsIn(state: string): string[] {
  return RETURNS.map((name) => `cash_in ${name.replaceAll('STATE', state)}`)
}

const OF_CANCELLING =
  'charge.not_found [its cancellation is requested, absence is proven, not the bank accepted it, not its time is over]'

/** A charge that no bank has, and that waits for its creation, in doubt about nothing. */
async function unmade(stage: Stage): Promise<string> {
  const id = await stage.charge({ call: 'silent', ask: 'contradicts' })
  const { valueCents, expiresAt } = stage.operation(id)
  stage.world.bank.acceptCharge(id, { valueCents, expiresAt: expiresAt ?? 0 })
  await stage.pass(1)
  stage.world.bank.book.lies.add(id)
  stage.world.bank.book.charges.delete(id)
  stage.write(id, { call: 'unreachable', ask: 'denies' })
  await stage.decide(id, 'charge_unclear', 'ask_again')
  return id
}

/** See above. */
export const SCENES_OF_CHARGES: readonly Scene[] = [
  {
    name: 'a charge is cancelled that the bank has, and one that was never sent to it',
    reaches: [
      'cash_in cash-in.cancel.1 PENDING cancel.requested [not its time is over] → PENDING',
      'cash_in cash-in.cancel.2 PENDING cancel.requested [no byte of it was sent, not its time is over] → FAILED',
    ],
    play: async (stage) => {
      await stage.cancel(await stage.charge())
      await stage.cancel(await stage.charge({ call: 'unreachable' }))
    },
  },
  {
    name: 'a charge is cancelled that the bank never got, while its answer is missing',
    reaches: [
      'cash_in cash-in.cancel.1 PROVIDER_RESULT_UNKNOWN cancel.requested [not its time is over] → PROVIDER_RESULT_UNKNOWN',
      `cash_in cash-in.cancel.6 PROVIDER_RESULT_UNKNOWN ${OF_CANCELLING} → FAILED`,
    ],
    play: async (stage) => {
      const id = await stage.charge({ call: 'silent', ask: 'silent' })
      await stage.cancel(id)
      stage.write(id, { ask: 'truth' })
      await stage.pass(8)
    },
  },
  {
    name: 'a charge is cancelled that the bank never got, in doubt',
    reaches: [
      'cash_in cash-in.cancel.1 RECONCILIATION_REQUIRED:no_answer cancel.requested [not its time is over] → RECONCILIATION_REQUIRED',
      `cash_in cash-in.cancel.6 RECONCILIATION_REQUIRED:no_answer ${OF_CANCELLING} → FAILED`,
    ],
    play: async (stage) => {
      const id = await stage.charge({ call: 'silent', ask: 'silent' })
      await stage.pass(17)
      await stage.cancel(id)
      stage.write(id, { ask: 'truth' })
      await stage.pass(8)
    },
  },
  {
    name: 'a charge is cancelled that waits for its creation',
    reaches: [`cash_in cash-in.cancel.6 PENDING ${OF_CANCELLING} → FAILED`],
    play: async (stage) => {
      const id = await unmade(stage)
      await stage.cancel(id)
      await stage.pass(8)
    },
  },
  {
    name: 'returns of a charge that waits for its payment',
    reaches: returnsIn('PENDING'),
    lacks: LACKS,
    play: async (stage) => returns(stage, await writtenOff(stage, 'truth')),
  },
  {
    name: 'returns of a charge about which nobody answers',
    reaches: returnsIn('PROVIDER_RESULT_UNKNOWN'),
    lacks: LACKS,
    play: async (stage) => returns(stage, await writtenOff(stage, 'silent')),
  },
  {
    name: 'returns of a charge that has expired',
    reaches: [
      'cash_in cash-in.cases.9 EXPIRED operator.written_off [money that left is in suspense, not its movement is known] → EXPIRED',
    ],
    lacks: LACKS,
    play: async (stage) => {
      const credited = await writtenOff(stage, 'truth')
      forget(stage, credited)
      await stage.pass(60)
      await returnElsewhere(stage, credited)
      stage.world.bank.forceReturnAs(credited.charge, credited.payment, 200n, credited.charge.transactionId)
      await stage.settle()
      await stage.decide(credited.id, 'debit_in_suspense', 'write_off')
    },
  },
  {
    name: 'a return of another operation is told of a charge that has failed',
    reaches: ['cash_in cash-in.refunds.11 FAILED return.told [movement belongs to another operation] → FAILED'],
    lacks: LACKS,
    play: async (stage) => {
      const credited = await writtenOff(stage, 'truth')
      stage.write(credited.id, { ask: 'fails' })
      await stage.nudge(credited.id)
      await returnElsewhere(stage, credited)
    },
  },
  {
    name: 'while a charge is in doubt the bank tells that a return of it is not the refund under way',
    reaches: ['cash_in cash-in.returns.3 RECONCILIATION_REQUIRED:* refund.answered → RECONCILIATION_REQUIRED'],
    play: async (stage) => {
      const id = await stage.paid()
      await stage.refund(id, { call: 'accepts', ask: 'has it' })
      const charge = stage.atBank(id)
      const [payment] = charge.payments
      if (payment) stage.world.bank.forceReturnAs(charge, payment, 400n, charge.transactionId)
      stage.write(id, { ask: 'fails' })
      await stage.nudge(id)
      await stage.pass(3)
    },
  },
  {
    name: 'after a doubt the bank names another reference, and lets the charge end',
    reaches: [
      'cash_in cash-in.states.16 RECONCILIATION_REQUIRED:no_answer charge.accepted [reference differs] → RECONCILIATION_REQUIRED',
      'cash_in cash-in.states.11 RECONCILIATION_REQUIRED:no_answer clock.expired → EXPIRED',
    ],
    lacks: LACKS,
    play: async (stage) => {
      const credited = await writtenOff(stage, 'silent')
      forget(stage, credited)
      await stage.pass(58)
      stage.write(credited.id, { ask: 'renames' })
      await stage.nudge(credited.id)
    },
  },
  {
    name: 'the bank names another reference, after its answer was missing',
    reaches: [
      'cash_in cash-in.states.6 PROVIDER_RESULT_UNKNOWN charge.accepted [reference differs] → RECONCILIATION_REQUIRED',
    ],
    lacks: LACKS,
    play: async (stage) => {
      const credited = await writtenOff(stage, 'silent')
      forget(stage, credited)
      stage.write(credited.id, { ask: 'renames' })
      await stage.nudge(credited.id)
    },
  },
  {
    name: 'the bank denies a charge that it took, after its time, when its answer is missing',
    reaches: [
      'cash_in cash-in.states.11 PROVIDER_RESULT_UNKNOWN charge.not_found [its time is over, absence is proven] → EXPIRED',
    ],
    lacks: LACKS,
    play: async (stage) => {
      const { id } = await writtenOff(stage, 'silent', 54)
      await stage.pass(5)
      stage.write(id, { ask: 'denies' })
      await stage.pass(3, id)
    },
  },
  {
    name: 'the bank denies a charge that it took, after its time, in doubt',
    reaches: [
      'cash_in cash-in.states.11 RECONCILIATION_REQUIRED:no_answer charge.not_found [its time is over, absence is proven] → EXPIRED',
    ],
    lacks: LACKS,
    play: async (stage) => {
      const { id } = await writtenOff(stage, 'silent')
      await stage.pass(60)
      stage.write(id, { ask: 'denies' })
      await stage.pass(3, id)
    },
  },
  {
    name: 'a payment in an answer that contradicts a charge which has expired, and was meant for another one',
    reaches: [
      'cash_in cash-in.states.12 EXPIRED partner.confirmed [answer contradicts] → RECONCILIATION_REQUIRED',
      'cash_in payment_in_suspense book',
    ],
    play: async (stage) => {
      const [id, charge] = await expired(stage)
      stage.write(id, { ask: 'contradicts' })
      stage.world.bank.pay(charge, charge.valueCents, charge.expiresAt)
      await stage.settle()
      await attribute(stage, id, 'payment_in_suspense')
    },
  },
  {
    name: 'a payment after the end of a charge was meant for another one',
    reaches: ['cash_in payment_in_suspense book'],
    play: async (stage) => {
      const [id, charge] = await expired(stage)
      stage.world.bank.pay(charge, charge.valueCents)
      await stage.settle()
      await attribute(stage, id, 'payment_in_suspense')
    },
  },
  {
    name: 'a payment that is older than its charge was meant for another one',
    reaches: ['cash_in payment_in_suspense book'],
    play: async (stage) => {
      const id = await stage.charge()
      const charge = stage.atBank(id)
      stage.world.bank.pay(charge, charge.valueCents, charge.acceptedAt - 20 * 60_000)
      await stage.settle()
      await attribute(stage, id, 'payment_in_suspense')
    },
  },
]
