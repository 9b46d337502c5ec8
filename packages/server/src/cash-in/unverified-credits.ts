import { limits } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import { createBatcher, QueueFull } from '../platform/jobs/batcher.ts'
import type { CashInStore, ReportedCredit, UnverifiedCredit } from './store.ts'

/**
 * How much is credited on the word of events alone. What would be more than that is verified with the bank first.
 *
 * Each credit is counted in the database before it is booked, so that processes together never book more than the bound,
 * whichever of them dies when. Credits that come at the same time are counted in one statement.
 * @source rules#cash-in.credits.3
 */
export interface UnverifiedCredits {
  /**
   * Counts a credit in.
   * @returns whether it may be booked unverified; otherwise it is to be verified
   * @throws DatabaseUnavailable
   */
  admit(credit: ReportedCredit): Promise<boolean>
}

/** From when on credits are verified. */
export interface CreditTerms {
  /** A credit of at least this is always verified; 0: every one. */
  readonly verifyFromCents: bigint
  /** Unverified credits that the statement has not confirmed are together at most this. */
  readonly unverifiedMaxCents: bigint
}

const BOUNDS = { batchMax: 500, queueMax: 5_000 }

/** Makes the count. */
export function createUnverifiedCredits(
  store: Pick<CashInStore, 'admitUnverified'>,
  clock: Clock,
  { verifyFromCents, unverifiedMaxCents }: CreditTerms,
): UnverifiedCredits {
  const batcher = createBatcher<ReportedCredit, boolean>(async (credits) => {
    const once = new Map(credits.map((credit) => [keyOf(credit), credit]))
    const bounds = { maxCents: unverifiedMaxCents, nowMs: clock.now() }
    const admitted = new Set((await store.admitUnverified([...once.values()], bounds)).map(keyOf))
    return credits.map((credit) => ({ result: admitted.has(keyOf(credit)) }))
  }, BOUNDS)

  return {
    admit: async (credit) => {
      if (credit.valueCents >= verifyFromCents || credit.valueCents > unverifiedMaxCents) return false
      // It is not believed, and would be counted for nothing.
      if (credit.occurredAt > clock.now() + limits.occurredAtFutureMs) return false
      try {
        return await batcher.submit(credit)
      } catch (error) {
        // More than can be counted in a moment are verified.
        if (error instanceof QueueFull) return false
        throw error
      }
    },
  }
}

function keyOf({ operationId, endToEndId, valueCents }: UnverifiedCredit): string {
  return `${operationId} ${valueCents} ${endToEndId}`
}
