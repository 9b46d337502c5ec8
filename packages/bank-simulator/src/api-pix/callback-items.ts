import type { Book } from '../book.ts'
import type { Chance } from '../chance.ts'
import type { Liar } from '../lies.ts'
import type { Notice } from '../notices.ts'
import { valorOf } from './amounts.ts'
import { aCentavoMore } from './lying-views.ts'
import { type Pix, pixOf } from './pix.ts'
import { type SentItem, sentItemOf } from './sent-pix.ts'

/** What a callback says of one payment. */
export type CallbackItem = Pix | SentItem

/** What the items are made of. */
export interface CallbackItemsOptions {
  readonly book: Book
  readonly liar: Liar
  readonly chance: Pick<Chance, 'transactionId' | 'endToEndSuffix'>
}

/** Nobody of this account has it. */
const STRANGERS_KEY = 'ninguem@exemplo.com.br'

const FALSE_REASON = 'AC07: the account is closed'

/**
 * What is sent of a notice: the payment as it stands now, unless the bank lies.
 * @returns one list for each call, in this order; none where it is lost
 * @source rules#sandbox.15, rules#sandbox.16
 */
export function callbacksOf(notice: Notice, options: CallbackItemsOptions): readonly (readonly CallbackItem[])[] {
  const { book, liar } = options
  const truth = itemOf(notice, book)
  if (truth === undefined || liar.tells('eventLost')) return []
  const altered = alteredItem(truth, options)
  const before = [
    ...(liar.tells('eventOfStranger') ? [[strangersItem(truth, options)]] : []),
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
  if (liar.tells('eventWrongAmount')) return { ...item, valor: aCentavoMore(item.valor) }
  if (!liar.tells('eventForeign')) return item
  if ('gnExtras' in item) {
    const other = [...book.payouts.values()].findLast(({ answer }) => answer.id !== item.gnExtras.idEnvio)
    return other ? { ...item, gnExtras: { ...item.gnExtras, idEnvio: other.answer.id } } : item
  }
  const other = [...book.charges.values()].findLast(({ transactionId }) => transactionId !== item.txid)
  return other ? { ...item, txid: other.transactionId } : item
}

function withoutOurIds(item: CallbackItem): CallbackItem {
  if ('gnExtras' in item) {
    const { idEnvio: _, ...extras } = item.gnExtras
    return { ...item, gnExtras: extras }
  }
  const { txid: _, ...pix } = item
  return pix
}

/** A payment of nobody here. */
function strangersItem(item: CallbackItem, { chance }: CallbackItemsOptions): Pix {
  const endToEndId = item.endToEndId.slice(0, -11) + chance.endToEndSuffix()
  const valor = valorOf(1)
  const horario = item.horario ?? '2026-01-01T00:00:00.000Z'
  const named = { endToEndId, txid: chance.transactionId(), chave: STRANGERS_KEY }
  return { ...named, valor, componentesValor: { original: { valor } }, horario }
}

/** The same, come to nothing: what was sent, or what goes back. */
function failureOf(item: CallbackItem): CallbackItem {
  if ('gnExtras' in item) {
    const erro = { codigo: 'AC07', origem: 'PSP do usuário recebedor', motivo: FALSE_REASON }
    return { ...item, status: 'NAO_REALIZADO', horario: null, gnExtras: { ...item.gnExtras, erro } }
  }
  const devolucoes = item.devolucoes?.map((it) => ({ ...it, status: 'NAO_REALIZADO' as const, motivo: FALSE_REASON }))
  return { ...item, ...(devolucoes && { devolucoes }) }
}
