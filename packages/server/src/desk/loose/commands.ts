import { type LooseDecision, Refusal } from '@pixgate/spec'
import type { Engine } from '../../engine/engine.ts'
import type { Command } from '../../engine/operation.ts'
import { sha256 } from '../../platform/crypto.ts'
import { type Ids, isUuid } from '../../platform/ids.ts'
import type {
  Beside,
  CaseSubject,
  LooseEvent,
  LooseMovement,
  LooseOption,
  LooseOrder,
  LooseOutcome,
  ReadCase,
  StoredCase,
} from './case.ts'
import type { EventDesk, StatementDesk } from './ports.ts'
import { auditOf, decideLoose, optionsOf } from './rules.ts'
import type { LooseStore } from './store.ts'
import { aboutOf, moneyOf } from './subject.ts'

/** Cases of no operation, and what an operator decides of them. */
export interface LooseDesk {
  /** Open cases, the oldest first. @param after the id of the last one that was read */
  list(after: string | null, limit: number): Promise<StoredCase[]>
  /** A case with what it is about; `undefined` where there is none that has no operation. */
  read(caseId: string): Promise<ReadCase | undefined>
  /** What may be decided of it here and now. @source rules#desk.50 */
  options(read: ReadCase): readonly LooseOption[]
  /** What books a decision, to be rehearsed; `undefined`: an operation books it by its own table. */
  command(read: ReadCase, decision: LooseDecision): Command<unknown> | undefined
  /**
   * What a decision would do to the money. Nothing is written.
   * @throws not_found (404) · version_conflict (409) · validation_error (400) it is not offered
   */
  dryRun(order: LooseOrder): Promise<LooseOutcome>
  /**
   * Decides a case, once.
   * @param beside what is written with it, or not at all
   * @throws the same, and validation_error (400) the operation did not accept it · DatabaseUnavailable
   * @source rules#desk.51
   */
  decide(order: LooseOrder, beside?: Beside): Promise<LooseOutcome>
}

/** What the commands work with. */
export interface LooseDependencies {
  readonly engine: Pick<Engine, 'execute'>
  readonly store: LooseStore
  readonly ids: Ids
  readonly events: EventDesk
  readonly statement: StatementDesk
}

/** A decision to be booked. */
interface Booking {
  readonly read: ReadCase
  readonly order: LooseOrder
  readonly decision: LooseDecision
  /** How often such a case was decided when it was read; absent: whatever was decided since. */
  readonly seen?: bigint
  readonly beside?: Beside
}

/** Who rehearses a decision decides nothing. */
const NOBODY = { operator: { actor: '', address: '' }, approver: null, reason: '', evidence: {}, correlationId: '' }

/** A decision books at most so many adjustments. */
const STEPS_MAX = 3

/** The decisions of one class, beside each other, as they share what they read. */
export class LooseCommands implements LooseDesk {
  readonly #needs: LooseDependencies

  constructor(needs: LooseDependencies) {
    this.#needs = needs
  }

  list(after: string | null, limit: number): Promise<StoredCase[]> {
    return this.#needs.store.list(after, limit)
  }

  async read(caseId: string): Promise<ReadCase | undefined> {
    const { store } = this.#needs
    const stored = await store.get(caseId)
    if (!stored) return undefined
    const about = aboutOf(stored)
    const booked = await store.booked(about)
    const subject = (await this.#eventOf(stored)) ?? moneyOf(stored, booked, await store.known(stored))
    return { ...stored, about, booked, subject, version: versionOf(stored, subject, booked.length) }
  }

  options(read: ReadCase): readonly LooseOption[] {
    return optionsOf(read)
  }

  command(read: ReadCase, decision: LooseDecision): Command<unknown> | undefined {
    if (isHandedOver(decision)) return undefined
    const order = { ...NOBODY, caseId: read.id, decision, version: read.version }
    return this.#commandOf({ read, order, decision })
  }

  async dryRun(order: LooseOrder): Promise<LooseOutcome> {
    const { read, decision } = await this.#offered(order)
    const available = await this.#needs.store.balance('available')
    const state = { balance: () => available, movement: () => undefined }
    const { outcome } = decideLoose({ read, order, ids: [] }, state, decision)
    return isHandedOver(decision) ? handedOver(read, decision) : outcome
  }

  async decide(order: LooseOrder, beside?: Beside): Promise<LooseOutcome> {
    const { read, decision } = await this.#offered(order)
    const { subject } = read
    if (subject.is === 'event' && decision !== 'dismiss') return this.#applyAgain(read, subject, order, decision)
    if (subject.is === 'movement' && decision === 'attribute') return this.#handOver(read, subject, order, beside)
    return this.#book(order, beside)
  }

  /** Whoever decided any case meanwhile is seen: it is read again, and refused only where this one changed. */
  async #book(order: LooseOrder, beside: Beside = {}): Promise<LooseOutcome> {
    const { engine, store } = this.#needs
    for (;;) {
      const seen = await store.version()
      const { read, decision } = await this.#offered(order)
      const outcome = await engine.execute(this.#commandOf({ read, order, decision, seen, beside }))
      if (outcome) return outcome
    }
  }

  #commandOf({ read, order, decision, seen, beside }: Booking): Command<LooseOutcome | undefined> {
    const ids = Array.from({ length: STEPS_MAX }, () => this.#needs.ids.uuid())
    return {
      reads: [],
      controls: ['loose_cases'],
      movements: movementsOf(read),
      request: order.live,
      decide: (state) =>
        seen === undefined || state.versionOf('loose_cases') === seen
          ? decideLoose({ read, order, ids }, state, decision, beside)
          : { outcome: undefined },
    }
  }

  /** First what was ordered, then the money: whoever dies in between leaves the order, and the case open. */
  async #handOver(
    read: ReadCase,
    { entry, direction, movementId }: LooseMovement,
    order: LooseOrder,
    beside: Beside = {},
  ): Promise<LooseOutcome> {
    const { statement } = this.#needs
    const operationId = attributeTo(order)
    if (!(await statement.accepts(entry, operationId))) throw notAccepted('it is of another kind, or does not exist')
    const outcome = handedOver(read, 'attribute')
    await this.#note(read, order, outcome, beside)
    const result = await statement.handOver({ kind: entry, direction, movementId }, operationId)
    if (result !== 'APPLIED') throw notAccepted(result)
    return outcome
  }

