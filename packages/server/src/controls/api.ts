import { type createAdjustment, type endpoints, type getCashOutSwitch, Refusal } from '@pixgate/spec'
import type { Static } from 'typebox'
import { operatorOf } from '../audit/trail.ts'
import { hashOf, identityOf } from '../operations/requests.ts'
import type { Handlers } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import type { Adjustment, CashOutSwitch, OperatorCommands, OperatorStore } from './commands.ts'

function switchView({
  enabled,
  reason,
  changedAt,
  version,
}: CashOutSwitch): Static<(typeof getCashOutSwitch)['responses'][200]['schema']> {
  const at = changedAt === null ? null : new Date(changedAt).toISOString()
  return { enabled, reason, changedAt: at, version: Number(version) }
}

/** The immutable part of an adjustment, with the value as sent. */
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

export type OperatorHandlers = Handlers<
  Pick<typeof endpoints, 'getCashOutSwitch' | 'setCashOutSwitch' | 'createAdjustment'>
>

export function createOperatorHandlers(
  commands: OperatorCommands,
  store: OperatorStore,
  { ids }: { readonly ids: Ids },
): OperatorHandlers {
  return {
    getCashOutSwitch: async () => ({ status: 200, body: switchView(await store.readSwitch()) }),
    setCashOutSwitch: async ({ body: { enabled, reason, version }, context }) => {
      const seen = version == null ? undefined : BigInt(version)
      const setting = { enabled, reason, version: seen, live: context.live, ageMs: context.ageMs }
      return { status: 200, body: switchView(await commands.setSwitch(setting, operatorOf(context))) }
    },
    createAdjustment: async ({ body: { valueCents, reason }, context }) => {
      if (valueCents === 0) throw zero()
      const { adjustment, proposed, isReplayed } = await commands.adjust(
        {
          id: ids.uuid(),
          valueCents: BigInt(valueCents),
          reason,
          bodyHash: hashOf([valueCents, reason]),
          ...identityOf('createAdjustment', context),
        },
        operatorOf(context),
      )
      const headers = isReplayed ? { headers: { 'idempotent-replayed': 'true' } } : {}
      if (proposed) return { status: 202, body: proposed, ...headers }
      return { status: 201, body: adjustmentView(adjustment), ...headers }
    },
  }
}

/** @source rules#adjustment.create.1 */
function zero(): Refusal {
  const message = 'valueCents must not be 0'
  return new Refusal('validation_error', { message, fields: [{ field: 'valueCents', code: 'out_of_range', message }] })
}
