import { Type } from 'typebox'
import type { NeededRole } from './access.ts'
import { deactivateApiKey, generateApiKey, listApiKeys } from './api-key.ts'
import { caseDecision, timeline } from './case-endpoints.ts'
import { cancelCashIn, createCashIn, getCashInQrCode, paymentUrl } from './cash-in/index.ts'
import { createCashOut } from './cash-out/index.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { type AccountCode, accounts, entryOperations, ledgerAccount, listLedgerEntries } from './ledger.ts'
import { limits } from './limits.ts'
import { operatorRole } from './operators.ts'
import { getCashInReceipt, getCashOutReceipt, getRefundInReceipt } from './receipts.ts'
import { refundErrors } from './refund-in/index.ts'
import {
  ACTION_NAME,
  CURSOR,
  cents,
  centsMoved,
  cursorList,
  DOCUMENT_TEXT,
  FREE_TEXT,
  idempotencyKey,
  idText,
  instant,
  int64,
  nullable,
  optional,
  optionalText,
  PLAIN_TEXT,
  pageLimit,
  STATUS_NAME,
  text,
  uuid,
  VISIBLE_ASCII,
} from './shapes.ts'
import { deleteWebhook, getWebhook, listWebhooks, pauseWebhook, resumeWebhook, rotateWebhookSecret } from './webhook.ts'
import { getWebhookDelivery, listWebhookDeliveries, testWebhook } from './webhook-delivery.ts'
import { recoverWebhook, resendWebhookDelivery, sendMissedToWebhook } from './webhook-resend.ts'

/**
 * Endpoints of the web console: log-in, and what its pages read and order. Operators use them with their token as well.
 * Days are days of America/Sao_Paulo.
 */

const count = (description?: string) => int64({ minimum: 0, maximum: 1e12, ...(description && { description }) })

const OPERATION_ID = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
const OPERATOR_ID = '0198c0d1-3f00-7000-8000-5e6f1a2b3c4d'
const AT = '2026-11-21T13:15:02.417Z'

const session = Type.Object(
  {
    operator: Type.Object({ id: Type.String({ maxLength: 64 }), name: Type.String(), role: operatorRole }),
    mode: Type.Enum(['sandbox', 'production']),
    version: Type.String({ description: 'Of the service' }),
    hasSimulatedBank: Type.Boolean({ description: 'The sandbox controls of the simulated bank are available' }),
    approvalFromCents: cents('From this amount on a decision that moves money needs a second person'),
    endsAt: nullable({ ...instant, description: 'End of the session however busy; `null`: a token was sent instead' }),
  },
  { title: 'ConsoleSession' },
)

const SESSION_EXAMPLE = {
  operator: { id: OPERATOR_ID, name: 'Ana Souza', role: 'operator' },
  mode: 'sandbox',
  version: '0.1.0',
  hasSimulatedBank: true,
  approvalFromCents: 0,
  endsAt: '2026-11-22T01:00:00.000Z',
} as const

/** @source rules#console.1 */
export const startSession = endpoint({
  id: 'startSession',
  method: 'POST',
  path: '/console/session',
  auth: 'none',
  tag: 'Console',
  summary: 'Log in to the console',
  description:
    'Exchanges the token of an operator, or a one-time link of the sandbox, for a session cookie. The administrative token names no person and does not log in. Answers 421 for a `Host` that is neither loopback nor in `PIXGATE_CONSOLE_HOSTS`.',
  body: Type.Object(
    {
      token: optionalText(64, 'The operator’s token', VISIBLE_ASCII),
      link: optionalText(64, 'The code of a one-time link', VISIBLE_ASCII),
    },
    { title: 'StartSessionRequest', additionalProperties: false },
  ),
  example: { token: 'pix_op_test_0000000000000000000000000000000000000000000000000' },
  responses: {
    201: { description: 'Logged in', headers: ['Set-Cookie'], schema: session, example: SESSION_EXAMPLE },
  },
  errors: ['unauthorized', 'rate_limited', 'misdirected_request'],
})

/** @source rules#console.1 */
export const getSession = endpoint({
  id: 'getSession',
  method: 'GET',
  path: '/console/session',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'Read who is logged in',
  description: 'The operator with their role, the mode of the service, and the end of the session.',
  responses: { 200: { description: 'The session', schema: session, example: SESSION_EXAMPLE } },
  errors: [],
})

/** @source rules#console.4 */
const endSession = endpoint({
  id: 'endSession',
  method: 'DELETE',
  path: '/console/session',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'Log out',
  description: 'Ends the session of this request; a token stays valid.',
  responses: { 204: { description: 'The session has ended', headers: ['Set-Cookie'] } },
  errors: [],
})

