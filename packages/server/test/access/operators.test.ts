import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { type Endpoint, endpoints, OPERATOR_TOKEN_PATTERN, type OperatorRole, operatorRoles } from '@pixgate/spec'
import { operatorTokenFormat } from '../../src/access/credentials.ts'
import { capturedLog } from '../support/captured-log.ts'
import { administer } from '../support/database.ts'
import { PRODUCTION } from '../support/environment.ts'
import { scrape } from '../support/metrics.ts'
import { neighbourOf } from '../support/neighbour.ts'
import { ADMIN_TOKEN, type Answer, type World, world } from '../support/world.ts'

const OPERATORS = '/operator/operators'
const SWITCH = '/operator/cash-out-switch'

/** A world with whoever operates it. */
async function operatorWorld(t: TestContext) {
  const log = capturedLog()
  const pix = await world(t, {}, { logger: log.logger, isStepped: true })
  const as =
    (token: string) =>
    (method: string, path: string, body?: object, headers = {}) =>
      pix.call(method, path, body, { authorization: `Bearer ${token}`, ...headers })
  const make = async (name: string, role: OperatorRole, token = ADMIN_TOKEN): Promise<Answer['body']> => {
    const { status, body } = await as(token)('POST', OPERATORS, { name, role })
    assert.equal(status, 201, JSON.stringify(body))
    return body
  }
  return { pix, log, as, make, withAdminToken: as(ADMIN_TOKEN) }
}

/** What was done to operators; that they logged in is told elsewhere. */
async function audits({ database }: World) {
  return database.rows<[], { actor: string; name: string | null; action: string; subject: string; facts: object }>(
    {
      name: 'test.audits',
      text: `SELECT actor, actor_name AS name, action, subject, facts FROM audit
              WHERE action LIKE 'operator.%' AND action <> 'operator.logged_in' ORDER BY id`,
    },
    [],
  )
}

test('[operators.1] [operators.2] [operators.7] a token is shown once, kept as a hash, and its maker stands in the audit trail by id and name', async (t) => {
  const { pix, as, make } = await operatorWorld(t)
  const ana = await make('Ana Souza', 'admin')
  assert.match(ana.token, new RegExp(OPERATOR_TOKEN_PATTERN))
  assert.match(ana.token, /^pix_op_test_/)
  const bia = await make('Bia Lima', 'viewer', ana.token)
  const { data } = (await as(bia.token)('GET', OPERATORS)).body
  assert.deepEqual(
    data.map(({ id, name, role, display, createdBy }: Answer['body']) => ({ id, name, role, display, createdBy })),
    [
      { id: bia.id, name: 'Bia Lima', role: 'viewer', display: bia.token.slice(12, 20), createdBy: ana.id },
      { id: ana.id, name: 'Ana Souza', role: 'admin', display: ana.token.slice(12, 20), createdBy: null },
    ],
  )
  const facts = (made: Answer['body']) => ({ name: made.name, role: made.role, display: made.token.slice(12, 20) })
  assert.deepEqual(await audits(pix), [
    { actor: 'admin', name: null, action: 'operator.created', subject: ana.id, facts: facts(ana) },
    { actor: ana.id, name: 'Ana Souza', action: 'operator.created', subject: bia.id, facts: facts(bia) },
  ])
  const [{ everything } = { everything: '' }] = await pix.database.rows<[], { everything: string }>(
    { name: 'test.operators', text: 'SELECT string_agg(o::text, $$,$$) AS everything FROM credential o' },
    [],
  )
  for (const { token } of [ana, bia]) assert.ok(!everything.includes(token.slice(12, 24)))
})

