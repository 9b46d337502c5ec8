/** How amounts are written. @source BCB, API Pix (valor) */
export const AMOUNT = '^\\d{1,10}\\.\\d{2}$'

/** Centavos as `\d{1,10}\.\d{2}`, exact; an account may also be below zero. */
export function valorOf(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** The centavos of a text that fits {@link AMOUNT}, exact. */
export function centsOf(valor: string): number {
  return Number(valor.replace('.', ''))
}
