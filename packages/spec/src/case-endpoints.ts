import { Type } from 'typebox'
import { caseKinds, decisionNames, evidenceFields } from './cases.ts'
import { endpoint } from './endpoint.ts'
import { ledgerAccount } from './ledger.ts'
import { limits } from './limits.ts'
import { paidRefundErrors } from './refund-in/index.ts'
import {
  CASE_KIND,
  cents,
  centsMoved,
  cursorList,
  END_TO_END_ID,
  FREE_TEXT,
  idempotencyKey,
  idText,
  instant,
  int64,
  nullable,
  optional,
  optionalText,
  pageLimit,
  RETURN_ID,
  uuid,
  VISIBLE_ASCII,
} from './shapes.ts'

/** Cases over HTTP: list, details, decisions, approvals, notes. */

const CASE_ID = '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f'

const CASE_EXAMPLE = {
  id: CASE_ID,
  kind: 'payment_in_suspense',
  state: 'open',
  meaning: caseKinds.payment_in_suspense.meaning,
  reference: 'E9999901020261121131500aB3dE5fG7',
  amountCents: 15000,
  operation: { id: '0198c0de-7a11-7000-8000-5f1d3c2b1a09', kind: 'cash_in', status: 'PAID', externalId: 'order-1001' },
  openedAt: '2026-11-21T13:15:02.417Z',
  closedAt: null,
} as const

const kind = Type.String({ pattern: CASE_KIND, description: 'The kind of case', examples: ['payment_in_suspense'] })

const operation = Type.Object({
  id: uuid,
  kind: Type.Enum(['cash_in', 'cash_out', 'refund_in', 'adjustment'], { title: 'OperationKind' }),
  status: Type.String({ maxLength: 64 }),
  externalId: Type.String({ maxLength: limits.externalIdMaxLength }),
})

const caseFields = {
  id: uuid,
  kind: Type.String({ maxLength: 64 }),
  state: Type.Enum(['open', 'closed'], { title: 'CaseState' }),
  meaning: Type.String({ description: 'Missing or contradictory evidence, and where the money is, in a sentence' }),
  reference: Type.String({
    description: 'Distinguishes cases of one kind: an end-to-end id, a return id, or nothing',
  }),
  amountCents: nullable(cents('The reported amount, or else that of the operation')),
  operation: nullable({ ...operation, description: '`null`: it is about no operation' }),
  openedAt: instant,
  closedAt: nullable(instant),
}

const atOrAfter = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', maxLength: 40, description, examples: ['2026-11-21T13:00:00Z'] }))

const amount = (description: string) =>
  Type.Optional({ ...int64({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }), examples: [100000] })

/** @source rules#cases.30, rules#cases.31 */
export const listCases = endpoint({
  id: 'listCases',
  method: 'GET',
  path: '/operator/cases',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'List cases: the open ones, oldest first, or the closed ones, last closed first',
  description:
    'Each with what it means in a sentence, also those about no operation. By kind, amount, time of opening and operation.',
  query: Type.Object(
    {
      state: Type.Optional(Type.Enum(['open', 'closed'], { default: 'open', description: 'Which; `open` by default' })),
      kind: Type.Optional(kind),
      operation_id: Type.Optional({
        ...uuid,
        description: 'Only those of this operation',
        examples: [CASE_EXAMPLE.operation.id],
      }),
      opened_from: atOrAfter('Opened at this time or later'),
      opened_before: atOrAfter('Opened before this time'),
      min_cents: amount('About this amount or more'),
      max_cents: amount('About this amount or less'),
      cursor: Type.Optional({ ...uuid, description: '`nextCursor` of the page before', examples: [CASE_ID] }),
      limit: pageLimit,
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of cases',
      schema: cursorList(Type.Object(caseFields, { title: 'CaseSummary' }), 'CasePage'),
      example: { data: [CASE_EXAMPLE], pagination: { limit: 20, hasMore: false, nextCursor: null } },
    },
  },
  errors: [],
})

const INTEGER_MAX = 2 ** 31 - 1

function count(more: { readonly description?: string } = {}) {
  return Type.Integer({ minimum: 0, maximum: INTEGER_MAX, ...more })
}

