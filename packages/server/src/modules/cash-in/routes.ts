import { type createCashIn, type EndpointInput, type getCashIn, limits, Refusal, reaisToCents } from '@pixgate/spec'
import type { Clock } from '../../platform/clock.ts'
import { sha256 } from '../../platform/crypto.ts'
import type { Handler } from '../../platform/http/handler.ts'
import { type Ids, isUuid } from '../../platform/ids.ts'
import type { CashInCommands } from './commands.ts'
import type { CashInJobs } from './jobs.ts'
import type { CashInRequest } from './rules.ts'
import type { CashInStore } from './store.ts'
import { createdView, detailView } from './view.ts'

/** The endpoints of cash-ins. */
export interface CashInHandlers {
  readonly createCashIn: Handler<typeof createCashIn>
  readonly getCashIn: Handler<typeof getCashIn>
}

/** What the handlers need. */
export interface CashInRoutesOptions {
  readonly commands: CashInCommands
  readonly jobs: CashInJobs
  readonly store: CashInStore
  readonly clock: Clock
  readonly ids: Ids
}

/** Makes the handlers. */
export function createCashInHandlers({ commands, jobs, store, clock, ids }: CashInRoutesOptions): CashInHandlers {
  return {
    createCashIn: async ({ body, context }) => {
      const request = requestOf(body, ids.uuid(), context.correlationId)
      const cashIn = await jobs.requestCharge(await commands.create(request))
      if (cashIn.status === 'FAILED') {
        throw new Refusal('partner_refused', { existing: { id: cashIn.id, status: cashIn.status } })
      }
      const headers = { location: `/api/pix/cash-in/${cashIn.id}` }
      return { status: 201, body: createdView(cashIn), headers }
    },
    getCashIn: async ({ params }) => {
      const cashIn = isUuid(params.id) ? await store.get(params.id) : undefined
      if (!cashIn) throw new Refusal('not_found')
      return { status: 200, body: detailView(cashIn, clock.now()) }
    },
  }
}

/**
 * A body whose shape is right, as a request.
 * @throws validation_error (400) more than two decimals
 * @source rules#cash-in.create.1
 */
function requestOf(
  { transaction, payer }: EndpointInput<typeof createCashIn>['body'],
  id: string,
  correlationId: string,
): CashInRequest {
  const valueCents = reaisToCents(transaction.value)
  if (valueCents === null) {
    const message = 'transaction.value must be in reais with at most two decimals'
    throw new Refusal('validation_error', {
      message,
      fields: [{ field: 'transaction.value', code: 'decimals', message }],
    })
  }
  const content = {
    valueCents,
    externalId: transaction.externalId,
    description: transaction.description ?? null,
    expirationSeconds: transaction.expirationTime ?? limits.expirationDefaultSeconds,
    generateQrCode: transaction.generateQrCode ?? true,
    payer: payer ? { fullName: payer.fullName, document: payer.document } : null,
  }
  const bodyHash = sha256(JSON.stringify({ ...content, valueCents: String(valueCents) }))
  return { ...content, id, correlationId, bodyHash }
}
