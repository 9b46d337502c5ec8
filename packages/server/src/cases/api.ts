import { type EndpointInput, type endpoints, limits, Refusal } from '@pixgate/spec'
import { operatorOf } from '../audit/trail.ts'
import { hashOf, identityOf } from '../operations/requests.ts'
import type { Handlers, RequestContext } from '../platform/http/handler.ts'
import { instantOf } from '../platform/http/page.ts'
import { isUuid } from '../platform/ids.ts'
import type { Evidence } from './case.ts'
import {
  approve,
  type CaseNeeds,
  type DecisionRequest,
  type DecisionResult,
  decide,
  note,
  operationOf,
  type ProposalRequest,
  refuse,
} from './decide.ts'
import { type CaseFilter, listCases, readCase, readSteps, readStoredCase } from './store.ts'
import { eventView, optionsByTable, optionsWithoutOperation, stepViews, summaryOf, timelineOf } from './view.ts'
import { readSubject } from './without-operation.ts'

export type CaseHandlers = Handlers<
  Pick<typeof endpoints, 'listCases' | 'getCase' | 'decideCase' | 'decideCaseProposal' | 'noteCase'>
>

export function createCaseHandlers(needs: CaseNeeds): CaseHandlers {
  const { database } = needs
  return {
    listCases: async ({ query }) => {
      const { limit = limits.pageLimitDefault } = query
      // One extra row shows whether there are more.
      const rows = await listCases(database, { ...filterOf(query), limit: limit + 1 })
      if (rows.length === 0 && query.state === 'closed') await assertClosed(needs, query.cursor)
      const data = rows.slice(0, limit).map(summaryOf)
      const hasMore = rows.length > limit
      const nextCursor = hasMore ? (data.at(-1)?.id ?? null) : null
      return { status: 200, body: { data, pagination: { limit, hasMore, nextCursor } } }
    },
    getCase: async ({ params }) => ({ status: 200, body: await wholeOf(needs, params.id) }),
    decideCase: async ({ params, body, context }) =>
      answerOf(await decide(needs, decisionOf(params.id, body, context))),
    decideCaseProposal: async ({ params, body: { approved, reason }, context }) => {
      const said = saidOf(params, reason, context)
      return { status: 200, body: await (approved ? approve(needs, said) : refuse(needs, said)) }
    },
    noteCase: async ({ params, body: { text }, context }) => {
      const said = { caseId: params.id, text, operator: operatorOf(context), bodyHash: hashOf({ text }) }
      return { status: 201, body: await note(needs, { ...said, live: context.live }) }
    },
  }
}

/**
 * Options are computed after the case was read; a later change is refused by the version.
 * @throws not_found (404)
 */
async function wholeOf({ database, ...needs }: CaseNeeds, id: string) {
  const whole = isUuid(id) ? await readCase(database, id) : undefined
  if (!whole) throw new Refusal('not_found')
  const { approvalFromCents, deciders, clock, withoutOperation, operators } = needs
  const operation = await operationOf(database, whole)
  const read = operation ? undefined : await readSubject(database, withoutOperation.events, whole)
  const standing = { version: whole.version, isClosed: whole.closedAt !== null, people: await operators.people() }
  return {
    ...summaryOf(whole),
    version: String(whole.version),
    facts: whole.facts,
    options: operation
      ? optionsByTable(whole, operation, deciders, clock.now(), approvalFromCents)
      : read
        ? optionsWithoutOperation(read, approvalFromCents)
        : [],
    event: read?.subject.is === 'event' ? eventView(read.subject) : null,
    steps: stepViews(await readSteps(database, whole.id), standing),
    timeline: timelineOf(whole),
  }
}

/** Empty fields are omitted. */
function decisionOf(
  caseId: string,
  body: EndpointInput<typeof endpoints.decideCase>['body'],
  context: RequestContext,
): DecisionRequest {
  const { decision, reason, version, evidence, operationId, amountCents, dryRun } = body
  const amount = amountCents == null ? {} : { amountCents: BigInt(amountCents) }
  const other = operationId ? { operationId: operationId.toLowerCase() } : {}
  const ordered = { decision, reason, evidence: evidenceOf(evidence ?? {}), ...other, ...amount }
  const { idempotencyKey } = identityOf('decideCase', context)
  return {
    caseId,
    ordered,
    version,
    isDryRun: dryRun === true,
    operator: operatorOf(context),
    idempotencyKey,
    bodyHash: hashOf({ caseId, version, ...ordered }),
    live: context.live,
  }
}

function saidOf(
  { id: caseId, proposalId }: { readonly id: string; readonly proposalId: string },
  reason: string,
  context: RequestContext,
): ProposalRequest {
  const { live } = context
  return { caseId, proposalId, reason, operator: operatorOf(context), bodyHash: hashOf({ proposalId, reason }), live }
}

function answerOf({ answer, isReplayed }: DecisionResult) {
  const headers = isReplayed ? { headers: { 'idempotent-replayed': 'true' } } : {}
  return { status: answer.outcome === 'proposed' ? 202 : 200, body: answer, ...headers } as const
}

/**
 * Closed cases are listed by closing time, in which a reopened case has no position.
 * @throws validation_error (400)
 * @source rules#cases.31
 */
async function assertClosed({ database }: CaseNeeds, cursor: string | undefined): Promise<void> {
  const last = cursor === undefined ? undefined : await readStoredCase(database, cursor)
  if (last?.closedAt !== null) return
  const message = 'the case of this cursor is open again; restart the list'
  throw new Refusal('validation_error', { message, fields: [{ field: 'cursor', code: 'not_possible', message }] })
}

function filterOf(query: EndpointInput<typeof endpoints.listCases>['query']): Omit<CaseFilter, 'limit'> {
  const { state = 'open', kind = null, operation_id = null, min_cents = null, max_cents = null, cursor = null } = query
  const { opened_from, opened_before } = query
  return {
    isOpen: state === 'open',
    kind,
    operationId: operation_id,
    openedFrom: opened_from === undefined ? null : instantOf(opened_from),
    openedBefore: opened_before === undefined ? null : instantOf(opened_before),
    minCents: min_cents,
    maxCents: max_cents,
    after: cursor,
  }
}

/** Empty fields are omitted. */
function evidenceOf(named: { readonly [field in keyof Evidence]?: string | null | undefined }): Evidence {
  return Object.fromEntries(Object.entries(named).filter(([, text]) => text))
}
