import { isOrderId } from '../../platform/order-id.ts'
import type { Party, Payment, PaymentReturn } from '../port.ts'
import { centsOf, instantOf, isId, itemsOf, textIn } from '../values.ts'
import { visibleParty } from '../visible-text.ts'
import { type Devolucao, isDevolucao, type Pix } from './bodies.ts'

/** Money that came in, and what went back of it, as the bank tells it. Pure. */

/**
 * A payment with everything of it that went back. A return that cannot be read is left out: the statement has it.
 * @param offsetMs of the bank's stamps, see `stampOffset`
 * @param chargedAt when the bank made its charge, as told with it
 */
export function paymentOf(pix: Pix, offsetMs: number, chargedAt?: number): Payment {
  const { endToEndId, valor, horario, devolucoes } = pix
  return {
    endToEndId,
    valueCents: centsOf(valor),
    occurredAt: instantOf(horario) - offsetMs,
    payer: payerOf(pix),
    ...(chargedAt !== undefined && { chargedAt }),
    returns: itemsOf(devolucoes)
      .filter(isDevolucao)
      .flatMap((told) => returnOf(told, offsetMs) ?? []),
  }
}

/** Money that went back; `undefined` where none has moved yet, or it is not told when or under which id. */
function returnOf(told: Devolucao, offsetMs: number): PaymentReturn | undefined {
  const { id, valor, rtrId } = told
  const occurredAt = settledAt(told, offsetMs)
  if (told.status !== 'DEVOLVIDO' || !isId(rtrId) || occurredAt === undefined) return undefined
  const origin = isOurs(told) ? 'MERCHANT' : 'BANK'
  return { returnId: rtrId, transactionId: id ?? rtrId, valueCents: centsOf(valor), occurredAt, origin }
}

/**
 * Tells whether a return may be a refund of ours, by its id. The bank's own returns (after a fraud or by its own mistake) are
 * none, nor are those that somebody asked for elsewhere, under an id that is not one of ours or under none.
 * @source rules#api-pix.8
 */
export function isOurs({ id, natureza }: Pick<Devolucao, 'id' | 'natureza'>): boolean {
  return id !== undefined && isOrderId(id) && [undefined, 'ORIGINAL', 'RETIRADA'].includes(natureza)
}

/** When a return ended, epoch milliseconds; `undefined` where the bank does not tell. */
export function settledAt({ horario }: Pick<Devolucao, 'horario'>, offsetMs: number): number | undefined {
  const at = horario?.liquidacao ?? horario?.solicitacao
  return at === undefined ? undefined : instantOf(at) - offsetMs
}

/** The id that the service gave to the charge of a payment; the payment's own where it names none. */
export function referenceOf({ txid, endToEndId }: Pick<Pix, 'txid' | 'endToEndId'>): string {
  return isId(txid) ? txid : endToEndId
}

/** An ISPB may have letters, like the CNPJ that it begins. */
const ISPB = /^[ED]([0-9A-Z]{8})/

/** The payer's bank is in the end-to-end id; the payer, only some banks tell. */
function payerOf({ endToEndId, gnExtras }: Pix): Party {
  const text = (name: string) => textIn(gnExtras, 'pagador', name)
  return visibleParty({ name: text('nome'), document: text('cpf') ?? text('cnpj'), ispb: ISPB.exec(endToEndId)?.[1] })
}
