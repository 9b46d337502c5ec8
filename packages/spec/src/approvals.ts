import { Type } from 'typebox'
import { cashOutStatus, paymentType } from './cash-out/shapes.ts'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { refundInDetail } from './refund-in/shapes.ts'
import { cents, cursorList, idOf, instant, knownExternalId, nullable, pageLimit, text, uuid } from './shapes.ts'

/** Payouts that wait for approval, and unsent orders, for approvers. */

const EXAMPLE = {
  id: '0198c0e1-22b4-7000-8000-6a7b8c9d0e1f',
  status: 'RESERVED',
  externalId: 'payout-2001',
  valueCents: 5000000,
  description: 'Invoice 2001',
  paymentType: 'key',
  recipient: { name: 'João Souza', document: '***.444.777-**', statedBy: 'client', pixKey: 'joao@example.com' },
  apiKeyId: '0198c0de-3f00-7000-8000-1a2b3c4d5e6f',
  apiKeyDeactivatedAt: null,
  approvalsWanted: 1,
  approvedBy: [],
  approvableBy: [{ id: '0198c0d1-3f00-7000-8000-5e6f1a2b3c4d', name: 'Bruno Lima' }],
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
    paymentType,
    recipient: Type.Object({
      name: nullable(Type.String({ maxLength: limits.nameMaxLength })),
      document: nullable(Type.String({ maxLength: 18, description: 'Masked' })),
      statedBy: Type.Enum(['bank', 'client'], {
        description:
          'Whose word name and document are: of a QR code that of the bank, which decoded it; else that of the client, unverified',
      }),
      pixKey: Type.String({ maxLength: limits.pixKeyMaxLength }),
    }),
    apiKeyId: nullable({
      ...uuid,
      description: 'The API key that asked for it, or the operator who ordered it at the console of the sandbox',
    }),
    apiKeyDeactivatedAt: nullable({
      ...instant,
      description: 'Instant at which that key or operator was deactivated: their requests can no longer be approved',
    }),
    approvalsWanted: Type.Integer({
      minimum: 0,
      maximum: 2,
      description: 'How many operators it takes; 0: it needs none',
    }),
    approvedBy: Type.Array(uuid, {
      maxItems: 2,
      description: 'The operators who have approved it, and are approvers still',
    }),
    approvableBy: Type.Array(
      Type.Object({ id: uuid, name: Type.String({ maxLength: limits.nameMaxLength }) }, { title: 'PossibleApprover' }),
      {
        description:
          'The approvers who may approve it now: active, and independent of the requester and of earlier approvers. Two of them may still exclude each other. If there are fewer than approvals are missing, an admin must create an approver',
      },
    ),
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
  description:
    'To whom how much is to go, and whose word that is, which API key asked for it, and whether that is active, who has approved it, and until when it can be.',
  query: Type.Object(
    {
      cursor: Type.Optional({ ...uuid, description: '`nextCursor` of the page before', examples: [EXAMPLE.id] }),
      limit: pageLimit,
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of payouts that wait for approval',
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
  summary: 'Approve a payout that waits, or refuse a payout or refund that was not sent',
  description:
    'Approved by as many as it takes, it is sent at once. The switch, the caps on a night and on a new recipient, and a QR code are looked at again. Any payout that is `RESERVED` can be refused, whether it waits for an approval or not, also while payouts are switched off: its reservation is released, and the merchant is notified. Once it was claimed for sending it cannot be refused. A refund needs no approval; one that is `PENDING` and was not claimed for sending can be refused in the same way.',
  params: idOf('cash-out'),
  body: Type.Object(
    { approved: Type.Boolean(), reason: text(limits.reasonMaxLength, 'The reason, for the audit trail') },
    { title: 'ApprovalRequest', additionalProperties: false },
  ),
  example: { approved: true, reason: 'Invoice 2001 was checked' },
  responses: {
    200: {
      description: 'The payout, or the refund, as it is now',
      schema: Type.Union([approval, refundInDetail], { title: 'DecidedOrder' }),
      example: { ...EXAMPLE, approvedBy: ['0198c0d1-3f00-7000-8000-5e6f1a2b3c4d'], approvableBy: [] },
    },
  },
  errors: [
    'approver_not_independent',
    'api_key_deactivated',
    'not_found',
    'not_possible_in_state',
    'limit_exceeded',
    'partner_unavailable',
    'cash_out_suspended',
  ],
})
