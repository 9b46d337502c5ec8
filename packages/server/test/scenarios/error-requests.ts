import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { buildStaticBrCode } from '@pixgate/brcode'
import { apiKeyScopes, type Endpoint, type ErrorCode, endpoints, limits } from '@pixgate/spec'
import { addErasedEvent, foreignCursor } from '../support/feed.ts'
import { makeOperator, operatorToken } from '../support/operators.ts'
import { paidEvent, postEvent, signatureOf } from '../support/partner-events.ts'
import { until } from '../support/until.ts'
import { ADMIN_TOKEN, type Answer, type World } from '../support/world.ts'

/** Requests that get error codes. A new operation brings its own as new rows. */

/** An operation of the API. */
export type OperationId = keyof typeof endpoints

/** A request that gets a code. */
export interface Row {
  /** `null`: a path, or a method of a path, that is no operation. */
  readonly operation: OperationId | null
  readonly code: ErrorCode
  readonly request: (pix: World) => Promise<Answer>
}

function row(operation: OperationId | null, code: ErrorCode, request: Row['request']): Row {
  return { operation, code, request }
}

/** Operations without database and queue cannot lack them. */
export const NEEDS_NOTHING: readonly OperationId[] = [
  'getPublicKey',
  'listPublicKeys',
  'getJwks',
  'getHealth',
  'getReadiness',
  'getMetrics',
]

/** Errors of credentials, bodies and the service as a whole, operation by operation. */
const GENERAL: readonly Row[] = operationIds().flatMap((operation) => {
  const { auth, role, body }: Endpoint = endpoints[operation]
  const own = (code: ErrorCode, change?: Change) => row(operation, code, (pix) => send(pix, operation, change))
  return [
    row(operation, 'validation_error', (pix) => sendToTwoHosts(pix, operation)),
    own('method_not_allowed', { method: 'PATCH' }),
    ...(body ? [own('body_too_large', { body: 'x'.repeat(limits.bodyMaxBytes + 1) })] : []),
    ...(body && auth !== 'partner'
      ? [
          own('malformed_json', { body: '{' }),
          own('content_type_required', { headers: { 'content-type': 'text/plain' } }),
        ]
      : []),
    ...(auth === 'none'
      ? []
      : [own('unauthorized', { headers: { authorization: 'nobody', 'x-partner-signature': 'none' } })]),
    ...(NEEDS_NOTHING.includes(operation) ? [] : [own('internal_error')]),
    ...([...NEEDS_NOTHING, 'getPaymentPage'].includes(operation) ? [] : [own('overloaded')]),
    ...(auth === 'api-key' ? [own('rate_limited'), withoutScope(operation)] : []),
    // A right token is never refused for wrong ones.
    ...(auth === 'admin' ? [own('rate_limited', { headers: { authorization: 'Bearer wrong' } })] : []),
    ...(auth === 'admin' && role !== 'viewer' ? [asViewer(operation)] : []),
    ...(auth === 'partner' ? [row(operation, 'rate_limited', sendWrongUntilLimited(operation))] : []),
  ]
})

/** A call with a key that may do everything else. */
function withoutScope(operation: OperationId): Row {
  const { scope } = endpoints[operation] as Endpoint
  return row(operation, 'insufficient_scope', async (pix) => {
    const scopes = apiKeyScopes.filter((other) => other !== scope)
    const { body } = await operate(pix, 'POST', '/api-key/generate', { scopes })
    return send(pix, operation, { headers: { authorization: `Bearer ${body.apiKey}` } })
  })
}

/** A call of an operator who may only look. */
function asViewer(operation: OperationId): Row {
  return row(operation, 'insufficient_role', async (pix) => {
    const token = await makeOperator(pix, 'viewer')
    return send(pix, operation, { headers: { authorization: `Bearer ${token}` } })
  })
}

/** A network is limited once it has sent more with wrong credentials than it may in a minute. */
function sendWrongUntilLimited(operation: OperationId): Row['request'] {
  return async (pix) => {
    for (;;) {
      const answer = await send(pix, operation, { headers: { 'x-partner-signature': 'none' } })
      if (answer.status !== 401) return answer
    }
  }
}

