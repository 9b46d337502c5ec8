import { Refusal } from '@pixgate/spec'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import { route } from './bank-events.ts'
import { decideAnyCase } from './decisions.ts'
import { Merchant, operate } from './merchant.ts'
import type { SimulatedProcess } from './process.ts'
import { settled } from './steps.ts'
import type { World } from './world.ts'

/** What drives a world: one step at a time, in an order that the seed alone decides. */

/** A worker's name. */
type Work = 'cash-in' | 'cash-out' | 'refund' | 'inbox' | 'statement'

const WORKS: readonly Work[] = ['cash-in', 'cash-out', 'refund', 'inbox', 'statement']
const MINUTE = 60_000

/** Drives a world. */
export class Driver {
  readonly world: World
  readonly merchant: Merchant
  readonly #busy = new Set<string>()
  /** By what takes them in: callbacks that the bank was not answered yet. */
  readonly #unanswered = new Map<string, () => void>()
  #statementAt = 0
  #tasks = 0

  constructor(world: World) {
    this.world = world
    this.merchant = new Merchant(world)
  }

  /** Nothing is under way. */
  get isIdle(): boolean {
    return this.#tasks === 0 && this.world.steps.halts.length === 0 && this.world.callbacks.length === 0
  }

  /** Begins something. What it throws is the caller's answer, where it is one. */
  begin(process: SimulatedProcess, what: string, work: () => Promise<unknown>): void {
    const name = `${process.name} ${what}`
    this.#tasks += 1
    this.#busy.add(name)
    const { world } = this
    work()
      .catch((error) => {
        if (!isAnswer(error)) world.fail(error)
      })
      .finally(() => {
        // What died with its process has been counted out.
        if (!this.#busy.delete(name)) return
        this.#tasks -= 1
      })
  }

  /** One step. @throws what was found not to hold */
  async step(): Promise<void> {
    const { world } = this
    this.#choose()
    await settled()
    if (world.failure) throw world.failure
  }

  #choose(): void {
    const { world } = this
    const { chance, steps } = world
    world.now += chance.below(40)
    world.agenda.run(world.now)
    const halts = steps.halts.filter(({ process }) => (this.world.pausedUntil.get(process) ?? 0) <= world.now)
    if (halts.length > 0 && this.#trouble()) return
    if (halts.length > 0 && (world.callbacks.length === 0 || chance.bool(0.7)) && chance.bool(0.9)) {
      const halt = chance.bool(0.6) ? halts[0] : chance.pick(halts)
      if (halt) {
        world.say(`${halt.process} goes on: ${halt.before}`)
        steps.let(halt)
        return
      }
    }
    if (!this.#beginSomething() && halts.length === 0) this.#wait()
  }

  /** A process dies, or stands still. */
  #trouble(): boolean {
    const { world } = this
    const { chance, faults } = world
    if (faults.hit('crash', 0.06)) {
      this.crash(chance.below(2))
      return true
    }
    if (faults.hit('pause', 0.04)) {
      const { name } = chance.pick(world.processes)
      world.say(`${name} stands still`)
      this.world.pausedUntil.set(name, world.now + chance.below(10 * MINUTE))
    }
    return false
  }

  /** A process dies between two steps, and another one is started. */
  crash(place: number): void {
    const { world } = this
    const { name } = world.processes[place] as SimulatedProcess
    world.say(`${name} dies`)
    world.steps.drop(name)
    for (const busy of [...this.#busy].filter((one) => one.startsWith(`${name} `))) {
      this.#busy.delete(busy)
      this.#tasks -= 1
      // A bank that is not answered brings it again.
      this.#unanswered.get(busy)?.()
      this.#unanswered.delete(busy)
    }
    world.start(place)
  }

  #beginSomething(): boolean {
    const { world } = this
    const { chance, callbacks } = world
    const process = chance.pick(world.processes)
    if ((this.world.pausedUntil.get(process.name) ?? 0) > world.now) return false
    if (callbacks.length > 0) {
      for (const callback of callbacks.splice(0, 1 + chance.below(32))) this.#accept(process, callback)
      return true
    }
    const due = WORKS.filter((work) => this.#isDue(work) && !this.#busy.has(`${process.name} ${work}`))
    if (due.length === 0) return false
    this.#beginWork(process, chance.pick(due))
    return true
  }

  #accept(process: SimulatedProcess, callback: World['callbacks'][number]): void {
    const { world } = this
    const again = () => world.agenda.at(world.now + 5_000, () => void world.callbacks.push(callback))
    const name = world.name('callback')
    this.#unanswered.set(`${process.name} ${name}`, again)
    const taken = () => void this.#unanswered.delete(`${process.name} ${name}`)
    this.begin(process, name, () =>
      process.inbox
        .accept({ endpoint: route, ...callback })
        .then(taken)
        .catch(again),
    )
  }

  #beginWork(process: SimulatedProcess, work: Work): void {
    this.world.say(`${process.name} works on ${work}`)
    const works: Readonly<Record<Work, () => Promise<unknown>>> = {
      'cash-in': () => process.cashIns.processNext(),
      'cash-out': () => process.cashOuts.processNext(),
      refund: () => process.refunds.processNext(),
      inbox: () => process.inbox.processNext(),
      statement: () => this.#readStatement(process),
    }
    this.begin(process, work, works[work])
  }

