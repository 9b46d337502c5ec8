import type { DeskDecision, EvidenceField, LooseDecision } from '@pixgate/spec'
import type { Command, Decision, Document, OpenCase, Operation, State } from '../engine/operation.ts'

/** What an operator decides about a case, and what comes of it: the contract between the desk and each kind of operation. */

/** A case that an operator may decide. */
export interface DecidableCase extends Omit<OpenCase, 'version'> {
  /** What the case was opened with. */
  readonly facts: Document
}

/** What an operator orders. */
export interface DeskOrder {
  readonly decision: DeskDecision
  readonly caseId: string
  /** Who decides. */
  readonly operator: string
  /** The second person; `null` where none was needed. */
  readonly approver: string | null
  readonly reason: string
  /** What the bank says of it, as the operator knows it. */
  readonly evidence: DeskEvidence
  /** The charge that a payment in suspense was meant for. */
  readonly operationId?: string
  /** Of what can be split: how much, centavos. */
  readonly amountCents?: bigint
  /** The id of the refund that it makes, should it make one. */
  readonly newId: string
}

/** What an operator orders of a case, whether it has an operation or none. */
export type AnyOrder = Omit<DeskOrder, 'decision'> & { readonly decision: DeskDecision | LooseDecision }

/** See {@link DeskOrder.evidence}. */
export interface DeskEvidence {
  readonly endToEndId?: string
  readonly returnId?: string
  /** The bank's own: of a call, a ticket, a page of its portal. */
  readonly reference?: string
  readonly note?: string
}

/** A decision that the table has for a case. */
export interface DeskOption {
  readonly decision: DeskDecision
  /** What it does, as the table's line says it. */
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
export interface DeskOutcome<Op extends Operation = Operation> {
  /** The operation as it is now, with the cases that are still open. */
  readonly operation: Op
}

/** What an operation decides of what is handed over to it, with what became of it in words; `undefined`: it is gone. */
export type HandedOver = Command<{ readonly result: string } | undefined>

/** Decides the cases of one kind of operation. Pure. @source rules#desk.1 */
export interface CaseDecider<Op extends Operation = Operation> {
  /** The decisions that the table has for the case where the operation stands. */
  options(operation: Op, openCase: DecidableCase, nowMs: number): readonly DeskOption[]
  /** What a command must read to decide. */
  looks(
    operation: Op,
    openCase: DecidableCase,
    order: DeskOrder,
    handed?: HandedOver,
  ): Required<Pick<Command<unknown>, 'reads' | 'movements'>> & Omit<Command<unknown>, 'decide' | 'request'>
  /**
   * What another operation does, to be decided with it; absent where none does.
   * @throws validation_error (400) it does not take that
   */
  handOver?(operation: Op, openCase: DecidableCase, order: DeskOrder): Promise<HandedOver | undefined>
  /**
   * Decides by the machine's table.
   * @throws not_possible_in_state (409) the case is not open any more, or the table does not have the decision now
   * @throws validation_error (400) something that the decision needs is not named
   */
  decide(
    operation: Op,
    openCase: DecidableCase,
    order: DeskOrder,
    state: State,
    nowMs: number,
    handed?: HandedOver,
  ): Decision<DeskOutcome<Op>>
}