/** Errors common to both ways of sending money. */
const OF_CASH_OUTS: readonly Row[] = (
  [
    ['createCashOut', payToKey],
    ['createCashOutFromQrCode', payCode],
  ] as const
).flatMap(([operation, pay]) => [
  row(operation, 'idempotency_key_reused', async (pix) => {
    await pix.balance(100)
    await pay(pix, {}, {}, KEY)
    return pay(pix, { description: 'another' }, {}, KEY)
  }),
  row(operation, 'duplicate_external_id', async (pix) => {
    await pix.balance(100)
    await pay(pix)
    return pay(pix)
  }),
  row(operation, 'not_supported_by_bank', (pix) => pay(pix)),
  row(operation, 'cash_out_suspended', (pix) => pay(pix)),
  row(operation, 'value_not_positive', (pix) => pay(pix, { value: 0 })),
  row(operation, 'value_too_large', (pix) => pay(pix, { value: 1e10 })),
  row(operation, 'invalid_document', (pix) => pay(pix, {}, { document: '111.111.111-11' })),
  row(operation, 'limit_exceeded', (pix) => pay(pix)),
  row(operation, 'receivable_outstanding', (pix) => pay(pix, { externalId: operation })),
  row(operation, 'insufficient_balance', (pix) => pay(pix)),
])

/** Errors common to the controls of the simulated bank. */
const OF_LEVERS: readonly Row[] = (
  [
    ['payCashIn', failedCashIn],
    ['failCashIn', failedCashIn],
    ['returnCashIn', failedCashIn],
    ['confirmCashOut', fundedCashOut],
    ['failCashOut', fundedCashOut],
    ['reverseCashOut', fundedCashOut],
    ['confirmRefundIn', fundedRefund],
    ['failRefundIn', fundedRefund],
  ] as const
).flatMap(([operation, make]) => [
  row(operation, 'not_found', (pix) => send(pix, operation)),
  row(operation, 'not_possible_in_state', async (pix) => send(pix, operation, { id: await make(pix) })),
  row(operation, 'partner_unavailable', async (pix) => send(pix, operation, { id: await make(pix) })),
])

/** Operations about one thing, asked about an id that does not exist. */
const UNKNOWN_IDS: readonly OperationId[] = [
  ...(['getCashIn', 'getCashOut', 'getRefundIn', 'getLedgerEntry', 'getClose', 'exportCloseCsv'] as const),
  ...(['exportCloseOfx', 'deactivateApiKey', 'deactivateOperator', 'getCase', 'noteCase', 'decideCase'] as const),
  ...(['decideCaseProposal', 'decideApproval', 'getWebhook', 'testWebhook', 'getWebhookDelivery'] as const),
  ...(['resendWebhookDelivery', 'recoverWebhook', 'sendMissedToWebhook', 'pauseWebhook', 'resumeWebhook'] as const),
  ...(['rotateWebhookSecret', 'deleteWebhook', 'getCashInQrCode', 'cancelCashIn', 'getPaymentState'] as const),
  ...(['getOperation', 'revokeSession', 'getOperatorWebhook', 'testOperatorWebhook', 'getOperatorDelivery'] as const),
  ...(['resendOperatorDelivery', 'recoverOperatorWebhook', 'sendMissedToOperatorWebhook'] as const),
  ...(['pauseOperatorWebhook', 'resumeOperatorWebhook', 'rotateOperatorWebhookSecret'] as const),
  ...(['deleteOperatorWebhook', 'deactivateOperatorApiKey', 'getOperatorQrCode', 'cancelOperatorCharge'] as const),
  ...(['getCashInReceipt', 'getCashOutReceipt', 'getRefundInReceipt', 'getOperatorChargeReceipt'] as const),
  ...(['getOperatorPayoutReceipt', 'getOperatorRefundReceipt'] as const),
]

/** Errors common to both ways of ordering a refund. */
const OF_REFUNDS: readonly Row[] = (
  [
    ['createRefundIn', refund],
    ['refundPayment', refundAsOperator],
  ] as const
).flatMap(([operation, refund]) => [
  row(operation, 'idempotency_key_reused', async (pix) => {
    const { id } = await pix.paid('1')
    await refund(pix, id, {}, KEY)
    return refund(pix, id, { reason: 'another' }, KEY)
  }),
  row(operation, 'duplicate_external_id', async (pix) => {
    const { id } = await pix.paid('1')
    await refund(pix, id)
    return refund(pix, id)
  }),
  row(operation, 'not_supported_by_bank', (pix) => refund(pix, NOBODY)),
  row(operation, 'cash_in_not_found', (pix) => refund(pix, NOBODY)),
  row(operation, 'cash_in_not_paid', async (pix) => refund(pix, (await pix.charge('1')).id)),
  row(operation, 'refund_deadline_exceeded', async (pix) => {
    const { id } = await pix.paid('1')
    pix.clock.advance(REFUNDABLE_MS + 1)
    return refund(pix, id)
  }),
  row(operation, 'refund_exceeds_available', async (pix) =>
    refund(pix, (await pix.paid('1')).id, { refundValue: 1.01 }),
  ),
  row(operation, 'cash_out_suspended', (pix) => refund(pix, NOBODY)),
  row(operation, 'limit_exceeded', async (pix) => refund(pix, (await pix.paid('1')).id)),
  row(operation, 'insufficient_balance', async (pix) => {
    const { id } = await pix.paid('1')
    await payToKey(pix, { externalId: operation })
    return refund(pix, id)
  }),
])

