import assert from 'node:assert/strict'
import { type Endpoint, endpoints } from '@pixgate/spec'
import { ajv } from '../../../spec/test/support/ajv.ts'
import { createConsoleReads } from '../../src/console/reads.ts'
import type { Database } from '../../src/platform/db/database.ts'
import type { RequestContext } from '../../src/platform/http/handler.ts'
import { createIds } from '../../src/platform/ids.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { administer } from '../support/database.ts'
import { limitsOf } from '../support/limits.ts'
import { ALIVE } from '../support/live-request.ts'
import { steppedClock } from '../support/stepped-clock.ts'

/** Handlers of the console on a test's database, called as by an operator; every answer is compared with its schema. */

export const ANA = { id: '0198c0d1-3f00-7000-8000-5e6f1a2b3c4d', name: 'Ana' }

function contextOf(more: Partial<RequestContext> = {}): RequestContext {
  return {
    endpoint: endpoints.listOperations,
    caller: { credential: 'admin', role: 'operator', ...ANA },
    correlationId: 'tests',
    headers: {},
    remoteAddress: '192.0.2.1',
    live: ALIVE,
    ageMs: () => 0,
    rawBody: Buffer.alloc(0),
    ...more,
  }
}

type Reads = ReturnType<typeof createConsoleReads>['handlers']

// biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for, and asserts on it.
type Body = any

export function consoleOn(database: Database, clock = steppedClock(), more: object = {}) {
  const needs = {
    database,
    clock,
    ids: createIds(clock),
    capabilities: new Set(['refund', 'cancel-charge']),
    pause: realPause,
    bank: () => ({ isKnown: true, problem: undefined }),
    version: '0.0.0',
    config: { mode: 'sandbox' as const, settings: [], limits: limitsOf() },
    approvalFromCents: 100_00,
    certificates: () => [],
    ...more,
  }
  const { handlers, close } = createConsoleReads(needs)
  const read = async (name: keyof Reads, input: object, context: Partial<RequestContext> = {}): Promise<Body> => {
    const handle = handlers[name] as (input: unknown) => Promise<{ status: number; body: unknown }>
    const { status, body } = await handle({ params: {}, query: {}, ...input, context: contextOf(context) })
    assertShape(endpoints[name], status, body)
    return body
  }
  return {
    clock,
    close,
    list: (query: object = {}) => read('listOperations', { query }),
    search: async (q: string) => (await read('searchOperations', { query: { q } })).data,
    detail: (id: string) => read('getOperation', { params: { id } }),
    overview: () => read('getOverview', {}),
    entries: (query: object = {}) => read('listEntries', { query }),
    reconciliation: () => read('getReconciliation', {}),
    changes: (query: object, context: Partial<RequestContext> = {}) => read('listChanges', { query }, context),
    auditTrail: (query: object = {}) => read('listAudit', { query }),
    proposals: async () => (await read('listProposals', {})).data,
    system: () => read('getSystem', {}),
  }
}

function assertShape({ responses }: Endpoint, status: number, body: unknown): void {
  const schema = responses[status]?.schema
  assert.ok(schema && ajv.validate(schema, body), JSON.stringify(ajv.errors))
}

/** Columns of an operation; the others are as of a charge of R$ 1,00. */
type Row = Readonly<Record<string, unknown>>

let made = 0

/** Stores operations past the engine. @returns their ids */
export async function store(url: string, rows: readonly Row[]): Promise<string[]> {
  const ids = rows.map((_, index) => `0198c0de-0000-7000-8000-${String(made + index).padStart(12, '0')}`)
  made += rows.length
  const values = rows.map((given, index) => {
    const id = ids[index] ?? ''
    const row = { ...DEFAULTS, external_id: id, order_id: id.replaceAll('-', ''), ...given, id }
    const isAdjustment = row.kind === 'adjustment'
    return `(${Object.values({ ...row, order_id: isAdjustment ? null : row.order_id })
      .map(literal)
      .join(', ')})`
  })
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  for (const row of rows) assert.deepEqual(Object.keys(row), names, 'rows of one call have the same columns')
  const columns = Object.keys({ ...DEFAULTS, external_id: '', order_id: '', ...rows[0], id: '' })
  await administer(
    url,
    `SET session_replication_role = replica;
     INSERT INTO operation (${columns.join(', ')}) VALUES ${values.join(', ')}`,
  )
  return ids
}

const DEFAULTS = {
  kind: 'cash_in',
  status: 'PENDING',
  version: 1,
  value_cents: 1_00,
  fee_cents: 0,
  correlation_id: 'c',
  body_hash: '',
  detail: { description: null, generateQrCode: true, payer: null, merchant: {} },
  facts: {},
  expires_at: '2100-01-01',
  created_at: '2026-11-21T13:00:00Z',
  updated_at: '2026-11-21T13:00:00Z',
}

function literal(value: unknown): string {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return `'${text.replaceAll("'", "''")}'`
}

/** The request of a payout. */
export function payoutTo(pixKey: string, name: string | null = null, document: string | null = null) {
  const recipient = { name, document, pixKey, pixKeyType: 'email' }
  return { description: null, paymentType: 'key', recipient, qrCode: null }
}
