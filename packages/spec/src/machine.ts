import type { CaseOfOperation } from './cases.ts'
import type { EventType } from './events.ts'
import type { JournalKind } from './ledger.ts'

/**
 * State machines as data. A machine is a table of lines; everything that depends on states (status unions, list filters,
 * documentation, the database's guard, one test per row) is derived from it and never typed again.
 */

/**
 * A line of a table: in `from`, on `on`, where every guard of `when` holds and none of `unless`, go to `to` and do what
 * stands beside it. Lines are tried in their order; the first that applies counts.
 */
export interface Line<
  State extends string = string,
  Reason extends string = string,
  Trigger extends string = string,
  Guard extends string = string,
> {
  /**
   * Where it applies; `null`: the operation does not exist yet. `STATE:reason` is the state in doubt for that reason,
   * `STATE` the state without doubt, `STATE:*` both.
   */
  readonly from: OneOrMore<State | `${State}:${Reason}` | `${State}:*`> | null
  readonly on: OneOrMore<Trigger>
  readonly when?: OneOrMore<Guard>
  readonly unless?: OneOrMore<Guard>
  /** `same` keeps state and reason, `same:reason` the state; `ignored`: nothing at all is written. */
  readonly to: State | `${State}:${Reason}` | 'same' | `same:${Reason}` | 'ignored'
  /** The journal posted with the move. */
  readonly posts?: JournalKind
  /** The notification sent with the move. */
  readonly emits?: EventType
  /** The case opened for an operator. */
  readonly opens?: CaseOfOperation
  /**
   * The kinds of case that an operator decides by it. The decided case closes, unless the bank is asked: then what it
   * answers closes it.
   */
  readonly decides?: OneOrMore<CaseOfOperation>
  /** The bank is asked about the operation as soon as nothing else is under way. */
  readonly asks?: true
  /** What the line is for, as a sentence. */
  readonly says: string
  /** The name of the rule, and its anchor in docs/generated/states.md; lines that tell parts of one rule share it. */
  readonly rule: string
}

/** One, or a list. */
export type OneOrMore<T> = T | readonly T[]

/** A line as it applies to one state and trigger. */
export interface Row<
  State extends string = string,
  Reason extends string = string,
  Trigger extends string = string,
  Guard extends string = string,
> extends Pick<Line<State, Reason, Trigger, Guard>, 'posts' | 'emits' | 'opens' | 'asks' | 'says' | 'rule'> {
  readonly from: State | null
  /** The reason of the doubt in which it applies; `null`: in none, `*`: in any. */
  readonly because: Reason | '*' | null
  readonly on: Trigger
  readonly when: readonly Guard[]
  readonly unless: readonly Guard[]
  /** The kinds of case that an operator decides by it; absent where it is no decision on a case. */
  readonly decides?: readonly CaseOfOperation[]
  readonly to: State
  /** Why it is in doubt afterwards; `null`: it is not, `same`: as before. */
  readonly reason: Reason | 'same' | null
  /** Nothing is written. */
  readonly isIgnored: boolean
}

/** What a table is made of. */
interface Declarations<State extends string, Reason extends string, Trigger extends string, Guard extends string> {
  readonly resource: string
  /** In the order of the documentation. */
  readonly states: readonly State[]
  /** What each state means to a client, and what it does about it. @source rules#reference.9 */
  readonly meanings: Readonly<Record<NoInfer<State>, string>>
  /** Why an operation may be in doubt, each with the sentence that explains it. */
  readonly reasons: Readonly<Record<Reason, string>>
  readonly triggers: readonly Trigger[]
  /** Conditions a line may name, each with the sentence that explains it. */
  readonly guards: Readonly<Record<Guard, string>>
}

/** A resource's whole life. */
export interface Machine<
  State extends string = string,
  Reason extends string = string,
  Trigger extends string = string,
  Guard extends string = string,
> extends Declarations<State, Reason, Trigger, Guard> {
  readonly lines: readonly Line<State, Reason, Trigger, Guard>[]
  /** The lines, one by one for each state and trigger. */
  readonly rows: readonly Row<State, Reason, Trigger, Guard>[]
}

/**
 * Declares a machine. A state, reason, trigger, guard or case that is not declared, or a journal or event that does not
 * exist, is a type error.
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

/** A line for each of its states and triggers. */
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

/** What a client is told of the statuses of an operation: each with what it means. @source rules#reference.9 */
export function statusText({ states, meanings }: Pick<Machine, 'states' | 'meanings'>): string {
  return states.map((state) => `\`${state}\`: ${meanings[state]}`).join(' ')
}

/**
 * What is meant by a state in which an operation is in doubt.
 * @param reasons of the machine
 */
export function doubtText(reasons: Readonly<Record<string, string>>): string {
  const [first, ...others] = Object.values(reasons)
  return `In doubt. Either: ${first} ${others.map((reason) => `Or: ${reason} `).join('')}Do not conclude it in your systems: open a support ticket with its \`id\` and the \`X-Correlation-ID\`.`
}

/** What is meant by the state of an operation whose outcome the bank has not told. */
export const RESULT_UNKNOWN_TEXT =
  'The bank has not told the outcome, which is no failure. Read it every 60 seconds, and escalate after 15 minutes without one.'

/** The union of a machine's states. */
export type StateOf<M> = M extends { readonly states: readonly (infer State)[] } ? State : never

/** The union of the reasons for which a machine's operations are in doubt. */
export type ReasonOf<M> = M extends { readonly reasons: Readonly<Record<infer Reason, string>> } ? Reason : never

/** The union of a machine's guards. */
export type GuardOf<M> = M extends { readonly guards: Readonly<Record<infer Guard, string>> } ? Guard : never

/** Where an operation stands. */
export interface Standing<State extends string, Reason extends string> {
  /** `null`: it does not exist yet. */
  readonly status: State | null
  /** Why it is in doubt; `null`: it is not. */
  readonly reason: Reason | null
}

/**
 * The row that applies, or `undefined`: a pair with no row changes nothing and is kept as evidence only.
 * @param holds tells whether a guard holds for the input at hand
 * @param decided the kind of the case that an operator decides; left out where nobody does
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

/** The rows of each state and trigger: a table has more than a hundred, and is asked several times for each move. */
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
