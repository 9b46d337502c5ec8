import type { AccountCode, getClose, listCloses } from '@pixgate/spec'
import type { Static } from 'typebox'
import { positionText } from '../audit/chain.ts'
import type { UnlistedFees } from '../banks/port.ts'
import type { Close } from './store.ts'

/** What a close says of its day, and whether it balances. Pure. */

/** What the database has of a day, in one snapshot. Amounts in signed centavos. */
export interface Figures {
  readonly accounts: readonly AccountFigures[]
  readonly journals: readonly JournalFigures[]
  /** The bank's balance at the end of the day, and what the bank may have deducted from it; `null`: unknown. */
  readonly bank: { readonly closingCents: bigint; readonly setAsideCents: bigint } | null
  /** What the bank has by then and our books have later, less what is the other way round. */
  readonly timing: Tally
  /** What the bank's statement has and is of no operation: tariffs, and payments that came and went. */
  readonly kept: Tally
  /** Differences that are neither: each is a case, or is about to be one. */
  readonly differences: readonly DifferenceFigures[]
  /** All cases that are open, the oldest first, and how many there are. */
  readonly openCases: { readonly count: number; readonly cases: readonly OpenCase[] }
}

/** So many, and what they come to. */
export interface Tally {
  readonly count: number
  readonly cents: bigint
}

/** An account over a day. */
export interface AccountFigures {
  readonly account: AccountCode
  readonly openingCents: bigint
  readonly closingCents: bigint
}

/** The journals of a kind. */
export interface JournalFigures {
  readonly journal: string
  readonly count: number
  readonly accounts: readonly { readonly account: AccountCode; readonly cents: bigint }[]
}

/** A difference between the bank and our books at the end of the day: what it adds to the bank. */
export interface DifferenceFigures {
  readonly kind: string
  readonly reference: string
  readonly cents: bigint
  /** The case that tells of it; `null` before there is one. */
  readonly caseId: string | null
  /** Whether that one is open, or will be opened. */
  readonly isOpen: boolean
}

/** A case that was open when the close was made. */
export interface OpenCase {
  readonly id: string
  readonly kind: string
  readonly operationId: string | null
  readonly amountCents: bigint | null
}

/** Whether a day balances. */
export const closeStatuses = ['BALANCED', 'EXPLAINED', 'DIFFERS', 'UNCONFIRMED'] as const

/** See {@link closeStatuses}. */
export type CloseStatus = (typeof closeStatuses)[number]

/** What a close says, as JSON. Every amount in centavos. The keys stand in this order, and the text is hashed. */
export interface CloseContent {
  readonly day: string
  readonly from: string
  readonly to: string
  readonly status: CloseStatus
  readonly accounts: readonly { account: AccountCode; openingCents: number; closingCents: number }[]
  readonly journals: readonly { journal: string; count: number; accounts: readonly AccountSum[] }[]
  readonly bank: { closingCents: number } | null
  /** What our books say the bank has: `settlement`, with its sign changed. */
  readonly booksCents: number
  readonly differenceCents: number | null
  readonly timing: { count: number; cents: number }
  readonly kept: { count: number; cents: number }
  readonly explained: { count: number; cents: number; cases: readonly Explanation[] }
  /** What no open case explains. */
  readonly unexplainedCents: number | null
  /** The reference of the case `close_differs` that was opened about it; `null`: it is 0, or what it was the day before. */
  readonly caseReference: string | null
  readonly openCases: { count: number; cases: readonly ListedCase[] }
  /** What is another than in the version before; empty in the first one. */
  readonly changed: readonly string[]
}

/** What stands before a close. */
export interface Before {
  /** The version before of the same day. */
  readonly same: { readonly version: number; readonly content: CloseContent } | undefined
  /** By the close of the last day before of which it is known: what was unexplained then is no news. */
  readonly carried: Carried
}

/** What was unexplained, and what moved since then, either way. */
export interface Carried {
  readonly cents: number
  readonly moved: Tally
}

interface AccountSum {
  readonly account: AccountCode
  readonly cents: number
}

/** A difference that a case explains. */
export interface Explanation {
  readonly caseId: string | null
  readonly kind: string
  readonly reference: string
  readonly cents: number
}

interface ListedCase {
  readonly id: string
  readonly kind: string
  readonly operationId: string | null
  readonly amountCents: number | null
}

/** What a close lists at most of anything; how many there are is said besides. */
export const LISTED_MAX = 100

