import { type LooseDecision, Refusal } from '@pixgate/spec'
import type { Command, Decision, State } from '../../engine/operation.ts'
import { sha256 } from '../../platform/crypto.ts'
import { type Ids, isUuid } from '../../platform/ids.ts'
import type { CaseSubject, LooseOption, LooseOrder, ReadCase, StoredCase } from './case.ts'
import type { EventDesk, StatementDesk } from './ports.ts'
import { decideLoose, movedCents, optionsOf } from './rules.ts'
import type { LooseStore } from './store.ts'
import { aboutOf, moneyOf } from './subject.ts'

/** Cases of no operation, and what an operator decides of them. */
export interface LooseDesk {
  /** A case with what it is about; `undefined` where there is none that has no operation. */
  read(caseId: string): Promise<ReadCase | undefined>
  /** The same, and how often any such case had been decided before it was read. */
  look(caseId: string): Promise<{ readonly read: ReadCase; readonly seen: bigint } | undefined>
  /** What may be decided of it here and now. @source rules#desk.50 */
  options(read: ReadCase): readonly LooseOption[]
  /** What a command must read to decide. */
  looks(read: ReadCase): Pick<Command<unknown>, 'reads' | 'movements' | 'controls'>
  /** Ids for what a decision books. */
  ids(): readonly string[]
  /**
   * Decides. Pure.
   * @throws not_possible_in_state · case_changed (409)
   * @source rules#desk.51
   */
  decide(read: ReadCase, order: LooseOrder, state: State, ids: readonly string[]): Decision<unknown>
  /** What a decision moves that an operation books by its own table, centavos. */
  handedCents(read: ReadCase, order: LooseOrder): bigint
  /** Whether what an order names is there. @throws validation_error (400) */
  check(read: ReadCase, order: LooseOrder): Promise<void>
  /** Hands over what was decided to be. @throws not_possible_in_state (409) the operation did not accept it */
  carryOut(read: ReadCase, order: LooseOrder): Promise<void>
}

/** Some case of no operation was decided since this one was read: it is to be read again. */
export class CasesMoved extends Error {}

/** What the desk works with. */
export interface LooseDependencies {
  readonly store: LooseStore
  readonly ids: Ids
  readonly events: EventDesk
  readonly statement: StatementDesk
}

/** A decision books at most so many adjustments. */
const STEPS_MAX = 3

/** The desk as one class: its parts share what they read. */
export class LooseCommands implements LooseDesk {
  readonly #needs: LooseDependencies

  constructor(needs: LooseDependencies) {
    this.#needs = needs
  }

  async read(caseId: string): Promise<ReadCase | undefined> {
    const { store } = this.#needs
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

  looks({ subject }: ReadCase) {
    const movements = subject.is === 'movement' ? [{ direction: subject.direction, id: subject.movementId }] : []
    return { reads: [], movements, controls: ['loose_cases'] as const }
  }

  ids(): readonly string[] {
    return Array.from({ length: STEPS_MAX }, () => this.#needs.ids.uuid())
  }

  decide(read: ReadCase, order: LooseOrder, state: State, ids: readonly string[]): Decision<unknown> {
    return decideLoose({ read, order, ids }, state, offered(read, order))
  }

  handedCents(read: ReadCase, order: LooseOrder): bigint {
    return order.decision === 'attribute' ? movedCents(read) : 0n
  }

  async check(read: ReadCase, order: LooseOrder): Promise<void> {
    const { events, statement } = this.#needs
    const { subject } = read
    const decision = offered(read, order)
    assertEvidence(read, order)
    if (decision !== 'attribute') return
    const operationId = attributeTo(order)
    const isAccepted =
      subject.is === 'event'
        ? await events.accepts(subject, operationId)
        : subject.is === 'movement' && (await statement.accepts(subject.entry, operationId))
    if (!isAccepted) throw invalid('attributeTo', 'the operation is of another kind, or does not exist')
  }

  async carryOut({ id, subject }: ReadCase, order: LooseOrder): Promise<void> {
    const { events, statement } = this.#needs
    const isAttributed = order.decision === 'attribute'
    if (subject.is === 'movement' && isAttributed) {
      const { entry: kind, direction, movementId } = subject
      const result = await statement.handOver({ kind, direction, movementId }, attributeTo(order))
      if (result !== 'APPLIED') throw notPossible(`the operation does not accept it: ${result}`)
    }
    if (subject.is !== 'event' || (!isAttributed && order.decision !== 'replay')) return
    const { inboxId, ordinal, setAsideAt } = subject
    const attributedTo = isAttributed ? attributeTo(order) : null
    await events.applyAgain({ inboxId, ordinal, caseId: id, setAsideAt: setAsideAt ?? 0, attributedTo })
  }

  async #eventOf({ facts }: StoredCase): Promise<CaseSubject | undefined> {
    const { inboxId, ordinal } = facts
    if (typeof inboxId !== 'string' || typeof ordinal !== 'number') return undefined
    return this.#needs.events.read({ inboxId, ordinal })
  }
}

/** @throws not_possible_in_state (409) it is not offered */
function offered(read: ReadCase, { decision }: LooseOrder): LooseDecision {
  const option = optionsOf(read).find((one) => one.decision === decision)
  if (!option) throw notPossible(`${decision} is no decision for a case ${read.kind} as things are`)
  return option.decision
}

/** That money is explained which the bank does not have is not said without evidence. @source rules#desk.54 */
function assertEvidence({ kind }: ReadCase, { decision, evidence }: LooseOrder): void {
  const isOfMissing = kind === 'statement_missing' || kind === 'credit_denied'
  if (decision !== 'close' || !isOfMissing) return
  if (!evidence.reference && !evidence.endToEndId && !evidence.returnId) {
    throw invalid('evidence.reference', 'evidence is needed: the bank’s reference of what explains it')
  }
}

/** @throws validation_error (400) */
function attributeTo({ attributeTo: operationId }: LooseOrder): string {
  if (operationId === undefined || !isUuid(operationId)) {
    throw invalid('attributeTo', 'attributeTo must name an operation')
  }
  return operationId
}

function notPossible(message: string): Refusal {
  return new Refusal('not_possible_in_state', { message })
}

function invalid(field: string, message: string): Refusal {
  return new Refusal('validation_error', { message, fields: [{ field, code: 'out_of_range', message }] })
}

/** Of the case, of what it is about, and of what was booked and decided of it. */
function versionOf(stored: StoredCase, subject: CaseSubject, counts: readonly number[]): string {
  const { facts: _, ...rest } = stored
  const known = subject.is === 'event' ? { ...subject, body: subject.body !== null } : subject
  const text = JSON.stringify([rest, known, counts], (_key, value) => (typeof value === 'bigint' ? `${value}` : value))
  return sha256(text).toString('hex').slice(0, 32)
}
