import { min } from '@pixgate/spec'

/**
 * How much of what is bounded was used: what left in the last hour, the last day, a night. Kept in buckets, so that what
 * is longer ago than the window drops out of it, and written as sums that commute: two processes never decide anew because
 * the other one spent something too.
 * @source rules#limits.5
 */

/** A window within which what leaves is bounded. */
export type Span = 'hour' | 'day' | 'night'

/** Whose allowance, and of which window. */
export interface AllowanceName {
  /** `all`, or the id of an API key. */
  readonly scope: string
  readonly span: Span
}

/** What a decision takes of an allowance, or gives back. */
export interface AllowanceChange extends AllowanceName {
  /** The part of the window to which it counts. */
  readonly bucket: number
  /** Positive: taken; negative: given back. */
  readonly cents: bigint
  /** What may be used in all from a bucket on; absent: it is only counted. */
  readonly bound?: AllowanceBound
}

/** The most that may be used from bucket `since` on, this included. */
export interface AllowanceBound {
  readonly since: number
  readonly maxCents: bigint
}

/** What was used of an allowance, by bucket, centavos. */
export type Used = ReadonlyMap<number, bigint>

/** A Pix key that is to be paid. */
export interface RecipientName {
  readonly pixKey: string
  /** A payout to it that is confirmed makes it known, so long after it was accepted, milliseconds. */
  readonly newForMs: number
}

/** What was paid to a Pix key. */
export interface Recipient {
  readonly isKnown: boolean
  /** To one that is not known: every payout to it that was not given back, centavos; else 0. */
  readonly paidCents: bigint
}

/** Names an allowance among all. */
export function allowanceKey({ scope, span }: AllowanceName): string {
  return `${span} ${scope}`
}

/** What was used from a bucket on, centavos. */
export function usedSince(used: Used, since: number): bigint {
  let sum = 0n
  for (const [bucket, cents] of used) if (bucket >= since) sum += cents
  return sum
}

/** Used together, centavos by bucket. */
export function usedBoth(one: Used, other: Used): Used {
  const both = new Map(one)
  for (const [bucket, cents] of other) both.set(bucket, (both.get(bucket) ?? 0n) + cents)
  return both
}

/** A change of one bucket. */
export type BucketChange = Omit<AllowanceChange, 'bound'>

/** How much of an allowance may have been used before a batch, from bucket `since` on. */
export interface Headroom extends AllowanceName {
  readonly since: number
  readonly cents: bigint
}

/** What a batch of decisions takes of allowances and gives back, and what must be left of them for that. */
export class AllowanceChanges {
  readonly #changes = new Map<string, { readonly name: AllowanceName; readonly used: Map<number, bigint> }>()
  readonly #headrooms = new Map<string, Headroom>()

  /** What is taken, or given back, of each bucket in the end; what comes to nothing is left out. */
  get changes(): readonly BucketChange[] {
    return [...this.#changes.values()].flatMap(({ name, used }) =>
      [...used].filter(([, cents]) => cents !== 0n).map(([bucket, cents]) => ({ ...name, bucket, cents })),
    )
  }

  get headrooms(): readonly Headroom[] {
    return [...this.#headrooms.values()]
  }

  /** Takes or gives back; of several bounds of one window the tightest counts. */
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

  /** What these changes take of an allowance. */
  of(name: AllowanceName): Used {
    return this.#changes.get(allowanceKey(name))?.used ?? NOTHING
  }
}

const NOTHING: Used = new Map()
