import type { StatementEntry } from '../banks/port.ts'
import type { CashInModule } from '../cash-in/index.ts'
import type { CashOutModule } from '../cash-out/index.ts'
import type { RefundInModule } from '../refund-in/index.ts'

/** What takes entries of one kind: by the id of the operation that they are of. */
export interface Receiver {
  /** Commits «ask the bank now», where its answer could tell of the movement. */
  ask(id: string): Promise<void>
  /**
   * Lets the operation take what the statement says, as something that the bank said when it was asked.
   * @returns what became of it, in words for a log
   */
  take(id: string, entry: StatementEntry): Promise<string>
}

/** Every kind of entry has its receiver. */
export type Receivers = Readonly<Record<StatementEntry['kind'], Receiver>>

/** The modules whose operations entries are of. */
export interface Subjects {
  readonly cashIns: Pick<CashInModule, 'apply' | 'askAboutCredit'>
  readonly cashOuts: Pick<CashOutModule, 'apply'>
  readonly refunds: Pick<RefundInModule, 'apply' | 'applyReturn'>
}

/** Makes the receivers. @source rules#statement.5, failure-modes#P7 */
export function createReceivers({ cashIns, cashOuts, refunds }: Subjects): Receivers {
  return {
    PAYMENT_RECEIVED: {
      ask: async (id) => {
        await cashIns.apply(id, { on: 'work.requested' })
      },
      take: async (id, { endToEndId, valueCents, occurredAt }) => {
        const payment = { endToEndId, valueCents, occurredAt, payer: NOBODY_TOLD }
        return resultOf(await cashIns.apply(id, { on: 'partner.confirmed', payment, transactionId: null }))
      },
    },
    PAYMENT_TAKEN_BACK: {
      // What the bank has under a charge tells its payments, not what went back.
      ask: async () => undefined,
      take: async (id, entry) => {
        const { endToEndId } = entry
        return resultOf(await refunds.applyReturn(id, { ...returnOf(entry), transactionId: null, endToEndId }))
      },
    },
    REFUND_SENT: {
      ask: async (id) => {
        await refunds.apply(id, { on: 'work.requested', isShown: true })
      },
      take: async (id, entry) =>
        resultOf(
          await refunds.apply(id, {
            on: 'partner.confirmed',
            returned: returnOf(entry),
            transactionId: null,
            isVerified: true,
          }),
        ),
    },
    PAYOUT_SENT: {
      ask: async (id) => {
        await cashOuts.apply(id, { on: 'work.requested', isShown: true })
      },
      take: async (id, { endToEndId, valueCents, occurredAt }) => {
        const movement = { endToEndId, valueCents, occurredAt, feeCents: undefined, recipient: undefined }
        return resultOf(
          await cashOuts.apply(id, { on: 'partner.confirmed', movement, transactionId: null, isVerified: true }),
        )
      },
    },
    TARIFF: tariffs(cashOuts),
    PAYOUT_RETURNED: {
      ask: async (id) => {
        await cashOuts.apply(id, { on: 'work.requested' })
      },
      take: async (id, entry) =>
        resultOf(await cashOuts.apply(id, { on: 'partner.returned', returned: returnOf(entry), isVerified: true })),
    },
  }
}

function tariffs(cashOuts: Subjects['cashOuts']): Receiver {
  return {
    // Nobody but the statement tells it.
    ask: async () => undefined,
    take: async (id, entry) =>
      resultOf(
        await cashOuts.apply(id, { on: 'partner.tariff', tariffId: tariffIdOf(entry), tariffCents: entry.valueCents }),
      ),
  }
}

/** The first bears the name of its payout, as when there was only one. */
function tariffIdOf({ movementId, reference }: StatementEntry): string {
  return movementId === reference ? '' : movementId
}

const NOBODY_TOLD = { name: undefined, document: undefined, ispb: undefined }

function returnOf({ movementId, valueCents, occurredAt }: StatementEntry) {
  return { returnId: movementId, valueCents, occurredAt }
}

function resultOf(outcome: { readonly result: string } | undefined): string {
  return outcome?.result ?? 'GONE'
}
