import { setTimeout as delay } from 'node:timers/promises'
import { styleText } from 'node:util'

const PATIENCE_MS = 10_000
const POLL_MS = 100

/** Looks until there is something. @throws Error that says what is missing, after ten seconds */
export async function until<Found>(missing: string, look: () => Found | Promise<Found>): Promise<NonNullable<Found>> {
  const patienceEndsAt = performance.now() + PATIENCE_MS
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > patienceEndsAt) throw new Error(`${missing} within ${PATIENCE_MS / 1_000} s`)
    await delay(POLL_MS)
  }
}

/** Centavos as a person reads them. */
export function reais(cents: number): string {
  return new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' }).format(cents / 100)
}

/** One line of the tour: it happened. */
export function print(what: string, how: string): void {
  console.log(`${styleText('green', '✔')} ${what.padEnd(13)} ${how}`)
}
