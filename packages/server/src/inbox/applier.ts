import type { Naming, ReadableEvent } from '../banks/inbound.ts'
import type { Meaning } from './meaning.ts'
import type { Outcomes } from './outcomes.ts'
import { type Applied, applyEvent, type Receivers } from './receivers.ts'
import { movementOf, namingOf, PARKING_DELAYS_MS, saysMoneyMoved } from './rules.ts'
import type { InboxEvent, InboxResult, InboxStore } from './store.ts'

/** Applies stored events to the operations that they mean, or asks the bank about these. */
export class Applier {
  readonly #store: Pick<InboxStore, 'isOriginalDone'>
  readonly #receivers: Receivers
  readonly #outcomes: Outcomes

  constructor(store: Pick<InboxStore, 'isOriginalDone'>, receivers: Receivers, outcomes: Outcomes) {
    this.#store = store
    this.#receivers = receivers
    this.#outcomes = outcomes
  }

  /** @returns what became of an event */
  async result(row: InboxEvent, meaning: Meaning): Promise<InboxResult> {
    const { event } = row
    if (!row.callback.isProven) return this.#unproven(row, meaning)
    if (event.kind === 'unreadable') {
      if (event.named) await this.#askAbout(event.named, meaning)
      return this.#outcomes.quarantine(row, event.fault, meaning)
    }
    if (row.attributedTo !== null) return this.#attributed(row, event, row.attributedTo)
    if (meaning.among.length === 0) return this.#outcomes.park(row, event, 'no such operation yet', meaning)
    if (row.state === 'CONFLICT' && !(await this.#store.isOriginalDone(row.dedupeKey))) return this.#outcomes.again(row)
    if (meaning.id === undefined) return this.#dispute(row, event, meaning)
    return this.#outcomeOf(row, event, await applyEvent(this.#receivers, meaning.id, event), meaning)
  }

  /**
   * What anybody may have sent is a question to the bank about what it names, whatever it says: never money, and no case.
   * @source rules#partner-inbox.15, failure-modes#EV-47
   */
  async #unproven(row: InboxEvent, meaning: Meaning): Promise<InboxResult> {
    const { event, parkings } = row
    const naming = event.kind === 'in_progress' ? undefined : namingOf(event)
    if (naming && meaning.among.length > 0) {
      await this.#askAbout(naming, meaning)
      return this.#outcomes.done(row, 'ASKED', meaning.id ?? null)
    }
    return naming && parkings < PARKING_DELAYS_MS.length
      ? this.#outcomes.parked(row, 'no such operation yet')
      : this.#outcomes.done(row, 'UNPROVEN', null)
  }

  /**
   * An operator's word alone makes no money of an event: where the bank can be asked, what it confirms of the operation that was
   * named is booked by its own word, and nothing else.
   * @source rules#desk.58
   */
  async #attributed(row: InboxEvent, event: ReadableEvent, id: string): Promise<InboxResult> {
    const meaning = { id, among: [id] }
    if (!this.#receivers[event.subject].canAsk || !saysMoneyMoved(event)) {
      return this.#outcomeOf(row, event, await applyEvent(this.#receivers, id, event), meaning)
    }
    if ((await this.#bookedOn(event, meaning)) !== undefined) return this.#outcomes.done(row, 'KNOWN', id)
    await this.#askAbout(event, meaning)
    return this.#outcomes.park(row, event, 'the bank has not confirmed it', meaning, 'desk.58')
  }

  async #outcomeOf(
    row: InboxEvent,
    event: ReadableEvent,
    applied: Applied | undefined,
    meaning: Meaning,
  ): Promise<InboxResult> {
    switch (applied) {
      case 'IMPLAUSIBLE':
        await this.#askAbout(event, meaning)
        return this.#outcomes.quarantine(row, 'occurredAt lies in the future', meaning)
      case 'UNEXPECTED':
        return this.#outcomes.quarantine(row, 'it cannot be true of this operation', meaning)
      case 'EARLY':
        await this.#askAbout(event, meaning)
        return this.#outcomes.park(row, event, 'too early', meaning)
      case 'DISPUTED':
        return this.#dispute(row, event, meaning)
      default:
        return this.#outcomes.done(row, applied ?? 'IGNORED', meaning.id ?? null)
    }
  }

  /**
   * What its references, or what is known of the operation, do not agree on is applied to nothing. The bank is asked about
   * everything it could mean; what its answers have booked is settled.
   * @source rules#partner-inbox.12, failure-modes#EV-26, failure-modes#EV-34
   */
  async #dispute(row: InboxEvent, event: ReadableEvent, meaning: Meaning): Promise<InboxResult> {
    if (event.kind === 'in_progress') return this.#outcomes.done(row, 'IN_PROGRESS', null)
    const settled = await this.#bookedOn(event, meaning)
    if (settled !== undefined) return this.#outcomes.done(row, 'KNOWN', settled)
    await this.#askAbout(event, meaning)
    if (!saysMoneyMoved(event)) return this.#outcomes.done(row, 'ASKED', null)
    return this.#outcomes.park(row, event, 'its references disagree', meaning, 'partner-inbox.12')
  }

  async #bookedOn(event: ReadableEvent, { among }: Meaning): Promise<string | undefined> {
    const movement = movementOf(event)
    if (!movement) return undefined
    for (const id of among) if (await this.#receivers[event.subject].hasBooked(id, movement)) return id
    return undefined
  }

  async #askAbout({ subject }: Naming, { among }: Meaning): Promise<void> {
    for (const id of among) await this.#receivers[subject].ask(id)
  }
}
