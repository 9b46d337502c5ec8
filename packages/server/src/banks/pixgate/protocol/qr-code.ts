import type { QrCode } from '../../port.ts'
import { visibleText } from '../../visible-text.ts'
import { isQrCode } from './bodies.ts'

/** Reads the answer of `POST /qr-codes/decode`; `undefined` where it is none. */
export function qrCodeOf(json: unknown): QrCode | undefined {
  if (!isQrCode(json)) return undefined
  const { decodeId, valueCents, txid, status, expiresAt, recipient } = json
  return {
    decodeId,
    valueCents: valueCents === undefined ? undefined : BigInt(valueCents),
    txid,
    status,
    expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
    recipient: {
      name: visibleText(recipient.name),
      document: visibleText(recipient.document),
      pixKey: recipient.pixKey,
    },
  }
}
