import pLimit from 'p-limit'
import type { EventQueryBudget } from '../banks/event-query-budget.ts'
import type {
  CancelAnswer,
  ChargeAnswer,
  ChargeAvailability,
  ChargePartner,
  ChargeQueryAnswer,
  ChargeRequest,
  ChargeTerms,
  NotSent,
  Unknown,
} from '../banks/port.ts'
import { reasonOf } from '../engine/follow.ts'
import type { Document } from '../engine/operation.ts'
import type { IsAskedFirst } from '../operations/attempts.ts'
import type { MadeBy } from '../operations/requests.ts'
import type { Clock } from '../platform/clock.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import type { Logger } from '../platform/log.ts'
import {
  answerEvidence,
  type CashIn,
  type CashInInput,
  type CashInOutcome,
  cancelledInput,
  inputsOf,
  isCancelRequested,
  isKnownAtBank,
  isOver,
  isWanted,
  type ReturnOfPayment,
  returnsIn,
} from './cash-in.ts'
import type { CashInCommands, CashInStore } from './commands.ts'
import { reportedPayments } from './reported.ts'
import { hasReturnStep, returnsInDoubt } from './returns.ts'

/**
 * Calls the bank about charges, in the create request and whenever work is due. Holds no transaction; every answer is
 * an input to the engine.
 * @source rules#partner.2
 */
export interface CashInJobs {
  /**
   * Requests the charge at the bank, within the create request. The probe of a half-open circuit breaker runs in the
   * background, so its client does not wait longer than others.
   * @returns the cash-in after the answer
   * @source rules#cash-in.create.5, rules#cash-in.create.7
   */
  requestCharge(cashIn: CashIn): Promise<CashIn>
  readonly canCancel: boolean
  /**
   * Stores the merchant's request to cancel a charge, then cancels it at the bank. Where the bank does not answer, a
   * worker repeats it.
   * @returns the cash-in after the answer
   * @source rules#cash-in.cancel.3
   */
  cancel(cashIn: CashIn, by: MadeBy): Promise<CashIn>
  /**
   * Claims and performs due work.
   * @returns whether more may be due now
   * @source rules#cash-in.work, failure-modes#EX-5
   */
  processNext(): Promise<boolean>
  /**
   * Makes the status query requested by an event if the budget allows it; otherwise it stays due.
   * @source rules#cash-in.work.5
   */
  askNow(cashIn: CashIn): Promise<void>
  /** Evidence of what the bank has under an id that is no cash-in's. @source failure-modes#EV-7 */
  atPartner(id: string): Promise<Document>
  /** Returns, and clears, the bank references learned since the last call. @source failure-modes#EV-7 */
  drainNewReferences(): string[]
  /** Resolves when no background charge request is in flight. */
  drained(): Promise<void>
}

export interface CashInJobsOptions extends ChargeWorkOptions {
  readonly eventQueries: EventQueryBudget
  readonly logger: Logger
}

/** Claims per round. @source rules#cash-in.work.2 */
const BATCH = 500

const CONCURRENT = 32

