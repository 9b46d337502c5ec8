import { BrCodeError, buildDynamicBrCode, parseBrCode } from '@pixgate/brcode'
import type { Clock } from '../../platform/clock.ts'
import { type Judge, judgeCharge } from '../exchange.ts'
import type { Charge, ChargeRequest, ChargeTerms, ClockOffset, ReportedCharge } from '../port.ts'
import { amountOf, centsOf, instantOf, itemsOf } from '../values.ts'
import type { ApiPixOptions } from './bank.ts'
import { paymentOf } from './payments.ts'
import { CHARGE_STATUSES, type Cob, isCob, isPix } from './protocol.ts'

/** Charges (`cob`), and the bank's clock, by which they expire. */

/** Maximum difference from our clock at which a `Date` is trusted. */
const CREDIBLE_MS = 600_000

/**
 * The bank's clock, in epoch milliseconds: ours until the first `Date`. Follows the last `Date` at the pace of our clock. It never goes back, so a wrong `Date` counts as long as it is
 * ahead; {@link CREDIBLE_MS} bounds that.
 * @param ours epoch milliseconds
 * @source rules#api-pix.16
 */
export function createBankClock(ours: Clock['now']) {
  let aheadMs: number | undefined
  let latest = Number.NEGATIVE_INFINITY
  return {
    now: (): number => {
      if (aheadMs === undefined) return ours()
      latest = Math.max(latest, ours() + aheadMs)
      return latest
    },
    observe: (dateMs: number): void => {
      const ahead = dateMs - ours()
      if (Math.abs(ahead) <= CREDIBLE_MS) aheadMs = ahead
    },
  }
}

const MINUTE_MS = 60_000
/** Granularity of time zone offsets. */
const OFFSET_STEP_MS = 15 * MINUTE_MS
const OFFSET_MAX_MS = 14 * 60 * MINUTE_MS

/**
 * Offset of the timestamps of a bank that writes local time and marks it `Z`.
 * @param stampMs timestamp the bank wrote while it answered, epoch milliseconds as written
 * @param dateMs the `Date` of that answer, epoch milliseconds
 * @returns timestamp minus true time in milliseconds; 0 when no time zone explains the difference
 * @source rules#api-pix.17
 */
export function stampOffset(stampMs: number, dateMs: number): number {
  const offsetMs = Math.round((stampMs - dateMs) / OFFSET_STEP_MS) * OFFSET_STEP_MS
  return offsetMs !== 0 && Math.abs(offsetMs) <= OFFSET_MAX_MS ? offsetMs : 0
}

export type MeasuredClockOffset = ReturnType<typeof createClockOffset>

/** A {@link ClockOffset} that is measured here. */
export function createClockOffset() {
  let measuredMs: number | undefined
  let assumedMs: number | undefined
  return {
    offsetMs: () => measuredMs ?? assumedMs,
    measured: (offsetMs: number) => {
      measuredMs = offsetMs
    },
    assume: (offsetMs: number) => {
      assumedMs = offsetMs
    },
  }
}

const DESCRIPTION_MAX_LENGTH = 140

/**
 * Body of `PUT /cob/{txid}`. The bank counts the seconds from its own creation of the charge. The seconds of an earlier
 * attempt, which the bank never received, would make its charge outlive ours.
 * @source rules#api-pix.2
 */
export function cobRequest({ valueCents, expiresAt, askedAt, description, payer, merchant }: ChargeRequest): object {
  return {
    calendario: { expiracao: Math.max(1, Math.floor((expiresAt - askedAt) / 1_000)) },
    ...(payer && { devedor: { nome: payer.name, ...documentOf(payer.document) } }),
    valor: { original: amountOf(valueCents) },
    chave: merchant.pixKey,
    ...(description !== undefined && { solicitacaoPagador: description.slice(0, DESCRIPTION_MAX_LENGTH) }),
  }
}

const CPF_LENGTH = 11

export function documentOf(document: string): { readonly cpf: string } | { readonly cnpj: string } {
  return document.length === CPF_LENGTH ? { cpf: document } : { cnpj: document }
}

export type CobReading = Pick<ApiPixOptions, 'merchant' | 'bankNow'> & { readonly clockOffset: MeasuredClockOffset }

/** Evaluates a queried charge. @source rules#api-pix.2, rules#api-pix.5 */
export function judgeCob(id: string, terms: ChargeTerms, reading: CobReading): Judge<ReportedCharge> {
  const offsetMs = terms.stampOffsetMs ?? reading.clockOffset.offsetMs() ?? 0
  return judgeAt(id, terms, reading, (cob) => chargeOf(cob, terms, reading, offsetMs))
}

/**
 * Evaluates the answer to the creation of a charge. Its creation time is now, and so reveals the offset of the bank's
 * timestamps.
 * @source rules#api-pix.17
 */
export function judgeMadeCob(id: string, request: ChargeRequest, reading: CobReading): Judge<ReportedCharge> {
  return (answered) => {
    const { json, dateMs } = answered
    const canMeasure = !request.isRepeated && isCob(json) && dateMs !== undefined
    if (!canMeasure) return judgeCob(id, request, reading)(answered)
    const offsetMs = stampOffset(instantOf(json.calendario.criacao), dateMs)
    reading.clockOffset.measured(offsetMs)
    const read = (cob: Cob) => ({ ...chargeOf(cob, request, reading, offsetMs), stampOffsetMs: offsetMs })
    return judgeAt(id, request, reading, read)(answered)
  }
}

function judgeAt(id: string, terms: ChargeTerms, { merchant }: CobReading, read: (cob: Cob) => Charge) {
  return judgeCharge(id, terms, (json) => (isCob(json) ? read(json) : undefined), {
    ours: merchant.pixKey,
    of: (json) => (isCob(json) ? json.chave : undefined),
  })
}

/** `cob` has no status for an expired charge: it stays active past its end by the bank's own timestamps and clock. */
function chargeOf(cob: Cob, terms: ChargeTerms, { merchant, bankNow }: CobReading, offsetMs: number): Charge {
  const { txid, calendario, valor } = cob
  const madeAt = instantOf(calendario.criacao) - offsetMs
  const expiresAt = calendario.expiracao === undefined ? terms.expiresAt : madeAt + calendario.expiracao * 1_000
  const status = CHARGE_STATUSES[cob.status]
  return {
    id: txid,
    transactionId: txid,
    status: status === 'ACTIVE' && bankNow() >= expiresAt ? 'EXPIRED' : status,
    valueCents: centsOf(valor.original),
    expiresAt,
    pixCode: pixCodeOf(cob, merchant),
    // Unreadable payments are skipped: the statement has them.
    payments: itemsOf(cob.pix)
      .filter(isPix)
      .map((pix) => paymentOf(pix, offsetMs, madeAt)),
  }
}

/**
 * The BR Code, which must lead to the charge's own location. A missing one is built from the location.
 * @source rules#api-pix.6
 */
function pixCodeOf({ pixCopiaECola, location }: Cob, { name, city }: CobReading['merchant']): string | undefined {
  try {
    if (!pixCopiaECola) {
      return location ? buildDynamicBrCode({ url: bare(location), merchantName: name, merchantCity: city }) : undefined
    }
    const code = parseBrCode(pixCopiaECola)
    const isOfLocation = code.kind === 'dynamic' && (!location || bare(code.url) === bare(location))
    return isOfLocation ? pixCopiaECola : undefined
  } catch (error) {
    if (error instanceof BrCodeError) return undefined
    throw error
  }
}

/** BR Codes contain the location without a scheme. */
function bare(location: string): string {
  return location.replace(/^https:\/\//, '')
}