/** Puts a close together. @source rules#close.1, rules#close.3 */
export function contentOf(
  day: string,
  { from, to }: { readonly from: number; readonly to: number },
  figures: Figures,
  { same, carried: { cents: carriedCents } }: Before,
): CloseContent {
  const { accounts, journals, bank, timing, kept, differences, openCases } = figures
  const settlement = accounts.find(({ account }) => account === 'settlement')
  const booksCents = -(settlement?.closingCents ?? 0n)
  const explaining = differences.filter(({ isOpen }) => isOpen)
  const explainedCents = explaining.reduce((sum, { cents }) => sum + cents, 0n)
  const expectedCents = booksCents + timing.cents + kept.cents + explainedCents
  const closingCents = bank && closingOf(bank, [expectedCents, expectedCents + BigInt(carriedCents)])
  const unexplained = closingCents === null ? null : closingCents - expectedCents
  const unexplainedCents = numberOrNull(unexplained)
  const isNews = unexplainedCents !== null && unexplainedCents !== 0 && unexplainedCents !== carriedCents
  const content = {
    day,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    status: statusOf(unexplained, explaining.length),
    accounts: accounts.map(({ account, openingCents, closingCents }) => ({
      account,
      openingCents: Number(openingCents),
      closingCents: Number(closingCents),
    })),
    journals: journals.map(({ journal, count, accounts: sums }) => ({
      journal,
      count,
      accounts: sums.map(({ account, cents }) => ({ account, cents: Number(cents) })),
    })),
    bank: closingCents === null ? null : { closingCents: Number(closingCents) },
    booksCents: Number(booksCents),
    differenceCents: closingCents === null ? null : Number(closingCents - booksCents),
    timing: { count: timing.count, cents: Number(timing.cents) },
    kept: { count: kept.count, cents: Number(kept.cents) },
    explained: {
      count: explaining.length,
      cents: Number(explainedCents),
      cases: explaining.slice(0, LISTED_MAX).map(({ caseId, kind, reference, cents }) => ({
        caseId,
        kind,
        reference,
        cents: Number(cents),
      })),
    },
    unexplainedCents,
    caseReference: isNews ? `${day} ${(same?.version ?? 0) + 1}` : null,
    openCases: {
      count: openCases.count,
      cases: openCases.cases
        .slice(0, LISTED_MAX)
        .map(({ amountCents, ...openCase }) => ({ ...openCase, amountCents: numberOrNull(amountCents) })),
    },
    changed: [],
  }
  return same === undefined ? content : { ...content, changed: changesOf(same.content, content) }
}

/**
 * Whether the bank lacks more than at the last close of which it is known, by more than the unlisted fees of what moved since.
 * @source rules#trip-wire.9
 */
export function lacksMore(
  unexplainedCents: number | null,
  { cents, moved }: Carried,
  fees: UnlistedFees = { centsPerMovement: 0n, percent: 0n },
): boolean {
  if (unexplainedCents === null) return false
  const allowedCents = BigInt(moved.count) * fees.centsPerMovement + (moved.cents * fees.percent) / 100n
  return BigInt(cents - unexplainedCents) > allowedCents
}

/**
 * The bank's balance at the end of the day. The bank may have deducted all, part or none of what is set aside, so the balance is a range.
 * @param expected the balance with nothing unexplained, and with what was unexplained before
 * @returns the end of the range that is expected, else the end nearer to it; `null`: what is expected lies inside the range
 * @source rules#close.12
 */
function closingOf(
  { closingCents: least, setAsideCents }: NonNullable<Figures['bank']>,
  expected: readonly bigint[],
): bigint | null {
  const most = least + setAsideCents
  if (least === most || expected.includes(least)) return least
  if (expected.includes(most) || expected.every((cents) => cents > most)) return most
  return expected.every((cents) => cents < least) ? least : null
}

function statusOf(unexplained: bigint | null, explaining: number): CloseStatus {
  if (unexplained === null) return 'UNCONFIRMED'
  if (unexplained !== 0n) return 'DIFFERS'
  return explaining > 0 ? 'EXPLAINED' : 'BALANCED'
}

function numberOrNull(cents: bigint | null): number | null {
  return cents === null ? null : Number(cents)
}

/**
 * What of a close counts when it is made anew: what was booked, and what the bank had. That a case closed since changes
 * nothing about the day.
 * @returns the parts that are other ones now, by name
 * @source rules#close.7
 */
function changesOf(before: CloseContent, now: CloseContent): string[] {
  const parts = ['accounts', 'journals', 'bank', 'differenceCents'] as const
  return parts.filter((part) => JSON.stringify(before[part]) !== JSON.stringify(now[part]))
}

type CloseBody = Static<(typeof getClose)['responses'][200]['schema']>
type SummaryBody = Static<(typeof listCloses)['responses'][200]['schema']>['data'][number]

/** What a close says. */
export function contentOfClose({ content }: Pick<Close, 'content'>): CloseContent {
  return JSON.parse(content) as CloseContent
}

/** A close in a list. */
export function summaryView(close: Close): SummaryBody {
  const { status, differenceCents, unexplainedCents } = contentOfClose(close)
  return {
    id: close.day,
    version: close.version,
    seq: Number(close.seq),
    supersedes: close.supersedes === null ? null : Number(close.supersedes),
    status,
    differenceCents,
    unexplainedCents,
    madeAt: new Date(close.madeAt).toISOString(),
    hash: close.hash.toString('hex'),
  }
}

/** A close as it is read, and as the program prints it. @source rules#close.8 */
export function closeView(close: Close): CloseBody {
  const { day: _, accounts, journals, explained, openCases, changed, ...content } = contentOfClose(close)
  return {
    ...summaryView(close),
    ...content,
    previousHash: close.previousHash.toString('hex'),
    auditHead: positionText(close.audit),
    accounts: [...accounts],
    journals: journals.map((journal) => ({ ...journal, accounts: [...journal.accounts] })),
    explained: { ...explained, cases: [...explained.cases] },
    openCases: { ...openCases, cases: [...openCases.cases] },
    changed: [...changed],
  }
}

/** The place after a close, as a client sends it back. @source rules#close.8 */
export function cursorAfter({ seq }: Pick<Close, 'seq'>): string {
  return Buffer.from(`v1:${seq}`).toString('base64url')
}

/** The place in a cursor, or `undefined` where it is none of ours. */
export function placeIn(cursor: string): bigint | undefined {
  const digits = /^v1:(\d{1,18})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1]
  return digits === undefined ? undefined : BigInt(digits)
}
