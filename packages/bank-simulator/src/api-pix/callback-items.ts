import type { Book } from '../book.ts'
import type { Chance } from '../chance.ts'
import type { Liar } from '../lies.ts'
import type { Notice } from '../notices.ts'
import { plusOneCentavo } from './false-responses.ts'
import { type Pix, pixOf } from './pix.ts'
import { type SentItem, sentItemOf } from './sent-pix.ts'
import { motivoOf, valorOf } from './values.ts'

/** One payment in a callback. */
export type CallbackItem = Pix | SentItem

/** Dependencies of {@link callbacksOf}. */
export interface CallbackItemsOptions {
  readonly book: Book
  readonly liar: Liar
  readonly chance: Pick<Chance, 'transactionId' | 'endToEndSuffix'>
}

/** A Pix key of another account. */
const FOREIGN_KEY = 'ninguem@exemplo.com.br'

/**
 * Callbacks to send for a notice: the current state of the payment, unless the bank lies.
 * @returns the items of each request, in sending order; empty if the callback is lost
 * @source rules#sandbox.15, rules#sandbox.16
 */
export function callbacksOf(notice: Notice, options: CallbackItemsOptions): readonly (readonly CallbackItem[])[] {
  const { book, liar } = options
  const truth = itemOf(notice, book)
  if (truth === undefined || liar.tells('eventLost')) return []
  const altered = alteredItem(truth, options)
  const before = [
    ...(liar.tells('eventOfStranger') ? [[foreignKeyItem(truth, options)]] : []),
    ...(liar.tells('eventFalseFailure') ? [[failureOf(truth)]] : []),
  ]
  return [...before, ...(liar.tells('eventDoubled') ? [[altered], [altered]] : [[altered]])]
}

function itemOf({ received = '', sent = '' }: Notice, book: Book): CallbackItem | undefined {
  const receipt = book.receipts.get(received)
  if (receipt) return pixOf(book, receipt)
  const payout = book.payouts.get(sent)
  return payout && sentItemOf(payout)
}

function alteredItem(item: CallbackItem, { book, liar }: CallbackItemsOptions): CallbackItem {
  if (liar.tells('eventWithoutOurIds')) return withoutOurIds(item)
  if (liar.tells('eventWrongAmount')) return { ...item, valor: plusOneCentavo(item.valor) }
  if (!liar.tells('eventForeign')) return item
  if ('tipo' in item) {
    const other = [...book.payouts.values()].findLast(({ answer }) => answer.id !== item.gnExtras.idEnvio)
    return other ? { ...item, gnExtras: { ...item.gnExtras, idEnvio: other.answer.id } } : item
  }
  const other = [...book.charges.values()].findLast(({ transactionId }) => transactionId !== item.txid)
  return other ? { ...item, txid: other.transactionId } : item
}

function withoutOurIds(item: CallbackItem): CallbackItem {
  if ('tipo' in item) {
    const { idEnvio: _, ...extras } = item.gnExtras
    return { ...item, gnExtras: extras }
  }
  const { txid: _, ...pix } = item
  return pix
}

/** A payment to the Pix key of another account. */
function foreignKeyItem(item: CallbackItem, { chance }: CallbackItemsOptions): Pix {
  const endToEndId = item.endToEndId.slice(0, -11) + chance.endToEndSuffix()
  const valor = valorOf(1)
  const horario = item.horario ?? '2026-01-01T00:00:00.000Z'
  const named = { endToEndId, txid: chance.transactionId(), chave: FOREIGN_KEY }
  return { ...named, valor, componentesValor: { original: { valor } }, horario }
}

/** The same payment as failed: the sent Pix itself, or the returns of a received one. */
function failureOf(item: CallbackItem): CallbackItem {
  if ('tipo' in item) {
    const erro = { codigo: 'AC07', origem: 'PSP do usuário recebedor', motivo: motivoOf('AC07') }
    return { ...item, status: 'NAO_REALIZADO', horario: null, gnExtras: { ...item.gnExtras, erro } }
  }
  const devolucoes = item.devolucoes?.map((it) => ({
    ...it,
    status: 'NAO_REALIZADO' as const,
    motivo: motivoOf('AC07'),
  }))
  return { ...item, ...(devolucoes && { devolucoes }) }
}
