import { setTimeout as delay } from 'node:timers/promises'
import { styleText } from 'node:util'

const TIMEOUT_MS = 10_000
const POLL_MS = 100

/** Polls until `look` returns a result. @throws Error that says what is missing, after ten seconds */
export async function until<Found>(missing: string, look: () => Found | Promise<Found>): Promise<NonNullable<Found>> {
  const deadline = performance.now() + TIMEOUT_MS
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > deadline) throw new Error(`${missing} within ${TIMEOUT_MS / 1_000} s`)
    await delay(POLL_MS)
  }
}

/** Formats centavos as reais. */
export function reais(cents: number): string {
  return new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' }).format(cents / 100)
}

/** Prints a completed step of the demo. */
export function print(what: string, how: string): void {
  console.log(`${styleText('green', '✔')} ${what.padEnd(13)} ${how}`)
}
