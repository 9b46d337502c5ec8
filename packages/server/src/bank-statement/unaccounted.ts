import type { StatementBalances, StatementPage } from '../banks/port.ts'
import type { Window, WindowTotal } from './rules.ts'
import type { Difference, TripWire } from './trip-wire/wire.ts'

/**
 * Windows of which every page can be read, and whose entries account for another change of the balance than the bank tells. Read
 * again they are mostly right. A bank that stays with it would else keep its whole statement from being read, for ever.
 */
export interface Unaccounted {
  /**
   * Whether a window counts as whole: where its entries account for its balances, or the bank tells none, or after a quarter of an hour of readings that
   * do not, with a case about what is wrong.
   * @source rules#statement.3, rules#statement.12
   */
  isWhole(reading: ReadWindow, page: StatementPage): Promise<boolean>
}

/** A window of which every page was read. */
export interface ReadWindow {
  readonly startedAt: number
  readonly window: Window
  readonly total: WindowTotal
}

/** Longer than two windows overlap: what is wrong with the one that is accepted is not in the next one. */
const ACCEPTED_AFTER_MS = 900_000

/** Cases about it are known by this. */
const UNACCOUNTED = 'statement_unaccounted'

/** Makes it: of one process, which looks for itself. */
export function createUnaccounted({ tripWire }: { readonly tripWire: TripWire }): Unaccounted {
  let since: number | undefined

  return {
    isWhole: async ({ startedAt, window, total }, page) => {
      const { balances } = page
      if (balances === null || total.accountsFor(balances)) {
        since = undefined
        return true
      }
      since ??= startedAt
      if (startedAt - since < ACCEPTED_AFTER_MS) return false
      await tripWire.report([differenceOf(window, balances, total.cents)])
      since = undefined
      return true
    },
  }
}

/** Dangerous where more is gone than its entries tell. */
function differenceOf(
  { from, to }: Window,
  { openingCents, closingCents }: StatementBalances,
  accounted: bigint,
): Difference {
  const change = closingCents - openingCents
  const facts = {
    reason: 'its entries do not account for its balances',
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    valueCents: Number(change - accounted),
    changeCents: Number(change),
    accountedCents: Number(accounted),
  }
  return { kind: UNACCOUNTED, reference: facts.from, facts, isDanger: change < accounted }
}
