/**
 * Money. The only file that knows that a real has 100 centavos.
 *
 * The service computes in integer centavos as `bigint`. Reais as decimal numbers exist only in request bodies and in
 * the balance's `amount`.
 */

const CENTAVOS_PER_REAL = 100n

/** Text of `1.5`, `19.99` or `-0.3`: sign, whole reais, one or two decimals. */
const REAIS = /^(-?)(\d+)\.(\d{1,2})$/

/**
 * Converts a JSON number of reais to centavos, exactly.
 *
 * Uses the shortest text of the parsed number, so `1e2` and `19.990` are valid and `1.005` is not.
 * @returns centavos, or `null` for more than two decimals or a number that is not finite
 * @source rules#money.1
 */
export function reaisToCents(reais: number): bigint | null {
  if (Number.isInteger(reais)) return BigInt(reais) * CENTAVOS_PER_REAL
  const match = REAIS.exec(String(reais))
  if (!match) return null
  const [, sign, whole = '', decimals = ''] = match
  const cents = BigInt(whole) * CENTAVOS_PER_REAL + BigInt(decimals.padEnd(2, '0'))
  return sign ? -cents : cents
}

/**
 * Converts centavos to a JSON number of reais; exact for every accepted amount (below 2^53 centavos).
 * @source rules#money.2
 */
export function centsToReais(cents: bigint): number {
  return Number(cents) / Number(CENTAVOS_PER_REAL)
}

/** Formats centavos for Brazilian readers: `R$ 1.234,56`. */
export function formatReais(cents: bigint): string {
  const sign = cents < 0n ? '-' : ''
  const absolute = cents < 0n ? -cents : cents
  const whole = (absolute / CENTAVOS_PER_REAL).toString().replace(/\B(?=(\d{3})+$)/g, '.')
  return `${sign}R$ ${whole},${(absolute % CENTAVOS_PER_REAL).toString().padStart(2, '0')}`
}

/**
 * The configured fee of an operation: a fixed part plus basis points of the value, rounded half up once.
 * @param valueCents the operation's value, positive
 * @source rules#fees.1
 */
export function feeCents(valueCents: bigint, fee: { readonly cents: bigint; readonly basisPoints: bigint }): bigint {
  const BASIS_POINTS = 10_000n
  return fee.cents + (valueCents * fee.basisPoints + BASIS_POINTS / 2n) / BASIS_POINTS
}

export function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}
