import { sha256 } from '../../platform/crypto.ts'
import { isSuccess, UNREADABLE, unanswered, unknown } from '../answers.ts'
import type { Outcome } from '../link.ts'
import type { ChargeStatus, QrCode, QrCodeAnswer, QrCodePayoutRequest, Rejected } from '../port.ts'
import { amountOf, centsOf, instantOf } from '../values.ts'
import { visibleText } from '../visible-text.ts'
import { type DetailedQrCode, isDetailedQrCode } from './bodies.ts'
import { refusalOf } from './refusal.ts'

/** QR codes, as the bank reads them: dynamic ones alone. */

const REFUSAL_STATUSES = new Set([400, 404, 422])

/** Judges the outcome of having a code read. @source rules#efi.4 */
export function classifyDetail(outcome: Outcome): QrCodeAnswer {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  if (isSuccess(outcome)) {
    return isDetailedQrCode(outcome.json)
      ? { kind: 'DECODED', qrCode: qrCodeOf(outcome.json) }
      : unknown(outcome, UNREADABLE)
  }
  const refusal = REFUSAL_STATUSES.has(outcome.httpStatus) ? refusalOf(outcome.json) : undefined
  return refusal ? { kind: 'REJECTED', ...refusal } : unknown(outcome)
}

const STATUSES: Readonly<Record<DetailedQrCode['status'], ChargeStatus>> = {
  ATIVA: 'ACTIVE',
  CONCLUIDA: 'PAID',
  REMOVIDA_PELO_USUARIO_RECEBEDOR: 'CANCELLED',
  REMOVIDA_PELO_PSP: 'FAILED',
}

/**
 * The bank has no id for a reading: it is named by all that was read of what is paid, and to whom, so that another reading under
 * the same name pays the same.
 */
function qrCodeOf({ txid, revisao = 0, calendario, status, recebedor, valor, chave }: DetailedQrCode): QrCode {
  const { criacao, expiracao } = calendario
  const document = recebedor.cpf ?? recebedor.cnpj ?? ''
  return {
    decodeId: `${txid}:${revisao}:${sha256(JSON.stringify([amountOf(centsOf(valor.final)), chave, document])).toString('hex')}`,
    valueCents: centsOf(valor.final),
    txid,
    status: STATUSES[status],
    expiresAt: criacao === undefined || expiracao === undefined ? undefined : instantOf(criacao) + expiracao * 1_000,
    recipient: {
      name: visibleText(recebedor.nome ?? ''),
      document: visibleText(document),
      pixKey: chave,
    },
  }
}

/** Whether a code can be paid as it was ordered; refused: no payment of it on these terms can begin any more. */
export type CodeStanding = 'AS_ORDERED' | 'UNCLEAR' | Rejected

/** Its owner changed what it asks for, or for whom, since the order. */
const CHANGED: Rejected = {
  kind: 'REJECTED',
  errorCode: 'qr_code_changed',
  errorMessage: 'the QR code no longer asks for what was ordered',
}

/**
 * Holds a code, read right before it is paid, against the order. One that was paid meanwhile may have been paid by an attempt
 * of ours whose answer was lost; that one has expired two clocks tell, and no clock makes a refusal.
 * @param now epoch milliseconds, by our clock
 * @source rules#efi.4
 */
export function standingOf(read: QrCodeAnswer, order: QrCodePayoutRequest, now: number): CodeStanding {
  if (read.kind === 'REJECTED') return read
  if (read.kind !== 'DECODED' || read.qrCode.status === 'PAID') return 'UNCLEAR'
  const { status, decodeId, valueCents, expiresAt } = read.qrCode
  const isSame = isNamedBy(order.decodeId, decodeId) && valueCents === order.valueCents
  if (status !== 'ACTIVE' || !isSame) return CHANGED
  return expiresAt === undefined || expiresAt > now ? 'AS_ORDERED' : 'UNCLEAR'
}

/** Orders that were stored by an earlier version name the `txid` and the revision alone, which no colon is in. */
function isNamedBy(ordered: string, decodeId: string): boolean {
  return decodeId === ordered || decodeId.slice(0, decodeId.lastIndexOf(':')) === ordered
}
