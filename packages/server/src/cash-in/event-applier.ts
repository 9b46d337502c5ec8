import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import type { CashIn, CashInInput, CashInOutcome } from './cash-in.ts'
import type { CashInCommands } from './commands.ts'
import type { CashInJobs } from './jobs.ts'

/** Applying what only an event tells of a cash-in. */
export interface EventApplier {
  /**
   * Applies it; `undefined` where there is no such cash-in. Where that requests a status query, it is begun, not awaited.
   * @source rules#cash-in.credits, rules#cash-in.work.5
   */
  apply(id: string, input: CashInInput): Promise<CashInOutcome | undefined>
  /** Resolves when no status query that was begun here is under way. */
  drained(): Promise<void>
}

/** Which payments are queried at the bank before they are booked. */
export interface CreditTerms {
  /** Those of at least this, centavos; 0, as always in production: every one. */
  readonly verifyFromCents: bigint
}

/** What is needed for it. */
export interface EventApplierOptions {
  readonly commands: Pick<CashInCommands, 'apply'>
  readonly jobs: Pick<CashInJobs, 'askNow'>
  readonly credits: CreditTerms
  readonly clock: Clock
  readonly logger: Logger
  /** Whether the bank can be asked about a charge. */
  readonly canAsk: boolean
  /** The bank's events are never believed. */
  readonly isAlwaysVerified: boolean
}

/** Makes the applier. */
export function createEventApplier({
  commands,
  jobs,
  credits,
  clock,
  logger,
  ...options
}: EventApplierOptions): EventApplier {
  const asking = new Set<Promise<void>>()

  async function applied(id: string, input: CashInInput): Promise<CashInOutcome | undefined> {
    if (input.on !== 'partner.confirmed' || !options.canAsk) return commands.apply(id, input)
    const isQueried = options.isAlwaysVerified || input.payment.valueCents >= credits.verifyFromCents
    return commands.apply(id, { ...input, unverified: isQueried ? 'query' : 'book' })
  }

  /** Where it fails, or this process dies, a worker finds it due. */
  function ask(cashIn: CashIn): void {
    const query = jobs
      .askNow(cashIn)
      .catch((error) => logger.warn({ error: String(error) }, 'a status query waits for a worker'))
      .finally(() => asking.delete(query))
    asking.add(query)
  }

  return {
    apply: applyAndAsk,
    drained: async () => {
      while (asking.size > 0) await Promise.all(asking)
    },
  }

  async function applyAndAsk(id: string, input: CashInInput): Promise<CashInOutcome | undefined> {
    const outcome = await applied(id, input)
    const { facts, dueAt } = outcome?.cashIn ?? {}
    if (outcome?.result === 'APPLIED' && facts?.isQuestionWanted && dueAt != null && dueAt <= clock.now()) {
      ask(outcome.cashIn)
    }
    // What became of a payment that was attributed the bank tells of the charge that it was made for.
    if (input.on === 'work.requested' && facts?.receivedFrom !== undefined) await applyAndAsk(facts.receivedFrom, input)
    return outcome
  }
}
