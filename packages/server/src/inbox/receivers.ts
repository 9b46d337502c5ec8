import type { PartnerEvent, PartnerEventName } from '@pixgate/spec'
import type { CashInModule } from '../cash-in/index.ts'
import type { CashOutModule } from '../cash-out/index.ts'
import type { PartnerReferences, ToldMovement } from '../engine/operation-store.ts'
import type { RefundInModule } from '../refund-in/index.ts'
import { type Meaning, meaningOf, meaningOfReversal } from './meaning.ts'
import { bankReturnOf, cashInInput, cashOutInput, cashOutReversalInput, isNews, refundInInput } from './rules.ts'

/** What takes the events of one name: which operations one could mean, and what it does to them. */
export interface Receiver {
  /** For each set of references, what it could mean. */
  match(references: readonly PartnerReferences[]): Promise<Meaning[]>
  /** Applies an event to an operation; `undefined` where that does not exist. */
  take(id: string, event: PartnerEvent): Promise<Taken | undefined>
  /** Commits «ask the partner now» on an operation. @source failure-modes#EV-9 */
  ask(id: string): Promise<void>
  /** Whether what an event tells was booked on an operation. */
  hasBooked(id: string, movement: ToldMovement): Promise<boolean>
}

/**
 * What became of an event. `EARLY`: it cannot be true yet, but may be soon. `IMPLAUSIBLE`: its time lies in the future.
 * `UNEXPECTED`: it cannot be true. `DISPUTED`: it does not agree with what is known, or lacks what would be booked.
 */
export type Taken = 'APPLIED' | 'IGNORED' | 'IN_PROGRESS' | 'EARLY' | 'IMPLAUSIBLE' | 'UNEXPECTED' | 'DISPUTED'

/** Every event of the partner has its receiver. */
export type Receivers = Readonly<Record<PartnerEventName, Receiver>>

/** The modules whose operations events mean. */
export interface Subjects {
  readonly cashIns: Pick<CashInModule, 'match' | 'takeTold' | 'canAsk' | 'hasBooked'>
  readonly cashOuts: Pick<CashOutModule, 'match' | 'apply' | 'canAsk' | 'hasBooked'>
  readonly refunds: Pick<RefundInModule, 'match' | 'apply' | 'takeReturn' | 'askAboutOpen' | 'canAsk' | 'hasBooked'>
}

/** Makes the receivers. @source rules#partner-inbox.5 */
export function createReceivers({ cashIns, cashOuts, refunds }: Subjects): Receivers {
  const ofCashOuts: Omit<Receiver, 'take'> = {
    match: async (references) => (await cashOuts.match(references)).map(meaningOf),
    ask: async (id) => {
      await cashOuts.apply(id, { on: 'work.requested' })
    },
    hasBooked: cashOuts.hasBooked,
  }
  return {
    CashIn: {
      match: async (references) => (await cashIns.match(references)).map(meaningOf),
      take: async (id, event) => {
        const input = cashInInput(event, !cashIns.canAsk)
        return input ? (await cashIns.takeTold(id, input))?.result : 'IN_PROGRESS'
      },
      ask: async (id) => {
        await cashIns.takeTold(id, { on: 'work.requested' })
      },
      hasBooked: cashIns.hasBooked,
    },
    CashOut: {
      ...ofCashOuts,
      take: async (id, event) => {
        const input = cashOutInput(event, !cashOuts.canAsk)
        return input ? (await cashOuts.apply(id, input))?.result : 'IN_PROGRESS'
      },
    },
    CashOutReversal: {
      ...ofCashOuts,
      take: async (id, event) => {
        const input = cashOutReversalInput(event, cashOuts.canAsk)
        if (input === 'UNTOLD') return 'DISPUTED'
        return input ? (await cashOuts.apply(id, input))?.result : 'IN_PROGRESS'
      },
    },
    CashInReversal: cashInReversalReceiver(cashIns, refunds),
  }
}

/**
 * A reversal of a cash-in is about one of our refunds, or else about the cash-in: then whose it is its
 * refunds tell. A client's reference is a refund's: that of a charge does not name what went back.
 * @source rules#partner-inbox.10, rules#partner-inbox.12, failure-modes#EV-27, failure-modes#EV-34
 */
function cashInReversalReceiver(cashIns: Subjects['cashIns'], refunds: Subjects['refunds']): Receiver {
  return {
    match: async (references) => {
      const [ours, theirs] = await Promise.all([refunds.match(references), cashIns.match(references)])
      return references.map((_, index) => {
        const named = (theirs[index] ?? []).filter(({ by }) => by !== 'externalId')
        return meaningOfReversal(ours[index] ?? [], named)
      })
    },
    take: async (id, event) => {
      const input = refundInInput(event, refunds.canAsk)
      if (!input) return 'IN_PROGRESS'
      if (input !== 'UNTOLD') {
        const outcome = await refunds.apply(id, input)
        if (outcome) return outcome.result
      }
      // No refund of ours has this id: it is the cash-in's. What says that no money moved may be about one that is open.
      if (!isNews(event)) return refunds.askAboutOpen(id)
      const returned = bankReturnOf(event)
      if (!returned) return 'DISPUTED'
      const { result } = await refunds.takeReturn(id, returned)
      // The answer may name what the event did not.
      if (returned.isUnnamed && cashIns.canAsk) await cashIns.takeTold(id, { on: 'work.requested' })
      return result
    },
    ask: async (id) => {
      const refund = await refunds.apply(id, { on: 'work.requested' })
      if (!refund) await cashIns.takeTold(id, { on: 'work.requested' })
    },
    hasBooked: async (id, movement) =>
      (await refunds.hasBooked(id, movement)) || (await cashIns.hasBooked(id, movement)),
  }
}
