import { limits } from '@pixgate/spec'
import type { StatementEntry } from '../banks/port.ts'
import type { OperationKind } from '../engine/operation.ts'

/** Windows of the statement, and the match of its entries with our books. Pure. */

/** By the bank's booking time, epoch milliseconds: `from` inclusive, `to` exclusive. */
export interface Window {
  readonly from: number
  readonly to: number
}

/**
 * Start of the first window: before our first operation nothing of ours can have moved. Stored, so that a bank that is
 * unreadable at first loses nothing.
 * @param oldestAt creation of that operation; `null`: none
 * @source rules#statement.2
 */
export function firstFrom(now: number, oldestAt: number | null): number {
  const { statementClockSkewMs, statementLookBackMs } = limits
  return Math.min(now, Math.max(now - statementLookBackMs, oldestAt ?? now)) - statementClockSkewMs
}

/**
 * The next window. The bank's clock may differ by five minutes either way, so a new movement may have a timestamp in an
 * earlier window, or in the future. Hence the window starts five minutes before the mark, which is itself five minutes
 * behind the reading, and ends ahead of our clock.
 * @param matchedUntil the mark; `null` before the first complete window
 * @source rules#statement.2
 */
export function windowAt(now: number, readFrom: number, matchedUntil: number | null): Window {
  const { statementClockSkewMs, statementWindowMaxMs } = limits
  const from = matchedUntil === null ? readFrom : Math.max(readFrom, matchedUntil - statementClockSkewMs)
  return { from, to: Math.min(from + statementWindowMaxMs, now + statementClockSkewMs) }
}

/**
 * The mark after a complete window: not beyond what the bank may still book, nor beyond a waiting entry. It never goes
 * back.
 * @param waiting for each waiting entry the earlier of its booking and its first sighting
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

/** A movement missing in the statement happened between these instants, epoch milliseconds. */
export interface LackingMovement {
  readonly orderedAt: number
  readonly bookedAt: number
}

/** If the booking came later than this after the order, only the last part is searched. */
const REREAD_SPAN_MAX_MS = 7 * 86_400_000

/** Windows for rereading missing movements: without overlap, none longer than allowed. @source rules#statement.8 */
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

/** Unique key of an entry. */
export function keyOf({ kind, movementId }: Pick<StatementEntry, 'kind' | 'movementId'>): string {
  return `${kind} ${movementId}`
}

/** An unsettled entry, joined with our books. */
export interface OpenEntry extends StatementEntry {
  readonly seenAt: number
  /** Query of its operation; `null`: none yet. */
  readonly askedAt: number | null
  readonly reportedAt: number | null
  /** Our movement with its direction and id. */
  readonly booked:
    | {
        readonly operationId: string
        readonly valueCents: bigint
        /** Booked by an adjustment, which accepts any reference. */
        readonly isByOperator?: boolean
      }
    | undefined
  /** The operation whose id the entry names. */
  readonly named: Subject | undefined
  /** Operations of the right kind with its end-to-end id. */
  readonly paidBy: readonly Subject[]
  /** The charge or adjustment with the returned payment, in suspense too; otherwise `null`. */
  readonly arrivedOn: Pick<Subject, 'id' | 'kind'> | null
  /**
   * It may be one of our refunds: the charge has the return in doubt (and opens a case after 15 minutes, unless it was
   * held before), or such a refund of an adjustment is in flight.
   */
  readonly isInDoubt: boolean
  /** An unmatched adjustment with its amount and direction; otherwise `null`. */
  readonly adjustmentId: string | null
  /** The adjustment that books it: a hold of a credit, or a borne debit; otherwise `null`. */
  readonly heldBy: { readonly id: string; readonly status: string } | null
  /** Returns a payment held by an adjustment, within its amount. */
  readonly isOfHeld: boolean
  /** The operation that had the movement booked until an operator reversed it; otherwise `null`. */
  readonly takenBackFrom: string | null
  /**
   * A payment unknown to our books that the bank returned completely by itself, or such a return.
   * @source rules#statement.10
   */
  readonly isComeAndGone: boolean
}

export interface Subject {
  readonly id: string
  readonly kind: OperationKind
  readonly endToEndId: string | null
}

/**
 * Action for an open entry. `TARIFF`: its payout books it, which settles it. `WAIT`: none yet. `ASK`: query the bank.
 * `HAND_OVER`: the operation books it from the statement. `UNEXPLAINED`: a case.
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

/**
 * Matches an entry with our books.
 * @source rules#statement.4, rules#statement.5, rules#statement.6, rules#statement.7, rules#statement.9
 * @source rules#statement.10
 */
