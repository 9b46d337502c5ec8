import { limits } from '@pixgate/spec'
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
import type { Clock } from '../platform/clock.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import type { Logger } from '../platform/log.ts'
import {
  answerEvidence,
  type CashIn,
  type CashInFacts,
  type CashInInput,
  type CashInOutcome,
  inputsOf,
  isKnownAtBank,
  isOver,
  type ReturnOfPayment,
  returnsIn,
} from './cash-in.ts'
import type { CashInCommands, CashInStore } from './commands.ts'
import { reportedPayments } from './facts.ts'
import { hasReturnStep, returnsInDoubt } from './returns.ts'

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

/** What is done about money of a payment that went back, where refunds are known. */
export interface ReturnsOfCashIns {
  /** Takes a return that the bank told when it was asked. @source rules#cash-in.returns.6 */
  take(cashIn: CashIn, returned: ReturnOfPayment): Promise<unknown>
  /** Does what is due about the returns in doubt of a cash-in. @source rules#cash-in.returns.4 */
  settle(cashIn: CashIn): Promise<unknown>
}

/** What work on a charge needs. */
export interface ChargeWorkOptions {
  readonly commands: CashInCommands
  readonly store: CashInStore
  readonly partner: ChargePartner & ChargeAvailability
  readonly clock: Clock
  readonly pause: Pause
  /** How long a create may take with the partner. */
  readonly createBudgetMs: number
  readonly returns: ReturnsOfCashIns
  /** By default no charge is. */
  readonly isAskedFirst?: IsAskedFirst
}

/** A claimed cash-in is nobody else's for this long: longer than any one step takes. */
const LEASE_MS = 60_000

/** Waits between tries within a create whose request never left; doubled each time. */
const FIRST_RETRY_MS = 100

/** What is known of a cash-in after an answer of the partner. */
interface Settled {
  /** The partner's word is known: nothing is to be asked again for want of it. */
  readonly isAnswered: boolean
  readonly hasOutcome: boolean
}

const SILENT: Settled = { isAnswered: false, hasOutcome: false }
const OPEN: Settled = { isAnswered: true, hasOutcome: false }
const OVER: Settled = { isAnswered: true, hasOutcome: true }

