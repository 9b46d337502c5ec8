import { Type } from 'typebox'
import { cashOutStatus } from './cash-out/shapes.ts'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { cents, cursorList, idOf, instant, knownExternalId, nullable, pageLimit, text, uuid } from './shapes.ts'

/** Payouts that wait until somebody approves them: what an approver reads, and says. */

const EXAMPLE = {
  id: '0198c0e1-22b4-7000-8000-6a7b8c9d0e1f',
  status: 'RESERVED',
  externalId: 'payout-2001',
  valueCents: 5000000,
  description: 'Invoice 2001',
  recipient: { name: 'João Souza', pixKey: 'joao@example.com' },
  apiKeyId: '0198c0de-3f00-7000-8000-1a2b3c4d5e6f',
  approvalsWanted: 1,
  approvedBy: [],
  createdAt: '2026-11-21T13:00:00.000Z',
  approvableUntil: '2026-11-22T13:00:00.000Z',
} as const

const approval = Type.Object(
  {
    id: uuid,
    status: cashOutStatus,
    externalId: knownExternalId,
    valueCents: cents(),
    description: nullable(Type.String({ maxLength: limits.descriptionMaxLength })),
    recipient: Type.Object({
      name: nullable(Type.String({ maxLength: limits.nameMaxLength })),
      pixKey: Type.String({ maxLength: limits.pixKeyMaxLength }),
    }),
    apiKeyId: nullable({ ...uuid, description: 'The API key that asked for it' }),
    approvalsWanted: Type.Integer({ minimum: 1, maximum: 2, description: 'How many operators it takes' }),
    approvedBy: Type.Array(uuid, { maxItems: 2, description: 'The operators who have approved it' }),
    createdAt: instant,
    approvableUntil: { ...instant, description: 'From then on it is given back' },
  },
  { title: 'Approval', description: 'A payout that operators have yet to approve, and who has.' },
)

/** @source rules#cash-out.approval.5 */
export const listApprovals = endpoint({
  id: 'listApprovals',
  method: 'GET',
  path: '/operator/approvals',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'List the payouts that wait for an approval, oldest first',
  query: Type.Object(
    {
      cursor: Type.Optional({ ...uuid, description: '`nextCursor` of the page before', examples: [EXAMPLE.id] }),
      limit: pageLimit,
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of what waits',
      schema: cursorList(approval, 'ApprovalPage'),
      example: { data: [EXAMPLE], pagination: { limit: 20, hasMore: false, nextCursor: null } },
    },
  },
  errors: [],
})

/** @source rules#cash-out.approval.3 */
export const decideApproval = endpoint({
  id: 'decideApproval',
  method: 'PUT',
  path: '/operator/approvals/{id}',
  auth: 'admin',
  role: 'approver',
  tag: 'Operator',
  summary: 'Approve or refuse a payout that waits',
  description:
    'Approved by as many as it takes, it is sent at once. The switch, the caps on a night and on a new recipient, and a QR code are looked at again. Refused, what was set aside is free again, and the merchant is told.',
  params: idOf('cash-out'),
  body: Type.Object(
    { approved: Type.Boolean(), reason: text(limits.reasonMaxLength, 'Why, for whoever reads the audit trail') },
    { title: 'ApprovalRequest', additionalProperties: false },
  ),
  example: { approved: true, reason: 'Invoice 2001 was checked' },
  responses: {
    200: {
      description: 'The payout as it is now',
      schema: approval,
      example: { ...EXAMPLE, approvedBy: ['0198c0d1-3f00-7000-8000-5e6f1a2b3c4d'] },
    },
  },
  errors: [
    'approver_not_independent',
    'not_found',
    'not_possible_in_state',
    'limit_exceeded',
    'partner_unavailable',
    'cash_out_suspended',
  ],
})