const effects = Type.Object(
  {
    amountCents: cents(
      'The largest sum that it moves on any account, or hands over, or leaves as it is where it moves nothing',
    ),
    accounts: Type.Array(Type.Object({ account: ledgerAccount, changeCents: cents('With its sign') }), {
      description: 'Change of each account’s balance by all journals, repaid debts included',
    }),
    journals: Type.Array(
      Type.Object({
        operationId: uuid,
        journal: Type.String({ maxLength: 64 }),
        meaning: Type.String(),
        reference: Type.String(),
        postings: Type.Array(Type.Object({ account: ledgerAccount, amountCents: cents() })),
      }),
    ),
    operations: Type.Array(
      Type.Object({ id: uuid, statusBefore: nullable(Type.String()), statusAfter: Type.String() }),
      { description: 'Status of each affected operation, before and after' },
    ),
    notifications: Type.Array(Type.Object({ operationId: uuid, eventType: Type.String(), status: Type.String() })),
    closes: Type.Array(uuid, { description: 'The cases that close' }),
    opens: Type.Array(Type.Object({ kind: Type.String(), reference: Type.String() })),
  },
  {
    title: 'CaseEffects',
    description:
      'Effects of a decision on accounts and operations, to the centavo. An event that is applied again is booked afterwards and is not included. `null`: none.',
  },
)

export const caseDecision = Type.Enum(decisionNames, {
  title: 'CaseDecision',
  description: 'One of those that the case offers',
})

const option = Type.Object(
  {
    decision: caseDecision,
    meaning: Type.String({ description: 'The decision, in a sentence' }),
    needs: Type.Array(Type.Enum([...evidenceFields], { title: 'CaseEvidenceField' }), {
      description: 'Fields that the decision requires',
    }),
    maxCents: nullable(cents('The most that `amountCents` can be now; `null`: the decision takes no amount')),
    isOffered: Type.Boolean({ description: 'Whether the table has it now' }),
    whyNot: Type.Array(Type.String(), { description: 'Conditions that prevent the decision' }),
    needsSecondPerson: Type.Boolean({
      description:
        'Whether another person has to approve it, by the amount that the case is about; a dry run answers it from the effects of the decision',
    }),
  },
  { title: 'CaseOption' },
)

const json = Type.Unknown()

const person = Type.Object({
  id: Type.String({ maxLength: 64, description: '`admin`: the administrative token' }),
  name: nullable(Type.String({ maxLength: limits.nameMaxLength })),
})

const step = Type.Object(
  {
    id: uuid,
    step: Type.Enum(['decided', 'proposed', 'approved', 'refused', 'noted']),
    proposalId: nullable({ ...uuid, description: 'The proposal that was approved or refused' }),
    by: person,
    order: {
      ...json,
      description:
        'The decision with its reason and evidence; of an approval or a refusal the reason, of a note its text',
    },
    amountCents: cents('The largest sum that it moves on any account'),
    isOpen: Type.Boolean({ description: 'It is a proposal that can still be approved' }),
    whyVoid: nullable(Type.String({ description: 'Why an open proposal can no longer be approved' })),
    at: instant,
  },
  { title: 'CaseStep' },
)

export const timeline = Type.Object(
  {
    request: nullable(
      Type.Object({
        valueCents: cents(),
        feeCents: cents(),
        correlationId: Type.String(),
        apiKeyId: nullable(Type.String({ description: 'The API key that asked for it' })),
        address: nullable(Type.String({ description: 'From where' })),
        detail: json,
        createdAt: instant,
      }),
    ),
    moves: Type.Array(
      Type.Object({
        version: count(),
        trigger: Type.String(),
        from: nullable(Type.String()),
        to: Type.String(),
        facts: json,
        evidence: { ...json, description: 'The bank’s message that opened a case; `null`: none was stored' },
        at: instant,
      }),
      { description: 'Every change of state or knowledge, with its cause' },
    ),
    calls: Type.Object({
      stated: Type.Array(count(), {
        description: 'The moves, by `version`, in which the bank stated a fact of money, or contradicted',
      }),
      counted: Type.Array(Type.Object({ trigger: Type.String(), count: count() }), {
        description: 'All other calls and their outcomes',
      }),
    }),
    events: Type.Array(
      Type.Object({
        id: uuid,
        ordinal: count(),
        endpoint: Type.String(),
        state: Type.String(),
        outcome: nullable(Type.String()),
        isProven: Type.Boolean(),
        body: Type.String({ description: 'The received bytes, Base64; of an erased event, its facts about money' }),
        receivedAt: instant,
      }),
    ),
    journals: Type.Array(
      Type.Object({
        operationId: uuid,
        journal: Type.String(),
        meaning: nullable(Type.String()),
        reference: Type.String(),
        entries: Type.Array(Type.Object({ account: ledgerAccount, amountCents: cents(), balanceAfterCents: cents() })),
        at: instant,
      }),
    ),
    notifications: Type.Array(
      Type.Object({
        id: uuid,
        eventType: Type.String(),
        status: Type.String(),
        createdAt: instant,
        deliveries: Type.Array(
          Type.Object({
            url: Type.String(),
            state: Type.String(),
            attempts: count(),
            lastOutcome: nullable(Type.String()),
            finishedAt: nullable(instant),
          }),
        ),
      }),
    ),
    otherCases: Type.Array(Type.Object(caseFields)),
    truncated: Type.Array(Type.String(), { description: 'Of which of these there are more than are shown' }),
  },
  { title: 'CaseTimeline', description: 'All that is known of an operation' },
)

