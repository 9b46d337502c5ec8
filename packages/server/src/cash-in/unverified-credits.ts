import type { Clock } from '../platform/clock.ts'
import type { CashInStore } from './store.ts'

/**
 * How much is credited on the word of events alone. What would be more than that is verified with the bank first.
 *
 * The sum is what the database says, read anew each second, and what this process has booked since: processes together may
 * book beyond it what the others booked within that second. A sum that every event compared would be exact, and would make
 * processes stale each other on every batch.
 * @source rules#cash-in.credits.3
 */
export interface UnverifiedCredits {
  /**
   * Counts a credit in, where it may be booked unverified.
   * @returns how to end that: whether it was booked the database tells from then on; `undefined` where it is to be verified
   */
  admit(valueCents: bigint): Promise<(() => void) | undefined>
}

/** From when on credits are verified. */
export interface CreditTerms {
  /** A credit of at least this is always verified; 0: every one. */
  readonly verifyFromCents: bigint
  /** Unverified credits since the last matched statement together are at most this. */
  readonly unverifiedMaxCents: bigint
}

/** A credit that this process is booking, or has booked since the database was read. */
interface Own {
  readonly valueCents: bigint
  isEnded: boolean
}

/** How old what the database says may be. */
const FRESH_MS = 1_000

/** Makes the count of a process. */
export function createUnverifiedCredits(
  store: Pick<CashInStore, 'statementMark' | 'unverifiedCredits'>,
  clock: Clock,
  { verifyFromCents, unverifiedMaxCents }: CreditTerms,
): UnverifiedCredits {
  let read = { at: Number.NEGATIVE_INFINITY, mark: null as number | null, version: 0n, cents: 0n, isExceeded: false }
  let reading: Promise<void> | undefined
  const own = new Set<Own>()

  /** What was ended before the reading began, the reading has seen. */
  async function readAnew(): Promise<void> {
    const seen = [...own].filter(({ isEnded }) => isEnded)
    const at = clock.now()
    const mark = await store.statementMark()
    // Of the same window only what was added: once it is exceeded nothing more is to be known of it.
    const before = mark === read.mark ? read : { version: 0n, cents: 0n, isExceeded: false }
    if (before.isExceeded) {
      read = { ...read, at }
    } else {
      const added = await store.unverifiedCredits(before.version, mark)
      const cents = before.cents + added.cents
      read = { at, mark, version: added.version, cents, isExceeded: added.isTooMany || cents > unverifiedMaxCents }
    }
    for (const credit of seen) own.delete(credit)
  }

  function freshen(): Promise<void> | undefined {
    if (clock.now() - read.at < FRESH_MS) return undefined
    reading ??= readAnew().finally(() => {
      reading = undefined
    })
    return reading
  }

  return {
    admit: async (valueCents) => {
      if (valueCents >= verifyFromCents) return undefined
      await freshen()
      const ownCents = [...own].reduce((sum, credit) => sum + credit.valueCents, 0n)
      if (read.isExceeded || read.cents + ownCents + valueCents > unverifiedMaxCents) return undefined
      const credit = { valueCents, isEnded: false }
      own.add(credit)
      return () => {
        credit.isEnded = true
      }
    },
  }
}
