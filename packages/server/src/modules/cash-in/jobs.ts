import { parseBrCode } from '@pixgate/brcode'
import type { Document } from '../../engine/operation.ts'
import type {
  Charge,
  ChargeAnswer,
  ChargePartner,
  ChargeQueryAnswer,
  ChargeRequest,
  PaymentReturn,
} from '../../partner/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Pause } from '../../platform/jobs/pause.ts'
import { own } from '../../platform/own.ts'
import type { CashIn, CashInInput } from './cash-in.ts'
import type { CashInCommands } from './commands.ts'
import { awaitsReturns, hasReturnStep } from './returns.ts'
import type { CashInStore } from './store.ts'
import { createTurns } from './turns.ts'

/**
 * What talks to the partner about charges: within a create, and afterwards whenever work is due. Nothing here holds a
 * transaction; every answer is another input to the engine.
 * @source rules#partner.2
 */
export interface CashInJobs {
  /**
   * Asks the partner for the charge of a new cash-in, within the request.
   * @returns the cash-in as it then is
   * @source rules#cash-in.create.5
   */
  requestCharge(cashIn: CashIn): Promise<CashIn>
  /**
   * Claims what is due and does it.
   * @returns whether more may be due right away
   * @source rules#cash-in.work, failure-modes#EX-5
   */
  processNext(): Promise<boolean>
  /** What the partner has under an id that is no cash-in's, as evidence. @source failure-modes#EV-7 */
  atPartner(id: string): Promise<Document>
  /** The partner's references that its answers told since this was last called. @source failure-modes#EV-7 */
  takeNewReferences(): string[]
}

/** What is done about money of a payment that went back, where refunds are known. */
export interface ReturnsOfCashIns {
  /** Takes a return that the bank told when it was asked. @source rules#cash-in.returns.6 */
  take(cashIn: CashIn, returned: PaymentReturn): Promise<unknown>
  /** Does what is due about the returns that a cash-in awaits. @source rules#cash-in.returns.4 */
  settle(cashIn: CashIn): Promise<unknown>
}

/** What the jobs need. */
export interface CashInJobsOptions {
  readonly commands: CashInCommands
  readonly store: CashInStore
  readonly partner: ChargePartner
  readonly clock: Clock
  readonly pause: Pause
  /** How long a create may take with the partner. */
  readonly createBudgetMs: number
  readonly returns: ReturnsOfCashIns
}

/** A claimed cash-in is nobody else's for this long: longer than any one step takes, and the wait between questions. */
const LEASE_MS = 60_000

/** Cash-ins claimed together. */
const BATCH = 500

/** Questions to the partner at the same time. */
const CONCURRENT = 32

/** Waits between tries within a create whose request never left; doubled each time. */
const FIRST_RETRY_MS = 100