const listedSession = Type.Object(
  {
    id: uuid,
    operator: Type.Object({ id: uuid, name: Type.String() }),
    address: Type.String(),
    userAgent: nullable(Type.String()),
    createdAt: instant,
    activeAt: { ...instant, description: 'Last activity, to the minute' },
    endsAt: { ...instant, description: 'End however busy; it ends earlier after 15 minutes without activity' },
    isOwn: Type.Boolean({ description: 'The session of this request' }),
  },
  { title: 'ListedSession' },
)

/** @source rules#console.4 */
export const listSessions = endpoint({
  id: 'listSessions',
  method: 'GET',
  path: '/operator/sessions',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'List the open sessions of the console, newest first',
  description: 'An `admin` sees all of them, everybody else their own.',
  responses: {
    200: {
      description: 'The open sessions',
      schema: Type.Object({ data: Type.Array(listedSession) }, { title: 'ListedSessions' }),
      example: {
        data: [
          {
            id: '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f',
            operator: { id: OPERATOR_ID, name: 'Ana Souza' },
            address: '192.0.2.1',
            userAgent: 'Mozilla/5.0',
            createdAt: AT,
            activeAt: AT,
            endsAt: '2026-11-22T01:15:02.417Z',
            isOwn: true,
          },
        ],
      },
    },
  },
  errors: [],
})

/** @source rules#console.4 */
export const revokeSession = endpoint({
  id: 'revokeSession',
  method: 'DELETE',
  path: '/operator/sessions/{id}',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'End a session of the console',
  description: 'Their own, or as an `admin` anybody’s; an unknown or foreign one is 404.',
  params: Type.Object({ id: idText('session', '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f') }),
  responses: { 204: { description: 'Ended; it stops within five seconds everywhere' } },
  errors: ['not_found'],
})

const operationKind = Type.Enum(['cash_in', 'cash_out', 'refund_in', 'adjustment'], { title: 'OperationKind' })

const operationFields = {
  id: uuid,
  kind: operationKind,
  status: Type.String({ maxLength: 64 }),
  doubt: nullable(Type.String({ maxLength: 64, description: 'Why the state is in doubt; `null`: it is not' })),
  valueCents: cents(),
  feeCents: cents(),
  externalId: Type.String({ maxLength: limits.externalIdMaxLength }),
  name: nullable(Type.String({ description: 'The payer of a charge, the recipient of a payout' })),
  document: nullable(Type.String({ description: 'Of the same person, a CPF masked' })),
  pixKey: nullable(Type.String({ description: 'Of a payout' })),
  endToEndId: nullable(Type.String({ maxLength: 64 })),
  description: nullable(Type.String()),
  createdAt: instant,
  settledAt: nullable({ ...instant, description: 'When the bank moved the money' }),
}

export const operationSummary = Type.Object(operationFields, { title: 'OperationSummary' })

const OPERATION_EXAMPLE = {
  id: OPERATION_ID,
  kind: 'cash_in',
  status: 'PAID',
  doubt: null,
  valueCents: 15000,
  feeCents: 0,
  externalId: 'order-1001',
  name: 'Maria da Silva',
  document: '***.456.789-**',
  pixKey: null,
  endToEndId: 'E9999901020261121131500aB3dE5fG7',
  description: 'Order 1001',
  createdAt: AT,
  settledAt: '2026-11-21T13:15:40.000Z',
} as const

const day = (description: string) =>
  Type.Optional(Type.String({ format: 'date', minLength: 10, maxLength: 10, description, examples: ['2026-11-21'] }))

const amount = (description: string) =>
  Type.Optional({ ...int64({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }), examples: [15000] })

/** @source rules#console.6 */
export const listOperations = endpoint({
  id: 'listOperations',
  method: 'GET',
  path: '/operator/operations',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'List charges, payouts, refunds and adjustments, newest first',
  description:
    'All kinds in one list. Days are days of America/Sao_Paulo, both included. A filter by `document` or `key` names a person and leaves a row in the audit trail.',
  query: Type.Object(
    {
      kind: Type.Optional(
        Type.Enum(['cash_in', 'cash_out', 'refund_in', 'adjustment'], { description: 'Only of this kind' }),
      ),
      status: Type.Optional(
        Type.String({ maxLength: 64, pattern: STATUS_NAME, description: 'Only in this state', examples: ['PAID'] }),
      ),
      from: day('Created on this day or later'),
      to: day('Created on this day or earlier'),
      paid_from: day('Charges paid on this day or later'),
      paid_to: day('Charges paid on this day or earlier'),
      min_cents: amount('Of this amount or more'),
      max_cents: amount('Of this amount or less'),
      document: Type.Optional(
        Type.String({
          maxLength: 18,
          pattern: DOCUMENT_TEXT,
          description: 'A CPF or CNPJ, with or without punctuation',
          examples: ['12345678909'],
        }),
      ),
      key: Type.Optional(
        Type.String({
          maxLength: 77,
          pattern: PLAIN_TEXT,
          description: 'A Pix key that payouts went to',
          examples: ['ana@example.com'],
        }),
      ),
      cursor: Type.Optional(
        Type.String({
          pattern: CURSOR,
          description: '`nextCursor` of the page before',
          examples: ['AQAAAAEBof4--ZEBmMDeehFwAIAAXx08KxoJ'],
        }),
      ),
      limit: pageLimit,
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of operations',
      schema: cursorList(operationSummary, 'OperationPage'),
      example: { data: [OPERATION_EXAMPLE], pagination: { limit: 20, hasMore: false, nextCursor: null } },
    },
  },
  errors: [],
})

