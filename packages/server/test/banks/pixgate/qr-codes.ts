/** A bank's decoding of a QR code. */
export const QR_CODE = {
  decodeId: 'decode-1',
  valueCents: 15_000,
  txid: 'pedido1',
  status: 'ACTIVE',
  expiresAt: '2026-11-22T13:00:00.123Z',
  recipient: { name: 'Loja', document: '11222333000181', pixKey: 'loja@exemplo.com.br' },
}
