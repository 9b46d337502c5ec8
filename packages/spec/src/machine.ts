import type { CaseOfOperation } from './cases.ts'
import type { EventType } from './events.ts'
import type { JournalKind } from './ledger.ts'

/**
 * State machines as data. A machine is a table of lines. Everything that depends on states (status unions, list
 * filters, documentation, the database's guard, one test per row) is derived from it.
 */

/**
 * A line of a table: in `from`, on `on`, if every guard of `when` holds and none of `unless`, go to `to` with the
 * listed effects. Lines are tried in order; the first match counts.
 */
export interface Line<
  State extends string = string,
  Reason extends string = string,
  Trigger extends string = string,
  Guard extends string = string,
> {
  /**
   * `null`: the operation does not exist yet. `STATE:reason` is the state in doubt for that reason, `STATE` the state
   * without doubt, `STATE:*` both.
   */
  readonly from: OneOrMore<State | `${State}:${Reason}` | `${State}:*`> | null
  readonly on: OneOrMore<Trigger>
  readonly when?: OneOrMore<Guard>
  readonly unless?: OneOrMore<Guard>
  /** `same` keeps state and reason, `same:reason` the state; `ignored`: nothing is written. */
  readonly to: State | `${State}:${Reason}` | 'same' | `same:${Reason}` | 'ignored'
  readonly posts?: JournalKind
  readonly emits?: EventType
  readonly opens?: CaseOfOperation
  /**
   * Kinds of case that an operator decides with it. The decided case closes, unless the bank is queried: then the
   * answer closes it.
   */
  readonly decides?: OneOrMore<CaseOfOperation>
  /** Whether the bank is queried, as soon as no other query or order is running. */
  readonly asks?: true
  readonly says: string
  /** Name of the rule, and its anchor in docs/generated/states.md. Lines of one rule share it. */
  readonly rule: string
}

export type OneOrMore<T> = T | readonly T[]

/** A line expanded to one state and trigger. */
export interface Row<
  State extends string = string,
  Reason extends string = string,
  Trigger extends string = string,
  Guard extends string = string,
> extends Pick<Line<State, Reason, Trigger, Guard>, 'posts' | 'emits' | 'opens' | 'asks' | 'says' | 'rule'> {
  readonly from: State | null
  /** Reason of the doubt in which it applies; `null`: without doubt, `*`: any reason. */
  readonly because: Reason | '*' | null
  readonly on: Trigger
  readonly when: readonly Guard[]
  readonly unless: readonly Guard[]
  /** Kinds of case decided with it; absent if it is no decision. */
  readonly decides?: readonly CaseOfOperation[]
  readonly to: State
  /** Reason of the doubt afterwards; `null`: no doubt, `same`: unchanged. */
  readonly reason: Reason | 'same' | null
  readonly isIgnored: boolean
}

/** Declarations of a table. */
interface Declarations<State extends string, Reason extends string, Trigger extends string, Guard extends string> {
  readonly resource: string
  /** In the order of the documentation. */
  readonly states: readonly State[]
  /** Meaning of each state for a client, with what to do. @source rules#reference.9 */
  readonly meanings: Readonly<Record<NoInfer<State>, string>>
  /** Reasons of doubt, each with its explanation. */
  readonly reasons: Readonly<Record<Reason, string>>
  readonly triggers: readonly Trigger[]
  /** Guards for lines, each with its explanation. */
  readonly guards: Readonly<Record<Guard, string>>
}

/** The complete life cycle of a resource. */
export interface Machine<
  State extends string = string,
  Reason extends string = string,
  Trigger extends string = string,
  Guard extends string = string,
> extends Declarations<State, Reason, Trigger, Guard> {
  readonly lines: readonly Line<State, Reason, Trigger, Guard>[]
  /** The lines, expanded for each state and trigger. */
  readonly rows: readonly Row<State, Reason, Trigger, Guard>[]
}

/**
 * Declares a machine. An undeclared state, reason, trigger, guard or case is a type error, as is an unknown journal or
 * event.
 */
export function machine<
  const State extends string,
  const Reason extends string,
  const Trigger extends string,
  const Guard extends string,
>(
  definition: Declarations<State, Reason, Trigger, Guard> & {
    readonly lines: readonly Line<NoInfer<State>, NoInfer<Reason>, NoInfer<Trigger>, NoInfer<Guard>>[]
  },
): Machine<State, Reason, Trigger, Guard> {
  return { ...definition, rows: definition.lines.flatMap(rowsOfLine) }
}

