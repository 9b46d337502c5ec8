import type { LooseEvent } from './case.ts'

/** What the desk asks of the inbox: events that were set aside. */
export interface EventDesk {
  /** An event with its bytes as they came; `undefined` where there is none. */
  read(event: EventKey): Promise<LooseEvent | undefined>
  /**
   * Has an event applied again.
   * @returns whether it was: not where it, or its case, is no longer as it was read
   */
  applyAgain(order: AppliedAgain): Promise<boolean>
  /** Whether an operation is one that an event can be applied to. */
  accepts(event: EventKey, operationId: string): Promise<boolean>
}

/** What tells an event from every other. */
export interface EventKey {
  readonly inboxId: string
  readonly ordinal: number
}

/** What is ordered of an event. */
export interface AppliedAgain extends EventKey {
  readonly caseId: string
  /** When it was set aside, as it was read. */
  readonly setAsideAt: number
  /** The operation that the operator names; `null`: what it names itself. */
  readonly attributedTo: string | null
}

/** What the desk asks of the bank's statement. */
export interface StatementDesk {
  /** Whether an operation is of the kind that an entry of this kind is of. */
  accepts(entry: string, operationId: string): Promise<boolean>
  /**
   * Hands an entry over to an operation, which books it as something that the bank said, and closes its case where it did.
   * @returns `APPLIED`, or in words why not
   */
  handOver(entry: StatementKey, operationId: string): Promise<string>
}

/** What tells an entry from every other. */
export interface StatementKey {
  readonly kind: string
  readonly direction: 'in' | 'out'
  readonly movementId: string
}
