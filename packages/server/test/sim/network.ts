import { buildStaticBrCode } from '@pixgate/brcode'
import { lacking } from '../../src/banks/bank.ts'
import type {
  Availability,
  ChargeAvailability,
  ChargeQueryAnswer,
  NotSent,
  Partner,
  PartnerCapability,
  Payment,
  PayoutQueryAnswer,
  QrCodeAvailability,
  RefundQueryAnswer,
  SendWindow,
  Unknown,
} from '../../src/banks/port.ts'
import type { Chance } from '../fuzz/chance.ts'
import type { Agenda } from './agenda.ts'
import type { Bank } from './bank.ts'
import type { BankCharge, BankOrder } from './bank-book.ts'
import type { Fault, Faults } from './faults.ts'
import type { AskLine, CallLine, Line } from './script.ts'

/** The way to the bank and back, as a process of ours has it: what gets lost on it, and what the bank answers. */

/** The bank as the modules call it. */
export type SimulatedPartner = Partner & Availability & ChargeAvailability & QrCodeAvailability

/** What a way to the bank is made with. */
export interface NetworkOptions {
  readonly bank: Bank
  readonly chance: Chance
  readonly faults: Faults
  readonly agenda: Agenda
  readonly capabilities: ReadonlySet<PartnerCapability>
  readonly windowMs: number
  readonly now: () => number
  readonly say: (sentence: string) => void
  readonly halt: (before: string) => Promise<void>
  /** What an episode has written about an operation. */
  readonly lineOf: (kind: string, id: string) => Line | undefined
  /** The process stands still with the answer to a call, where that is written. */
  readonly stand: (line: Line | undefined) => Promise<void>
  /** Whether no call comes through now; `undefined`: they do. */
  readonly outage: () => 'unsent' | 'request lost' | undefined
  /** Time goes by while a call waits. */
  readonly wait: (ms: number) => void
}

const PIX_CODE = buildStaticBrCode({
  pixKey: 'merchant@example.com',
  merchantName: 'M',
  merchantCity: 'SP',
  txid: 'SIM',
})
const UNSENT: NotSent = { kind: 'NOT_SENT', reason: 'ECONNREFUSED' }
const UNKNOWN: Unknown = { kind: 'UNKNOWN', reason: 'timeout', httpStatus: undefined }
/** What is late arrives within this; a bank for which longer is possible proves nothing by «not found». */
const LATE_MS = 220_000
const STALE_MS = 60_000

/** Makes the way of a process to the bank. */
export function createNetwork(options: NetworkOptions): SimulatedPartner {
  const calls = new Calls(options)
  return {
    ...lacking,
    capabilities: options.capabilities,
    idempotencyWindowMs: options.windowMs,
    createCharge: (id, request) => calls.createCharge(id, request),
    getCharge: (id, terms) => calls.getCharge(id, terms.valueCents),
    cancelCharge: (id) => calls.cancelCharge(id),
    sendPayout: (id, { valueCents }, window) =>
      calls.sendOrder({ kind: 'payout', id, valueCents, chargeId: '', paymentId: '' }, window),
    getPayout: (id, { valueCents }) => calls.getOrder('payout', id, valueCents) as Promise<PayoutQueryAnswer>,
    decodeQrCode: async () => UNSENT,
    sendRefund: (id, { valueCents, endToEndId }, window) => {
      const paid = [...options.bank.book.charges.values()].find(({ payments }) =>
        payments.some((payment) => payment.endToEndId === endToEndId),
      )
      return calls.sendOrder(
        { kind: 'refund', id, valueCents, chargeId: paid?.id ?? '', paymentId: endToEndId },
        window,
      )
    },
    getRefund: (id, { valueCents }) => calls.getOrder('refund', id, valueCents) as Promise<RefundQueryAnswer>,
    readStatement: async () => UNSENT,
    readBalance: async () => UNSENT,
    allowedSends: () => 128,
    allowedCharges: () => 128,
    allowedQrCodes: () => 0,
  } as SimulatedPartner
}