const event = Type.Object(
  {
    id: uuid,
    ordinal: count({ description: 'Its place in the callback, from 0' }),
    endpoint: Type.String(),
    state: Type.String(),
    outcome: nullable(Type.String()),
    body: nullable(Type.String({ description: 'The bytes of the callback as they came, Base64; `null`: erased' })),
    receivedAt: instant,
  },
  { title: 'CaseEvent' },
)

const caseWhole = Type.Object(
  {
    ...caseFields,
    version: Type.String({
      maxLength: 128,
      description: 'It changes with everything that a decision depends on, and not when the bank is queried in vain',
    }),
    facts: { ...json, description: 'The report that opened the case' },
    options: Type.Array(option, { description: 'Decisions that this case allows, with their effects' }),
    event: nullable({ ...event, description: 'The event of the bank that was set aside; `null`: it is about none' }),
    steps: Type.Array(step, {
      description: 'Decisions, proposals, approvals, refusals and notes of operators, oldest first',
    }),
    timeline: nullable(timeline),
  },
  { title: 'Case' },
)

const CASE_PARAMS = Type.Object({ id: idText('case', CASE_ID) })

/** @source rules#cases.32, rules#cases.33, rules#cases.34 */
export const getCase = endpoint({
  id: 'getCase',
  method: 'GET',
  path: '/operator/cases/{id}',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'Read a case: its evidence, and what is missing or contradictory',
  description:
    'With the whole timeline of its operation: the request and its API key, every move with its cause, what the bank reported with its raw bytes, journals, notifications and deliveries. Each decision that the table has is shown with what it would do; nothing is changed by reading.',
  params: CASE_PARAMS,
  responses: {
    200: {
      description: 'The case',
      schema: caseWhole,
      example: {
        ...CASE_EXAMPLE,
        version: '3',
        facts: { valueCents: 15000 },
        options: [],
        event: null,
        steps: [],
        timeline: null,
      },
    },
  },
  errors: ['not_found'],
})

const REASON_MIN = 3

const reason = Type.String({
  minLength: REASON_MIN,
  maxLength: limits.caseReasonMaxLength,
  pattern: FREE_TEXT,
  description: 'The reason, for the audit trail',
})

const evidence = optional(
  Type.Object(
    {
      endToEndId: optionalText(
        limits.bankIdMaxLength,
        'The end-to-end id of the payment, as the bank has it',
        END_TO_END_ID,
      ),
      returnId: optionalText(limits.bankIdMaxLength, 'The return id, as the bank has it', RETURN_ID),
      reference: optionalText(limits.bankIdMaxLength, 'Where the bank says it: a ticket, a statement, a letter'),
      note: optionalText(limits.caseReasonMaxLength, 'The bank’s statement'),
    },
    {
      title: 'CaseEvidence',
      description: 'The bank’s statement, if the decision relies on it',
      additionalProperties: false,
    },
  ),
)

const decided = Type.Object(
  {
    outcome: Type.Enum(['decided', 'proposed', 'approved', 'refused', 'dry_run'], {
      description: '`proposed`: another person is to approve it; `dry_run`: nothing was changed',
    }),
    caseId: uuid,
    decision: caseDecision,
    proposalId: nullable({ ...uuid, description: 'To be approved or refused' }),
    refundId: nullable({ ...uuid, description: 'Of `return_to_payer`: the refund that was ordered' }),
    needsSecondPerson: Type.Boolean({ description: 'Another person has to approve it' }),
    whySecondPerson: nullable(Type.String({ description: 'Why another person has to approve it, in words' })),
    effects: nullable(effects),
  },
  { title: 'CaseDecided' },
)

const DECIDED_EXAMPLE = {
  outcome: 'decided',
  caseId: CASE_ID,
  decision: 'accept',
  proposalId: null,
  refundId: null,
  needsSecondPerson: false,
  whySecondPerson: null,
  effects: {
    amountCents: 15000,
    accounts: [
      { account: 'suspense_in', changeCents: -15000 },
      { account: 'available', changeCents: 15000 },
    ],
    journals: [],
    operations: [{ id: CASE_EXAMPLE.operation.id, statusBefore: 'PAID', statusAfter: 'PAID' }],
    notifications: [],
    closes: [CASE_ID],
    opens: [],
  },
} as const

const PROPOSAL_ID = '0198c0f3-3f00-7000-8000-8b9c0d1e2f3a'

const PROPOSED = {
  proposalId: PROPOSAL_ID,
  needsSecondPerson: true,
  whySecondPerson: 'its amount is at least R$ 1.000,00',
} as const