test('[operators.2] a token of production, one with a wrong checksum, an API key and an unknown token are the same 401', async (t) => {
  const { pix, as, make } = await operatorWorld(t)
  const { token } = await make('Ana', 'viewer')
  const tokens = [
    operatorTokenFormat.format('production', Buffer.alloc(32, 7)),
    operatorTokenFormat.format('sandbox', Buffer.alloc(32, 7)),
    token.slice(0, -1) + (token.endsWith('0') ? '1' : '0'),
    pix.apiKey,
  ]
  for (const wrong of tokens) assert.equal((await as(wrong)('GET', OPERATORS)).status, 401, wrong)
  assert.equal((await as(token)('GET', OPERATORS)).status, 200)
  assert.equal((await as(token)('GET', '/organization/balance')).status, 401, 'no business endpoint')
})

/** On the database of a world. */
const { DATABASE_URL: _, ...IN_PRODUCTION } = {
  ...PRODUCTION,
  PIXGATE_RATE_LIMIT_PER_MINUTE: '600',
  PIXGATE_LOG_LEVEL: 'error',
  PIXGATE_WEBHOOK_ALLOW_PRIVATE: 'false',
} as Readonly<Record<string, string>>

test('[operators.2] in production the tokens of the sandbox open nothing, and its own do', async (t) => {
  const { pix, make } = await operatorWorld(t)
  const sandbox = await make('Ana', 'viewer')
  const live = operatorTokenFormat.format('production', Buffer.alloc(32, 3))
  // They were sealed with the sandbox's key.
  await administer(pix.databaseUrl, 'DELETE FROM webhook_secret; DELETE FROM signing_key')
  const url = await neighbourOf(t, pix, IN_PRODUCTION)
  const get = (token: string) => fetch(url + OPERATORS, { headers: { authorization: `Bearer ${token}` } })
  assert.equal((await get(sandbox.token)).status, 401)
  assert.equal((await get(live)).status, 401)
  const made = await fetch(url + OPERATORS, {
    method: 'POST',
    headers: { authorization: `Bearer ${PRODUCTION.PIXGATE_ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Bia', role: 'viewer' }),
  })
  const { token } = (await made.json()) as { token: string }
  assert.match(token, /^pix_op_live_/)
  assert.equal((await get(token)).status, 200)
})

/** By hand: who may do what. */
const MAY: Readonly<Record<string, readonly OperatorRole[]>> = {
  generateApiKey: ['admin'],
  listApiKeys: ['viewer', 'operator', 'approver', 'admin'],
  deactivateApiKey: ['admin'],
  deactivateAllApiKeys: ['admin'],
  getCashOutSwitch: ['viewer', 'operator', 'approver', 'admin'],
  setCashOutSwitch: ['operator', 'admin'],
  createAdjustment: ['operator', 'admin'],
  listApprovals: ['viewer', 'operator', 'approver', 'admin'],
  decideApproval: ['approver'],
  listCases: ['viewer', 'operator', 'approver', 'admin'],
  getCase: ['viewer', 'operator', 'approver', 'admin'],
  decideCase: ['operator', 'admin'],
  decideCaseProposal: ['operator', 'approver', 'admin'],
  noteCase: ['operator', 'admin'],
  createOperator: ['admin'],
  listCloses: ['viewer', 'operator', 'approver', 'admin'],
  getClose: ['viewer', 'operator', 'approver', 'admin'],
  exportCloseCsv: ['viewer', 'operator', 'approver', 'admin'],
  exportCloseOfx: ['viewer', 'operator', 'approver', 'admin'],
  exportStatement: ['viewer', 'operator', 'approver', 'admin'],
  listOperators: ['viewer', 'operator', 'approver', 'admin'],
  deactivateOperator: ['admin'],
  getMetrics: ['viewer', 'operator', 'approver', 'admin'],
  listSigningKeys: ['viewer', 'operator', 'approver', 'admin'],
  createSigningKey: ['admin'],
  promoteSigningKey: ['admin'],
  retireSigningKey: ['admin'],
  createOperatorWebhook: ['admin'],
  getSession: ['viewer', 'operator', 'approver', 'admin'],
  endSession: ['viewer', 'operator', 'approver', 'admin'],
  listSessions: ['viewer', 'operator', 'approver', 'admin'],
  getReconciliation: ['viewer', 'operator', 'approver', 'admin'],
  listEntries: ['viewer', 'operator', 'approver', 'admin'],
  revokeSession: ['viewer', 'operator', 'approver', 'admin'],
  listOperations: ['viewer', 'operator', 'approver', 'admin'],
  getOperation: ['viewer', 'operator', 'approver', 'admin'],
  searchOperations: ['viewer', 'operator', 'approver', 'admin'],
  getOverview: ['viewer', 'operator', 'approver', 'admin'],
  listChanges: ['viewer', 'operator', 'approver', 'admin'],
  listAudit: ['viewer', 'operator', 'approver', 'admin'],
  listProposals: ['viewer', 'operator', 'approver', 'admin'],
  getSystem: ['viewer', 'operator', 'approver', 'admin'],
  listOperatorWebhooks: ['viewer', 'operator', 'approver', 'admin'],
  getOperatorWebhook: ['viewer', 'operator', 'approver', 'admin'],
  listOperatorDeliveries: ['viewer', 'operator', 'approver', 'admin'],
  getOperatorDelivery: ['viewer', 'operator', 'approver', 'admin'],
  listOperatorApiKeys: ['viewer', 'operator', 'approver', 'admin'],
  listOperatorLedger: ['viewer', 'operator', 'approver', 'admin'],
  getOperatorQrCode: ['viewer', 'operator', 'approver', 'admin'],
  getOperatorChargeReceipt: ['viewer', 'operator', 'approver', 'admin'],
  getOperatorPayoutReceipt: ['viewer', 'operator', 'approver', 'admin'],
  getOperatorRefundReceipt: ['viewer', 'operator', 'approver', 'admin'],
  refundPayment: ['operator', 'admin'],
  pauseOperatorWebhook: ['operator', 'admin'],
  resumeOperatorWebhook: ['operator', 'admin'],
  testOperatorWebhook: ['operator', 'admin'],
  recoverOperatorWebhook: ['operator', 'admin'],
  sendMissedToOperatorWebhook: ['operator', 'admin'],
  resendOperatorDelivery: ['operator', 'admin'],
  cancelOperatorCharge: ['operator', 'admin'],
  deleteOperatorWebhook: ['admin'],
  rotateOperatorWebhookSecret: ['admin'],
  generateOperatorApiKey: ['admin'],
  deactivateOperatorApiKey: ['admin'],
}

test('[operators.3] each role may do what is its own, and is 403 insufficient_role at everything else, which changes nothing', async (t) => {
  const { pix, log, as, make } = await operatorWorld(t)
  const all: readonly Endpoint[] = Object.values(endpoints)
  const ofOperators = all.filter(({ auth }) => auth === 'admin')
  assert.deepEqual(ofOperators.map(({ id }) => id).toSorted(), Object.keys(MAY).toSorted())
  const tokens = new Map<OperatorRole, Answer['body']>()
  for (const role of operatorRoles) tokens.set(role, await make(role, role, tokens.get('admin')?.token))
  const before = (await audits(pix)).length
  for (const [role, { id: operatorId, token }] of tokens) {
    for (const { id, method, path, example } of ofOperators) {
      if (MAY[id]?.includes(role)) continue
      const body = example as object | undefined
      const answer = await as(token)(method, path.replace('{id}', operatorId), method === 'DELETE' ? undefined : body)
      assert.deepEqual([answer.status, answer.body.code], [403, 'insufficient_role'], `${role}: ${id}`)
      await log.line('request', { operatorId, status: 403 })
    }
  }
  assert.equal((await audits(pix)).length, before)
  const { token } = tokens.get('admin')
  for (const [role, { token }] of tokens) assert.equal((await as(token)('GET', SWITCH)).status, 200, role)
  const setting = { enabled: false, reason: 'Incident 42' }
  assert.equal((await as(tokens.get('operator').token)('PUT', SWITCH, setting)).status, 200)
  assert.equal((await as(token)('PUT', SWITCH, setting)).status, 200)
  assert.ok(
    ((await scrape(pix))('pixgate_credentials_refused_total{credential="operator",reason="insufficient_role"}') ?? 0) >
      5,
  )
})

test('[operators.4] the list shows when an operator was there last, and its pages show each once', async (t) => {
  const { pix, as, make } = await operatorWorld(t)
  const { token, id } = await make('Ana', 'viewer')
  for (const name of ['Bia', 'Caio', 'Davi']) await make(name, 'viewer')
  const usedAt = pix.clock.now()
  const list = (query: string) => as(token)('GET', `${OPERATORS}?${query}`)
  const names: string[] = []
  for (let query = 'limit=3'; ; ) {
    const { data, pagination } = (await list(query)).body
    names.push(...data.map(({ name }: Answer['body']) => name))
    if (!pagination.hasMore) break
    query = `limit=3&cursor=${pagination.nextCursor}`
  }
  assert.deepEqual(names, ['Davi', 'Caio', 'Bia', 'Ana'])
  await pix.work()
  const { data } = (await list('')).body
  assert.deepEqual(
    data.map(({ lastUsedAt }: Answer['body']) => lastUsedAt),
    [null, null, null, new Date(usedAt).toISOString()],
  )
  assert.equal(data.at(-1).id, id)
})

test('[operators.5] [PL-4] a deactivated operator is 401 here at once, at another process within 5 s, and leaves a row', async (t) => {
  const { pix, as, make } = await operatorWorld(t)
  const ana = await make('Ana', 'admin')
  const bia = await make('Bia', 'operator', ana.token)
  const elsewhere = await neighbourOf(t, pix)
  const there = async (token: string) =>
    (await fetch(elsewhere + SWITCH, { headers: { authorization: `Bearer ${token}` } })).status
  assert.equal(await there(bia.token), 200)
  assert.equal((await as(ana.token)('DELETE', `${OPERATORS}/${bia.id}`)).status, 204)
  assert.equal((await as(bia.token)('GET', SWITCH)).status, 401)
  pix.clock.advance(4_999)
  assert.equal(await there(bia.token), 200)
  pix.clock.advance(1)
  assert.equal(await there(bia.token), 401)
  assert.equal(await there(ana.token), 200)
  const row = (await audits(pix)).at(-1)
  assert.deepEqual(row, {
    actor: ana.id,
    name: 'Ana',
    action: 'operator.deactivated',
    subject: bia.id,
    facts: { name: 'Bia', role: 'operator' },
  })
  for (const id of [bia.id, '0198c0de-3f00-7000-8000-1a2b3c4d5e6f', 'no-uuid']) {
    assert.equal((await as(ana.token)('DELETE', `${OPERATORS}/${id}`)).status, 404, id)
  }
})

test('[operators.5] a token that was made at one process is taken at another at once', async (t) => {
  const { pix, make } = await operatorWorld(t)
  const elsewhere = await neighbourOf(t, pix)
  const there = async (token: string) =>
    (await fetch(elsewhere + SWITCH, { headers: { authorization: `Bearer ${token}` } })).status
  assert.equal(await there((await make('Ana', 'viewer')).token), 200)
  pix.clock.advance(1)
  assert.equal(await there((await make('Bia', 'viewer')).token), 200)
})

test('[operators.5] the last active admin stays, also where two deactivate each other at the same time', async (t) => {
  const { as, make } = await operatorWorld(t)
  const ana = await make('Ana', 'admin')
  const alone = await as(ana.token)('DELETE', `${OPERATORS}/${ana.id}`)
  assert.deepEqual([alone.status, alone.body.code], [409, 'last_admin'])
  for (const round of 'ABCDE') {
    const bia = await make(`Bia ${round}`, 'admin', ana.token)
    const caio = await make(`Caio ${round}`, 'admin', ana.token)
    assert.equal((await as(ana.token)('DELETE', `${OPERATORS}/${caio.id}`)).status, 204)
    const answers = await Promise.all([
      as(ana.token)('DELETE', `${OPERATORS}/${bia.id}`),
      as(bia.token)('DELETE', `${OPERATORS}/${ana.id}`),
    ])
    const statuses = answers.map(({ status }) => status).toSorted()
    const { token, id } = answers[0]?.status === 204 ? ana : bia
    assert.ok([409, 401].includes(statuses[1] ?? 0) && statuses[0] === 204, String(statuses))
    assert.equal((await as(token)('GET', SWITCH)).status, 200)
    if (id !== ana.id) break
  }
})

test('[operators.6] the administrative token counts until there is a named admin; then it makes keys and reads metrics', async (t) => {
  const { pix, log, as, make, withAdminToken } = await operatorWorld(t)
  const elsewhere = await neighbourOf(t, pix)
  const there = async (path: string) =>
    (await fetch(elsewhere + path, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })).status
  await make('Rita', 'operator')
  assert.equal((await withAdminToken('GET', SWITCH)).status, 200, 'an operator is no admin')
  assert.equal(await there(SWITCH), 200)
  const ana = await make('Ana', 'admin')
  pix.clock.advance(5_000)
  for (const path of [SWITCH, OPERATORS, '/api-key']) {
    const { status, body } = await withAdminToken('GET', path)
    assert.deepEqual([status, body.code], [401, 'unauthorized'], path)
    assert.equal(await there(path), 401)
  }
  await log.line('PIXGATE_ADMIN_TOKEN was refused', { reason: 'retired_admin_token' })
  assert.equal((await withAdminToken('POST', '/api-key/generate')).status, 201)
  assert.equal((await withAdminToken('GET', '/metrics')).status, 200)
  for (let use = 0; use < 10; use++) assert.equal((await withAdminToken('GET', SWITCH)).status, 401, 'it is no guess')
  assert.equal((await as(ana.token)('GET', SWITCH)).status, 200)
})

test('[operators.6] where no admin is left, as after the statement of the guide, the administrative token counts again', async (t) => {
  const { pix, make, withAdminToken } = await operatorWorld(t)
  const ana = await make('Ana', 'admin')
  assert.equal((await withAdminToken('GET', SWITCH)).status, 401)
  await administer(pix.databaseUrl, LOST_ADMINS)
  pix.clock.advance(5_000)
  assert.equal((await withAdminToken('GET', SWITCH)).status, 200)
  const { body } = await withAdminToken('GET', OPERATORS)
  assert.notEqual(body.data.find(({ id }: Answer['body']) => id === ana.id).deactivatedAt, null)
})

/** As it stands in the guide. */
const LOST_ADMINS = "SELECT deactivate_all_admins('Ana Souza', 'the phone with both tokens is lost')"

test('[operators.9] who deactivates all admins in the database leaves a row for each, with who, from where and why', async (t) => {
  const { pix, make, as } = await operatorWorld(t)
  await make('Caio', 'viewer')
  const ana = await make('Ana', 'admin')
  const { body: bia } = await as(ana.token)('POST', OPERATORS, { name: 'Bia', role: 'admin' })
  await administer(pix.databaseUrl, LOST_ADMINS)
  const rows = (await audits(pix)).sort((one, other) => one.subject.localeCompare(other.subject))
  const reason = 'the phone with both tokens is lost'
  assert.deepEqual(
    rows
      .filter(({ action }) => action === 'operator.deactivated')
      .map(({ subject, name, facts }) => [subject, name, facts]),
    [
      [ana.id, 'Ana Souza', { name: 'Ana', role: 'admin', reason }],
      [bia.id, 'Ana Souza', { name: 'Bia', role: 'admin', reason }],
    ],
  )
})

test('[operators.9] it says who and why, and the server cannot do it', async (t) => {
  const { pix } = await operatorWorld(t)
  const order = (who: string, why: string) =>
    administer(pix.databaseUrl, `SELECT deactivate_all_admins(${who}, ${why})`)
  for (const [who, why] of [
    ["''", "'lost'"],
    ["'Ana'", "' '"],
    ['NULL', 'NULL'],
  ] as const) {
    await assert.rejects(order(who, why), /say who you are and why/)
  }
  await assert.rejects(
    administer(pix.databaseUrl, `SET ROLE pixgate_app; ${LOST_ADMINS}`),
    /permission denied for function/,
  )
})

test('[operators.7] [api-keys.1] who made a key stands on it, and an admin makes keys as the administrative token does', async (t) => {
  const { as, make } = await operatorWorld(t)
  const ana = await make('Ana', 'admin')
  assert.equal((await as(ana.token)('POST', '/api-key/generate', { name: 'Loja' })).status, 201)
  const [key, before] = (await as(ana.token)('GET', '/api-key')).body.data
  assert.deepEqual([key.name, key.createdBy, before.createdBy], ['Loja', ana.id, null])
})

test('[logs.7] [operators.7] the line of an operator’s request has their id and address, and no name', async (t) => {
  const { log, as, make } = await operatorWorld(t)
  const ana = await make('Ana Souza', 'viewer')
  await as(ana.token)('GET', SWITCH)
  await log.line('request', { operatorId: ana.id, address: '127.0.0.1', route: SWITCH })
  assert.ok(!JSON.stringify(log.lines).includes('Ana Souza'))
})

test('[operators.1] [http.1] a name or a role that is none is 400 with the field, and makes nobody', async (t) => {
  const { pix, withAdminToken } = await operatorWorld(t)
  const faults: [body: object, field: string][] = [
    [{ role: 'viewer' }, 'name'],
    [{ name: '', role: 'viewer' }, 'name'],
    [{ name: 'a\u0007', role: 'viewer' }, 'name'],
    ...['Bia\u200b', 'B\u00adia', 'Bia\u2060', '\u3164Bia', 'Bia ', ' Bia'].map((name): [object, string] => [
      { name, role: 'approver' },
      'name',
    ]),
    // Cyrillic, in part or whole, Greek, full width, IPA, digits, and a letter that only looks like Latin.
    ...[
      '\u0420\u0435rson',
      '\u041e\u043b\u044c\u0433\u0430',
      'An\u03b1',
      '\uff21na',
      'An\u0251',
      'Ana 0',
      '\u5c71\u7530',
      '\u{1d400}na',
    ].map((name): [object, string] => [{ name, role: 'approver' }, 'name']),
    [{ name: 'Ana' }, 'role'],
    [{ name: 'Ana', role: 'owner' }, 'role'],
    [{ name: 'Ana', role: 'viewer', scopes: [] }, 'scopes'],
  ]
  for (const [body, field] of faults) {
    const { status, body: problem } = await withAdminToken('POST', OPERATORS, body)
    assert.deepEqual([status, problem.code, problem.errors[0].field], [400, 'validation_error', field])
  }
  const { body } = await withAdminToken('POST', OPERATORS, { name: '\u0410na', role: 'viewer' })
  assert.equal(body.errors[0].code, 'pattern')
  assert.deepEqual(await audits(pix), [])
  for (const name of [
    'Bia S\u00e1',
    'D\u2019Angelo Jr.',
    "Ana d'\u00c1vila-Nu\u00f1ez",
    '\u0141ucja \u017b\u00f3\u0142\u0107',
    'Nguy\u1ec5n \u01a0',
  ]) {
    assert.equal((await withAdminToken('POST', OPERATORS, { name, role: 'viewer' })).status, 201, name)
  }
})

test('[operators.1] without its audit row there is no operator, and none is deactivated', async (t) => {
  const { pix, make, withAdminToken } = await operatorWorld(t)
  const { id } = await make('Ana', 'viewer')
  await administer(pix.databaseUrl, 'REVOKE INSERT ON audit FROM pixgate_app')
  assert.equal((await withAdminToken('POST', OPERATORS, { name: 'Bia', role: 'viewer' })).status, 500)
  assert.equal((await withAdminToken('DELETE', `${OPERATORS}/${id}`)).status, 500)
  const { data } = (await withAdminToken('GET', OPERATORS)).body
  assert.deepEqual(
    data.map(({ name, deactivatedAt }: Answer['body']) => [name, deactivatedAt]),
    [['Ana', null]],
  )
})
