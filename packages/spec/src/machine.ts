import type { CaseOfOperation } from './cases.ts'
import type { EventType } from './events.ts'
import type { JournalKind } from './ledger.ts'

/**
 * State machines as data. Status unions, list filters, documentation, the database's guard and the tests of rows are
 * derived from the table.
 */

/** A transition. The first line whose guards hold applies: all of `when`, none of `unless`. */
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
  /** `same` keeps state and reason, `same:reason` the state; `ignored` writes nothing. */
  readonly to: State | `${State}:${Reason}` | 'same' | `same:${Reason}` | 'ignored'
  /** Posts this journal. */
  readonly posts?: JournalKind
  /** Sends this notification. */
  readonly emits?: EventType
  /** Opens this case. */
  readonly opens?: CaseOfOperation
  /**
   * Kinds of case that it decides. The decided case closes, unless the line queries the bank: then the answer closes
   * it.
   */
  readonly decides?: OneOrMore<CaseOfOperation>
  /** Queries the bank as soon as no other query is in flight. */
  readonly asks?: true
  /** One sentence: effect and reason. */
  readonly says: string
  /** Name of the rule, and its anchor in docs/generated/states.md. Lines may share it. */
  readonly rule: string
}

export type OneOrMore<T> = T | readonly T[]

/** A line, expanded to one state and trigger. */
export interface Row<
  State extends string = string,
  Reason extends string = string,
  Trigger extends string = string,
  Guard extends string = string,
> extends Pick<Line<State, Reason, Trigger, Guard>, 'posts' | 'emits' | 'opens' | 'asks' | 'says' | 'rule'> {
  readonly from: State | null
  /** Reason of the doubt in which it applies; `null`: no doubt, `*`: any. */
  readonly because: Reason | '*' | null
  readonly on: Trigger
  readonly when: readonly Guard[]
  readonly unless: readonly Guard[]
  /** Kinds of case that it decides; absent unless it is a decision. */
  readonly decides?: readonly CaseOfOperation[]
  readonly to: State
  /** Reason of the doubt afterwards; `null`: no doubt, `same`: as before. */
  readonly reason: Reason | 'same' | null
  readonly isIgnored: boolean
}

interface Declarations<State extends string, Reason extends string, Trigger extends string, Guard extends string> {
  readonly resource: string
  /** In the order of the documentation. */
  readonly states: readonly State[]
  /** The meaning of each state for clients. @source rules#reference.9 */
  readonly meanings: Readonly<Record<NoInfer<State>, string>>
  /** Reasons of doubt. */
  readonly reasons: Readonly<Record<Reason, string>>
  readonly triggers: readonly Trigger[]
  /** Guards that lines may name. */
  readonly guards: Readonly<Record<Guard, string>>
}

export interface Machine<
  State extends string = string,
  Reason extends string = string,
  Trigger extends string = string,
  Guard extends string = string,
> extends Declarations<State, Reason, Trigger, Guard> {
  readonly lines: readonly Line<State, Reason, Trigger, Guard>[]
  readonly rows: readonly Row<State, Reason, Trigger, Guard>[]
}

/**
 * Declares a machine. Undeclared states, reasons, triggers and guards, and unknown cases, journals and events, are type
 * errors.
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

/** Expands a line to one row per state and trigger. */
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

/** All statuses with their meanings. @source rules#reference.9 */
export function statusText({ states, meanings }: Pick<Machine, 'states' | 'meanings'>): string {
  return states.map((state) => `\`${state}\`: ${meanings[state]}`).join(' ')
}

/**
 * Text of the state for doubt.
 * @param reasons of the machine
 */
export function doubtText(reasons: Readonly<Record<string, string>>): string {
  const [first, ...others] = Object.values(reasons)
  return `In doubt. Either: ${first} ${others.map((reason) => `Or: ${reason} `).join('')}Do not conclude it in your systems: open a support ticket with its \`id\` and the \`X-Correlation-ID\`.`
}

export const RESULT_UNKNOWN_TEXT =
  'The bank has not reported the outcome, which is no failure. Read it every 60 seconds, and escalate after 15 minutes.'

export type StateOf<M> = M extends { readonly states: readonly (infer State)[] } ? State : never

export type ReasonOf<M> = M extends { readonly reasons: Readonly<Record<infer Reason, string>> } ? Reason : never

export type GuardOf<M> = M extends { readonly guards: Readonly<Record<infer Guard, string>> } ? Guard : never

export interface Standing<State extends string, Reason extends string> {
  readonly status: State | null
  /** Reason of the doubt; `null`: no doubt. */
  readonly reason: Reason | null
}

/**
 * The row that applies, or `undefined`: then nothing changes, and the input is kept as evidence.
 * @param holds evaluates a guard
 * @param decided kind of the case being decided
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

/** Rows that decide cases apply to those kinds only. */
function isAbout({ decides }: Pick<Row, 'decides'>, decided: string | undefined): boolean {
  return decides === undefined ? decided === undefined : decides.some((kind) => kind === decided)
}

type AnyRow = Pick<Row, 'from' | 'on'>

type RowsByState = ReadonlyMap<string | null, ReadonlyMap<string, readonly AnyRow[]>>

/** Indexed, as a table has more than a hundred rows and is searched several times per move. */
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
