import { limits } from '@pixgate/spec'
import type { Clock } from '../../platform/clock.ts'
import type { ReadBalance } from '../trip-wire/store.ts'
import { compareBalance, lastDayEnd } from './compare.ts'
import type { ReportedBalanceStore } from './store.ts'

/**
 * What the bank told it had when a day was over, for the close of the day: a list of movements alone does not say that it is whole.
 * @source rules#close.11, rules#close.12
 */
export interface ReportedBalances {
  /**
   * Takes in what a statement told that was read whole.
   * @param reported its closing balance, and what its entries, with what was there before them, come to, centavos
   */
  ofStatement(
    startedAt: number,
    reported: { readonly closingCents: bigint; readonly expectedCents: bigint },
  ): Promise<void>
  /** Takes in a balance that was read beside a list without balances: where nothing moved around it. */
  besideList(balance: ReadBalance): Promise<void>
}

/** Makes it. */
export function createReportedBalances({
  store,
  clock,
}: {
  readonly store: ReportedBalanceStore
  readonly clock: Clock
}): ReportedBalances {
  const { statementClockSkewMs } = limits
  return {
    ofStatement: async (startedAt, { closingCents, expectedCents }) => {
      const compared = compareBalance({ reportedCents: closingCents, listedCents: expectedCents, reservedCents: 0n })
      if (compared) await store.keep(lastDayEnd(startedAt - statementClockSkewMs), compared, null, clock.now())
    },
    besideList: async ({ readAt, asOf, availableCents, reservedCents }) => {
      const at = asOf ?? readAt
      const moment = { from: at - statementClockSkewMs, to: at + statementClockSkewMs }
      const listedCents = await store.listedAt(moment, { cents: availableCents, reservedCents })
      if (listedCents === undefined) return
      const compared = compareBalance({ reportedCents: availableCents, listedCents, reservedCents })
      if (compared) await store.keep(lastDayEnd(moment.from), compared, moment.to, clock.now())
    },
  }
}
