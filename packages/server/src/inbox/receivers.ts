import type { EventReferences, EventSubject, ReadableEvent, RefundEvent } from '../banks/inbound.ts'
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

/** Operations of one kind as targets of events: which ones an event may mean, and its effect on them. */
export interface Receiver<Event extends ReadableEvent = ReadableEvent> {
  match(references: readonly EventReferences[]): Promise<Meaning[]>
  apply(id: string, event: Event): Promise<Applied | undefined>
  /** Requests a query of an operation. @source failure-modes#EV-9 */
  ask(id: string): Promise<unknown>
  hasBooked(id: string, movement: ReportedMovement): Promise<boolean>
  exists(id: string): Promise<boolean>
  readonly canAsk: boolean
}

/**
 * Result of an event.
 * - `EARLY`: impossible now, but may become possible soon.
 * - `IMPLAUSIBLE`: its time lies in the future.
 * - `UNEXPECTED`: impossible.
 * - `DISPUTED`: contradicts known facts, or lacks data to book.
 */
export type Applied = 'APPLIED' | 'IGNORED' | 'IN_PROGRESS' | 'EARLY' | 'IMPLAUSIBLE' | 'UNEXPECTED' | 'DISPUTED'

/** One receiver per subject of events. */
export type Receivers = Readonly<Record<EventSubject, Receiver>>

export interface Subjects {
  readonly cashIns: Pick<CashInModule, 'get' | 'match' | 'applyEvent' | 'canAsk' | 'hasBooked'>
  readonly cashOuts: Pick<CashOutModule, 'get' | 'match' | 'apply' | 'canAsk' | 'hasBooked'>
  readonly refunds: Pick<
    RefundInModule,
    'get' | 'match' | 'apply' | 'applyReturn' | 'askAboutOpen' | 'canAsk' | 'hasBooked'
  >
}

export function createReceivers({ cashIns, cashOuts, refunds }: Subjects) {
  return {
    charge: createReceiver(cashIns, cashIns.applyEvent, cashInInput),
    payout: createReceiver(cashOuts, cashOuts.apply, cashOutInput),
    refund: createRefundReceiver(cashIns, refunds),
  } satisfies Receivers
}

function createReceiver<Event extends ReadableEvent, Input>(
  { get, match, canAsk, hasBooked }: Pick<CashInModule | CashOutModule, 'get' | 'match' | 'canAsk' | 'hasBooked'>,
  apply: (
    id: string,
    input: NoInfer<Input> | { readonly on: 'work.requested' },
  ) => Promise<{ readonly result: Applied } | undefined>,
  inputOf: (event: Event, canAsk: boolean) => InputOf<Input>,
): Receiver<Event> {
  return {
    match: async (references) => (await match(references)).map(meaningOf),
    apply: async (id, event) => {
      const input = inputOf(event, canAsk)
      if (input === 'INCOMPLETE') return 'DISPUTED'
      return input ? (await apply(id, input))?.result : 'IN_PROGRESS'
    },
    ask: (id) => apply(id, { on: 'work.requested' }),
    hasBooked,
    exists: async (id) => (await get(id)) !== undefined,
    canAsk,
  }
}

/**
 * A returned payment is one of our refunds, or else belongs to the cash-in, whose refunds decide that. A client's
 * reference names a refund; that of a charge does not name the return.
 * @source rules#partner-inbox.10, rules#partner-inbox.12, failure-modes#EV-27, failure-modes#EV-34
 */
function createRefundReceiver(cashIns: Subjects['cashIns'], refunds: Subjects['refunds']): Receiver<RefundEvent> {
  /** No refund has this id, so it is the cash-in's. A failure may be about an open refund. */
  async function applyToCashIn(id: string, event: RefundEvent): Promise<Applied> {
    if (!saysMoneyMoved(event)) return refunds.askAboutOpen(id)
    if (event.kind !== 'payment_returned') return 'DISPUTED'
    const { result } = await refunds.applyReturn(id, bankReturnOf(event))
    // The query's answer may contain the id that the event lacks.
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
      const outcome = input === 'INCOMPLETE' ? undefined : await refunds.apply(id, input)
      return outcome ? outcome.result : applyToCashIn(id, event)
    },
    ask: async (id) => {
      const outcome = await refunds.apply(id, { on: 'work.requested' })
      // Returns by the bank itself are in its answer about the charge.
      const { cashInId, origin } = outcome?.refund.detail ?? { cashInId: id, origin: 'PARTNER' }
      if (origin === 'PARTNER' && cashInId !== null) await cashIns.applyEvent(cashInId, { on: 'work.requested' })
    },
    hasBooked: async (id, movement) =>
      (await refunds.hasBooked(id, movement)) || (await cashIns.hasBooked(id, movement)),
    exists: async (id) => ((await refunds.get(id)) ?? (await cashIns.get(id))) !== undefined,
    canAsk: refunds.canAsk,
  }
}