export function createCashInJobs(options: CashInJobsOptions): CashInJobs {
  const { commands, store, clock, eventQueries, partner, logger } = options
  const limit = pLimit(CONCURRENT)
  const charges = new ChargeWork(options)
  const inFlight = new Set<Promise<unknown>>()

  async function claim(id: string): Promise<CashIn | undefined> {
    const claimed = await commands.apply(id, { on: 'work.claimed', leaseMs: LEASE_MS })
    return claimed?.result === 'APPLIED' ? claimed.cashIn : undefined
  }

  /** After a failure or crash a worker finds the charge due. */
  function begin(cashIn: CashIn): void {
    const request: Promise<unknown> = charges
      .request(cashIn)
      .catch((error) =>
        logger.warn(
          { event: 'charge.request_failed', error: String(error) },
          'Charge request failed; a worker retries it.',
        ),
      )
      .finally(() => inFlight.delete(request))
    inFlight.add(request)
  }

  return {
    requestCharge: async (cashIn) => {
      if (partner.allowedCharges() !== 1) return charges.request(cashIn)
      begin(cashIn)
      return cashIn
    },
    canCancel: charges.canCancel,
    cancel: (cashIn, by) => charges.cancel(cashIn, by, claim),
    drained: async () => {
      while (inFlight.size > 0) await Promise.all(inFlight)
    },
    processNext: async () => {
      const due = await store.due(clock.now(), BATCH)
      // Concurrent, so the engine commits them in few batches.
      const claims = await Promise.all(workable(due, options).map(({ id }) => claim(id)))
      const claimed = claims.filter((cashIn) => cashIn !== undefined)
      await Promise.all(claimed.map((cashIn) => limit(() => charges.work(cashIn))))
      return due.length === BATCH && claimed.length > 0
    },
    askNow: async (cashIn) => {
      if (isCounted(cashIn) && eventQueries.take(1, clock.now()) === 0) return
      const { id } = cashIn
      // Claimed inside the limit, so the lease does not run while queued.
      await limit(async () => {
        const claimed = await claim(id)
        if (claimed) await charges.work(claimed)
      })
    },
    atPartner: (id) => limit(() => charges.atPartner(id)),
    drainNewReferences: () => charges.drainNewReferences(),
  }
}

/** Limits claims: event queries by their budget, uncreated charges by the circuit breaker. */
function workable(due: readonly CashIn[], { partner, eventQueries, clock }: CashInJobsOptions): readonly CashIn[] {
  const nowMs = clock.now()
  const asked = due.filter(isCounted)
  const unmade = due.filter((cashIn) => isUnmade(cashIn, nowMs) && !asked.includes(cashIn))
  const others = due.filter((cashIn) => !asked.includes(cashIn) && !unmade.includes(cashIn))
  return [
    ...others,
    ...unmade.slice(0, Math.min(partner.allowedCharges(), unmade.length)),
    ...asked.slice(0, eventQueries.take(asked.length, nowMs)),
  ]
}

/**
 * Counts against the budget of event queries. A reported payment of a pending charge does not: each charge has at most
 * one query in flight and one requested, whatever events say. Nor does a cancellation, which the merchant requested.
 */
function isCounted(cashIn: CashIn): boolean {
  const { status, facts } = cashIn
  const isReported = status === 'PENDING' && Object.keys(reportedPayments(facts)).length > 0
  return facts.eventQueries != null && !isReported && !isCancelRequested(cashIn)
}

/** The bank is not known to have it, and it can still be created. */
function isUnmade(cashIn: CashIn, nowMs: number): boolean {
  return cashIn.status === 'PENDING' && !isKnownAtBank(cashIn) && !isOver(cashIn, nowMs)
}

export interface ReturnsOfCashIns {
  /** Applies a return found in the bank's answer. @source rules#cash-in.returns.6 */
  take(cashIn: CashIn, returned: ReturnOfPayment): Promise<unknown>
  /** Performs the due steps of the returns in doubt. @source rules#cash-in.returns.4 */
  settle(cashIn: CashIn): Promise<unknown>
}

export interface ChargeWorkOptions {
  readonly commands: CashInCommands
  readonly store: CashInStore
  readonly partner: ChargePartner & ChargeAvailability
  readonly clock: Clock
  readonly pause: Pause
  readonly createBudgetMs: number
  readonly returns: ReturnsOfCashIns
  readonly isAskedFirst?: IsAskedFirst
}

/** Longer than any single step. */
const LEASE_MS = 60_000

/** Delay before a create request that was not sent is repeated; doubles each time. */
const FIRST_RETRY_MS = 100

interface Settled {
  /** The bank answered, so no query is repeated for lack of an answer. */
  readonly isAnswered: boolean
  readonly hasOutcome: boolean
}

