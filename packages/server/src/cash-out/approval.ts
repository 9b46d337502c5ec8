import { type EndpointResponse, type endpoints, limits, maskReported, Refusal } from '@pixgate/spec'
import type { Static } from 'typebox'
import {
  type AccessModule,
  HoldersChanged,
  isApprover,
  isCreatedBy,
  isSamePerson,
  type Person,
} from '../access/index.ts'
import { type Operator, operatorOf } from '../audit/trail.ts'
import type { QrCode } from '../banks/port.ts'
import type { Audit, Document } from '../engine/operation.ts'
import { sendableSince } from '../operations/attempts.ts'
import type { OperatorRefusal } from '../operations/requests.ts'
import type { Clock } from '../platform/clock.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { isUuid } from '../platform/ids.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import type { CashOut, CashOutFacts, CashOutInput } from './cash-out.ts'
import type { CashOutCommands, CashOutStore } from './commands.ts'
import { payableOf, readPixCode } from './pix-code.ts'

/**
 * Payouts from an amount on need the approval of operators who did not create the API key. Pure.
 * @source rules#cash-out.approval
 */

type Approved = Extract<ApprovalInput, { on: 'operator.approved' }>

/** Approvals of people who are still approvers. @source rules#cash-out.approval.10 */
function countedApprovers({ by }: Approval, people: readonly Person[]): string[] {
  return by.filter((id) => people.some((person) => person.id === id && isApprover(person)))
}

/**
 * The approval that a payout of this amount needs, if any.
 * @source rules#cash-out.approval.1, rules#cash-out.approval.2
 */
export function approvalFor(
  { valueCents, keyMadeBy = null }: { readonly valueCents: bigint; readonly keyMadeBy?: string | null | undefined },
  approvalFromCents: bigint | null,
): Approval | undefined {
  if (approvalFromCents === null || valueCents < approvalFromCents) return undefined
  return { wanted: keyMadeBy === null ? 2 : 1, keyMadeBy, by: [] }
}

export function isAwaitingApproval({ facts: { approval, approvedAt } }: Pick<CashOut, 'facts'>): boolean {
  return approval !== undefined && approvedAt === undefined
}

/** Deadline of the approval, and of the sending after it, epoch milliseconds. */
export function approvalDeadline(cashOut: Pick<CashOut, 'createdAt' | 'facts'>): number {
  return sendableSince(cashOut) + limits.unclaimedReleaseMs
}

/** Facts after an approval. The last one starts the 24 hours for sending. @source rules#cash-out.approval.4 */
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

/** The QR code has another amount or recipient than at the creation of the payout. @source rules#cash-out.approval.9 */
export function asksForSomethingElse({ valueCents, detail }: CashOut, input: CashOutInput): boolean {
  if (input.on !== 'operator.approved' || input.code === undefined) return false
  return input.code?.valueCents !== valueCents || input.code.pixKey !== detail.recipient.pixKey
}

/**
 * Checks that an operator may approve or refuse.
 * @throws not_possible_in_state (409) claimed for sending, or ended; or not waiting for an approval · as {@link
 * assertMayApprove}
 * @source rules#cash-out.approval.3, rules#cash-out.approval.11
 */
export function assertMaySay(cashOut: CashOut, input: ApprovalInput, nowMs: number): void {
  if (cashOut.status !== 'RESERVED' || cashOut.facts.isAccepted) {
    throw new Refusal('not_possible_in_state', { message: 'the payout was sent or has ended' })
  }
  if (input.on === 'operator.approved') assertMayApprove(cashOut, input, nowMs)
}

/**
 * @throws not_possible_in_state (409) not waiting for an approval, or too late · api_key_deactivated (409) ·
 * insufficient_role (403) no longer an approver · approver_not_independent (403)
 */
function assertMayApprove(
  cashOut: CashOut,
  { approver, people, isRequesterDeactivated }: Approved,
  nowMs: number,
): void {
  const { approval } = cashOut.facts
  if (!isAwaitingApproval(cashOut) || !approval) {
    throw new Refusal('not_possible_in_state', { message: 'the payout is not waiting for an approval' })
  }
  if (nowMs >= approvalDeadline(cashOut)) {
    throw new Refusal('not_possible_in_state', {
      message: 'the deadline of the approval has passed',
    })
  }
  if (isRequesterDeactivated) throw new Refusal('api_key_deactivated')
  const person = people.find(({ id }) => id === approver.actor)
  if (person === undefined || !isApprover(person)) throw new Refusal('insufficient_role')
  if (!isIndependent(person, approval, people)) throw new Refusal('approver_not_independent')
}

