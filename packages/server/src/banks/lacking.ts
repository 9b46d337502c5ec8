import type { BankCall } from './around-calls.ts'
import type { NotSent, Partner, PartnerCapability } from './port.ts'

type Lacking = Pick<Partner, BankCall | 'listedWithinMs'>

/** For a connector that says nothing else. */
const LISTED_WITHIN_MS = 300_000

async function notSent(): Promise<NotSent> {
  return { kind: 'NOT_SENT', reason: 'the bank does not do this' }
}

/** The calls of a bank that can do nothing: none ever leaves. For a connector to begin with. */
export const lacking: Lacking = {
  listedWithinMs: {
    PAYMENT_RECEIVED: LISTED_WITHIN_MS,
    PAYMENT_TAKEN_BACK: LISTED_WITHIN_MS,
    REFUND_SENT: LISTED_WITHIN_MS,
    PAYOUT_SENT: LISTED_WITHIN_MS,
    PAYOUT_RETURNED: LISTED_WITHIN_MS,
  },
  createCharge: notSent,
  getCharge: notSent,
  cancelCharge: notSent,
  sendPayout: notSent,
  getPayout: notSent,
  decodeQrCode: notSent,
  sendRefund: notSent,
  getRefund: notSent,
  readStatement: notSent,
  readBalance: notSent,
}

/** What each call needs. */
const NEEDED: Readonly<Record<BankCall, PartnerCapability>> = {
  createCharge: 'charge',
  getCharge: 'query-charge',
  cancelCharge: 'cancel-charge',
  sendPayout: 'payout',
  getPayout: 'query-payout',
  decodeQrCode: 'decode-qr-code',
  sendRefund: 'refund',
  getRefund: 'query-refund',
  readStatement: 'statement',
  readBalance: 'balance',
}

/** Every call. */
export const BANK_CALLS = Object.keys(NEEDED) as readonly BankCall[]

/**
 * A bank that is called for nothing it cannot do, whoever tries: not for what was created while another bank was configured
 * either.
 * @source rules#partner.10
 */
export function withinCapabilities(partner: Partner): Partner {
  const missing = BANK_CALLS.filter((name) => !partner.capabilities.has(NEEDED[name]))
  return { ...partner, ...Object.fromEntries(missing.map((name) => [name, lacking[name]])) }
}

/**
 * Every payment is queried before it is booked.
 * @returns why production does not start with a bank; `undefined`: it does
 * @source rules#cash-in.credits.2
 */
export function faultInProduction({ capabilities }: Pick<Partner, 'capabilities'>): string | undefined {
  if (capabilities.has('query-charge')) return undefined
  return 'PIXGATE_BANK: charges cannot be queried at this bank, which production needs; choose another connector'
}
