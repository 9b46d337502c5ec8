import { Type } from 'typebox'
import { caseKinds } from './case-kinds.ts'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { CASE_KIND, cents, cursorList, instant, int64, nullable, pageLimit, uuid } from './shapes.ts'

/** Cases: what an operator has to decide, and all that is known about it. */

export const CASE_ID = '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f'

export const CASE_EXAMPLE = {
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
  kind: Type.Enum(['cash_in', 'cash_out', 'refund_in', 'adjustment']),
  status: Type.String({ maxLength: 64 }),
  externalId: Type.String({ maxLength: limits.externalIdMaxLength }),
})

/** What a list and the case itself show alike. */
export const caseFields = {
  id: uuid,
  kind: Type.String({ maxLength: 64 }),
  state: Type.Enum(['open', 'closed']),
  meaning: Type.String({ description: 'What is missing or contradicts, and where the money is, in a sentence' }),
  reference: Type.String({
    description: 'What tells cases of one kind apart: an end-to-end id, a return id, or nothing',
  }),
  amountCents: nullable(cents('What it is about: the amount that was reported, or else that of its operation')),
  operation: nullable({ ...operation, description: '`null`: it is about no operation' }),
  openedAt: instant,
  closedAt: nullable(instant),
}

const atOrAfter = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', maxLength: 40, description, examples: ['2026-11-21T13:00:00Z'] }))

const amount = (description: string) =>
  Type.Optional({ ...int64({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }), examples: [100000] })

/** @source rules#desk.30, rules#desk.31 */
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
