import type { PartnerCapability } from '../../src/banks/port.ts'
import type { CashOutTerms } from '../../src/cash-out/commands.ts'
import type { Draft } from '../../src/engine/draft.ts'
import type { DatabaseClock } from '../../src/platform/clock.ts'
import type { Database } from '../../src/platform/db/database.ts'
import type { Ids } from '../../src/platform/ids.ts'
import { type Chance, chanceOf } from '../fuzz/chance.ts'
import { Agenda } from './agenda.ts'
import { Bank } from './bank.ts'
import type { SentEvent } from './bank-events.ts'
import { Coverage } from './coverage.ts'
import type { CommitFault } from './engine.ts'
import { FAULTS, type Fault, Faults, type Nature } from './faults.ts'
import { InboxTable } from './inbox-table.ts'
import { Watch } from './invariants.ts'
import { createNetwork } from './network.ts'
import { inOurIds } from './our-ids.ts'
import { Postman } from './postman.ts'
import { type SimulatedProcess, startProcess } from './process.ts'
import { createQueries } from './queries.ts'
import { Script } from './script.ts'
import { StatementTable } from './statement-table.ts'
import { Steps } from './steps.ts'
import { type Lacking, Tables } from './tables.ts'
import { uneventful } from './uneventful.ts'
import { Violation } from './violation.ts'

/** A world of one seed: a clock, a bank, tables, and the processes that work on them. */

/** Tells a sentence. */
export type Say = (sentence: string) => void

/** What a world may be made with besides its seed. */
export interface WorldOptions {
  readonly lacking?: Lacking
  readonly nature?: Nature
  /** Is told each thing that happens, in words. */
  readonly say?: Say | undefined
  /** Is given the world before its first step. */
  readonly onWorld?: (world: World) => void
  /** Adds to what counts what was reached. */
  readonly coverage?: Coverage
  /** Nothing happens by chance: what does is written down, see stage.ts. The bank lacks these capabilities. */
  readonly staged?: { readonly lacks: readonly PartnerCapability[] }
}

/** 2026-11-22 09:00 in São Paulo. */
const BEGINNING = Date.UTC(2026, 10, 22, 12)

const ALWAYS: readonly PartnerCapability[] = ['charge', 'payout', 'refund', 'statement']
const SOMETIMES: readonly PartnerCapability[] = [
  'idempotent-charge',
  'query-charge',
  'cancel-charge',
  'idempotent-payout',
  'query-payout',
  'idempotent-refund',
  'query-refund',
]

/** The kinds of cases about events. */
const EVENT_CASES = ['event_set_aside', 'event_set_aside', 'event_set_aside'] as const

/** First seed that may be in corpus.ts. */
const CORPUS_FROM = 300_000

/** A world. */
export class World {
  readonly seed: number
  readonly nature: Nature
  /** Little goes wrong but what episodes are about. */
  readonly isCalm: boolean
  /** Operators decide wrongly now and then: in every fourth world, beside a bank that lies. */
  readonly areOperatorsWrong: boolean
  /** The merchant cancels charges: in every third world, but for the seeds of the corpus, which were found without. */
  readonly hasCancellations: boolean
  readonly chance: Chance
  readonly faults: Faults
  readonly agenda = new Agenda()
  readonly steps: Steps
  readonly tables: Tables
  readonly inbox = new InboxTable((reference, nowMs) => {
    for (const kind of EVENT_CASES) this.tables.closeLoose(kind, reference, nowMs)
  })
  readonly statement: StatementTable
  readonly bank: Bank
  readonly watch: Watch
  readonly coverage: Coverage
  readonly processes: SimulatedProcess[] = []
  readonly capabilities: ReadonlySet<PartnerCapability>
  readonly terms: CashOutTerms
  /** Callbacks that are to be taken in, yet. */
  readonly callbacks: { readonly body: Buffer; readonly isProven: boolean }[] = []
  /** What episodes have written about single operations. */
  readonly script = new Script()
  /** By process: until when it stands still. */
  readonly pausedUntil = new Map<string, number>()
  readonly begunAt = BEGINNING
  now = BEGINNING
  /** How many batches were written. */
  commits = 0
  /** Until when no call leaves for the bank, or none is answered. */
  outage = { isSilent: false, until: 0 }
  /** What was found not to hold. */
  failure: unknown
  readonly #database: Database
  readonly #credits: { readonly verifyFromCents: bigint }
  readonly #windowMs: number
  readonly #options: WorldOptions
  #postman: Postman | undefined
  #started = 0
  #named = 0

