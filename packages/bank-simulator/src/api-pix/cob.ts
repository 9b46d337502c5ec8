import type { Book } from '../book.ts'
import { instant } from '../events.ts'
import type { ChargeDetails } from '../facts.ts'
import { locationOfCharge } from '../locations.ts'
import type { Charge, Revision } from '../operations.ts'
import { type Pix, pixOf } from './pix.ts'
import { type Person, personOf, valorOf } from './values.ts'

/** A charge. @source BCB, API Pix (CobGerada, CobCompleta) */
export interface Cob extends CobTerms {
  readonly calendario: { readonly criacao: string; readonly expiracao: number }
  readonly loc: {
    readonly id: number
    readonly txid: string
    readonly location: string
    readonly tipoCob: 'cob'
    readonly criacao: string
  }
  readonly location: string
  readonly pixCopiaECola?: string
  readonly pix?: readonly Pix[]
}

/** Fields of a charge that its payer sees too. */
export interface CobTerms {
  readonly txid: string
  readonly revisao: number
  readonly devedor?: Person
  readonly status: CobStatus
  readonly valor: { readonly original: string; readonly modalidadeAlteracao?: number }
  readonly chave: string
  readonly solicitacaoPagador?: string
  readonly infoAdicionais?: ChargeDetails['infoAdicionais']
}

/** @source BCB, API Pix (CobrancaStatus) */
export type CobStatus = (typeof STATUSES)[Charge['status']]

const STATUSES = {
  ACTIVE: 'ATIVA',
  PAID: 'CONCLUIDA',
  CANCELLED: 'REMOVIDA_PELO_USUARIO_RECEBEDOR',
  FAILED: 'REMOVIDA_PELO_PSP',
} as const

/**
 * A charge as API Pix returns it. The standard has no status for an expired charge.
 * @param revision which revision of it; the last by default
 */
export function cobOf(charge: Charge, revision = charge.revisions.length - 1): Cob {
  const { transactionId: txid, createdAt, number: id, pixCode } = charge
  const criacao = instant(createdAt)
  const location = locationOfCharge(txid)
  return {
    calendario: { criacao, expiracao: lifeSeconds(charge, revision) },
    ...cobTermsOf(charge, revision),
    loc: { id, txid, location, tipoCob: 'cob', criacao },
    location,
    pixCopiaECola: pixCode,
  }
}

/** A charge with its payments. */
export function cobWithPix(book: Book, charge: Charge, revision?: number): Cob {
  const pix = charge.payments
    .flatMap(({ endToEndId }) => book.receipts.get(endToEndId) ?? [])
    .map((it) => pixOf(book, it))
  return { ...cobOf(charge, revision), ...(pix.length > 0 && { pix }) }
}

/** Fields of a charge's revision that its payer sees too. */
export function cobTermsOf(charge: Charge, revision = charge.revisions.length - 1): CobTerms {
  const { terms, details } = revisionOf(charge, revision)
  const { infoAdicionais, modalidadeAlteracao } = details
  return {
    txid: charge.transactionId,
    revisao: revision,
    ...(terms.payer && { devedor: personOf(terms.payer) }),
    status: STATUSES[charge.status],
    valor: { original: valorOf(terms.valueCents), ...(modalidadeAlteracao !== undefined && { modalidadeAlteracao }) },
    chave: terms.merchant.pixKey,
    ...(terms.description !== undefined && { solicitacaoPagador: terms.description }),
    ...(infoAdicionais && { infoAdicionais }),
  }
}

/** Lifetime of a charge in seconds, counted from its creation. */
export function lifeSeconds(charge: Charge, revision = charge.revisions.length - 1): number {
  return Math.round((Date.parse(revisionOf(charge, revision).terms.expiresAt) - charge.createdAt) / 1_000)
}

function revisionOf(charge: Charge, revision: number): Revision {
  return charge.revisions[revision] as Revision
}