/** Makes the jobs. */
export function createCashInJobs(options: CashInJobsOptions): CashInJobs {
  const { commands, store, partner, clock, pause, returns } = options
  const inTurn = createTurns(CONCURRENT)
  const newReferences = new Set<string>()

  async function requestCharge(cashIn: CashIn): Promise<CashIn> {
    const deadline = clock.now() + options.createBudgetMs
    let wait = FIRST_RETRY_MS
    let answer = await partner.createCharge(cashIn.id, chargeRequest(cashIn), remaining(deadline))
    while (answer.kind === 'NOT_SENT' && clock.now() + wait < deadline) {
      await pause.for(wait)
      wait *= 2
      answer = await partner.createCharge(cashIn.id, chargeRequest(cashIn), remaining(deadline))
    }
    return take(cashIn, answer)
  }

  function remaining(deadline: number): AbortSignal {
    return AbortSignal.timeout(Math.max(0, deadline - clock.now()))
  }

  async function processNext(): Promise<boolean> {
    const due = await store.due(clock.now(), BATCH)
    // Together, so that the engine writes them in as few batches as it can.
    const claims = await Promise.all(due.map(({ id }) => commands.apply(id, { on: 'work.claimed', leaseMs: LEASE_MS })))
    const claimed = claims.flatMap((claim) => (claim?.result === 'APPLIED' ? [claim.cashIn] : []))
    await Promise.all(claimed.map((cashIn) => inTurn(() => work(cashIn))))
    return due.length === BATCH
  }

  /** Asks first, whatever is to be done: a charge may have been made, paid or ended without our knowing. */
  async function work(cashIn: CashIn): Promise<void> {
    // Begun too late it would outlast its lease: it is due again when that is over.
    if (clock.now() > (cashIn.dueAt ?? 0) - LEASE_MS / 2) return
    const answer = await partner.getCharge(cashIn.id, terms(cashIn))
    const isSettled = await settle(cashIn, answer)
    if (awaitsReturns(cashIn)) await settleReturns(cashIn.id)
    // Without the partner's word the question stays: it is asked again when the lease is over.
    if (isSettled) {
      await commands.apply(cashIn.id, { on: 'work.done', bankAnswer: evidenceOf(answer) })
    }
  }

  /** What the bank's silence leaves open is looked at too. */
  async function settleReturns(id: string): Promise<void> {
    const now = await store.get(id)
    if (now && hasReturnStep(now, clock.now())) await returns.settle(now)
  }

  /** @returns whether the partner's word is known */
  async function settle(cashIn: CashIn, answer: ChargeQueryAnswer): Promise<boolean> {
    if (answer.kind === 'NOT_FOUND') return neverSeen(cashIn)
    const { status } = await take(cashIn, answer)
    if (answer.kind === 'ACCEPTED' && (isOver(cashIn) || status === 'FAILED')) return withdraw(cashIn)
    // A contradiction that came too late to matter: it ends like any other.
    if (answer.kind === 'CONTRADICTED' && status === 'PENDING') return withdraw(cashIn)
    return isAnswer(answer)
  }

  /** The partner has no such charge: while there is time it is asked for, under the same id; afterwards it expired. */
  async function neverSeen(cashIn: CashIn): Promise<boolean> {
    if (!isWanted(cashIn)) return true
    if (isOver(cashIn)) {
      await commands.apply(cashIn.id, { on: 'clock.expired' })
    } else if (isCharged(cashIn)) {
      await commands.apply(cashIn.id, { on: 'charge.contradicted', reason: 'the partner no longer knows the charge' })
    } else if (partner.capabilities.has('idempotent-charge')) {
      const answer = await partner.createCharge(cashIn.id, chargeRequest(cashIn))
      await take(cashIn, answer)
      return isAnswer(answer)
    }
    return true
  }

  /** Cancels at the partner what is over here, before that is final, so that nobody pays it. */
  async function withdraw(cashIn: CashIn): Promise<boolean> {
    const answer = await partner.cancelCharge(cashIn.id)
    if (answer.kind === 'CANCELLED' || answer.kind === 'NOT_FOUND') {
      await commands.apply(cashIn.id, { on: 'clock.expired' })
      return true
    }
    if (answer.kind !== 'REJECTED') return false
    const paid = await partner.getCharge(cashIn.id, terms(cashIn))
    if (paid.kind !== 'NOT_FOUND') await take(cashIn, paid)
    return paid.kind === 'FINAL'
  }

  function isOver({ expiresAt }: CashIn): boolean {
    return expiresAt !== null && clock.now() > expiresAt
  }

  /** Turns an answer of the partner into inputs, in the order in which they happened. */
  async function take(
    cashIn: CashIn,
    answer: Exclude<ChargeAnswer | ChargeQueryAnswer, { kind: 'NOT_FOUND' }>,
  ): Promise<CashIn> {
    let after = cashIn
    for (const input of inputsOf(cashIn, answer, clock.now())) {
      after = (await commands.apply(cashIn.id, input))?.cashIn ?? after
    }
    for (const returned of returnsIn(after, answer)) await returns.take(after, returned)
    if (cashIn.transactionId === null && after.transactionId !== null) newReferences.add(after.transactionId)
    if (after.facts.doubt === 'contradiction' && after.transactionId === null) await partner.cancelCharge(cashIn.id)
    return after
  }

  return {
    requestCharge,
    processNext,
    // On no terms, as none are known: whatever charge there is comes back as evidence.
    atPartner: async (id) => evidenceOf(await inTurn(() => partner.getCharge(id, { valueCents: 0n, expiresAt: 0 }))),
    takeNewReferences: () => {
      const references = [...newReferences]
      newReferences.clear()
      return references
    },
  }
}

/** Whether a charge is still to be had: once something contradicts, an operator decides. */
function isWanted({ status, facts }: CashIn): boolean {
  return status === 'PENDING' || status === 'PROVIDER_RESULT_UNKNOWN' || facts.doubt === 'missing'
}

/** Whether the partner said where the charge stands. */
function isAnswer({ kind }: ChargeAnswer | ChargeQueryAnswer): boolean {
  return kind !== 'NOT_SENT' && kind !== 'UNKNOWN'
}

/**
 * What an answer of the partner means for a cash-in.
 * @source failure-modes#P5
 */
