import type { Payout, PayoutStatus, QrCode } from '../../src/banks/port.ts'

/** What banks answer about payouts. */

const OCCURRED_AT = 1_700_000_000_000

/** A payout as a bank tells it. */
export function payout<Status extends PayoutStatus>(status: Status, given: Partial<Payout> = {}): Payout<Status> {
  return {
    id: 'id',
    transactionId: 'tx',
    valueCents: 30_00n,
    feeCents: undefined,
    endToEndId: undefined,
    recipient: undefined,
    errorCode: undefined,
    errorMessage: undefined,
    returns: [],
    occurredAt: undefined,
    ...given,
    status,
  }
}

const LEFT = { endToEndId: 'E1', occurredAt: OCCURRED_AT }

export const PROCESSING = { kind: 'ACCEPTED', payout: payout('PROCESSING') } as const
export const CONFIRMED = { kind: 'FINAL', payout: { ...payout('CONFIRMED'), ...LEFT } } as const
export const RETURNED = {
  kind: 'FINAL',
  payout: {
    ...payout('RETURNED'),
    ...LEFT,
    returns: [
      { returnId: 'D1', valueCents: 10_00n, occurredAt: OCCURRED_AT },
      { returnId: 'D2', valueCents: 20_00n, occurredAt: OCCURRED_AT },
    ],
  },
} as const
export const FAILED = {
  kind: 'FINAL',
  payout: payout('FAILED', { errorCode: 'closed_account', errorMessage: 'closed' }),
} as const
export const REJECTED = { kind: 'REJECTED', errorCode: 'limit', errorMessage: 'too much' } as const
export const NOT_FOUND = { kind: 'NOT_FOUND' } as const
export const TIMEOUT = { kind: 'UNKNOWN', reason: 'timeout', httpStatus: undefined } as const
export const UNREACHABLE = { kind: 'NOT_SENT', reason: 'ECONNREFUSED' } as const

/** A code as a bank decodes it; every decoding has its own id. */
export const QR_CODE: QrCode = {
  decodeId: 'decode',
  valueCents: 30_00n,
  txid: 'txid',
  status: 'ACTIVE',
  expiresAt: undefined,
  recipient: { name: 'Padaria Central', document: '11222333000181', pixKey: 'padaria@example.com' },
}