const SILENT: Settled = { isAnswered: false, hasOutcome: false }
const OPEN: Settled = { isAnswered: true, hasOutcome: false }
const OVER: Settled = { isAnswered: true, hasOutcome: true }

class ChargeWork {
  readonly #options: ChargeWorkOptions
  readonly #commands: CashInCommands
  readonly #clock: Clock
  readonly #calls: ChargeCalls
  readonly #newReferences = new Set<string>()

  constructor(options: ChargeWorkOptions) {
    this.#options = options
    this.#commands = options.commands
    this.#clock = options.clock
    this.#calls = createChargeCalls(options.partner, options.isAskedFirst)
  }

  get canCancel(): boolean {
    return this.#calls.canCancel
  }

  async cancel(cashIn: CashIn, by: MadeBy, claim: (id: string) => Promise<CashIn | undefined>): Promise<CashIn> {
    const { id } = cashIn
    const requested = await this.#commands.apply(id, { on: 'cancel.requested', by })
    const isDue = requested?.result === 'APPLIED' && requested.cashIn.status !== 'FAILED'
    const claimed = isDue ? await claim(id) : undefined
    if (claimed) await this.work(claimed)
    return (await this.#options.store.get(id)) ?? cashIn
  }

  async request(cashIn: CashIn): Promise<CashIn> {
    const deadline = this.#clock.now() + this.#options.createBudgetMs
    let wait = FIRST_RETRY_MS
    let answer = await this.#calls.order(cashIn, this.#clock.now(), this.#remaining(deadline))
    while (answer.kind === 'NOT_SENT' && answer !== BREAKER_OPEN && this.#clock.now() + wait < deadline) {
      await this.#options.pause.for(wait)
      wait *= 2
      answer = await this.#calls.order(cashIn, this.#clock.now(), this.#remaining(deadline))
    }
    return answer.kind === 'NOT_SENT' ? this.#notSent(cashIn, answer.reason) : this.#applyAnswer(cashIn, answer)
  }

  async #notSent(cashIn: CashIn, reason: string): Promise<CashIn> {
    const taken = await this.#commands.apply(cashIn.id, { on: 'charge.not_sent', reason, isUnsent: true })
    return taken?.cashIn ?? cashIn
  }