const rule = Type.Object(
  { id: Type.String({ description: 'Its name in docs/generated/states.md' }), says: Type.String() },
  { title: 'TransitionRule' },
)

const action = Type.Object(
  {
    action: Type.Enum(['refund', 'cancel'], { title: 'OperationAction' }),
    isOffered: Type.Boolean(),
    whyNot: nullable(Type.String({ maxLength: 64, description: 'The error code that it would answer' })),
    maxCents: nullable(cents('The most that can be refunded now')),
    needsSecondPerson: Type.Boolean(),
  },
  { title: 'OfferedAction' },
)

const relatedOperation = Type.Object(
  { id: uuid, kind: operationKind, status: Type.String(), valueCents: cents(), createdAt: instant },
  { title: 'RelatedOperation' },
)

const operationDetail = Type.Object(
  {
    ...operationFields,
    meaning: Type.String({ description: 'The state in a sentence' }),
    version: count('Number of its moves'),
    correlationId: Type.String(),
    orderId: nullable(Type.String({ description: 'The id at the bank: txid, idEnvio, id of a return' })),
    transactionId: nullable(Type.String()),
    pixCode: nullable(Type.String({ description: 'Pix Copia e Cola of a charge' })),
    paymentUrl: Type.Optional(paymentUrl),
    expiresAt: nullable(instant),
    apiKey: nullable(
      Type.Object({ id: Type.String(), name: nullable(Type.String()) }, { description: 'Who asked for it' }),
    ),
    rules: Type.Record(Type.String(), Type.Array(rule), {
      description: 'By the `version` of a move: the rules of the state table that fit it',
    }),
    deliveryIds: Type.Record(Type.String(), Type.Array(uuid), {
      description: 'By the id of a notification: its deliveries, in the order of the timeline',
    }),
    bodies: Type.Record(Type.String(), Type.String(), {
      description: 'By the id of a notification: its bytes as text; absent once they are erased',
    }),
    cases: Type.Array(
      Type.Object({
        id: uuid,
        kind: Type.String(),
        meaning: Type.String(),
        amountCents: nullable(cents()),
        openedAt: instant,
        closedAt: nullable(instant),
      }),
      { description: 'All cases of the operation, the open ones first' },
    ),
    related: Type.Array(relatedOperation, { description: 'The charge of a refund, or the refunds of a charge' }),
    actions: Type.Array(action),
    timeline,
  },
  { title: 'OperationDetail' },
)

/** @source rules#console.7 */
export const getOperation = endpoint({
  id: 'getOperation',
  method: 'GET',
  path: '/operator/operations/{id}',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'Read one operation with everything known about it',
  description:
    'Request, moves with the rules of the state table, events of the bank with their bytes, journals, notifications with attempts, cases.',
  params: Type.Object({ id: idText('operation', OPERATION_ID) }),
  responses: {
    200: {
      description: 'The operation',
      schema: operationDetail,
      example: {
        ...OPERATION_EXAMPLE,
        meaning: 'Paid in full.',
        version: 3,
        correlationId: 'checkout-77',
        orderId: '5e3f9f0c8a7b4c6d9e0f1a2b3c4d5e6f',
        transactionId: '5e3f9f0c8a7b4c6d9e0f1a2b3c4d5e6f',
        pixCode: null,
        paymentUrl: 'https://pagar.loja.example/pay/x0Vt3mZ2q9YkQbJ7rLw1sA',
        expiresAt: null,
        apiKey: null,
        rules: {},
        deliveryIds: {},
        bodies: {},
        cases: [],
        related: [],
        actions: [],
        timeline: {
          request: null,
          moves: [],
          calls: { stated: [], counted: [] },
          events: [],
          journals: [],
          notifications: [],
          otherCases: [],
          truncated: [],
        },
      },
    },
  },
  errors: ['not_found'],
})

/** The field that a search text matched. */
export const searchMatches = [
  'id',
  'external_id',
  'end_to_end_id',
  'transaction_id',
  'correlation_id',
  'document',
  'pix_key',
  'name',
  'amount',
  'day',
] as const

