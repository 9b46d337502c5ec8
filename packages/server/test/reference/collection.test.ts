import assert from 'node:assert/strict'
import test from 'node:test'
import { runInNewContext } from 'node:vm'
import { type Endpoint, endpoints, serviceEndpoints } from '@pixgate/spec'
import { collectionOf } from '../../src/reference/collection.ts'
import { llmsText } from '../../src/reference/llms.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'
import { type Collection, requestsOf, runCollection } from './collection-runner.ts'

const all: readonly Endpoint[] = Object.values(endpoints)

/** What no run of the collection may do by the way: it would lock every client out; or can, as nothing waits for it. */
const NEVER_BY_THE_WAY: readonly string[] = [
  'deactivateAllApiKeys',
  'decideApproval',
  // A day is closed once.
  'closeToday',
  ...['getClose', 'exportCloseCsv', 'exportCloseOfx'],
  'getCase',
  'decideCase',
  'decideCaseProposal',
  'noteCase',
]

function collectionFor(endpoints: readonly Endpoint[]): Collection {
  return JSON.parse(JSON.stringify(collectionOf(endpoints, 'http://127.0.0.1:8080')))
}

const collection = collectionFor(all)
const requests = requestsOf(collection)

test('[reference.4] the collection has every operation but those of the bank, of the console, of emergencies, of approvals and of days that are over, each as it is called', () => {
  const expected = all.filter(
    ({ auth, id, tag }) => auth !== 'partner' && tag !== 'Console' && !NEVER_BY_THE_WAY.includes(id),
  )
  const address = ({ method, path }: Endpoint) => `${method} {{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
  const called = requests.map(({ request }) => `${request?.method} ${request?.url.raw}`)
  assert.deepEqual([...new Set(called)].toSorted(), expected.map(address).toSorted())
})

test('[reference.4] every request of the collection has a name of its own: runners go back by it', () => {
  const names = requests.map(({ name }) => name)
  assert.deepEqual([...new Set(names)], names)
})

test('[reference.11] the scripts of the collection use what every runner has', () => {
  const scripts = requests.flatMap(({ event = [] }) => event.flatMap(({ script }) => script.exec))
  assert.ok(scripts.length > 20)
  for (const line of scripts) assert.doesNotMatch(line, /globalThis|require|import|await|\bnode\b/)
})

test('[reference.11] every request of the collection fails on another status, and where JSON lacks a field', async () => {
  for (const { name, event = [] } of requests) {
    const lines = event.flatMap(({ script }) => script.exec).filter((line) => line.startsWith('pm.test('))
    const failures = (code: number, text: string) => {
      const failed: string[] = []
      const test = (what: string, hold: () => void) => {
        try {
          hold()
        } catch {
          failed.push(what)
        }
      }
      const pm = { test, response: { code, text: () => text, json: () => JSON.parse(text) } }
      runInNewContext(lines.join('\n'), { pm })
      return failed
    }
    assert.match(failures(500, '{}')[0] ?? '', /^The status is 2/, name)
    const hasShape = lines.some((line) => line.includes('has its fields'))
    assert.equal(failures(500, '{}').length, hasShape ? 2 : 1, name)
  }
})

test('[reference.11] a run with a red answer fails', async (t) => {
  const pix = await world(t)
  const served = (await (await fetch(`${pix.url}/collection.json`)).json()) as Collection
  await assert.rejects(runCollection(served, { adminToken: 'wrong' }), /The status is/)
})

test('[reference.11] without a simulated bank nothing waits for it, and no request is there for it', () => {
  const production = requestsOf(collectionFor(Object.values(serviceEndpoints)))
  assert.doesNotMatch(JSON.stringify(production), /setNextRequest|waitingSince|\/sandbox\//)
  const summaries = Object.values(serviceEndpoints).map(({ summary }) => summary as string)
  assert.deepEqual(
    production.map(({ name }) => name).filter((name) => !summaries.includes(name)),
    [
      'Create a charge to be cancelled',
      'List incoming transactions under their short path',
      'Resume payouts',
      'Take the adjustment back',
      'Remove the endpoint in your own network',
    ],
  )
})

test('[reference.11] run as a whole at a fresh sandbox the collection succeeds, and leaves it as it was', async (t) => {
  const pix = await world(t)
  const asAdmin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const standing = async () => ({
    behavior: await pix.get('/sandbox/behavior'),
    receivers: await pix.get('/webhook'),
    payouts: (await pix.call('GET', '/operator/cash-out-switch', undefined, asAdmin)).body.enabled,
    keys: (await pix.call('GET', '/api-key', undefined, asAdmin)).body.data.filter(
      ({ deactivatedAt }: { deactivatedAt: string | null }) => deactivatedAt === null,
    ),
  })
  const before = await standing()
  assert.equal(before.payouts, true)
  const served = await (await fetch(`${pix.url}/collection.json`)).json()
  for (const run of ['first', 'second']) {
    const ran = await runCollection(served as Collection, { adminToken: ADMIN_TOKEN })
    for (const { name, status, text } of ran)
      assert.ok(status >= 200 && status < 300, `${run}, ${name}: ${status} ${text}`)
    const made = ran.map(({ name }) => name)
    assert.deepEqual(
      [...new Set(made)],
      requests.map(({ name }) => name),
    )
    assert.deepEqual(await standing(), before)
  }
  await pix.assertBooksAgree()
})

test('[reference.4] llms.txt begins with a title and a summary, and names every endpoint', () => {
  const text = llmsText(all, { reference: 'r', errors: 'e', openapi: 'o', collection: 'c' })
  assert.match(text, /^# Pixgate\n\n> .+\.\n/)
  for (const { method, path } of all) assert.ok(text.includes(`\`${method} ${path}\``), path)
  for (const place of ['(r)', '(e)', '(o)', '(c)']) assert.ok(text.includes(place), place)
})