  #remaining(deadline: number): AbortSignal {
    return AbortSignal.timeout(Math.max(0, deadline - this.#clock.now()))
  }

  /** Queries the bank first: the charge may have been created, paid or ended without our knowledge. */
  async work(cashIn: CashIn): Promise<void> {
    // Too late to finish within the lease; due again after it.
    if (this.#clock.now() > (cashIn.dueAt ?? 0) - LEASE_MS / 2) return
    const answer = await this.#calls.ask(cashIn)
    const settled = await this.#settle(cashIn, answer)
    if (returnsInDoubt(cashIn).length > 0) await this.#settleReturns(cashIn.id)
    await this.#commands.apply(cashIn.id, { on: 'work.done', bankAnswer: answerEvidence(answer), ...settled })
  }

  /** Runs after silence too: the 15 minutes of a return may be over. */
  async #settleReturns(id: string): Promise<void> {
    const now = await this.#options.store.get(id)
    if (now && hasReturnStep(now, this.#clock.now())) await this.#options.returns.settle(now)
  }

  async #settle(cashIn: CashIn, answer: ChargeQueryAnswer): Promise<Settled> {
    if (!this.#calls.canAsk) return this.#unasked(cashIn)
    if (answer.kind === 'NOT_FOUND') return this.#neverSeen(cashIn)
    if (isSilence(answer) && cashIn.facts.unsent === 'claimed') return this.#stillUnsent(cashIn, answer.reason)
    const after = await this.#applyAnswer(cashIn, answer)
    const isUnwanted = isOver(cashIn, this.#clock.now()) || after.status === 'FAILED' || this.#isCancelRequested(after)
    if (answer.kind === 'ACCEPTED' && isUnwanted) return this.#withdraw(after)
    // A contradiction after the expiry ends like an expired charge.
    if (answer.kind === 'CONTRADICTED' && after.status === 'PENDING') return this.#withdraw(cashIn)
    return settledBy(answer)
  }

  /**
   * A bank without charge queries: the charge ends with its time. Repeating the order is the only way to learn whether
   * the bank has it, if that is idempotent.
   * @source rules#partner.10, failure-modes#PL-61
   */
  async #unasked(cashIn: CashIn): Promise<Settled> {
    // A failed charge may exist and is cancelled; every other end is final.
    if (!isWanted(cashIn)) return cashIn.status === 'FAILED' ? this.#withdraw(cashIn) : OVER
    const isPast = isOver(cashIn, this.#clock.now())
    if (this.#isCancelRequested(cashIn)) return this.#withdraw(cashIn)
    if (isKnownAtBank(cashIn)) return isPast ? this.#withdraw(cashIn) : SILENT
    if (!isPast && isWanted(cashIn) && this.#calls.isRepeatable(cashIn)) return this.#order(cashIn)
    if (cashIn.facts.unsent === 'claimed') return this.#stillUnsent(cashIn, NO_QUERIES.reason)
    await this.#applyAnswer(cashIn, NO_QUERIES)
    return SILENT
  }

  /** A charge that was never sent is not in doubt, even if the bank is silent. @source rules#cash-in.create.7 */
  async #stillUnsent(cashIn: CashIn, reason: string): Promise<Settled> {
    if (isOver(cashIn, this.#clock.now())) {
      await this.#commands.apply(cashIn.id, { on: 'clock.expired', isSwept: this.#calls.isSwept })
      return OVER
    }
    await this.#notSent(cashIn, reason)
    return SILENT
  }

  /**
   * The bank does not know the charge. Before the expiry a charge that it never accepted is ordered again under the
   * same id; an accepted one is cancelled after the expiry, as it may exist.
   * @source rules#cash-in.states.15, failure-modes#EX-7
   */
  async #neverSeen(cashIn: CashIn): Promise<Settled> {
    const input = { on: 'charge.not_found', askedAt: cashIn.updatedAt, isSwept: this.#calls.isSwept } as const
    const after = (await this.#commands.apply(cashIn.id, input))?.cashIn ?? cashIn
    if (!isWanted(after)) return OPEN
    if (this.#isCancelRequested(after)) return isKnownAtBank(after) ? this.#withdraw(after) : OPEN
    if (!isKnownAtBank(after)) return this.#calls.isRepeatable(cashIn) ? this.#order(cashIn) : OPEN
    if (isOver(after, this.#clock.now())) await this.#calls.cancel(cashIn)
    return OPEN
  }

  async #order(cashIn: CashIn): Promise<Settled> {
    const answer = await this.#calls.order(cashIn, this.#clock.now())
    if (answer.kind === 'NOT_SENT' && cashIn.facts.unsent === 'claimed') await this.#notSent(cashIn, answer.reason)
    else await this.#applyAnswer(cashIn, answer)
    return settledBy(answer)
  }

  #isCancelRequested(cashIn: CashIn): boolean {
    return this.#calls.canCancel && isCancelRequested(cashIn) && !isOver(cashIn, this.#clock.now())
  }

  /**
   * Cancels a charge at the bank, so nobody can pay it: by the merchant's request, or before it becomes `EXPIRED`.
   * @source rules#cash-in.cancel.4
   */
  async #withdraw(cashIn: CashIn): Promise<Settled> {
    const answer = await this.#calls.cancel(cashIn)
    if (answer.kind === 'CANCELLED') {
      const expired = { on: 'clock.expired', isSwept: this.#calls.isSwept } as const
      await this.#commands.apply(cashIn.id, this.#isCancelRequested(cashIn) ? cancelledInput(cashIn) : expired)
      return OVER
    }
    if (answer.kind === 'NOT_FOUND') {
      await this.#commands.apply(cashIn.id, {
        on: 'charge.not_found',
        askedAt: cashIn.updatedAt,
        isSwept: this.#calls.isSwept,
      })
      return OPEN
    }
    if (answer.kind !== 'REJECTED') return SILENT
    // A bank without queries cannot say why it refused.
    if (!this.#calls.canAsk) return isWanted(cashIn) ? SILENT : OVER
    const paid = await this.#calls.ask(cashIn)
    if (paid.kind !== 'NOT_FOUND') await this.#applyAnswer(cashIn, paid)
    return paid.kind === 'FINAL' ? OVER : SILENT
  }

  async #applyAnswer(
    cashIn: CashIn,
    answer: Exclude<ChargeAnswer | ChargeQueryAnswer, { kind: 'NOT_FOUND' }>,
  ): Promise<CashIn> {
    let after = cashIn
    for (const input of inputsOf(cashIn, answer, { now: this.#clock.now(), isSwept: this.#calls.isSwept })) {
      after = (await this.#commands.apply(cashIn.id, input))?.cashIn ?? after
    }
    for (const returned of returnsIn(after, answer)) await this.#options.returns.take(after, returned)
    if (cashIn.transactionId === null && after.transactionId !== null) this.#newReferences.add(after.transactionId)
    if (reasonOf(after) === 'conflict' && after.transactionId === null) await this.#calls.cancel(cashIn)
    return after
  }

  async atPartner(id: string): Promise<Document> {
    return answerEvidence(await this.#calls.askAbout(id))
  }

  drainNewReferences(): string[] {
    const references = [...this.#newReferences]
    this.#newReferences.clear()
    return references
  }
}

function isSilence(answer: ChargeQueryAnswer): answer is NotSent | Unknown {
  return answer.kind === 'NOT_SENT' || answer.kind === 'UNKNOWN'
}

function settledBy({ kind }: ChargeAnswer | ChargeQueryAnswer): Settled {
  if (kind === 'NOT_SENT' || kind === 'UNKNOWN') return SILENT
  return kind === 'ACCEPTED' || kind === 'NOT_FOUND' ? OPEN : OVER
}

export interface ChargeCalls {
  readonly canAsk: boolean
  readonly canCancel: boolean
  readonly isSwept: boolean
  /** Sends one create request; none while the circuit breaker is open. @source rules#cash-in.create.7 */
  order(cashIn: CashIn, nowMs: number, deadline?: AbortSignal): Promise<ChargeAnswer>
  ask(cashIn: CashIn): Promise<ChargeQueryAnswer>
  /** Queries an id of unknown terms, for evidence. */
  askAbout(id: string): Promise<ChargeQueryAnswer>
  /** Cancels a charge. Where the bank cannot cancel, the charge ends by itself. @source rules#partner.10 */
  cancel(cashIn: CashIn): Promise<CancelAnswer>
  /** Repeating the create request cannot create a second charge. @source failure-modes#CI-6 */
  isRepeatable(cashIn: CashIn): boolean
}

const BREAKER_OPEN = { kind: 'NOT_SENT', reason: 'the circuit breaker is open' } as const

const NO_QUERIES = { kind: 'NOT_SENT', reason: 'the bank has no charge queries' } as const

export function createChargeCalls(
  partner: ChargePartner & ChargeAvailability,
  isAskedFirst: IsAskedFirst = () => false,
): ChargeCalls {
  const { capabilities } = partner
  const canAsk = capabilities.has('query-charge')
  const canCancel = capabilities.has('cancel-charge')
  const ask = async (id: string, terms: ChargeTerms) => (canAsk ? partner.getCharge(id, terms) : NO_QUERIES)
  return {
    canAsk,
    canCancel,
    isSwept: capabilities.has('statement'),
    order: async (cashIn, nowMs, deadline) => {
      if (partner.allowedCharges() === 0) return BREAKER_OPEN
      const request = requestOf(cashIn, nowMs)
      if (canAsk && !request.isRepeated && isAskedFirst(cashIn.createdAt)) {
        const known = await partner.getCharge(cashIn.orderId, request, deadline)
        if (known.kind !== 'NOT_FOUND') return known
      }
      return partner.createCharge(cashIn.orderId, request, deadline)
    },
    ask: (cashIn) => ask(cashIn.orderId, termsOf(cashIn)),
    askAbout: (id) => ask(id, { valueCents: 0n, expiresAt: 0 }),
    cancel: async ({ orderId }) => (canCancel ? partner.cancelCharge(orderId) : { kind: 'CANCELLED' }),
    isRepeatable: ({ facts }) => capabilities.has('idempotent-charge') || facts.unsent === 'claimed',
  }
}

function termsOf({ valueCents, expiresAt, createdAt, facts: { stampOffsetMs } }: CashIn): ChargeTerms {
  return { valueCents, expiresAt: expiresAt ?? createdAt, ...(stampOffsetMs !== undefined && { stampOffsetMs }) }
}

function requestOf(cashIn: CashIn, askedAt: number): ChargeRequest {
  const { description, payer, merchant } = cashIn.detail
  const { lastAttemptAt, unsent } = cashIn.facts
  return {
    ...termsOf(cashIn),
    askedAt,
    isRepeated: lastAttemptAt !== undefined && unsent !== 'claimed',
    merchant,
    ...(description === null ? {} : { description }),
    ...(payer === null ? {} : { payer: { name: payer.fullName, document: payer.document } }),
  }
}

export interface CreditTerms {
  /** Payments of at least this value are queried before booking, centavos; always 0 in production. */
  readonly verifyFromCents: bigint
}

interface EventApplierOptions {
  readonly commands: Pick<CashInCommands, 'apply'>
  readonly jobs: Pick<CashInJobs, 'askNow'>
  readonly credits: CreditTerms
  readonly clock: Clock
  readonly logger: Logger
  readonly canAsk: boolean
}

/**
 * Applies inputs reported by events only, and queries the bank at once where verification is required.
 * @source rules#cash-in.credits, rules#cash-in.work.5
 */
export function createEventApplier({ commands, jobs, credits, clock, logger, ...options }: EventApplierOptions) {
  const asking = new Set<Promise<void>>()

  async function applied(id: string, input: CashInInput): Promise<CashInOutcome | undefined> {
    if (input.on !== 'partner.confirmed' || !options.canAsk) return commands.apply(id, input)
    const unverified = input.payment.valueCents >= credits.verifyFromCents ? 'query' : 'book'
    return commands.apply(id, { ...input, unverified })
  }

  /** After a failure or crash a worker finds the query due. */
  function ask(cashIn: CashIn): void {
    const query = jobs
      .askNow(cashIn)
      .catch((error) =>
        logger.warn(
          { event: 'charge.query_failed', error: String(error) },
          'Status query failed; a worker retries it.',
        ),
      )
      .finally(() => asking.delete(query))
    asking.add(query)
  }

  return {
    apply: applyAndAsk,
    /** Resolves when no background status query is in flight. */
    drained: async (): Promise<void> => {
      while (asking.size > 0) await Promise.all(asking)
    },
  }

  async function applyAndAsk(id: string, input: CashInInput): Promise<CashInOutcome | undefined> {
    const outcome = await applied(id, input)
    const { facts, dueAt } = outcome?.cashIn ?? {}
    if (outcome?.result === 'APPLIED' && facts?.isQuestionWanted && dueAt != null && dueAt <= clock.now()) {
      ask(outcome.cashIn)
    }
    // The bank reports changes of an attributed payment on its original charge.
    if (input.on === 'work.requested' && facts?.receivedFrom !== undefined) await applyAndAsk(facts.receivedFrom, input)
    return outcome
  }
}
