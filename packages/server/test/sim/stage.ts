import type { CaseDecision } from '@pixgate/spec'
import type { PartnerCapability } from '../../src/banks/port.ts'
import type { Operation } from '../../src/engine/operation.ts'
import type { BankCharge, BankOrder } from './bank-book.ts'
import { changedEvent, type SentEvent } from './bank-events.ts'
import { Closes } from './closes.ts'
import type { Coverage } from './coverage.ts'
import { decideCase } from './decisions.ts'
import { Driver } from './driver.ts'
import { type Asked, refuse } from './merchant.ts'
import { assertRest } from './run.ts'
import type { Line } from './script.ts'
import { settled } from './steps.ts'
import { orderAtBank } from './unsent.ts'
import { type Say, World } from './world.ts'

/** A world in which nothing happens by chance, for what takes so many things in one order that chance never makes them. */

const MINUTE = 60_000
/** More steps than anything takes that is told at once. */
const STEPS = 1_000
/** What may not be sent is due all the time: after so many steps without a commit nothing else is. */
const IN_VAIN = 20

const SUBJECTS = { cash_in: 'charge', cash_out: 'payout', refund_in: 'refund' } as const

/** What becomes of calls from now on; without a word about them: what the bank's book says. */
type Words = Pick<Line, 'call' | 'ask' | 'standsMs'>

/** `suspended`: from now on nothing is sent. */
type OrderWords = Words | 'suspended'

/** What a stage is made with. */
export interface StageOptions {
  /** Counts what is reached. */
  readonly coverage: Coverage
  /** What the bank cannot do. */
  readonly lacks?: readonly PartnerCapability[] | undefined
  /** Is told each thing that happens. */
  readonly say?: Say | undefined
}

/** A stage. Each thing that is done on it has come to rest when its promise resolves. */
export class Stage {
  readonly world: World
  readonly #driver: Driver
  readonly #closes: Closes

  constructor({ coverage, lacks = [], say }: StageOptions) {
    this.world = new World(1, { coverage, staged: { lacks }, say })
    this.#driver = new Driver(this.world)
    this.#closes = new Closes(this.world)
  }

  /** An operation as it is. */
  operation(id: string): Operation {
    const operation = this.world.tables.operation(id)
    if (!operation) throw new Error(`there is no operation ${id}`)
    return operation
  }

  /**
   * A payout or refund at the bank, which takes it now where nobody sent it.
   * @param moreCents by which what it takes is more than what is asked for
   */
  orderAtBank(id: string, moreCents = 0n): BankOrder {
    return orderAtBank(this.world, this.operation(id), moreCents)
  }

  /** A charge at the bank. */
  atBank(id: string): BankCharge {
    const charge = this.world.bank.book.charges.get(id)
    if (!charge) throw new Error(`the bank has no charge ${id}`)
    return charge
  }

  /** The merchant asks for a charge. @param minutes until its time is over @returns its id */
  charge({ cents = 1_000, minutes = 60, ...words }: Words & { cents?: number; minutes?: number } = {}) {
    const transaction = { value: cents / 100, externalId: this.world.name('in'), expirationTime: minutes * 60 }
    return this.#ask('charge', { at: 'cash-in', body: { transaction }, key: null }, words)
  }

  /** The merchant cancels a charge. */
  cancel(id: string): Promise<string> {
    return this.#do((process) => this.#driver.merchant.send(process, { at: 'cancel', body: {}, id, key: null }))
  }

  /** A charge that is paid. @returns its id */
  async paid(cents = 1_000): Promise<string> {
    const id = await this.charge({ cents })
    this.world.bank.pay(this.atBank(id), BigInt(cents))
    await this.settle()
    return id
  }

  /** The merchant asks for a payout. @returns its id */
  payout(words: OrderWords = {}, cents = 400): Promise<string> {
    const recipient = { pixKey: 'ana@example.com', pixKeyType: 'EMAIL' }
    const transaction = { value: cents / 100, externalId: this.world.name('out') }
    return this.#ask('payout', { at: 'cash-out', body: { transaction, recipient }, key: null }, words)
  }

  /** The merchant asks for a refund. @returns its id */
  refund(cashInId: string, words: OrderWords = {}, cents = 400): Promise<string> {
    const body = { refundValue: cents / 100, externalId: this.world.name('back') }
    return this.#ask('refund', { at: 'refund', body, id: cashInId, key: null }, words)
  }

