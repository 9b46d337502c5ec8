import { limits } from '@pixgate/spec'
import type { StatementEntry } from '../banks/port.ts'
import type { OperationKind } from '../engine/operation.ts'

/** Which window of the statement is read, and what an entry means to our books. Pure. */

/** A window by the bank's time of booking, epoch milliseconds: `from` inclusive, `to` exclusive. */
export interface Window {
  readonly from: number
  readonly to: number
}

/**
 * Where the first window begins: before our first operation nothing of ours can have moved. It is kept, so that a bank
 * that cannot be read at first makes us miss nothing.
 * @param oldestAt when that operation was made; `null` where there is none
 * @source rules#statement.2
 */
export function firstFrom(now: number, oldestAt: number | null): number {
  const { statementClockSkewMs, statementLookBackMs } = limits
  return Math.min(now, Math.max(now - statementLookBackMs, oldestAt ?? now)) - statementClockSkewMs
}

/**
 * What is read next. The bank's time may differ from ours by five minutes in either direction: a movement that it books
 * now may bear a time five minutes old, which lies in windows that were read before, or five minutes ahead. So each
 * window begins five minutes before the mark, which is itself five minutes behind the reading, and ends ahead of our time.
 * @param matchedUntil the mark; `null` before a window was read whole
 * @source rules#statement.2
 */
export function windowAt(now: number, readFrom: number, matchedUntil: number | null): Window {
  const { statementClockSkewMs, statementWindowMaxMs } = limits
  const from = matchedUntil === null ? readFrom : Math.max(readFrom, matchedUntil - statementClockSkewMs)
  return { from, to: Math.min(from + statementWindowMaxMs, now + statementClockSkewMs) }
}

/**
 * How far everything is matched once a window was read whole: not beyond what the bank may still book by its time, nor
 * beyond an entry that waits to be handed to its operation. The mark never goes back.
 * @param waiting when those entries moved or were first seen, whichever is earlier
 * @source rules#statement.2
 */
export function markAfter(
  { from, to }: Window,
  matchedUntil: number | null,
  waiting: readonly number[],
  now: number,
): number {
  const reached = Math.min(to, now - limits.statementClockSkewMs)
  const held = waiting.reduce((earliest, at) => Math.min(earliest, at), reached)
  return Math.max(matchedUntil ?? from, held)
}

/** A movement of our books that the statement lacks was at the bank between these. Epoch milliseconds. */
export interface LackingMovement {
  readonly orderedAt: number
  readonly bookedAt: number
}

/** Movements that were booked later than this after they were ordered are looked for in the last part of that time. */
const REREAD_SPAN_MAX_MS = 7 * 86_400_000

/**
 * The windows in which movements are looked for again: each once, none longer than a window may be.
 * @source rules#statement.8
 */
export function windowsOf(movements: readonly LackingMovement[]): Window[] {
  const { statementClockSkewMs, statementWindowMaxMs } = limits
  const spans = movements
    .map(({ orderedAt, bookedAt }) => ({
      from: Math.max(Math.min(orderedAt, bookedAt), bookedAt - REREAD_SPAN_MAX_MS) - statementClockSkewMs,
      to: bookedAt + statementClockSkewMs,
    }))
    .sort((one, other) => one.from - other.from)
  const windows: Window[] = []
  let readUntil = Number.NEGATIVE_INFINITY
  for (const { from, to } of spans) {
    readUntil = Math.max(readUntil, from)
    while (readUntil < to) {
      const end = Math.min(to, readUntil + statementWindowMaxMs)
      windows.push({ from: readUntil, to: end })
      readUntil = end
    }
  }
  return windows
}

/** What tells an entry from every other. */
export function keyOf({ kind, movementId }: Pick<StatementEntry, 'kind' | 'movementId'>): string {
  return `${kind} ${movementId}`
}

