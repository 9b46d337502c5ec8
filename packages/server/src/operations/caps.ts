import { type Caps, type ExceededLimit, formatReais, type JournalKind, min, Refusal } from '@pixgate/spec'
import type { AllowanceBound, AllowanceChange, AllowanceName, Span, Used } from '../engine/allowance.ts'
import type { Command, Decision, Document, RecipientBound, State } from '../engine/operation.ts'
import { settledCents } from '../engine/postings.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createLogThrottle, type LogThrottle } from '../platform/runtime.ts'
import { localMs } from '../platform/sao-paulo.ts'
import { sendableSince } from './attempts.ts'
import type { AnyOrder } from './dispatcher.ts'
import type { MadeBy } from './requests.ts'

/** Caps of the service and of API keys on outgoing money. Pure. */

export interface Limits {
  readonly caps: Caps
  /** Time after its first confirmed payout in which a Pix key counts as new, milliseconds. */
  readonly newRecipientMs: number
}

export interface Leaving {
  readonly valueCents: bigint
  /** `null`: returned to the payer, who is not a new recipient. */
  readonly pixKey: string | null
  readonly caller: string
  /** Caps of the API key; absent: none of its own. */
  readonly caps?: Caps | undefined
}

interface InForce {
  readonly owner: ExceededLimit['owner']
  readonly scope: string
  readonly caps: Caps
}

const EVERYBODY = 'all'

/** Allowances and recipients that the decision reads. */
export function looksOf(
  leaving: Omit<Leaving, 'valueCents'>,
  limits: Limits,
): Pick<Command<unknown>, 'allowances' | 'recipients'> {
  const inForce = inForceFor(leaving, limits)
  const { pixKey } = leaving
  const isBounded = pixKey !== null && inForce.some(({ caps }) => caps.newRecipientCents !== null)
  return {
    allowances: inForce.flatMap(({ scope, caps }) =>
      SPANS.filter((span) => capOf(caps, span) !== null).map((span): AllowanceName => ({ scope, span })),
    ),
    recipients: isBounded ? [{ pixKey, newForMs: limits.newRecipientMs }] : [],
  }
}

/**
 * Checks the caps.
 * @returns the used allowances
 * @throws limit_exceeded (422) with the limit, and when it frees
 * @source rules#limits.1, rules#limits.2, rules#limits.3, rules#limits.4, rules#limits.9
 */
export function taken(
  leaving: Leaving,
  limits: Limits,
  state: State,
  nowMs: number,
): Pick<Decision<unknown>, 'allowances' | 'recipients'> {
  const inForce = inForceFor(leaving, limits)
  for (const one of inForce) assertPayment(leaving, one)
  return {
    recipients: tightest(inForce.flatMap((one) => boundOfRecipient(leaving, one, state))),
    allowances: inForce.flatMap((one) => SPANS.flatMap((span) => takenOf(span, leaving, one, state, nowMs))),
  }
}

/**
 * Checks the caps again at the approval: others may have paid the recipient meanwhile, and the order now counts to the
 * night in which it leaves.
 * @throws limit_exceeded (422)
 * @source rules#cash-out.approval.3, rules#limits.9
 */
export function takenAgain(
  order: AnyOrder & { readonly pixKey: string },
  limits: Limits,
  state: State,
  nowMs: number,
): Pick<Decision<unknown>, 'allowances' | 'recipients'> {
  const { pixKey, valueCents, facts, createdAt } = order
  const inForce = inForceFor(askedBy(facts), limits)
  // The recipient's sum includes its own amount.
  const again = { valueCents: 0n, pixKey }
  const recipients = tightest(inForce.flatMap((one) => boundOfRecipient(again, one, state)))
  const isOfNight = bucketOf('night', createdAt) === bucketOf('night', nowMs)
  const moved = isOfNight ? [] : inForce.flatMap((one) => takenOf('night', { valueCents }, one, state, nowMs))
  const left = isOfNight ? [] : changesFor(order, 'night', -valueCents, createdAt)
  return { recipients, allowances: [...left, ...moved] }
}

/**
 * Releases the allowances of a released order. Debits that are not counted yet (after a release, a second one, a higher
 * amount) are counted even beyond the caps.
 * @param leftCents sum of earlier booked debits, centavos
 * @source rules#limits.6
 */
export function countedBy(
  order: AnyOrder & { readonly facts: { readonly failureCode?: string } },
  { journals = [] }: Decision<unknown>,
  leftCents: bigint,
  nowMs: number,
): AllowanceChange[] {
  return journals.flatMap((journal) => {
    if (GIVING_BACK.has(journal.kind)) return givenBack(order)
    if (!LEAVING.has(journal.kind)) return []
    const uncounted = settledCents(journal) - countedAhead(order, leftCents)
    return uncounted <= 0n ? [] : SPANS.flatMap((span) => changesFor(order, span, uncounted, nowMs))
  })
}

