import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, endpoints, operatorRoles } from '@pixgate/spec'
import { makeOperator } from '../support/operators.ts'
import { signatureOf } from '../support/partner-events.ts'
import { ADMIN_TOKEN, type Answer, ENCRYPTION_KEY, PARTNER_SECRET, PARTNER_TOKEN, world } from '../support/world.ts'

const METRICS_TOKEN = 'metrics-token-of-the-tests-0123456789'
const STATIC_KEY = 'static-key-of-the-bank-of-the-tests-0123456789'

/** Longer than a wrong token takes something from the budget of all addresses. */
const PASSES_MS = 5_000

const NOBODY = '0198c0de-3f00-7000-8000-1a2b3c4d5e6f'

interface Credential {
  readonly opens: (endpoint: Endpoint) => boolean
  readonly headers: (now: number) => Record<string, string>
}

function refusalOf({ status, body, headers }: Answer): object {
  const { correlationId, ...rest } = body
  return { status, rest, type: headers.get('content-type'), caching: headers.get('cache-control') }
}

function bearer(token: string): () => Record<string, string> {
  return () => ({ authorization: `Bearer ${token}` })
}

test('[http.6] each credential opens its own endpoints, and gets the same 401 at all others', async (t) => {
  const pix = await world(
    t,
    {
      PIXGATE_TRUST_PROXY: '127.0.0.1',
      PIXGATE_METRICS_TOKEN: METRICS_TOKEN,
      PIXGATE_PARTNER_INBOUND_API_KEY: STATIC_KEY,
    },
    { isStepped: true },
  )
  // None is an admin: the administrative token would open less then.
  const named = operatorRoles.filter((role) => role !== 'admin')
  const operators = await Promise.all(named.map(async (role) => [role, await makeOperator(pix, role)] as const))
  const isOperators = ({ auth }: Endpoint) => auth === 'admin'
  const signed = (secret: string) => (now: number) => ({
    'x-partner-signature': signatureOf('', secret),
    'x-partner-timestamp': String(now),
  })
  const isBanks = ({ auth }: Endpoint) => auth === 'partner'
  const nothing = () => false
  const credentials: Readonly<Record<string, Credential>> = {
    nothing: { opens: nothing, headers: () => ({}) },
    'an API key': { opens: ({ auth }) => auth === 'api-key', headers: bearer(pix.apiKey) },
    'the administrative token': { opens: isOperators, headers: bearer(ADMIN_TOKEN) },
    ...Object.fromEntries(operators.map(([role, token]) => [role, { opens: isOperators, headers: bearer(token) }])),
    'the token of the metrics': { opens: ({ id }) => id === 'getMetrics', headers: bearer(METRICS_TOKEN) },
    'the bank’s signature': { opens: isBanks, headers: signed(PARTNER_SECRET) },
    'the bank’s static key': { opens: isBanks, headers: () => ({ 'x-partner-api-key': STATIC_KEY }) },
    'the bank’s static key as a token': { opens: nothing, headers: bearer(STATIC_KEY) },
    'the secret of the bank’s events as a token': { opens: nothing, headers: bearer(PARTNER_SECRET) },
    'our token at the bank': { opens: nothing, headers: bearer(PARTNER_TOKEN) },
    'the encryption key': { opens: nothing, headers: bearer(ENCRYPTION_KEY) },
    'an API key in the place of the bank’s': { opens: nothing, headers: () => ({ 'x-partner-api-key': pix.apiKey }) },
    'a signature with an API key': { opens: nothing, headers: signed(pix.apiKey) },
  }
  const guarded = (Object.values(endpoints) as Endpoint[]).filter(({ auth }) => auth !== 'none')
  const refusals = new Set<string>()
  let asked = 0
  for (const [name, { opens, headers }] of Object.entries(credentials)) {
    for (const endpoint of guarded) {
      asked += 1
      // Wrong tokens are counted by address, and in a minute.
      pix.clock.advance(PASSES_MS)
      const address = `198.51.${Math.floor(asked / 250)}.${asked % 250}`
      const path = endpoint.path.replaceAll(/\{\w+\}/g, NOBODY)
      const answer = await pix.call(endpoint.method, path, undefined, {
        authorization: '',
        'x-forwarded-for': address,
        ...headers(pix.clock.now()),
      })
      assert.equal(answer.status !== 401, opens(endpoint), `${name}: ${endpoint.id} ${answer.status}`)
      if (answer.status === 401) refusals.add(JSON.stringify(refusalOf(answer)))
    }
  }
  assert.equal(refusals.size, 1, [...refusals].join('\n'))
})
