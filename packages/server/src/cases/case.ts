import type { CaseDecision, EvidenceField } from '@pixgate/spec'
import type { Command, Decision, Document, OpenCase, Operation, State } from '../engine/operation.ts'

/** The interface that a kind of operation implements so that its cases can be decided. */

export interface DecidableCase extends Omit<OpenCase, 'version'> {
  /** The latest report, with the rule that opened the case. */
  readonly facts: Document
}

export interface StoredCase extends DecidableCase {
  readonly operationId: string | null
  /** Highest amount ever reported, centavos; `null`: none. @source rules#cases.48 */
  readonly amountCents: bigint | null
  /** Epoch milliseconds. */
  readonly closedAt: number | null
  /** Changes with everything that a decision depends on. @source rules#engine.22 */
  readonly version: number
}

export interface Evidence {
  readonly endToEndId?: string
  readonly returnId?: string
  /** The bank's own reference: a call, a ticket, a page of its portal. */
  readonly reference?: string
  readonly note?: string
}

/** A decision by an operator, as the kind of operation receives it. */
export interface DecisionInput {
  readonly decision: CaseDecision
  readonly caseId: string
  readonly operatorId: string
  /** `null` if none was needed. */
  readonly approverId: string | null
  readonly reason: string
  readonly evidence: Evidence
  /** The operation that receives the money or event. */
  readonly operationId?: string
  /** Part that the decision is about, centavos. */
  readonly amountCents?: bigint
  /** Id for an operation that the decision creates. */
  readonly newId: string
}

export interface CaseOption {
  readonly decision: CaseDecision
  readonly meaning: string
  readonly needs: readonly EvidenceField[]
  readonly maxCents?: bigint
  readonly isOffered: boolean
  /** Reasons why it is not offered. */
  readonly whyNot: readonly string[]
}

/** Decision of the operation that receives money or an event; `undefined`: it does not exist. */
export type HandedOver = Command<{ readonly result: string } | undefined>

/** Decides the cases of one kind of operation. Only `handOver` reads from the database. @source rules#cases.1 */
export interface CaseDecider<Op extends Operation = Operation> {
  /** Decisions that the table has for the operation's state. */
  options(operation: Op, openCase: DecidableCase, nowMs: number): readonly CaseOption[]
  /** Rows that the command reads. */
  readsFor(
    operation: Op,
    openCase: DecidableCase,
    input: DecisionInput,
    handed?: HandedOver,
  ): Required<Pick<Command<unknown>, 'reads' | 'movements'>> & Omit<Command<unknown>, 'decide' | 'request'>
  /**
   * Reads the operation that receives the money or event, and returns its decision, committed with this one. Absent:
   * no decision involves another operation.
   * @throws validation_error (400) the other operation does not accept it
   */
  handOver?(operation: Op, openCase: DecidableCase, input: DecisionInput): Promise<HandedOver | undefined>
  /**
   * Decides by the machine's table. The outcome is the operation after the decision, with its remaining open cases.
   * @throws not_possible_in_state (409) the case is closed, or the table has no row now
   * @throws validation_error (400) missing evidence
   */
  decide(
    operation: Op,
    openCase: DecidableCase,
    input: DecisionInput,
    state: State,
    nowMs: number,
    handed?: HandedOver,
  ): Decision<Op>
}

/**
 * Amounts at stake besides the moved money, for the second person's threshold; centavos, `null`: unknown.
 * @source rules#cases.46
 */
export interface Counted {
  /** Attributed to another operation, whatever the outcome. */
  readonly handedCents: bigint | null
  /** Left as it is, if nothing is moved. */
  readonly leftCents: bigint | null
  /** Case of a query: nothing is left behind while it stays open. */
  readonly queriedCaseId?: string
}

export interface Prepared extends Counted {
  /** All of the command but its decision. */
  readonly command: Omit<Command<unknown>, 'decide'>
  /** Pure. @throws Refusal */
  decide(state: State, now: number): Decision<unknown>
}

/** Unique key of a line of the bank's statement. */
export interface LineKey {
  readonly kind: string
  readonly direction: 'in' | 'out'
  readonly movementId: string
}

export interface StatementLines {
  /** The operation is of the kind that books lines of this kind. */
  accepts(kind: string, operationId: string): Promise<boolean>
  /** Attributes a line to an operation, which books it as the bank's report; `undefined`: not possible. */
  attributionCommand(line: LineKey, operationId: string): Promise<HandedOver | undefined>
}