  async #ask(kind: string, asked: Asked, words: OrderWords): Promise<string> {
    const { world } = this
    const isSuspended = words === 'suspended'
    if (!isSuspended) world.script.writeNext(kind, () => [{ until: Number.POSITIVE_INFINITY, ...words }])
    return this.#do(
      (process) => this.#driver.merchant.send(process, asked),
      () => isSuspended && world.setSwitch(false),
    )
  }

  /** From now on calls about an operation go like this. */
  write(id: string, words: Words): void {
    this.world.script.write(id, [{ until: Number.POSITIVE_INFINITY, ...words }])
  }

  /** The bank tells something. */
  tell(event: SentEvent): Promise<void> {
    this.world.tell(event)
    return this.settle()
  }

  /** Something happened to an operation, the bank says, and not what: it is asked. */
  nudge(id: string): Promise<void> {
    const { kind, transactionId } = this.operation(id)
    const named = { id, transactionId: transactionId ?? this.world.bank.book.name('T') }
    const subject = SUBJECTS[kind as keyof typeof SUBJECTS]
    return this.tell({ ...changedEvent(subject, named, false), what: this.world.bank.book.name('W') })
  }

  /** Time goes by. @param nudged the operation about which the bank is heard again each minute */
  async pass(minutes: number, nudged?: string): Promise<void> {
    const from = this.world.now
    for (let minute = 1; minute <= minutes; minute++) {
      await this.#until(from + minute * MINUTE)
      if (nudged !== undefined) await this.nudge(nudged)
    }
  }

  async #until(untilMs: number): Promise<void> {
    const { world } = this
    world.agenda.at(untilMs, () => undefined)
    for (await this.settle(); world.now < untilMs; await this.settle()) {
      const next = this.#driver.nextAt()
      // What is due in vain is due before.
      world.now = next > world.now ? Math.min(untilMs, next) : untilMs
    }
  }

  /** From now on one process alone works: what the other one knows becomes old. */
  workAlone(place: 0 | 1): void {
    const { processes, pausedUntil } = this.world
    pausedUntil.clear()
    const other = processes[1 - place]
    if (other) pausedUntil.set(other.name, Number.POSITIVE_INFINITY)
  }

  /** Of the processes that stand still, the one that would do so for the shortest time goes on. */
  resume(): void {
    const standing = [...this.world.pausedUntil].sort(([, one], [, other]) => one - other)
    const [first] = standing.filter(([name]) => this.#standsStill(name))
    if (first) this.world.pausedUntil.delete(first[0])
  }

  /** All that is to be done now is done. */
  async settle(): Promise<void> {
    let [commits, inVain] = [this.world.commits, 0]
    for (let step = 0; this.#hasWork() && inVain < IN_VAIN; step++) {
      if (step === STEPS) throw new Error('it does not come to rest')
      await this.#driver.step()
      inVain = commits === this.world.commits ? inVain + 1 : 0
      commits = this.world.commits
    }
  }

  /** Whether something is to be done now by a process that does not stand still. */
  #hasWork(): boolean {
    const { steps, callbacks, now, processes } = this.world
    if (processes.every(({ name }) => this.#standsStill(name))) return false
    return (
      callbacks.length > 0 ||
      steps.halts.some(({ process }) => !this.#standsStill(process)) ||
      this.#driver.nextAt() <= now
    )
  }

  #standsStill(process: string): boolean {
    return (this.world.pausedUntil.get(process) ?? 0) > this.world.now
  }

  /** An operator decides the open case of this kind. @throws where that is not offered, or would not be true */
  async decide(id: string, kind: string, decision: CaseDecision): Promise<void> {
    const { tables } = this.world
    const open = tables.openCases().find((one) => one.operationId === id && one.kind === kind)
    if (!open) throw new Error(`${id} has no case ${kind}: ${tables.openCasesOf(id).map((one) => one.kind)}`)
    await this.#do((process) => {
      const decided = decideCase(this.world, process, open, decision)
      if (!decided) throw new Error(`${decision} is not offered for ${kind} of ${id}, or would not be true`)
      return decided
    })
  }

  /**
   * An operator returns the payment in suspense of a charge to its payer.
   * @param words what becomes of the calls about that refund
   * @returns the refund’s id
   */
  async returnToPayer(id: string, words: Words = {}): Promise<string> {
    this.world.script.writeNext('refund', () => [{ until: Number.POSITIVE_INFINITY, ...words }])
    const known = new Set(this.world.tables.operations.keys())
    await this.decide(id, 'payment_in_suspense', 'return_to_payer')
    const made = [...this.world.tables.operations.values()].find(
      (one) => one.kind === 'refund_in' && !known.has(one.id),
    )
    if (!made) throw new Error(`no refund of ${id} was ordered`)
    return made.id
  }

  /** An operator refuses what waits to be sent. */
  async refuse(id: string): Promise<void> {
    await this.#do((process) => refuse(this.operation(id), process))
  }

  /** @param then what happens before anything else goes on */
  async #do<Done>(
    work: (process: World['processes'][number]) => Promise<Done>,
    then: () => void = () => undefined,
  ): Promise<Done> {
    const process = this.world.processes.find(({ name }) => !this.#standsStill(name))
    if (!process) throw new Error('all processes stand still')
    const done = Promise.withResolvers<Done>()
    this.#driver.begin(process, this.world.name('stage'), () => work(process).then(done.resolve, done.reject))
    await settled()
    then()
    await this.settle()
    return done.promise
  }

  /** All comes to rest. @throws Violation where something does not hold then */
  end(): Promise<void> {
    return assertRest(this.#driver, this.#closes).then(() => undefined)
  }
}
