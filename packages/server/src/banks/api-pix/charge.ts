import { BrCodeError, buildDynamicBrCode, parseBrCode } from '@pixgate/brcode'
import { type Judge, judgeReported } from '../answers.ts'
import type { Charge, ChargeRequest, ChargeStatus, ChargeTerms, ReportedCharge } from '../port.ts'
import { type Cob, isCob } from './bodies.ts'
import { dashedId } from './ids.ts'
import { amountOf, centsOf } from './money.ts'
import { paymentOf } from './movements.ts'

/** Charges: `cob`. */

type Merchant = ChargeRequest['merchant']

/** What `PUT /cob/{txid}` is told. */
export interface CobRequest {
  readonly calendario: { readonly expiracao: number }
  readonly devedor?: { readonly nome: string } & ({ readonly cpf: string } | { readonly cnpj: string })
  readonly valor: { readonly original: string }
  readonly chave: string
  readonly solicitacaoPagador?: string
}

const DESCRIPTION_MAX_LENGTH = 140
const CPF_LENGTH = 11

/**
 * The bank counts the seconds from its own creation of the charge: those of an earlier attempt, which it never saw, would
 * outlive ours by the time between the two.
 * @source rules#api-pix.2
 */
export function cobRequest({ valueCents, expiresAt, askedAt, ...request }: ChargeRequest): CobRequest {
  const { description, payer, merchant } = request
  return {
    calendario: { expiracao: Math.max(1, Math.floor((expiresAt - askedAt) / 1_000)) },
    ...(payer && { devedor: debtorOf(payer) }),
    valor: { original: amountOf(valueCents) },
    chave: merchant.pixKey,
    ...(description !== undefined && { solicitacaoPagador: description.slice(0, DESCRIPTION_MAX_LENGTH) }),
  }
}

function debtorOf({ name, document }: NonNullable<ChargeRequest['payer']>): NonNullable<CobRequest['devedor']> {
  return document.length === CPF_LENGTH ? { nome: name, cpf: document } : { nome: name, cnpj: document }
}

/** Whose charges they are, and the bank's time. */
export interface CobReading {
  readonly merchant: Merchant
  /** Epoch milliseconds, by the bank's clock. */
  readonly bankNow: () => number
}

/**
 * Judges what the bank tells of a charge. `cob` has no status for what expired: it is active past its end, and when that is
 * the bank says itself, by its own clock.
 * @source rules#api-pix.2, rules#api-pix.5
 */
export function judgeCob(id: string, { valueCents }: ChargeTerms, reading: CobReading): Judge<ReportedCharge> {
  const terms = { valueCents, pixKey: reading.merchant.pixKey }
  return judgeReported({ isBody: isCob, read: (cob) => read(cob, reading), echo, stand }, id, terms)
}

/** A charge, and what the bank must echo besides. */
interface Read {
  readonly charge: Charge
  readonly pixKey: string
}

function read(cob: Cob, { merchant, bankNow }: CobReading): Read {
  const { txid, calendario, valor, chave, pix = [] } = cob
  const expiresAt = Date.parse(calendario.criacao) + calendario.expiracao * 1_000
  const status = STATUSES[cob.status]
  return {
    charge: {
      id: dashedId(txid),
      transactionId: txid,
      status: status === 'ACTIVE' && bankNow() >= expiresAt ? 'EXPIRED' : status,
      valueCents: centsOf(valor.original),
      expiresAt,
      pixCode: pixCodeOf(cob, merchant),
      payments: pix.map(paymentOf),
    },
    pixKey: chave,
  }
}

const STATUSES: Readonly<Record<Cob['status'], ChargeStatus>> = {
  ATIVA: 'ACTIVE',
  CONCLUIDA: 'PAID',
  REMOVIDA_PELO_USUARIO_RECEBEDOR: 'CANCELLED',
  REMOVIDA_PELO_PSP: 'FAILED',
}

function echo({ charge: { id, valueCents }, pixKey }: Read) {
  return { id, valueCents, pixKey }
}

function stand({ charge }: Read): ReportedCharge | string {
  const { status, pixCode } = charge
  // Only what can still be paid is shown to anybody.
  if (status === 'ACTIVE') {
    return pixCode === undefined
      ? 'no pixCopiaECola of its location'
      : { kind: 'ACCEPTED', charge: { ...charge, status } }
  }
  // A status word books no money.
  if (status === 'PAID' && charge.payments.length === 0) return 'CONCLUIDA without a pix'
  return { kind: 'FINAL', charge: { ...charge, status } }
}

/**
 * The code that payers scan, which must lead to the charge's own location. Where a bank leaves it out, it is made of that.
 * @returns `undefined` where there is none, or it is of something else
 * @source rules#api-pix.6
 */
function pixCodeOf({ pixCopiaECola, location }: Cob, { name, city }: Merchant): string | undefined {
  try {
    if (!pixCopiaECola) {
      return location ? buildDynamicBrCode({ url: bare(location), merchantName: name, merchantCity: city }) : undefined
    }
    const code = parseBrCode(pixCopiaECola)
    const leadsHome = code.kind === 'dynamic' && (!location || bare(code.url) === bare(location))
    return leadsHome ? pixCopiaECola : undefined
  } catch (error) {
    if (error instanceof BrCodeError) return undefined
    throw error
  }
}

/** As it stands in a code: without a scheme. */
function bare(location: string): string {
  return location.replace(/^https:\/\//, '')
}
