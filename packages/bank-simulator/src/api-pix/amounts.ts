/** Pattern of an amount. @source BCB, API Pix (valor) */
export const AMOUNT = '^\\d{1,10}\\.\\d{2}$'

/** Formats centavos as `\d{1,10}\.\d{2}`, with a minus sign if an account is overdrawn. */
export function valorOf(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** Parses a text that matches {@link AMOUNT} to centavos. */
export function centsOf(valor: string): number {
  return Number(valor.replace('.', ''))
}