/** An entry that is not settled, with what our books know of it. */
export interface OpenEntry extends StatementEntry {
  readonly seenAt: number
  /** When its operation was asked about; `null` where it was not yet. */
  readonly askedAt: number | null
  readonly reportedAt: number | null
  /** The movement of our books that has its direction and id. */
  readonly booked:
    | {
        readonly operationId: string
        readonly valueCents: bigint
        /** An adjustment has it: whatever it names. */
        readonly isByOperator?: boolean
      }
    | undefined
  /** The operation whose id the bank names as what the money moved for. */
  readonly named: Subject | undefined
  /** Operations of the right kind that were paid, or paid, by its end-to-end id. */
  readonly paidBy: readonly Subject[]
  /** The charge, or adjustment, that has the payment that was taken back, also in suspense; else `null`. */
  readonly arrivedOn: Pick<Subject, 'id' | 'kind'> | null
  /**
   * It may be one of our refunds. The charge has it in doubt and opens a case after 15 minutes, not where it was held before; of an
   * adjustment such a refund is under way.
   */
  readonly isInDoubt: boolean
  /** An adjustment of its amount and direction that explains no other entry; `null` where there is none. */
  readonly adjustmentId: string | null
  /** The adjustment that books this entry: it holds incoming money, or somebody bears it; `null`: none does. */
  readonly heldBy: { readonly id: string; readonly status: string } | null
  /** It takes back a payment that an adjustment had, and no more went back than that. */
  readonly isOfHeld: boolean
  /** The operation that had the movement booked until an operator took that back; else `null`. */
  readonly takenBackFrom: string | null
  /**
   * A payment that our books do not have, all of which the bank gave back by itself, or such a return of it.
   * @source rules#statement.10
   */
  readonly isComeAndGone: boolean
}

/** An operation that an entry could be of. */
export interface Subject {
  readonly id: string
  readonly kind: OperationKind
  readonly endToEndId: string | null
}

/**
 * What is to be done with an open entry. `TARIFF`: its payout books it, which settles it. `WAIT`: nothing yet. `ASK`: the
 * bank, about the operation. `HAND_OVER`: the operation takes it from the statement. `UNEXPLAINED`: an operator is told.
 */
export type Verdict =
  | { readonly is: 'MATCHED'; readonly operationId: string }
  | { readonly is: 'KEPT'; readonly operationId: string | null }
  | { readonly is: 'TARIFF'; readonly operationId: string }
  | { readonly is: 'DIFFERS'; readonly operationId: string; readonly reason: string }
  | { readonly is: 'ASK' | 'HAND_OVER' | 'WAIT'; readonly operationId: string; readonly isOverdue: boolean }
  | { readonly is: 'UNEXPLAINED'; readonly reason: string; readonly isOverdue: boolean }

/** Time for an event, or an operator, to explain a line. */
const WITHIN_MS = { in: limits.statementUnexplainedMs, out: limits.statementDifferenceMs } as const

/** Judges an entry by what our books have. @source rules#statement.4, rules#statement.5, rules#statement.6, rules#statement.7, rules#statement.9, rules#statement.10 */
export function judge(entry: OpenEntry, now: number): Verdict {
  if (entry.kind === 'TARIFF') return judgeTariff(entry)
  const isOverdue = entry.reportedAt === null && now - entry.seenAt >= WITHIN_MS[entry.direction]
  if (entry.booked) return judgeBooked(entry, entry.booked, now)
  // Its operation knows the movement, and books it no second time.
  if (entry.takenBackFrom !== null) return judgeStrange(entry, 'an operator reversed its booking', now, isOverdue)
  const subject = subjectOf(entry)
  if (typeof subject === 'string') return judgeStrange(entry, subject, now, isOverdue)
  // The charge finds out whose it is, and opens its own case where it cannot.
  if (entry.isInDoubt) return { is: 'UNEXPLAINED', reason: 'it may be a refund of ours', isOverdue: false }
  return { is: nextStep(entry, now), operationId: subject.id, isOverdue }
}

/** What names no payout of ours is known by its kind, and has nobody to be booked for. @source rules#statement.4 */
function judgeTariff({ named }: OpenEntry): Verdict {
  return named?.kind === SUBJECT_KINDS.TARIFF
    ? { is: 'TARIFF', operationId: named.id }
    : { is: 'KEPT', operationId: null }
}

/** Of an entry that is of no operation. @source rules#statement.6, rules#statement.9, rules#statement.10 */
function judgeStrange(entry: OpenEntry, reason: string, now: number, isOverdue: boolean): Verdict {
  const { adjustmentId, isComeAndGone, seenAt } = entry
  // An event may still name the operation that it is of.
  if (isComeAndGone) {
    return now - seenAt >= limits.statementDifferenceMs
      ? { is: 'KEPT', operationId: null }
      : { is: 'UNEXPLAINED', reason, isOverdue: false }
  }
  if (adjustmentId !== null) return { is: 'KEPT', operationId: adjustmentId }
  return { is: 'UNEXPLAINED', reason, isOverdue }
}