/** Errors of a refund that was possible when an operator requested it. */
const OF_REQUESTED_REFUNDS: readonly Row[] = (
  [
    [
      'decideCase',
      (pix: World, { id, by }: RequestedRefund) => decideCase(pix, id, { decision: 'return_to_payer' }, by),
    ],
    [
      'decideCaseProposal',
      async (pix: World, made: RequestedRefund) => sayToProposal(pix, made, await makeOperator(pix, 'approver', 'Rui')),
    ],
  ] as const
).flatMap(([operation, decide]) => [
  row(operation, 'duplicate_external_id', async (pix) => {
    const requested = await requestRefund(pix, { externalId: operation })
    await refund(pix, (await pix.paid('1')).id, { externalId: operation })
    return decide(pix, requested)
  }),
  row(operation, 'refund_deadline_exceeded', async (pix) => {
    const requested = await requestRefund(pix)
    pix.clock.advance(REFUNDABLE_MS + 1)
    return decide(pix, requested)
  }),
  row(operation, 'refund_exceeds_available', async (pix) => {
    const requested = await requestRefund(pix)
    await refund(pix, requested.cashInId, { externalId: operation })
    return decide(pix, requested)
  }),
  row(operation, 'cash_out_suspended', async (pix) => {
    await turnPayouts(pix, true)
    const requested = await requestRefund(pix)
    await turnPayouts(pix, false)
    return decide(pix, requested)
  }),
  row(operation, 'limit_exceeded', async (pix) => {
    passUntilHour(pix, 12)
    const requested = await requestRefund(pix, { valueCents: 99 })
    passUntilHour(pix, 21)
    return decide(pix, requested)
  }),
])

/** Both ways to register an endpoint. */
const REGISTRATIONS = [
  ['createWebhook', subscribe],
  ['createOperatorWebhook', (pix: World, url: string) => operate(pix, 'POST', '/operator/webhooks', subscription(url))],
] as const

