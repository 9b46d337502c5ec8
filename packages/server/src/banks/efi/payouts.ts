import { type Static, Type } from 'typebox'
import { documentOf } from '../api-pix/charges.ts'
import { returnOf, settledAt } from '../api-pix/payments.ts'
import { amountMoved, information, instant, items } from '../api-pix/protocol.ts'
import {
  API_PIX_STATEMENT_DELAYS_MS,
  NOTHING,
  RETURNS_LOOK_BACK_MS,
  type ReadItem,
  readAs,
  type StatementList,
  unreadable,
  withReturns,
} from '../api-pix/statement.ts'
import { type Judge, judgePayout } from '../exchange.ts'
import type {
  Payout,
  PayoutRequest,
  PayoutStatus,
  PayoutTerms,
  ReportedPayout,
  StatementDelay,
  StatementEntry,
} from '../port.ts'
import { amountOf, bodyTest, centsOf, isId, itemsOf, printable, textIn, visibleParty, visibleText } from '../values.ts'

/** Payouts: a Pix sent to a key or for a QR code under our id, and the list of sent ones. */

const optionalText = Type.Optional(Type.String())
const times = Type.Object({ solicitacao: Type.Optional(instant), liquidacao: Type.Optional(instant) })

/** A return of a payout, in the form of Efí's own client or of the standard. */
const sentReturn = Type.Object({
  rtrId: optionalText,
  valor: amountMoved,
  horario: Type.Optional(Type.Union([instant, times])),
  status: Type.Optional(Type.Enum(['EM_PROCESSAMENTO', 'DEVOLVIDO', 'NAO_REALIZADO'])),
})

const sentPix = Type.Object({
  idEnvio: Type.String({ pattern: '^[a-zA-Z0-9]{1,35}$' }),
  e2eId: optionalText,
  endToEndId: optionalText,
  valor: amountMoved,
  status: Type.Enum(['EM_PROCESSAMENTO', 'REALIZADO', 'NAO_REALIZADO']),
  horario: Type.Optional(times),
  favorecido: Type.Optional(Type.Object({ chave: optionalText, identificacao: information, contaBanco: information })),
  devolucoes: items,
  gnExtras: information,
})

/** A sent Pix in the list. A Pix sent from Efí's own app has no `idEnvio`. */
const sentItem = Type.Object({ ...sentPix.properties, idEnvio: optionalText, favorecido: information })

type SentPix = Static<typeof sentPix>
type SentItem = Static<typeof sentItem>

const isSentPix = bodyTest(sentPix)
const isSentReturn = bodyTest(sentReturn)
const isSentItem = bodyTest(sentItem)

export function payoutPath(id: string, request: PayoutRequest): string {
  return 'recipient' in request ? `/v3/gn/pix/${id}` : `/v2/gn/pix/${id}/qrcode`
}

export function payoutQueryPath(id: string): string {
  return `/v2/gn/pix/enviados/id-envio/${id}`
}

/**
 * Body of a payout. A QR code is paid with its own amount, so the body has none. Given a document, the bank refuses a key
 * of another owner.
 * @param pixKey our key, the payer
 * @source rules#efi.2
 */
export function payoutBody(request: PayoutRequest, pixKey: string): object {
  const { description, valueCents } = request
  const pagador = { chave: pixKey, ...(description !== undefined && { infoPagador: description }) }
  if (!('recipient' in request)) return { pagador, pixCopiaECola: request.pixCode }
  const { pixKey: chave, document } = request.recipient
  const favorecido = { chave, ...(document !== undefined && documentOf(document)) }
  return { valor: amountOf(valueCents), pagador, favorecido }
}

/**
 * Evaluates the answer about a payout.
 * @param offsetMs offset of the bank's timestamps, see `stampOffset`
 * @source rules#efi.3
 */
export function judgeSentPix(id: string, terms: PayoutTerms, offsetMs: number): Judge<ReportedPayout> {
  return judgePayout(id, terms, (json) => (isSentPix(json) ? payoutOf(json, offsetMs) : undefined))
}

const STATUSES: Readonly<Record<SentPix['status'], PayoutStatus>> = {
  EM_PROCESSAMENTO: 'PROCESSING',
  REALIZADO: 'CONFIRMED',
  NAO_REALIZADO: 'FAILED',
}