class Calls {
  readonly #options: NetworkOptions

  constructor(options: NetworkOptions) {
    this.#options = options
  }

  #cutOff(): NotSent | Unknown | undefined {
    const { faults, outage } = this.#options
    const cut = faults.isOn ? outage() : undefined
    if (cut) faults.note(cut)
    return cut && (cut === 'unsent' ? UNSENT : UNKNOWN)
  }

  /** It goes as it is written. @returns `undefined` where the bank gets it, and answers */
  #written(line: Line['call'] | Line['ask']): NotSent | Unknown | undefined {
    if (line !== 'unreachable' && line !== 'silent') return undefined
    this.#options.faults.note(line === 'silent' ? 'request lost' : 'unsent')
    return line === 'silent' ? UNKNOWN : UNSENT
  }

  /** The bank says what is not so, as it is written. */
  #tells(fault: Fault, id: string): void {
    this.#options.faults.note(fault)
    this.#options.bank.book.lies.add(id)
  }

  /** One call there and back. @param act what the bank does when it gets the call, and answers */
  async #call<Answer>(
    { kind, id }: { readonly kind: string; readonly id: string },
    act: (line?: Line['call']) => Answer,
    window?: SendWindow,
  ): Promise<Answer | NotSent | Unknown> {
    const { halt, faults, chance, agenda, bank, now, wait, lineOf, stand } = this.#options
    await halt('a call to the bank')
    const cut = this.#cutOff()
    if (cut) return cut
    const line = lineOf(kind, id)
    if (line?.call && !window?.isOver()) {
      const written = this.#written(line.call) ?? act(line.call)
      await stand(line)
      return written
    }
    if (window?.isOver() || faults.hit('unsent', 0.6)) return UNSENT
    if (faults.hit('request lost', 0.5)) return UNKNOWN
    if (faults.hit('request late', 0.3)) {
      const at = now() + chance.below(LATE_MS)
      bank.book.underWay.set(id, Math.max(at, bank.book.underWay.get(id) ?? 0))
      agenda.at(at, act)
      return UNKNOWN
    }
    const answer = act()
    await halt('the bank’s answer')
    if (faults.hit('answer lost', 0.5)) return UNKNOWN
    if (faults.hit('answer late', 0.6)) {
      wait(chance.below(7_000))
      await halt('the bank’s late answer')
    }
    return answer
  }

  /** Asking changes nothing at the bank: there is no late question. */
  async #ask<Answer>(
    { kind, id }: { readonly kind: string; readonly id: string },
    act: (line?: Line['ask']) => Answer,
  ): Promise<Answer | NotSent | Unknown> {
    const { halt, faults, lineOf, stand } = this.#options
    await halt('a question to the bank')
    const cut = this.#cutOff()
    if (cut) return cut
    const line = lineOf(kind, id)
    if (line?.ask) {
      const written = this.#written(line.ask) ?? act(line.ask)
      await stand(line)
      return written
    }
    if (faults.hit('unsent', 0.5)) return UNSENT
    if (faults.hit('request lost', 0.5)) return UNKNOWN
    const answer = act()
    await halt('the bank’s answer')
    return answer
  }

  createCharge(id: string, request: Parameters<Partner['createCharge']>[1]) {
    return this.#call({ kind: 'charge', id }, (line) => {
      const { bank, chance } = this.#options
      const { valueCents, expiresAt } = request
      if (line === 'refuses') return { kind: 'REJECTED', errorCode: 'invalid', errorMessage: undefined } as const
      if (line === 'refuses falsely') this.#tells('answer refuses', id)
      if (line === 'refuses falsely' || bank.lies('answer refuses', 0.1, id)) {
        bank.acceptCharge(id, { valueCents, expiresAt })
        return { kind: 'REJECTED', errorCode: 'invalid', errorMessage: undefined } as const
      }
      const isNew = !bank.book.charges.has(id)
      if (isNew && chance.bool(0.05))
        return { kind: 'REJECTED', errorCode: 'invalid', errorMessage: undefined } as const
      return this.#chargeAnswer(bank.acceptCharge(id, { valueCents, expiresAt }))
    })
  }

  getCharge(id: string, askedCents: bigint): Promise<ChargeQueryAnswer> {
    return this.#ask({ kind: 'charge', id }, (line): ChargeQueryAnswer => {
      const { bank, now, faults } = this.#options
      const charge = bank.book.charges.get(id)
      if (!charge) return { kind: 'NOT_FOUND' }
      if (line) return this.#writtenCharge(charge, line)
      if (now() - charge.acceptedAt < STALE_MS && faults.hit('query stale', 0.7)) return { kind: 'NOT_FOUND' }
      if (bank.lies('answer denies', 0.2, id)) return { kind: 'NOT_FOUND' }
      const answer = this.#chargeAnswer(charge)
      // Asked on no terms, whatever there is contradicts them.
      return askedCents === 0n && 'charge' in answer
        ? { kind: 'CONTRADICTED', reason: 'other valueCents', charge: answer.charge }
        : answer
    })
  }

  #writtenCharge(charge: BankCharge, line: AskLine): ChargeQueryAnswer {
    if (line === 'denies') this.#tells('answer denies', charge.id)
    if (line === 'denies') return { kind: 'NOT_FOUND' }
    const answer = this.#chargeAnswer(charge)
    if (line === 'contradicts') {
      this.#tells('answer contradicts', charge.id)
      return { kind: 'CONTRADICTED', reason: 'other valueCents', charge: answer.charge }
    }
    if (line === 'fails') {
      this.#tells('answer refuses', charge.id)
      return { kind: 'FINAL', charge: { ...answer.charge, status: 'FAILED', payments: [] } }
    }
    if (line === 'renames') this.#tells('answer renames', charge.id)
    return line === 'renames'
      ? ({
          ...answer,
          charge: { ...answer.charge, transactionId: this.#options.bank.book.name('T') },
        } as ChargeQueryAnswer)
      : answer
  }

  cancelCharge(id: string) {
    return this.#call({ kind: 'cancel', id }, () => {
      const charge = this.#options.bank.book.charges.get(id)
      if (!charge) return { kind: 'NOT_FOUND' } as const
      if (charge.payments.length > 0) return { kind: 'REJECTED', errorCode: 'paid', errorMessage: undefined } as const
      charge.isCancelled = true
      return { kind: 'CANCELLED' } as const
    })
  }

  #chargeAnswer(charge: BankCharge): Extract<ChargeQueryAnswer, { charge: unknown }> {
    const { bank, now } = this.#options
    const { id, transactionId, valueCents, expiresAt, payments, isCancelled } = charge
    const isPaid = payments.length > 0
    const status = isPaid ? 'PAID' : isCancelled ? 'CANCELLED' : now() > expiresAt + 60_000 ? 'EXPIRED' : 'ACTIVE'
    const base = { id, transactionId, valueCents, expiresAt, pixCode: PIX_CODE }
    const shown = payments.map((payment): Payment => ({ ...payment, returns: [...payment.returns], payer: NOBODY }))
    if (bank.lies('answer contradicts', 0.1, id)) {
      return { kind: 'CONTRADICTED', reason: 'other valueCents', charge: { ...base, status, payments: shown } }
    }
    if (bank.lies('answer renames', 0.1, id)) base.transactionId = bank.book.name('T')
    if (isPaid && bank.lies('answer lies', 0.1, id)) {
      const more = shown.map((payment) => ({ ...payment, valueCents: payment.valueCents + 1n }))
      return { kind: 'FINAL', charge: { ...base, status: 'PAID', payments: more } }
    }
    if (isPaid && bank.lies('answer refuses', 0.1, id)) {
      return { kind: 'FINAL', charge: { ...base, status: 'FAILED', payments: [] } }
    }
    if (status === 'ACTIVE') return { kind: 'ACCEPTED', charge: { ...base, status, payments: shown } }
    return { kind: 'FINAL', charge: { ...base, status, payments: shown } }
  }

  sendOrder(asked: Pick<BankOrder, 'kind' | 'id' | 'valueCents' | 'chargeId' | 'paymentId'>, window?: SendWindow) {
    const sentAt = this.#options.now()
    return this.#call(
      asked,
      (line) => {
        const { bank, chance } = this.#options
        const refused = { kind: 'REJECTED', errorCode: 'refused', errorMessage: undefined } as const
        if (line) return this.#writtenOrder(asked, sentAt, line)
        if (bank.lies('answer refuses', 0.1, asked.id)) {
          bank.acceptOrder(asked, sentAt)
          return refused
        }
        if (!bank.book.orders.has(asked.id) && chance.bool(0.05)) return refused
        return this.#orderAnswer(bank.acceptOrder(asked, sentAt), asked.valueCents)
      },
      window,
      // The same shape for both kinds of order: the module reads its own.
    ) as Promise<never>
  }

  #writtenOrder(asked: Parameters<Bank['acceptOrder']>[0], sentAt: number, line: CallLine) {
    const { bank } = this.#options
    const refused = { kind: 'REJECTED', errorCode: 'refused', errorMessage: undefined } as const
    if (line === 'refuses' && !bank.book.orders.has(asked.id)) return refused
    if (line === 'another amount') this.#tells('payout of another amount', asked.id)
    const taken = line === 'another amount' ? { ...asked, valueCents: asked.valueCents + 1n } : asked
    const order = bank.acceptOrder(taken, sentAt)
    if (line === 'accepts' || line === 'another amount') return this.#orderAnswer(order, asked.valueCents)
    this.#tells(line === 'contradicts' ? 'answer contradicts' : 'answer refuses', asked.id)
    return line === 'contradicts' ? contradiction(order) : refused
  }

  #writtenAnswer(order: BankOrder, valueCents: bigint, line: AskLine) {
    const { bank } = this.#options
    const answer = () => this.#orderAnswer(order, valueCents)
    if (line === 'truth') return answer()
    this.#tells(FAULT_OF[line] ?? 'answer contradicts', order.id)
    if (line === 'denies') return { kind: 'NOT_FOUND' } as const
    if (line === 'contradicts') return contradiction(order)
    const shown = { ...this.#shown(order), returns: [], endToEndId: undefined, returnId: undefined }
    if (line === 'fails') return answerOf('FINAL', order, { ...shown, status: 'FAILED', errorCode: 'x' })
    const transactionId = line === 'renames' ? bank.book.name('T') : shown.transactionId
    return answerOf('ACCEPTED', order, { ...shown, status: 'PROCESSING', transactionId })
  }

  getOrder(kind: BankOrder['kind'], id: string, valueCents: bigint) {
    return this.#ask({ kind, id }, (line) => {
      const { bank, now, faults } = this.#options
      const order = bank.book.orders.get(id)
      if (order && line) return this.#writtenAnswer(order, valueCents, line)
      if (line === 'contradicts') this.#tells('answer contradicts', id)
      if (line === 'contradicts') return contradiction({ kind, id, transactionId: bank.book.name('T'), valueCents })
      if (!order) {
        if (bank.lies('answer invents', 0.05, id)) return this.#invented(kind, id, valueCents)
        return { kind: 'NOT_FOUND' } as const
      }
      if (now() - order.acceptedAt < STALE_MS && faults.hit('query stale', 0.7)) return { kind: 'NOT_FOUND' } as const
      if (bank.lies('answer denies', 0.2, id)) return { kind: 'NOT_FOUND' } as const
      return this.#orderAnswer(order, valueCents)
    })
  }

  /** @param askedCents what we asked for: another amount contradicts it */
  #orderAnswer(order: BankOrder, askedCents: bigint) {
    const { bank } = this.#options
    const { id, state } = order
    const shown = this.#shown(order)
    if (order.valueCents !== askedCents) return answerOf('CONTRADICTED', order, shown)
    if (bank.lies('answer contradicts', 0.1, id)) return answerOf('CONTRADICTED', order, shown)
    if (bank.lies('answer renames', 0.1, id)) shown.transactionId = bank.book.name('T')
    if (bank.lies('answer refuses', 0.1, id)) {
      return answerOf('FINAL', order, { ...shown, status: 'FAILED', returns: [], errorCode: 'x', returnId: undefined })
    }
    if (state === 'CONFIRMED' && bank.lies('answer lies', 0.1, id)) {
      return answerOf('CONTRADICTED', order, { ...shown, valueCents: shown.valueCents + 1n })
    }
    return answerOf(state === 'PROCESSING' ? 'ACCEPTED' : 'FINAL', order, shown)
  }

  #shown(order: BankOrder) {
    const { bank } = this.#options
    const { id, transactionId, valueCents, executions, returns, state } = order
    // Of several executions the answer tells one: the statement tells the others.
    const [execution] = this.#options.chance.bool(0.9) ? executions : executions.toReversed()
    const others = [...bank.book.orders.values()].find(
      (other) => other.id !== id && other.kind === order.kind && other.executions.length > 0,
    )
    const isOthers = execution && others && bank.lies('movement of another', 0.05, id, others.id)
    const movementId = isOthers ? others.executions[0]?.id : execution?.id
    const isRefund = order.kind === 'refund'
    return {
      id,
      transactionId,
      status: state === 'CONFIRMED' && returns.length > 0 ? 'RETURNED' : state,
      valueCents,
      feeCents: undefined,
      recipient: undefined,
      endToEndId: isRefund ? undefined : movementId,
      returnId: isRefund ? movementId : undefined,
      errorCode: state === 'FAILED' ? 'declined' : undefined,
      errorMessage: undefined,
      returns: [...returns],
      occurredAt: execution?.at,
    }
  }

  /** A movement that never was. */
  #invented(kind: BankOrder['kind'], id: string, valueCents: bigint) {
    const { bank, now, say } = this.#options
    say(`the bank invents that money left for ${kind} ${id}`)
    const movementId = bank.book.name('X')
    const shown = {
      id,
      transactionId: bank.book.name('T'),
      status: 'CONFIRMED',
      valueCents,
      feeCents: undefined,
      recipient: undefined,
      returns: [],
      endToEndId: movementId,
      returnId: movementId,
      occurredAt: now(),
    }
    return answerOf('FINAL', { kind }, shown)
  }
}

function answerOf(kind: 'ACCEPTED' | 'FINAL' | 'CONTRADICTED', { kind: of }: Pick<BankOrder, 'kind'>, shown: object) {
  const reason = kind === 'CONTRADICTED' ? { reason: 'other valueCents' } : {}
  return of === 'payout' ? { kind, ...reason, payout: shown } : { kind, ...reason, refund: shown }
}

/** An answer about something else than was asked for, of which nobody has moved anything. */
function contradiction(order: Pick<BankOrder, 'kind' | 'id' | 'transactionId' | 'valueCents'>) {
  const { id, transactionId, valueCents } = order
  return answerOf('CONTRADICTED', order, {
    id,
    transactionId,
    status: 'PROCESSING',
    valueCents: valueCents + 1n,
    feeCents: undefined,
    recipient: undefined,
    returns: [],
    endToEndId: undefined,
    returnId: undefined,
    occurredAt: undefined,
  })
}

/** What a line about a question counts as. */
const FAULT_OF: Partial<Readonly<Record<AskLine, Fault>>> = {
  denies: 'answer denies',
  fails: 'answer refuses',
  renames: 'answer renames',
}

const NOBODY = { name: undefined, document: undefined, ispb: undefined }
