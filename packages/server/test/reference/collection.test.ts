import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, endpoints } from '@pixgate/spec'
import { collectionOf } from '../../src/reference/collection.ts'
import { llmsText } from '../../src/reference/llms.ts'

interface Item {
  readonly name: string
  readonly item?: readonly Item[]
  readonly event?: readonly { readonly script: { readonly exec: readonly string[] } }[]
  readonly request?: {
    readonly method: string
    readonly body?: { readonly raw: string }
    readonly url: {
      readonly raw: string
      readonly variable: readonly { readonly key: string; readonly value: string }[]
    }
  }
}

const all: readonly Endpoint[] = Object.values(endpoints)
const collection = JSON.parse(JSON.stringify(collectionOf(all, 'http://127.0.0.1:8080'))) as {
  readonly item: readonly Item[]
  readonly variable: readonly { readonly key: string }[]
}
const requests = collection.item.flatMap(({ item = [] }) => item)

test('[reference.4] the collection has every operation but those of the bank, each as it is called', () => {
  const expected = all.filter(({ auth }) => auth !== 'partner')
  const address = ({ method, path }: Endpoint) => `${method} {{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
  assert.deepEqual(
    requests.map(({ request }) => `${request?.method} ${request?.url.raw}`).toSorted(),
    expected.map(address).toSorted(),
  )
})

test('[reference.4] every variable of the collection is known, and every id of a path is one', () => {
  const known = collection.variable.map(({ key }) => key)
  const used = [...JSON.stringify(collection).matchAll(/\{\{([a-zA-Z]+)\}\}/g)].map(([, name = '']) => name)
  assert.deepEqual(
    [...new Set(used)].filter((name) => !known.includes(name)),
    [],
  )
  const kept = [...JSON.stringify(collection).matchAll(/variables?\.set\('(\w+)'/gi)].map(([, name = '']) => name)
  assert.deepEqual(
    known.filter((name) => !kept.includes(name)),
    ['baseUrl', 'adminToken'],
    'these are left to the reader',
  )
})

test('[reference.4] what ends the key, the receiver or the payouts stands last, for who runs it all', () => {
  assert.deepEqual(
    requests.slice(-3).map(({ name }) => name),
    [endpoints.deleteWebhook, endpoints.setCashOutSwitch, endpoints.deactivateApiKey].map(({ summary }) => summary),
  )
})

test('[reference.4] a body of the collection is the example, under a new reference each time', () => {
  const create = requests.find(({ name }) => name === endpoints.createCashIn.summary)
  const { transaction } = JSON.parse(create?.request?.body?.raw ?? '')
  assert.equal(transaction.externalId, 'order-1001-{{$timestamp}}')
  assert.equal(transaction.value, 150)
})

test('[reference.4] llms.txt begins with a title and a summary, and names every endpoint', () => {
  const text = llmsText(all, { reference: 'r', errors: 'e', openapi: 'o', collection: 'c' })
  assert.match(text, /^# Pixgate\n\n> .+\.\n/)
  for (const { method, path } of all) assert.ok(text.includes(`\`${method} ${path}\``), path)
  for (const place of ['(r)', '(e)', '(o)', '(c)']) assert.ok(text.includes(place), place)
})
