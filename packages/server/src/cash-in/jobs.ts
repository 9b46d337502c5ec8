import pLimit from 'p-limit'
import type { EventQueryBudget } from '../banks/event-query-budget.ts'
import type { Document } from '../engine/operation.ts'
import type { Logger } from '../platform/log.ts'
import { type CashIn, isKnownAtBank, isOver } from './cash-in.ts'
import { ChargeWork, type ChargeWorkOptions, LEASE_MS } from './charge-work.ts'
import { reportedPayments } from './reported.ts'

/**
 * What talks to the partner about charges: within a create, and afterwards whenever work is due. Nothing here holds a
 * transaction; every answer is another input to the engine.
 * @source rules#partner.2
 */
export interface CashInJobs {
  /**
   * Asks the partner for the charge of a new cash-in, within the request. The one that is to show whether the bank is back is
   * begun, not awaited: its client is answered at once, like those of the others meanwhile.
   * @returns the cash-in as it then is
   * @source rules#cash-in.create.5, rules#cash-in.create.7
   */
  requestCharge(cashIn: CashIn): Promise<CashIn>
  /**
   * Claims what is due and does it.
   * @returns whether more may be due right away
   * @source rules#cash-in.work, failure-modes#EX-5
   */
  processNext(): Promise<boolean>
  /**
   * Makes the status query that an event asks for, where the budget has one left; otherwise it stays due.
   * @source rules#cash-in.work.5
   */
  askNow(cashIn: CashIn): Promise<void>
  /** What the partner has under an id that is no cash-in's, as evidence. @source failure-modes#EV-7 */
  atPartner(id: string): Promise<Document>
  /** The partner's references that its answers told since this was last called. @source failure-modes#EV-7 */
  drainNewReferences(): string[]
  /** Resolves when no charge that was begun and not awaited is being asked for. */
  drained(): Promise<void>
}

/** What the jobs need. */
export interface CashInJobsOptions extends ChargeWorkOptions {
  readonly eventQueries: EventQueryBudget
  readonly logger: Logger
}

/** Cash-ins claimed together. @source rules#cash-in.work.2 */
const BATCH = 500

/** Questions to the partner at the same time. */
const CONCURRENT = 32

/** Makes the jobs. */
export function createCashInJobs(options: CashInJobsOptions): CashInJobs {
  const { commands, store, clock, eventQueries, partner, logger } = options
  const limit = pLimit(CONCURRENT)
  const charges = new ChargeWork(options)
  const trials = new Set<Promise<unknown>>()

  async function claim(id: string): Promise<CashIn | undefined> {
    const claimed = await commands.apply(id, { on: 'work.claimed', leaseMs: LEASE_MS })
    return claimed?.result === 'APPLIED' ? claimed.cashIn : undefined
  }

  /** Where it fails, or this process dies, a worker finds the charge due. */
  function begin(cashIn: CashIn): void {
    const trial: Promise<unknown> = charges
      .request(cashIn)
      .catch((error) => logger.warn({ error: String(error) }, 'a charge waits for a worker'))
      .finally(() => trials.delete(trial))
    trials.add(trial)
  }

  return {
    requestCharge: async (cashIn) => {
      if (partner.chargesWanted() !== 1) return charges.request(cashIn)
      begin(cashIn)
      return cashIn
    },
    drained: async () => {
      while (trials.size > 0) await Promise.all(trials)
    },
    processNext: async () => {
      const due = await store.due(clock.now(), BATCH)
      // Together, so that the engine writes them in as few batches as it can.
      const claims = await Promise.all(workable(due, options).map(({ id }) => claim(id)))
      const claimed = claims.filter((cashIn) => cashIn !== undefined)
      await Promise.all(claimed.map((cashIn) => limit(() => charges.work(cashIn))))
      return due.length === BATCH && claimed.length > 0
    },
    askNow: async (cashIn) => {
      if (isCounted(cashIn) && eventQueries.take(1, clock.now()) === 0) return
      const { id } = cashIn
      // Claimed in its turn, so that no lease runs while it waits.
      await limit(async () => {
        const claimed = await claim(id)
        if (claimed) await charges.work(claimed)
      })
    },
    atPartner: (id) => limit(() => charges.atPartner(id)),
    drainNewReferences: () => charges.drainNewReferences(),
  }
}

/**
 * What may be claimed now: of those that events asked about as many as their budget has, and of those that only wait to be
 * made as many as the bank takes.
 */
function workable(due: readonly CashIn[], { partner, eventQueries, clock }: CashInJobsOptions): readonly CashIn[] {
  const nowMs = clock.now()
  const asked = due.filter(isCounted)
  const unmade = due.filter((cashIn) => isUnmade(cashIn, nowMs) && !asked.includes(cashIn))
  const others = due.filter((cashIn) => !asked.includes(cashIn) && !unmade.includes(cashIn))
  return [
    ...others,
    ...unmade.slice(0, Math.min(partner.chargesWanted(), unmade.length)),
    ...asked.slice(0, eventQueries.take(asked.length, nowMs)),
  ]
}

/**
 * Whether a query counts against the budget of events. One for a payment that a signed event reported of a pending charge does
 * not: of each charge one is in flight and one wanted, whatever events name.
 */
function isCounted({ status, facts }: CashIn): boolean {
  const isReported = status === 'PENDING' && Object.keys(reportedPayments(facts)).length > 0
  return facts.eventQueries != null && !isReported
}

/** Nothing of it is known to have reached the bank, and it can still be made. */
function isUnmade(cashIn: CashIn, nowMs: number): boolean {
  return cashIn.status === 'PENDING' && !isKnownAtBank(cashIn) && !isOver(cashIn, nowMs)
}
