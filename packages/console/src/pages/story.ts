import type { refundPayment, sandboxEndpoints, sandboxForOperators } from '@pixgate/spec'
import { useSyncExternalStore } from 'react'
import { call, client, type Operation, reads } from '../api.ts'
import type { Words } from '../words/words.tsx'

/**
 * Stories of the sandbox: real operations, ordered one after the other. Behaviour of the bank that only one operation
 * meets is a marker in its description. A story goes on while its teller looks at other pages.
 */

export type StoryName = keyof Words['sandbox']['stories']

export type StepName = keyof Words['sandbox']['steps']

/** An order of the story, or an act at the bank. */
interface Step {
  readonly name: StepName
  readonly cents: number
  readonly at: string
}

export interface Story {
  readonly name: StoryName
  readonly state: 'running' | 'ended' | 'failed'
  readonly steps: readonly Step[]
  /** Its operations. */
  readonly ids: readonly string[]
  /** The case whose proposal another person has to approve. */
  readonly approvalCaseId?: string | undefined
  readonly error?: unknown
}

const LOOK_MS = 300
const PACE_MS = 700

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

let story: Story | undefined
let current = new AbortController()
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useStory(): Story | undefined {
  return useSyncExternalStore(subscribe, () => story)
}

/** Tells a story; one that was under way is left where it is. */
export async function tell(name: StoryName): Promise<void> {
  current.abort()
  current = new AbortController()
  const { signal } = current
  const change = (more: Partial<Story>) => {
    if (signal.aborted || !story) return
    story = { ...story, ...more }
    for (const listener of listeners) listener()
  }
  story = { name, state: 'running', steps: [], ids: [] }
  change({})
  try {
    await STORIES[name](new Teller(change, signal))
    change({ state: 'ended' })
  } catch (error) {
    change({ state: 'failed', error })
  }
}

const PAYER = { fullName: 'Maria da Silva', document: '52998224725' }
const RECIPIENT = { pixKey: 'joao@example.com', pixKeyType: 'email', name: 'João Souza' }

type Tell = (teller: Teller) => Promise<unknown>

const STORIES: Readonly<Record<StoryName, Tell>> = {
  paid: async (teller) => {
    await teller.paid(150_00)
  },
  paidTwice: async (teller) => {
    const id = await teller.paid(80_00)
    await teller.pay('payAgain', id, 80_00)
    await teller.until(id, hasOpenCase)
  },
  overpaid: async (teller) => {
    const id = await teller.charge(100_00)
    await teller.pay('pay', id, 150_00)
    await teller.until(id, hasOpenCase)
  },
  payoutFails: async (teller) => {
    await teller.fund(50_00)
    const id = await teller.payout(30_00, 'bank:fail:AC07')
    await teller.until(id, isIn('FAILED'))
  },
  med: async (teller) => {
    const id = await teller.paid(120_00)
    await teller.takeBack(id, 120_00)
    await teller.untilRefunded(id)
  },
  lostAnswer: async (teller) => {
    await teller.fund(60_00)
    const id = await teller.payout(40_00, 'bank:lost-response')
    await teller.until(id, isIn('CONFIRMED'))
  },
  refund: async (teller) => {
    const id = await teller.paid(90_00)
    await teller.refund(id, 90_00)
    await teller.untilRefunded(id)
  },
}

const isIn =
  (status: string) =>
  (operation: Operation): boolean =>
    operation.status === status

const hasOpenCase = ({ cases }: Operation): boolean => cases.some(({ closedAt }) => closedAt === null)

class Teller {
  readonly #change: (more: Partial<Story>) => void
  readonly #signal: AbortSignal
  #steps: readonly Step[] = []
  #ids: readonly string[] = []

  constructor(change: (more: Partial<Story>) => void, signal: AbortSignal) {
    this.#change = change
    this.#signal = signal
  }

  /** A charge, paid by itself, that is no part of the story. */
  async fund(cents: number): Promise<void> {
    await this.#step('fund', cents)
    const id = await this.#createCharge(cents, 'bank:pay')
    await this.until(id, isIn('PAID'))
  }

  async charge(cents: number): Promise<string> {
    await this.#step('charge', cents)
    const id = await this.#createCharge(cents)
    this.#show(id)
    return id
  }

  async paid(cents: number): Promise<string> {
    const id = await this.charge(cents)
    await this.pay('pay', id, cents)
    await this.until(id, isIn('PAID'))
    return id
  }

  async pay(step: 'pay' | 'payAgain', id: string, valueCents: number): Promise<void> {
    await this.#step(step, valueCents)
    await this.#order<Controls['payCashIn']>(`/operator/sandbox/cash-in/${id}/pay`, { valueCents })
  }

  async takeBack(id: string, valueCents: number): Promise<void> {
    await this.#step('med', valueCents)
    await this.#order<Controls['returnCashIn']>(`/operator/sandbox/cash-in/${id}/return`, { valueCents })
  }

  async payout(cents: number, description: string): Promise<string> {
    await this.#step('payout', cents)
    const transaction = { value: cents / 100, externalId: newExternalId(), description }
    const { id } = await this.#order<Orders['createOperatorPayout']>('/operator/cash-outs', {
      transaction,
      recipient: RECIPIENT,
    })
    this.#show(id)
    return id
  }

  async refund(cashInId: string, valueCents: number): Promise<void> {
    await this.#step('refund', valueCents)
    const body = { cashInId, valueCents, reason: 'Sandbox' }
    const answer = await this.#order<typeof refundPayment>('/operator/refunds', body)
    if ('caseId' in answer) this.#change({ approvalCaseId: answer.caseId })
  }

  async untilRefunded(id: string): Promise<void> {
    const { related } = await this.until(id, ({ related }) => related.length > 0)
    const [refund] = related
    if (!refund) throw new Error('the refund is missing')
    this.#change({ approvalCaseId: undefined })
    this.#show(refund.id)
    await this.until(refund.id, isIn('CONFIRMED'))
  }

  async until(id: string, isSo: (operation: Operation) => boolean): Promise<Operation> {
    for (;;) {
      const operation = await client.fetchQuery({ ...reads.operation(id), staleTime: 0 })
      if (isSo(operation)) return operation
      await pause(LOOK_MS)
      this.#signal.throwIfAborted()
    }
  }

  async #createCharge(cents: number, description?: string): Promise<string> {
    const transaction = { value: cents / 100, externalId: newExternalId(), ...(description && { description }) }
    const { id } = await this.#order<Orders['createOperatorCharge']>('/operator/cash-ins', {
      transaction,
      payer: PAYER,
    })
    return id
  }

  /** Another story may have begun; then this one orders nothing more. */
  #order<E extends Ordered>(path: string, body: object) {
    this.#signal.throwIfAborted()
    return call<E>('POST', path, { body })
  }

  /** Pause between the steps of a story, so that one can follow it. */
  async #step(name: StepName, cents: number): Promise<void> {
    if (this.#steps.length > 0) await pause(PACE_MS)
    this.#signal.throwIfAborted()
    this.#steps = [...this.#steps, { name, cents, at: new Date().toISOString() }]
    this.#change({ steps: this.#steps })
  }

  #show(id: string): void {
    this.#ids = [...this.#ids, id]
    this.#change({ ids: this.#ids })
  }
}

type Controls = typeof sandboxEndpoints
type Orders = typeof sandboxForOperators
type Ordered = Controls['payCashIn'] | Controls['returnCashIn'] | Orders[keyof Orders] | typeof refundPayment

function newExternalId(): string {
  return `sandbox-${crypto.randomUUID().slice(0, 8)}`
}
