import { limits, Refusal } from '@pixgate/spec'
import type { SigningKey, SigningKeyState } from './signing-key.ts'

/** When a signing key may move on. Pure. */

/**
 * How long anybody may work with keys as they were: an answer is cached for so long, and was so old already when it was
 * given.
 */
export const KNOWN_EVERYWHERE_MS = limits.publicKeyMaxAgeSeconds * 1_000 + limits.publishedKeysAgeMs

/**
 * From when on a key moves on unforced: the next one may sign, the previous one may be retired. `null` where it waits for
 * nothing: the current one is replaced by the next, and a retired one stays.
 * @source rules#signing-keys.2
 */
export function mayMoveAt({ state, createdAt, replacedAt }: SigningKey): number | null {
  if (state === 'next') return createdAt + KNOWN_EVERYWHERE_MS
  return state === 'previous' && replacedAt !== null ? replacedAt + KNOWN_EVERYWHERE_MS : null
}

/** What an operator wants of a key. */
export interface Order {
  readonly reason: string
  /** Also where receivers may not know of it yet. */
  readonly force: boolean
}

/**
 * Whether a key is still to be promoted: not where it signs already.
 * @throws Refusal signing_key_state_conflict (409) it is not the next one · signing_key_too_soon (409)
 * @source rules#signing-keys.2, rules#signing-keys.3
 */
export function decidePromotion(key: SigningKey, { force }: Order, nowMs: number): boolean {
  if (key.state === 'current') return false
  refuseUnless(key, ['next'])
  if (!force) refuseTooSoon(key, nowMs)
  return true
}

/**
 * Whether a key is still to be retired: not where it is already. A next one signed nothing: it may go at any time.
 * @throws Refusal signing_key_state_conflict (409) it signs · signing_key_too_soon (409)
 * @source rules#signing-keys.2, rules#signing-keys.3
 */
export function decideRetirement(key: SigningKey, { force }: Order, nowMs: number): boolean {
  if (key.state === 'retired') return false
  refuseUnless(key, ['next', 'previous'])
  if (key.state === 'previous' && !force) refuseTooSoon(key, nowMs)
  return true
}

function refuseUnless({ state }: SigningKey, states: readonly SigningKeyState[]): void {
  if (!states.includes(state)) throw new Refusal('signing_key_state_conflict')
}

function refuseTooSoon(key: SigningKey, nowMs: number): void {
  if (nowMs < (mayMoveAt(key) ?? 0)) throw new Refusal('signing_key_too_soon')
}
