import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import fc from 'fast-check'
import { isAwaitingApproval } from '../../../src/cash-out/approval.ts'
import type { CashOut } from '../../../src/cash-out/cash-out.ts'
import type { Span } from '../../../src/engine/allowance.ts'
import { bucketOf, SPANS } from '../../../src/operations/caps.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { realPause } from '../../../src/platform/jobs/pause.ts'
import { INPUTS } from '../../cash-out/situations.ts'
import { operatedProcess, type Process } from '../../controls/fixture.ts'
import { testDatabase } from '../../support/database.ts'
import { usedBuckets } from '../../support/evidence.ts'
import { capsOf, limitsOf, MADE_BY } from '../../support/limits.ts'
import { ALIVE } from '../../support/live-request.ts'
import { steppedClock } from '../../support/stepped-clock.ts'

const HOUR = 60 * 60_000
const KEY = { madeBy: { ...MADE_BY, caller: 'key' }, caps: capsOf({ nightCents: 200_00n }) }

/** What happens to the payouts that there are; `nth` chooses one of them. */
const steps = fc.array(
  fc.record({
    does: fc.constantFrom('pay', 'pay', 'approve', 'approve', 'give back', 'give back', 'wait', 'wait', 'leaves'),
    nth: fc.nat(5),
    cents: fc.integer({ min: 30_00, max: 100_00 }),
    hours: fc.integer({ min: 1, max: 13 }),
  }),
  { minLength: 40, maxLength: 40 },
)

type Step = typeof steps extends fc.Arbitrary<(infer One)[]> ? One : never

/** A payout, and where its value is to be counted. */
interface Counted {
  payout: CashOut
  isGivenBack: boolean
  /** Of each window the moment to which it counts, epoch milliseconds. */
  readonly at: Record<Span, number>
}

const isOpen = ({ payout, isGivenBack }: Counted) => payout.status === 'RESERVED' && !isGivenBack
const isAwaiting = (one: Counted) => isOpen(one) && isAwaitingApproval(one.payout)

/** Payouts of a process, and what was done with each. */
function payoutsOf(process: Process) {
  const all: Counted[] = []
  const say = ({ payout }: Counted, on: 'operator.approved' | 'operator.refused') =>
    process.payouts.approve(payout, INPUTS[on], ALIVE)

  async function pay(cents: number): Promise<void> {
    const payout = await process.payOut(BigInt(cents), { ...(cents % 2 ? KEY : {}), keyMadeBy: 'maker' })
    const nowMs = process.clock.now()
    all.push({ payout, isGivenBack: false, at: { hour: nowMs, day: nowMs, night: nowMs } })
  }

  async function approve(one: Counted): Promise<void> {
    one.payout = (await say(one, 'operator.approved')) ?? one.payout
    one.at.night = process.clock.now()
  }

  async function giveBack(one: Counted): Promise<void> {
    await (isAwaiting(one) ? say(one, 'operator.refused') : process.giveBack(one.payout))
    // What waited for a day is not sent any more.
    await process.payouts.apply(one.payout.id, [{ on: 'clock.released' }])
    one.isGivenBack = true
  }

  async function leave(one: Counted): Promise<void> {
    const [endToEndId, occurredAt] = [`E${one.payout.id}`, process.clock.now()]
    const movement = { ...INPUTS['partner.confirmed'].movement, endToEndId, occurredAt }
    const confirmed = { ...INPUTS['partner.confirmed'], movement: { ...movement, valueCents: one.payout.valueCents } }
    const outcome = await process.payouts.apply(one.payout.id, [confirmed])
    one.payout = outcome?.cashOut ?? one.payout
    one.isGivenBack = false
    for (const span of SPANS) one.at[span] = occurredAt
  }

  async function apply({ does, nth, cents, hours }: Step): Promise<unknown> {
    if (does === 'wait') return process.clock.advance(hours * HOUR)
    if (does === 'pay') return pay(cents)
    const open = all.filter(isOpen)
    const one = does === 'leaves' ? all.findLast(({ isGivenBack }) => isGivenBack) : open[nth % (open.length || 1)]
    if (one && does === 'approve' && isAwaiting(one)) return approve(one)
    if (one && does === 'give back') return giveBack(one)
    return one && does === 'leaves' ? leave(one) : undefined
  }

  return { all, giveBack, apply }
}

test('[limits.6] [cash-out.approval.3] whatever happens, each bucket has what was sent in it and not given back', async (t) => {
  const { url, database } = await testDatabase(t)
  const clock = steppedClock({ stands: true })
  const terms = { approvalFromCents: 50_00n, limits: limitsOf({ nightCents: 300_00n, hourCents: 300_00n }) }
  const process = operatedProcess(t, url, terms, realPause, clock)
  await process.adjust(1_000_000_00n)
  const payouts = payoutsOf(process)
  const assertCounted = async () => assert.deepEqual(await used(database), expected(payouts.all))
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      for (const step of given) {
        await payouts.apply(step).catch(expectRefusal)
        await assertCounted()
      }
      for (const one of payouts.all.filter(isOpen)) await payouts.giveBack(one)
      await assertCounted()
    }),
    { numRuns: 6, endOnFailure: true },
  )
})

function expectRefusal(error: unknown): void {
  if (!(error instanceof Refusal) || !['limit_exceeded', 'not_possible_in_state'].includes(error.code)) throw error
}

async function used(database: Database): Promise<Map<string, bigint>> {
  const rows = (await usedBuckets(database)).filter(({ used_cents }) => used_cents > 0n)
  return sorted(rows.map(({ scope, span, bucket, used_cents }) => [`${scope} ${span} ${bucket}`, used_cents]))
}

function expected(all: readonly Counted[]): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const { payout, at } of all.filter(({ isGivenBack }) => !isGivenBack)) {
    const scopes = payout.facts.madeBy?.caller === 'key' ? ['all', 'key'] : ['all']
    for (const span of SPANS) {
      const bucket = bucketOf(span, at[span])
      if (bucket === null) continue
      for (const scope of scopes) {
        const name = `${scope} ${span} ${bucket}`
        sums.set(name, (sums.get(name) ?? 0n) + payout.valueCents)
      }
    }
  }
  return sorted([...sums])
}

function sorted(entries: readonly [string, bigint][]): Map<string, bigint> {
  return new Map(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
