import type { CaseDecision, EvidenceField } from '@pixgate/spec'
import type { Command, Decision, Document, OpenCase, Operation, State } from '../engine/operation.ts'

/** A case, what an operator orders about it, and the contract between deciding and whatever the case is about. */

/** A case that an operator may decide. */
export interface DecidableCase extends Omit<OpenCase, 'version'> {
  /** What was reported last, with the rule that opened it. */
  readonly facts: Document
}

/** A case as it is stored. */
export interface StoredCase extends DecidableCase {
  /** `null`: it has no operation. */
  readonly operationId: string | null
  /** The most that was ever reported about it, centavos; `null`: nobody told an amount. @source rules#cases.48 */
  readonly amountCents: bigint | null
  /** Epoch milliseconds. */
  readonly closedAt: number | null
  /** It grows with every change that a decision depends on. @source rules#engine.22 */
  readonly version: number
}

/** What an operator knows of the bank’s side. */
export interface Evidence {
  readonly endToEndId?: string
  readonly returnId?: string
  /** The bank's own: of a call, a ticket, a page of its portal. */
  readonly reference?: string
  readonly note?: string
}

/** What an operator orders. */
export interface CaseOrder {
  readonly decision: CaseDecision
  readonly caseId: string
  /** Who decides. */
  readonly operator: string
  /** The second person; `null` where none was needed. */
  readonly approver: string | null
  readonly reason: string
  readonly evidence: Evidence
  /** The operation that the money or the event is of. */
  readonly operationId?: string
  /** Of what can be split: how much, centavos. */
  readonly amountCents?: bigint
  /** The id of the operation that it makes, should it make one. */
  readonly newId: string
}

/** A decision that there is for a case. */
export interface CaseOption {
  readonly decision: CaseDecision
  /** What it does, in a sentence. */
  readonly says: string
  /** What the operator must name. */
  readonly needs: readonly EvidenceField[]
  /** Of one that takes an amount: the most that it can be of now, centavos. */
  readonly maxCents?: bigint
  /** Whether it may be made now. */
  readonly isOffered: boolean
  /** Why not: the conditions that hold and must not, or that must hold and do not, as sentences. */
  readonly because: readonly string[]
}

/** What came of a decision. */
export interface CaseOutcome<Op extends Operation = Operation> {
  /** The operation as it is now, with the cases that are still open. */
  readonly operation: Op
}

/** What an operation decides of what is handed over to it, with what became of it in words; `undefined`: it is gone. */
export type HandedOver = Command<{ readonly result: string } | undefined>

/** Decides the cases of one kind of operation. Pure. @source rules#cases.1 */
export interface CaseDecider<Op extends Operation = Operation> {
  /** The decisions that the table has for the case where the operation stands. */
  options(operation: Op, openCase: DecidableCase, nowMs: number): readonly CaseOption[]
  /** What a command must read to decide. */
  looks(
    operation: Op,
    openCase: DecidableCase,
    order: CaseOrder,
    handed?: HandedOver,
  ): Required<Pick<Command<unknown>, 'reads' | 'movements'>> & Omit<Command<unknown>, 'decide' | 'request'>
  /**
   * What another operation does, to be decided with it; absent where none does.
   * @throws validation_error (400) it does not take that
   */
  handOver?(operation: Op, openCase: DecidableCase, order: CaseOrder): Promise<HandedOver | undefined>
  /**
   * Decides by the machine's table.
   * @throws not_possible_in_state (409) the case is not open any more, or the table does not have the decision now
   * @throws validation_error (400) something that the decision needs is not named
   */
  decide(
    operation: Op,
    openCase: DecidableCase,
    order: CaseOrder,
    state: State,
    nowMs: number,
    handed?: HandedOver,
  ): Decision<CaseOutcome<Op>>
}

/** What counts in the amount of a decision besides what it moves, centavos; `null`: nobody knows. @source rules#cases.46 */
export interface Counted {
  /** What is handed over, whatever becomes of it. */
  readonly handedCents: bigint | null
  /** What it leaves as it is, where it moves nothing. */
  readonly leftCents: bigint | null
}

/** A decision that can be made, with all that it must look up. */
export interface Prepared extends Counted {
  readonly looks: Omit<Command<unknown>, 'decide'>
  /** Decides. Pure. @throws Refusal */
  decide(state: State, now: number): Decision<unknown>
}

/** A line of the bank's statement, by what tells it from every other. */
export interface LineKey {
  readonly kind: string
  readonly direction: 'in' | 'out'
  readonly movementId: string
}

/** What decisions ask of the bank's statement. */
export interface StatementLines {
  /** Whether an operation is of the kind that a line of this kind is of. */
  accepts(kind: string, operationId: string): Promise<boolean>
  /** What hands a line over to an operation, which books it as something that the bank said; `undefined`: nobody takes it. */
  command(line: LineKey, operationId: string): Promise<HandedOver | undefined>
}
