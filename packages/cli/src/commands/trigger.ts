import type { CashIn, CashOut, Cents, Pixgate, RefundIn } from '@pixgate/sdk'
import type { Command } from '../command.ts'
import { Failure, failureOf, usageError } from '../failure.ts'

/** An operation of a story, and how it stands. */
export interface StoryOperation {
  readonly kind: 'cash_in' | 'cash_out' | 'refund_in'
  readonly id: string
  readonly status: string
}

export interface Story {
  readonly says: string
  readonly tell: (teller: Teller) => Promise<unknown>
}

const RECIPIENT = { pixKey: 'joao@example.com', pixKeyType: 'email', name: 'João Souza' }

/** A static code of the BR Code manual; the payer chooses the amount. */
const STATIC_CODE =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D'

const END_MS = 60_000
const LOOK_MS = 200

/** Tells a story: orders at Pixgate, and what the bank and the payer do at the sandbox's controls. */
export class Teller {
  readonly #pixgate: Pixgate
  readonly #ofProfile: string
  readonly #signal: AbortSignal
  readonly #say: (step: string) => void
  readonly operations: StoryOperation[] = []
  /** Command that finds the last order. */
  finds: string | undefined

  constructor(pixgate: Pixgate, profile: string | undefined, signal: AbortSignal, say: (step: string) => void) {
    this.#pixgate = pixgate
    this.#ofProfile = profile ? ` --profile ${profile}` : ''
    this.#signal = signal
    this.#say = say
  }