export function rowsOfLine<State extends string, Reason extends string, Trigger extends string, Guard extends string>(
  line: Line<State, Reason, Trigger, Guard>,
): Row<State, Reason, Trigger, Guard>[] {
  const { from, on, when = [], unless = [], to, decides, ...effects } = line
  const places = from === null ? [null] : listOf(from)
  return places.flatMap((place) =>
    listOf(on).map((trigger) => {
      const [state, because = null] = split<State, Reason | '*'>(place)
      const isKept = to === 'ignored' || to === 'same' || to.startsWith('same:')
      const [toState, toReason = null] = split<State, Reason>(to)
      return {
        ...effects,
        from: state,
        because,
        on: trigger,
        when: listOf(when),
        unless: listOf(unless),
        ...(decides === undefined ? {} : { decides: listOf(decides) }),
        to: (isKept ? state : toState) as State,
        reason: to === 'same' || to === 'ignored' ? 'same' : toReason,
        isIgnored: to === 'ignored',
      }
    }),
  )
}

function listOf<T>(given: OneOrMore<T>): readonly T[] {
  return Array.isArray(given) ? given : [given as T]
}

function split<State extends string, Reason extends string>(place: string | null): [State | null, Reason?] {
  return (place?.split(':') ?? [null]) as [State | null, Reason?]
}

/** Describes the statuses of an operation with their meanings. @source rules#reference.9 */
export function statusText({ states, meanings }: Pick<Machine, 'states' | 'meanings'>): string {
  return states.map((state) => `\`${state}\`: ${meanings[state]}`).join(' ')
}

/** Describes a state of doubt. @param reasons of the machine */
export function doubtText(reasons: Readonly<Record<string, string>>): string {
  const [first, ...others] = Object.values(reasons)
  return `In doubt. Either: ${first} ${others.map((reason) => `Or: ${reason} `).join('')}Do not conclude it in your systems: open a support ticket with its \`id\` and the \`X-Correlation-ID\`.`
}

/** Description of the state with an unknown outcome. */
export const RESULT_UNKNOWN_TEXT =
  'The bank has not told the outcome, which is no failure. Read it every 60 seconds, and escalate after 15 minutes without one.'

/** The union of a machine's states. */
export type StateOf<M> = M extends { readonly states: readonly (infer State)[] } ? State : never

/** The union of a machine's reasons of doubt. */
export type ReasonOf<M> = M extends { readonly reasons: Readonly<Record<infer Reason, string>> } ? Reason : never

/** The union of a machine's guards. */
export type GuardOf<M> = M extends { readonly guards: Readonly<Record<infer Guard, string>> } ? Guard : never

/** Current state of an operation. */
export interface Standing<State extends string, Reason extends string> {
  /** `null`: it does not exist yet. */
  readonly status: State | null
  /** Reason of the doubt, if any. */
  readonly reason: Reason | null
}

/**
 * The row that applies. `undefined`: the input changes nothing and is only kept as evidence.
 * @param holds evaluates a guard for the input
 * @param decided kind of the case an operator decides, if any
 */
export function rowFor<State extends string, Reason extends string, Trigger extends string, Guard extends string>(
  { rows }: Pick<Machine<State, Reason, Trigger, Guard>, 'rows'>,
  { status, reason }: Standing<State, Reason>,
  on: Trigger,
  holds: (guard: Guard) => boolean,
  decided?: string,
): Row<State, Reason, Trigger, Guard> | undefined {
  return rowsOn(rows, status, on).find(
    (row) =>
      (row.because === '*' || row.because === reason) &&
      isAbout(row, decided) &&
      row.when.every(holds) &&
      !row.unless.some(holds),
  )
}

/** A row that decides cases applies to those kinds only. */
function isAbout({ decides }: Pick<Row, 'decides'>, decided: string | undefined): boolean {
  return decides === undefined ? decided === undefined : decides.some((kind) => kind === decided)
}

type AnyRow = Pick<Row, 'from' | 'on'>

type RowsByState = ReadonlyMap<string | null, ReadonlyMap<string, readonly AnyRow[]>>

/** Rows grouped by state and trigger: a table has over a hundred, and each move searches it several times. */
const grouped = new WeakMap<readonly AnyRow[], RowsByState>()

function rowsOn<R extends AnyRow>(rows: readonly R[], status: string | null, on: string): readonly R[] {
  let states = grouped.get(rows)
  if (!states) {
    const byState = Map.groupBy<string | null, AnyRow>(rows, ({ from }) => from)
    states = new Map([...byState].map(([from, ofState]) => [from, Map.groupBy(ofState, (row) => row.on)]))
    grouped.set(rows, states)
  }
  return (states.get(status)?.get(on) ?? NO_ROWS) as readonly R[]
}

const NO_ROWS: readonly AnyRow[] = []