/** The person did not create the API key, was not created by its creator, and has not approved yet. */
function isIndependent(person: Person, approval: Approval, people: readonly Person[]): boolean {
  const others = [...(approval.keyMadeBy === null ? [] : [approval.keyMadeBy]), ...countedApprovers(approval, people)]
  // The creator of an approver has seen the approver's token.
  const isDependent = (id: string) => {
    const other = people.find((one) => one.id === id)
    const hasMade = other !== undefined && isCreatedBy(other, person.id, people)
    return hasMade || isSamePerson(person, id, people) || isCreatedBy(person, id, people)
  }
  return !others.some(isDependent)
}

/** @source rules#cash-out.approval.6 */
export function auditOf({ id, valueCents }: CashOut, { on, approver, reason }: ApprovalInput): Audit {
  const action = on === 'operator.approved' ? 'cash_out.approved' : 'cash_out.refused'
  return { ...approver, action, subject: id, facts: { valueCents: Number(valueCents), reason } }
}

/** @source rules#cash-out.approval */

export interface Approval extends Document {
  readonly wanted: number
  /** The operator who created the API key; `null`: the administrative token, or unknown. */
  readonly keyMadeBy: string | null
  readonly by: readonly string[]
}

export type ApprovalInput =
  | {
      readonly on: 'operator.approved'
      readonly approver: Operator
      readonly reason: string
      readonly people: readonly Person[]
      /** Counter of deactivations, read before these. */
      readonly deactivationCount: bigint
      /** The API key, or the operator who ordered it at the console, was deactivated. */
      readonly isRequesterDeactivated: boolean
      /** The QR code as decoded now; `null` if it cannot be paid any more. */
      readonly code?: { readonly valueCents: bigint; readonly pixKey: string; readonly decodeId: string } | null
    }
  | OperatorRefusal

export type ApprovalHandlers = Handlers<Pick<typeof endpoints, 'listApprovals' | 'decideApproval'>>

/**
 * Current holders of keys and tokens.
 * @throws DatabaseUnavailable
 */
export interface Holders {
  /** All operators, active or not. */
  readonly people: () => Promise<readonly Person[]>
  /** Counter of deactivations; read it before the holders. */
  readonly version: () => Promise<bigint>
  readonly deactivatedAt: AccessModule['deactivatedAt']
}

/** Refunds need no approval, but can be refused like payouts. */
export interface RefusableRefunds {
  get(id: string): Promise<object | undefined>
  /**
   * `undefined` if it does not exist.
   * @throws not_possible_in_state (409)
   */
  refuse(id: string, refusal: OperatorRefusal, live: LiveRequest): Promise<Decided | undefined>
}

export interface ApprovalRoutesOptions {
  readonly commands: CashOutCommands
  readonly decode: (pixCode: string, asker: string) => Promise<QrCode>
  readonly store: CashOutStore
  readonly clock: Clock
  readonly holders: Holders
  readonly refunds: RefusableRefunds
  /** Called when there is an order to send. */
  readonly onReserved: () => void
}

export function createApprovalHandlers(options: ApprovalRoutesOptions): ApprovalHandlers {
  const { store, holders, refunds, onReserved } = options
  return {
    listApprovals: async ({ query: { cursor, limit = limits.pageLimitDefault } }) => {
      // One extra row shows whether there are more.
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
      const { after, now } = await saidAmong(
        options,
        cashOut,
        context.live,
        ({ people, deactivationCount, ...now }) => {
          if (!approved) return { on: 'operator.refused', ...said }
          const isRequesterDeactivated = requesterDeactivatedAt(cashOut, now) !== null
          return { on: 'operator.approved', ...said, people, deactivationCount, isRequesterDeactivated, ...code }
        },
      )
      if (!after) throw new Refusal('not_found')
      onReserved()
      return { status: 200, body: approvalView(after, now) }
    },
  }
}

/**
 * Repeats the decision until no key or operator is deactivated between the read and the commit.
 * @throws as `CashOutCommands.approve`
 * @source rules#cash-out.approval.12
 */
