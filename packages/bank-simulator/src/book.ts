import type { PartnerChargeRequest, PartnerEvent, PartnerPayment } from '@pixgate/spec'
import { openJournal } from './journal.ts'

/** The bank's book: what it knows, derived from its journal and nothing else. */

/** A charge as the bank keeps it. `EXPIRED` is not kept: it is a matter of the clock. */
export interface Charge {
  readonly id: string
  readonly transactionId: string
  readonly request: PartnerChargeRequest
  readonly pixCode: string
  status: 'ACTIVE' | 'PAID' | 'CANCELLED' | 'FAILED'
  readonly payments: PartnerPayment[]
}

/** Which of the service's doors an event goes to. */
export type EventEndpoint = 'cash-in' | 'cash-out'

/** An event that must reach the service. */
export interface QueuedEvent {
  readonly id: string
  readonly endpoint: EventEndpoint
  readonly event: PartnerEvent
}

/** One line of the journal. */
export type Entry =
  | { readonly type: 'charge created'; readonly charge: Omit<Charge, 'status' | 'payments'> }
  | { readonly type: 'charge cancelled' | 'charge failed'; readonly id: string }
  | { readonly type: 'charge paid'; readonly id: string; readonly payment: PartnerPayment }
  | { readonly type: 'event queued'; readonly event: QueuedEvent }
  | { readonly type: 'event delivered'; readonly id: string }

/** The book in memory, and the way to write in it. */
export interface Book {
  readonly charges: ReadonlyMap<string, Charge>
  /** Events that the service has not acknowledged yet. */
  readonly pendingEvents: ReadonlyMap<string, QueuedEvent>
  /** Every payment received, oldest first. */
  readonly payments: readonly { readonly chargeId: string; readonly payment: PartnerPayment }[]
  /** Writes entries together; they count at once, and are on the disk when this resolves. */
  write(entries: readonly Entry[]): Promise<void>
  close(): Promise<void>
}

/** Opens the book of a directory, as it stood when the bank last answered. */
export async function openBook(directory: string): Promise<Book> {
  const charges = new Map<string, Charge>()
  const pendingEvents = new Map<string, QueuedEvent>()
  const payments: { chargeId: string; payment: PartnerPayment }[] = []

  function apply(entry: Entry): void {
    switch (entry.type) {
      case 'charge created':
        charges.set(entry.charge.id, { ...entry.charge, status: 'ACTIVE', payments: [] })
        break
      case 'charge cancelled':
        known(entry.id).status = 'CANCELLED'
        break
      case 'charge failed':
        known(entry.id).status = 'FAILED'
        break
      case 'charge paid': {
        const charge = known(entry.id)
        charge.status = 'PAID'
        charge.payments.push(entry.payment)
        payments.push({ chargeId: entry.id, payment: entry.payment })
        break
      }
      case 'event queued':
        pendingEvents.set(entry.event.id, entry.event)
        break
      case 'event delivered':
        pendingEvents.delete(entry.id)
        break
    }
  }

  function known(id: string): Charge {
    const charge = charges.get(id)
    if (!charge) throw new Error(`the book has no charge ${id}`)
    return charge
  }

  const journal = await openJournal<Entry>(directory)
  for (const entry of journal.entries) apply(entry)
  return {
    charges,
    pendingEvents,
    payments,
    write: (entries) => {
      for (const entry of entries) apply(entry)
      return journal.append(entries)
    },
    close: () => journal.close(),
  }
}