/** @source rules#console.8 */
export const searchOperations = endpoint({
  id: 'searchOperations',
  method: 'GET',
  path: '/operator/search',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'Find operations by an id, a name, a document, a Pix key, an amount or a day',
  description:
    'Ids exactly; a name by its beginning, without accents and in any case; an amount as `150,00`; a day as `21/11/2026`. The best match first, then the newest. A search by a document or a Pix key leaves a row in the audit trail.',
  query: Type.Object(
    {
      q: Type.String({
        minLength: 1,
        maxLength: 128,
        pattern: FREE_TEXT,
        description: 'The text',
        examples: ['Maria'],
      }),
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'At most 20 operations',
      schema: Type.Object(
        {
          data: Type.Array(
            Type.Object({
              match: Type.Enum([...searchMatches], { title: 'SearchMatch' }),
              operation: operationSummary,
            }),
            { maxItems: 20 },
          ),
        },
        { title: 'SearchResult' },
      ),
      example: { data: [{ match: 'name', operation: OPERATION_EXAMPLE }] },
    },
  },
  errors: [],
})

const sums = Type.Object({ count: count(), cents: cents() }, { title: 'CountAndSum' })

const waiting = Type.Object({ count: count(), oldestAt: nullable(instant) }, { title: 'Waiting' })

const overview = Type.Object(
  {
    at: instant,
    accounts: Type.Array(Type.Object({ account: ledgerAccount, balanceCents: cents() })),
    needsPerson: Type.Object({
      cases: waiting,
      payouts: waiting,
      proposals: waiting,
    }),
    today: Type.Object({
      in: sums,
      out: sums,
      refunded: sums,
      failed: sums,
      unknown: sums,
    }),
    hours: Type.Array(Type.Object({ at: instant, inCents: cents(), outCents: cents() }), {
      description: 'Money in and out of the last 24 hours, by hour, the oldest first',
    }),
    days: Type.Array(Type.Object({ day: Type.String({ format: 'date' }), inCents: cents(), outCents: cents() }), {
      description: 'The last 30 days that are closed, the oldest first',
    }),
    health: Type.Object({
      cashOut: Type.Object({ enabled: Type.Boolean(), reason: nullable(Type.String()), changedAt: nullable(instant) }),
      bank: Type.Object({
        status: Type.Enum(['ok', 'degraded', 'unknown'], { title: 'BankStatus' }),
        reason: nullable(Type.String()),
      }),
      statement: Type.Object({
        readAt: nullable(instant),
        differences: count('Open differences between books and statement'),
      }),
      lastClose: nullable(
        Type.Object({
          day: Type.String({ format: 'date' }),
          status: Type.String(),
          differenceCents: nullable(cents()),
        }),
      ),
      endpoints: Type.Object({ active: count(), degraded: count(), paused: count() }),
    }),
  },
  { title: 'Overview' },
)

/** @source rules#console.9 */
export const getOverview = endpoint({
  id: 'getOverview',
  method: 'GET',
  path: '/operator/overview',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'Read balances, open tasks, and today’s money in and out',
  description: 'At most two seconds old. Today is the day of America/Sao_Paulo.',
  responses: {
    200: {
      description: 'The overview',
      schema: overview,
      example: {
        at: AT,
        accounts: [{ account: 'available', balanceCents: 15000 }],
        needsPerson: {
          cases: { count: 1, oldestAt: AT },
          payouts: { count: 0, oldestAt: null },
          proposals: { count: 0, oldestAt: null },
        },
        today: {
          in: { count: 1, cents: 15000 },
          out: { count: 0, cents: 0 },
          refunded: { count: 0, cents: 0 },
          failed: { count: 0, cents: 0 },
          unknown: { count: 0, cents: 0 },
        },
        hours: [{ at: '2026-11-21T13:00:00.000Z', inCents: 15000, outCents: 0 }],
        days: [],
        health: {
          cashOut: { enabled: true, reason: null, changedAt: null },
          bank: { status: 'ok', reason: null },
          statement: { readAt: AT, differences: 0 },
          lastClose: null,
          endpoints: { active: 1, degraded: 0, paused: 0 },
        },
      },
    },
  },
  errors: [],
})

const ledgerLine = Type.Object(
  {
    version: count('Its number in the account'),
    at: instant,
    amountCents: cents('With its sign: positive is a credit, negative a debit'),
    balanceAfterCents: cents(),
    shown: nullable(
      Type.Enum([...entryOperations], {
        description: 'The merchant’s name for it; only entries of `available` have one',
      }),
    ),
    journal: Type.String({ maxLength: 64 }),
    meaning: nullable(Type.String()),
    reference: Type.String({ description: 'Of the movement at the bank, where the journal has one' }),
    operationId: uuid,
    operation: nullable(
      Type.Object({
        kind: operationKind,
        externalId: Type.String({ maxLength: limits.externalIdMaxLength }),
        name: nullable(Type.String()),
      }),
    ),
    entries: Type.Array(Type.Object({ account: ledgerAccount, amountCents: cents(), balanceAfterCents: cents() }), {
      description: 'All sides of its journal; they sum to zero',
    }),
  },
  { title: 'LedgerLine' },
)

