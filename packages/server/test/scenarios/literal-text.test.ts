import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { type Endpoint, endpoints } from '@pixgate/spec'
import { assertBooks } from '../support/books.ts'
import { textsIn, withAt } from '../support/example-fields.ts'
import { operatorToken } from '../support/operators.ts'
import { tcpProxy, through } from '../support/tcp-proxy.ts'
import { type World, world } from '../support/world.ts'

/** In every text of ours here, so that it is known again. */
const MARK = 'zq7'

/** Texts that a concatenated statement would execute. */
const TEXTS = [
  ...["' OR '1'='1", "'; DROP TABLE operation; --", "' UNION SELECT hash FROM api_key --"],
  ...["\\' OR 1=1 --", "'||(SELECT 1)||'", '$$; DROP TABLE move; $$', '$1::text', "E'\\x27'"],
  ...['%27%20OR%201=1', '_%', '＇ OR 1=1', '{"$ne":null}'],
].map((text) => `${text}${MARK}`)

const EVERYWHERE = TEXTS.filter((_, index) => index % 2 === 0)

/** Statements that PostgreSQL parses, read off the wire. */
interface Parsed {
  readonly statements: readonly string[]
  readonly reach: (databaseUrl: string) => Promise<string>
}

const PARSE = 'P'.charCodeAt(0)
const QUERY = 'Q'.charCodeAt(0)
const HEAD_BYTES = 5

/** A way to the database that writes down the text of every statement, without its parameters. */
function parsedOn(t: TestContext): Parsed {
  const statements: string[] = []
  const rests = new Map<number, Buffer>()
  /** Takes whole messages off the front. The first one of a connection has no type. */
  function read(bytes: Buffer, isFirst: boolean): Buffer {
    let rest = bytes
    if (isFirst) rest = rest.subarray(rest.readInt32BE(0))
    while (rest.length >= HEAD_BYTES && rest.length >= 1 + rest.readInt32BE(1)) {
      const length = 1 + rest.readInt32BE(1)
      if ([PARSE, QUERY].includes(rest.readUInt8(0))) statements.push(rest.toString('utf8', HEAD_BYTES, length))
      rest = rest.subarray(length)
    }
    return rest
  }
  return {
    statements,
    reach: async (databaseUrl) => {
      const proxy = await tcpProxy(t, Number(new URL(databaseUrl).port))
      proxy.judge = (direction, bytes, connection) => {
        const rest = rests.get(connection)
        if (direction === 'request')
          rests.set(connection, read(Buffer.concat([rest ?? Buffer.of(), bytes]), rest === undefined))
        return 'pass'
      }
      return through(proxy, databaseUrl)
    },
  }
}

interface Asked {
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

function requestsWith({ path, query, example }: Endpoint, text: string): Asked[] {
  const to = path.replaceAll(/\{\w+\}/g, '0198c0de-3f00-7000-8000-1a2b3c4d5e6f')
  const written = encodeURIComponent(text)
  const names = Object.keys((query as { properties?: object } | undefined)?.properties ?? {})
  return [
    ...(path.includes('{') ? [{ path: path.replaceAll(/\{\w+\}/g, written), body: example }] : []),
    ...names.map((name) => ({ path: `${to}?${name}=${written}`, body: example })),
    ...textsIn(example).map((at) => ({ path: to, body: withAt(example, at, () => text) })),
    ...(example ? [{ path: to, body: example, headers: { 'idempotency-key': written } }] : []),
  ]
}

const { deactivateAllApiKeys, setCashOutSwitch, ...OTHERS } = endpoints

async function askAll(pix: World, asked: readonly Endpoint[], text: string): Promise<void> {
  for (const endpoint of asked) {
    if (endpoint.auth === 'partner') continue
    const { auth, id, method } = endpoint
    const credential = auth === 'admin' ? { authorization: `Bearer ${await operatorToken(pix, endpoint)}` } : {}
    for (const { path, body, headers } of requestsWith(endpoint, text)) {
      const answer = await pix.call(method, path, body, { ...credential, ...headers })
      const { status, body: told } = answer
      assert.ok(status < 500 || told.code === 'partner_unavailable', `${id} ${path}: ${status} ${told.code}`)
      if (status !== 200 || !path.includes('?external_id=')) continue
      for (const { externalId } of told.data) assert.equal(externalId, text, path)
    }
  }
}

test('[database.12] any text of a caller is a parameter: no statement contains it, and it finds only itself', async (t) => {
  const { statements, reach } = parsedOn(t)
  const pix = await world(t, {}, { isStepped: true, reach })
  for (const text of EVERYWHERE) await askAll(pix, Object.values(OTHERS), text)
  for (const own of TEXTS) {
    const text = `${own} of the last`
    const transaction = { value: 1, externalId: text, description: text }
    const payer = { fullName: text, document: '52998224725' }
    const made = await pix.call('POST', '/api/pix/cash-in', { transaction, payer })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const found = await pix.get(`/api/pix/cash-in?external_id=${encodeURIComponent(text)}`)
    const told = found.data.map((one: Record<string, unknown>) => [one.id, one.externalId, one.description])
    assert.deepEqual(told, [[made.body.id, text, text]])
  }
  for (const text of EVERYWHERE) await askAll(pix, [setCashOutSwitch, deactivateAllApiKeys], text)
  await pix.later(1_000)
  assert.ok(statements.length > 50, `${statements.length} were parsed`)
  assert.deepEqual(
    statements.filter((statement) => statement.includes(MARK)),
    [],
  )
  await assertBooks(pix.database)
})
