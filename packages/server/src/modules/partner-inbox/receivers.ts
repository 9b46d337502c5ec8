import type { PartnerEvent, PartnerEventName } from '@pixgate/spec'
import type { PartnerReferences } from '../../engine/operation-store.ts'
import type { CashInModule } from '../cash-in/index.ts'
import type { CashOutModule } from '../cash-out/index.ts'
import type { RefundInModule } from '../refund-in/index.ts'
import { cashInInput, cashOutInput, cashOutReversalInput, isNews, refundInInput, returnOf } from './rules.ts'

/** What takes the events of one name: which operations one could mean, and what it does to them. */
export interface Receiver {
  /** For each set of references, the ids of all operations that it could mean. */
  match(references: readonly PartnerReferences[]): Promise<string[][]>
  /** Applies an event to an operation; `undefined` where that does not exist. */
  take(id: string, event: PartnerEvent): Promise<Taken | undefined>
  /** Commits «ask the partner now» on an operation. @source failure-modes#EV-9 */
  ask(id: string): Promise<void>
}

/**
 * What became of an event. `EARLY`: it cannot be true yet, but may be soon. `IMPLAUSIBLE`: its time lies in the future.
 * `UNEXPECTED`: it cannot be true.
 */
export type Taken = 'APPLIED' | 'IGNORED' | 'IN_PROGRESS' | 'EARLY' | 'IMPLAUSIBLE' | 'UNEXPECTED'

/** Every event of the partner has its receiver. */
export type Receivers = Readonly<Record<PartnerEventName, Receiver>>

/** The modules whose operations events mean. */
export interface Subjects {
  readonly cashIns: Pick<CashInModule, 'match' | 'apply'>
  readonly cashOuts: Pick<CashOutModule, 'match' | 'apply' | 'canAsk'>
  readonly refunds: Pick<RefundInModule, 'match' | 'apply' | 'takeReturn' | 'askAboutOpen' | 'canAsk'>
}

/** Makes the receivers. @source rules#partner-inbox.5 */
export function createReceivers({ cashIns, cashOuts, refunds }: Subjects): Receivers {
  const askCashOut: Receiver['ask'] = async (id) => {
    await cashOuts.apply(id, { on: 'work.requested' })
  }
  return {
    CashIn: {
      match: cashIns.match,
      take: async (id, event) => {
        const input = cashInInput(event)
        return input ? (await cashIns.apply(id, input))?.result : 'IN_PROGRESS'
      },
      ask: async (id) => {
        await cashIns.apply(id, { on: 'work.requested' })
      },
    },
    CashOut: {
      match: cashOuts.match,
      take: async (id, event) => {
        const input = cashOutInput(event, !cashOuts.canAsk)
        return input ? (await cashOuts.apply(id, input))?.result : 'IN_PROGRESS'
      },
      ask: askCashOut,
    },
    CashOutReversal: {
      match: cashOuts.match,
      take: async (id, event) => {
        const input = cashOutReversalInput(event)
        return input ? (await cashOuts.apply(id, input))?.result : 'IN_PROGRESS'
      },
      ask: askCashOut,
    },
    CashInReversal: cashInReversalReceiver(cashIns, refunds),
  }
}

/**
 * A reversal of a cash-in is about one of our refunds, or else about the cash-in: then whose it is its refunds tell.
 * @source rules#partner-inbox.10, failure-modes#EV-27
 */
function cashInReversalReceiver(cashIns: Subjects['cashIns'], refunds: Subjects['refunds']): Receiver {
  return {
    match: async (references) => {
      const [ours, theirs] = await Promise.all([refunds.match(references), cashIns.match(references)])
      return ours.map((ids, index) => (ids.length > 0 ? ids : (theirs[index] ?? [])))
    },
    take: async (id, event) => {
      const input = refundInInput(event, !refunds.canAsk)
      if (!input) return 'IN_PROGRESS'
      const outcome = await refunds.apply(id, input)
      if (outcome) return outcome.result
      // No refund of ours has this id: it is the cash-in's. What says that no money moved may be about one that is open.
      if (!isNews(event)) return refunds.askAboutOpen(id)
      return (await refunds.takeReturn(id, { ...returnOf(event), transactionId: event.transactionId })).result
    },
    ask: async (id) => {
      const refund = await refunds.apply(id, { on: 'work.requested' })
      if (!refund) await cashIns.apply(id, { on: 'work.requested' })
    },
  }
}
