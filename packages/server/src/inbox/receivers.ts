import type {
  ChargeEvent,
  EventReferences,
  EventSubject,
  PayoutEvent,
  ReadableEvent,
  RefundEvent,
} from '../banks/inbound.ts'
import type { CashInModule } from '../cash-in/index.ts'
import type { CashOutModule } from '../cash-out/index.ts'
import type { ReportedMovement } from '../engine/operation-store.ts'
import type { RefundInModule } from '../refund-in/index.ts'
import {
  bankReturnOf,
  cashInInput,
  cashOutInput,
  type InputOf,
  type Meaning,
  meaningOf,
  meaningOfReversal,
  refundInInput,
  saysMoneyMoved,
} from './rules.ts'

/** What events about one kind of operation are applied to: which ones an event could mean, and what it does to them. */
export interface Receiver<Event extends ReadableEvent = ReadableEvent> {
  /** For each set of references, what it could mean. */
  match(references: readonly EventReferences[]): Promise<Meaning[]>
  /** Applies an event to an operation; `undefined` where that does not exist. */
  apply(id: string, event: Event): Promise<Applied | undefined>
  /** Commits «ask the bank now» on an operation. @source failure-modes#EV-9 */
  ask(id: string): Promise<void>
  /** Whether what an event tells was booked on an operation. */
  hasBooked(id: string, movement: ReportedMovement): Promise<boolean>
  /** Whether there is such an operation. */
  exists(id: string): Promise<boolean>
  /** Whether the bank can be asked about one. */
  readonly canAsk: boolean
}

/**
 * What became of an event. `EARLY`: it cannot be true yet, but may be soon. `IMPLAUSIBLE`: its time lies in the future.
 * `UNEXPECTED`: it cannot be true. `DISPUTED`: it does not agree with what is known, or lacks what would be booked.
 */
export type Applied = 'APPLIED' | 'IGNORED' | 'IN_PROGRESS' | 'EARLY' | 'IMPLAUSIBLE' | 'UNEXPECTED' | 'DISPUTED'

/** Every subject of an event has its receiver. */
export interface Receivers
  extends Readonly<Record<EventSubject, Pick<Receiver, 'match' | 'ask' | 'hasBooked' | 'exists' | 'canAsk'>>> {
  readonly charge: Receiver<ChargeEvent>
  readonly payout: Receiver<PayoutEvent>
  readonly refund: Receiver<RefundEvent>
}

/** Applies an event to an operation of its subject; `undefined` where that does not exist. */
export function applyEvent(receivers: Receivers, id: string, event: ReadableEvent): Promise<Applied | undefined> {
  switch (event.subject) {
    case 'charge':
      return receivers.charge.apply(id, event)
    case 'payout':
      return receivers.payout.apply(id, event)
    case 'refund':
      return receivers.refund.apply(id, event)
  }
}

/** The modules whose operations events mean. */
export interface Subjects {
  readonly cashIns: Pick<CashInModule, 'match' | 'applyEvent' | 'canAsk' | 'hasBooked' | 'exists'>
  readonly cashOuts: Pick<CashOutModule, 'match' | 'apply' | 'canAsk' | 'hasBooked' | 'exists'>
  readonly refunds: Pick<
    RefundInModule,
    'match' | 'apply' | 'applyReturn' | 'askAboutOpen' | 'canAsk' | 'hasBooked' | 'exists'
  >
}

/** Makes the receivers. */
export function createReceivers({ cashIns, cashOuts, refunds }: Subjects): Receivers {
  return {
    charge: createReceiver(cashIns, cashIns.applyEvent, cashInInput),
    payout: createReceiver(cashOuts, cashOuts.apply, cashOutInput),
    refund: createRefundReceiver(cashIns, refunds),
  }
}

type QueryRequested = { readonly on: 'work.requested' }

/** Of operations that events name by their own references. */
function createReceiver<Event extends ReadableEvent, Input>(
  { match, canAsk, hasBooked, exists }: Matched,
  apply: (id: string, input: NoInfer<Input> | QueryRequested) => Promise<{ readonly result: Applied } | undefined>,
  inputOf: (event: Event, canAsk: boolean) => InputOf<Input>,
): Receiver<Event> {
  return {
    match: async (references) => (await match(references)).map(meaningOf),
    apply: async (id, event) => {
      const input = inputOf(event, canAsk)
      if (input === 'UNTOLD') return 'DISPUTED'
      return input ? (await apply(id, input))?.result : 'IN_PROGRESS'
    },
    ask: async (id) => {
      await apply(id, { on: 'work.requested' })
    },
    hasBooked,
    exists,
    canAsk,
  }
}

/** What is asked of the module of such operations. */
type Matched = Pick<CashOutModule, 'match' | 'canAsk' | 'hasBooked' | 'exists'>

/**
 * What went back of a payment is one of our refunds, or else the cash-in's: then whose it is its refunds tell. A client's
 * reference is a refund's: that of a charge does not name what went back.
 * @source rules#partner-inbox.10, rules#partner-inbox.12, failure-modes#EV-27, failure-modes#EV-34
 */
function createRefundReceiver(cashIns: Subjects['cashIns'], refunds: Subjects['refunds']): Receiver<RefundEvent> {
  /** No refund of ours has this id: it is the cash-in's. What says that no money moved may be about one that is open. */
  async function applyToCashIn(id: string, event: RefundEvent): Promise<Applied> {
    if (!saysMoneyMoved(event)) return refunds.askAboutOpen(id)
    if (event.kind !== 'payment_returned') return 'DISPUTED'
    const { result } = await refunds.applyReturn(id, bankReturnOf(event))
    // The answer may name what the event did not.
    if (event.isUnnamed && cashIns.canAsk) await cashIns.applyEvent(id, { on: 'work.requested' })
    return result
  }

  return {
    match: async (references) => {
      const [ours, theirs] = await Promise.all([refunds.match(references), cashIns.match(references)])
      return references.map((_, index) => {
        const named = (theirs[index] ?? []).filter(({ by }) => by !== 'externalId')
        return meaningOfReversal(ours[index] ?? [], named)
      })
    },
    apply: async (id, event) => {
      const input = refundInInput(event, refunds.canAsk)
      if (!input) return 'IN_PROGRESS'
      const outcome = input === 'UNTOLD' ? undefined : await refunds.apply(id, input)
      return outcome ? outcome.result : applyToCashIn(id, event)
    },
    ask: async (id) => {
      const outcome = await refunds.apply(id, { on: 'work.requested' })
      // What the bank gave back by itself its answer about the charge tells.
      const { cashInId, origin } = outcome?.refund.detail ?? { cashInId: id, origin: 'PARTNER' }
      if (origin === 'PARTNER' && cashInId !== null) await cashIns.applyEvent(cashInId, { on: 'work.requested' })
    },
    hasBooked: async (id, movement) =>
      (await refunds.hasBooked(id, movement)) || (await cashIns.hasBooked(id, movement)),
    exists: async (id) => (await refunds.exists(id)) || (await cashIns.exists(id)),
    canAsk: refunds.canAsk,
  }
}
