import type { Bank } from '../../../src/banks/bank.ts'
import { lacking } from '../../../src/banks/bank.ts'
import type {
  Charge,
  ChargeQueryAnswer,
  ChargeStatus,
  ChargeTerms,
  NotFound,
  Payment,
  PaymentReturn,
  Refund,
  RefundQueryAnswer,
  RefundTerms,
  Unknown,
} from '../../../src/banks/port.ts'
import { tinyInbound } from './inbound.ts'
import type { TinyBank } from './tiny-bank.ts'

/** The connector of the tiny bank. `nowMs` is our clock. */
export function connectTinyBank(bank: TinyBank, nowMs: () => number): Bank {
  async function getCharge(id: string, terms: ChargeTerms): Promise<ChargeQueryAnswer> {
    const answer = await bank.exchange(`VER ${id}`)
    if (answer === 'NADA') return NOT_FOUND
    const charge = readCharge(id, answer, nowMs())
    if (!charge) return unknown('unreadable')
    if (charge.valueCents !== terms.valueCents || charge.expiresAt !== terms.expiresAt) {
      return { kind: 'CONTRADICTED', reason: 'other terms', charge }
    }
    const { status } = charge
    return status === 'ACTIVE'
      ? { kind: 'ACCEPTED', charge: { ...charge, status } }
      : { kind: 'FINAL', charge: { ...charge, status } }
  }

  async function getRefund(id: string, { endToEndId, valueCents }: RefundTerms): Promise<RefundQueryAnswer> {
    const answer = await bank.exchange(`DEVOLUCAO ${endToEndId} ${id}`)
    if (answer === 'NADA') return NOT_FOUND
    const refund = readRefund(answer)
    if (!refund) return unknown('unreadable')
    if (refund.valueCents !== valueCents) return { kind: 'CONTRADICTED', reason: 'other value', refund }
    const { status, returnId = '', occurredAt = 0 } = refund
    if (status === 'CONFIRMED') return { kind: 'FINAL', refund: { ...refund, status, returnId, occurredAt } }
    return status === 'FAILED'
      ? { kind: 'FINAL', refund: { ...refund, status } }
      : { kind: 'ACCEPTED', refund: { ...refund, status } }
  }

  return {
    ...lacking,
    capabilities: new Set(['charge', 'query-charge', 'refund', 'query-refund']),
    idempotencyWindowMs: 0,
    createCharge: async (id, { valueCents, expiresAt }) => {
      const answer = await bank.exchange(`NOVA ${id} ${reaisOf(valueCents)} ${new Date(expiresAt).toISOString()}`)
      const [word, transactionId = '', code = ''] = answer.split(' ')
      if (word !== 'OK') return unknown(answer)
      const made = { id, transactionId, pixCode: codeOf(code), status: 'ACTIVE', payments: [] } as const
      return { kind: 'ACCEPTED', charge: { ...made, valueCents, expiresAt } }
    },
    getCharge,
    sendRefund: async (id, { endToEndId, valueCents }) => {
      const answer = await bank.exchange(`DEVOLVER ${endToEndId} ${id} ${reaisOf(valueCents)}`)
      const [word, transactionId = ''] = answer.split(' ')
      return word === 'OK'
        ? { kind: 'ACCEPTED', refund: { ...UNDER_WAY, id, transactionId, valueCents } }
        : unknown(answer)
    },
    getRefund,
    inbound: tinyInbound,
    close: async () => undefined,
  }
}

const NOT_FOUND: NotFound = { kind: 'NOT_FOUND' }

const UNDER_WAY = {
  status: 'PROCESSING',
  returnId: undefined,
  errorCode: undefined,
  errorMessage: undefined,
  occurredAt: undefined,
} as const

function unknown(reason: string): Unknown {
  return { kind: 'UNKNOWN', reason, httpStatus: undefined }
}

function readCharge(id: string, answer: string, nowMs: number): Charge | undefined {
  const [first = '', ...movements] = answer.split('\n').map((line) => line.split(' '))
  const [word, transactionId = '', state = '', reais = '', end = '', code = ''] = first
  if (word !== 'COB') return undefined
  const expiresAt = Date.parse(end)
  const returns = movements.filter(([kind]) => kind === 'DEV').flatMap(readReturn)
  const payments = movements.filter(([kind]) => kind === 'PIX').map((words) => readPayment(words, returns))
  // It knows no end: what is active past its time has expired.
  const open: ChargeStatus = nowMs > expiresAt ? 'EXPIRED' : 'ACTIVE'
  const status = state === 'CONCLUIDA' ? 'PAID' : open
  return { id, transactionId, status, valueCents: centsOf(reais), pixCode: codeOf(code), expiresAt, payments }
}

function readPayment(words: readonly string[], returns: readonly PaymentReturn[]): Payment {
  const [, endToEndId = '', reais = '', time = ''] = words
  const payer = { name: undefined, document: undefined, ispb: undefined }
  return { endToEndId, valueCents: centsOf(reais), occurredAt: Date.parse(time), payer, returns }
}

function readReturn(words: readonly string[]): PaymentReturn[] {
  const [, , returnId = '', status, reais = '', time = ''] = words
  if (status !== 'DEVOLVIDO') return []
  const moved = { valueCents: centsOf(reais), occurredAt: Date.parse(time) }
  return [{ returnId, transactionId: returnId, ...moved, origin: 'MERCHANT' }]
}

const STATUSES = { EM_PROCESSAMENTO: 'PROCESSING', DEVOLVIDO: 'CONFIRMED', NAO_REALIZADO: 'FAILED' } as const

function readRefund(answer: string): Refund | undefined {
  const [word, id = '', rtr = '', state = '', reais = '', time = ''] = answer.split(' ')
  if (word !== 'DEV' || !Object.hasOwn(STATUSES, state)) return undefined
  const status = STATUSES[state as keyof typeof STATUSES]
  const ended = status === 'PROCESSING' ? {} : { occurredAt: Date.parse(time) }
  const settled = status === 'CONFIRMED' ? { returnId: rtr } : {}
  return { ...UNDER_WAY, id, transactionId: rtr, status, valueCents: centsOf(reais), ...ended, ...settled }
}

function reaisOf(cents: bigint): string {
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
}

function centsOf(reais: string): bigint {
  return BigInt(reais.replace('.', ''))
}

/** Its words know no blanks. */
function codeOf(word: string): string {
  return word.replaceAll('_', ' ')
}
