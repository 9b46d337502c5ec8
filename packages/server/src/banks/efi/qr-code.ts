import { BrCodeError, parseBrCode } from '@pixgate/brcode'
import { Type } from 'typebox'
import { sha256 } from '../../platform/crypto.ts'
import { amount, CHARGE_STATUSES, instant, type RefusalReader } from '../api-pix/protocol.ts'
import { answerOf, UNREADABLE, unknown } from '../exchange.ts'
import type { Outcome } from '../link.ts'
import type { QrCodeAnswer, QrCodePayoutRequest, Rejected } from '../port.ts'
import { amountOf, bodyTest, centsOf, instantOf, visibleText } from '../values.ts'

/** QR codes, which Efí pays without a given amount. */

const isDetail = bodyTest(
  Type.Object({
    txid: Type.String({ minLength: 1 }),
    revisao: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
    calendario: Type.Object({
      criacao: Type.Optional(instant),
      expiracao: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
    }),
    status: Type.Enum(['ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'REMOVIDA_PELO_PSP']),
    recebedor: Type.Object({
      nome: Type.Optional(Type.String()),
      cpf: Type.Optional(Type.String()),
      cnpj: Type.Optional(Type.String()),
    }),
    valor: Type.Object({ final: amount }),
    chave: Type.String({ minLength: 1 }),
  }),
)

const REFUSAL_STATUSES: ReadonlySet<number> = new Set([400, 404, 422])

/**
 * Evaluates the decoding of a code. The bank has no id for a decoding, so its amount, key and document are the id:
 * another decoding with the same id pays the same.
 * @source rules#efi.4
 */
export function qrCodeAnswer(outcome: Outcome, refusalOf: RefusalReader): QrCodeAnswer {
  return answerOf<QrCodeAnswer, Rejected>(
    outcome,
    (answered) => {
      if (!isDetail(answered.json)) return unknown(answered, UNREADABLE)
      const { txid, revisao = 0, calendario, status, recebedor, valor, chave } = answered.json
      const { criacao, expiracao } = calendario
      const document = recebedor.cpf ?? recebedor.cnpj ?? ''
      const valueCents = centsOf(valor.final)
      const paid = sha256(JSON.stringify([amountOf(valueCents), chave, document])).toString('hex')
      const expiresAt =
        criacao === undefined || expiracao === undefined ? undefined : instantOf(criacao) + expiracao * 1_000
      return {
        kind: 'DECODED',
        qrCode: {
          decodeId: `${txid}:${revisao}:${paid}`,
          valueCents,
          txid,
          status: CHARGE_STATUSES[status],
          expiresAt,
          recipient: { name: visibleText(recebedor.nome ?? ''), document: visibleText(document), pixKey: chave },
        },
      }
    },
    ({ httpStatus, json }) => (REFUSAL_STATUSES.has(httpStatus) ? refusalOf(json) : undefined),
  )
}

/** Efí decodes dynamic codes only. Paying a static one by its key would lose its `txid`. */
export const STATIC_CODE: QrCodeAnswer = {
  kind: 'REJECTED',
  errorCode: 'static_qr_code',
  errorMessage: 'this bank pays dynamic QR codes alone',
}

export function isStatic(pixCode: string): boolean {
  try {
    return parseBrCode(pixCode).kind === 'static'
  } catch (error) {
    if (error instanceof BrCodeError) return false
    throw error
  }
}

/** Whether a code can be paid as ordered. A refusal means that no payment on these terms can begin any more. */
export type CodeStanding = 'AS_ORDERED' | 'UNCLEAR' | Rejected

const CHANGED: Rejected = {
  kind: 'REJECTED',
  errorCode: 'qr_code_changed',
  errorMessage: 'the QR code no longer asks for what was ordered',
}

/**
 * Compares a code, decoded right before its payment, with the order. A paid code may have been paid by our earlier
 * attempt whose answer was lost. Expiry depends on two clocks, so it is no refusal.
 * @param now epoch milliseconds by our clock
 * @source rules#efi.4
 */
export function standingOf(decoded: QrCodeAnswer, order: QrCodePayoutRequest, now: number): CodeStanding {
  if (decoded.kind === 'REJECTED') return decoded
  if (decoded.kind !== 'DECODED' || decoded.qrCode.status === 'PAID') return 'UNCLEAR'
  const { status, decodeId, valueCents, expiresAt } = decoded.qrCode
  const isSame = decodeId === order.decodeId && valueCents === order.valueCents
  if (status !== 'ACTIVE' || !isSame) return CHANGED
  return expiresAt === undefined || expiresAt > now ? 'AS_ORDERED' : 'UNCLEAR'
}
