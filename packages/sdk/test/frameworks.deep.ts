import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { endOf } from '../../../scripts/test/deploy/installation.ts'
import { NPM, projectWith } from '../../../scripts/test/pack/project.ts'
import { testPort } from '../../server/test/support/port.ts'
import { exampleEvent, signTestWebhook } from '../src/testing.ts'
import type { WebhookEvent } from '../src/webhooks.ts'

const FRAMEWORKS = [
  'express@5',
  'express-4@npm:express@4',
  'fastify@5',
  'hono@4',
  '@hono/node-server@2',
  'next@16',
  'react@19',
  'react-dom@19',
]

/** A project with the packed SDK and the frameworks, where the registry can be reached. */
let project = ''
let reason = ''
test.before(() => {
  project = projectWith(['sdk'])
  try {
    execFileSync('npm', [...NPM, ...FRAMEWORKS], { cwd: project })
    writeFileSync(join(project, 'load.mjs'), 'export const load = (name) => import(name)')
  } catch (error) {
    reason = `the frameworks cannot be installed: ${error}`
  }
})
test.after(() => rmSync(project, { recursive: true, force: true }))

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='

type Handle = (event: WebhookEvent) => unknown

/** A package as the project imports it. */
async function load(name: string) {
  const { load } = await import(pathToFileURL(join(project, 'load.mjs')).href)
  return load(name)
}

const sdk = () => load('@pixgate/sdk/webhooks')

/** @returns its address */
async function listening(t: TestContext, server: Server): Promise<string> {
  t.after(() => server.close())
  if (!server.listening) await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const express = (name: string, isBehindRaw: boolean) => async (t: TestContext, handle: Handle) => {
  const [{ default: express }, { expressWebhook }] = await Promise.all([load(name), sdk()])
  const app = express()
  const raw = isBehindRaw ? [express.raw({ type: 'application/json' })] : []
  app.post('/pix', ...raw, expressWebhook({ secret: SECRET }, handle))
  app.use(express.json())
  app.post('/json', ({ body }: { body: object }, response: { json(body: object): void }) => response.json(body))
  return listening(t, app.listen(0, '127.0.0.1'))
}

const frameworks: Readonly<Record<string, (t: TestContext, handle: Handle) => Promise<string>>> = {
  'Express 5': express('express', false),
  'Express 5 behind express.raw()': express('express', true),
  'Express 4': express('express-4', false),
  'Express 4 behind express.raw()': express('express-4', true),
  'Fastify 5': async (t, handle) => {
    const [{ default: fastify }, { fastifyWebhook }] = await Promise.all([load('fastify'), sdk()])
    const app = fastify()
    app.register(fastifyWebhook({ secret: SECRET }, handle), { prefix: '/pix' })
    app.post('/json', ({ body }: { body: object }) => body)
    t.after(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  'Hono 4': async (t, handle) => {
    const [{ Hono }, { serve }, { webhookRoute }] = await Promise.all([load('hono'), load('@hono/node-server'), sdk()])
    const route = webhookRoute({ secret: SECRET }, handle)
    const app = new Hono()
    app.post('/pix', ({ req }: { req: { raw: Request } }) => route(req.raw))
    app.post('/json', async (c: { req: { json(): object }; json(body: object): Response }) =>
      c.json(await c.req.json()),
    )
    return listening(t, serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }))
  },
}

const EVENTS = {
  paid: exampleEvent('pix_cash_in', { payer_name: 'João' }),
  failing: exampleEvent('pix_cash_out'),
} as const

/** A signed notification is accepted, one with a changed byte is not, and the handler's failure is answered 500. */
async function assertReceives(url: string): Promise<string> {
  const post = (path: string, body: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${url}${path}`, { method: 'POST', body, headers })
  // Written anew by a parser and a serializer, these bytes would be others.
  const paid = await signTestWebhook(JSON.stringify(EVENTS.paid, null, 3), { secret: SECRET })
  const failing = await signTestWebhook(EVENTS.failing, { secret: SECRET })
  const statuses = [
    await post('/pix', paid.body, paid.headers),
    await post('/pix', paid.body.replace('João', 'Joao'), paid.headers),
    await post('/pix', failing.body, failing.headers),
  ].map(({ status }) => status)
  assert.deepEqual(statuses, [204, 401, 500])
  const other = await post('/json', '{"a":1}', { 'content-type': 'application/json' })
  assert.deepEqual(await other.json(), { a: 1 }, 'other routes get JSON')
  return paid.headers['webhook-id'] ?? ''
}

for (const [name, start] of Object.entries(frameworks)) {
  test(`[sdk.11] ${name}`, async (t) => {
    if (reason !== '') return t.skip(reason)
    t.mock.method(console, 'error', () => undefined)
    const handled: string[] = []
    const url = await start(t, ({ event_type, webhookId }) => {
      if (event_type === 'pix_cash_out') throw new Error('the database is away')
      handled.push(webhookId)
    })
    assert.deepEqual(handled, [await assertReceives(url)])
  })
}

const ROUTE = `
import { webhookRoute } from '@pixgate/sdk/webhooks'

export const POST = webhookRoute({ secret: '${SECRET}' }, ({ event_type, webhookId }) => {
  if (event_type === 'pix_cash_out') throw new Error('the database is away')
  console.log('handled ' + webhookId)
})
`

const NEXT_FILES = {
  'app/layout.js': 'export default function Layout({ children }) { return <html><body>{children}</body></html> }',
  'app/page.js': 'export default function Page() { return <p>Loja</p> }',
  'app/pix/route.js': ROUTE,
  'app/json/route.js': 'export const POST = async (request) => Response.json(await request.json())',
}

test('[sdk.11] Next.js, built and started', async (t) => {
  if (reason !== '') return t.skip(reason)
  for (const [path, text] of Object.entries(NEXT_FILES)) {
    mkdirSync(join(project, path, '..'), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  const next = (...words: readonly string[]) =>
    spawn(process.execPath, [join(project ?? '', 'node_modules/next/dist/bin/next'), ...words], {
      cwd: project,
      env: { PATH: process.env.PATH, NEXT_TELEMETRY_DISABLED: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const { code, stdout, stderr } = await endOf(next('build'))
  assert.equal(code, 0, `${stdout}${stderr}`)
  const port = await testPort()
  const server = next('start', '--port', String(port), '--hostname', '127.0.0.1')
  t.after(async () => {
    server.kill()
    await once(server, 'exit')
  })
  const lines = createInterface({ input: server.stdout })
  const handled: string[] = []
  await new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line.includes('Ready')) resolve()
      if (line.startsWith('handled ')) handled.push(line.slice(8))
    })
  })
  assert.deepEqual(handled, [await assertReceives(`http://127.0.0.1:${port}`)])
})
