import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { type ErrorCode, endpoints, errors, limits } from '@pixgate/spec'
import { documentedOperations } from '../fuzz/documented-operations.ts'
import { administer } from '../support/database.ts'
import { databaseLink } from '../support/database-link.ts'
import { operatorToken } from '../support/operators.ts'
import { testPort } from '../support/port.ts'
import { type Answer, type World, world } from '../support/world.ts'
import { NEEDS_NOTHING, type OperationId, operate, payToKey, ROWS, type Row } from './error-requests.ts'

/**
 * The error codes both ways: each one that can be answered is got by a real request and is documented for that very
 * operation; each one that an operation documents is got here. A new operation brings its own codes as new rows of
 * {@link ROWS}.
 */

/** Under what circumstances a code is got, where an ordinary world will not do. */
const CIRCUMSTANCES: Partial<Record<ErrorCode, (t: TestContext) => Promise<World>>> = {
  request_in_progress: async (t) => {
    const pix = await world(t, { PIXGATE_PARTNER_TIMEOUT_MS: '1000' })
    await pix.bank('PUT', '/control/behavior', { cashIn: 'timeout' })
    return pix
  },
  partner_refused: async (t) => {
    const pix = await world(t)
    await pix.bank('PUT', '/control/behavior', { cashIn: 'reject' })
    return pix
  },
  partner_unavailable: async (t) =>
    world(t, { PIXGATE_PARTNER_CREATE_BUDGET_MS: '100' }, { bankUrl: `http://127.0.0.1:${await testPort()}` }),
  approver_not_independent: (t) =>
    world(t, { PIXGATE_APPROVAL_FROM_CENTS: '1', PIXGATE_DESK_APPROVAL_FROM_CENTS: '100' }),
  proposal_void: (t) => world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100' }),
  api_key_deactivated: (t) => world(t, { PIXGATE_APPROVAL_FROM_CENTS: '1' }),
  cash_out_suspended: async (t) => {
    const pix = await world(t, { PIXGATE_APPROVAL_FROM_CENTS: '1' })
    await operate(pix, 'PUT', '/operator/cash-out-switch', { enabled: false, reason: 'the tests' })
    return pix
  },
  not_supported_by_bank: (t) => world(t, {}, { bank: (bank) => ({ ...bank, capabilities: new Set() }) }),
  limit_exceeded: (t) =>
    world(t, {
      PIXGATE_PAYMENT_MAX_CENTS: '99',
      PIXGATE_NIGHT_MAX_CENTS: '98',
      PIXGATE_APPROVAL_FROM_CENTS: '1',
      PIXGATE_DESK_APPROVAL_FROM_CENTS: '99',
    }),
  /** A payment was taken back after it had been paid out. */
  receivable_outstanding: async (t) => {
    const pix = await world(t)
    const { id } = await pix.paid('1')
    await payToKey(pix)
    await pix.bankAction(`charges/${id}/return`, { valueCents: 100 })
    await pix.until('/organization/balance', ([brl]) => brl.receivableCents === 100)
    return pix
  },
  rate_limited: async (t) => {
    // The one request that the API key has was spent on the world's webhook.
    const pix = await world(t, { PIXGATE_RATE_LIMIT_PER_MINUTE: '1' }, { isStepped: true })
    for (let wrong = 0; wrong < limits.adminFailuresPerMinuteAndAddress; wrong++) {
      for (const path of ['/api-key', '/metrics']) {
        await pix.call('GET', path, undefined, { authorization: 'Bearer wrong' })
      }
    }
    return pix
  },
  overloaded: async (t) => {
    const { reach, interrupt } = databaseLink(t)
    const pix = await world(t, {}, { isStepped: true, reach })
    await operatorToken(pix, endpoints.decideApproval)
    interrupt()
    pix.clock.advance(limits.apiKeyCacheMs)
    return pix
  },
  not_possible_in_state: (t) => world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100' }, { isStepped: true }),
  /** Nobody foresaw that the service might lose its rights. */
  internal_error: async (t) => {
    const pix = await world(t, {}, { isStepped: true })
    await operatorToken(pix, endpoints.decideApproval)
    await administer(pix.databaseUrl, 'REVOKE ALL ON ALL TABLES IN SCHEMA public FROM pixgate_app')
    pix.clock.advance(limits.apiKeyCacheMs)
    return pix
  },
}

