import assert from 'node:assert/strict'
import test from 'node:test'
import { ADMIN_TOKEN, request, world } from '../support/world.ts'

/** Tools send the examples of a document as they stand there. */

interface Parameter {
  readonly name: string
  readonly in: string
  readonly example?: unknown
}

interface Operation {
  readonly parameters: readonly (Parameter | { readonly $ref: string })[]
  readonly security?: readonly object[]
}

interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>
}

test('[reference.4] the examples of all filters of a list are accepted together, its cursor included', async (t) => {
  const pix = await world(t)
  // Without an event the feed would wait for one, as its example asks.
  await pix.paid('10.00')
  const { paths } = (await (await fetch(`${pix.url}/openapi.json`)).json()) as Document
  let tried = 0
  for (const [path, { get }] of Object.entries(paths)) {
    const parameters = (get?.parameters ?? []).filter((one): one is Parameter => 'name' in one)
    const filters = parameters.filter((one) => one.in === 'query' && one.example !== undefined)
    if (get === undefined || filters.length === 0 || path.includes('{')) continue
    const query = new URLSearchParams(Object.fromEntries(filters.map(({ name, example }) => [name, String(example)])))
    const token = JSON.stringify(get.security).includes('admin') ? ADMIN_TOKEN : pix.apiKey
    const { status, body } = await request(`${pix.url}${path}?${query}`, token, 'GET')
    assert.equal(status, 200, `${path}?${query}: ${JSON.stringify(body)}`)
    tried += 1
  }
  assert.ok(tried >= 8, String(tried))
})

test('[reference.4] a pattern of the document has no half surrogates, which many tools cannot read', async (t) => {
  const pix = await world(t)
  const text = await (await fetch(`${pix.url}/openapi.json`)).text()
  assert.doesNotMatch(text, /\\ud[89a-f]/i)
  assert.match(text, /"pattern":"\^\[\^\\\\u0000/)
})
