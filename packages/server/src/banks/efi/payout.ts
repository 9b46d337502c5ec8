import { type Judge, judgeReported, printable } from '../answers.ts'
import type {
  PaidRecipient,
  Payout,
  PayoutRequest,
  PayoutReturn,
  PayoutStatus,
  PayoutTerms,
  ReportedPayout,
} from '../port.ts'
import { amountOf, centsOf, instantOf, isId, itemsOf, textIn } from '../values.ts'
import { visibleParty, visibleText } from '../visible-text.ts'
import { isSentPix, isSentReturn, type SentPix, type SentReturn } from './bodies.ts'

/** Payouts: a Pix that is sent to a key, or for a QR code, under our id. */

/** Where a payout is ordered. */
export function sendingPath(id: string, request: PayoutRequest): string {
  return 'recipient' in request ? `/v3/gn/pix/${id}` : `/v2/gn/pix/${id}/qrcode`
}

/** Where it is asked about. */
export function sentPath(id: string): string {
  return `/v2/gn/pix/enviados/id-envio/${id}`
}

/**
 * What it is told. A QR code is paid with what it asks for: its amount is not told.
 * @param pixKey ours, from which it is paid
 * @source rules#efi.2
 */
export function sendingRequest(request: PayoutRequest, pixKey: string): object {
  const { description } = request
  const pagador = { chave: pixKey, ...(description !== undefined && { infoPagador: description }) }
  if (!('recipient' in request)) return { pagador, pixCopiaECola: request.pixCode }
  const { recipient, valueCents } = request
  return {
    valor: amountOf(valueCents),
    pagador,
    favorecido: { chave: recipient.pixKey, ...ownerOf(recipient.document) },
  }
}

const CPF_LENGTH = 11

/** The bank refuses a key that is somebody else's. */
function ownerOf(document: string | undefined) {
  if (document === undefined) return {}
  return document.length === CPF_LENGTH ? { cpf: document } : { cnpj: document }
}

/** What of an order the bank must echo. */
export function termsOf(request: PayoutRequest): PayoutTerms {
  const { valueCents } = request
  return 'recipient' in request ? { valueCents, pixKey: request.recipient.pixKey } : { valueCents }
}

/**
 * Judges what the bank tells of a payout.
 * @param offsetMs of the bank's stamps, see `stampOffset`
 * @source rules#efi.3
 */
export function judgeSentPix(id: string, terms: PayoutTerms, offsetMs: number): Judge<ReportedPayout> {
  const readPayout = (sent: SentPix) => ({ payout: payoutOf(sent, offsetMs) })
  return judgeReported({ isBody: isSentPix, read: readPayout, echo, stand }, id, terms)
}

function stand({ payout }: { readonly payout: Payout }): ReportedPayout | string {
  const { status, endToEndId, occurredAt } = payout
  if (status === 'PROCESSING') return { kind: 'ACCEPTED', payout: { ...payout, status } }
  if (status === 'FAILED') return { kind: 'FINAL', payout: { ...payout, status } }
  // A status word books no money.
  if (endToEndId === undefined) return 'REALIZADO without an end-to-end id'
  if (occurredAt === undefined) return 'REALIZADO without a time'
  return { kind: 'FINAL', payout: { ...payout, status, endToEndId, occurredAt } }
}

function echo({ payout: { id, valueCents, recipient } }: { readonly payout: Payout }) {
  return { id, valueCents, pixKey: recipient?.pixKey }
}

const STATUSES: Readonly<Record<SentPix['status'], PayoutStatus>> = {
  EM_PROCESSAMENTO: 'PROCESSING',
  REALIZADO: 'CONFIRMED',
  NAO_REALIZADO: 'FAILED',
}

/** A return that cannot be read is left out: the statement has it. */
function payoutOf(sent: SentPix, offsetMs: number): Payout {
  const { idEnvio, valor, devolucoes, gnExtras } = sent
  const valueCents = centsOf(valor)
  const returns = onceEach(
    itemsOf(devolucoes)
      .filter(isSentReturn)
      .flatMap((told) => returnOf(told, offsetMs) ?? []),
  )
  const word = STATUSES[sent.status]
  const isAllBack = word === 'CONFIRMED' && returns.reduce((sum, one) => sum + one.valueCents, 0n) >= valueCents
  const error = (name: string) => textIn(gnExtras, 'erro', name)
  return {
    id: idEnvio,
    transactionId: idEnvio,
    status: isAllBack ? 'RETURNED' : word,
    valueCents,
    feeCents: undefined,
    endToEndId: word === 'CONFIRMED' ? endToEndIdOf(sent) : undefined,
    recipient: recipientOf(sent),
    errorCode: word === 'FAILED' ? visibleText(error('codigo') ?? 'NAO_REALIZADO') : undefined,
    errorMessage: word === 'FAILED' ? printable(error('motivo')) : undefined,
    returns,
    occurredAt: word === 'PROCESSING' ? undefined : settledAt(sent, offsetMs),
  }
}

/** By its two names: of the answer to an order, and of the answer to a question. */
export function endToEndIdOf({ e2eId, endToEndId }: Pick<SentPix, 'e2eId' | 'endToEndId'>): string | undefined {
  return [endToEndId, e2eId].find(isId)
}

/** A return that is listed twice has come back once. */
function onceEach(returns: readonly PayoutReturn[]): PayoutReturn[] {
  return [...new Map(returns.map((one) => [one.returnId, one])).values()]
}

/** When it ended, epoch milliseconds. */
export function settledAt({ horario }: Pick<SentPix | SentReturn, 'horario'>, offsetMs: number): number | undefined {
  const at = typeof horario === 'string' ? horario : (horario?.liquidacao ?? horario?.solicitacao)
  return at === undefined ? undefined : instantOf(at) - offsetMs
}

/** Money that came back; `undefined` where none has moved. One that tells no status is there because it did. @source rules#efi.3 */
export function returnOf(told: SentReturn, offsetMs: number): PayoutReturn | undefined {
  const { status = 'DEVOLVIDO' } = told
  const occurredAt = settledAt(told, offsetMs)
  if (status !== 'DEVOLVIDO' || !isId(told.rtrId) || occurredAt === undefined) return undefined
  return { returnId: told.rtrId, valueCents: centsOf(told.valor), occurredAt }
}

function recipientOf({ favorecido }: SentPix): PaidRecipient | undefined {
  if (!favorecido) return undefined
  const text = (name: string) => textIn(favorecido.identificacao ?? favorecido.contaBanco, name)
  const party = visibleParty({ name: text('nome'), document: text('cpf') ?? text('cnpj') })
  return { ...party, pixKey: favorecido.chave }
}