export function judge(entry: OpenEntry, now: number): Verdict {
  if (entry.kind === 'TARIFF') return judgeTariff(entry)
  const isOverdue = entry.reportedAt === null && now - entry.seenAt >= WITHIN_MS[entry.direction]
  if (entry.booked) return judgeBooked(entry, entry.booked, now)
  // Its operation knows the movement, and books it no second time.
  if (entry.takenBackFrom !== null) return judgeUnknown(entry, 'an operator reversed its booking', now, isOverdue)
  const subject = subjectOf(entry)
  if (typeof subject === 'string') return judgeUnknown(entry, subject, now, isOverdue)
  // The charge attributes it, and opens its own case if it cannot.
  if (entry.isInDoubt) return { is: 'UNEXPLAINED', reason: 'it may be a refund of ours', isOverdue: false }
  return { is: nextStep(entry, now), operationId: subject.id, isOverdue }
}

/** A tariff without a payout of ours is identified by its kind and not booked. @source rules#statement.4 */
function judgeTariff({ named }: OpenEntry): Verdict {
  return named?.kind === SUBJECT_KINDS.TARIFF
    ? { is: 'TARIFF', operationId: named.id }
    : { is: 'KEPT', operationId: null }
}

/** @source rules#statement.6, rules#statement.9, rules#statement.10 */
function judgeUnknown(entry: OpenEntry, reason: string, now: number, isOverdue: boolean): Verdict {
  const { adjustmentId, isComeAndGone, seenAt } = entry
  // An event may still name its operation.
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
  // The books may be in the middle of several commits.
  if (now - entry.seenAt < limits.statementDifferenceMs) return { is: 'WAIT', operationId, isOverdue: false }
  return { is: 'DIFFERS', operationId, reason }
}

function differenceOf({ kind, valueCents, named }: OpenEntry, booked: NonNullable<OpenEntry['booked']>) {
  if (booked.valueCents !== valueCents) return 'the books have another amount'
  if (booked.isByOperator) return undefined
  // A return by the bank is a separate refund here, but names the charge in the statement.
  const isComparable = named !== undefined && named.kind === SUBJECT_KINDS[kind] && kind !== 'PAYMENT_TAKEN_BACK'
  return isComparable && named.id !== booked.operationId ? 'the books have it on another operation' : undefined
}

/** Kind of operation that books each kind of entry. */
export const SUBJECT_KINDS: Readonly<Record<StatementEntry['kind'], OperationKind>> = {
  PAYMENT_RECEIVED: 'cash_in',
  PAYMENT_TAKEN_BACK: 'cash_in',
  REFUND_SENT: 'refund_in',
  PAYOUT_SENT: 'cash_out',
  PAYOUT_RETURNED: 'cash_out',
  TARIFF: 'cash_out',
}

/** Returns must name the movement of the operation. */
const GIVES_BACK: ReadonlySet<StatementEntry['kind']> = new Set([
  'PAYMENT_TAKEN_BACK',
  'REFUND_SENT',
  'PAYOUT_RETURNED',
])

/** The operation of an entry, or the reason why there is none, for people. */
function subjectOf({ kind, endToEndId, named, paidBy, arrivedOn }: OpenEntry): Subject | string {
  // A second payment has another end-to-end id than its charge.
  if (arrivedOn !== null && (named === undefined || named.id === arrivedOn.id)) return { ...arrivedOn, endToEndId }
  if (named === undefined && paidBy.length > 1) return 'several operations have its end-to-end id'
  const subject = named ?? (kind === 'REFUND_SENT' ? undefined : paidBy[0])
  if (subject === undefined) return 'it names none of our operations'
  if (subject.kind !== SUBJECT_KINDS[kind]) return 'it names an operation of another kind'
  const isOfAnother = subject.endToEndId !== null && subject.endToEndId !== endToEndId
  return GIVES_BACK.has(kind) && isOfAnother ? 'it returns another movement than its operation’s' : subject
}

/** The operation that was queried about an entry which another one has booked. @source rules#cases.14 */
export function otherwiseBookedSubject(entry: OpenEntry): string | undefined {
  const subject = subjectOf(entry)
  if (entry.askedAt === null || !entry.booked || typeof subject === 'string') return undefined
  return subject.id === entry.booked.operationId ? undefined : subject.id
}

/** Queries first: the bank's answer names payer or recipient, which the statement lacks. @source rules#statement.5 */
function nextStep({ askedAt }: OpenEntry, now: number): 'ASK' | 'WAIT' | 'HAND_OVER' {
  if (askedAt === null) return 'ASK'
  return now - askedAt < limits.statementAnswerWithinMs ? 'WAIT' : 'HAND_OVER'
}

/** Names for the tariffs of one payout, as banks give them no ids. Pure. */

export type NamedTariff = Pick<StatementEntry, 'reference' | 'endToEndId' | 'valueCents' | 'occurredAt'>

/**
 * The first stored tariff of a payout has the payout's id; others add their values and their position among equal ones
 * of the page. So names are the same in every reading and window.
 * @param kept tariffs stored under their payout's bare id
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
