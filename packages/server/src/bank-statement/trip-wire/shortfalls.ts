import { limits } from '@pixgate/spec'
import type { BalancePartner, BankBalance, StatementPartner } from '../../banks/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { ReportedBalances } from '../reported-balances/balances.ts'
import type { ListedLooks } from './listed/looks.ts'
import { balanceLook, type Look, looked } from './shortfall.ts'
import { type ReadBalance, SHORTFALL_CASES, type ShortfallName, type TripWireStore } from './store.ts'
import type { TripWire } from './wire.ts'

/**
 * Whether the bank still has what its statement showed. What our books say is held against the statement entry by entry; here
 * the statement is held against itself, and the balance against the statement, so that a movement which is in neither entry is
 * missed all the same.
 * @source rules#trip-wire.3, rules#trip-wire.4, rules#trip-wire.8, rules#trip-wire.11
 */
export interface Shortfalls {
  /**
   * Looks, after a window that reaches to now was read whole, and tells the closes of days what the bank had.
   * @param closingCents the statement's balance at its end; `undefined` where it tells none
   * @param isOurs whether the lease is still ours: asked before each call to the bank
   */
  look(startedAt: number, closingCents: bigint | undefined, isOurs: () => Promise<boolean>): Promise<void>
}

/** What it needs. */
export interface ShortfallsOptions {
  readonly store: TripWireStore
  readonly partner: StatementPartner & Partial<Pick<BalancePartner, 'readBalance'>>
  readonly tripWire: TripWire
  readonly listedLooks: ListedLooks
  readonly reportedBalances: ReportedBalances
  readonly clock: Clock
}

/** A balance that could not be compared for so long is not compared any more. */
const COMPARED_WITHIN_MS = 3_600_000

/** A balance beside a list is told to the closes while it is no older than this and what may still be listed. */
const REPORTED_WITHIN_MS = 300_000

/** Makes it. */
export function createShortfalls(options: ShortfallsOptions): Shortfalls {
  const { store, partner, listedLooks, reportedBalances } = options
  const looks = createLooks(options)

  async function lookAt(startedAt: number, closingCents: bigint, isOurs: () => Promise<boolean>): Promise<void> {
    await looks.atStatement(startedAt, closingCents)
    const [readFrom, readBy] = [startedAt - COMPARED_WITHIN_MS, startedAt - limits.statementDifferenceMs]
    for (const balance of await store.balancesToCompare(readFrom, readBy)) {
      if (!(await isOurs())) return
      await looks.atBalance(balance)
    }
  }

  // The trip wire looks at them hours later: here none is noted as compared, and each is told a few times.
  async function reportBesideLists(startedAt: number): Promise<void> {
    const readBy = startedAt - limits.statementDifferenceMs
    const balances = await store.balancesToCompare(readBy - REPORTED_WITHIN_MS, readBy)
    for (const balance of balances) await reportedBalances.besideList(balance)
  }

  async function readBalance(): Promise<BankBalance | undefined> {
    const answer = await partner.readBalance?.()
    return answer?.kind === 'READ' ? answer.balance : undefined
  }

  return {
    look: async (startedAt, closingCents, isOurs) => {
      if (!partner.capabilities.has('balance')) return
      if (closingCents === undefined) {
        if (!partner.listing) return
        await reportBesideLists(startedAt)
        await listedLooks.atBalances(startedAt, partner.listing, isOurs)
      } else await lookAt(startedAt, closingCents, isOurs)
      const balance = (await isOurs()) ? await readBalance() : undefined
      if (balance) await store.keepBalance(balance, options.clock.now())
    },
  }
}

/** The ways to look, and what follows from each. */
function createLooks({ store, partner, tripWire, reportedBalances, clock }: ShortfallsOptions) {
  async function applyLook(name: ShortfallName, look: Look, evidence: Readonly<Record<string, number>>): Promise<void> {
    const { next, found } = looked(await store.shortfall(name), look)
    if (found) {
      const since = new Date(found.since).toISOString()
      const facts = { valueCents: Number(found.newCents), missingCents: Number(found.missingCents), since, ...evidence }
      await tripWire.report([{ kind: SHORTFALL_CASES[name], reference: since, facts, isDanger: true }])
    }
    // Afterwards: whoever dies in between finds it again, under the same reference.
    await store.noteShortfall(name, { ...next, isOver: look.mostCents <= 0n, at: clock.now() })
  }

  return {
    atStatement: async (startedAt: number, closingCents: bigint): Promise<void> => {
      const { baseCents, entriesCents } = await store.statementTotal(closingCents)
      const expectedCents = baseCents + entriesCents
      const missing = expectedCents - closingCents
      const evidence = { expectedCents: Number(expectedCents), closingCents: Number(closingCents) }
      await applyLook('statement', { at: startedAt, leastCents: missing, mostCents: missing }, evidence)
      await reportedBalances.ofStatement(startedAt, { closingCents, expectedCents })
    },

    atBalance: async (balance: ReadBalance): Promise<void> => {
      const { readAt, availableCents, asOf } = balance
      const window = windowOf(balance)
      const answer = await partner.readStatement({ ...window, cursor: null })
      if (answer.kind !== 'READ' || answer.page.balances === null) return
      const { openingCents, closingCents } = answer.page.balances
      const left = await store.leftAround(balance, asOf === null ? spanOf(window) : 0)
      const explainedCents = balance.reservedCents + left
      const look = balanceLook(readAt, { availableCents, openingCents, closingCents, explainedCents })
      const evidence = {
        availableCents: Number(availableCents),
        statementCents: Number(closingCents),
        explainedCents: Number(explainedCents),
      }
      await applyLook('balance', look, evidence)
      await store.noteCompared(readAt, clock.now())
    },
  }
}

/** The part of the statement, by the bank's time of booking, in which a balance was read. */
function windowOf({ readAt, asOf }: ReadBalance): { readonly from: number; readonly to: number } {
  if (asOf !== null) return { from: asOf, to: asOf + 1 }
  return { from: readAt - limits.statementClockSkewMs, to: readAt + limits.statementClockSkewMs }
}

function spanOf({ from, to }: { readonly from: number; readonly to: number }): number {
  return to - from
}
