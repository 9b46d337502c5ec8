import { type EndpointResponse, type endpoints, limits, maskReported, Refusal } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { DeactivatedAt } from '../api-keys/index.ts'
import { operatorOf } from '../audit/operator.ts'
import type { OperatorRefusal } from '../operations/refusal.ts'
import { HoldersChanged, type Person } from '../operators/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { isUuid } from '../platform/ids.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import { approvalDeadline, countedApprovers } from './approval.ts'
import type { ApprovalInput } from './approval-input.ts'
import type { CashOut } from './cash-out.ts'
import type { CashOutCommands } from './commands.ts'
import type { CashOutJobs } from './jobs.ts'
import { payableOf, readPixCode } from './pix-code.ts'
import type { CashOutStore } from './store.ts'

/** The endpoints of whoever approves payouts. */
export type ApprovalHandlers = Handlers<Pick<typeof endpoints, 'listApprovals' | 'decideApproval'>>

/** Who holds keys and tokens, as things are now. @throws DatabaseUnavailable */
export interface Holders {
  /** All operators there ever were. */
  readonly people: () => Promise<readonly Person[]>
  /** How often keys and operators were deactivated: to be read before who holds them. */
  readonly version: () => Promise<bigint>
  readonly keysDeactivatedAt: DeactivatedAt
}

/** Refunds: they need no approval, and are refused as payouts are. */
export interface RefusableRefunds {
  exists(id: string): Promise<boolean>
  /** `undefined` where it does not exist. @throws not_possible_in_state (409) */
  refuse(id: string, refusal: OperatorRefusal, live: LiveRequest): Promise<Decided | undefined>
}

/** What the handlers need. */
export interface ApprovalRoutesOptions {
  readonly commands: CashOutCommands
  readonly jobs: CashOutJobs
  readonly store: CashOutStore
  readonly clock: Clock
  readonly holders: Holders
  readonly refunds: RefusableRefunds
  /** Called when there is something to send. */
  readonly onReserved: () => void
}

/** Makes the handlers. */
export function createApprovalHandlers(options: ApprovalRoutesOptions): ApprovalHandlers {
  const { store, holders, refunds, onReserved } = options
  return {
    listApprovals: async ({ query: { cursor, limit = limits.pageLimitDefault } }) => {
      // One more than asked for tells whether there are more.
      const waiting = await store.awaitingApproval(cursor, limit + 1)
      const shown = waiting.slice(0, limit)
      const now = await holdersNow(shown, holders)
      const data = shown.map((cashOut) => approvalView(cashOut, now))
      const hasMore = waiting.length > limit
      const pagination = { limit, hasMore, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null }
      return { status: 200, body: { data, pagination } }
    },
    decideApproval: async ({ params, body: { approved, reason }, context }) => {
      const said = { approver: operatorOf(context), reason }
      const cashOut = isUuid(params.id) ? await store.get(params.id) : undefined
      if (!cashOut) return { status: 200, body: await refundRefused(params.id, said, approved, context.live, refunds) }
      const code = approved ? await codeNow(cashOut, said.approver.actor, options) : {}
      const { after, now } = await saidAmong(options, cashOut, context.live, ({ people, holdersVersion, ...now }) => {
        if (!approved) return { on: 'operator.refused', ...said }
        const isKeyDeactivated = keyDeactivatedAt(cashOut, now) !== null
        return { on: 'operator.approved', ...said, people, holdersVersion, isKeyDeactivated, ...code }
      })
      if (!after) throw new Refusal('not_found')
      onReserved()
      return { status: 200, body: approvalView(after, now) }
    },
  }
}

/**
 * Says it, by who holds keys and tokens when it is written: whoever is deactivated while it waits has approved nothing.
 * @throws as `CashOutCommands.approve` does
 * @source rules#cash-out.approval.12
 */
async function saidAmong(
  { commands, holders }: ApprovalRoutesOptions,
  cashOut: CashOut,
  live: LiveRequest,
  inputOf: (now: HoldersNow & { readonly holdersVersion: bigint }) => ApprovalInput,
): Promise<{ readonly after: CashOut | undefined; readonly now: HoldersNow }> {
  for (;;) {
    const holdersVersion = await holders.version()
    const now = await holdersNow([cashOut], holders)
    try {
      return { after: await commands.approve(cashOut, inputOf({ ...now, holdersVersion }), live), now }
    } catch (error) {
      if (!(error instanceof HoldersChanged)) throw error
    }
  }
}