/** Unreadable returns are skipped: the statement has them. */
function payoutOf(sent: SentPix, offsetMs: number): Payout {
  const { idEnvio, valor, devolucoes, favorecido, gnExtras } = sent
  const valueCents = centsOf(valor)
  const readReturns = itemsOf(devolucoes)
    .filter(isSentReturn)
    .flatMap((one) => returnOf(one, offsetMs) ?? [])
  // Lists may contain a return twice.
  const returns = [...new Map(readReturns.map((one) => [one.returnId, one])).values()]
  const status = STATUSES[sent.status]
  const isFullyReturned = status === 'CONFIRMED' && returns.reduce((sum, one) => sum + one.valueCents, 0n) >= valueCents
  const recipientText = (name: string) => textIn(favorecido?.identificacao ?? favorecido?.contaBanco, name)
  const party = { name: recipientText('nome'), document: recipientText('cpf') ?? recipientText('cnpj') }
  const errorText = (name: string) => textIn(gnExtras, 'erro', name)
  return {
    id: idEnvio,
    transactionId: idEnvio,
    status: isFullyReturned ? 'RETURNED' : status,
    valueCents,
    feeCents: undefined,
    endToEndId: status === 'CONFIRMED' ? endToEndIdOf(sent) : undefined,
    recipient: favorecido && { ...visibleParty(party), pixKey: favorecido.chave },
    errorCode: status === 'FAILED' ? visibleText(errorText('codigo') ?? 'NAO_REALIZADO') : undefined,
    errorMessage: status === 'FAILED' ? printable(errorText('motivo')) : undefined,
    returns,
    occurredAt: status === 'PROCESSING' ? undefined : settledAt(sent, offsetMs),
  }
}

/** Answers to orders and to queries use different names. */
function endToEndIdOf({ e2eId, endToEndId }: Pick<SentPix, 'e2eId' | 'endToEndId'>): string | undefined {
  return [endToEndId, e2eId].find(isId)
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The list is sorted by time of order, so late settlements and returns are found by reading it again. */
const SETTLED_LATE_EVERY_MS = HOUR_MS
const RETURNED_EVERY_MS = DAY_MS

/**
 * Twice the interval of the list: the bank may not have listed the movement yet when it is read first. Payouts that settle
 * late are in the hourly list, returns of old ones in the daily list.
 */
export const EFI_STATEMENT_DELAYS_MS: StatementDelay = {
  ...API_PIX_STATEMENT_DELAYS_MS,
  PAYOUT_SENT: 2 * SETTLED_LATE_EVERY_MS,
  PAYOUT_RETURNED: 2 * RETURNED_EVERY_MS,
}

const SENT: StatementList = { name: 'sent', path: '/gn/pix/enviados', readItem: readSent }

/** Additional lists of the statement. @source rules#efi.5 */
export const SENT_LISTS: readonly StatementList[] = [
  SENT,
  {
    ...SENT,
    name: 'sentlately',
    everyMs: SETTLED_LATE_EVERY_MS,
    windowAt: (now) => ({ from: now - 2 * DAY_MS, to: now }),
  },
  {
    ...SENT,
    name: 'sentlong',
    everyMs: RETURNED_EVERY_MS,
    windowAt: (now) => ({ from: now - RETURNS_LOOK_BACK_MS, to: now }),
  },
]

function readSent(item: unknown, offsetMs: number): ReadItem {
  return readAs(isSentItem, item, (sent) => (sent.status === 'REALIZADO' ? readSettled(sent, offsetMs) : NOTHING))
}

function readSettled(sent: SentItem, offsetMs: number): ReadItem {
  const [endToEndId, occurredAt] = [endToEndIdOf(sent), settledAt(sent, offsetMs)]
  if (endToEndId === undefined) return unreadable(sent, '/endToEndId')
  if (occurredAt === undefined) return unreadable(sent, '/horario')
  const ids = { endToEndId, reference: isId(sent.idEnvio) ? sent.idEnvio : endToEndId }
  const debit: StatementEntry = {
    kind: 'PAYOUT_SENT',
    direction: 'out',
    movementId: endToEndId,
    valueCents: centsOf(sent.valor),
    occurredAt,
    ...ids,
  }
  return withReturns(debit, sent.devolucoes, isSentReturn, offsetMs, () => ({
    kind: 'PAYOUT_RETURNED',
    direction: 'in',
    ...ids,
  }))
}
