import {
  type createCashOut,
  type createCashOutFromQrCode,
  type EndpointInput,
  type getCashOut,
  limits,
  type listCashOuts,
  normaliseDocument,
  normalisePixKey,
  Refusal,
  readPixKeyType,
  reaisToCents,
} from '@pixgate/spec'
import { statusIs } from '../engine/operation-store.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256 } from '../platform/crypto.ts'
import type { Handler, RequestContext } from '../platform/http/handler.ts'
import { idempotencyKeyOf } from '../platform/http/idempotency-key.ts'
import { pageOf, pageView } from '../platform/http/page.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import type { CashOut } from './cash-out.ts'
import type { CashOutCommands } from './commands.ts'
import type { CashOutRequest } from './create.ts'
import type { CashOutJobs } from './jobs.ts'
import { type PixCode, payableOf, readPixCode } from './pix-code.ts'
import type { CashOutStore } from './store.ts'
import { createdView, detailView } from './view.ts'

/** The endpoints of cash-outs. */
export interface CashOutHandlers {
  readonly createCashOut: Handler<typeof createCashOut>
  readonly createCashOutFromQrCode: Handler<typeof createCashOutFromQrCode>
  readonly getCashOut: Handler<typeof getCashOut>
  readonly listCashOuts: Handler<typeof listCashOuts>
}

/** What the handlers need. */
export interface CashOutRoutesOptions {
  readonly commands: CashOutCommands
  readonly jobs: CashOutJobs
  readonly store: CashOutStore
  readonly clock: Clock
  readonly ids: Ids
  /** Called when there is something to send. */
  readonly onReserved: () => void
}

/** Makes the handlers. */
export function createCashOutHandlers(options: CashOutRoutesOptions): CashOutHandlers {
  const { commands, jobs, store, clock, ids, onReserved } = options

  async function reserve(request: CashOutRequest) {
    const { cashOut, isReplayed } = await commands.create(request)
    if (!isReplayed) onReserved()
    return created(cashOut, isReplayed)
  }

  return {
    createCashOut: async ({ body, context }) => {
      const { transaction, recipient } = body
      const pixKeyType = readPixKeyType(recipient.pixKeyType)
      const content = {
        valueCents: centsOf(transaction.value),
        externalId: transaction.externalId,
        detail: {
          description: transaction.description ?? null,
          paymentType: 'key' as const,
          recipient: {
            name: recipient.name ?? null,
            document: tidyDocument(recipient.document),
            pixKey: pixKeyType && normalisePixKey(pixKeyType, recipient.pixKey),
            pixKeyType,
          },
          qrCode: null,
        },
        exclusiveKey: null,
      }
      const bodyHash = hashOf(content.detail.recipient.pixKey === null ? { ...content, body } : content)
      return reserve({ ...content, bodyHash, ...identityOf('createCashOut', context), id: ids.uuid() })
    },
    createCashOutFromQrCode: async ({ body, context }) => {
      const { transaction, recipient } = body
      const code = readPixCode(transaction.pixCode)
      const asked = {
        valueCents: transaction.value === undefined ? null : centsOf(transaction.value),
        document: tidyDocument(recipient?.document),
      }
      const content = { externalId: transaction.externalId, description: transaction.description ?? null }
      const known = {
        ...identityOf('createCashOutFromQrCode', context),
        externalId: content.externalId,
        exclusiveKey: code.exclusiveKey,
        bodyHash: hashOf({ ...content, ...asked, pixCode: code.text }),
      }
      const before = await commands.findRepeated(known)
      if (before) return created(before, true)
      const payable = await decoded(code, asked)
      const detail = { description: content.description, paymentType: 'qrcode' as const, ...payable.detail }
      return reserve({ ...known, id: ids.uuid(), valueCents: payable.valueCents, detail })
    },
    getCashOut: async ({ params }) => {
      const cashOut = isUuid(params.id) ? await store.get(params.id) : undefined
      if (!cashOut) throw new Refusal('not_found')
      return { status: 200, body: detailView(cashOut) }
    },
    listCashOuts: async ({ query }) => {
      const page = pageOf(query)
      const filter = { ...filterOf(query), ...page }
      const [rows, counted] = await Promise.all([store.list(filter), store.count(filter, limits.exactTotalMax + 1)])
      return { status: 200, body: pageView(page, rows, counted, detailView) }
    },
  }

  /** Nothing is open or stored while the bank is asked; a code that cannot be paid costs no question. */
  async function decoded(code: PixCode, asked: Asked) {
    code.assertPayable(asked)
    return payableOf(code, await jobs.decode(code.text), asked, clock.now())
  }
}

/** What the client says about a code's payment. */
type Asked = Parameters<typeof payableOf>[2]

function created(cashOut: CashOut, isReplayed: boolean) {
  const headers = {
    location: `/api/pix/cash-out/${cashOut.id}`,
    ...(isReplayed ? { 'idempotent-replayed': 'true' } : {}),
  }
  return { status: 201, body: createdView(cashOut), headers } as const
}

function identityOf(route: string, { headers, caller, correlationId, live }: RequestContext) {
  const key = idempotencyKeyOf(headers)
  return { correlationId, live, idempotencyKey: key === null ? null : `${caller.id} ${route} ${key}` }
}

/**
 * @throws validation_error (400) more than two decimals
 * @source rules#money.1
 */
function centsOf(reais: number): bigint {
  const cents = reaisToCents(reais)
  if (cents !== null) return cents
  const message = 'transaction.value must be in reais with at most two decimals'
  throw new Refusal('validation_error', {
    message,
    fields: [{ field: 'transaction.value', code: 'decimals', message }],
  })
}

/** An invalid document is refused later, after duplicates were looked up; until then it stays as it came. */
function tidyDocument(text: string | undefined): string | null {
  return text === undefined ? null : (normaliseDocument(text) ?? text)
}

/** What tells whether two requests ask for the same. @source rules#external-id.3 */
function hashOf(content: object): Buffer {
  return sha256(JSON.stringify(content, (_, value) => (typeof value === 'bigint' ? String(value) : value)))
}

function filterOf({ status, external_id, end_to_end_id }: EndpointInput<typeof listCashOuts>['query']) {
  return {
    ...(status === undefined ? {} : { status: statusIs(status) }),
    ...(external_id === undefined ? {} : { externalId: external_id }),
    ...(end_to_end_id === undefined ? {} : { endToEndId: end_to_end_id }),
  }
}
