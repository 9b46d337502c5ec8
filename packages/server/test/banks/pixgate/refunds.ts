import type { RefundRequest } from '../../../src/banks/port.ts'

/** Our id of the refund that the tests send. */
export const ID = '0198c0de7a11700080005f1d3c2b1a11'

/** Orders of the tests. */
export const REQUEST: RefundRequest = {
  endToEndId: 'E9999901020261121131500aB3dE5fG7',
  valueCents: 5_000n,
  reason: 'Devolvido',
}

/** Answer of a bank that carries the order out. */
export const PROCESSING = { id: ID, transactionId: 'bank-2', status: 'PROCESSING', valueCents: 5_000 }

/** Its answer once it is done. */
export const CONFIRMED = {
  ...PROCESSING,
  status: 'CONFIRMED',
  returnId: 'D9999901020261121150000aB3dE5fG7',
  occurredAt: '2026-11-21T15:00:00.250Z',
}