  constructor(seed: number, options: WorldOptions = {}) {
    this.seed = seed
    this.#options = options
    const chance = options.staged ? uneventful() : chanceOf(seed)
    this.chance = chance
    this.nature = options.nature ?? (chance.bool(0.4) ? 'truthful' : 'lying')
    this.areOperatorsWrong = this.nature === 'lying' && seed % 4 === 0
    this.hasCancellations = seed % 3 === 0 && seed < CORPUS_FROM
    this.coverage = options.coverage ?? new Coverage()
    const halting = chance.pick([0.1, 0.3, 0.6, 1])
    this.steps = new Steps(() => this.faults.isOn && chance.bool(halting))
    this.isCalm = this.nature === 'lying' && chance.bool(0.3)
    const share = options.staged ? 0 : this.isCalm ? 0.12 : 1
    this.faults = new Faults(chance, this.nature, share, (fault) => this.#onFault(fault))
    this.tables = new Tables((draft) => this.#onCommit(draft), options.lacking)
    this.statement = new StatementTable(this.tables)
    this.#database = createQueries(this.tables, this.inbox)
    this.capabilities = capabilitiesOf(chance, options.staged?.lacks)
    this.#windowMs = chance.pick([10 * 60_000, 24 * 60 * 60_000])
    this.terms = termsOf(chance)
    this.#credits = { verifyFromCents: chance.pick([0n, 1_000n, 1_000_000n]) }
    this.bank = this.#openBank()
    this.watch = new Watch(this.tables, this.bank.book, () => this.now)
    for (let place = 0; place < 2; place++) this.start(place)
  }

  /** The bank tells something. */
  tell(event: SentEvent): void {
    this.#postman?.send(event, this.bank)
  }

  /** Something is told of anything that there is. */
  chatter(): void {
    this.#postman?.noise(this.bank)
  }

  #openBank(): Bank {
    const { agenda, chance, faults } = this
    const now = () => this.now
    const bring = (body: Buffer, isProven: boolean) => void this.callbacks.push({ body, isProven })
    const postman = new Postman({ chance, faults, agenda, now, bring })
    this.#postman = postman
    const bank: Bank = new Bank({
      chance,
      faults,
      agenda,
      now,
      say: (sentence) => this.say(sentence),
      windowMs: (kind) => (this.capabilities.has(`idempotent-${kind}`) ? this.#windowMs : 0),
      send: (event) => postman.send(event, bank),
      onSecondOrder: ({ kind, id }) => this.fail(new Violation('I9', `${kind} ${id} was ordered a second time`)),
      canBeAsked: this.capabilities.has('query-payout'),
      isStaged: this.#options.staged !== undefined,
    })
    return bank
  }

  /** Tells what happens. */
  say(sentence: string): void {
    this.#options.say?.(`${new Date(this.now).toISOString()} ${sentence}`)
  }

  /** Something does not hold. The first that was found counts. */
  fail(violation: unknown): void {
    this.failure ??= violation
  }

  /** A name that nothing had before. */
  name(prefix: string): string {
    this.#named += 1
    return `${prefix}-${this.#named}`
  }

  /** Starts a process in the place of one that has died. */
  start(place: number): SimulatedProcess {
    this.#started += 1
    const name = `${'AB'[place]}${this.#started}`
    const process = startProcess({
      name,
      tables: this.tables,
      database: this.#database,
      statement: this.statement,
      partner: this.#networkOf(name),
      clock: this.#clock(),
      ids: this.#ids(),
      pause: { for: async () => undefined, jittered: async () => undefined },
      terms: this.terms,
      credits: this.#credits,
      isSending: () => this.chance.bool(0.5),
      halt: (before) => this.steps.before(name, before),
      commitFault: () => this.#commitFault(),
      onStale: () => this.faults.note('commit stale'),
    })
    this.processes[place] = process
    return process
  }

  #networkOf(name: string) {
    const { bank, chance, faults, agenda, capabilities } = this
    const network = createNetwork({
      bank,
      chance,
      faults,
      agenda,
      capabilities,
      windowMs: this.#windowMs,
      now: () => this.now,
      say: (sentence) => this.say(sentence),
      halt: (before) => this.steps.before(name, before),
      lineOf: (kind, id) => (this.faults.isOn ? this.script.lineOf(kind, id, this.now) : undefined),
      stand: (line) => this.#stand(name, this.script.standsMs(line)),
      outage: () => (this.now >= this.outage.until ? undefined : this.outage.isSilent ? 'request lost' : 'unsent'),
      wait: (ms) => {
        this.now += ms
      },
    })
    return inOurIds(network, this.tables)
  }

  /** A process stands still with an answer in its hand. */
  async #stand(name: string, forMs: number): Promise<void> {
    if (forMs === 0) return
    this.faults.note('pause')
    this.say(`${name} stands still, with an answer of the bank`)
    this.pausedUntil.set(name, this.now + forMs)
    await this.steps.before(name, 'the bank’s answer', true)
  }