async function saidAmong(
  { commands, holders }: ApprovalRoutesOptions,
  cashOut: CashOut,
  live: LiveRequest,
  inputOf: (now: HoldersNow & { readonly deactivationCount: bigint }) => ApprovalInput,
): Promise<{ readonly after: CashOut | undefined; readonly now: HoldersNow }> {
  for (;;) {
    const deactivationCount = await holders.version()
    const now = await holdersNow([cashOut], holders)
    try {
      return { after: await commands.approve(cashOut, inputOf({ ...now, deactivationCount }), live), now }
    } catch (error) {
      if (!(error instanceof HoldersChanged)) throw error
    }
  }
}

/**
 * Refuses a refund.
 * @throws not_found (404) · not_possible_in_state (409) an approval, which refunds do not have; or it was sent, or has
 * ended
 * @source rules#refund-in.refusal.1, rules#refund-in.refusal.2
 */
async function refundRefused(
  id: string,
  said: Omit<OperatorRefusal, 'on'>,
  isApproved: boolean,
  live: LiveRequest,
  refunds: RefusableRefunds,
): Promise<Decided> {
  if (!isUuid(id) || !(await refunds.get(id))) throw new Refusal('not_found')
  if (isApproved) throw new Refusal('not_possible_in_state', { message: 'a refund needs no approval' })
  const refused = await refunds.refuse(id, { on: 'operator.refused', ...said }, live)
  if (!refused) throw new Refusal('not_found')
  return refused
}

/**
 * Decodes the QR code again, with no transaction open.
 * @throws partner_unavailable (503)
 * @source rules#cash-out.approval.9
 */
async function codeNow({ detail, valueCents }: CashOut, approver: string, { decode, clock }: ApprovalRoutesOptions) {
  const { qrCode, recipient } = detail
  if (qrCode === null) return {}
  try {
    const code = readPixCode(qrCode.pixCode)
    const asked = { valueCents, document: recipient.document }
    const now = payableOf(code, await decode(code.text, approver), asked, clock.now())
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

interface HoldersNow {
  readonly people: readonly Person[]
  readonly deactivatedAt: ReadonlyMap<string, number | null>
}

async function holdersNow(cashOuts: readonly CashOut[], { people, deactivatedAt }: Holders): Promise<HoldersNow> {
  const requesters = cashOuts.flatMap(({ facts }) => facts.madeBy?.caller ?? [])
  return { people: await people(), deactivatedAt: await deactivatedAt(requesters) }
}

function requesterDeactivatedAt(
  { facts }: CashOut,
  { deactivatedAt }: Pick<HoldersNow, 'deactivatedAt'>,
): number | null {
  return deactivatedAt.get(facts.madeBy?.caller ?? '') ?? null
}

/** People who may approve it now. */
function approversOf({ facts: { approval } }: CashOut, { people }: Pick<HoldersNow, 'people'>): readonly Person[] {
  return approval ? people.filter((one) => isApprover(one) && isIndependent(one, approval, people)) : []
}

/** @source rules#cash-out.approval.5 */
function approvalView(cashOut: CashOut, now: HoldersNow): View {
  const { id, status, externalId, valueCents, detail, facts, createdAt } = cashOut
  const { name, document, pixKey } = detail.recipient
  const deactivatedAt = requesterDeactivatedAt(cashOut, now)
  const approvers = deactivatedAt === null && isAwaitingApproval(cashOut) ? approversOf(cashOut, now) : []
  return {
    id,
    status,
    externalId,
    valueCents: Number(valueCents),
    description: detail.description,
    paymentType: detail.paymentType,
    recipient: { name, document: maskReported(document), statedBy: detail.qrCode ? 'bank' : 'client', pixKey },
    apiKeyId: facts.madeBy !== undefined && isUuid(facts.madeBy.caller) ? facts.madeBy.caller : null,
    apiKeyDeactivatedAt: deactivatedAt === null ? null : new Date(deactivatedAt).toISOString(),
    approvalsWanted: facts.approval?.wanted ?? 0,
    approvedBy: facts.approval ? countedApprovers(facts.approval, now.people) : [],
    approvableBy: approvers.map(({ id, name }) => ({ id, name })),
    createdAt: new Date(createdAt).toISOString(),
    approvableUntil: new Date(approvalDeadline(cashOut)).toISOString(),
  }
}
