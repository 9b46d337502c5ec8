import { type Caps, type ExceededLimit, formatReais, type JournalKind, min, Refusal } from '@pixgate/spec'
import type { AllowanceBound, AllowanceChange, AllowanceName, Span, Used } from '../engine/allowance.ts'
import type { Command, Decision, Document, RecipientBound, State } from '../engine/operation.ts'
import { settledCents } from '../engine/postings.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../platform/runtime.ts'
import { localMs } from '../platform/sao-paulo.ts'
import { sendableSince } from './attempts.ts'
import type { AnyOrder } from './dispatcher.ts'
import type { MadeBy } from './requests.ts'

/** Whether what is to leave stays within the caps: of the service, and of the API key that asks for it. Pure. */

/** The caps of the service: configuration. */
export interface Limits {
  readonly caps: Caps
  /** For how long after its first payout that was confirmed a Pix key counts as new, milliseconds. */
  readonly newRecipientMs: number
}

/** What is to leave, and who asks for it. */
export interface Leaving {
  readonly valueCents: bigint
  /** To whom; `null`: back to who paid, who is not new. */
  readonly pixKey: string | null
  readonly caller: string
  /** Of the API key; absent: it has none of its own. */
  readonly caps?: Caps | undefined
}

/** Caps that count, and whose. */
interface InForce {
  readonly owner: ExceededLimit['owner']
  readonly scope: string
  readonly caps: Caps
}

/** The allowances of everybody together. */
const EVERYBODY = 'all'

/** What has to be looked at to decide about it. */
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
 * What it takes of the allowances.
 * @throws limit_exceeded (422) with which limit, and when it frees
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
 * What an order that waited takes when it is let go: it was counted when it was made, but others may have paid its recipient,
 * and the night in which it leaves may be another one: it counts to that one from then on, and no longer to the one before.
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
  // Its own amount is among what was paid to the recipient.
  const again = { valueCents: 0n, pixKey }
  const recipients = tightest(inForce.flatMap((one) => boundOfRecipient(again, one, state)))
  const isOfNight = bucketOf('night', createdAt) === bucketOf('night', nowMs)
  const moved = isOfNight ? [] : inForce.flatMap((one) => takenOf('night', { valueCents }, one, state, nowMs))
  const left = isOfNight ? [] : changesFor(order, 'night', -valueCents, createdAt)
  return { recipients, allowances: [...left, ...moved] }
}

/**
 * What a decision about an order gives back of the allowances, from where it was counted; or takes, whatever the caps say, of
 * what left and is not counted: after it was given back, a second time, or more than was asked for.
 * @param leftCents all that was booked as having left before, centavos
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

/** Where it was counted: the night is that of its approval, where it needed one. */
function givenBack(order: AnyOrder): AllowanceChange[] {
  return SPANS.flatMap((span) =>
    changesFor(order, span, -order.valueCents, span === 'night' ? sendableSince(order) : order.createdAt),
  )
}

/** What was counted when the order was made, stands, and has not left yet, centavos. */
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
  // What was made by a version that counted nothing has taken nothing.
  if (facts.madeBy === undefined || bucket === null) return []
  const scopes = facts.keyCaps === undefined ? [EVERYBODY] : [EVERYBODY, facts.madeBy.caller]
  return scopes.map((scope) => ({ scope, span, bucket, cents }))
}

/** Who asked for an order that was made, and by which caps of its own. */
export function askedBy(facts: AnyOrder['facts']): Pick<Leaving, 'caller' | 'caps'> {
  return { caller: facts.madeBy?.caller ?? EVERYBODY, caps: keyCapsOf(facts) }
}

/** Those of the key first: they are the narrower ones. */
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
    // More payouts than are counted are more than any cap allows: all of it is used.
    throw exceeded({ name: 'new_recipient', owner, maxCents, usedCents: min(paidCents, maxCents), freesAt: null })
  }
  return [{ pixKey, valueCents, maxCents }]
}

/** A payment to a recipient counts once, whoever bounds it. */
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

/** The windows within which what leaves is bounded, and the buckets in which they are counted. Pure. */

/** Every window, the shortest first. */
export const SPANS = ['hour', 'day', 'night'] as const satisfies readonly Span[]

/** How long a bucket of a rolling window is, and how many of them the window reaches back. @source rules#limits.2 */
const ROLLING = {
  hour: { bucketMs: 60_000, reach: 60 },
  day: { bucketMs: 15 * 60_000, reach: 96 },
} as const

const DAY_MS = 24 * 60 * 60_000

/** @source rules#limits.3 */
const NIGHT = { fromHour: 20, toHour: 6 } as const

/**
 * The bucket to which an instant counts; `null`: it is by day, and the window is the night.
 * @param instantMs epoch milliseconds
 */
export function bucketOf(span: Span, instantMs: number): number | null {
  if (span !== 'night') return Math.floor(instantMs / ROLLING[span].bucketMs)
  const local = localMs(instantMs)
  const hour = Math.floor((local % DAY_MS) / (60 * 60_000))
  if (hour >= NIGHT.toHour && hour < NIGHT.fromHour) return null
  return Math.floor(local / DAY_MS) - (hour < NIGHT.toHour ? 1 : 0)
}

/** The first bucket that counts together with one. A rolling window is never shorter than it says, so one more counts. */
export function firstBucket(span: Span, bucket: number): number {
  return span === 'night' ? bucket : bucket - ROLLING[span].reach
}

/**
 * When a value will fit again, were nothing else used meanwhile, epoch milliseconds.
 * @param used by bucket; `bound.since` is where the window begins now
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

/** The caps of the API key that asked for an order: they stand on it, as it is judged by them again when it is approved. */

/** The part of an order's facts that tells them; absent: the key has none. */
export interface KeyCapsFact extends Document {
  /** Centavos; `null`: no such cap. They are what they were when it was made, as those of a key never change. */
  readonly keyCaps?: { readonly [Cap in keyof Caps]: number | null }
}

/** What is kept of them. @source rules#limits.9 */
export function keyCapsFact(caps: Caps | undefined): KeyCapsFact {
  if (caps === undefined) return {}
  return { keyCaps: mapped(caps, (cents) => (cents === null ? null : Number(cents))) }
}

/** The caps as they were kept; absent: the key has none. */
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

/** Is told of each refusal because of a limit. Throws nothing. */
export type OnLimitExceeded = (limit: ExceededLimit, madeBy: MadeBy) => void

/**
 * Logs and counts what limits refuse: a key that meets them again and again may be stolen.
 * @param onRefused counts it by the limit
 * @source rules#limits.8
 */
export function createLimitReports(
  logger: Logger,
  onRefused: (limit: ExceededLimit) => void,
  heartbeat: Heartbeat = createHeartbeat(),
): OnLimitExceeded {
  return (limit, { caller, address }) => {
    onRefused(limit)
    const { name, owner, maxCents, usedCents } = limit
    const line = { limit: name, owner, maxCents: Number(maxCents), usedCents: Number(usedCents), key: caller, address }
    heartbeat.report(`${name} ${owner} ${caller}`, (more) =>
      logger.warn(line, `a limit refused a payout or refund${andMore(more)}`),
    )
  }
}