const GIVING_BACK: ReadonlySet<JournalKind> = new Set(['cash_out_released', 'refund_in_released'])
const LEAVING: ReadonlySet<JournalKind> = new Set(['left_after_release', 'left_unattributed'])

/** The night is that of the approval, if one was needed. */
function givenBack(order: AnyOrder): AllowanceChange[] {
  return SPANS.flatMap((span) =>
    changesFor(order, span, -order.valueCents, span === 'night' ? sendableSince(order) : order.createdAt),
  )
}

/** Counted at creation and neither released nor debited yet, centavos. */
function countedAhead(
  {
    valueCents,
    facts: { failureCode },
  }: { readonly valueCents: bigint; readonly facts: { readonly failureCode?: string } },
  leftCents: bigint,
): bigint {
  const isGivenBack = failureCode !== undefined
  return isGivenBack || leftCents >= valueCents ? 0n : valueCents - leftCents
}

function changesFor({ facts }: AnyOrder, span: Span, cents: bigint, atMs: number): AllowanceChange[] {
  const bucket = bucketOf(span, atMs)
  // Orders that the bank made by itself count for nobody.
  if (facts.madeBy === undefined || bucket === null) return []
  const scopes = facts.keyCaps === undefined ? [EVERYBODY] : [EVERYBODY, facts.madeBy.caller]
  return scopes.map((scope) => ({ scope, span, bucket, cents }))
}

export function askedBy(facts: AnyOrder['facts']): Pick<Leaving, 'caller' | 'caps'> {
  return { caller: facts.madeBy?.caller ?? EVERYBODY, caps: keyCapsOf(facts) }
}

/** The key's caps first, as they are narrower. */
function inForceFor({ caller, caps }: Pick<Leaving, 'caller' | 'caps'>, limits: Limits): InForce[] {
  const everybody: InForce = { owner: 'service', scope: EVERYBODY, caps: limits.caps }
  return caps === undefined ? [everybody] : [{ owner: 'api_key', scope: caller, caps }, everybody]
}

function capOf(caps: Caps, span: Span): bigint | null {
  return caps[`${span}Cents`]
}

function assertPayment({ valueCents }: Leaving, { owner, caps: { paymentCents } }: InForce): void {
  if (paymentCents === null || valueCents <= paymentCents) return
  throw exceeded({ name: 'payment', owner, maxCents: paymentCents, usedCents: 0n, freesAt: null })
}

function boundOfRecipient(
  { valueCents, pixKey }: Pick<Leaving, 'valueCents' | 'pixKey'>,
  { owner, caps }: InForce,
  state: State,
): RecipientBound[] {
  const { newRecipientCents: maxCents } = caps
  if (pixKey === null || maxCents === null) return []
  const { isKnown, paidCents } = state.recipient(pixKey)
  if (isKnown) return []
  if (paidCents + valueCents > maxCents) {
    // More payouts than are counted exceed any cap: all of it is used.
    throw exceeded({ name: 'new_recipient', owner, maxCents, usedCents: min(paidCents, maxCents), freesAt: null })
  }
  return [{ pixKey, valueCents, maxCents }]
}

/** A recipient counts once under several caps. */
function tightest(bounds: readonly RecipientBound[]): RecipientBound[] {
  return bounds.toSorted((one, other) => Number(one.maxCents - other.maxCents)).slice(0, 1)
}

function takenOf(
  span: Span,
  { valueCents }: Pick<Leaving, 'valueCents'>,
  { owner, scope, caps }: InForce,
  state: State,
  nowMs: number,
): AllowanceChange[] {
  const bucket = bucketOf(span, nowMs)
  if (bucket === null) return []
  const maxCents = capOf(caps, span)
  const change = { scope, span, bucket, cents: valueCents }
  if (maxCents === null) return [change]
  const bound = { since: firstBucket(span, bucket), maxCents }
  const usedCents = state.usedSince(change, bound.since)
  if (usedCents + valueCents <= maxCents) return [{ ...change, bound }]
  const when = freesAt(span, { used: state.used(change), bound, valueCents })
  throw exceeded({
    name: span,
    owner,
    maxCents,
    usedCents,
    freesAt: when === null ? null : new Date(when).toISOString(),
  })
}

const WITHIN: Readonly<Record<ExceededLimit['name'], string>> = {
  payment: 'may leave in one payment',
  hour: 'may leave within 60 minutes',
  day: 'may leave within 24 hours',
  night: 'may leave between 20:00 and 06:00 in São Paulo',
  new_recipient: 'may be paid to a Pix key that was not paid before',
}

function exceeded(limit: ExceededLimit): Refusal {
  const { name, owner, maxCents, usedCents, freesAt: when } = limit
  const whose = owner === 'api_key' ? ' with this API key' : ''
  const used = name === 'payment' ? '' : `; ${formatReais(usedCents)} of it is used`
  const message = `at most ${formatReais(maxCents)} ${WITHIN[name]}${whose}${used}`
  return new Refusal('limit_exceeded', {
    message: when === null ? message : `${message}; this fits from ${when} on`,
    limit,
  })
}

