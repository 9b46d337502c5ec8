import { join } from 'node:path'
import type { PartnerChargeRequest } from '@pixgate/spec'
import { type BankEvent, confirmationEvent, failureEvent } from './events.ts'
import type { Fact, Payment } from './facts.ts'
import { Journal } from './journal.ts'

/** A charge as the facts left it. That it expired is no fact: it is seen by looking at the clock. */
export interface Charge {
  readonly id: string
  readonly transactionId: string
  readonly pixCode: string
  readonly terms: PartnerChargeRequest
  readonly status: 'ACTIVE' | 'PAID' | 'CANCELLED' | 'FAILED'
  /** In the order of booking; more than one where it was paid twice. */
  readonly payments: readonly Payment[]
}

/** Money that moved: a line of the statement. */
export interface Entry {
  readonly kind: 'PAYMENT_RECEIVED'
  readonly endToEndId: string
  /** The id the service gave to what the money moved for. */
  readonly reference: string
  readonly valueCents: number
  readonly sign: '+' | '-'
  /** ISO 8601, UTC. */
  readonly occurredAt: string
  /** Epoch milliseconds. */
  readonly bookedAt: number
}

/** The bank's own account of what happened: facts on the disk, and the state that follows from them in memory. */
export class Book {
  readonly #journal: Journal
  readonly #charges = new Map<string, Charge>()
  readonly #entries: Entry[] = []
  readonly #events = new Map<string, BankEvent>()
  #listener: ((event: BankEvent) => void) | undefined

  private constructor(journal: Journal) {
    this.#journal = journal
  }

  /**
   * Opens the book kept in a directory, or begins one there.
   * @throws Error where the directory cannot be used or a line of the book cannot be read
   */
  static async open(directory: string): Promise<Book> {
    const { journal, lines } = await Journal.open(join(directory, 'book.jsonl'))
    const book = new Book(journal)
    try {
      for (const line of lines) book.#apply(JSON.parse(line) as Fact)
    } catch (error) {
      await journal.close()
      throw error
    }
    return book
  }

  /** By id. */
  get charges(): ReadonlyMap<string, Charge> {
    return this.#charges
  }

  /** In the order of booking. */
  get entries(): readonly Entry[] {
    return this.#entries
  }

  /** In the order of what they tell, by event id. */
  get events(): ReadonlyMap<string, BankEvent> {
    return this.#events
  }

  /** Books a fact. It shows at once, but nobody may be told before {@link durable} has resolved. */
  record(fact: Fact): void {
    this.#journal.append(JSON.stringify(fact))
    this.#apply(fact)
  }

  /** Resolves when all that was booked so far would survive the death of the process. */
  durable(): Promise<void> {
    return this.#journal.flushed()
  }

  /** Hands over every event the service has not taken yet: those of the past now, and each new one when it is booked. */
  onEvent(listener: (event: BankEvent) => void): void {
    this.#listener = listener
    for (const event of this.#events.values()) if (event.deliveredAt === undefined) listener(event)
  }

  /** Makes everything durable and closes the file; nothing can be booked afterwards. */
  close(): Promise<void> {
    return this.#journal.close()
  }

  #apply(fact: Fact): void {
    switch (fact.fact) {
      case 'charge created': {
        const { chargeId: id, transactionId, pixCode, terms } = fact
        this.#charges.set(id, { id, transactionId, pixCode, terms, status: 'ACTIVE', payments: [] })
        break
      }
      case 'charge paid': {
        const { payment } = fact
        const charge = this.#charge(fact.chargeId)
        this.#charges.set(charge.id, { ...charge, status: 'PAID', payments: [...charge.payments, payment] })
        const { endToEndId, valueCents, occurredAt } = payment
        const moved = { endToEndId, reference: charge.id, valueCents, occurredAt, bookedAt: fact.at }
        this.#entries.push({ kind: 'PAYMENT_RECEIVED', sign: '+', ...moved })
        this.#tell(confirmationEvent(charge, fact))
        break
      }
      case 'charge cancelled': {
        const charge = this.#charge(fact.chargeId)
        this.#charges.set(charge.id, { ...charge, status: 'CANCELLED' })
        break
      }
      case 'charge failed': {
        const charge = this.#charge(fact.chargeId)
        this.#charges.set(charge.id, { ...charge, status: 'FAILED' })
        this.#tell(failureEvent(charge, fact))
        break
      }
      case 'event delivered': {
        const event = this.#events.get(fact.eventId)
        if (event) this.#events.set(fact.eventId, { ...event, deliveredAt: fact.at })
        break
      }
      default:
        throw new Error(`the book has a fact that this bank does not know: ${JSON.stringify(fact satisfies never)}`)
    }
  }

  #charge(id: string): Charge {
    const charge = this.#charges.get(id)
    if (!charge) throw new Error(`the book tells of charge ${id} before it was created`)
    return charge
  }

  #tell(event: BankEvent): void {
    this.#events.set(event.body.eventId, event)
    this.#listener?.(event)
  }
}