/** Errors of one operation alone. */
const PARTICULAR: readonly Row[] = [
  row(null, 'not_found', (pix) => pix.call('GET', '/nowhere')),
  ...UNKNOWN_IDS.map((operation) => row(operation, 'not_found', (pix) => send(pix, operation))),

  row('createCashIn', 'idempotency_key_reused', async (pix) => {
    await create(pix, { externalId: 'first' }, KEY)
    return create(pix, { externalId: 'second' }, KEY)
  }),
  row('createCashIn', 'request_in_progress', async (pix) => {
    const first = create(pix, {}, KEY)
    await until(async () => (await pix.call('GET', '/api/pix/cash-in')).body.data.length > 0)
    const meanwhile = await create(pix, {}, KEY)
    await first
    return meanwhile
  }),
  row('createCashIn', 'duplicate_external_id', async (pix) => {
    await create(pix)
    return create(pix)
  }),
  row('createCashIn', 'value_not_positive', (pix) => create(pix, { value: 0 })),
  row('createCashIn', 'value_too_large', (pix) => create(pix, { value: 1e10 })),
  row('createCashIn', 'invalid_document', (pix) =>
    pix.call('POST', '/api/pix/cash-in', {
      transaction: { value: 1, externalId: 'a' },
      payer: { fullName: 'Maria da Silva', document: '111.111.111-11' },
    }),
  ),
  row('createCashIn', 'not_supported_by_bank', (pix) => create(pix)),
  row('createCashIn', 'partner_refused', (pix) => create(pix)),
  ...(['cancelCashIn', 'cancelOperatorCharge'] as const).map((operation) =>
    row(operation, 'not_supported_by_bank', (pix) => send(pix, operation)),
  ),
  ...(['getCashInQrCode', 'getOperatorQrCode', 'cancelCashIn', 'cancelOperatorCharge'] as const).map((operation) =>
    row(operation, 'not_possible_in_state', async (pix) => send(pix, operation, { id: (await pix.paid('1')).id })),
  ),
  ...(
    [
      ['getCashInReceipt', failedCashIn],
      ['getOperatorChargeReceipt', failedCashIn],
      ['getCashOutReceipt', fundedCashOut],
      ['getOperatorPayoutReceipt', fundedCashOut],
      ['getRefundInReceipt', fundedRefund],
      ['getOperatorRefundReceipt', fundedRefund],
    ] as const
  ).map(([operation, make]) =>
    row(operation, 'not_possible_in_state', async (pix) => send(pix, operation, { id: await make(pix) })),
  ),

  row('closeToday', 'not_possible_in_state', async (pix) => {
    await send(pix, 'closeToday')
    return send(pix, 'closeToday')
  }),

  row('createCashOut', 'pix_key_type_mismatch', (pix) => payToKey(pix, {}, { pixKeyType: 'cpf' })),
  row('createCashOutFromQrCode', 'invalid_pix_code', (pix) => payCode(pix, { pixCode: 'hello' })),
  row('createCashOutFromQrCode', 'pix_code_in_use', async (pix) => {
    await pix.balance(100)
    const { body } = await pix.bank('POST', '/control/qr-codes', { valueCents: 100 })
    await payCode(pix, { pixCode: body.pixCode, externalId: 'first' })
    return payCode(pix, { pixCode: body.pixCode, externalId: 'second' })
  }),
  row('createCashOutFromQrCode', 'pix_code_not_payable', async (pix) => {
    await adjust(pix, 500)
    return payCode(pix, {}, { document: '529.982.247-25' })
  }),
  row('createCashOutFromQrCode', 'pix_code_value_mismatch', (pix) =>
    payCode(pix, { pixCode: buildStaticBrCode({ ...BAKERY, amountCents: 99n }) }),
  ),
  row('createCashOutFromQrCode', 'partner_unavailable', async (pix) => {
    await adjust(pix, 500)
    return payCode(pix)
  }),

  row('createRefundIn', 'refund_value_not_positive', async (pix) =>
    refund(pix, (await pix.paid('1')).id, { refundValue: 0 }),
  ),

  ...(['unauthorized', 'rate_limited'] as const).map((code) =>
    row('startSession', code, (pix) => send(pix, 'startSession', { body: JSON.stringify({ token: 'wrong' }) })),
  ),
  row('startSession', 'misdirected_request', (pix) => sendRaw(pix, 'startSession', ['Host', 'another.example'])),

  row('deactivateOperator', 'last_admin', async (pix) => {
    const { body } = await operate(pix, 'POST', '/operator/operators', { name: 'Ana', role: 'admin' })
    const headers = { authorization: `Bearer ${body.token}` }
    return send(pix, 'deactivateOperator', { id: body.id, headers })
  }),

  row('decideCase', 'case_changed', async (pix) => decideCase(pix, await openCase(pix), { version: '99' })),
  row('decideCase', 'not_possible_in_state', async (pix) =>
    decideCase(pix, await openCase(pix), { decision: 'not_executed' }),
  ),
  row('decideCase', 'idempotency_key_reused', async (pix) => {
    const id = await openCase(pix)
    await decideCase(pix, id, {}, KEY)
    return decideCase(pix, id, { reason: 'another one' }, KEY)
  }),
  row('decideCase', 'insufficient_balance', async (pix) => {
    const { id, by } = await unpayable(pix, 'Hugo')
    return decideCase(pix, id, { decision: 'debit' }, by)
  }),
  row('decideCaseProposal', 'insufficient_balance', async (pix) => {
    const made = await unpayable(pix, 'Iris')
    return sayToProposal(pix, made, await makeOperator(pix, 'approver', 'Leo'))
  }),
  row('decideCaseProposal', 'approver_not_independent', async (pix) => {
    const made = await proposal(pix, 'Ana')
    return sayToProposal(pix, made, await makeOperator(pix, 'approver', 'ana'))
  }),
  row('decideCaseProposal', 'proposal_void', async (pix) => {
    const made = await proposal(pix, 'Bruno')
    await sayToProposal(pix, made, ADMIN_TOKEN, { approved: false, reason: 'the tests' })
    return sayToProposal(pix, made, await makeOperator(pix, 'approver', 'Bia'))
  }),
  row('decideCaseProposal', 'not_possible_in_state', async (pix) => {
    // One charge is paid by one of them.
    const { id: operationId } = await pix.charge('1')
    const given = { decision: 'book', operationId }
    const made = [await proposal(pix, 'Enzo', given), await proposal(pix, 'Fabi', given)] as const
    const token = await makeOperator(pix, 'approver', 'Gil')
    await sayToProposal(pix, made[0], token)
    return sayToProposal(pix, made[1], token)
  }),
  row('decideApproval', 'not_possible_in_state', async (pix) =>
    send(pix, 'decideApproval', { id: await fundedCashOut(pix) }),
  ),
  row('decideApproval', 'approver_not_independent', async (pix) => {
    const id = await fundedCashOut(pix)
    await send(pix, 'decideApproval', { id })
    return send(pix, 'decideApproval', { id })
  }),
  row('decideApproval', 'api_key_deactivated', async (pix) => {
    const id = await fundedCashOut(pix)
    await operate(pix, 'POST', '/api-key/deactivate-all', { reason: 'the tests' })
    return send(pix, 'decideApproval', { id })
  }),
  row('decideApproval', 'cash_out_suspended', async (pix) => {
    await turnPayouts(pix, true)
    const id = await fundedCashOut(pix)
    await turnPayouts(pix, false)
    return send(pix, 'decideApproval', { id })
  }),
  row('decideApproval', 'limit_exceeded', async (pix) => {
    for (const half of [50, 49]) await adjust(pix, half)
    passUntilHour(pix, 12)
    const { id } = await pix.cashOut({ value: 0.99 })
    passUntilHour(pix, 21)
    return approvedByTwo(pix, id)
  }),

  ...REGISTRATIONS.flatMap(([operation, register]) => [
    row(operation, 'duplicate_webhook', async (pix) => {
      await register(pix, 'https://shop.example/pix')
      return register(pix, 'https://shop.example/pix')
    }),
    row(operation, 'too_many_webhooks', async (pix) => {
      const { data } = await pix.get('/webhook')
      for (let one = data.length; one < limits.webhookSubscriptionsMax; one++) {
        assert.equal((await register(pix, `https://shop.example/${one}`)).status, 201)
      }
      return register(pix, 'https://shop.example/one-more')
    }),
    row(operation, 'webhook_url_not_allowed', (pix) => register(pix, 'https://somebody@shop.example/pix')),
  ]),
  row('listEvents', 'cursor_unknown', (pix) => pix.call('GET', `/api/pix/events?cursor=${foreignCursor(1_000)}`)),
  row('listEvents', 'events_erased', async (pix) => {
    await addErasedEvent(pix.databaseUrl)
    return pix.call('GET', `/api/pix/events?cursor=${Buffer.from('v1:0:').toString('base64url')}`)
  }),
  row('resendWebhookDelivery', 'delivery_not_resendable', async (pix) =>
    send(pix, 'resendWebhookDelivery', { id: await undeliverable(pix) }),
  ),
  row('resendOperatorDelivery', 'delivery_not_resendable', async (pix) =>
    send(pix, 'resendOperatorDelivery', { id: await undeliverable(pix) }),
  ),
  ...(['rotateWebhookSecret', 'rotateOperatorWebhookSecret'] as const).map((operation) =>
    row(operation, 'too_many_webhook_secrets', async (pix) => {
      const { body } = await subscribe(pix, `https://shop.example/${operation}`)
      const rotate = () => send(pix, operation, { id: body.webhook_id, body: '{}' })
      for (let one = 1; one < limits.webhookSecretsMax; one++) assert.equal((await rotate()).status, 200)
      return rotate()
    }),
  ),

  row('setCashOutSwitch', 'version_conflict', (pix) =>
    operate(pix, 'PUT', '/operator/cash-out-switch', { enabled: true, reason: 'the tests', version: 1_000 }),
  ),
  row('createAdjustment', 'idempotency_key_reused', async (pix) => {
    await adjust(pix, 1, KEY)
    return adjust(pix, 2, KEY)
  }),
  row('createAdjustment', 'insufficient_balance', async (pix) => {
    const authorization = `Bearer ${await makeOperator(pix, 'operator', 'Nina')}`
    return adjust(pix, -Number(limits.valueMaxCents), { authorization })
  }),

  row('createSigningKey', 'next_signing_key_exists', async (pix) => {
    await operate(pix, 'POST', SIGNING_KEYS, { reason: 'the tests' })
    return operate(pix, 'POST', SIGNING_KEYS, { reason: 'the tests' })
  }),
  ...(['promote', 'retire'] as const).flatMap((move): Row[] => {
    const operation = `${move}SigningKey` as const
    const of = (pix: World, id: string) =>
      operate(pix, 'POST', `${SIGNING_KEYS}/${id}/${move}`, { reason: 'the tests' })
    return [
      row(operation, 'not_found', (pix) => of(pix, NOBODY)),
      row(operation, 'signing_key_state_conflict', async (pix) => of(pix, await unmovable(pix, move))),
      row(operation, 'signing_key_too_soon', async (pix) => of(pix, await moved(pix, move))),
    ]
  }),

  row('getBankBehavior', 'partner_unavailable', (pix) => send(pix, 'getBankBehavior')),
  row('getBankBook', 'partner_unavailable', (pix) => send(pix, 'getBankBook')),
  row('changeBankBehavior', 'partner_unavailable', (pix) => send(pix, 'changeBankBehavior')),
]