/** @source rules#console.18 */
export const listEntries = endpoint({
  id: 'listEntries',
  method: 'GET',
  path: '/operator/entries',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'List the entries of an account of the ledger, newest first',
  description:
    'Each with the balance after it, all sides of its journal, and its operation. Days are days of America/Sao_Paulo, both included.',
  query: Type.Object(
    {
      account: Type.Optional(
        Type.Enum(Object.keys(accounts) as AccountCode[], {
          default: 'available',
          description: 'Of this account; `available` by default',
        }),
      ),
      from: day('Booked on this day or later'),
      to: day('Booked on this day or earlier'),
      operation_id: Type.Optional({ ...uuid, description: 'Only of this operation', examples: [OPERATION_ID] }),
      cursor: Type.Optional(
        Type.String({ pattern: CURSOR, description: '`nextCursor` of the page before', examples: ['djE6NDI'] }),
      ),
      limit: pageLimit,
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of entries',
      schema: cursorList(ledgerLine, 'LedgerLinePage'),
      example: {
        data: [
          {
            version: 42,
            at: '2026-11-21T13:15:40.000Z',
            amountCents: 15000,
            balanceAfterCents: 15000,
            shown: 'CASH_IN',
            journal: 'cash_in_paid',
            meaning: 'a charge was paid',
            reference: 'E9999901020261121131500aB3dE5fG7',
            operationId: OPERATION_ID,
            operation: { kind: 'cash_in', externalId: 'order-1001', name: 'Maria da Silva' },
            entries: [
              { account: 'available', amountCents: 15000, balanceAfterCents: 15000 },
              { account: 'settlement', amountCents: -15000, balanceAfterCents: -15000 },
            ],
          },
        ],
        pagination: { limit: 20, hasMore: false, nextCursor: null },
      },
    },
  },
  errors: [],
})

const reconciliation = Type.Object(
  {
    hasStatement: Type.Boolean({ description: 'The connector of the bank can read its statement' }),
    readAt: nullable({ ...instant, description: 'When it was last read whole' }),
    readFrom: nullable({ ...instant, description: 'From when on it is read' }),
    readUntil: nullable({ ...instant, description: 'Everything that the bank booked before this is read' }),
    nextAt: nullable({ ...instant, description: 'When it is read next' }),
    isReading: Type.Boolean(),
    unbooked: Type.Object(waiting.properties, { description: 'Lines of the statement that the books do not have' }),
    missing: Type.Object(waiting.properties, { description: 'Booked movements that the statement does not have' }),
    booksCents: cents('The balance at the bank by our books, now'),
    lastBalance: nullable(
      Type.Object(
        {
          day: Type.String({ format: 'date' }),
          bankCents: cents('The balance at the bank at the end of that day'),
          booksCents: cents('The same by our books'),
          differenceCents: cents('The balance at the bank minus our books'),
          unexplainedCents: cents('The part of the difference that no open case explains'),
        },
        { description: 'Of the last close that knows it, among the last 31' },
      ),
    ),
    differences: Type.Object({
      count: count(),
      cases: Type.Array(
        Type.Object({
          id: uuid,
          kind: Type.String(),
          reference: Type.String(),
          amountCents: nullable(cents()),
          openedAt: instant,
        }),
        { maxItems: 100, description: 'Open cases about the statement, oldest first' },
      ),
    }),
  },
  { title: 'Reconciliation' },
)

/** @source rules#console.19 */
export const getReconciliation = endpoint({
  id: 'getReconciliation',
  method: 'GET',
  path: '/operator/reconciliation',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'Read how the bank’s statement is read, and where it differs from the books',
  description: 'The balance of the bank is read at the end of each day, for its close.',
  responses: {
    200: {
      description: 'The reconciliation',
      schema: reconciliation,
      example: {
        hasStatement: true,
        readAt: AT,
        readFrom: '2026-11-01T03:00:00.000Z',
        readUntil: '2026-11-21T13:14:32.000Z',
        nextAt: '2026-11-21T13:16:02.000Z',
        isReading: false,
        unbooked: { count: 0, oldestAt: null },
        missing: { count: 0, oldestAt: null },
        booksCents: 15000,
        lastBalance: {
          day: '2026-11-20',
          bankCents: 14000,
          booksCents: 15000,
          differenceCents: -1000,
          unexplainedCents: -1000,
        },
        differences: {
          count: 1,
          cases: [
            {
              id: '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f',
              kind: 'unexplained_debit',
              reference: 'PAYOUT_SENT E9999901020261120131500aB3dE5fG7',
              amountCents: 1000,
              openedAt: '2026-11-20T15:02:00.000Z',
            },
          ],
        },
      },
    },
  },
  errors: [],
})