  #newReference(): string {
    const reference = newExternalId()
    this.finds = `pixgate find ${reference}${this.#ofProfile}`
    return reference
  }

  async charge(cents: number, description?: string): Promise<string> {
    this.#say(`A charge of R$ ${cents / 100}${description ? ` (${description})` : ''}`)
    const { id } = await this.#pixgate.cashIns.create({
      externalId: this.#newReference(),
      value: cents as Cents,
      ...(description && { description }),
    })
    await this.#becomes('cash_in', id)
    return id
  }

  async pay(id: string, cents?: number): Promise<void> {
    this.#say(cents === undefined ? 'The payer pays' : `The payer pays R$ ${cents / 100}`)
    const more = cents === undefined ? {} : { valueCents: cents as Cents }
    await this.#pixgate.sandbox.pay(id, { payerName: 'Maria da Silva', ...more })
  }

  async paid(cents: number, description?: string): Promise<string> {
    const id = await this.charge(cents, description)
    await this.pay(id)
    await this.#becomes('cash_in', id, 'PAID')
    return id
  }

  async paidWrongly(cents: number, paidCents: number): Promise<void> {
    const id = await this.charge(cents)
    await this.pay(id, paidCents)
    await this.#becomes('cash_in', id, 'RECONCILIATION_REQUIRED')
  }

  async ends(id: string, status: CashIn['status']): Promise<void> {
    await this.#becomes('cash_in', id, status)
  }

  async cancel(id: string): Promise<void> {
    this.#say('The charge is cancelled')
    await this.#pixgate.cashIns.cancel(id)
  }

  async fails(id: string): Promise<void> {
    this.#say('The bank removes the charge')
    await this.#pixgate.sandbox.failCashIn(id)
  }

  /** Money for what follows; no part of the story. */
  async fund(cents: number): Promise<void> {
    const [balance] = await this.#pixgate.balance.get()
    if (balance && Math.round(balance.amount * 100) >= cents) return
    this.#say(`R$ ${cents / 100} comes in, for what follows`)
    const { id } = await this.#pixgate.cashIns.create({
      externalId: this.#newReference(),
      value: (cents + 10_00) as Cents,
    })
    await this.#pixgate.sandbox.pay(id)
    await this.#pixgate.cashIns.waitForEnd(id, { signal: this.#signal })
  }

  async payout(cents: number, description?: string, status: CashOut['status'] = 'CONFIRMED'): Promise<string> {
    this.#say(`A payout of R$ ${cents / 100}${description ? ` (${description})` : ''}`)
    const { id } = await this.#pixgate.cashOuts.create({
      externalId: this.#newReference(),
      value: cents as Cents,
      recipient: RECIPIENT,
      ...(description && { description }),
    })
    await this.#becomes('cash_out', id, status)
    return id
  }

  async payCode(cents: number): Promise<void> {
    this.#say(`A Pix code is paid with R$ ${cents / 100}`)
    const order = { externalId: this.#newReference(), pixCode: STATIC_CODE, value: cents as Cents }
    const { id } = await this.#pixgate.cashOuts.createFromQrCode(order)
    await this.#becomes('cash_out', id, 'CONFIRMED')
  }

  /** At the bank, which waits. */
  async waitingPayout(cents: number): Promise<string> {
    const id = await this.payout(cents, 'bank:manual', 'DISPATCHED')
    await this.#until(async () => (await this.#pixgate.cashOuts.get(id)).transactionId !== null)
    return id
  }

  async settle(id: string, how: 'confirm' | 'fail'): Promise<void> {
    this.#say(how === 'confirm' ? 'It arrives' : 'The bank lets it fail')
    const { sandbox } = this.#pixgate
    await (how === 'confirm' ? sandbox.confirmCashOut(id) : sandbox.failCashOut(id))
    await this.#becomes('cash_out', id, how === 'confirm' ? 'CONFIRMED' : 'FAILED')
  }

  async sendBack(id: string, cents?: number): Promise<void> {
    this.#say('The recipient sends it back')
    await this.#pixgate.sandbox.reverseCashOut(id, cents === undefined ? {} : { valueCents: cents as Cents })
    await this.#until(async () => (await this.#pixgate.cashOuts.get(id)).reversedCents > 0)
    await this.#becomes('cash_out', id)
  }

  async refund(chargeId: string, cents: number, reason?: string, status: RefundIn['status'] = 'CONFIRMED') {
    this.#say(`A refund of R$ ${cents / 100}${reason ? ` (${reason})` : ''}`)
    const order = { externalId: this.#newReference(), refundValue: cents as Cents, ...(reason && { reason }) }
    const { id } = await this.#pixgate.refunds.create(chargeId, order)
    await this.#becomes('refund_in', id, status)
  }

  /** The bank takes a payment back, as after a fraud. */
  async takeBack(chargeId: string, cents: number): Promise<void> {
    this.#say(`The bank takes R$ ${cents / 100} back (MED)`)
    await this.#pixgate.sandbox.returnCashIn(chargeId, { valueCents: cents as Cents })
    const refunds = () => this.#pixgate.refunds.list({ cash_in_id: chargeId }).page()
    await this.#until(async () => (await refunds()).data.length > 0)
    for (const { id } of (await refunds()).data) await this.#becomes('refund_in', id, 'CONFIRMED')
  }

  /** @throws unless the order is refused with this code */
  async refused(code: string, order: () => Promise<unknown>): Promise<void> {
    const error = await order().then(
      () => undefined,
      (refusal: { readonly code?: string; readonly existing?: { readonly id: string } }) => refusal,
    )
    if (error?.code !== code) throw error ?? new Failure('it was not refused', { exit: 'refused', code: 'not_refused' })
    this.#say(`It is refused: ${code}`)
  }

  async paidTwice(id: string): Promise<void> {
    await this.pay(id)
    await this.#until(async () => (await this.#pixgate.sandbox.book()).pendingEvents === 0)
    await this.#becomes('cash_in', id)
  }

  async #becomes(kind: StoryOperation['kind'], id: string, status?: string): Promise<void> {
    const { cashIns, cashOuts, refunds } = this.#pixgate
    const methods = { cash_in: cashIns, cash_out: cashOuts, refund_in: refunds }[kind]
    let last = ''
    await this.#until(async () => {
      last = (await methods.get(id, { signal: this.#signal })).status
      return status === undefined || last === status
    })
    const place = this.operations.findIndex((operation) => operation.id === id)
    const operation = { kind, id, status: last }
    if (place < 0) this.operations.push(operation)
    else this.operations[place] = operation
    this.#say(`  ${kind} ${id} is ${last}`)
  }

  async #until(holds: () => Promise<boolean>): Promise<void> {
    for (const until = Date.now() + END_MS; !(await holds()); ) {
      this.#signal.throwIfAborted()
      if (Date.now() > until)
        throw new Failure('the story did not end within a minute', {
          exit: 'outcomeUnknown',
          code: 'open',
          command: this.finds,
        })
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }
}

/** Tells a story. @returns its operations as they stand at its end */
async function tell(
  pixgate: Pixgate,
  profile: string | undefined,
  story: Story,
  signal: AbortSignal,
  say: (step: string) => void,
): Promise<readonly StoryOperation[]> {
  const teller = new Teller(pixgate, profile, signal, say)
  await story.tell(teller).catch((error: unknown) => {
    throw (signal.aborted ? undefined : failureOf(error, teller.finds)) ?? error
  })
  return teller.operations
}

/** Every story, by its name. What the bank does to one operation alone is a marker in its description. @source rules#cli.8 */
export const STORIES = {
  'cash-in.created': { says: 'a charge waits for its payer', tell: (t) => t.charge(150_00) },
  'cash-in.paid': { says: 'a charge is paid', tell: (t) => t.paid(150_00) },
  'cash-in.paid-by-itself': {
    says: 'a charge is paid without a command',
    tell: async (t) => t.ends(await t.charge(70_00, 'bank:pay'), 'PAID'),
  },
  'cash-in.overpaid': {
    says: 'the payer pays more than the charge: the rest waits for a decision',
    tell: (t) => t.paidWrongly(100_00, 150_00),
  },
  'cash-in.underpaid': {
    says: 'the payer pays less than the charge: it waits for a decision',
    tell: (t) => t.paidWrongly(100_00, 60_00),
  },
  'cash-in.paid-twice': {
    says: 'two payments of one charge: the second waits for a decision',
    tell: async (t) => t.paidTwice(await t.paid(80_00)),
  },
  'cash-in.cancelled': {
    says: 'an unpaid charge is cancelled',
    tell: async (t) => {
      const id = await t.charge(90_00)
      await t.cancel(id)
      await t.ends(id, 'FAILED')
    },
  },
  'cash-in.failed': {
    says: 'the bank removes a charge',
    tell: async (t) => {
      const id = await t.charge(55_00)
      await t.fails(id)
      await t.ends(id, 'FAILED')
    },
  },
  'cash-in.refused': {
    says: 'the bank refuses a charge',
    tell: (t) => t.refused('partner_refused', () => t.charge(45_00, 'bank:reject')),
  },
  'cash-in.event-twice': {
    says: 'the bank sends its event twice; you are notified once',
    tell: (t) => t.paid(35_00, 'bank:twice'),
  },
  'cash-in.event-late': {
    says: 'the event of the bank comes two seconds late',
    tell: (t) => t.paid(25_00, 'bank:late:2'),
  },
  'cash-in.med': {
    says: 'the bank takes a payment back after a fraud',
    tell: async (t) => t.takeBack(await t.paid(120_00), 120_00),
  },
  'cash-in.med-part': {
    says: 'the bank takes part of a payment back',
    tell: async (t) => t.takeBack(await t.paid(120_00), 50_00),
  },
  'cash-out.confirmed': { says: 'a payout arrives', tell: async (t) => funded(t, () => t.payout(30_00)) },
  'cash-out.qr-code': { says: 'a Pix code is paid', tell: async (t) => funded(t, () => t.payCode(12_50)) },
  'cash-out.waiting': {
    says: 'a payout waits at the bank',
    tell: async (t) => funded(t, () => t.waitingPayout(20_00)),
  },
  'cash-out.waited': {
    says: 'a payout waits at the bank, then arrives',
    tell: async (t) => funded(t, async () => t.settle(await t.waitingPayout(21_00), 'confirm')),
  },
  'cash-out.failed': {
    says: 'a payout fails: the account is closed (AC07)',
    tell: async (t) => funded(t, () => t.payout(30_00, 'bank:fail:AC07', 'FAILED')),
  },
  'cash-out.timed-out': {
    says: 'a payout fails: the bank of the recipient gave no answer (AB03)',
    tell: async (t) => funded(t, () => t.payout(31_00, 'bank:fail:AB03', 'FAILED')),
  },
  'cash-out.refused': {
    says: 'the bank refuses a payout',
    tell: async (t) => funded(t, () => t.payout(32_00, 'bank:reject', 'FAILED')),
  },
  'cash-out.lost-answer': {
    says: 'the bank executes a payout and its answer is lost',
    tell: async (t) => funded(t, () => t.payout(33_00, 'bank:lost-response')),
  },
  'cash-out.reversed': {
    says: 'a payout arrives and comes back',
    tell: async (t) => funded(t, async () => t.sendBack(await t.payout(34_00))),
  },
  'cash-out.reversed-part': {
    says: 'part of a payout comes back',
    tell: async (t) => funded(t, async () => t.sendBack(await t.payout(36_00), 10_00)),
  },
  'cash-out.no-balance': {
    says: 'a payout above the balance is refused',
    tell: (t) => t.refused('insufficient_balance', () => t.payout(900_000_00)),
  },
  'refund.confirmed': {
    says: 'a charge is refunded',
    tell: async (t) => t.refund(await t.paid(90_00), 90_00),
  },
  'refund.part': { says: 'part of a charge is refunded', tell: async (t) => t.refund(await t.paid(90_00), 40_00) },
  'refund.failed': {
    says: 'a refund fails',
    tell: async (t) => t.refund(await t.paid(60_00), 60_00, 'bank:fail:AC07', 'FAILED'),
  },
  'refund.refused': {
    says: 'the bank refuses a refund',
    tell: async (t) => t.refund(await t.paid(61_00), 61_00, 'bank:reject', 'FAILED'),
  },
  'refund.lost-answer': {
    says: 'the bank executes a refund and its answer is lost',
    tell: async (t) => t.refund(await t.paid(62_00), 62_00, 'bank:lost-response'),
  },
} as const satisfies Readonly<Record<string, Story>>

async function funded(teller: Teller, story: () => Promise<unknown>): Promise<void> {
  await teller.fund(100_00)
  await story()
}

function newExternalId(): string {
  return `story-${crypto.randomUUID().slice(0, 12)}`
}

export const triggerCommands: readonly Command[] = [
  {
    name: 'trigger list',
    says: 'list the stories of trigger',
    examples: ['pixgate trigger list', 'pixgate trigger list --json'],
    run: async (_, { out }) => out.show(listed(), ['story', 'says']),
  },
  {
    name: 'trigger',
    says: 'make a story happen in the sandbox: real operations at the simulated bank',
    more: ['Its events are in the feed and at your endpoints. Money that a story needs is paid in first.'],
    arguments: [{ name: 'STORY', says: 'as trigger list names them' }],
    examples: ['pixgate trigger cash-in.paid', 'pixgate trigger cash-out.failed --json'],
    run: async (input, context) => {
      const name = input.word(0)
      const story: Story | undefined = Object.hasOwn(STORIES, name) ? STORIES[name as keyof typeof STORIES] : undefined
      if (!story) throw usageError('there is no such story', 'See: pixgate trigger list')
      if (/^pix_live_/.test(context.settings.apiKey ?? ''))
        throw new Failure('stories happen in a sandbox only', { exit: 'notAllowed', code: 'sandbox_only' })
      const pixgate = await context.merchant()
      const steps = await tell(pixgate, input.text('profile'), story, context.signal, (step) => context.out.say(step))
      const ids = steps.map(({ id }) => id)
      if (context.out.isJson) context.out.show({ story: name, operations: steps })
      else context.out.say(`Done: ${ids.join(' ')}`)
    },
  },
]

function listed() {
  return Object.entries(STORIES).map(([story, { says }]) => ({ story, says }))
}