/** Every request. */
export const ROWS: readonly Row[] = [
  ...GENERAL,
  ...OF_CASH_OUTS,
  ...OF_REFUNDS,
  ...OF_REQUESTED_REFUNDS,
  ...OF_LEVERS,
  ...PARTICULAR,
]

function operationIds(): readonly OperationId[] {
  return Object.keys(endpoints) as OperationId[]
}

/** In what a request differs from one that is right. */
interface Change {
  /** Instead of its own. */
  readonly method?: string
  /** Of something that exists. */
  readonly id?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

const KEY = { 'idempotency-key': 'k' }

const BAKERY = { pixKey: 'padaria@example.com', merchantName: 'Padaria Central', merchantCity: 'Recife' }

/** What the browser and the console's script add. */
const FROM_THE_CONSOLE = { 'sec-fetch-site': 'same-origin', 'x-pixgate-console': 'user' }

const NOBODY = '0198c0de-3f00-7000-8000-1a2b3c4d5e6f'

/** A token that was never given out. */
const NO_PAGE = 'AAAAAAAAAAAAAAAAAAAAAA'

/** Sends what the documentation shows as an example, about something that does not exist unless an id is given. */
async function send(pix: World, operation: OperationId, change: Change = {}): Promise<Answer> {
  const definition: Endpoint = endpoints[operation]
  const { method, path, auth, example } = definition
  const given = operation === 'startSession' ? { token: await operatorToken(pix, endpoints.decideApproval) } : example
  const body = change.body ?? (given === undefined ? undefined : JSON.stringify(given))
  const address = path.replace('{token}', NO_PAGE).replaceAll(/\{\w+\}/g, change.id ?? NOBODY)
  return pix.call(change.method ?? method, address, body, {
    ...(auth === 'admin' ? { authorization: `Bearer ${await operatorToken(pix, definition)}` } : {}),
    ...(operation === 'startSession' ? FROM_THE_CONSOLE : {}),
    ...(auth === 'partner'
      ? { 'x-partner-signature': signatureOf(body ?? ''), 'x-partner-timestamp': String(pix.clock.now()) }
      : {}),
    ...change.headers,
  })
}

/** A delivery whose endpoint was deleted. @returns its id */
async function undeliverable(pix: World): Promise<string> {
  const { data: endpointsOfWorld } = await pix.get('/webhook')
  if (endpointsOfWorld.length === 0) return (await pix.get('/webhook-delivery')).data[0].id
  const id = await deliveredTo(pix, '1')
  await pix.call('DELETE', `/webhook/${endpointsOfWorld[0].webhook_id}`)
  return id
}

/** The delivery of the notification that a charge was paid. */
async function deliveredTo(pix: World, value: string): Promise<string> {
  const { id } = await pix.paid(value)
  const { data } = await pix.until(`/webhook-delivery?operation_id=${id}`, ({ data }) => data[0]?.state === 'DELIVERED')
  return data[0].id
}

/** The same without a body, in a request that another server might read otherwise. */
function sendToTwoHosts(pix: World, operation: OperationId): Promise<Answer> {
  return sendRaw(pix, operation, ['Host', 'gateway.example', 'Host', 'another.example'])
}

async function sendRaw(pix: World, operation: OperationId, more: readonly string[]): Promise<Answer> {
  const { method, path }: Endpoint = endpoints[operation]
  const headers = [...more, 'Content-Length', '0']
  const request = httpRequest(new URL(path.replaceAll(/\{\w+\}/g, NOBODY), pix.url), { method, headers }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string])
  return { status: response.statusCode ?? 0, headers: new Headers(received), body: await json(response) }
}

