import pLimit from 'p-limit'
import type { EventQueryBudget } from '../banks/event-query-budget.ts'
import type {
  ChargeAnswer,
  ChargeAvailability,
  ChargePartner,
  ChargeQueryAnswer,
  NotSent,
  Unknown,
} from '../banks/port.ts'
import type { Document } from '../engine/operation.ts'
import { reasonOf } from '../engine/reason.ts'
import type { Clock } from '../platform/clock.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import { BREAKER_OPEN, CANNOT_ASK, createChargeCalls } from './calls.ts'
import { type CashIn, isKnownAtBank, isOver } from './cash-in.ts'
import type { CashInCommands } from './commands.ts'
import { answerEvidence, inputsOf, type ReturnOfPayment, returnsIn } from './inputs.ts'
import { awaitsReturns, hasReturnStep } from './returns.ts'
import type { CashInStore } from './store.ts'

/**
 * What talks to the partner about charges: within a create, and afterwards whenever work is due. Nothing here holds a
 * transaction; every answer is another input to the engine.
 * @source rules#partner.2
 */
export interface CashInJobs {
  /**
   * Asks the partner for the charge of a new cash-in, within the request.
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
}

/** What is done about money of a payment that went back, where refunds are known. */
export interface ReturnsOfCashIns {
  /** Takes a return that the bank told when it was asked. @source rules#cash-in.returns.6 */
  take(cashIn: CashIn, returned: ReturnOfPayment): Promise<unknown>
  /** Does what is due about the returns that a cash-in awaits. @source rules#cash-in.returns.4 */
  settle(cashIn: CashIn): Promise<unknown>
}

/** What the jobs need. */
export interface CashInJobsOptions {
  readonly commands: CashInCommands
  readonly store: CashInStore
  readonly partner: ChargePartner & ChargeAvailability
  readonly clock: Clock
  readonly pause: Pause
  /** How long a create may take with the partner. */
  readonly createBudgetMs: number
  readonly returns: ReturnsOfCashIns
  readonly eventQueries: EventQueryBudget
}

/** A claimed cash-in is nobody else's for this long: longer than any one step takes. */
const LEASE_MS = 60_000

/** Cash-ins claimed together. @source rules#cash-in.work.2 */
const BATCH = 500

/** Questions to the partner at the same time. */
const CONCURRENT = 32

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

/** Makes the jobs. */
export function createCashInJobs(options: CashInJobsOptions): CashInJobs {
  const { commands, store, partner, clock, pause, eventQueries, returns } = options
  const limit = pLimit(CONCURRENT)
  const newReferences = new Set<string>()
  const calls = createChargeCalls(partner)
  const { isSwept } = calls

  async function requestCharge(cashIn: CashIn): Promise<CashIn> {
    const deadline = clock.now() + options.createBudgetMs
    let wait = FIRST_RETRY_MS
    let answer = await calls.order(cashIn, remaining(deadline))
    while (answer.kind === 'NOT_SENT' && answer !== BREAKER_OPEN && clock.now() + wait < deadline) {
      await pause.for(wait)
      wait *= 2
      answer = await calls.order(cashIn, remaining(deadline))
    }
    return answer.kind === 'NOT_SENT' ? notSent(cashIn, answer.reason) : applyAnswer(cashIn, answer)
  }

  /** No attempt ever left. */
  async function notSent(cashIn: CashIn, reason: string): Promise<CashIn> {
    const taken = await commands.apply(cashIn.id, { on: 'charge.not_sent', reason, isUnsent: true })
    return taken?.cashIn ?? cashIn
  }

  function remaining(deadline: number): AbortSignal {
    return AbortSignal.timeout(Math.max(0, deadline - clock.now()))
  }

  async function processNext(): Promise<boolean> {
    const due = await store.due(clock.now(), BATCH)
    // Together, so that the engine writes them in as few batches as it can.
    const claims = await Promise.all(workable(due, options).map(({ id }) => claim(id)))
    const claimed = claims.filter((cashIn) => cashIn !== undefined)
    await Promise.all(claimed.map((cashIn) => limit(() => work(cashIn))))
    return due.length === BATCH && claimed.length > 0
  }

  async function claim(id: string): Promise<CashIn | undefined> {
    const claimed = await commands.apply(id, { on: 'work.claimed', leaseMs: LEASE_MS })
    return claimed?.result === 'APPLIED' ? claimed.cashIn : undefined
  }

  async function askNow({ id }: CashIn): Promise<void> {
    if (eventQueries.take(1, clock.now()) === 0) return
    // Claimed in its turn, so that no lease runs while it waits.
    await limit(async () => {
      const claimed = await claim(id)
      if (claimed) await work(claimed)
    })
  }

  /** Asks first, whatever is to be done: a charge may have been made, paid or ended without our knowing. */
  async function work(cashIn: CashIn): Promise<void> {
    // Begun too late it would outlast its lease: it is due again when that is over.
    if (clock.now() > (cashIn.dueAt ?? 0) - LEASE_MS / 2) return
    const answer = await calls.ask(cashIn)
    const settled = await settle(cashIn, answer)
    if (awaitsReturns(cashIn)) await settleReturns(cashIn.id)
    await commands.apply(cashIn.id, { on: 'work.done', bankAnswer: answerEvidence(answer), ...settled })
  }

  /** What the bank's silence leaves open is looked at too. */
  async function settleReturns(id: string): Promise<void> {
    const now = await store.get(id)
    if (now && hasReturnStep(now, clock.now())) await returns.settle(now)
  }

  async function settle(cashIn: CashIn, answer: ChargeQueryAnswer): Promise<Settled> {
    if (!calls.canAsk) return unasked(cashIn)
    if (answer.kind === 'NOT_FOUND') return neverSeen(cashIn)
    if (isSilence(answer) && cashIn.facts.unsent === 'claimed') return stillUnsent(cashIn, answer.reason)
    const { status } = await applyAnswer(cashIn, answer)
    if (answer.kind === 'ACCEPTED' && (isOver(cashIn, clock.now()) || status === 'FAILED')) return withdraw(cashIn)
    // A contradiction that came too late to matter: it ends like any other.
    if (answer.kind === 'CONTRADICTED' && status === 'PENDING') return withdraw(cashIn)
    return settledBy(answer)
  }

  /**
   * What a bank that cannot be asked has, ends with its time. Whether it has a charge only another order tells, where that
   * makes no second one.
   * @source rules#partner.10, failure-modes#PL-61
   */
  async function unasked(cashIn: CashIn): Promise<Settled> {
    const isPast = isOver(cashIn, clock.now())
    if (isKnownAtBank(cashIn)) return isPast ? withdraw(cashIn) : SILENT
    if (!isPast && isWanted(cashIn) && calls.isRepeatable(cashIn)) return order(cashIn)
    if (cashIn.facts.unsent === 'claimed') return stillUnsent(cashIn, CANNOT_ASK.reason)
    await applyAnswer(cashIn, CANNOT_ASK)
    return SILENT
  }

  /** Of what never left there is no doubt, whoever is silent. @source rules#cash-in.create.7 */
  async function stillUnsent(cashIn: CashIn, reason: string): Promise<Settled> {
    if (isOver(cashIn, clock.now())) {
      await commands.apply(cashIn.id, { on: 'clock.expired', isSwept })
      return OVER
    }
    await notSent(cashIn, reason)
    return SILENT
  }

  /**
   * The partner says it has no such charge. While there is time one that it never took is asked for, under the same id; one
   * that it did take is withdrawn once its time is over, as it may be there all the same.
   * @source rules#cash-in.states.15, failure-modes#EX-7
   */
  async function neverSeen(cashIn: CashIn): Promise<Settled> {
    const told = { on: 'charge.not_found', askedAt: cashIn.updatedAt, isSwept } as const
    const after = (await commands.apply(cashIn.id, told))?.cashIn ?? cashIn
    if (!isWanted(after)) return OPEN
    if (!isKnownAtBank(after)) return calls.isRepeatable(cashIn) ? order(cashIn) : OPEN
    if (isOver(after, clock.now())) await calls.cancel(cashIn)
    return OPEN
  }

  async function order(cashIn: CashIn): Promise<Settled> {
    const answer = await calls.order(cashIn)
    if (answer.kind === 'NOT_SENT' && cashIn.facts.unsent === 'claimed') await notSent(cashIn, answer.reason)
    else await applyAnswer(cashIn, answer)
    return settledBy(answer)
  }

  /** Cancels at the partner what is over here, before that is final, so that nobody pays it. */
  async function withdraw(cashIn: CashIn): Promise<Settled> {
    const answer = await calls.cancel(cashIn)
    if (answer.kind === 'CANCELLED') {
      await commands.apply(cashIn.id, { on: 'clock.expired', isSwept })
      return OVER
    }
    if (answer.kind === 'NOT_FOUND') {
      await commands.apply(cashIn.id, { on: 'charge.not_found', askedAt: cashIn.updatedAt, isSwept })
      return OPEN
    }
    if (answer.kind !== 'REJECTED') return SILENT
    const paid = await calls.ask(cashIn)
    if (paid.kind !== 'NOT_FOUND') await applyAnswer(cashIn, paid)
    return paid.kind === 'FINAL' ? OVER : SILENT
  }

  /** Turns an answer of the partner into inputs, in the order in which they happened. */
  async function applyAnswer(
    cashIn: CashIn,
    answer: Exclude<ChargeAnswer | ChargeQueryAnswer, { kind: 'NOT_FOUND' }>,
  ): Promise<CashIn> {
    let after = cashIn
    for (const input of inputsOf(cashIn, answer, { now: clock.now(), isSwept })) {
      after = (await commands.apply(cashIn.id, input))?.cashIn ?? after
    }
    for (const returned of returnsIn(after, answer)) await returns.take(after, returned)
    if (cashIn.transactionId === null && after.transactionId !== null) newReferences.add(after.transactionId)
    if (reasonOf(after) === 'conflict' && after.transactionId === null) await calls.cancel(cashIn)
    return after
  }

  return {
    requestCharge,
    processNext,
    askNow,
    atPartner: async (id) => answerEvidence(await limit(() => calls.askAbout(id))),
    drainNewReferences: () => {
      const references = [...newReferences]
      newReferences.clear()
      return references
    },
  }
}

/**
 * What may be claimed now: of those that events asked about as many as their budget has, and of those that only wait to be
 * made as many as the bank takes.
 */
function workable(due: readonly CashIn[], { partner, eventQueries, clock }: CashInJobsOptions): readonly CashIn[] {
  const nowMs = clock.now()
  const asked = due.filter(({ facts }) => facts.eventQueries != null)
  const unmade = due.filter((cashIn) => isUnmade(cashIn, nowMs) && !asked.includes(cashIn))
  const others = due.filter((cashIn) => !asked.includes(cashIn) && !unmade.includes(cashIn))
  return [
    ...others,
    ...unmade.slice(0, Math.min(partner.chargesWanted(), unmade.length)),
    ...asked.slice(0, eventQueries.take(asked.length, nowMs)),
  ]
}

/** Nothing of it is known to have reached the bank, and it can still be made. */
function isUnmade(cashIn: CashIn, nowMs: number): boolean {
  return cashIn.status === 'PENDING' && !isKnownAtBank(cashIn) && !isOver(cashIn, nowMs)
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