/** Documented of every operation alike, and not to be had here. */
const UNREACHABLE: readonly Pick<Row, 'operation' | 'code'>[] = [
  ...NEEDS_NOTHING.flatMap((operation) => [
    { operation, code: 'internal_error' } as const,
    { operation, code: 'overloaded' } as const,
  ]),
  // Its page says so in words, and tries again.
  { operation: 'getPaymentPage', code: 'overloaded' },
  // The bank must have decoded the code before.
  { operation: 'decideApproval', code: 'partner_unavailable' },
  // Another bank must have been configured since the refund was requested.
  { operation: 'decideCase', code: 'not_supported_by_bank' },
  { operation: 'decideCaseProposal', code: 'not_supported_by_bank' },
]

for (const code of new Set(ROWS.map((row) => row.code))) {
  const rows = ROWS.filter((row) => row.code === code)
  test(`[http.1] [http.2] ${code} is answered as documented`, async (t) => {
    const pix = await (CIRCUMSTANCES[code] ?? world)(t)
    for (const { operation, request } of rows) {
      const answer = await request(pix)
      assertProblem(answer, code, `${operation}: ${answer.status} ${JSON.stringify(answer.body)}`)
      if (operation) assertDocumented(answer, code, operation)
    }
  })
}

test('[http.2] every error code documented for an operation is returned by it', () => {
  const answered = [...ROWS, ...UNREACHABLE].map(nameOf)
  const documented = documentedOperations.flatMap(({ id: operation, answers }) =>
    [...answers.values()].flatMap(({ codes }) => [...codes].map((code) => `${operation} ${code}`)),
  )
  assert.deepEqual(documented.filter((name) => !answered.includes(name)).toSorted(), [], 'these want a row')
  assert.equal(new Set(answered).size, answered.length, 'a row is there twice')
})

test('[http.2] every error code of the table is returned', () => {
  const known = [...ROWS, ...UNREACHABLE].map(({ code }) => code)
  const idle = (Object.keys(errors) as ErrorCode[]).filter((code) => !known.includes(code))
  assert.deepEqual(idle, [])
})

/** Codes whose message says more than the table's: which rule was broken. */
const WITH_A_MESSAGE_OF_ITS_OWN: readonly ErrorCode[] = [
  'validation_error',
  'malformed_json',
  'invalid_pix_code',
  'pix_code_not_payable',
  'limit_exceeded',
  'not_possible_in_state',
  'proposal_void',
]

const WITH_A_PLACE_TO_READ_FROM: readonly ErrorCode[] = ['cursor_unknown', 'events_erased']

const WITH_AN_OPERATION_THAT_EXISTS: readonly ErrorCode[] = [
  'duplicate_external_id',
  'pix_code_in_use',
  'partner_refused',
]

function assertProblem({ status, headers, body }: Answer, code: ErrorCode, what: string): void {
  const { title, status: expected, message } = errors[code]
  assert.equal(status, expected, what)
  assert.equal(headers.get('content-type'), 'application/problem+json; charset=utf-8', what)
  const { errors: fields, existing, limit, readFrom, ...rest } = body
  assert.deepEqual(rest, {
    type: `/docs/errors#${code}`,
    title,
    status,
    detail: WITH_A_MESSAGE_OF_ITS_OWN.includes(code) ? body.message : message,
    code,
    message: body.detail,
    correlationId: headers.get('x-correlation-id'),
  })
  assert.equal(limit !== undefined, code === 'limit_exceeded', `${what}: ${JSON.stringify(limit)}`)
  assert.equal(readFrom !== undefined, WITH_A_PLACE_TO_READ_FROM.includes(code), what)
  assert.ok(Array.isArray(fields), what)
  for (const { field, message: sentence } of fields)
    assert.doesNotMatch(sentence, /not acceptable|[\^$\\]/, `${what}: ${field}`)
  const namesOperation =
    code === 'not_possible_in_state' &&
    /^(?:cancel|get)(?:(?:CashIn|Operator)(?:Charge|QrCode)?|\w+Receipt):/.test(what)
  assert.equal(existing !== undefined, namesOperation || WITH_AN_OPERATION_THAT_EXISTS.includes(code), what)
  assert.equal(/^[1-9]\d*$/.test(headers.get('retry-after') ?? ''), status === 429 || status === 503, what)
}

function assertDocumented({ status, body }: Answer, code: ErrorCode, operation: OperationId): void {
  const documented = documentedOperations.find(({ id }) => id === operation)?.answers.get(status)
  assert.ok(documented?.codes.has(code) === true, `${operation} does not document ${code}`)
  const isValid = documented.contents.get('application/problem+json')
  assert.ok(isValid?.(body), JSON.stringify(isValid?.errors))
}

function nameOf({ operation, code }: Pick<Row, 'operation' | 'code'>): string {
  return `${operation} ${code}`
}