async function asAdmin(pix: World, path: string): Promise<Answer['body']> {
  return (await pix.call('GET', path, undefined, { authorization: `Bearer ${ADMIN_TOKEN}` })).body
}

/** A charge that was paid twice: its case. */
async function openCase(pix: World): Promise<string> {
  const { id } = await pix.paid('1')
  await pix.bankAction(`charges/${id}/pay`)
  for (;;) {
    const { data } = await asAdmin(pix, `/operator/cases?operation_id=${id}`)
    if (data.length > 0) return data[0].id
    await pix.work()
  }
}

/** Decides a case as it stands, or as is said here. */
async function decideCase(pix: World, id: string, given: object = {}, headers = {}): Promise<Answer> {
  const { version } = await asAdmin(pix, `/operator/cases/${id}`)
  const body = { decision: 'write_off', reason: 'the tests', version, ...given }
  return operate(pix, 'POST', `/operator/cases/${id}/decisions`, body, headers)
}

/** A decision that somebody proposed, where each takes two people. */
async function proposal(pix: World, name: string, given: object = {}) {
  const id = await openCase(pix)
  const authorization = `Bearer ${await makeOperator(pix, 'operator', name)}`
  const { body } = await decideCase(pix, id, given, { authorization })
  return { id, proposalId: body.proposalId }
}

