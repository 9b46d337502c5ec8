import type { createAdjustment, getCashOutSwitch } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Adjustment } from './rules.ts'
import type { CashOutSwitch } from './store.ts'

/** What the operator reads. */

/** The switch. */
export function switchView({
  enabled,
  reason,
  changedAt,
  version,
}: CashOutSwitch): Static<(typeof getCashOutSwitch)['responses'][200]['schema']> {
  const at = changedAt === null ? null : new Date(changedAt).toISOString()
  return { enabled, reason, changedAt: at, version: Number(version) }
}

/** An adjustment, of what never changes; its value as it was sent. */
export function adjustmentView({
  id,
  status,
  valueCents,
  detail,
  createdAt,
}: Adjustment): Static<(typeof createAdjustment)['responses'][201]['schema']> {
  return {
    id,
    valueCents: Number(status === 'CREDITED' ? valueCents : -valueCents),
    reason: detail.reason,
    createdAt: new Date(createdAt).toISOString(),
  }
}
