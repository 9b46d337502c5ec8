import { type DeskDecision, formatReais, type LooseDecision } from '@pixgate/spec'

/** Which decisions take a second person. Pure. */

/**
 * Why a decision takes a second person, in words; `null`: it takes none. A query of the bank that
 * hands nothing over moves nothing, and leaves its case open.
 * @param amountCents `null`: unknown
 * @param fromCents from which amount on; 0: every decision
 * @source rules#desk.39, rules#desk.47
 */
export function whySecondPerson(
  decision: DeskDecision | LooseDecision | null,
  amountCents: number | null,
  fromCents: number,
): string | null {
  if (decision === 'ask_again' && amountCents === 0) return null
  if (amountCents === null) return 'its amount is unknown'
  return amountCents >= fromCents ? `its amount is at least ${formatReais(BigInt(fromCents))}` : null
}