/** A withdrawal that somebody asked for, and that is more than is available since. */
async function unpayable(pix: World, name: string) {
  await pix.paid('1000')
  const by = { authorization: `Bearer ${await makeOperator(pix, 'operator', name)}` }
  const [{ amount }] = await pix.get('/organization/balance')
  const { status, body } = await adjust(pix, -Math.round(amount * 100), by)
  assert.equal(status, 202, JSON.stringify(body))
  assert.equal((await adjust(pix, -1)).status, 201)
  return { id: body.caseId, proposalId: body.proposalId, by }
}

function sayToProposal(
  pix: World,
  { id, proposalId }: { readonly id: string; readonly proposalId: string },
  token: string,
  body: object = endpoints.decideCaseProposal.example,
): Promise<Answer> {
  const { method, path } = endpoints.decideCaseProposal
  const url = path.replace('{id}', id).replace('{proposalId}', proposalId)
  return pix.call(method, url, body, { authorization: `Bearer ${token}` })
}

/** Asks for a charge; it is always the same one unless something is said here. */
function create(pix: World, transaction: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
  return pix.call('POST', '/api/pix/cash-in', { transaction: { value: 1, externalId: 'a', ...transaction } }, headers)
}

/** Sends a real to a Pix key. */
export function payToKey(pix: World, transaction: object = {}, recipient: object = {}, headers = {}): Promise<Answer> {
  const body = {
    transaction: { value: 1, externalId: 'to-key', ...transaction },
    recipient: { pixKey: BAKERY.pixKey, pixKeyType: 'email', ...recipient },
  }
  return pix.call('POST', '/api/pix/cash-out', body, headers)
}

/** Pays a real for a code without an amount. */
function payCode(pix: World, transaction: object = {}, recipient: object = {}, headers = {}): Promise<Answer> {
  const body = {
    transaction: { pixCode: buildStaticBrCode(BAKERY), value: 1, externalId: 'for-code', ...transaction },
    recipient,
  }
  return pix.call('POST', '/api/pix/cash-out-qrcode', body, headers)
}

const REFUNDABLE_MS = limits.refundDeadlineDays * 86_400_000

/** Gives a real back. */
function refund(pix: World, cashInId: string, more: object = {}, headers = {}): Promise<Answer> {
  return pix.call('POST', `/api/pix/refund-in/${cashInId}`, { refundValue: 1, externalId: 'a', ...more }, headers)
}

const refunders = new WeakMap<World, Promise<string>>()

/** One operator of each world, as keys of idempotency are an operator's own. */
async function refunder(pix: World): Promise<string> {
  const token = refunders.get(pix) ?? makeOperator(pix, 'operator', 'Nara')
  refunders.set(pix, token)
  return `Bearer ${await token}`
}

/** The same as an operator. */
async function refundAsOperator(
  pix: World,
  cashInId: string,
  { refundValue = 1, ...more }: { refundValue?: number; reason?: string } = {},
  headers = {},
): Promise<Answer> {
  const authorization = await refunder(pix)
  const about = { cashInId, valueCents: Math.round(refundValue * 100), reason: 'the tests', externalId: 'b', ...more }
  return operate(pix, 'POST', '/operator/refunds', about, { authorization, ...headers })
}

type RequestedRefund = Awaited<ReturnType<typeof requestRefund>>

