import { type LooseDecision, Refusal } from '@pixgate/spec'
import { CASE_TIMES } from '../../engine/case-line.ts'
import type { Command, Decision, MovementId, State } from '../../engine/operation.ts'
import { sha256 } from '../../platform/crypto.ts'
import type { Queries } from '../../platform/db/database.ts'
import { type Ids, isUuid } from '../../platform/ids.ts'
import { notDecidable } from '../by-table.ts'
import type { HandedOver } from '../decider.ts'
import { isReversal } from './bookings.ts'
import type { CaseSubject, LooseOption, LooseOrder, ReadCase, StoredCase } from './case.ts'
import type { ChargeDesk, EventDesk, StatementDesk } from './ports.ts'
import { decideLoose, handedCents, leftCents, optionsOf } from './rules.ts'
import { createLooseStore, type LooseStore } from './store.ts'
import { aboutOf, moneyOf } from './subject.ts'

/** Cases of no operation, and what an operator decides of them. */
export interface LooseDesk {
  /**
   * A case with what it is about; `undefined` where there is none that has no operation.
   * @param queries of a transaction that has written it
   */
  read(caseId: string, queries?: Queries): Promise<ReadCase | undefined>
  /** The same, and how often any such case had been decided before it was read. */
  look(caseId: string): Promise<{ readonly read: ReadCase; readonly seen: bigint } | undefined>
  /** What may be decided of it here and now. @source rules#desk.50 */
  options(read: ReadCase): readonly LooseOption[]
  /**
   * A decision as it is ordered, with all that it must look up.
   * @throws validation_error (400) · not_possible_in_state (409)
   * @source rules#desk.51, rules#desk.52
   */
  prepare(read: ReadCase, order: LooseOrder): Promise<PreparedLoose>
}

/** A decision that can be made. */
export interface PreparedLoose {
  /** What a command must look at to decide. */
  readonly looks: Omit<Command<unknown>, 'decide'>
  /**
   * Decides. Pure.
   * @throws not_possible_in_state · case_changed (409)
   */
  decide(state: State, now: number): Decision<unknown>
  /** What an operation is handed, centavos; `null`: nobody knows. */
  readonly handedCents: bigint | null
  /** What it leaves as it is, where it moves nothing, centavos; `null`: nobody knows. */
  readonly leftCents: bigint | null
}

/** Some case of no operation was decided since this one was read: it is to be read again. */
export class CasesMoved extends Error {}

/** What the desk works with. */
export interface LooseDependencies {
  readonly store: LooseStore
  readonly ids: Ids
  readonly events: EventDesk
  readonly statement: StatementDesk
  readonly charges: ChargeDesk
}

/** The desk as one class: its parts share what they read. */
export class LooseCommands implements LooseDesk {
  readonly #needs: LooseDependencies

  constructor(needs: LooseDependencies) {
    this.#needs = needs
  }

  async read(caseId: string, queries?: Queries): Promise<ReadCase | undefined> {
    const store = queries ? createLooseStore(queries) : this.#needs.store
    const stored = await store.get(caseId)
    if (!stored) return undefined
    const about = aboutOf(stored)
    const booked = await store.booked(about)
    const subject = (await this.#eventOf(stored)) ?? moneyOf(stored, booked, await store.known(stored))
    const decisions = await store.decisions(caseId)
    return { ...stored, about, booked, subject, version: versionOf(stored, subject, [booked.length, decisions]) }
  }

  async look(caseId: string) {
    // In this order: whoever decides later moves the version.
    const seen = await this.#needs.store.version()
    const read = await this.read(caseId)
    return read && { read, seen }
  }

  options(read: ReadCase): readonly LooseOption[] {
    return optionsOf(read)
  }

  async prepare(read: ReadCase, order: LooseOrder): Promise<PreparedLoose> {
    const decision = offered(read, order)
    const attributedTo = decision === 'book' ? namedOperation(order) : null
    if (attributedTo !== null) await this.#assertAccepted(read, attributedTo)
    const handed = this.#reversal(read, order, decision) ?? (await this.#handed(read, attributedTo))
    const deciding = { read, order, attributedTo, handed, id: this.#needs.ids.uuid() }
    return {
      looks: looksOf(read, handed),
      decide: (state, now) => decideLoose(deciding, state, now, decision),
      handedCents: handedCents(read, decision),
      leftCents: leftCents(read, decision),
    }
  }

  async #assertAccepted({ subject }: ReadCase, operationId: string): Promise<void> {
    const { events, statement } = this.#needs
    const isAccepted =
      subject.is === 'event'
        ? await events.accepts(subject, operationId)
        : subject.is === 'movement' && (await statement.accepts(subject.entry, operationId))
    if (!isAccepted) throw invalid('operationId', 'the operation is of another kind, or does not exist')
  }

  /** A movement that is handed over, as a command of the operation that takes it. */
  async #handed({ subject }: ReadCase, to: string | null): Promise<HandedOver | undefined> {
    if (subject.is !== 'movement' || to === null) return undefined
    const { entry: kind, direction, movementId } = subject
    const handed = await this.#needs.statement.command({ kind, direction, movementId }, to)
    if (!handed) throw notPossible('the statement has the movement no more')
    return handed
  }

