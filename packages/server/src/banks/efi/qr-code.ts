import { isSuccess, UNREADABLE, unanswered, unknown } from '../answers.ts'
import { centsOf } from '../api-pix/money.ts'
import type { Outcome } from '../link.ts'
import type { ChargeStatus, QrCode, QrCodeAnswer } from '../port.ts'
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

/** The bank has no id for a reading: it is named by what was read. */
function qrCodeOf({ txid, revisao = 0, calendario, status, recebedor, valor, chave }: DetailedQrCode): QrCode {
  const { criacao, expiracao } = calendario
  return {
    decodeId: `${txid}:${revisao}`,
    valueCents: centsOf(valor.final),
    txid,
    status: STATUSES[status],
    expiresAt: criacao === undefined || expiracao === undefined ? undefined : Date.parse(criacao) + expiracao * 1_000,
    recipient: {
      name: visibleText(recebedor.nome ?? ''),
      document: visibleText(recebedor.cpf ?? recebedor.cnpj ?? ''),
      pixKey: chave,
    },
  }
}
