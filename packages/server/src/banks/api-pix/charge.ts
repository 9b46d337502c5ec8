import { BrCodeError, buildDynamicBrCode, parseBrCode } from '@pixgate/brcode'
import { type Answered, type Judge, judgeReported } from '../answers.ts'
import type { Charge, ChargeRequest, ChargeStatus, ChargeTerms, ReportedCharge } from '../port.ts'
import { amountOf, centsOf, instantOf, itemsOf } from '../values.ts'
import { type Stamps, stampOffset } from './bank-clock.ts'
import { type Cob, isCob, isPix } from './bodies.ts'
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
export function cobRequest(request: ChargeRequest): CobRequest {
  const { valueCents, expiresAt, askedAt, description, payer, merchant } = request
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
  readonly stamps: Stamps
}

/**
 * Judges what the bank tells of a charge. `cob` has no status for what expired: it is active past its end, and when that is
 * the bank says itself, by its own clock.
 * @source rules#api-pix.2, rules#api-pix.5
 */
export function judgeCob(id: string, terms: ChargeTerms, reading: CobReading): Judge<ReportedCharge> {
  const offsetMs = terms.stampOffsetMs ?? reading.stamps.offsetMs() ?? 0
  return judgeWith(id, terms, reading, offsetMs)
}

/**
 * Judges the answer that made a charge: its stamp of creation is of now, which shows how far the bank's stamps are off.
 * @source rules#api-pix.17
 */
export function judgeMadeCob(id: string, request: ChargeRequest, reading: CobReading): Judge<ReportedCharge> {
  return (answered) => {
    const offsetMs = request.isRepeated ? undefined : offsetIn(answered)
    if (offsetMs === undefined) return judgeCob(id, request, reading)(answered)
    reading.stamps.measured(offsetMs)
    return judgeWith(id, request, reading, offsetMs, { stampOffsetMs: offsetMs })(answered)
  }
}

function offsetIn({ json, dateMs }: Answered): number | undefined {
  return isCob(json) && dateMs !== undefined ? stampOffset(instantOf(json.calendario.criacao), dateMs) : undefined
}

function judgeWith(
  id: string,
  { valueCents, expiresAt }: ChargeTerms,
  { merchant, bankNow }: CobReading,
  offsetMs: number,
  measured: Pick<Charge, 'stampOffsetMs'> = {},
): Judge<ReportedCharge> {
  const readCob = (cob: Cob): Read => ({
    charge: { ...chargeOf(cob, { merchant, now: bankNow(), offsetMs, expiresAt }), ...measured },
    pixKey: cob.chave,
  })
  return judgeReported({ isBody: isCob, read: readCob, echo, stand }, id, { valueCents, pixKey: merchant.pixKey })
}

/** A charge, and what the bank must echo besides. */
interface Read {
  readonly charge: Charge
  readonly pixKey: string | undefined
}

function chargeOf(
  cob: Cob,
  {
    merchant,
    now,
    offsetMs,
    expiresAt: wantedEnd,
  }: { merchant: Merchant; now: number; offsetMs: number; expiresAt: number },
): Charge {
  const { txid, calendario, valor } = cob
  const madeAt = instantOf(calendario.criacao) - offsetMs
  const expiresAt = calendario.expiracao === undefined ? wantedEnd : madeAt + calendario.expiracao * 1_000
  const status = STATUSES[cob.status]
  return {
    id: txid,
    transactionId: txid,
    status: status === 'ACTIVE' && now >= expiresAt ? 'EXPIRED' : status,
    valueCents: centsOf(valor.original),
    expiresAt,
    pixCode: pixCodeOf(cob, merchant),
    // A payment that cannot be read is in the statement, too.
    payments: itemsOf(cob.pix)
      .filter(isPix)
      .map((pix) => paymentOf(pix, offsetMs, madeAt)),
  }
}

const STATUSES: Readonly<Record<Cob['status'], ChargeStatus>> = {
  ATIVA: 'ACTIVE',
  CONCLUIDA: 'PAID',
  REMOVIDA_PELO_USUARIO_RECEBEDOR: 'CANCELLED',
  REMOVIDA_PELO_PSP: 'FAILED',
}

function echo({ charge: { id, valueCents }, pixKey }: Read) {
  return { id, valueCents, ...(pixKey !== undefined && { pixKey }) }
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