function judgeBooked(entry: OpenEntry, booked: NonNullable<OpenEntry['booked']>, now: number): Verdict {
  const { operationId } = booked
  const reason = differenceOf(entry, booked)
  if (reason === undefined) return { is: 'MATCHED', operationId }
  // What is booked now may be only a part of what is being written.
  if (now - entry.seenAt < limits.statementDifferenceMs) return { is: 'WAIT', operationId, isOverdue: false }
  return { is: 'DIFFERS', operationId, reason }
}

function differenceOf({ kind, valueCents, named }: OpenEntry, booked: NonNullable<OpenEntry['booked']>) {
  if (booked.valueCents !== valueCents) return 'our books have another amount'
  if (booked.isByOperator) return undefined
  // What the bank takes by itself is a refund of its own here, and names the charge there.
  const isComparable = named !== undefined && named.kind === SUBJECT_KINDS[kind] && kind !== 'PAYMENT_TAKEN_BACK'
  return isComparable && named.id !== booked.operationId ? 'our books have it as another operation’s' : undefined
}

/** The operation that takes an entry of each kind. */
export const SUBJECT_KINDS: Readonly<Record<StatementEntry['kind'], OperationKind>> = {
  PAYMENT_RECEIVED: 'cash_in',
  PAYMENT_TAKEN_BACK: 'cash_in',
  REFUND_SENT: 'refund_in',
  PAYOUT_SENT: 'cash_out',
  PAYOUT_RETURNED: 'cash_out',
  TARIFF: 'cash_out',
}

/** What gives back money that moved before must name the movement that the operation had. */
const GIVES_BACK: ReadonlySet<StatementEntry['kind']> = new Set([
  'PAYMENT_TAKEN_BACK',
  'REFUND_SENT',
  'PAYOUT_RETURNED',
])

/** The operation that an entry is of, or, in words for people, why none is. */
function subjectOf({ kind, endToEndId, named, paidBy, arrivedOn }: OpenEntry): Subject | string {
  // A second payment of a charge is not the one that the charge is known by.
  if (arrivedOn !== null && (named === undefined || named.id === arrivedOn.id)) return { ...arrivedOn, endToEndId }
  if (named === undefined && paidBy.length > 1) return 'its end-to-end id is that of several operations'
  const subject = named ?? (kind === 'REFUND_SENT' ? undefined : paidBy[0])
  if (subject === undefined) return 'it names no operation of ours'
  if (subject.kind !== SUBJECT_KINDS[kind]) return 'it names an operation of another kind'
  const isOfAnother = subject.endToEndId !== null && subject.endToEndId !== endToEndId
  return GIVES_BACK.has(kind) && isOfAnother ? 'it gives back another movement than its operation had' : subject
}

/** Asked first: the bank's answer tells who paid or was paid, the statement does not. @source rules#statement.5 */
function nextStep({ askedAt }: OpenEntry, now: number): 'ASK' | 'WAIT' | 'HAND_OVER' {
  if (askedAt === null) return 'ASK'
  return now - askedAt < limits.statementAnswerWithinMs ? 'WAIT' : 'HAND_OVER'
}

/** What tells the tariffs of one payout apart: a bank gives them no ids. Pure. */

/** What a tariff says of itself. */
export type NamedTariff = Pick<StatementEntry, 'reference' | 'endToEndId' | 'valueCents' | 'occurredAt'>

/**
 * Names the tariffs of a page. The first that is kept of a payout bears the payout's id, as where there is only one; any
 * other one bears besides what it says of itself, and its place among those of the page that say the same. So each has the same
 * name in every reading, whatever window it is read in.
 * @param kept those that bear the bare id of their payout by now
 * @source rules#statement.4
 */
export function withTariffNames(entries: readonly StatementEntry[], kept: readonly NamedTariff[]): StatementEntry[] {
  const first = new Map(kept.map((tariff) => [tariff.reference, textOf(tariff)]))
  const seen = new Map<string, number>()
  return entries.map((entry) => {
    if (entry.kind !== 'TARIFF') return entry
    const { reference } = entry
    const text = textOf(entry)
    const place = (seen.get(text) ?? 0) + 1
    seen.set(text, place)
    if (!first.has(reference)) first.set(reference, text)
    const isFirst = place === 1 && first.get(reference) === text
    return { ...entry, movementId: isFirst ? reference : `${text} ${place}` }
  })
}

function textOf({ reference, endToEndId, valueCents, occurredAt }: NamedTariff): string {
  return `${reference} ${endToEndId} ${valueCents} ${new Date(occurredAt).toISOString()}`
}
