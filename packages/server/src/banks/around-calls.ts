import type { Partner } from './port.ts'

/** The calls of a bank, by the names of {@link Partner}. */
export type BankCall = Exclude<
  keyof Partner,
  'capabilities' | 'idempotencyWindowMs' | 'listedWithinMs' | 'stamps' | 'unlistedFees'
>

/** What is looked at in an answer of any call. */
export interface AnyAnswer {
  readonly kind: string
  readonly reason?: string
  readonly errorCode?: string
  readonly httpStatus?: number | undefined
  readonly isOfOrderAlone?: boolean
}

/** One call of a bank. */
export type Ask<Parameters extends readonly unknown[], Given extends AnyAnswer> = (
  ...call: Parameters
) => Promise<Given>

/** Puts the same thing around each call of a bank. */
export function aroundCalls(
  partner: Partner,
  around: <Parameters extends readonly unknown[], Given extends AnyAnswer>(
    call: BankCall,
    ask: Ask<Parameters, Given>,
  ) => Ask<Parameters, Given>,
): Partner {
  return {
    ...partner,
    createCharge: around('createCharge', (...call) => partner.createCharge(...call)),
    getCharge: around('getCharge', (...call) => partner.getCharge(...call)),
    cancelCharge: around('cancelCharge', (...call) => partner.cancelCharge(...call)),
    sendPayout: around('sendPayout', (...call) => partner.sendPayout(...call)),
    getPayout: around('getPayout', (...call) => partner.getPayout(...call)),
    decodeQrCode: around('decodeQrCode', (...call) => partner.decodeQrCode(...call)),
    sendRefund: around('sendRefund', (...call) => partner.sendRefund(...call)),
    getRefund: around('getRefund', (...call) => partner.getRefund(...call)),
    readStatement: around('readStatement', (...call) => partner.readStatement(...call)),
    readBalance: around('readBalance', (...call) => partner.readBalance(...call)),
  }
}
