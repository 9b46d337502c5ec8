import type { PartnerQrCode } from '@pixgate/spec'
import { MERCHANT } from '../account-holders.ts'
import type { Bank } from '../bank.ts'
import { instant } from '../events.ts'
import { chargeOf } from './account.ts'
import { cobTermsOf, lifeSeconds } from './cob.ts'
import { Problem } from './problems.ts'
import { maskedPerson, valorOf } from './values.ts'

/** Reported lifetime of a code that never expires. */
const LIFE_SECONDS = 86_400

/**
 * Response of Efí's «Detalhar QR Code Pix» for a dynamic code of this bank or another.
 * @throws Problem QrcodeOperacaoInvalida (static code) · Refused pix_code_not_payable
 */
export function codeDetail(bank: Bank, pixCode: string): object {
  const code = bank.qrCodes.decode(pixCode)
  const charge = chargeOf(bank, code.txid)
  const apresentacao = instant(bank.clock.now())
  if (!charge) return foreignDetail(bank, code, apresentacao)
  const { devedor, ...terms } = cobTermsOf(charge)
  const { original } = terms.valor
  const criacao = instant(charge.createdAt)
  return {
    tipoCob: 'cob',
    ...terms,
    calendario: { criacao, apresentacao, expiracao: lifeSeconds(charge) },
    ...(charge.terms.payer && { devedor: maskedPerson(charge.terms.payer) }),
    recebedor: maskedPerson(MERCHANT),
    // Efí's documentation has one of these fields, the types of its client the other.
    valor: { original, final: original },
  }
}

function foreignDetail(
  bank: Bank,
  { txid, valueCents, expiresAt, recipient }: PartnerQrCode,
  apresentacao: string,
): object {
  if (valueCents === undefined || !/^[a-zA-Z0-9]{26,35}$/.test(txid)) {
    const razao = 'O pixCopiaECola informado é referente a uma cobrança estática'
    throw new Problem('QrcodeOperacaoInvalida', [{ razao, propriedade: 'qrcode.pixCopiaECola' }])
  }
  const leftMs = expiresAt === undefined ? LIFE_SECONDS * 1_000 : Date.parse(expiresAt) - bank.clock.now()
  const valor = valorOf(valueCents)
  return {
    tipoCob: 'cob',
    txid,
    revisao: 0,
    calendario: { criacao: apresentacao, apresentacao, expiracao: Math.ceil(leftMs / 1_000) },
    status: 'ATIVA',
    recebedor: maskedPerson(recipient),
    valor: { original: valor, final: valor },
    chave: recipient.pixKey,
  }
}
