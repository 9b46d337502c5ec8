import { type EndpointResponse, type endpoints, limits, Refusal } from '@pixgate/spec'
import type { Static } from 'typebox'
import { operatorOf } from '../audit/operator.ts'
import { found } from '../operations/requests.ts'
import type { Clock } from '../platform/clock.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { type ApprovalInput, approvalDeadline } from './approval.ts'
import type { CashOut } from './cash-out.ts'
import type { CashOutCommands } from './commands.ts'
import type { CashOutJobs } from './jobs.ts'
import { payableOf, readPixCode } from './pix-code.ts'
import type { CashOutStore } from './store.ts'

/** The endpoints of whoever approves payouts. */
export type ApprovalHandlers = Handlers<Pick<typeof endpoints, 'listApprovals' | 'decideApproval'>>

/** What the handlers need. */
export interface ApprovalRoutesOptions {
  readonly commands: CashOutCommands
  readonly jobs: CashOutJobs
  readonly store: CashOutStore
  readonly clock: Clock
  /** Called when there is something to send. */
  readonly onReserved: () => void
}

/** Makes the handlers. */
export function createApprovalHandlers(options: ApprovalRoutesOptions): ApprovalHandlers {
  const { commands, store, onReserved } = options
  return {
    listApprovals: async ({ query: { cursor, limit = limits.pageLimitDefault } }) => {
      // One more than asked for tells whether there are more.
      const waiting = await store.awaitingApproval(cursor, limit + 1)
      const data = waiting.slice(0, limit).map(approvalView)
      const hasMore = waiting.length > limit
      const pagination = { limit, hasMore, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null }
      return { status: 200, body: { data, pagination } }
    },
    decideApproval: async ({ params, body: { approved, reason }, context }) => {
      const cashOut = await found(store, params.id)
      const said = { approver: operatorOf(context), reason }
      const input: ApprovalInput = approved
        ? { on: 'operator.approved', ...said, ...(await codeNow(cashOut, options)) }
        : { on: 'operator.refused', ...said }
      const after = await commands.approve(cashOut, input, context.live)
      if (!after) throw new Refusal('not_found')
      onReserved()
      return { status: 200, body: approvalView(after) }
    },
  }
}

/**
 * A QR code as its bank decodes it now; nothing is stored while the bank is asked.
 * @throws partner_unavailable (503)
 * @source rules#cash-out.approval.9
 */
async function codeNow({ detail, valueCents }: CashOut, { jobs, clock }: ApprovalRoutesOptions) {
  const { qrCode, recipient } = detail
  if (qrCode === null) return {}
  try {
    const code = readPixCode(qrCode.pixCode)
    const asked = { valueCents, document: recipient.document }
    const now = payableOf(code, await jobs.decode(code.text), asked, clock.now())
    const { pixKey } = now.detail.recipient
    return { code: { valueCents: now.valueCents, pixKey, decodeId: now.detail.qrCode?.decodeId ?? '' } }
  } catch (error) {
    if (error instanceof Refusal && error.code.startsWith('pix_code_')) return { code: null }
    throw error
  }
}

type Body<Response extends EndpointResponse> = Response extends { readonly schema: infer Schema } ? Schema : never
type View = Static<Body<(typeof endpoints.decideApproval)['responses'][200]>>

/** What an approver reads of a payout. */
function approvalView(cashOut: CashOut): View {
  const { id, status, externalId, valueCents, detail, facts, createdAt } = cashOut
  return {
    id,
    status,
    externalId,
    valueCents: Number(valueCents),
    description: detail.description,
    recipient: { name: detail.recipient.name, pixKey: detail.recipient.pixKey },
    apiKeyId: facts.madeBy?.caller ?? null,
    approvalsWanted: facts.approval?.wanted ?? 1,
    approvedBy: [...(facts.approval?.by ?? [])],
    createdAt: new Date(createdAt).toISOString(),
    approvableUntil: new Date(approvalDeadline(cashOut)).toISOString(),
  }
}
