import type { AllowanceBound, Span, Used } from '../../engine/allowance.ts'
import { localMs } from '../../platform/sao-paulo.ts'

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