/** @source rules#cases.35, rules#cases.36, rules#cases.37, rules#cases.39 */
export const decideCase = endpoint({
  id: 'decideCase',
  method: 'POST',
  path: '/operator/cases/{id}/decisions',
  auth: 'admin',
  role: 'operator',
  tag: 'Operator',
  summary: 'Decide a case, propose a decision, or preview its effects',
  description:
    'Only what the case offers, and only where nothing changed since it was read. From `PIXGATE_DESK_APPROVAL_FROM_CENTS` on it becomes a proposal, which another person approves. Send an `Idempotency-Key`, so that a lost answer is not decided twice.',
  params: CASE_PARAMS,
  headers: {
    'Idempotency-Key': { ...idempotencyKey, description: 'Replays the answer to the same request within 24 hours' },
  },
  body: Type.Object(
    {
      decision: caseDecision,
      reason,
      version: Type.String({
        minLength: 1,
        maxLength: 128,
        pattern: VISIBLE_ASCII,
        description: '`version` of the case as it was read',
      }),
      evidence,
      operationId: optional({ ...uuid, description: 'Of `book`: the operation that books the money or the event' }),
      amountCents: optional({
        ...centsMoved,
        description: 'Of `accept` and `return_to_payer`: how much of the money in suspense',
      }),
      dryRun: optional(
        Type.Boolean({
          description: 'Preview: the decision is executed and rolled back within 2 s, or else 503',
        }),
      ),
    },
    { title: 'CaseDecisionRequest', additionalProperties: false },
  ),
  example: { decision: 'accept', amountCents: 10000, reason: 'The customer paid for two boxes', version: '3' },
  responses: {
    200: {
      description: 'The decision was executed; with `dryRun`, it would be',
      headers: ['Idempotent-Replayed'],
      schema: decided,
      example: DECIDED_EXAMPLE,
    },
    202: {
      description: 'A proposal; nothing is executed until another person approves it',
      headers: ['Idempotent-Replayed'],
      schema: decided,
      example: { ...DECIDED_EXAMPLE, ...PROPOSED, outcome: 'proposed' },
    },
  },
  errors: ['not_found', 'case_changed', 'not_possible_in_state', 'idempotency_key_reused', ...paidRefundErrors],
})

const PROPOSAL_PARAMS = Type.Object({
  id: idText('case', CASE_ID),
  proposalId: idText('proposal', PROPOSAL_ID),
})

/** @source rules#cases.40, rules#cases.41, rules#cases.42, rules#cases.43 */
export const decideCaseProposal = endpoint({
  id: 'decideCaseProposal',
  method: 'PUT',
  path: '/operator/cases/{id}/proposals/{proposalId}',
  auth: 'admin',
  role: ['operator', 'approver'],
  tag: 'Operator',
  summary: 'Approve a decision that another person proposed, or refuse it',
  description:
    'An `approver` approves: exactly what was proposed is done at once. Where the case changed since, or its proposer was deactivated, the proposal is void. Any operator or approver refuses, its proposer too: it cannot be approved any more.',
  params: PROPOSAL_PARAMS,
  body: Type.Object(
    { approved: Type.Boolean(), reason },
    { title: 'CaseApprovalRequest', additionalProperties: false },
  ),
  example: { approved: true, reason: 'Checked with the bank' },
  responses: {
    200: {
      description: 'The decision was executed',
      schema: decided,
      example: { ...DECIDED_EXAMPLE, ...PROPOSED, outcome: 'approved' },
    },
  },
  errors: ['not_found', 'approver_not_independent', 'proposal_void', 'not_possible_in_state', ...paidRefundErrors],
})

/** @source rules#cases.62 */
export const noteCase = endpoint({
  id: 'noteCase',
  method: 'POST',
  path: '/operator/cases/{id}/notes',
  auth: 'admin',
  role: 'operator',
  tag: 'Operator',
  summary: 'Note something about a case',
  description:
    'Adds a note to the case’s history, such as the bank’s reply to a question. It changes nothing and voids no proposal. Keep personal data to a minimum.',
  params: CASE_PARAMS,
  body: Type.Object(
    {
      text: Type.String({
        minLength: 1,
        maxLength: limits.caseReasonMaxLength,
        pattern: FREE_TEXT,
        description: 'For the next reader of the case',
      }),
    },
    { title: 'CaseNoteRequest', additionalProperties: false },
  ),
  example: { text: 'The bank looks for the payment, ticket 815' },
  responses: {
    201: {
      description: 'Noted',
      schema: Type.Object({ id: uuid, at: instant }, { title: 'CaseNote' }),
      example: { id: PROPOSAL_ID, at: '2026-11-21T13:20:00.000Z' },
    },
  },
  errors: ['not_found'],
})
