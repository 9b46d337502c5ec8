import type { Caps } from '@pixgate/spec'
import type { Document } from '../../engine/operation.ts'

/** The caps of the API key that asked for an order: they stand on it, as it is judged by them again when it is approved. */

/** The part of an order's facts that tells them; absent: the key has none. */
export interface KeyCapsFact extends Document {
  /** Centavos; `null`: no such cap. They are what they were when it was made, as those of a key never change. */
  readonly keyCaps?: { readonly [Cap in keyof Caps]: number | null }
}

/** What is kept of them. @source rules#limits.9 */
export function keyCapsFact(caps: Caps | undefined): KeyCapsFact {
  if (caps === undefined) return {}
  return { keyCaps: mapped(caps, (cents) => (cents === null ? null : Number(cents))) }
}

/** The caps as they were kept; absent: the key has none. */
export function keyCapsOf({ keyCaps }: KeyCapsFact): Caps | undefined {
  return keyCaps && mapped(keyCaps, (cents) => (cents === null ? null : BigInt(cents)))
}

function mapped<From, To>(caps: { readonly [Cap in keyof Caps]: From }, change: (cents: From) => To) {
  return {
    paymentCents: change(caps.paymentCents),
    hourCents: change(caps.hourCents),
    dayCents: change(caps.dayCents),
    nightCents: change(caps.nightCents),
    newRecipientCents: change(caps.newRecipientCents),
  }
}
