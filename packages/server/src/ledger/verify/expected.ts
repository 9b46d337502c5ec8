import {
  adjustment,
  type CashOutStatus,
  cashIn,
  cashOut,
  type EventType,
  type JournalKind,
  type JournalTemplate,
  journals,
  type Machine,
  type RefundInStatus,
  type Row,
  refundIn,
  type Terms,
  type Variable,
} from '@pixgate/spec'

/**
 * What must be in the books, derived from the rules as tables that SQL can join: every one is a `VALUES` list.
 */

type MachineRow = Row<string, string, string, string>

const machines: readonly Machine[] = [cashIn, cashOut, refundIn, adjustment]

/** Rows that a move cannot tell apart: they differ only in their condition. `''` stands for «not there yet». */
interface MoveKey {
  readonly kind: string
  readonly from: string
  readonly trigger: string
  readonly to: string
  readonly rows: readonly MachineRow[]
}

const moveKeys: readonly MoveKey[] = machines.flatMap(({ resource, rows }) => {
  const keys = new Map<string, { from: string; trigger: string; to: string; rows: MachineRow[] }>()
  for (const row of rows) {
    // The first move of an operation is called `create`, whatever made it.
    const [from, trigger] = row.from === null ? ['', 'create'] : [row.from, row.on]
    const name = `${from} ${trigger} ${row.to}`
    const key = keys.get(name) ?? { from, trigger, to: row.to, rows: [] }
    key.rows.push(row)
    keys.set(name, key)
  }
  return [...keys.values()].map((key) => ({ kind: resource, ...key }))
})

/** Every move that a table has: `(kind, from_status, trigger, to_status)`. */
export const moves = values(moveKeys.map(({ kind, from, trigger, to }) => [kind, from, trigger, to]))

/** That the row `t` of such a list is about the move `m`. */
export const isMoveOf =
  "t.kind = m.kind AND t.from_status = coalesce(m.from_status, '') AND t.trigger = m.trigger AND t.to_status = m.to_status"

/** How many journals of a kind a move posts: `(kind, from_status, trigger, to_status, journal, least, most)`. */
export const posted = values(
  moveKeys.flatMap(({ kind, from, trigger, to, rows }) =>
    bounds(rows, ({ posts }) => posts).map((bound) => [kind, from, trigger, to, ...bound]),
  ),
)

/** What a decision notifies of that may leave the operation in doubt. */
const NOTIFIED: Readonly<Record<string, string>> = {
  'cash_in operator.accepted': 'PAID',
  'cash_out operator.executed': 'CONFIRMED',
  'cash_out operator.not_executed': 'FAILED',
  'cash_out operator.attributed': 'REVERSED',
}

/**
 * How many notifications a move makes: `(kind, from_status, trigger, to_status, event_type, least, most, status)`. A
 * release is told as a failure.
 */
export const notified = values(
  moveKeys.flatMap(({ kind, from, trigger, to, rows }) =>
    bounds(rows, ({ emits }) => emits).map((bound) => [
      ...[kind, from, trigger, to, ...bound],
      NOTIFIED[`${kind} ${trigger}`] ?? (to === 'RELEASED' ? 'FAILED' : to),
    ]),
  ),
)

function bounds(
  rows: readonly MachineRow[],
  effect: (row: MachineRow) => JournalKind | EventType | undefined,
): [effect: string, minimum: number, maximum: number][] {
  const effects = new Set(rows.map(effect).filter((name) => name !== undefined))
  return [...effects].map((name) => [name, rows.every((row) => effect(row) === name) ? 1 : 0, 1])
}

/**
 * What a state sets aside. `all`: the whole amount. `doubt`: all or nothing, as it was when the doubt arose. Of money that
 * left `late`, after its hold had been given back, what there was of it is held again: `doubt` and `late` may hold that.
 */
type Hold = 'nothing' | 'all' | 'doubt' | 'late'

const PAYOUT_HOLDS: Readonly<Record<CashOutStatus, Hold>> = {
  RESERVED: 'all',
  DISPATCHED: 'all',
  PROVIDER_RESULT_UNKNOWN: 'all',
  CONFIRMED: 'nothing',
  FAILED: 'nothing',
  RELEASED: 'nothing',
  REVERSED: 'nothing',
  RECONCILIATION_REQUIRED: 'doubt',
}