const changedKind = Type.Enum(['cash_in', 'cash_out', 'refund_in', 'adjustment', 'case'], { title: 'ChangedKind' })

/** @source rules#console.10 */
export const listChanges = endpoint({
  id: 'listChanges',
  method: 'GET',
  path: '/operator/changes',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'Wait for changes of operations and cases',
  description:
    'A long poll: answers as soon as something changed after `cursor`, or after `wait` seconds. Names ids and versions only; of a case the version is the time of the change, in milliseconds. `isReset`: the cursor is too old; read again whatever is shown.',
  isLongPoll: true,
  query: Type.Object(
    {
      cursor: Type.Optional(
        Type.String({ pattern: CURSOR, description: '`cursor` of the last answer', examples: ['MTc5NTI2NjAwMDAwMA'] }),
      ),
      wait: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 25, default: 0, description: 'How many seconds to wait for a change' }),
      ),
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'The changes since the cursor',
      schema: Type.Object(
        {
          cursor: Type.String({ maxLength: 64 }),
          isReset: Type.Boolean(),
          changes: Type.Array(
            Type.Object({ kind: changedKind, id: uuid, version: int64({ minimum: 0, maximum: 1e13 }) }),
          ),
        },
        { title: 'ChangePage' },
      ),
      example: {
        cursor: 'MTc5NTI2NjAwMDAwMA',
        isReset: false,
        changes: [{ kind: 'cash_in', id: OPERATION_ID, version: 3 }],
      },
    },
  },
  errors: [],
})

const auditRow = Type.Object(
  {
    id: uuid,
    at: instant,
    actor: Type.String({ description: 'The id of the operator or API key; `admin`: the administrative token' }),
    actorName: nullable(Type.String()),
    action: Type.String(),
    subject: Type.String(),
    address: Type.String(),
    facts: Type.Unknown(),
  },
  { title: 'AuditRow' },
)

/** @source rules#console.11 */
export const listAudit = endpoint({
  id: 'listAudit',
  method: 'GET',
  path: '/operator/audit',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'List the audit trail, newest first',
  description: 'Every log-in, change and decision, with who did it and from where. Rows never change.',
  query: Type.Object(
    {
      actor: Type.Optional(
        Type.String({ maxLength: 64, pattern: PLAIN_TEXT, description: 'Only by this actor', examples: [OPERATOR_ID] }),
      ),
      action: Type.Optional(
        Type.String({
          maxLength: 64,
          pattern: ACTION_NAME,
          description: 'Only this action',
          examples: ['operator.created'],
        }),
      ),
      subject: Type.Optional(
        Type.String({
          maxLength: 64,
          pattern: PLAIN_TEXT,
          description: 'Only about this subject',
          examples: [OPERATOR_ID],
        }),
      ),
      cursor: Type.Optional(
        Type.String({
          pattern: CURSOR,
          description: '`nextCursor` of the page before',
          examples: ['0198c0f2-3f00-7000-8000-7a8b9c0d1e2f'],
        }),
      ),
      limit: pageLimit,
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of rows',
      schema: cursorList(auditRow, 'AuditPage'),
      example: {
        data: [
          {
            id: '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f',
            at: AT,
            actor: OPERATOR_ID,
            actorName: 'Ana Souza',
            action: 'cash_out_switch.set',
            subject: 'cash_out_switch',
            address: '192.0.2.1',
            facts: { enabled: false },
          },
        ],
        pagination: { limit: 20, hasMore: false, nextCursor: null },
      },
    },
  },
  errors: [],
})

/** @source rules#console.12 */
export const listProposals = endpoint({
  id: 'listProposals',
  method: 'GET',
  path: '/operator/proposals',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'List the decisions that wait for a second person, oldest first',
  description: 'Each with its case, its amount and who proposed it.',
  responses: {
    200: {
      description: 'At most 200 proposals of open cases',
      schema: Type.Object(
        {
          data: Type.Array(
            Type.Object({
              proposalId: uuid,
              caseId: uuid,
              caseKind: Type.String(),
              operationId: nullable(uuid),
              decision: caseDecision,
              amountCents: cents('The largest sum that it moves on any account'),
              reason: Type.String(),
              by: Type.Object({ id: Type.String(), name: nullable(Type.String()) }),
              at: instant,
            }),
          ),
        },
        { title: 'Proposals' },
      ),
      example: {
        data: [
          {
            proposalId: '0198c0f3-3f00-7000-8000-8b9c0d1e2f3a',
            caseId: '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f',
            caseKind: 'payment_in_suspense',
            operationId: OPERATION_ID,
            decision: 'return_to_payer',
            amountCents: 5000,
            reason: 'Paid too much',
            by: { id: OPERATOR_ID, name: 'Ana Souza' },
            at: AT,
          },
        ],
      },
    },
  },
  errors: [],
})

/** Work of the workers. */
export const workNames = ['cash_in', 'cash_out', 'refund_in', 'event', 'notification', 'delivery'] as const