  /** Counts the decision, and refuses whoever decides on what was read before it. */
  async #note(read: ReadCase, order: LooseOrder, outcome: LooseOutcome, beside: Beside): Promise<void> {
    const { engine, store } = this.#needs
    for (;;) {
      const seen = await store.version()
      await this.#offered(order)
      const isNoted = await engine.execute({
        reads: [],
        controls: ['loose_cases'],
        request: order.live,
        decide: (state) =>
          state.versionOf('loose_cases') === seen
            ? {
                ...beside,
                controls: { loose_cases: { decided: read.id } },
                audits: [...(beside.audits ?? []), auditOf(read, order, outcome)],
                outcome: true,
              }
            : { outcome: false },
      })
      if (isNoted) return
    }
  }

  async #applyAgain(
    read: ReadCase,
    event: LooseEvent,
    order: LooseOrder,
    decision: LooseDecision,
  ): Promise<LooseOutcome> {
    const { events } = this.#needs
    const attributedTo = decision === 'attribute' ? attributeTo(order) : null
    if (attributedTo !== null && !(await events.accepts(event, attributedTo))) {
      throw notAccepted('it is of another kind, or does not exist')
    }
    const outcome = handedOver(read, decision)
    const isOrdered = await events.applyAgain({
      inboxId: event.inboxId,
      ordinal: event.ordinal,
      caseId: read.id,
      setAsideAt: event.setAsideAt ?? 0,
      attributedTo,
      audit: auditOf(read, order, outcome),
    })
    if (!isOrdered) throw new Refusal('version_conflict')
    return outcome
  }

  /** @throws not_found · version_conflict · validation_error */
  async #offered(order: LooseOrder): Promise<{ readonly read: ReadCase; readonly decision: LooseDecision }> {
    const read = await this.read(order.caseId)
    if (!read) throw new Refusal('not_found')
    if (read.version !== order.version) throw new Refusal('version_conflict')
    const offered = optionsOf(read).find(({ decision }) => decision === order.decision)
    if (!offered) throw invalid('decision', `${order.decision} cannot be decided of this case now`)
    assertEvidence(read, order)
    return { read, decision: offered.decision }
  }

  async #eventOf({ facts }: StoredCase): Promise<CaseSubject | undefined> {
    const { inboxId, ordinal } = facts
    if (typeof inboxId !== 'string' || typeof ordinal !== 'number') return undefined
    return this.#needs.events.read({ inboxId, ordinal })
  }
}

/** That money is explained which the bank does not have is not said without evidence. @source rules#desk.54 */
function assertEvidence({ kind }: ReadCase, { decision, evidence }: LooseOrder): void {
  const isOfMissing = kind === 'statement_missing' || kind === 'credit_denied'
  if (decision !== 'close' || !isOfMissing) return
  if (!evidence.reference && !evidence.endToEndId && !evidence.returnId) {
    throw invalid('evidence.reference', 'evidence is needed: the bank’s reference of what explains it')
  }
}

function attributeTo({ attributeTo: operationId }: LooseOrder): string {
  if (operationId === undefined || !isUuid(operationId))
    throw invalid('attributeTo', 'attributeTo must name an operation')
  return operationId
}

function notAccepted(why: string): Refusal {
  return invalid('attributeTo', `the operation does not accept it: ${why}`)
}

function invalid(field: string, message: string): Refusal {
  return new Refusal('validation_error', { message, fields: [{ field, code: 'out_of_range', message }] })
}

function isHandedOver(decision: LooseDecision): boolean {
  return decision === 'attribute' || decision === 'replay'
}

/** What an operation then books of it its own table says. */
function handedOver({ id, subject }: ReadCase, decision: LooseDecision): LooseOutcome {
  const amountCents = subject.is === 'movement' ? subject.valueCents : 0n
  const closes = subject.is === 'movement' ? [id] : []
  return { decision, postings: [], amountCents, adjustments: [], closes, opens: [] }
}

function movementsOf({ subject }: ReadCase) {
  return subject.is === 'movement' ? [{ direction: subject.direction, id: subject.movementId }] : []
}

/** Of the case, of what it is about and of what was booked for it. */
function versionOf(stored: StoredCase, subject: CaseSubject, bookings: number): string {
  const { facts: _, ...rest } = stored
  const known = subject.is === 'event' ? { ...subject, body: subject.body !== null } : subject
  const text = JSON.stringify([rest, known, bookings], (_key, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
  return sha256(text).toString('hex').slice(0, 32)
}
