import { type EndpointResponse, type endpoints, limits, maskReported, Refusal } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { DeactivatedAt } from '../api-keys/index.ts'
import { type Operator, operatorOf } from '../audit/trail.ts'
import type { Audit, Document } from '../engine/operation.ts'
import { sendableSince } from '../operations/attempts.ts'
import type { OperatorRefusal } from '../operations/requests.ts'
import { HoldersChanged, isApprover, isSamePerson, type Person } from '../operators/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { isUuid } from '../platform/ids.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import type { CashOut, CashOutFacts, CashOutInput } from './cash-out.ts'
import type { CashOutCommands, CashOutStore } from './commands.ts'
import type { CashOutJobs } from './jobs.ts'
import { payableOf, readPixCode } from './pix-code.ts'

/**
 * Payouts from an amount on wait until somebody who did not make the API key approves them: two people stand behind them,
 * or none of them leaves. Pure.
 * @source rules#cash-out.approval
 */

type Approved = Extract<ApprovalInput, { on: 'operator.approved' }>

/** Those who have approved it and are approvers still. @source rules#cash-out.approval.10 */
function countedApprovers({ by }: Approval, people: readonly Person[]): string[] {
  return by.filter((id) => people.some((person) => person.id === id && isApprover(person)))
}

/** The approval that a payout of this amount needs, if any. @source rules#cash-out.approval.1, rules#cash-out.approval.2 */
export function approvalFor(
  { valueCents, keyMadeBy = null }: { readonly valueCents: bigint; readonly keyMadeBy?: string | null | undefined },
  approvalFromCents: bigint | null,
): Approval | undefined {
  if (approvalFromCents === null || valueCents < approvalFromCents) return undefined
  return { wanted: keyMadeBy === null ? 2 : 1, keyMadeBy, by: [] }
}

/** Whether it may not be sent before somebody approves it. */
export function isAwaitingApproval({ facts: { approval, approvedAt } }: Pick<CashOut, 'facts'>): boolean {
  return approval !== undefined && approvedAt === undefined
}

/** Until when a payout may be approved, and then sent, epoch milliseconds. */
export function approvalDeadline(cashOut: Pick<CashOut, 'createdAt' | 'facts'>): number {
  return sendableSince(cashOut) + limits.unclaimedReleaseMs
}

/** What an approval teaches. The last one begins the 24 hours in which it is to be sent. @source rules#cash-out.approval.4 */
export function approved(
  { facts: { approval } }: CashOut,
  { approver, people, code }: Approved,
  nowMs: number,
): CashOutFacts {
  if (approval === undefined) return {}
  const by = [...countedApprovers(approval, people), approver.actor]
  if (by.length < approval.wanted) return { approval: { ...approval, by } }
  return { approval: { ...approval, by }, approvedAt: nowMs, ...(code ? { decodeId: code.decodeId } : {}) }
}

/** Whether a QR code asks for something else than when the payout was made. @source rules#cash-out.approval.9 */
export function asksForSomethingElse({ valueCents, detail }: CashOut, input: CashOutInput): boolean {
  if (input.on !== 'operator.approved' || input.code === undefined) return false
  return input.code?.valueCents !== valueCents || input.code.pixKey !== detail.recipient.pixKey
}

/**
 * Whether an operator may say it.
 * @throws not_possible_in_state (409) it was claimed for sending, or has ended; or it waits for no approval · as
 *   {@link assertMayApprove}
 * @source rules#cash-out.approval.3, rules#cash-out.approval.11
 */
export function assertMaySay(cashOut: CashOut, input: ApprovalInput, nowMs: number): void {
  if (cashOut.status !== 'RESERVED' || cashOut.facts.isAccepted) {
    throw new Refusal('not_possible_in_state', { message: 'the payout was sent, or has ended' })
  }
  if (input.on === 'operator.approved') assertMayApprove(cashOut, input, nowMs)
}

/**
 * @throws not_possible_in_state (409) it waits for no approval, or for none any more · api_key_deactivated (409) ·
 *   insufficient_role (403) they are no approver any more · approver_not_independent (403) they made the API key, or approved
 *   it before
 */
function assertMayApprove(cashOut: CashOut, { approver, people, isKeyDeactivated }: Approved, nowMs: number): void {
  const { approval } = cashOut.facts
  if (!isAwaitingApproval(cashOut) || !approval) {
    throw new Refusal('not_possible_in_state', { message: 'the payout waits for no approval' })
  }
  if (nowMs >= approvalDeadline(cashOut)) {
    throw new Refusal('not_possible_in_state', {
      message: 'the payout is to be given back: nobody approved it in time',
    })
  }
  if (isKeyDeactivated) throw new Refusal('api_key_deactivated')
  const person = people.find(({ id }) => id === approver.actor)
  if (person === undefined || !isApprover(person)) throw new Refusal('insufficient_role')
  const others = [...(approval.keyMadeBy === null ? [] : [approval.keyMadeBy]), ...countedApprovers(approval, people)]
  if (others.some((id) => isSamePerson(person, id, people))) throw new Refusal('approver_not_independent')
}

/** What the audit trail is told of it. @source rules#cash-out.approval.6 */
export function auditOf({ id, valueCents }: CashOut, { on, approver, reason }: ApprovalInput): Audit {
  const action = on === 'operator.approved' ? 'cash_out.approved' : 'cash_out.refused'
  return { ...approver, action, subject: id, facts: { valueCents: Number(valueCents), reason } }
}

/** What operators say to a payout that was not sent, and what is kept of it. @source rules#cash-out.approval */

/** Who has yet to approve a payout, and who has. */
export interface Approval extends Document {
  /** How many operators it takes. */
  readonly wanted: number
  /** The operator who made the API key; `null`: the administrative token did, or nobody knows. */
  readonly keyMadeBy: string | null
  /** The operators who have, in their order. */
  readonly by: readonly string[]
}

/** What an operator says to a payout that was not sent. */
export type ApprovalInput =
  | {
      readonly on: 'operator.approved'
      readonly approver: Operator
      readonly reason: string
      /** All operators there ever were, as they are now: whoever is not among them counts for nothing. */
      readonly people: readonly Person[]
      /** How often keys and operators had been deactivated before these were read. */
      readonly holdersVersion: bigint
      /** The API key that asked for the payout was deactivated since. */
      readonly isKeyDeactivated: boolean
      /** Of a QR code, which is decoded again: `null` where it cannot be paid any more. */
      readonly code?: { readonly valueCents: bigint; readonly pixKey: string; readonly decodeId: string } | null
    }
  | OperatorRefusal

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