/** A refund so large that it waits for a second person. */
async function requestRefund(
  pix: World,
  { valueCents = 100_000, ...more }: { valueCents?: number; externalId?: string } = {},
) {
  const { id: cashInId } = await pix.paid(String(valueCents / 100))
  const by = { authorization: await refunder(pix) }
  const body = { cashInId, valueCents, reason: 'the tests', ...more }
  const { status, body: made } = await operate(pix, 'POST', '/operator/refunds', body, by)
  assert.equal(status, 202, JSON.stringify(made))
  return { id: made.caseId, proposalId: made.proposalId, cashInId, by }
}

/** Lets time pass until a full hour in São Paulo, of the next day at the latest. */
function passUntilHour({ clock }: World, hour: number): void {
  const HOUR_MS = 3_600_000
  const DAY_MS = 24 * HOUR_MS
  clock.advance(DAY_MS - ((clock.now() - (hour + 3) * HOUR_MS) % DAY_MS))
}

function subscribe(pix: World, url: string): Promise<Answer> {
  return pix.call('POST', '/webhook', subscription(url))
}

function subscription(url: string): object {
  return { url, events: ['pix_cash_in'] }
}

export function operate(pix: World, method: string, path: string, body: object, headers = {}): Promise<Answer> {
  return pix.call(method, path, body, { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers })
}

const SIGNING_KEYS = '/operator/signing-keys'

/** Makes a signing key and lets it sign at once. @returns the ids of the keys by their states, as they are then */
async function rotate(pix: World): Promise<Readonly<Record<string, string>>> {
  await operate(pix, 'POST', SIGNING_KEYS, { reason: 'the tests' })
  const { next } = await signingKeys(pix)
  await operate(pix, 'POST', `${SIGNING_KEYS}/${next}/promote`, { reason: 'the tests', force: true })
  return signingKeys(pix)
}

async function signingKeys(pix: World): Promise<Readonly<Record<string, string>>> {
  const { data } = (await pix.call('GET', SIGNING_KEYS, undefined, { authorization: `Bearer ${ADMIN_TOKEN}` })).body
  return Object.fromEntries(data.map(({ id, state }: { id: string; state: string }) => [state, id]))
}

/** A signing key of which this is not possible. */
async function unmovable(pix: World, move: 'promote' | 'retire'): Promise<string> {
  const { previous, current } = await rotate(pix)
  return (move === 'promote' ? previous : current) ?? ''
}

/** A signing key that was made or replaced just now. */
async function moved(pix: World, move: 'promote' | 'retire'): Promise<string> {
  if (move === 'retire') return (await rotate(pix)).previous ?? ''
  await operate(pix, 'POST', SIGNING_KEYS, { reason: 'the tests' })
  return (await signingKeys(pix)).next ?? ''
}

function turnPayouts(pix: World, enabled: boolean): Promise<Answer> {
  return operate(pix, 'PUT', '/operator/cash-out-switch', { enabled, reason: 'the tests' })
}

/** Answer to the second of two approvers who decide the same payout. */
async function approvedByTwo(pix: World, id: string): Promise<Answer> {
  await send(pix, 'decideApproval', { id })
  const token = await makeOperator(pix, 'approver', 'another')
  return send(pix, 'decideApproval', { id, headers: { authorization: `Bearer ${token}` } })
}

function adjust(pix: World, valueCents: number, headers = {}): Promise<Answer> {
  return operate(pix, 'POST', '/operator/adjustments', { valueCents, reason: 'the tests' }, headers)
}

/** Makes a charge that failed, where the bank can be reached. @returns its id */
async function failedCashIn(pix: World): Promise<string> {
  const { id } = await pix.charge('1')
  await pix.call('POST', `/sandbox/cash-in/${id}/fail`)
  return id
}

/** Makes a payout, whether the bank can be reached or not. @returns its id */
async function fundedCashOut(pix: World): Promise<string> {
  for (const half of [50, 50]) assert.equal((await adjust(pix, half)).status, 201)
  return (await pix.cashOut({ value: 1 })).id
}

/** Makes a refund, whether the bank can be reached or not. @returns its id */
async function fundedRefund(pix: World): Promise<string> {
  const { id } = await pix.charge('1')
  // One reference names one charge, also where the bank sent none.
  const transactionId = (await pix.read(id)).providerTransactionId ?? id
  await postEvent(
    pix,
    paidEvent({ id, valueCents: 100, providerTransactionId: transactionId }, { eventId: id, endToEndId: id }),
  )
  await pix.becomes(id, 'PAID')
  return (await pix.refundIn(id, 1)).id
}
