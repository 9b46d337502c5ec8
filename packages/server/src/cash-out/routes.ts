import { type endpoints, normaliseDocument, normalisePixKey, readPixKeyType } from '@pixgate/spec'
import { centsOf, createdAnswer, descriptionOf, found, hashOf, identityOf, listed } from '../operations/requests.ts'
import type { Clock } from '../platform/clock.ts'
import type { Handlers } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import type { CashOut } from './cash-out.ts'
import type { CashOutCommands } from './commands.ts'
import type { CashOutRequest } from './create.ts'
import type { CashOutJobs } from './jobs.ts'
import { payableOf, readPixCode } from './pix-code.ts'
import type { CashOutStore } from './store.ts'
import { createdFromQrCodeView, createdView, detailView } from './view.ts'

/** The endpoints of cash-outs. */
export type CashOutHandlers = Handlers<
  Pick<typeof endpoints, 'createCashOut' | 'createCashOutFromQrCode' | 'getCashOut' | 'listCashOuts'>
>

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

  async function reserve<Body>(view: (cashOut: CashOut) => Body, request: CashOutRequest) {
    const { cashOut, isReplayed, claimed } = await jobs.sendNew((claim) => commands.create(request, claim))
    if (!isReplayed && !claimed) onReserved()
    return created(cashOut, view, isReplayed)
  }

  return {
    createCashOut: async ({ body, context }) => {
      const { transaction, recipient } = body
      const pixKeyType = readPixKeyType(recipient.pixKeyType)
      const content = {
        valueCents: centsOf(transaction.value, 'transaction.value'),
        externalId: transaction.externalId,
        detail: {
          description: descriptionOf(transaction.description),
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
      // Nothing is open or stored while the bank is asked.
      const payable = payableOf(code, await jobs.decode(code.text, context.caller.id), asked, clock.now())
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

/** An invalid document is refused later, after duplicates were looked up; until then it stays as it came. */
function tidyDocument(text: string | undefined): string | null {
  return text === undefined ? null : (normaliseDocument(text) ?? text)
}