/** @source rules#console.13 */
export const getSystem = endpoint({
  id: 'getSystem',
  method: 'GET',
  path: '/operator/system',
  auth: 'admin',
  role: 'viewer',
  tag: 'Console',
  summary: 'Read versions, overdue work, settings, limits with their use, and the bank’s certificates',
  description: 'A secret setting says only whether it is set. Overdue work shows whether the workers keep up.',
  responses: {
    200: {
      description: 'The system',
      schema: Type.Object(
        {
          mode: Type.Enum(['sandbox', 'production']),
          version: Type.String(),
          bank: Type.String({ description: 'The connector' }),
          startedAt: instant,
          versions: Type.Object({ node: Type.String(), postgres: Type.String() }),
          work: Type.Array(
            Type.Object({
              name: Type.Enum([...workNames], { title: 'WorkName' }),
              overdue: count('Due for more than a minute, in all processes; it is counted to 10,000'),
              oldestSeconds: nullable(count('Since the oldest of it is due')),
            }),
          ),
          settings: Type.Array(
            Type.Object({
              name: Type.String(),
              value: nullable(Type.String({ description: '`null`: a secret' })),
              isSet: Type.Boolean({ description: 'It was configured; otherwise the default holds' }),
            }),
          ),
          limits: Type.Array(
            Type.Object({
              name: Type.Enum(['payment', 'hour', 'day', 'night', 'new_recipient'], { title: 'LimitName' }),
              maxCents: nullable(cents('`null`: unlimited')),
              usedCents: nullable(cents('`null`: it is not a sum')),
            }),
          ),
          certificates: Type.Array(Type.Object({ name: Type.String(), endsAt: instant })),
        },
        { title: 'System' },
      ),
      example: {
        mode: 'sandbox',
        version: '0.1.0',
        bank: 'pixgate',
        startedAt: AT,
        versions: { node: '24.21.0', postgres: '18.4' },
        work: [{ name: 'cash_out', overdue: 0, oldestSeconds: null }],
        settings: [{ name: 'PORT', value: '8080', isSet: false }],
        limits: [{ name: 'day', maxCents: 1000000, usedCents: 15000 }],
        certificates: [],
      },
    },
  },
  errors: [],
})

/** @source rules#console.14 */
export const refundPayment = endpoint({
  id: 'refundPayment',
  method: 'POST',
  path: '/operator/refunds',
  auth: 'admin',
  role: 'operator',
  tag: 'Console',
  summary: 'Refund a paid charge',
  description:
    'The same refund as of `POST /api/pix/cash-in/{id}/refund`, with the same limits. From `PIXGATE_DESK_APPROVAL_FROM_CENTS` on it is proposed: a case `refund_requested`, which another person approves. The administrative token names no person, so it proposes nothing: 403 `insufficient_role`.',
  headers: {
    'Idempotency-Key': { ...idempotencyKey, description: 'Replays the answer to the same request within 24 hours' },
  },
  body: Type.Object(
    {
      cashInId: uuid,
      valueCents: centsMoved,
      reason: text(limits.reasonMaxLength, 'The reason, for the audit trail and the bank'),
      externalId: optional(Type.String({ minLength: 1, maxLength: limits.externalIdMaxLength, pattern: FREE_TEXT })),
    },
    { title: 'RefundPaymentRequest', additionalProperties: false },
  ),
  example: { cashInId: OPERATION_ID, valueCents: 5000, reason: 'Returned goods' },
  responses: {
    201: {
      description: 'Ordered',
      headers: ['Idempotent-Replayed'],
      schema: Type.Object({ refundId: uuid }, { title: 'RefundOrdered' }),
      example: { refundId: '0198c0e4-51d7-7000-8000-3b4c5d6e7f80' },
    },
    202: {
      description: 'Proposed; nothing is reserved until another person approves it',
      headers: ['Idempotent-Replayed'],
      schema: Type.Object({ caseId: uuid, proposalId: uuid }, { title: 'RefundProposed' }),
      example: {
        caseId: '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f',
        proposalId: '0198c0f3-3f00-7000-8000-8b9c0d1e2f3a',
      },
    },
  },
  errors: ['idempotency_key_reused', ...refundErrors],
})

/** The same endpoint for operators, under another path: the API of the merchant is never opened to a cookie. */
export type ForOperators<E extends Endpoint, Id extends string> = Omit<
  E,
  'id' | 'path' | 'auth' | 'scope' | 'role' | 'tag'
> & {
  readonly id: Id
  readonly path: string
  readonly auth: 'admin'
  readonly role: NeededRole
  readonly scope?: undefined
  readonly tag: 'Console'
}

