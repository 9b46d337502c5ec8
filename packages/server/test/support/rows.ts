import assert from 'node:assert/strict'
import test from 'node:test'
import type { EventType, JournalKind } from '@pixgate/spec'
import { type Reason, reasonFact, reasonOf } from '../../src/engine/follow.ts'
import type { Decision, Document, Operation, State } from '../../src/engine/operation.ts'
import { entriesOf } from '../../src/engine/postings.ts'
import { statusQueryOf } from '../../src/operations/attempts.ts'

/** Expectations of what a state machine does, one a row, written by hand. */

/**
 * An input to an operation in some places, and all that must come of it. A place is a state, in doubt with the reason, as
 * `PENDING:conflict`.
 */
export interface Row<Op extends Operation, Input, Place extends string, Result = string> {
  readonly rule: string
  readonly from: readonly Place[]
  /** What differs beforehand from the least that is known in the place. */
  readonly before?: Partial<Op>
  readonly input: Input
  /** What a decision looks at besides the operation, where that matters. */
  readonly state?: State
  readonly to: Place | 'same' | 'same:conflict' | 'ignored'
  /** What the caller is told: APPLIED, or IGNORED where it is ignored, unless something is said here. */
  readonly result?: Result
  readonly posts?: JournalKind
  readonly emits?: EventType
  readonly opens?: string
  /** The references that change. A reference of the bank that is known already stays. */
  readonly ids?: Partial<Op>
  /** The facts that change; the reason of a doubt follows from the places. */
  readonly learns?: Op['facts']
  /** When work is due, where that is not what the place alone says. */
  readonly dueAt?: number | null
  /** The id of the movement that journal and case are known by. */
  readonly reference?: string
  /** What the operator of the case reads. */
  readonly evidence?: Readonly<Record<string, unknown>>
}

type AnyRow<Place extends string> = Row<Operation, { readonly on: string }, Place>

/** Makes a test of each row in each of its places. */
export function testRows<One extends AnyRow<string>>(
  rows: readonly One[],
  check: (row: One, place: One['from'][number]) => void,
): void {
  for (const row of rows) {
    for (const place of row.from) {
      const words = [place, row.input.on, '→', row.to, row.posts, row.opens].filter((word) => word !== undefined)
      test(`[${row.rule}] ${words.join(' ')}`, () => check(row, place))
    }
  }
}

/** The state of a place. */
export function statusIn<Status extends string>(place: Status | `${Status}:${Reason}`): Status {
  return place.split(':', 1).join() as Status
}

/** The reason of a doubt in a place. */
export function reasonIn(place: string): Reason | null {
  return (place.split(':')[1] ?? null) as Reason | null
}

/** The place that a row leads to. */
export function placeAfter<Place extends string>({ to }: Pick<AnyRow<Place>, 'to'>, place: Place): Place {
  return (to === 'same' ? place : to === 'same:conflict' ? `${statusIn(place)}:conflict` : to) as Place
}

/** The operation as a row must leave it, but for when work is due. */
export function operationAfter<Op extends Operation>(
  row: Pick<Row<Op, unknown, string>, 'to' | 'ids' | 'learns'>,
  before: Op,
  place: string,
  updatedAt: number,
): Op {
  const after = placeAfter(row, place)
  const reason = reasonIn(after) === reasonIn(place) ? {} : reasonFact(reasonIn(after))
  return {
    ...before,
    ...row.ids,
    transactionId: before.transactionId ?? row.ids?.transactionId ?? null,
    facts: { ...before.facts, ...row.learns, ...reason },
    status: statusIn(after),
    version: before.version + 1,
    updatedAt,
  }
}

/**
 * Compares what a decision books, tells, opens and closes with its row. The operation had cases open of the kinds
 * `charge_unclear` or `outcome_unknown`, which a doubt that ends closes, and one of money in suspense, which none closes.
 * @param entries of the journal, as text
 * @param notification its body, and the reference that tells notifications of one operation apart
 */
export function assertEffects(
  row: AnyRow<string>,
  place: string,
  decision: Decision<unknown>,
  entries: readonly string[] | undefined,
  notification: { readonly status: string; readonly reference: string; readonly body: string },
): void {
  const { posts, emits, opens, reference = '' } = row
  const endsDoubt = reasonIn(place) !== null && reasonIn(placeAfter(row, place)) === null
  const waiting = row.rule.startsWith('cash-in.') ? 'charge_unclear' : 'outcome_unknown'
  assert.deepEqual(decision.closes, endsDoubt ? [waiting] : [])
  assert.deepEqual(journalsOf(decision), posts ? [{ kind: posts, reference, entries }] : [])
  const notified = (decision.notifications ?? []).map(({ operationId: _, body, ...rest }) => ({
    ...rest,
    body: body.toString(),
  }))
  assert.deepEqual(notified, emits ? [{ eventType: emits, ...notification }] : [])
  const opened = (decision.cases ?? []).map(({ operationId: _, ...rest }) => rest)
  assert.deepEqual(opened, opens ? [{ kind: opens, reference, facts: { ...row.evidence, rule: row.rule } }] : [])
}

/** The journals of a decision, each with its entries as text: account, centavos, and the name that the merchant sees. */
function journalsOf({ journals = [] }: Decision<unknown>) {
  return journals.map((journal) => ({
    kind: journal.kind,
    reference: journal.reference,
    entries: entriesOf(journal).map(({ account, amountCents, shown }) =>
      [account, amountCents, ...(shown === null ? [] : [shown])].join(' '),
    ),
  }))
}

/** The pairs of a place and an input that no row is about: there nothing happens. */
export function pairsWithoutRow<Place extends string, Input extends { readonly on: string }>(
  places: readonly Place[],
  inputs: Readonly<Record<string, Input>>,
  rows: readonly AnyRow<Place>[],
): [Place, Input][] {
  return places.flatMap((place) =>
    Object.values(inputs)
      .filter(({ on }) => !rows.some((row) => row.from.includes(place) && row.input.on === on))
      .map((input): [Place, Input] => [place, input]),
  )
}

/**
 * A decision in a few words: the status, the reason of a doubt, the kinds of journals and cases, and `asks` where a status
 * query is requested. Only the result, where nothing was applied.
 */
export function inShort({ journals = [], cases = [] }: Decision<unknown>, result: string, after: Operation): string {
  if (result !== 'APPLIED') return result
  const reason = reasonOf(after)
  const asks = statusQueryOf(after.facts) === 'requested' || after.facts.isQuestionWanted === true
  const kinds = [...journals, ...cases].map(({ kind }) => kind)
  return [after.status, ...(reason === null ? [] : [reason]), ...kinds, ...(asks ? ['asks'] : [])].join(' ')
}

/** The end of the body of a failure's notification, which says why. */
export function whyOf(status: string, { failureCode, failureReason = null }: Document): string {
  const [code, reason] = [failureCode, failureReason].map((text) => JSON.stringify(text))
  return status === 'FAILED' ? `,"failure_code":${code},"failure_reason":${reason}` : ''
}