  /** A credit that its charge takes back. */
  #reversal({ subject, id: caseId }: ReadCase, order: LooseOrder, decision: LooseDecision): HandedOver | undefined {
    if (!isReversal(subject, decision)) return undefined
    const { operator, reason = '' } = order
    const { decide, ...looks } = this.#needs.charges.reversal(subject.chargeId, { caseId, operator, reason })
    return { ...looks, decide: (state, now) => ({ ...decide(state, now), outcome: { result: 'APPLIED' } }) }
  }

  async #eventOf({ facts }: StoredCase): Promise<CaseSubject | undefined> {
    const { inboxId, ordinal } = facts
    if (typeof inboxId !== 'string' || typeof ordinal !== 'number') return undefined
    return this.#needs.events.read({ inboxId, ordinal })
  }
}

const NOTHING_HANDED: HandedOver = { reads: [], decide: () => ({ outcome: undefined }) }

/** With its own movement, and all that whoever takes it looks at. */
function looksOf({ subject }: ReadCase, handed: HandedOver | undefined): PreparedLoose['looks'] {
  const own: MovementId[] = subject.is === 'movement' ? [{ direction: subject.direction, id: subject.movementId }] : []
  const isOwn = ({ direction, id }: MovementId) => own.some((one) => one.direction === direction && one.id === id)
  const { decide: _, movements = [], controls = [], ...others } = handed ?? NOTHING_HANDED
  return {
    ...others,
    movements: [...own, ...movements.filter((movement) => !isOwn(movement))],
    controls: [...controls, 'loose_cases'],
  }
}

/** @throws not_possible_in_state (409) it is not offered */
function offered(read: ReadCase, { decision }: LooseOrder): LooseDecision {
  const option = optionsOf(read).find((one) => one.decision === decision)
  if (!option) throw notDecidable({ decision }, read)
  return option.decision
}

/** @throws validation_error (400) */
function namedOperation({ operationId }: LooseOrder): string {
  if (operationId === undefined || !isUuid(operationId)) {
    throw invalid('operationId', 'operationId must name an operation')
  }
  return operationId
}

function notPossible(message: string): Refusal {
  return new Refusal('not_possible_in_state', { message })
}

function invalid(field: string, message: string): Refusal {
  return new Refusal('validation_error', { message, fields: [{ field, code: 'out_of_range', message }] })
}

/** Of the case without when it happened, of what it is about, and of what was booked and decided of it. @source rules#desk.51 */
function versionOf(stored: StoredCase, subject: CaseSubject, counts: readonly number[]): string {
  const known = subject.is === 'event' ? { ...subject, body: subject.body !== null } : subject
  const isTime = (name: string) => (CASE_TIMES as readonly string[]).includes(name)
  const facts = Object.entries(stored.facts).filter(([name]) => !isTime(name))
  const text = JSON.stringify([{ ...stored, facts }, known, counts], (_key, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
  return sha256(text).toString('hex').slice(0, 32)
}