/**
 * A refund that is refused.
 * @throws not_found (404) · not_possible_in_state (409) it is approved, which no refund needs; or was sent, or has ended
 * @source rules#refund-in.refusal.1, rules#refund-in.refusal.2
 */
async function refundRefused(
  id: string,
  said: Omit<OperatorRefusal, 'on'>,
  isApproved: boolean,
  live: LiveRequest,
  refunds: RefusableRefunds,
): Promise<Decided> {
  if (!isUuid(id) || !(await refunds.exists(id))) throw new Refusal('not_found')
  if (isApproved) throw new Refusal('not_possible_in_state', { message: 'a refund needs no approval' })
  const refused = await refunds.refuse(id, { on: 'operator.refused', ...said }, live)
  if (!refused) throw new Refusal('not_found')
  return refused
}

/**
 * A QR code as its bank decodes it now; nothing is stored while the bank is asked.
 * @throws partner_unavailable (503)
 * @source rules#cash-out.approval.9
 */
async function codeNow({ detail, valueCents }: CashOut, approver: string, { jobs, clock }: ApprovalRoutesOptions) {
  const { qrCode, recipient } = detail
  if (qrCode === null) return {}
  try {
    const code = readPixCode(qrCode.pixCode)
    const asked = { valueCents, document: recipient.document }
    const now = payableOf(code, await jobs.decode(code.text, approver), asked, clock.now())
    const { pixKey } = now.detail.recipient
    return { code: { valueCents: now.valueCents, pixKey, decodeId: now.detail.qrCode?.decodeId ?? '' } }
  } catch (error) {
    if (error instanceof Refusal && error.code.startsWith('pix_code_')) return { code: null }
    throw error
  }
}

type Body<Response extends EndpointResponse> = Response extends { readonly schema: infer Schema } ? Schema : never
type View = Static<Body<(typeof endpoints.listApprovals)['responses'][200]>>['data'][number]
type Decided = Static<Body<(typeof endpoints.decideApproval)['responses'][200]>>

/** What is now of those who asked for payouts and approved them. */
interface HoldersNow {
  readonly people: readonly Person[]
  readonly deactivatedAt: ReadonlyMap<string, number | null>
}

async function holdersNow(cashOuts: readonly CashOut[], { people, keysDeactivatedAt }: Holders): Promise<HoldersNow> {
  const keys = cashOuts.flatMap(({ facts }) => facts.madeBy?.caller ?? [])
  return { people: await people(), deactivatedAt: await keysDeactivatedAt(keys) }
}

function keyDeactivatedAt({ facts }: CashOut, { deactivatedAt }: Pick<HoldersNow, 'deactivatedAt'>): number | null {
  return deactivatedAt.get(facts.madeBy?.caller ?? '') ?? null
}

/** What an approver reads of a payout. @source rules#cash-out.approval.5 */
function approvalView(cashOut: CashOut, now: HoldersNow): View {
  const { id, status, externalId, valueCents, detail, facts, createdAt } = cashOut
  const { name, document, pixKey } = detail.recipient
  const deactivatedAt = keyDeactivatedAt(cashOut, now)
  return {
    id,
    status,
    externalId,
    valueCents: Number(valueCents),
    description: detail.description,
    paymentType: detail.paymentType,
    recipient: { name, document: maskReported(document), statedBy: detail.qrCode ? 'bank' : 'client', pixKey },
    apiKeyId: facts.madeBy?.caller ?? null,
    apiKeyDeactivatedAt: deactivatedAt === null ? null : new Date(deactivatedAt).toISOString(),
    approvalsWanted: facts.approval?.wanted ?? 0,
    approvedBy: facts.approval ? countedApprovers(facts.approval, now.people) : [],
    createdAt: new Date(createdAt).toISOString(),
    approvableUntil: new Date(approvalDeadline(cashOut)).toISOString(),
  }
}
