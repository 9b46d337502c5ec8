import type { EventType } from './events.ts'
import type { JournalKind } from './ledger.ts'

/**
 * State machines as data. A machine is a table of rows; everything that depends on states (status unions, list
 * filters, diagrams, the database's guard, one test per row) is derived from it and never typed again.
 */

/** One line of a machine: in `from`, on `on`, if `when` holds, go to `to` and do what stands beside it. */
export interface Row<State extends string, Trigger extends string, Guard extends string, CaseKind extends string> {
  /** `null`: the operation does not exist yet. */
  readonly from: State | null
  readonly on: Trigger
  /** Rows of the same (from, on) are tried in their order; a row without `when` always holds. */
  readonly when?: Guard
  readonly to: State
  /** The journal posted with the move. */
  readonly posts?: JournalKind
  /** The notification sent with the move. */
  readonly emits?: EventType
  /** The case opened for an operator. */
  readonly opens?: CaseKind
  /** Anchor in docs/rules.md. */
  readonly source: string
}

/** A resource's whole life. `states` lists them in the order of the documentation. */
export interface Machine<
  State extends string = string,
  Trigger extends string = string,
  Guard extends string = string,
  CaseKind extends string = string,
> {
  readonly resource: string
  readonly states: readonly State[]
  readonly triggers: readonly Trigger[]
  /** Conditions a row may name, each with the sentence that explains it. */
  readonly guards: Readonly<Record<Guard, string>>
  /** Reasons to open a case, each with the sentence an operator reads. */
  readonly cases: Readonly<Record<CaseKind, string>>
  readonly rows: readonly Row<State, Trigger, Guard, CaseKind>[]
}

/**
 * Declares a machine. A state, trigger, guard or case that is not declared, or a journal or event that does not exist,
 * is a type error.
 */
export function machine<
  const State extends string,
  const Trigger extends string,
  const Guard extends string,
  const CaseKind extends string,
>(definition: {
  readonly resource: string
  readonly states: readonly State[]
  readonly triggers: readonly Trigger[]
  readonly guards: Readonly<Record<Guard, string>>
  readonly cases: Readonly<Record<CaseKind, string>>
  readonly rows: readonly Row<NoInfer<State>, NoInfer<Trigger>, NoInfer<Guard>, NoInfer<CaseKind>>[]
}): Machine<State, Trigger, Guard, CaseKind> {
  return definition
}

/** The union of a machine's states. */
export type StateOf<M> = M extends { readonly states: readonly (infer State)[] } ? State : never

/** The union of a machine's triggers. */
export type TriggerOf<M> = M extends { readonly triggers: readonly (infer Trigger)[] } ? Trigger : never

/** The union of a machine's guards. */
export type GuardOf<M> = M extends { readonly guards: Readonly<Record<infer Guard, string>> } ? Guard : never

/**
 * The row that applies, or `undefined`: a pair with no row changes nothing and is kept as evidence only.
 * @param holds tells whether a guard holds for the input at hand
 */
export function rowFor<State extends string, Trigger extends string, Guard extends string, CaseKind extends string>(
  definition: Machine<State, Trigger, Guard, CaseKind>,
  from: State | null,
  on: Trigger,
  holds: (guard: Guard) => boolean,
): Row<State, Trigger, Guard, CaseKind> | undefined {
  return definition.rows.find(
    (row) => row.from === from && row.on === on && (row.when === undefined || holds(row.when)),
  )
}
