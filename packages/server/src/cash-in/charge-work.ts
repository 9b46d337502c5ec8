import type {
  ChargeAnswer,
  ChargeAvailability,
  ChargePartner,
  ChargeQueryAnswer,
  NotSent,
  Unknown,
} from '../banks/port.ts'
import { reasonOf } from '../engine/follow.ts'
import type { Document } from '../engine/operation.ts'
import type { IsAskedFirst } from '../operations/first-order.ts'
import type { Clock } from '../platform/clock.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import { BREAKER_OPEN, CANNOT_ASK, type ChargeCalls, createChargeCalls } from './calls.ts'
import { type CashIn, isKnownAtBank, isOver } from './cash-in.ts'
import type { CashInCommands } from './commands.ts'
import { answerEvidence, inputsOf, type ReturnOfPayment, returnsIn } from './inputs.ts'
import { hasReturnStep, returnsInDoubt } from './returns.ts'
import type { CashInStore } from './store.ts'

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
export const LEASE_MS = 60_000

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
export class ChargeWork {
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
