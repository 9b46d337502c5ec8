import type { StatementEntry } from '../banks/port.ts'
import type { CashInModule } from '../cash-in/index.ts'
import type { CashOutModule } from '../cash-out/index.ts'
import type { Command } from '../engine/operation.ts'
import type { RefundInModule } from '../refund-in/index.ts'

/** Applies entries of one kind to operations. */
export interface Receiver {
  /** Requests a query of the bank, if its answer can report the movement. */
  ask(id: string): Promise<void>
  /** Tells an operation that was asked about the entry that another one has booked it. */
  clearShown?(id: string): Promise<unknown>
  /**
   * Applies the entry as a verified report of the bank.
   * @returns the result, for a log
   */
  take(id: string, entry: StatementEntry): Promise<string>
  /** {@link take} as a command; `undefined` if it cannot be applied. */
  command(id: string, entry: StatementEntry): Promise<Command<Accepted> | undefined>
}

export type Accepted = { readonly result: string } | undefined

export type Receivers = Readonly<Record<StatementEntry['kind'], Receiver>>

export interface Subjects {
  readonly cashIns: Pick<CashInModule, 'apply' | 'command'>
  readonly cashOuts: Pick<CashOutModule, 'apply' | 'command'>
  readonly refunds: Pick<RefundInModule, 'apply' | 'command' | 'applyReturn' | 'returnCommand'>
}

/** @source rules#statement.5, failure-modes#P7 */
export function createReceivers({ cashIns, cashOuts, refunds }: Subjects): Receivers {
  return {
    PAYMENT_RECEIVED: {
      ask: async (id) => {
        await cashIns.apply(id, { on: 'work.requested' })
      },
      take: async (id, entry) => resultOf(await cashIns.apply(id, paymentInput(entry))),
      command: async (id, entry) => cashIns.command(id, paymentInput(entry)),
    },
    PAYMENT_TAKEN_BACK: {
      // The bank's answer about a charge lists payments, not returns.
      ask: async () => undefined,
      take: async (id, entry) => resultOf(await refunds.applyReturn(id, takenBack(entry))),
      command: (id, entry) => refunds.returnCommand(id, takenBack(entry)),
    },
    REFUND_SENT: {
      ask: async (id) => {
        await refunds.apply(id, { on: 'work.requested', isShown: true })
      },
      clearShown: (id) => refunds.apply(id, { on: 'work.requested', isShown: false }),
      take: async (id, entry) => resultOf(await refunds.apply(id, refundInput(entry))),
      command: (id, entry) => refunds.command(id, refundInput(entry)),
    },
    PAYOUT_SENT: {
      ask: async (id) => {
        await cashOuts.apply(id, { on: 'work.requested', isShown: true })
      },
      clearShown: (id) => cashOuts.apply(id, { on: 'work.requested', isShown: false }),
      take: async (id, entry) => resultOf(await cashOuts.apply(id, payoutInput(entry))),
      command: (id, entry) => cashOuts.command(id, payoutInput(entry)),
    },
    TARIFF: tariffs(cashOuts),
    PAYOUT_RETURNED: {
      ask: async (id) => {
        await cashOuts.apply(id, { on: 'work.requested' })
      },
      take: async (id, entry) => resultOf(await cashOuts.apply(id, payoutReturned(entry))),
      command: (id, entry) => cashOuts.command(id, payoutReturned(entry)),
    },
  }
}

function paymentInput({ endToEndId, valueCents, occurredAt }: StatementEntry) {
  const payment = { endToEndId, valueCents, occurredAt, payer: UNKNOWN_PAYER }
  return { on: 'partner.confirmed', payment, transactionId: null } as const
}

function takenBack(entry: StatementEntry) {
  return { ...returnOf(entry), transactionId: null, endToEndId: entry.endToEndId }
}

function refundInput(entry: StatementEntry) {
  return { on: 'partner.confirmed', returned: returnOf(entry), transactionId: null, isVerified: true } as const
}

function payoutInput({ endToEndId, valueCents, occurredAt }: StatementEntry) {
  const movement = { endToEndId, valueCents, occurredAt, feeCents: undefined, recipient: undefined }
  return { on: 'partner.confirmed', movement, transactionId: null, isVerified: true } as const
}

function payoutReturned(entry: StatementEntry) {
  return { on: 'partner.returned', returned: returnOf(entry), isVerified: true } as const
}

function tariffs(cashOuts: Subjects['cashOuts']): Receiver {
  return {
    // Only the statement reports tariffs.
    ask: async () => undefined,
    take: async (id, entry) =>
      resultOf(
        await cashOuts.apply(id, { on: 'partner.tariff', tariffId: tariffIdOf(entry), tariffCents: entry.valueCents }),
      ),
    // Operators cannot attribute tariffs.
    command: async () => undefined,
  }
}

/** The first tariff has the payout's id, as payouts used to have only one. */
function tariffIdOf({ movementId, reference }: StatementEntry): string {
  return movementId === reference ? '' : movementId
}

const UNKNOWN_PAYER = { name: undefined, document: undefined, ispb: undefined }

function returnOf({ movementId, valueCents, occurredAt }: StatementEntry) {
  return { returnId: movementId, valueCents, occurredAt }
}

function resultOf(outcome: Accepted): string {
  return outcome?.result ?? 'GONE'
}
