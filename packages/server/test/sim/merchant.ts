import { isCashIn } from '../../src/cash-in/index.ts'
import type { CashOut } from '../../src/cash-out/cash-out.ts'
import type { Operation } from '../../src/engine/operation.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** The merchant, who asks for things through the endpoints' own handlers, and operators who let payouts go or not. */

/** What the merchant asks for. */
export type Asked = {
  readonly at: 'cash-in' | 'cancel' | 'cash-out' | 'refund'
  readonly body: object
  readonly id?: string
  readonly key: string | null
}

/** A merchant. */
export class Merchant {
  readonly #world: World
  readonly #asked: Asked[] = []
  /** What the merchant was answered that there is. */
  readonly answered = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  /** Asks for anything. */
  ask(process: SimulatedProcess): Promise<unknown> {
    const { chance, faults } = this.#world
    const [repeated] = this.#asked.length > 0 && faults.hit('request repeated', 0.2) ? [chance.pick(this.#asked)] : []
    if (repeated) return this.send(process, repeated)
    const asked = chance.pick([
      () => this.#cashIn(),
      () => this.#cashOut(),
      () => this.#cashOut(),
      () => this.#refund(),
      ...(this.#world.hasCancellations ? [() => this.#cancel()] : []),
    ])()
    if (!asked) return this.send(process, this.#keep(this.#cashIn()))
    return this.send(process, this.#keep(asked))
  }

  #keep(asked: Asked): Asked {
    this.#asked.push(asked)
    return asked
  }

  #key(): string | null {
    return this.#world.chance.bool(0.5) ? this.#world.name('key') : null
  }

  #cashIn(): Asked {
    const { chance, name } = { chance: this.#world.chance, name: this.#world.name('in') }
    const transaction = {
      value: (100 + chance.below(5_000)) / 100,
      externalId: name,
      expirationTime: chance.pick([60, 600, 1_800, 3_600]),
    }
    return { at: 'cash-in', body: { transaction }, key: this.#key() }
  }

  #cashOut(): Asked | undefined {
    const { chance, tables } = this.#world
    const available = Number(tables.balance('available'))
    if (available < 200) return undefined
    const value = (1 + chance.below(Math.min(available, 3_000))) / 100
    const recipient = { pixKey: 'ana@example.com', pixKeyType: 'EMAIL' }
    return {
      at: 'cash-out',
      body: { transaction: { value, externalId: this.#world.name('out') }, recipient },
      key: this.#key(),
    }
  }

  #cancel(): Asked | undefined {
    const { chance, tables } = this.#world
    const charges = [...tables.operations.values()].filter(isCashIn)
    return charges.length === 0 ? undefined : { at: 'cancel', body: {}, id: chance.pick(charges).id, key: null }
  }

  #refund(): Asked | undefined {
    const { chance, tables } = this.#world
    const paid = [...tables.operations.values()].filter(
      (operation) => isCashIn(operation) && operation.status === 'PAID',
    )
    if (paid.length === 0) return undefined
    const cashIn = chance.pick(paid)
    const cents = Number(cashIn.valueCents)
    const refundValue = chance.pick([cents, Math.max(1, Math.floor(cents / 2)), 1 + chance.below(cents)]) / 100
    return {
      at: 'refund',
      body: { refundValue, externalId: this.#world.name('back') },
      id: cashIn.id,
      key: this.#key(),
    }
  }

  /** Asks for this. @returns the id of what there is then */
  async send(process: SimulatedProcess, { at, body, id, key }: Asked): Promise<string> {
    const headers = key === null ? {} : { 'idempotency-key': key }
    const context = {
      headers,
      caller: { credential: 'api-key', id: 'merchant' },
      correlationId: 'c',
      remoteAddress: '192.0.2.1',
      live: { hasLapsed: () => false },
    }
    this.#world.say(`the merchant asks ${process.name} for ${at} ${JSON.stringify(body)}`)
    const input = { body, context, params: { id }, query: {} } as never
    const reply = await {
      'cash-in': () => process.cashIns.handlers.createCashIn(input),
      cancel: () => process.cashIns.handlers.cancelCashIn(input),
      'cash-out': () => process.cashOuts.handlers.createCashOut(input),
      refund: () => process.refunds.handlers.createRefundIn(input),
    }[at]()
    const { id: made } = reply.body as { readonly id: string }
    this.answered.add(made)
    return made
  }
}

/** Operators say something to a payout or refund that waits. @returns nothing where there is none */
export function operate(world: World, process: SimulatedProcess): Promise<unknown> | undefined {
  const { chance, tables } = world
  const waiting = [...tables.operations.values()].filter(isWaiting)
  if (waiting.length === 0) return undefined
  const operation = chance.pick(waiting)
  if (operation.kind === 'refund_in' || !chance.bool(0.8)) return refuse(operation, process)
  const input = {
    on: 'operator.approved' as const,
    approver: approverAt(chance.below(2)),
    reason: REASON,
    people: [personAt(0), personAt(1)],
    deactivationCount: 1n,
    isRequesterDeactivated: false,
    ...(chance.bool(0.1) ? { code: null } : {}),
  }
  return process.cashOutCommands.approve(operation as CashOut, input as never, LIVE)
}

const REASON = 'because'
const LIVE = { hasLapsed: () => false }

/** An operator refuses a payout or refund that waits. */
export function refuse(operation: Operation, process: SimulatedProcess): Promise<unknown> {
  const refusal = { on: 'operator.refused', approver: approverAt(0), reason: REASON } as const
  return operation.kind === 'refund_in'
    ? process.refunds.refuse(operation.id, refusal as never, LIVE)
    : process.cashOutCommands.approve(operation as CashOut, refusal as never, LIVE)
}

function isWaiting({ kind, status, facts }: Operation): boolean {
  if (kind === 'cash_out') return status === 'RESERVED'
  return kind === 'refund_in' && status === 'PENDING' && facts.attempts === undefined
}

function approverAt(place: number) {
  return { actor: `operator-${place}`, actorName: `Operator ${place}`, address: '192.0.2.2' }
}

function personAt(place: number) {
  return { id: `operator-${place}`, name: `Operator ${place}`, role: 'approver', isActive: true } as never
}
