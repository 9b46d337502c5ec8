import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, endpoints } from '@pixgate/spec'
import { everythingStored } from '../support/everything-stored.ts'
import { type Path, withAt } from '../support/example-fields.ts'
import { operatorToken } from '../support/operators.ts'
import { type World, world } from '../support/world.ts'

const COLUMNS = [
  ...'id status state valueCents value_cents amount fee feeCents fee_cents netCents refundedCents reservedCents'.split(
    ' ',
  ),
  ...'orgId org_id organizationId apiKeyId madeBy createdBy createdAt paidAt confirmedAt expiresAtMs providerTransactionId'.split(
    ' ',
  ),
  ...'endToEndId approvedBy awaitingApproval enabledAt isAdmin admin hash token deactivatedAt constructor prototype'.split(
    ' ',
  ),
]

function objectsIn(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return [at, ...Object.entries(value).flatMap(([name, inner]) => objectsIn(inner, [...at, name]))]
}

function isDeclared(schema: unknown, [name, ...rest]: Path, field: string): boolean {
  const { properties = {}, anyOf = [] } = schema as { properties?: Record<string, unknown>; anyOf?: unknown[] }
  if (anyOf.some((one) => isDeclared(one, name === undefined ? [] : [name, ...rest], field))) return true
  if (name === undefined) return Object.hasOwn(properties, field)
  return Object.hasOwn(properties, name) && isDeclared(properties[name], rest, field)
}

async function asker(pix: World, endpoint: Endpoint): Promise<Record<string, string>> {
  return endpoint.auth === 'admin' ? { authorization: `Bearer ${await operatorToken(pix, endpoint)}` } : {}
}

test('[http.7] no field of a body assigns an internal field: it is 400 with its name, and nothing has changed', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const { id } = await pix.charge('10.00')
  const definitions = (Object.values(endpoints) as Endpoint[]).filter(
    ({ body, example, auth }) => body !== undefined && example !== undefined && ['api-key', 'admin'].includes(auth),
  )
  const headers = new Map<Endpoint, Record<string, string>>()
  for (const definition of definitions) headers.set(definition, await asker(pix, definition))
  // Each credential has logged in.
  for (const [definition, sent] of headers) await pix.call(definition.method, definition.path, '{', sent)
  const before = await everythingStored(pix.database)
  let tried = 0
  for (const definition of definitions) {
    const path = definition.path.replaceAll(/\{\w+\}/g, id)
    for (const at of objectsIn(definition.example)) {
      for (const field of COLUMNS) {
        if (isDeclared(definition.body, at, field)) continue
        const body = withAt(definition.example, at, (object) => ({ ...(object as object), [field]: 1 }))
        const answer = await pix.call(definition.method, path, body, headers.get(definition))
        const name = [...at, field].join('.')
        const what = `${definition.id} ${name}: ${JSON.stringify(answer.body)}`
        assert.equal(answer.status, 400, what)
        assert.ok(
          answer.body.errors.some((error: { field: string }) => error.field === name),
          what,
        )
        tried += 1
      }
    }
  }
  assert.ok(tried > 300, `${tried} were tried`)
  assert.deepEqual(await everythingStored(pix.database), before)
})