  async #readStatement(process: SimulatedProcess): Promise<void> {
    const { world } = this
    const { now, faults, bank, statement } = world
    this.#statementAt = now + (faults.isOn || !statement.isDone ? MINUTE : 10 * MINUTE)
    if (faults.hit('statement unread', 0.3)) return
    await process.statement.keep(
      bank.book.entries.filter(({ shownAt }) => shownAt <= now),
      now,
    )
    await process.statement.match(now, async () => true)
    await process.statement.findGaps(now, 0)
  }

  #isDue(work: Work): boolean {
    const { world } = this
    if (work === 'inbox') return (world.inbox.nextDueAt() ?? Number.POSITIVE_INFINITY) <= world.now
    if (work === 'statement') return this.#statementAt <= world.now
    return this.#nextDueOf(work) <= world.now
  }

  #nextDueOf(work: Work): number {
    const kind = { 'cash-in': 'cash_in', 'cash-out': 'cash_out', refund: 'refund_in', inbox: '', statement: '' }[work]
    return this.world.tables.nextDueOf(kind)
  }

  /** Nothing is left to do but to ask, again and again, about doubts that have a case. */
  get isAtRest(): boolean {
    const { tables, agenda, inbox } = this.world
    if (!this.isIdle || agenda.nextAt !== null || inbox.nextDueAt() !== null) return false
    // A doubt that has a case is asked about for as long as it lasts.
    return [...tables.operations.values()].every(({ id, dueAt }) => dueAt === null || tables.openCasesOf(id).length > 0)
  }

  /** How many operations are looked at again some time. */
  get dueCount(): number {
    return [...this.world.tables.operations.values()].filter(({ dueAt }) => dueAt !== null).length
  }

  /** When something is to be done next. */
  nextAt(): number {
    const { world } = this
    const orders = Math.min(this.#nextDueOf('cash-in'), this.#nextDueOf('cash-out'), this.#nextDueOf('refund'))
    const inbox = world.inbox.nextDueAt() ?? Number.POSITIVE_INFINITY
    const paused = Math.min(
      Number.POSITIVE_INFINITY,
      ...[...this.world.pausedUntil.values()].filter((at) => at > world.now),
    )
    return Math.min(orders, inbox, world.agenda.nextAt ?? Number.POSITIVE_INFINITY, paused)
  }

  /** Time goes by until something is to be done, at most to the next look at the statement. */
  #wait(): void {
    const { world } = this
    const standing = world.processes.map(({ name }) => this.world.pausedUntil.get(name) ?? 0)
    // While all stand still nothing is done, however due it is.
    const isStandstill = standing.every((at) => at > world.now)
    const until = isStandstill
      ? Math.min(...standing, world.agenda.nextAt ?? Number.POSITIVE_INFINITY)
      : Math.min(this.nextAt(), Math.max(this.#statementAt, world.now + 1))
    world.now = Math.max(world.now, until)
  }

  /** The merchant asks for something, or an operator says something. */
  ask(): void {
    const { world } = this
    const process = world.chance.pick(world.processes)
    if (world.chance.bool(0.2)) {
      const said = operate(world, process)
      if (said) {
        this.begin(process, world.name('operator'), () => said)
        return
      }
    }
    this.begin(process, world.name('request'), () => this.merchant.ask(process))
  }

  /** An operator decides a case. */
  decide(): void {
    const { world } = this
    const process = world.chance.pick(world.processes)
    const decided = decideAnyCase(world, process)
    if (decided) this.begin(process, world.name('decision'), () => decided)
  }

  /** All processes go on from now on. */
  resumeAll(): void {
    this.world.pausedUntil.clear()
  }
}

/** What a caller is answered: nothing is wrong. */
function isAnswer(error: unknown): boolean {
  return error instanceof Refusal || error instanceof DatabaseUnavailable
}
