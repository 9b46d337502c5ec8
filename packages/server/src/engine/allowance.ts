import { min } from '@pixgate/spec'

/**
 * Usage of caps: money that left in the last hour, the last day, or a night. Kept in buckets, so that old usage drops out of
 * the window, and written as sums that commute: spending by another process never forces a new decision.
 * @source rules#limits.5
 */

/** Window of a cap. */
export type Span = 'hour' | 'day' | 'night'

export interface AllowanceName {
  /** `all`, or the id of an API key. */
  readonly scope: string
  readonly span: Span
}

export interface AllowanceChange extends AllowanceName {
  /** Part of the window. */
  readonly bucket: number
  /** Positive: taken; negative: given back. */
  readonly cents: bigint
  /** Cap on the usage since a bucket; absent: counted only. */
  readonly bound?: AllowanceBound
}

/** Cap on the usage since bucket `since`, including this change. */
export interface AllowanceBound {
  readonly since: number
  readonly maxCents: bigint
}

/** Usage by bucket, centavos. */
export type Used = ReadonlyMap<number, bigint>

export interface RecipientName {
  readonly pixKey: string
  /** A confirmed payout makes the key known this long after its acceptance, milliseconds. */
  readonly newForMs: number
}

export interface Recipient {
  readonly isKnown: boolean
  /** Sum of all payouts to an unknown key that were not returned, centavos; 0 for a known one. */
  readonly paidCents: bigint
}

export function allowanceKey({ scope, span }: AllowanceName): string {
  return `${span} ${scope}`
}

/** Usage since a bucket, centavos. */
export function usedSince(used: Used, since: number): bigint {
  let sum = 0n
  for (const [bucket, cents] of used) if (bucket >= since) sum += cents
  return sum
}

/** Sum by bucket, centavos. */
export function usedBoth(one: Used, other: Used): Used {
  const both = new Map(one)
  for (const [bucket, cents] of other) both.set(bucket, (both.get(bucket) ?? 0n) + cents)
  return both
}

export type BucketChange = Omit<AllowanceChange, 'bound'>

/** Upper bound of the usage since bucket `since` before a batch. */
export interface Headroom extends AllowanceName {
  readonly since: number
  readonly cents: bigint
}

/** Usage that a batch adds and returns, and the bounds that it relies on. */
export class AllowanceChanges {
  readonly #changes = new Map<string, { readonly name: AllowanceName; readonly used: Map<number, bigint> }>()
  readonly #headrooms = new Map<string, Headroom>()

  /** Net change of each bucket, without zeros. */
  get changes(): readonly BucketChange[] {
    return [...this.#changes.values()].flatMap(({ name, used }) =>
      [...used].filter(([, cents]) => cents !== 0n).map(([bucket, cents]) => ({ ...name, bucket, cents })),
    )
  }

  get headrooms(): readonly Headroom[] {
    return [...this.#headrooms.values()]
  }

  /** Adds a change. The tightest of several bounds of a window counts. */
  add({ scope, span, bucket, cents, bound }: AllowanceChange): void {
    const name = { scope, span }
    const key = allowanceKey(name)
    const used = this.#usedOf(name)
    used.set(bucket, (used.get(bucket) ?? 0n) + cents)
    if (!bound) return
    const left = bound.maxCents - usedSince(used, bound.since)
    const known = this.#headrooms.get(`${key} ${bound.since}`)
    const headroom = { ...name, since: bound.since, cents: known ? min(known.cents, left) : left }
    this.#headrooms.set(`${key} ${bound.since}`, headroom)
  }

  #usedOf(name: AllowanceName): Map<number, bigint> {
    const key = allowanceKey(name)
    const known = this.#changes.get(key) ?? { name, used: new Map() }
    this.#changes.set(key, known)
    return known.used
  }

  /** Usage of an allowance by these changes. */
  of(name: AllowanceName): Used {
    return this.#changes.get(allowanceKey(name))?.used ?? NOTHING
  }
}

const NOTHING: Used = new Map()