  /** Lets payouts and refunds go, or not. */
  setSwitch(enabled: boolean): void {
    const { version } = this.tables.controls.get('cash_out_switch') ?? { version: 0n }
    this.tables.controls.set('cash_out_switch', { version: version + 1n, value: { enabled } })
  }

  #clock(): DatabaseClock {
    const now = () => this.now
    return { now, observe: () => undefined, steadySince: () => 0, setBackAt: () => undefined, skewMs: () => 0 }
  }

  /** An id that an operator’s request makes. */
  newId(): string {
    return this.#ids().uuid()
  }

  /** Ids in the order in which they are made, and of the seed alone. */
  #ids(): Ids {
    return {
      uuid: () => {
        this.#named += 1
        const time = this.now.toString(16).padStart(12, '0')
        const place = this.#named.toString(16).padStart(12, '0')
        return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${place}`
      },
    }
  }

  #commitFault(): CommitFault {
    if (this.faults.hit('commit unreachable', 0.1)) return 'unreachable'
    if (this.faults.hit('commit lost before', 0.15)) return 'lost before'
    return this.faults.hit('commit lost after', 0.15) ? 'lost after' : 'none'
  }

  #onFault(fault: Fault): void {
    this.coverage.fault(fault)
    if (this.#options.say) this.say(`FAULT ${FAULTS[fault]}`)
  }

  #onCommit(draft: Draft): void {
    this.commits += 1
    this.coverage.committed(draft, (id) => this.tables.operations.get(id)?.kind ?? '')
    if (this.#options.say) this.#tell(draft)
    try {
      this.watch.committed(draft)
    } catch (violation) {
      this.fail(violation)
      throw violation
    }
  }

  #tell(draft: Draft): void {
    for (const { before, after, trigger } of draft.moves) {
      const to = before?.status === after.status ? 'stays' : 'becomes'
      this.say(`${after.kind} ${after.id} ${to} ${after.status} on ${trigger}`)
    }
    for (const { kind, operationId } of draft.cases.opened) this.say(`CASE ${kind} of ${operationId}`)
    for (const { eventType, status, operationId } of draft.notifications)
      this.say(`told: ${eventType} ${status} of ${operationId}`)
  }
}

function capabilitiesOf(chance: Chance, lacks: readonly PartnerCapability[] = []): ReadonlySet<PartnerCapability> {
  return new Set([...ALWAYS, ...SOMETIMES.filter((one) => chance.bool(0.85) && !lacks.includes(one))])
}

const NO_CAPS = { paymentCents: null, hourCents: null, dayCents: null, nightCents: null, newRecipientCents: null }

function termsOf(chance: Chance): CashOutTerms {
  return {
    installation: 'simulated',
    fee: { cents: chance.pick([0n, 35n]), basisPoints: 0n },
    maxValueCents: 100_000_000n,
    limits: { caps: NO_CAPS, newRecipientMs: 86_400_000 },
    approvalFromCents: chance.bool(0.2) ? 1_000n : null,
  }
}
