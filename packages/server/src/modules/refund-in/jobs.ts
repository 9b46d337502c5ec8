import type {
  Availability,
  Refund,
  RefundAnswer,
  RefundPartner,
  RefundQueryAnswer,
  RefundRequest,
  SettledRefund,
  ToldRefund,
} from '../../partner/port.ts'
import type { Clock } from '../../platform/clock.ts'
import {
  createDispatcher,
  type Dispatcher,
  failureInput,
  inputsWithoutOrder,
  inputWithoutOrder,
  type Orders,
} from '../dispatch/index.ts'
import type { RefundInCommands } from './commands.ts'
import type { RefundIn, RefundInInput } from './refund-in.ts'
import { nextStep } from './schedule.ts'
import type { RefundInStore } from './store.ts'

/** What the jobs need. */
export interface RefundInJobsOptions {
  readonly commands: RefundInCommands
  readonly store: RefundInStore
  readonly partner: RefundPartner & Availability
  readonly clock: Clock
}

/**
 * Makes what talks to the partner about refunds. The switch that suspends cash-outs does not stop it: what a merchant owes
 * a payer goes back.
 * @source rules#refund-in.work.4
 */
export function createRefundInJobs({ commands, store, partner, clock }: RefundInJobsOptions): Dispatcher {
  const maySendAgain = partner.capabilities.has('idempotent-refund')

  async function claim(refund: RefundIn, on: 'send.claimed' | 'work.claimed', leaseMs: number) {
    const claimed = await commands.apply(refund.id, [{ on, leaseMs }])
    return claimed?.result === 'APPLIED' ? claimed.refund : undefined
  }

  async function take({ id }: RefundIn, inputs: readonly RefundInInput[]): Promise<void> {
    await commands.apply(id, inputs)
  }

  function notSent(refund: RefundIn, reason: string): Promise<void> {
    return take(refund, [{ on: 'send.not_sent', attempt: refund.facts.attempts ?? 0, reason }])
  }

  const orders: Orders<RefundIn> = {
    due: store.due,
    nextStep,
    claimSending: (refund, leaseMs) => claim(refund, 'send.claimed', leaseMs),
    claimAsking: (refund, leaseMs) => claim(refund, 'work.claimed', leaseMs),
    release: (refund) => take(refund, [{ on: 'clock.released' }]),
    openCase: (refund) => take(refund, [{ on: 'clock.overdue' }]),
    notSent: (refund) => notSent(refund, 'the lease was over'),
    send: async (refund) => {
      const answer = await partner.sendRefund(refund.id, requestOf(refund))
      if (answer.kind === 'NOT_SENT') await notSent(refund, answer.reason)
      else await take(refund, inputsOfSending(refund.id, answer))
    },
    ask: async (refund) => {
      const answer = await partner.getRefund(refund.id, { valueCents: refund.valueCents })
      await take(refund, inputsOfAsking(refund.id, answer, maySendAgain))
    },
  }
  return createDispatcher(orders, clock, async () => partner.sendsWanted())
}

/**
 * What the answer to a refund that left means.
 * @param id ours
 * @source failure-modes#P5
 */
export function inputsOfSending(id: string, answer: Exclude<RefundAnswer, { kind: 'NOT_SENT' }>): RefundInInput[] {
  return isTold(answer) ? inputsOfRefund(id, answer) : [inputWithoutOrder(answer)]
}

/**
 * What the answer to a question means. A question that failed is none: it is asked again.
 * @param id ours
 */
export function inputsOfAsking(id: string, answer: RefundQueryAnswer, maySendAgain: boolean): RefundInInput[] {
  return isTold(answer)
    ? [...inputsOfRefund(id, answer), { on: 'work.done' }]
    : inputsWithoutOrder(answer, maySendAgain)
}

function isTold(answer: RefundAnswer | RefundQueryAnswer): answer is ToldRefund {
  return 'refund' in answer
}

function inputsOfRefund(id: string, answer: ToldRefund): RefundInInput[] {
  const { refund } = answer
  const { transactionId } = refund
  if (answer.kind === 'CONTRADICTED') {
    // Money of ours that left counts, whatever else the answer says; another refund's is not ours.
    if (isSettled(refund) && refund.id === id) return [confirmation(refund)]
    return [{ on: 'send.contradicted', reason: answer.reason }]
  }
  const accepted: RefundInInput = { on: 'send.accepted', transactionId }
  if (isSettled(refund)) return [accepted, confirmation(refund)]
  return [refund.status === 'FAILED' ? failureInput(refund) : accepted]
}

function isSettled(refund: Refund): refund is SettledRefund {
  return refund.status === 'CONFIRMED' && refund.returnId !== undefined && refund.occurredAt !== undefined
}

function confirmation({ transactionId, returnId, valueCents, occurredAt }: SettledRefund): RefundInInput {
  return { on: 'partner.confirmed', returned: { returnId, valueCents, occurredAt }, transactionId, isVerified: true }
}

function requestOf({ valueCents, endToEndId, detail }: RefundIn): RefundRequest {
  if (endToEndId === null) throw new Error('a refund is of a payment')
  return { endToEndId, valueCents, ...(detail.reason === null ? {} : { reason: detail.reason }) }
}
