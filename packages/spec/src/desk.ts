import { Type } from 'typebox'
import { CASE_EXAMPLE, CASE_ID, caseFields } from './cases.ts'
import { deskDecisionNames, evidenceFields } from './decisions.ts'
import { endpoint } from './endpoint.ts'
import { accounts } from './ledger.ts'
import { looseDecisionNames } from './loose-cases.ts'
import { cents, idText, instant, nullable, uuid } from './shapes.ts'

/** Reading a case whole. */

const account = Type.Enum(Object.keys(accounts) as (keyof typeof accounts)[], {
  description: 'An account of the ledger',
})

const effects = Type.Object(
  {
    amountCents: cents('The largest sum that it moves on any account'),
    accounts: Type.Array(Type.Object({ account, changeCents: cents('With its sign') }), {
      description: 'What it does to each account, all journals together, repaid debts included',
    }),
    journals: Type.Array(
      Type.Object({
        operationId: uuid,
        journal: Type.String({ maxLength: 64 }),
        meaning: Type.String(),
        reference: Type.String(),
        postings: Type.Array(Type.Object({ account, amountCents: cents() })),
      }),
    ),
    operations: Type.Array(
      Type.Object({ id: uuid, statusBefore: nullable(Type.String()), statusAfter: Type.String() }),
      { description: 'What it does to the status of each operation that it moves' },
    ),
    notifications: Type.Array(Type.Object({ operationId: uuid, eventType: Type.String(), status: Type.String() })),
    closes: Type.Array(uuid, { description: 'The cases that close' }),
    opens: Type.Array(Type.Object({ kind: Type.String(), reference: Type.String() })),
  },
  { title: 'CaseEffects', description: 'What a decision does, to the centavo' },
)

const option = Type.Object(
  {
    decision: Type.Enum([...new Set([...deskDecisionNames, ...looseDecisionNames])]),
    meaning: Type.String({ description: 'What it is, in a sentence' }),
    needs: Type.Array(Type.Enum([...evidenceFields]), { description: 'What must be named with it' }),
    isOffered: Type.Boolean({ description: 'Whether the table has it now' }),
    whyNot: Type.Array(Type.String(), { description: 'Why not: what holds and must not, or must hold and does not' }),
    effects: nullable({
      ...effects,
      description:
        'What it would do; `null`: it is not offered, needs something named, or an operation will say by its own table',
    }),
  },
  { title: 'CaseOption' },
)

const json = Type.Unknown()

const timeline = Type.Object(
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
        version: Type.Integer(),
        trigger: Type.String(),
        from: nullable(Type.String()),
        to: Type.String(),
        facts: json,
        evidence: { ...json, description: 'What the bank said, where a case opened; `null`: nothing was kept' },
        at: instant,
      }),
      { description: 'Every change of state or knowledge, with its cause' },
    ),
    calls: Type.Object({
      stated: Type.Array(Type.Integer(), {
        description: 'The moves, by `version`, in which the bank stated a fact of money, or contradicted',
      }),
      counted: Type.Array(Type.Object({ trigger: Type.String(), count: Type.Integer() }), {
        description: 'All other calls and what came of them',
      }),
    }),
    events: Type.Array(
      Type.Object({
        id: uuid,
        ordinal: Type.Integer(),
        endpoint: Type.String(),
        state: Type.String(),
        outcome: nullable(Type.String()),
        isProven: Type.Boolean(),
        body: Type.String({ description: 'The bytes as they came, Base64; of an erased one what it told of money' }),
        receivedAt: instant,
      }),
    ),
    journals: Type.Array(
      Type.Object({
        operationId: uuid,
        journal: Type.String(),
        meaning: nullable(Type.String()),
        reference: Type.String(),
        entries: Type.Array(Type.Object({ account, amountCents: cents(), balanceAfterCents: cents() })),
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
            attempts: Type.Integer(),
            lastOutcome: nullable(Type.String()),
            finishedAt: nullable(instant),
          }),
        ),
      }),
    ),
    otherCases: Type.Array(Type.Object(caseFields)),
    truncated: Type.Array(Type.String(), { description: 'Of which of these there are more than are shown' }),
  },
  { title: 'CaseTimeline' },
)

const event = Type.Object(
  {
    id: uuid,
    ordinal: Type.Integer({ description: 'Its place in the callback, from 0' }),
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
      description: 'It changes with everything that becomes known of its operation, or of what it is about',
    }),
    facts: { ...json, description: 'What was reported when the case opened' },
    options: Type.Array(option, { description: 'What the table has for this case, and what each would do' }),
    event: nullable({ ...event, description: 'The event of the bank that was set aside; `null`: it is about none' }),
    timeline: nullable({ ...timeline, description: 'All that is known of its operation; `null`: it has none' }),
  },
  { title: 'Case' },
)

const CASE_PARAMS = Type.Object({ id: idText('case', CASE_ID) })

/** @source rules#desk.32, rules#desk.33, rules#desk.34 */
export const getCase = endpoint({
  id: 'getCase',
  method: 'GET',
  path: '/operator/cases/{id}',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'Read a case: what is known, and what is missing or contradicts',
  description:
    'With the whole timeline of its operation: the request and its API key, every move with its cause, what the bank told with its raw bytes, journals, notifications and deliveries. Each decision that the table has is shown with what it would do; nothing is changed by reading.',
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
        timeline: null,
      },
    },
  },
  errors: ['not_found'],
})
