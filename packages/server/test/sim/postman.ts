import type { Chance } from '../fuzz/chance.ts'
import type { Agenda } from './agenda.ts'
import type { Bank } from './bank.ts'
import { anySubject, bodyOf, changedEvent, failedEvent, type SentEvent } from './bank-events.ts'
import type { Faults } from './faults.ts'

/** Who carries the bank's events to us: loses, delays, repeats, reorders, and brings what the bank never wrote. */

/** What it needs. */
export interface PostmanOptions {
  readonly chance: Chance
  readonly faults: Faults
  readonly agenda: Agenda
  readonly now: () => number
  /** Brings a callback to a process; what is not taken in is brought again. */
  readonly bring: (body: Buffer, isProven: boolean) => void
}

const MINUTE = 60_000

/** The postman. */
export class Postman {
  readonly #options: PostmanOptions

  constructor(options: PostmanOptions) {
    this.#options = options
  }

  /** Takes an event of the bank. */
  send(event: SentEvent, bank: Bank): void {
    const { faults, chance } = this.#options
    const id = event.references.externalId ?? ''
    if (faults.hit('event lost', 0.3)) return
    this.#bring(event, this.#delayMs(), !faults.hit('event unproven', 0.1))
    this.#repeat(event)
    if (bank.lies('event lies', 0.1, id)) this.#bring(lying(event), chance.below(MINUTE))
    if (bank.lies('event contradicted', 0.1, id))
      this.#bring({ ...event, note: 'otherwise' } as SentEvent, chance.below(MINUTE))
    if (bank.lies('event untimely', 0.05, id)) this.#bring(untimely(event), chance.below(MINUTE))
    if (faults.hit('event unknown', 0.3)) {
      const references = { transactionId: bank.book.name('T'), externalId: null, endToEndId: null }
      this.#bring({ ...event, references, what: bank.book.name('W') } as SentEvent, 0)
    }
    if (faults.hit('event unreadable', 0.3))
      this.#bringBytes({ kind: 'unreadable', what: bank.book.name('W'), fault: 'no amount', named: undefined })
    this.noise(bank)
  }

  /** What is part of anything that there is. */
  noise(bank: Bank): void {
    const { faults, chance, now } = this.#options
    const any = anySubject(bank.book, chance.below(1_000_000))
    if (!any) return
    if (faults.hit('event incomplete', 0.8)) {
      const event = { ...changedEvent(any.subject, any.of, chance.bool(0.5)), what: bank.book.name('W') }
      this.#bring(event, chance.below(MINUTE))
      this.#repeat(event)
    }
    if (bank.lies('event failure', 0.3, any.of.id)) {
      this.#bring(
        { ...failedEvent(any.subject, any.of, now()), what: bank.book.name('W') } as SentEvent,
        chance.below(MINUTE),
      )
    }
  }

  #repeat(event: SentEvent): void {
    const { faults, chance } = this.#options
    for (let again = 0; again < 60 && faults.hit('event repeated', 1); again++) {
      this.#bring(event, chance.below(10 * MINUTE))
    }
  }

  #delayMs(): number {
    const { faults, chance } = this.#options
    if (faults.hit('event late', 0.5)) return chance.below(30 * MINUTE)
    return faults.hit('event reordered', 0.9) ? chance.below(10_000) : 0
  }

  #bring(event: SentEvent, afterMs: number, isProven = true): void {
    const { agenda, now, bring } = this.#options
    const body = bodyOf(event)
    agenda.at(now() + afterMs, () => bring(body, isProven))
  }

  #bringBytes(event: object): void {
    const { agenda, now, bring } = this.#options
    agenda.at(now(), () => bring(bodyOf(event), true))
  }
}

/** The same with another amount. */
function lying(event: SentEvent): SentEvent {
  return changed(event, (part) => ({ ...part, valueCents: (part.valueCents as bigint) + 1n }))
}

/** The same at a time that is yet to come. */
function untimely(event: SentEvent): SentEvent {
  return changed(event, (part) => ({ ...part, occurredAt: (part.occurredAt as number) + 3_600_000 }))
}

function changed(event: SentEvent, change: (told: Record<string, unknown>) => object): SentEvent {
  const parts = event as unknown as Record<string, Record<string, unknown> | undefined>
  const part = ['payment', 'movement', 'returned'].find((name) => parts[name] !== undefined)
  return (part ? { ...event, what: `${event.what} otherwise`, [part]: change(parts[part] ?? {}) } : event) as SentEvent
}
