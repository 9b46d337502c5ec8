import type { KeyPayoutRequest, QrCodePayoutRequest } from '../../../src/banks/port.ts'

/** Our id of the payout that the tests send. */
export const ID = '0198c0de7a11700080005f1d3c2b1a10'

/** Orders of the tests. */
export const REQUEST: KeyPayoutRequest = {
  valueCents: 15_000n,
  description: 'Repasse 1',
  recipient: { pixKey: '52998224725', pixKeyType: 'cpf', name: 'Maria da Silva', document: '52998224725' },
}

/** The same for a QR code. */
export const QR_CODE_REQUEST: QrCodePayoutRequest = {
  valueCents: 15_000n,
  pixCode: '00020101021226',
  decodeId: 'decode-1',
}

/** Answer of a bank that carries the order out. */
export const PROCESSING = { id: ID, transactionId: 'bank-1', status: 'PROCESSING', valueCents: 15_000 }

/** Its answer once it is done. */
export const CONFIRMED = {
  ...PROCESSING,
  status: 'CONFIRMED',
  feeCents: 0,
  endToEndId: 'E9999901020261121131500aB3dE5fG7',
  recipient: { name: 'Maria da Silva', document: '52998224725', ispb: '99999010' },
  returns: [],
  occurredAt: '2026-11-21T13:15:00.500Z',
}

/** Money of it that came back. */
export const RETURN = { returnId: 'D1', valueCents: 5_000, occurredAt: '2026-11-21T14:00:00Z' }
