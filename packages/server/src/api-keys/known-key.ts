import type { ApiKeyScope, Caps } from '@pixgate/spec'
import { type Networks, networksOf } from '../platform/networks.ts'
import type { FoundKey } from './store.ts'

/** What an API key is good for. */
export interface KnownKey {
  readonly id: string
  readonly scopes: ReadonlySet<ApiKeyScope>
  /** From where alone; absent: from anywhere. */
  readonly networks?: Networks
  /** Epoch milliseconds; `null`: never. */
  readonly expiresAt: number | null
  /** Absent: it has none of its own. */
  readonly caps?: Caps
  /** The operator who made it; absent: the administrative token did. */
  readonly madeBy?: string
  readonly isDeactivated: boolean
}

/** Makes it of a row. */
export function knownKey({ id, scopes, cidrs, expiresAt, createdBy, deactivatedAt, ...caps }: FoundKey): KnownKey {
  const { paymentCents, hourCents, dayCents, nightCents, newRecipientCents } = caps
  const given: Caps = { paymentCents, hourCents, dayCents, nightCents, newRecipientCents }
  return {
    id,
    scopes: new Set(scopes),
    ...(cidrs && { networks: networksOf(cidrs) }),
    expiresAt,
    ...(Object.values(given).some((cents) => cents !== null) && { caps: given }),
    ...(createdBy !== null && { madeBy: createdBy }),
    isDeactivated: deactivatedAt !== null,
  }
}

/**
 * Why a key that is known does not let its bearer in, or `undefined`. Whoever asks is told none of it.
 * @source rules#api-keys.9, rules#api-keys.10
 */
export function faultOf(key: KnownKey, address: string, nowMs: number) {
  if (key.isDeactivated) return 'deactivated'
  if (key.expiresAt !== null && nowMs >= key.expiresAt) return 'expired'
  if (key.networks?.include(address) === false) return 'wrong_address'
  return undefined
}
