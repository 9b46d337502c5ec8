import type { Party, Payment, PaymentReturn } from '../port.ts'
import { visibleParty } from '../visible-text.ts'
import type { Devolucao, Pix } from './bodies.ts'
import { dashedId, isPlainId } from './ids.ts'
import { centsOf } from './money.ts'

/** Money that came in, and what went back of it, as the bank tells it. Pure. */

/** A payment with everything of it that went back. */
export function paymentOf(pix: Pix): Payment {
  const { endToEndId, valor, horario, devolucoes = [] } = pix
  return {
    endToEndId,
    valueCents: centsOf(valor),
    occurredAt: Date.parse(horario),
    payer: payerOf(pix),
    returns: devolucoes.flatMap(returnOf),
  }
}

/** What went back; nothing where no money has moved. */
function returnOf(told: Devolucao): readonly PaymentReturn[] {
  const { id, valor, rtrId } = told
  const occurredAt = settledAt(told)
  if (told.status !== 'DEVOLVIDO' || !rtrId || occurredAt === undefined) return []
  const origin = isOurs(told) ? 'MERCHANT' : 'BANK'
  return [{ returnId: rtrId, transactionId: id, valueCents: centsOf(valor), occurredAt, origin }]
}

/**
 * Whether a return may be a refund of ours, by its id. What the bank gave back by itself (after a fraud or by its own mistake)
 * is none, nor is what somebody asked for elsewhere, under an id that is not one of ours.
 * @source rules#api-pix.8
 */
export function isOurs({ id, natureza }: Pick<Devolucao, 'id' | 'natureza'>): boolean {
  return isPlainId(id) && (natureza == null || natureza === 'ORIGINAL' || natureza === 'RETIRADA')
}

/** When a return ended, by the bank's word; `undefined` where it does not say. */
export function settledAt({ horario }: Pick<Devolucao, 'horario'>): number | undefined {
  const at = horario?.liquidacao ?? horario?.solicitacao
  return at === undefined ? undefined : Date.parse(at)
}

/** The id that the service gave to what a payment is for; the payment's own where it names no charge. */
export function referenceOf({ txid, endToEndId }: Pick<Pix, 'txid' | 'endToEndId'>): string {
  return txid ? dashedId(txid) : endToEndId
}

const ISPB = /^[ED](\d{8})/

/** The bank of whoever sent is in the end-to-end id; who it was, only some banks tell. */
function payerOf({ endToEndId, gnExtras }: Pix): Party {
  const { nome, cpf, cnpj } = gnExtras?.pagador ?? {}
  const told = { name: nome ?? undefined, document: cpf ?? cnpj ?? undefined }
  return visibleParty({ ...told, ispb: ISPB.exec(endToEndId)?.[1] })
}
