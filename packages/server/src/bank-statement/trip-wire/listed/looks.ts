import { limits } from '@pixgate/spec'
import type { StatementListing, StatementPartner } from '../../../banks/port.ts'
import { type ReadBalance, SHORTFALL_CASES, type TripWireStore } from '../store.ts'
import type { TripWire } from '../wire.ts'
import { listedLook } from './look.ts'
import type { ListedStore } from './store.ts'

/** Looks at the balances of a bank whose statement is made of lists. @source rules#trip-wire.11 */
export interface ListedLooks {
  /** Holds the next of them against the lists, once these have all that left by then. */
  atBalances(startedAt: number, listing: StatementListing, isOurs: () => Promise<boolean>): Promise<void>
}

/** What it needs. */
export interface ListedLooksOptions {
  readonly store: Pick<TripWireStore, 'balancesToCompare' | 'noteCompared'>
  readonly listed: ListedStore
  readonly partner: Pick<StatementPartner, 'returnsWithinMs'>
  readonly tripWire: TripWire
  /** Others pay from the account too, by ways that no list tells. */
  readonly isAccountShared: boolean
}

/** A balance that could not be compared for so long is not compared any more. */
const COMPARED_WITHIN_MS = 3_600_000

/** Makes it. */
export function createListedLooks({
  store,
  listed,
  partner,
  tripWire,
  isAccountShared,
}: ListedLooksOptions): ListedLooks {
  const skewMs = limits.statementClockSkewMs

  async function look(balance: ReadBalance, startedAt: number, { tariffPerMille }: StatementListing): Promise<void> {
    const { readAt, availableCents, reservedCents } = balance
    const awaitedSince = startedAt - (partner.returnsWithinMs ?? 0)
    const { awaitedCents, receivedCents, counted, ...lists } = await listed.beside(balance, { skewMs, awaitedSince })
    const underWayCents = reservedCents + awaitedCents
    const tariffsCents = (receivedCents * BigInt(tariffPerMille) + 999n) / 1_000n
    const told = { at: readAt, availableCents, ...lists, underWayCents, tariffsCents }
    const { next, found } = listedLook(await listed.expectation(), told)
    if (found) {
      const since = new Date(found.since).toISOString()
      const facts = {
        valueCents: Number(found.missingCents),
        since,
        readAt: new Date(readAt).toISOString(),
        availableCents: Number(availableCents),
        underWayCents: Number(underWayCents),
        tariffsCents: Number(tariffsCents),
      }
      await tripWire.report([{ kind: SHORTFALL_CASES.balance, reference: since, facts, isDanger: !isAccountShared }])
    }
    // Afterwards: whoever dies in between finds it again, under the same reference.
    await listed.noteExpectation(next, counted)
  }

  return {
    atBalances: async (startedAt, listing, isOurs) => {
      const readBy = startedAt - listing.debitsWithinMs - limits.statementDifferenceMs
      for (const balance of await store.balancesToCompare(readBy - COMPARED_WITHIN_MS, readBy)) {
        if (!(await isOurs())) return
        await look(balance, startedAt, listing)
        await store.noteCompared(balance.readAt, startedAt)
      }
    },
  }
}
