import { BrCodeError } from './br-code-error.ts'

/**
 * Object 54 in centavos. Besides `10.50` the forms EMV allows and issuers write: `10`, `10.`, `10.5`.
 * Undefined where the text is none of them.
 */
export function parseAmount(text: string): bigint | undefined {
  const [, reais, centavos = ''] = /^(\d{1,10})(?:\.(\d{0,2}))?$/.exec(text) ?? []
  return reais === undefined ? undefined : BigInt(reais + centavos.padEnd(2, '0'))
}

/**
 * Centavos as `\d{1,10}\.\d{2}`: 1n … 999,999,999,999n.
 * @throws BrCodeError amount_zero · amount_malformed (negative, or too large to be written)
 */
export function formatAmount(amountCents: bigint): string {
  const field = 'amountCents'
  if (amountCents === 0n) throw new BrCodeError('amount_zero', 'The amount must be greater than zero', { field })
  const digits = String(amountCents).padStart(3, '0')
  const amount = `${digits.slice(0, -2)}.${digits.slice(-2)}`
  if (!/^\d{1,10}\.\d{2}$/.test(amount)) {
    throw new BrCodeError('amount_malformed', 'The amount must be between 0.01 and 9999999999.99', { field })
  }
  return amount
}
