import type { BankBalance } from '../../port.ts'
import { isBalance } from './bodies.ts'

/** Reads the answer of `GET /balance`; `undefined` where it is none. @source partner-protocol#balance */
export function balanceOf(json: unknown): BankBalance | undefined {
  if (!isBalance(json)) return undefined
  const { availableCents, asOf } = json
  return { availableCents: BigInt(availableCents), asOf: asOf === undefined ? null : Date.parse(asOf) }
}