export function inputsOf(
  cashIn: CashIn,
  answer: Exclude<ChargeAnswer | ChargeQueryAnswer, { kind: 'NOT_FOUND' }>,
  now: number,
): CashInInput[] {
  switch (answer.kind) {
    case 'REJECTED':
      return [
        {
          on: 'charge.rejected',
          errorCode: answer.errorCode.slice(0, FAILURE_CODE_MAX),
          errorMessage: answer.errorMessage ?? null,
        },
      ]
    case 'NOT_SENT':
      return isCharged(cashIn) ? [] : [{ on: 'charge.not_sent', reason: answer.reason }]
    case 'UNKNOWN':
      return isCharged(cashIn) ? [] : [{ on: 'charge.unknown', reason: answer.reason }]
    case 'CONTRADICTED':
      return contradictionInputs(cashIn, answer.charge, answer.reason)
    case 'ACCEPTED':
      return chargeInputs(cashIn, answer.charge)
    case 'FINAL':
      return [...chargeInputs(cashIn, answer.charge), ...endInputs(cashIn, answer.charge, now)]
  }
}

/**
 * What an answer tells of money that went back of the payment that was credited, and that was not booked. Another payment's
 * is no news of this one.
 * @source rules#cash-in.returns.6
 */
function returnsIn(
  { id, endToEndId, facts }: CashIn,
  answer: Exclude<ChargeAnswer | ChargeQueryAnswer, { kind: 'NOT_FOUND' }>,
): readonly PaymentReturn[] {
  if (!('charge' in answer) || answer.charge.id !== id) return []
  const told = answer.charge.payments.filter((payment) => payment.endToEndId === endToEndId)
  return told
    .flatMap((payment) => payment.returns ?? [])
    .filter(({ returnId, valueCents }) => own(facts.returns, returnId) !== Number(valueCents))
}

/** What the partner answered, for the person who decides: without names and documents. */
function evidenceOf(answer: ChargeQueryAnswer): Document {
  if (!('charge' in answer)) return { ...answer }
  const { transactionId, status, valueCents, expiresAt, payments } = answer.charge
  return {
    transactionId,
    status,
    valueCents: Number(valueCents),
    expiresAt,
    payments: payments.map(({ endToEndId, valueCents, occurredAt, returns }) => ({
      endToEndId,
      valueCents: Number(valueCents),
      occurredAt,
      ...(returns && {
        returns: returns.map((returned) => ({ ...returned, valueCents: Number(returned.valueCents) })),
      }),
    })),
  }
}

/** What the detail shows of a bank's code at most. */
const FAILURE_CODE_MAX = 64

/** A question that failed says nothing about a charge that is known to exist. */
function isCharged({ facts }: CashIn): boolean {
  return facts.pixCode !== undefined
}

function chargeInputs(cashIn: CashIn, charge: Charge): CashInInput[] {
  const { transactionId, pixCode, payments } = charge
  if (!isBrCode(pixCode)) return contradictionInputs(cashIn, charge, 'pixCode is not a valid BR Code')
  return [
    { on: 'charge.accepted', transactionId, pixCode },
    ...payments.map((payment) => ({ on: 'partner.confirmed', payment, transactionId }) as const),
  ]
}

/**
 * Money that arrived counts, whatever else the answer says; that of another charge is not this one's.
 * @source rules#cash-in.states.12, failure-modes#P7
 */
function contradictionInputs(cashIn: CashIn, { id, transactionId, payments }: Charge, reason: string): CashInInput[] {
  const ours = id === cashIn.id ? payments : []
  return [
    { on: 'charge.contradicted', reason },
    ...ours.map((payment) => ({ on: 'partner.confirmed', payment, transactionId, isContradicted: true }) as const),
  ]
}

function isBrCode(text: string): boolean {
  try {
    parseBrCode(text)
    return true
  } catch {
    return false
  }
}

/** A charge that ended unpaid: by our expiry, or, before it, by the partner. */
function endInputs(cashIn: CashIn, charge: Charge, now: number): CashInInput[] {
  const { status, payments } = charge
  if (payments.length > 0) return []
  const isOver = cashIn.expiresAt !== null && now > cashIn.expiresAt
  const expired: CashInInput[] = isOver ? [{ on: 'clock.expired' }] : []
  // A failure contradicts what was paid, also after its time; what was not paid has expired all the same.
  if (status === 'FAILED' || (status !== 'EXPIRED' && !isOver)) return [endedInput(charge), ...expired]
  // A partner whose clock is ahead of ours ends nothing: ours decides.
  return expired
}

function endedInput({ status, transactionId }: Charge): CashInInput {
  return {
    on: 'partner.failed',
    errorCode: `charge_${status.toLowerCase()}`,
    errorMessage: null,
    transactionId,
    occurredAt: null,
  }
}

function terms(cashIn: CashIn) {
  return { valueCents: cashIn.valueCents, expiresAt: cashIn.expiresAt ?? cashIn.createdAt }
}

function chargeRequest(cashIn: CashIn): ChargeRequest {
  const { description, payer, merchant } = cashIn.detail
  return {
    ...terms(cashIn),
    merchant,
    ...(description === null ? {} : { description }),
    ...(payer === null ? {} : { payer: { name: payer.fullName, document: payer.document } }),
  }
}
