import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, endpoints } from '@pixgate/spec'
import { createLogger } from '../../src/platform/log.ts'
import { administer } from '../support/database.ts'
import { type Path, withAt } from '../support/example-fields.ts'
import { operatorToken } from '../support/operators.ts'
import { signatureOf } from '../support/partner-events.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

/** A person who is nowhere else, in each spelling that a field may take. */
const CANARIES = ['Sabiá Laranjeira', '11144477735', '111.444.777-35', 'sabia@laranjeira.example', 11144477735] as const

const SPELLINGS = CANARIES.flatMap((canary) => {
  const text = String(canary)
  return [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1), Buffer.from(text).toString('base64')]
})

/** References, which the log names so that somebody can find them: persons are not to be put there. */
const REFERENCES: ReadonlySet<string> = new Set(['externalId', 'transactionId', 'endToEndId', 'returnId'])

function fieldsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return REFERENCES.has(String(at.at(-1))) ? [] : [at]
  const inside = Object.entries(value).flatMap(([name, part]) => fieldsOf(part, [...at, name]))
  // An unknown one, by value and by name.
  return Array.isArray(value) ? inside : [...inside, [...at, 'unknown'], [...at, String(CANARIES[0])]]
}

interface Sent {
  readonly path?: string
  readonly query?: string
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

function requestsOf({ path, query, example }: Endpoint): Sent[] {
  const body = example === undefined ? undefined : JSON.stringify(example)
  const names = Object.keys((query as { properties?: object } | undefined)?.properties ?? {})
  return CANARIES.flatMap((canary): Sent[] => {
    const text = encodeURIComponent(canary)
    const inPath = path.includes('{') ? [{ body, path: path.replaceAll(/\{\w+\}/g, text) }] : []
    const inQuery = [...names, 'unknown', text].map((name) => ({ body, query: `?${name}=${text}` }))
    const inHeaders = ['authorization', 'idempotency-key', 'cookie', 'user-agent', 'x-partner-signature', 'digest'].map(
      (name) => ({ body, headers: { [name]: String(text) } }),
    )
    const fields = example === undefined ? [] : fieldsOf(example)
    const inBody = fields.map((field) => ({ body: JSON.stringify(withAt(example, field, () => canary)) }))
    const spoiled = body === undefined ? [] : [{ body: `${JSON.stringify(canary)}${body}` }, { body: `{"${canary}` }]
    return [...inPath, ...inQuery, ...inHeaders, ...inBody, ...spoiled]
  })
}

/** Sends all of them, to an operation that does not exist. @returns how often each status was answered */
async function sendAll(pix: World): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  // Once every key is deactivated nothing else of a client is looked at.
  const { deactivateAllApiKeys, ...others } = endpoints
  for (const endpoint of [...Object.values(others), deactivateAllApiKeys] as Endpoint[]) {
    const path = endpoint.path.replaceAll(/\{\w+\}/g, '0198c0de-3f00-7000-8000-1a2b3c4d5e6f')
    for (const { path: asked = path, query = '', body, headers } of requestsOf(endpoint)) {
      const { status } = await pix.call(endpoint.method, asked + query, body, {
        ...(await credentials(pix, endpoint, body)),
        ...headers,
      })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  return statuses
}

async function credentials(pix: World, endpoint: Endpoint, body = ''): Promise<Record<string, string>> {
  const { auth } = endpoint
  if (auth === 'admin') return { authorization: `Bearer ${await operatorToken(pix, endpoint)}` }
  if (auth !== 'partner') return {}
  return { 'x-partner-signature': signatureOf(body), 'x-partner-timestamp': String(pix.clock.now()) }
}

test('[logs.1] personal data in any field of any route is in no log line and no metric, on success, refusal or failure', async (t) => {
  let log = ''
  const write = (line: string) => {
    log += line
  }
  const pix = await world(t, {}, { logger: createLogger('trace', { write }), isStepped: true })
  const answered = await sendAll(pix)
  for (let turns = 0; turns < 8; turns += 1) await pix.later(1_000_000)
  // The same with an unexpected refusal of the database, whose errors carry rows.
  await administer(
    pix.databaseUrl,
    'REVOKE INSERT ON operation, endpoint, credential, audit, inbox, inbox_event FROM pixgate_app',
  )
  const failed = await sendAll(pix)
  const scraped = await fetch(`${pix.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
  const metrics = await scraped.text()
  for (const spelling of SPELLINGS) {
    const line = log.split('\n').find((one) => one.includes(spelling))
    assert.equal(line, undefined, `${spelling} is in the log`)
    assert.ok(!metrics.includes(spelling), `${spelling} is in the metrics`)
  }
  // The test sees what there is to see.
  for (const status of [200, 201, 400, 401, 404, 422]) assert.ok(answered.has(status), `nothing was answered ${status}`)
  assert.ok((failed.get(500) ?? 0) > 20, 'nothing failed')
  assert.ok(log.includes('request failed') && log.includes('quarantine') && metrics.includes('pixgate_'))
})
