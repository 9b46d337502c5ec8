import { formatReais } from '@pixgate/spec'
import type { AllowanceChange, AllowanceName } from '../engine/allowance.ts'
import type { State } from '../engine/operation.ts'
import { bucketOf, firstBucket } from '../operations/limits/windows.ts'
import { isSamePerson, type Person } from '../operators/index.ts'

/** What one person decides alone, each decision and within 24 hours. Pure. */

/** Their sum of this day has no room for a decision that they may make alone by its amount. */
export class TakesSecondPerson extends Error {}

const SPAN = 'day'

/**
 * The allowance in which is counted what an operator decides alone: one of a person, whoever of several operators they are; and one of
 * the administrative token.
 * @param people all operators there ever were
 * @source rules#desk.49
 */
export function allowanceOf(actor: string, people: readonly Person[]): AllowanceName {
  const same = people.filter((person) => isSamePerson(person, actor, people)).map(({ id }) => id)
  return { scope: `desk ${same.toSorted()[0] ?? actor}`, span: SPAN }
}

/** The first of the buckets that count together with an instant. */
export function sinceBucket(nowMs: number): number {
  return firstBucket(SPAN, bucketAt(nowMs))
}

/**
 * Why a decision takes a second person, in words; `null`: it takes none.
 * @param amountCents what it counts with; `null`: nobody knows
 * @param usedCents what its operator decided alone within 24 hours
 * @source rules#desk.39, rules#desk.47, rules#desk.49
 */
export function whySecondPerson(amountCents: number | null, fromCents: number, usedCents: bigint): string | null {
  const from = formatReais(BigInt(fromCents))
  if (amountCents === null) return 'nobody knows the amount'
  if (amountCents >= fromCents) return `its amount is at least ${from}`
  const isOverdrawn = amountCents > 0 && usedCents + BigInt(amountCents) >= BigInt(fromCents)
  return isOverdrawn ? `with what its operator decided alone within 24 hours it comes to at least ${from}` : null
}

/**
 * What a decision that is made alone takes of the day's sum. The statement that writes it asks again, behind a lock that all decisions take.
 * @throws TakesSecondPerson
 * @source rules#desk.49
 */
export function takenAlone(
  amountCents: number,
  fromCents: number,
  name: AllowanceName,
  state: Pick<State, 'usedSince'>,
  nowMs: number,
): AllowanceChange[] {
  if (amountCents === 0) return []
  const since = sinceBucket(nowMs)
  const why = whySecondPerson(amountCents, fromCents, state.usedSince(name, since))
  if (why !== null) throw new TakesSecondPerson(why)
  const bound = { since, maxCents: BigInt(fromCents) - 1n }
  return [{ ...name, bucket: bucketAt(nowMs), cents: BigInt(amountCents), bound }]
}

function bucketAt(nowMs: number): number {
  const bucket = bucketOf(SPAN, nowMs)
  if (bucket === null) throw new Error('every instant is of a day')
  return bucket
}