const REFUND_HOLDS: Readonly<Record<RefundInStatus, Hold>> = { PENDING: 'all', CONFIRMED: 'nothing', FAILED: 'late' }

/** What is set aside where it is not nothing: `(kind, status, hold)`. */
export const holds = values(
  Object.entries({ cash_out: PAYOUT_HOLDS, refund_in: REFUND_HOLDS }).flatMap(([kind, byStatus]) =>
    Object.entries<Hold>(byStatus)
      .filter(([, hold]) => hold !== 'nothing')
      .map(([status, hold]) => [kind, status, hold]),
  ),
)

/** Held of the returns in doubt of a charge, a row `o` of `operation`, centavos. */
export const heldOfReturns = `CASE WHEN o.facts ? 'returns'
             THEN (SELECT coalesce(sum((r.value ->> 'heldCents')::bigint), 0) FROM jsonb_each(o.facts -> 'returns') r)
             ELSE 0 END`

/** Every posting of every template: `(journal, posting, account, shown)`. */
export const postings = values(
  Object.entries(journals).flatMap(([journal, template]: [string, JournalTemplate]) =>
    template.postings.map((posting, index) => [
      journal,
      index,
      posting.account,
      'shown' in posting ? posting.shown : null,
    ]),
  ),
)

/** The most postings that a template has. */
export const mostPostings = Math.max(...Object.values(journals).map((template) => template.postings.length))

/** That an operation, by its columns, is a refund of money in suspense. */
export const IS_TO_PAYER = `detail ->> 'origin' IS NOT DISTINCT FROM 'OPERATOR'`

/** Amounts that the operation itself fixes, as columns of `operation`. The others are read off the journal. */
const OWN: Partial<Record<Variable, string>> = {
  v: 'value_cents',
  f: 'fee_cents',
  r: `CASE WHEN ${IS_TO_PAYER} THEN 0 ELSE value_cents END`,
  s: `CASE WHEN ${IS_TO_PAYER} THEN value_cents ELSE 0 END`,
}

/** Where the amount is the partner's word or the operator's all the same. */
const STATED: Partial<Record<JournalKind, readonly Variable[]>> = {
  left_after_release: ['v'],
  suspense_credited: ['f'],
  credit_reversed: ['v', 'f'],
  return_debited: ['r'],
  refund_left_in_suspense: ['s'],
}

/**
 * Whether the amounts `a0`, `a1`, … of a journal's postings (0: not written) are those of its template, as an SQL
 * condition on them and on the columns of `operation`.
 * @source rules#ledger.verify.1
 */
export const amountsAreRight = `CASE journal ${Object.entries(journals)
  .map(([journal, template]) => `WHEN ${literal(journal)} THEN ${conditionOf(journal as JournalKind, template)}`)
  .join('\n         ')} END`

function conditionOf(journal: JournalKind, { postings }: JournalTemplate): string {
  const own = (variable: Variable) => (STATED[journal]?.includes(variable) ? undefined : OWN[variable])
  const stated = [...new Set(postings.flatMap(({ amount }) => variablesOf(amount)))].filter((it) => !own(it))
  const read = new Map(stated.map((variable) => [variable, readOff(postings, variable)]))
  const sums = postings.map(({ amount }, index) => {
    const terms = variablesOf(amount).map((it) => `${amount[it] === 1 ? '+' : '-'} (${own(it) ?? read.get(it)})`)
    return `a${index} = 0 ${terms.join(' ')}`
  })
  return [...sums, ...[...read.values()].map((amount) => `${amount} >= 0`)].join(' AND ')
}

/** Every amount that is not the operation's own stands alone in some posting of each template. */
function readOff(postings: JournalTemplate['postings'], variable: Variable): string {
  const index = postings.findIndex(({ amount }) => variablesOf(amount).join() === variable)
  const sign = postings[index]?.amount[variable]
  if (sign === undefined) throw new Error(`the amount ${variable} cannot be read off its journal`)
  return sign === 1 ? `a${index}` : `-a${index}`
}

function variablesOf(terms: Terms): Variable[] {
  return Object.keys(terms) as Variable[]
}

type Value = string | number | boolean | null

function values(rows: readonly (readonly Value[])[]): string {
  return `(VALUES ${rows.map((row) => `(${row.map(literal).join(', ')})`).join(',\n')})`
}

/** The rules' own words are identifiers: there is nothing to escape. */
function literal(value: Value): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
