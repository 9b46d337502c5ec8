import type { StatementEntry } from '../banks/port.ts'
import type { CashInModule } from '../cash-in/index.ts'
import type { CashOutModule } from '../cash-out/index.ts'
import type { Command } from '../engine/operation.ts'
import type { RefundInModule } from '../refund-in/index.ts'

/** Applies entries of one kind to operations. */
export interface Receiver {
  /** Requests a query of the bank, if its answer can report the movement. */
  ask(id: string): Promise<unknown>
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

type Accepted = { readonly result: string } | undefined

export type Receivers = Readonly<Record<StatementEntry['kind'], Receiver>>

export interface Subjects {
  readonly cashIns: Pick<CashInModule, 'apply' | 'command'>
  readonly cashOuts: Pick<CashOutModule, 'apply' | 'command'>
  readonly refunds: Pick<RefundInModule, 'apply' | 'command' | 'applyReturn' | 'returnCommand'>
}

/** @source rules#statement.5, failure-modes#P7 */
export function createReceivers({ cashIns, cashOuts, refunds }: Subjects): Receivers {
  const shownBy = ({ apply }: Subjects['refunds'] | Subjects['cashOuts']) => ({
    ask: (id: string) => apply(id, { on: 'work.requested', isShown: true }),
    clearShown: (id: string) => apply(id, { on: 'work.requested', isShown: false }),
  })
  const takenBack = { apply: refunds.applyReturn, command: refunds.returnCommand }
  return {
    PAYMENT_RECEIVED: {
      ask: (id) => cashIns.apply(id, { on: 'work.requested' }),
      ...takingBy(cashIns, ({ endToEndId, valueCents, occurredAt }) => {
        const payment = { endToEndId, valueCents, occurredAt, payer: UNKNOWN_PAYER }
        return { on: 'partner.confirmed', payment, transactionId: null } as const
      }),
    },
    PAYMENT_TAKEN_BACK: {
      // The bank's answer about a charge lists payments, not returns.
      ask: async () => undefined,
      ...takingBy(takenBack, (entry) => ({
        ...returnOf(entry),
        transactionId: null,
        endToEndId: entry.endToEndId,
      })),
    },
    REFUND_SENT: {
      ...shownBy(refunds),
      ...takingBy(refunds, (entry) => ({ ...CONFIRMED, returned: returnOf(entry) })),
    },
    PAYOUT_SENT: {
      ...shownBy(cashOuts),
      ...takingBy(cashOuts, ({ endToEndId, valueCents, occurredAt }) => ({
        ...CONFIRMED,
        movement: { endToEndId, valueCents, occurredAt, feeCents: undefined, recipient: undefined },
      })),
    },
    PAYOUT_RETURNED: {
      ask: (id) => cashOuts.apply(id, { on: 'work.requested' }),
      ...takingBy(cashOuts, (entry) => ({ ...RETURNED, returned: returnOf(entry) })),
    },
    TARIFF: {
      // Only the statement reports tariffs.
      ask: async () => undefined,
      ...takingBy(cashOuts, ({ movementId, reference, valueCents }) => ({
        ...TARIFF,
        // The first tariff of a payout is stored under the payout's id, see `withTariffNames`.
        tariffId: movementId === reference ? '' : movementId,
        tariffCents: valueCents,
      })),
    },
  }
}

interface Applying<Input> {
  apply(id: string, input: Input): Promise<Accepted>
  command(id: string, input: Input): Command<Accepted> | Promise<Command<Accepted> | undefined>
}

function takingBy<Input>(
  { apply, command }: Applying<Input>,
  inputOf: (entry: StatementEntry) => NoInfer<Input>,
): Pick<Receiver, 'take' | 'command'> {
  return {
    take: async (id, entry) => (await apply(id, inputOf(entry)))?.result ?? 'GONE',
    command: async (id, entry) => command(id, inputOf(entry)),
  }
}

const CONFIRMED = { on: 'partner.confirmed', transactionId: null, isVerified: true } as const
const RETURNED = { on: 'partner.returned', isVerified: true } as const
const TARIFF = { on: 'partner.tariff' } as const
const UNKNOWN_PAYER = { name: undefined, document: undefined, ispb: undefined }

function returnOf({ movementId, valueCents, occurredAt }: StatementEntry) {
  return { returnId: movementId, valueCents, occurredAt }
}
