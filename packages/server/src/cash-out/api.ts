import {
  type createCashOut,
  type createCashOutFromQrCode,
  type endpoints,
  type getCashOut,
  maskReported,
  normaliseDocument,
  normalisePixKey,
  readPixKeyType,
} from '@pixgate/spec'
import type { Static } from 'typebox'
import type { QrCode } from '../banks/port.ts'
import { centsOf, createdAnswer, descriptionOf, found, hashOf, identityOf, listed } from '../operations/requests.ts'
import type { Clock } from '../platform/clock.ts'
import type { Handlers } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import { isAwaitingApproval } from './approval.ts'
import { type CashOut, reversedCents } from './cash-out.ts'
import type { CashOutCommands, CashOutRequest, CashOutStore } from './commands.ts'
import type { CashOutJobs } from './jobs.ts'
import { payableOf, readPixCode } from './pix-code.ts'

export type CashOutHandlers = Handlers<
  Pick<typeof endpoints, 'createCashOut' | 'createCashOutFromQrCode' | 'getCashOut' | 'listCashOuts'>
>

interface CashOutRoutesOptions {
  readonly commands: CashOutCommands
  readonly jobs: CashOutJobs
  /** Decodes a QR code at the bank for an API key or operator. */
  readonly decode: (pixCode: string, asker: string) => Promise<QrCode>
  readonly store: CashOutStore
  readonly clock: Clock
  readonly ids: Ids
  /** Called when there is an order to send. */
  readonly onReserved: () => void
}

export function createCashOutHandlers(options: CashOutRoutesOptions): CashOutHandlers {
  const { commands, jobs, decode, store, clock, ids, onReserved } = options

  async function reserve<Body>(view: (cashOut: CashOut) => Body, request: CashOutRequest) {
    const { cashOut, isReplayed, claimed } = await jobs.createAndSend((claim) => commands.create(request, claim))
    if (!isReplayed && !claimed) onReserved()
    return created(cashOut, view, isReplayed)
  }

  return {
    createCashOut: async ({ body, context }) => {
      const { transaction, recipient } = body
      const pixKeyType = readPixKeyType(recipient.pixKeyType)
      const pixKey = pixKeyType && normalisePixKey(pixKeyType, recipient.pixKey)
      const to = { name: recipient.name ?? null, document: tidyDocument(recipient.document), pixKey, pixKeyType }
      const description = descriptionOf(transaction.description)
      const content = {
        valueCents: centsOf(transaction.value, 'transaction.value'),
        externalId: transaction.externalId,
        detail: { description, paymentType: 'key' as const, recipient: to, qrCode: null },
        exclusiveKey: null,
      }
      const bodyHash = hashOf(pixKey === null ? { ...content, body } : content)
      return reserve(createdView, { ...content, bodyHash, ...identityOf('createCashOut', context), id: ids.uuid() })
    },
    createCashOutFromQrCode: async ({ body, context }) => {
      const { transaction, recipient } = body
      const code = readPixCode(transaction.pixCode)
      const asked = {
        valueCents: transaction.value === undefined ? null : centsOf(transaction.value, 'transaction.value'),
        document: tidyDocument(recipient?.document),
      }
      const content = { externalId: transaction.externalId, description: descriptionOf(transaction.description) }
      const known = {
        ...identityOf('createCashOutFromQrCode', context),
        externalId: content.externalId,
        exclusiveKey: code.exclusiveKey,
        bodyHash: hashOf({ ...content, ...asked, pixCode: code.text }),
      }
      const undecoded = {
        valueCents: asked.valueCents ?? code.valueCents,
        document: asked.document,
        assertPayable: () => code.assertPayable(asked),
      }
      const before = await commands.findRepeated({ ...known, ...undecoded })
      if (before) return created(before, createdFromQrCodeView, true)
      // No transaction is open during the bank call.
      const payable = payableOf(code, await decode(code.text, context.caller.id), asked, clock.now())
      const detail = { description: content.description, paymentType: 'qrcode' as const, ...payable.detail }
      return reserve(createdFromQrCodeView, { ...known, id: ids.uuid(), valueCents: payable.valueCents, detail })
    },
    getCashOut: async ({ params }) => ({ status: 200, body: detailView(await found(store, params.id)) }),
    listCashOuts: (input) => listed(store, input, detailView),
  }
}

function created<Body>(cashOut: CashOut, view: (cashOut: CashOut) => Body, isReplayed: boolean) {
  return createdAnswer(`/api/pix/cash-out/${cashOut.id}`, view(cashOut), isReplayed)
}

/** An invalid document is refused later, after the lookup of duplicates. */
function tidyDocument(text: string | undefined): string | null {
  return text === undefined ? null : (normaliseDocument(text) ?? text)
}

type Created = Static<(typeof createCashOut)['responses'][201]['schema']>
type CreatedFromQrCode = Static<(typeof createCashOutFromQrCode)['responses'][201]['schema']>
type Detail = Static<(typeof getCashOut)['responses'][200]['schema']>

/**
 * Body of the 201. The status is always `RESERVED`; absent fields are omitted.
 * @source rules#cash-out.create.4, rules#cash-out.create.5
 */
export function createdView(cashOut: CashOut): Created {
  const { description, recipient } = cashOut.detail
  return {
    ...common(cashOut),
    status: 'RESERVED',
    ...(description === null ? {} : { description }),
    recipient: { ...(recipient.name === null ? {} : { name: recipient.name }), pixKey: recipient.pixKey },
  }
}

export function createdFromQrCodeView(cashOut: CashOut): CreatedFromQrCode {
  return { ...createdView(cashOut), paymentType: 'qrcode' }
}

/** @source rules#cash-out.detail.1 */
export function detailView(cashOut: CashOut): Detail {
  const { detail, facts } = cashOut
  return {
    ...common(cashOut),
    correlationId: cashOut.correlationId,
    status: cashOut.status as Detail['status'],
    ...(cashOut.status === 'RESERVED' && isAwaitingApproval(cashOut) ? { awaitingApproval: true } : {}),
    description: detail.description,
    paymentType: detail.paymentType,
    recipient: {
      name: facts.recipientName ?? detail.recipient.name,
      pixKey: detail.recipient.pixKey,
      pixKeyType: detail.recipient.pixKeyType,
      document: maskReported(facts.recipientDocument ?? detail.recipient.document),
      ispb: facts.recipientIspb ?? null,
    },
    max_fee_cents: Number(cashOut.feeCents),
    reserved_total_cents: Number(cashOut.valueCents + cashOut.feeCents),
    endToEndId: cashOut.endToEndId,
    transactionId: cashOut.transactionId,
    feeAmountCents: facts.confirmedAt === undefined ? 0 : Number(cashOut.feeCents),
    reversedCents: Number(reversedCents(facts)),
    failureCode: facts.failureCode ?? null,
    failureReason: facts.failureReason ?? null,
    dispatchedAt: instantText(facts.dispatchedAt),
    confirmedAt: instantText(facts.confirmedAt),
    updatedAt: new Date(cashOut.updatedAt).toISOString(),
  }
}

function common(cashOut: CashOut) {
  return {
    id: cashOut.id,
    externalId: cashOut.externalId,
    valueCents: Number(cashOut.valueCents),
    createdAt: new Date(cashOut.createdAt).toISOString(),
  }
}

function instantText(nowMs: number | undefined): string | null {
  return nowMs === undefined ? null : new Date(nowMs).toISOString()
}
