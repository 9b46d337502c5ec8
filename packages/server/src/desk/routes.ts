import { type EndpointInput, type endpoints, limits, Refusal } from '@pixgate/spec'
import { operatorOf } from '../audit/operator.ts'
import { hashOf, identityOf } from '../operations/requests.ts'
import type { Handlers, RequestContext } from '../platform/http/handler.ts'
import { instantOf } from '../platform/http/instant.ts'
import { isUuid } from '../platform/ids.ts'
import {
  type Answered,
  createDeskCommands,
  type DecisionRequest,
  type DeskNeeds,
  type ProposalRequest,
} from './commands.ts'
import { isOfOneTime } from './decidable.ts'
import type { ReadCase } from './loose/index.ts'
import { looseOptionsOf, type OptionsNeeds, operationOf, optionsOf } from './options.ts'
import { evidenceOf, stepViews } from './steps/rules.ts'
import { readSteps, readStoredCase } from './steps/store.ts'
import { type CaseFilter, listCases, readCase, type WholeCase } from './store.ts'
import { summaryOf } from './summary.ts'
import { timelineOf } from './timeline.ts'

/** The endpoints of the desk. */
export type DeskHandlers = Handlers<
  Pick<typeof endpoints, 'listCases' | 'getCase' | 'decideCase' | 'decideCaseProposal' | 'noteCase'>
>

/** Makes the handlers. */
export function createDeskHandlers(needs: DeskNeeds): DeskHandlers {
  const { database, holders } = needs
  const commands = createDeskCommands(needs)
  return {
    listCases: async ({ query }) => {
      const { limit = limits.pageLimitDefault } = query
      // One more than asked for tells whether there are more.
      const rows = await listCases(database, { ...filterOf(query), limit: limit + 1 })
      if (rows.length === 0 && query.state === 'closed') await assertClosed(needs, query.cursor)
      const data = rows.slice(0, limit).map(summaryOf)
      const hasMore = rows.length > limit
      const nextCursor = hasMore ? (data.at(-1)?.id ?? null) : null
      return { status: 200, body: { data, pagination: { limit, hasMore, nextCursor } } }
    },
    getCase: async ({ params }) => {
      const { whole, operation } = await readTogether(needs, params.id)
      const loose = operation ? undefined : await needs.looseDesk.read(whole.id)
      const version = loose?.version ?? String(whole.version)
      const people = await holders.people()
      const standing = { version, isClosed: whole.closedAt !== null, people }
      const options = loose ? looseOptionsOf(loose, needs) : optionsOf(whole, operation, needs)
      return {
        status: 200,
        body: {
          ...summaryOf(whole),
          version,
          facts: whole.facts,
          options,
          event: loose ? eventOf(loose) : null,
          steps: stepViews(await readSteps(database, whole.id), standing),
          timeline: timelineOf(whole),
        },
      }
    },
    decideCase: async ({ params, body, context }) =>
      answerOf(await commands.decide(decisionOf(params.id, body, context))),
    decideCaseProposal: async ({ params, body: { approved, reason }, context }) => {
      const said = saidOf(params, reason, context)
      return { status: 200, body: await (approved ? commands.approve(said) : commands.refuse(said)) }
    },
    noteCase: async ({ params, body: { text }, context }) => {
      const said = { caseId: params.id, text, operator: operatorOf(context), bodyHash: hashOf({ text }) }
      return { status: 201, body: await commands.note({ ...said, live: context.live }) }
    },
  }
}

/** What an operator orders. What is empty is left out. */
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

function answerOf({ answer, isReplayed }: Answered) {
  const headers = isReplayed ? { headers: { 'idempotent-replayed': 'true' } } : {}
  return { status: answer.outcome === 'proposed' ? 202 : 200, body: answer, ...headers } as const
}

/**
 * A case, and its operation as it was when the case was read.
 * @throws not_found (404)
 */
async function readTogether({ database }: OptionsNeeds, id: string) {
  for (;;) {
    const whole: WholeCase | undefined = isUuid(id) ? await readCase(database, id) : undefined
    if (!whole) throw new Refusal('not_found')
    const operation = await operationOf(database, whole)
    if (operation === undefined || isOfOneTime(whole, operation)) return { whole, operation }
  }
}

/** The event that a case is about, with its bytes. @source rules#desk.57 */
function eventOf({ subject }: ReadCase) {
  if (subject.is !== 'event') return null
  const { inboxId: id, ordinal, endpoint, state, outcome, body, receivedAt } = subject
  const bytes = body === null ? null : body.toString('base64')
  return { id, ordinal, endpoint, state, outcome, body: bytes, receivedAt: new Date(receivedAt).toISOString() }
}

/**
 * The closed cases are listed by when they were closed: one that was opened again has no place among them.
 * @throws validation_error (400)
 * @source rules#desk.31
 */
async function assertClosed({ database }: DeskNeeds, cursor: string | undefined): Promise<void> {
  const last = cursor === undefined ? undefined : await readStoredCase(database, cursor)
  if (last?.closedAt !== null) return
  const message = 'the case that cursor names is open again; begin the list anew'
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