/** What the partner is asked about one charge, and what follows from its answers; every one is an input to the engine. */
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

  /** Asks for the charge of a new cash-in, within the request. @returns the cash-in as it then is */
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

  /** No attempt ever left. */
  async #notSent(cashIn: CashIn, reason: string): Promise<CashIn> {
    const taken = await this.#commands.apply(cashIn.id, { on: 'charge.not_sent', reason, isUnsent: true })
    return taken?.cashIn ?? cashIn
  }

  #remaining(deadline: number): AbortSignal {
    return AbortSignal.timeout(Math.max(0, deadline - this.#clock.now()))
  }

  /** Asks first, whatever is to be done: a charge may have been made, paid or ended without our knowing. */
  async work(cashIn: CashIn): Promise<void> {
    // Begun too late it would outlast its lease: it is due again when that is over.
    if (this.#clock.now() > (cashIn.dueAt ?? 0) - LEASE_MS / 2) return
    const answer = await this.#calls.ask(cashIn)
    const settled = await this.#settle(cashIn, answer)
    if (returnsInDoubt(cashIn).length > 0) await this.#settleReturns(cashIn.id)
    await this.#commands.apply(cashIn.id, { on: 'work.done', bankAnswer: answerEvidence(answer), ...settled })
  }

  /** What the bank's silence leaves open is looked at too. */
  async #settleReturns(id: string): Promise<void> {
    const now = await this.#options.store.get(id)
    if (now && hasReturnStep(now, this.#clock.now())) await this.#options.returns.settle(now)
  }

  async #settle(cashIn: CashIn, answer: ChargeQueryAnswer): Promise<Settled> {
    if (!this.#calls.canAsk) return this.#unasked(cashIn)
    if (answer.kind === 'NOT_FOUND') return this.#neverSeen(cashIn)
    if (isSilence(answer) && cashIn.facts.unsent === 'claimed') return this.#stillUnsent(cashIn, answer.reason)
    const { status } = await this.#applyAnswer(cashIn, answer)
    if (answer.kind === 'ACCEPTED' && (isOver(cashIn, this.#clock.now()) || status === 'FAILED'))
      return this.#withdraw(cashIn)
    // A contradiction that came too late to matter: it ends like any other.
    if (answer.kind === 'CONTRADICTED' && status === 'PENDING') return this.#withdraw(cashIn)
    return settledBy(answer)
  }

  /**
   * What a bank that cannot be asked has, ends with its time. Whether it has a charge only another order tells, where that
   * makes no second one.
   * @source rules#partner.10, failure-modes#PL-61
   */
  async #unasked(cashIn: CashIn): Promise<Settled> {
    // One that failed may be there all the same; of any other end, or contradiction, nothing more can be learned.
    if (!isWanted(cashIn)) return cashIn.status === 'FAILED' ? this.#withdraw(cashIn) : OVER
    const isPast = isOver(cashIn, this.#clock.now())
    if (isKnownAtBank(cashIn)) return isPast ? this.#withdraw(cashIn) : SILENT
    if (!isPast && isWanted(cashIn) && this.#calls.isRepeatable(cashIn)) return this.#order(cashIn)
    if (cashIn.facts.unsent === 'claimed') return this.#stillUnsent(cashIn, CANNOT_ASK.reason)
    await this.#applyAnswer(cashIn, CANNOT_ASK)
    return SILENT
  }

  /** Of what never left there is no doubt, whoever is silent. @source rules#cash-in.create.7 */
  async #stillUnsent(cashIn: CashIn, reason: string): Promise<Settled> {
    if (isOver(cashIn, this.#clock.now())) {
      await this.#commands.apply(cashIn.id, { on: 'clock.expired', isSwept: this.#calls.isSwept })
      return OVER
    }
    await this.#notSent(cashIn, reason)
    return SILENT
  }

  /**
   * The partner says it has no such charge. While there is time one that it never took is asked for, under the same id; one
   * that it did take is withdrawn once its time is over, as it may be there all the same.
   * @source rules#cash-in.states.15, failure-modes#EX-7
   */
  async #neverSeen(cashIn: CashIn): Promise<Settled> {
    const told = { on: 'charge.not_found', askedAt: cashIn.updatedAt, isSwept: this.#calls.isSwept } as const
    const after = (await this.#commands.apply(cashIn.id, told))?.cashIn ?? cashIn
    if (!isWanted(after)) return OPEN
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

  /** Cancels at the partner what is over here, before that is final, so that nobody pays it. */
  async #withdraw(cashIn: CashIn): Promise<Settled> {
    const answer = await this.#calls.cancel(cashIn)
    if (answer.kind === 'CANCELLED') {
      await this.#commands.apply(cashIn.id, { on: 'clock.expired', isSwept: this.#calls.isSwept })
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
    // Whoever cannot be asked why has said enough.
    if (!this.#calls.canAsk) return isWanted(cashIn) ? SILENT : OVER
    const paid = await this.#calls.ask(cashIn)
    if (paid.kind !== 'NOT_FOUND') await this.#applyAnswer(cashIn, paid)
    return paid.kind === 'FINAL' ? OVER : SILENT
  }

  /** Turns an answer of the partner into inputs, in the order in which they happened. */
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

  /** What the partner has under an id, as evidence. */
  async atPartner(id: string): Promise<Document> {
    return answerEvidence(await this.#calls.askAbout(id))
  }

  /** The partner's references that its answers told since this was last called. */
  drainNewReferences(): string[] {
    const references = [...this.#newReferences]
    this.#newReferences.clear()
    return references
  }
}

/** Whether a charge is still to be had: once something contradicts, an operator decides. */
function isWanted(cashIn: CashIn): boolean {
  const { status } = cashIn
  return status === 'PENDING' || status === 'PROVIDER_RESULT_UNKNOWN' || reasonOf(cashIn) === 'no_answer'
}

function isSilence(answer: ChargeQueryAnswer): answer is NotSent | Unknown {
  return answer.kind === 'NOT_SENT' || answer.kind === 'UNKNOWN'
}

/** Whether the partner said where the charge stands, and that it ended. */
function settledBy({ kind }: ChargeAnswer | ChargeQueryAnswer): Settled {
  if (kind === 'NOT_SENT' || kind === 'UNKNOWN') return SILENT
  return kind === 'ACCEPTED' || kind === 'NOT_FOUND' ? OPEN : OVER
}

/** The calls to the bank about charges, as far as it can do them. */
export interface ChargeCalls {
  readonly canAsk: boolean
  /** Late money is found in the bank's statement. */
  readonly isSwept: boolean
  /** Asks for a charge: one try; none while the bank is away. @source rules#cash-in.create.7 */
  order(cashIn: CashIn, nowMs: number, deadline?: AbortSignal): Promise<ChargeAnswer>
  /** Asks what there is. */
  ask(cashIn: CashIn): Promise<ChargeQueryAnswer>
  /** Asks what there is under an id of which no terms are known: whatever it is comes back as evidence. */
  askAbout(id: string): Promise<ChargeQueryAnswer>
  /** Cancels a charge. One that cannot be cancelled ends at the bank by itself. @source rules#partner.10 */
  cancel(cashIn: CashIn): Promise<CancelAnswer>
  /** Whether asking for a charge, once more, makes no second one. @source failure-modes#CI-6 */
  isRepeatable(cashIn: CashIn): boolean
}

/** The bank is not called while it is away. */
const BREAKER_OPEN = { kind: 'NOT_SENT', reason: 'the bank is away' } as const

/** The bank is never called for this. */
const CANNOT_ASK = { kind: 'NOT_SENT', reason: 'the bank cannot be asked about a charge' } as const

/** Makes the calls to a bank. */
export function createChargeCalls(
  partner: ChargePartner & ChargeAvailability,
  isAskedFirst: IsAskedFirst = () => false,
): ChargeCalls {
  const { capabilities } = partner
  const canAsk = capabilities.has('query-charge')
  const ask = async (id: string, terms: ChargeTerms) => (canAsk ? partner.getCharge(id, terms) : CANNOT_ASK)
  return {
    canAsk,
    isSwept: capabilities.has('statement'),
    order: async (cashIn, nowMs, deadline) => {
      if (partner.chargesWanted() === 0) return BREAKER_OPEN
      const request = requestOf(cashIn, nowMs)
      if (canAsk && !request.isRepeated && isAskedFirst(cashIn.createdAt)) {
        const known = await partner.getCharge(cashIn.orderId, request, deadline)
        if (known.kind !== 'NOT_FOUND') return known
      }
      return partner.createCharge(cashIn.orderId, request, deadline)
    },
    ask: (cashIn) => ask(cashIn.orderId, termsOf(cashIn)),
    askAbout: (id) => ask(id, { valueCents: 0n, expiresAt: 0 }),
    cancel: async ({ orderId }) =>
      capabilities.has('cancel-charge') ? partner.cancelCharge(orderId) : { kind: 'CANCELLED' },
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

/** What it means that the bank says it does not know a charge. Pure. */

/**
 * Facts after the bank said so. What it was asked before an attempt proves nothing about that attempt.
 * @param askedAt when the status query was claimed
 */
export function notFound(facts: CashInFacts, askedAt: number): CashInFacts {
  if (askedAt < (facts.lastAttemptAt ?? 0)) return {}
  return { notFoundSince: facts.notFoundSince ?? askedAt, notFoundAt: askedAt }
}

/**
 * Whether, together with what the bank says now, it is proven that it has no such charge: said twice, a minute apart,
 * the last time five minutes after the last attempt began.
 * @source rules#cash-in.states.15, failure-modes#P6
 */
export function isProvenNotFound({ facts, createdAt }: CashIn, askedAt: number): boolean {
  const { notFoundSince, notFoundAt } = { ...facts, ...notFound(facts, askedAt) }
  if (notFoundSince == null || notFoundAt == null) return false
  const lastAttemptAt = facts.lastAttemptAt ?? createdAt + limits.abandonedIntentMs
  return (
    notFoundAt - notFoundSince >= limits.notFoundApartMs && notFoundAt - lastAttemptAt >= limits.notFoundAfterAttemptMs
  )
}

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