/** Windows of the caps, counted in buckets. Pure. */

/** Shortest first. */
export const SPANS = ['hour', 'day', 'night'] as const satisfies readonly Span[]

/** Length of a bucket, and the number of buckets that a rolling window reaches back. @source rules#limits.2 */
const ROLLING = {
  hour: { bucketMs: 60_000, reach: 60 },
  day: { bucketMs: 15 * 60_000, reach: 96 },
} as const

const DAY_MS = 24 * 60 * 60_000

/** @source rules#limits.3 */
const NIGHT = { fromHour: 20, toHour: 6 } as const

/**
 * Bucket of an instant; `null`: by day, for the night window.
 * @param instantMs epoch milliseconds
 */
export function bucketOf(span: Span, instantMs: number): number | null {
  if (span !== 'night') return Math.floor(instantMs / ROLLING[span].bucketMs)
  const local = localMs(instantMs)
  const hour = Math.floor((local % DAY_MS) / (60 * 60_000))
  if (hour >= NIGHT.toHour && hour < NIGHT.fromHour) return null
  return Math.floor(local / DAY_MS) - (hour < NIGHT.toHour ? 1 : 0)
}

/** First bucket of the window that ends now; `null`: by day, for the night window. */
export function windowStart(span: Span, nowMs: number): number | null {
  const bucket = bucketOf(span, nowMs)
  return bucket === null ? null : firstBucket(span, bucket)
}

/** First bucket of the window. One bucket is added, so a rolling window is never too short. */
export function firstBucket(span: Span, bucket: number): number {
  return span === 'night' ? bucket : bucket - ROLLING[span].reach
}

/**
 * Instant from which the value fits without further use, epoch milliseconds.
 * @param used by bucket; `bound.since` is the window's start now
 */
export function freesAt(
  span: Span,
  { used, bound, valueCents }: { readonly used: Used; readonly bound: AllowanceBound; readonly valueCents: bigint },
): number | null {
  if (valueCents > bound.maxCents) return null
  if (span === 'night') return nightEnd(bound.since)
  const { bucketMs, reach } = ROLLING[span]
  const counted = [...used].filter(([bucket]) => bucket >= bound.since).toSorted(([one], [other]) => one - other)
  let sum = counted.reduce((total, [, cents]) => total + cents, 0n)
  for (const [bucket, cents] of counted) {
    sum -= cents
    if (sum + valueCents <= bound.maxCents) return (bucket + reach + 1) * bucketMs
  }
  return null
}

function nightEnd(bucket: number): number {
  const local = (bucket + 1) * DAY_MS + NIGHT.toHour * 60 * 60_000
  return local - (localMs(local) - local)
}

/** Caps of the API key are stored on the order, as the approval checks them again. */

/** Absent: the key has none. */
export interface KeyCapsFact extends Document {
  /** Centavos; `null`: no such cap. Immutable, like the key's caps. */
  readonly keyCaps?: { readonly [Cap in keyof Caps]: number | null }
}

/** @source rules#limits.9 */
export function keyCapsFact(caps: Caps | undefined): KeyCapsFact {
  if (caps === undefined) return {}
  return { keyCaps: mapped(caps, (cents) => (cents === null ? null : Number(cents))) }
}

function keyCapsOf({ keyCaps }: KeyCapsFact): Caps | undefined {
  return keyCaps && mapped(keyCaps, (cents) => (cents === null ? null : BigInt(cents)))
}

function mapped<From, To>(caps: { readonly [Cap in keyof Caps]: From }, change: (cents: From) => To) {
  return {
    paymentCents: change(caps.paymentCents),
    hourCents: change(caps.hourCents),
    dayCents: change(caps.dayCents),
    nightCents: change(caps.nightCents),
    newRecipientCents: change(caps.newRecipientCents),
  }
}

/** Receives each refusal by a limit. Must not throw. */
export type OnLimitExceeded = (limit: ExceededLimit, madeBy: MadeBy) => void

/**
 * Logs and counts refusals: a key that exceeds limits repeatedly may be stolen.
 * @param onRefused counts by limit
 * @source rules#limits.8
 */
export function createLimitReports(
  logger: Logger,
  onRefused: (limit: ExceededLimit) => void,
  throttle: LogThrottle = createLogThrottle(),
): OnLimitExceeded {
  return (limit, { caller, address }) => {
    onRefused(limit)
    const { name, owner, maxCents, usedCents } = limit
    const line = {
      event: 'limit.refused',
      limit: name,
      owner,
      maxCents: Number(maxCents),
      usedCents: Number(usedCents),
      key: caller,
      address,
    }
    throttle.report(`${name} ${owner} ${caller}`, (more) =>
      logger.warn(line, `a limit refused a payout or refund${andMore(more)}`),
    )
  }
}
