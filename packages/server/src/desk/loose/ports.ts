import type { Command } from '../../engine/operation.ts'
import type { HandedOver } from '../decider.ts'
import type { LooseEvent } from './case.ts'

/** What the desk asks of the inbox: events that were set aside. */
export interface EventDesk {
  /** An event with its bytes as they came; `undefined` where there is none. */
  read(event: EventKey): Promise<LooseEvent | undefined>
  /** Whether an operation is one that an event can be applied to. */
  accepts(event: EventKey, operationId: string): Promise<boolean>
}

/** What tells an event from every other. */
export interface EventKey {
  readonly inboxId: string
  readonly ordinal: number
}

/** What the desk asks of the bank's statement. */
export interface StatementDesk {
  /** Whether an operation is of the kind that an entry of this kind is of. */
  accepts(entry: string, operationId: string): Promise<boolean>
  /** What hands an entry over to an operation, which books it as something that the bank said; `undefined`: nobody takes it. */
  command(entry: StatementKey, operationId: string): Promise<HandedOver | undefined>
}

/** What tells an entry from every other. */
export interface StatementKey {
  readonly kind: string
  readonly direction: 'in' | 'out'
  readonly movementId: string
}

/** What the desk asks of charges. */
export interface ChargeDesk {
  /** What takes back the credit of a charge. */
  reversal(
    id: string,
    order: { readonly caseId: string; readonly operator: string; readonly reason: string },
  ): Command<unknown>
}
