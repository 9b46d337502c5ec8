import type { ChargeRequest } from '../../../src/banks/port.ts'

/** Our id of the charge that the tests ask for. */
export const ID = '0198c0de7a11700080005f1d3c2b1a09'

/** Charge that the tests request. */
export const REQUEST: ChargeRequest = {
  valueCents: 15_000n,
  expiresAt: Date.parse('2026-11-22T13:00:00.123Z'),
  askedAt: Date.parse('2026-11-22T12:00:00.123Z'),
  description: 'Pedido 1',
  payer: { name: 'Maria da Silva', document: '52998224725' },
  merchant: { pixKey: 'loja@exemplo.com.br', name: 'Loja', city: 'SAO PAULO' },
}

/** Answer of a bank that carries the request out. */
export const CHARGE = {
  id: ID,
  transactionId: 'bank-1',
  status: 'ACTIVE',
  valueCents: 15_000,
  pixCode: '00020101021226',
  expiresAt: '2026-11-22T13:00:00.123Z',
}

/** A payment of it. */
export const PAYMENT = {
  endToEndId: 'E9999901020261121131500aB3dE5fG7',
  valueCents: 15_000,
  occurredAt: '2026-11-21T13:15:00.500Z',
  payer: { name: 'Maria da Silva', document: '52998224725', ispb: '99999010' },
}