/** Declares an endpoint of the merchant's API for operators as well. @source rules#console.5 */
export function forOperators<const E extends Endpoint, const Id extends string>(
  { scope: _, ...of }: E,
  id: Id,
  path: string,
  role: NeededRole,
): ForOperators<E, Id> {
  return { ...of, id, path, auth: 'admin', role, tag: 'Console' } as unknown as ForOperators<E, Id>
}

/** Endpoints of the merchant's API that the console has as well; their handlers are the same. @source rules#console.5 */
export const sharedWithOperators = {
  listOperatorWebhooks: forOperators(listWebhooks, 'listOperatorWebhooks', '/operator/webhooks', 'viewer'),
  getOperatorWebhook: forOperators(getWebhook, 'getOperatorWebhook', '/operator/webhooks/{webhook_id}', 'viewer'),
  deleteOperatorWebhook: forOperators(
    deleteWebhook,
    'deleteOperatorWebhook',
    '/operator/webhooks/{webhook_id}',
    'admin',
  ),
  pauseOperatorWebhook: forOperators(
    pauseWebhook,
    'pauseOperatorWebhook',
    '/operator/webhooks/{webhook_id}/pause',
    'operator',
  ),
  resumeOperatorWebhook: forOperators(
    resumeWebhook,
    'resumeOperatorWebhook',
    '/operator/webhooks/{webhook_id}/resume',
    'operator',
  ),
  testOperatorWebhook: forOperators(
    testWebhook,
    'testOperatorWebhook',
    '/operator/webhooks/{webhook_id}/test',
    'operator',
  ),
  rotateOperatorWebhookSecret: forOperators(
    rotateWebhookSecret,
    'rotateOperatorWebhookSecret',
    '/operator/webhooks/{webhook_id}/secret/rotate',
    'admin',
  ),
  recoverOperatorWebhook: forOperators(
    recoverWebhook,
    'recoverOperatorWebhook',
    '/operator/webhooks/{webhook_id}/recover',
    'operator',
  ),
  sendMissedToOperatorWebhook: forOperators(
    sendMissedToWebhook,
    'sendMissedToOperatorWebhook',
    '/operator/webhooks/{webhook_id}/send-missed',
    'operator',
  ),
  listOperatorDeliveries: forOperators(
    listWebhookDeliveries,
    'listOperatorDeliveries',
    '/operator/webhook-deliveries',
    'viewer',
  ),
  getOperatorDelivery: forOperators(
    getWebhookDelivery,
    'getOperatorDelivery',
    '/operator/webhook-deliveries/{id}',
    'viewer',
  ),
  resendOperatorDelivery: forOperators(
    resendWebhookDelivery,
    'resendOperatorDelivery',
    '/operator/webhook-deliveries/{id}/resend',
    'operator',
  ),
  listOperatorApiKeys: forOperators(listApiKeys, 'listOperatorApiKeys', '/operator/api-keys', 'viewer'),
  generateOperatorApiKey: forOperators(generateApiKey, 'generateOperatorApiKey', '/operator/api-keys', 'admin'),
  deactivateOperatorApiKey: forOperators(
    deactivateApiKey,
    'deactivateOperatorApiKey',
    '/operator/api-keys/{id}',
    'admin',
  ),
  listOperatorLedger: forOperators(listLedgerEntries, 'listOperatorLedger', '/operator/ledger', 'viewer'),
  getOperatorQrCode: forOperators(getCashInQrCode, 'getOperatorQrCode', '/operator/cash-ins/{id}/qrcode', 'viewer'),
  getOperatorChargeReceipt: forOperators(
    getCashInReceipt,
    'getOperatorChargeReceipt',
    '/operator/cash-ins/{id}/receipt',
    'viewer',
  ),
  getOperatorPayoutReceipt: forOperators(
    getCashOutReceipt,
    'getOperatorPayoutReceipt',
    '/operator/cash-outs/{id}/receipt',
    'viewer',
  ),
  getOperatorRefundReceipt: forOperators(
    getRefundInReceipt,
    'getOperatorRefundReceipt',
    '/operator/refunds/{id}/receipt',
    'viewer',
  ),
  cancelOperatorCharge: forOperators(
    cancelCashIn,
    'cancelOperatorCharge',
    '/operator/cash-ins/{id}/cancel',
    'operator',
  ),
} as const

/** In the sandbox operators create charges and payouts, too. @source rules#console.15 */
export const sandboxForOperators = {
  createOperatorCharge: forOperators(createCashIn, 'createOperatorCharge', '/operator/cash-ins', 'operator'),
  createOperatorPayout: forOperators(createCashOut, 'createOperatorPayout', '/operator/cash-outs', 'operator'),
} as const

export const consoleEndpoints = {
  startSession,
  getSession,
  endSession,
  listSessions,
  revokeSession,
  listOperations,
  getOperation,
  searchOperations,
  getOverview,
  listEntries,
  getReconciliation,
  listChanges,
  listAudit,
  listProposals,
  getSystem,
  refundPayment,
  ...sharedWithOperators,
} as const
