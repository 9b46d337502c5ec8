import type { EndpointInput, endpoints } from '@pixgate/spec'
import { HoldersChanged } from '../access/index.ts'
import { insertAudit, type Operator, operatorOf } from '../audit/trail.ts'
import { type CaseNeeds, type DecisionResult, replayedAnswer } from '../cases/decide.ts'
import { requestRefund, whyRequestNeedsSecondPerson } from '../cases/requested.ts'
import { assertOperates } from '../cases/second-person.ts'
import { IdempotencyKeyTaken } from '../engine/batch.ts'
import { createReader } from '../engine/reader.ts'
import { identityOf, replayedOf } from '../operations/requests.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { isRefundIn, type RefundInModule, type RefundInRequest, refundContent } from '../refund-in/index.ts'

/** Refunds that operators order: at once, or as a proposal for a second person. */

export interface RefundNeeds {
  readonly cases: CaseNeeds
  readonly refunds: Pick<RefundInModule, 'order'>
}

/** Amount, reason and charge as for the API's refund. */
interface OrderedRefund extends RefundInRequest {
  readonly cashInId: string
  readonly reason: string
  /** `null`: the refund's own id serves. */
  readonly givenExternalId: string | null
}

type Ordered = { readonly isReplayed: boolean } & (
  | { readonly refundId: string; readonly proposed?: undefined }
  | { readonly proposed: { readonly caseId: string; readonly proposalId: string }; readonly refundId?: undefined }
)

const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

/** @source rules#console.14 */
export function createRefundHandlers(needs: RefundNeeds): Handlers<Pick<typeof endpoints, 'refundPayment'>> {
  const { ids } = needs.cases
  return {
    refundPayment: async ({ body, context }) => {
      const request = requestOf(ids.uuid(), body, identityOf('refundPayment', context))
      const { refundId, proposed, isReplayed } = await order(needs, request, operatorOf(context))
      const headers = isReplayed ? { headers: { 'idempotent-replayed': 'true' } } : {}
      if (proposed) return { status: 202, body: proposed, ...headers }
      return { status: 201, body: { refundId }, ...headers }
    },
  }
}

function requestOf(
  id: string,
  { cashInId, valueCents, reason, externalId: given }: EndpointInput<typeof endpoints.refundPayment>['body'],
  identity: ReturnType<typeof identityOf>,
): OrderedRefund {
  const externalId = given ?? null
  const ordered = { cashInId: cashInId.toLowerCase(), valueCents: BigInt(valueCents), reason }
  const { bodyHash } = refundContent({ ...ordered, externalId })
  const named = { givenExternalId: externalId, externalId: externalId ?? id, valueField: 'valueCents' }
  return { ...ordered, ...identity, ...named, id, bodyHash }
}

/**
 * Orders the refund, proposes one that needs a second person, or returns the result of the same `Idempotency-Key`. The
 * audit row comes first, and remains even if nothing is ordered.
 * @throws as the refund · insufficient_role (403) it must be proposed, and the caller is not a named operator
 */
async function order(needs: RefundNeeds, request: OrderedRefund, operator: Operator): Promise<Ordered> {
  const { cases } = needs
  const { id, cashInId, valueCents, reason, givenExternalId: externalId } = request
  const facts = { refundId: id, valueCents: Number(valueCents), reason, correlationId: request.correlationId }
  const audit = { ...operator, action: 'refund.ordered', subject: cashInId, facts }
  await insertAudit(cases.database, { ...audit, id: cases.ids.uuid(), at: cases.clock.now() })
  const before = await orderedBefore(cases, request)
  if (before) return before
  if (whyRequestNeedsSecondPerson(cases, valueCents) === null) return orderAtOnce(needs, request, operator)
  return proposedOf(await requestRefund(cases, { ...request, externalId }, operator))
}

/**
 * The refund or proposal of the same `Idempotency-Key`, even if the threshold for a second person was different then.
 * @throws idempotency_key_reused (422)
 */
async function orderedBefore(cases: CaseNeeds, request: OrderedRefund): Promise<Ordered | undefined> {
  const { idempotencyKey: key } = request
  if (key === null) return undefined
  const proposed = await replayedAnswer(cases, request)
  if (proposed) return proposedOf(proposed)
  const since = cases.clock.now() - IDEMPOTENCY_MS
  const [operation] = await createReader(cases.database).byIdempotencyKeys([key], since)
  if (!operation) return undefined
  const refund = replayedOf(new IdempotencyKeyTaken(operation), request, isRefundIn, 'externalId')
  return { refundId: refund.id, isReplayed: true }
}

function proposedOf({ answer: { caseId, proposalId }, isReplayed }: DecisionResult): Ordered {
  if (proposalId === null) throw new Error(`the refund of case ${caseId} has no proposal`)
  return { proposed: { caseId, proposalId }, isReplayed }
}

/** Orders the refund while its operator is active. */
async function orderAtOnce(
  { cases: { operators }, refunds }: RefundNeeds,
  request: OrderedRefund,
  operator: Operator,
): Promise<Ordered> {
  for (;;) {
    const holdersVersion = await operators.deactivations()
    assertOperates(operator, await operators.people())
    try {
      const { refund, isReplayed } = await refunds.order({ ...request, holdersVersion })
      return { refundId: refund.id, isReplayed }
    } catch (error) {
      if (!(error instanceof HoldersChanged)) throw error
    }
  }
}
