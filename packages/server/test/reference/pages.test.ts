import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import test from 'node:test'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import {
  cashIn,
  cashOut,
  type Endpoint,
  endpoints,
  errors,
  eventTypes,
  refundIn,
  serviceEndpoints,
} from '@pixgate/spec'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { surfaces } from '../../../../scripts/generate/sdk-surface.ts'
import { merchantExamples } from '../../../sdk/test/merchant-examples.ts'
import { operatorExamples } from '../../../sdk/test/operator-examples.ts'
import { webhookHeaders } from '../../src/platform/http/openapi.ts'
import { good } from '../platform/http/thing-server.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'
import { served } from './served.ts'

const PATHS = ['/', '/docs', '/docs/errors', '/docs/erros', '/openapi.json', '/collection.json', '/llms.txt'] as const
const PAGES = PATHS.slice(0, 4)

test('[reference.1] every document is answered to anyone, with its type, and may be kept', async (t) => {
  const { read, log } = await served(t)
  for (const path of PATHS) {
    const { status, headers, text } = await read(path)
    assert.equal(status, 200, path)
    assert.ok(text.length > 500, path)
    assert.match(headers.get('content-type') ?? '', PAGES.includes(path as '/') ? /^text\/html/ : /json|plain/, path)
    assert.equal(headers.get('cache-control'), 'public, max-age=300', path)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
    assert.ok(headers.has('x-correlation-id'), path)
  }
  assert.deepEqual(
    log.map(({ route }) => route),
    PATHS,
  )
})

test('[reference.1] who has the present version gets 304 and no body; a stale one gets the new', async (t) => {
  const { read } = await served(t)
  for (const path of PATHS) {
    const etag = (await read(path)).headers.get('etag') ?? ''
    assert.match(etag, /^"[\w-]{22}"$/)
    for (const known of [etag, `W/${etag}`, `"old", ${etag}`, '*']) {
      const { status, headers, text } = await read(path, { headers: { 'if-none-match': known } })
      assert.deepEqual([status, text, headers.get('etag')], [304, '', etag], `${path} ${known}`)
    }
    assert.equal((await read(path, { headers: { 'if-none-match': '"old"' } })).status, 200)
  }
})

test('[reference.1] HEAD is answered as GET is, without the body; another method is 405', async (t) => {
  const { read } = await served(t)
  for (const path of PATHS) {
    const { status, headers, text } = await read(path, { method: 'HEAD' })
    const got = await read(path)
    assert.deepEqual([status, text], [200, ''])
    assert.equal(headers.get('content-length'), got.headers.get('content-length'), path)
    assert.equal(headers.get('etag'), got.headers.get('etag'))
    const refused = await read(path, { method: 'POST' })
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD'], path)
  }
})

test('[reference.1] parameters that caches and links add change nothing', async (t) => {
  const { read } = await served(t)
  assert.equal((await read('/docs?utm_source=x')).text, (await read('/docs')).text)
})

/** A link that is none of ours: a path of the service, an anchor, or the icon that is nothing. */
const ELSEWHERE = /(?:src|href)="(?!\/(?![/\\])|#|data:,")/i

test('[reference.2] a page loads its own style and script and nothing else, and its policy says so', async (t) => {
  const { read } = await served(t)
  for (const path of PATHS) {
    const { headers, text } = await read(path)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/)
    assert.doesNotMatch(policy, /unsafe|https?:|\*/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    if (!PAGES.includes(path as '/')) continue
    assert.doesNotMatch(
      text,
      /<script(?! defer src="\/docs\/assets\/)|<iframe|<img|<object|\son\w+=|style="|javascript:/i,
      path,
    )
    assert.doesNotMatch(text, ELSEWHERE, `${path} leads elsewhere`)
  }
})

test('[reference.3] the type of a problem leads to its cause and cure, from whichever path it was answered', async (t) => {
  const pix = await world(t)
  const answered = [
    await pix.call('GET', '/nothing'),
    await pix.call('DELETE', '/organization/balance'),
    await pix.call('GET', `/api/pix/cash-in/${'0'.repeat(8)}-0000-7000-8000-000000000000`),
    await pix.call('POST', '/api/pix/cash-in', { transaction: { value: 0, externalId: 'a' } }),
    await pix.call('GET', '/api/pix/cash-in', undefined, { authorization: 'none' }),
  ]
  assert.deepEqual(
    answered.map(({ status }) => status),
    [404, 405, 404, 422, 401],
  )
  for (const { body } of answered) {
    const address = new URL(body.type, `${pix.url}/api/pix/cash-in`)
    const text = await (await fetch(address)).text()
    assert.ok(text.includes(`<section id="${address.hash.slice(1)}">`), body.type)
    assert.equal(address.hash.slice(1), body.code)
  }
})

test('[reference.3] the page of errors has a section for every code, in English and in Portuguese', async (t) => {
  const { read } = await served(t)
  for (const [path, language, title] of [
    ['/docs/errors', 'en', 'Errors'],
    ['/docs/erros', 'pt-BR', 'Erros'],
  ] as const) {
    const { text } = await read(path)
    assert.ok(text.includes(`<html lang="${language}">`), path)
    assert.ok(text.includes(`<h1>${title}</h1>`), path)
    for (const code of Object.keys(errors)) assert.ok(text.includes(`<section id="${code}">`), code)
  }
})

test('[reference.4] the reference shows every endpoint and every notification, of production none that it has not', async (t) => {
  const ids = Object.keys(endpoints)
  const sandbox = (await (await served(t)).read('/docs')).text
  for (const id of [...ids, ...eventTypes]) assert.ok(sandbox.includes(`<section id="${id}">`), id)
  const production = await served(t, false)
  const { text } = await production.read('/docs')
  assert.ok(text.includes('<section id="createCashIn">'))
  assert.ok(!text.includes('<section id="payCashIn">'))
})

test('[reference.4] [reference.8] the reference shows the headers of an answer', async (t) => {
  const { text } = await (await served(t)).read('/docs')
  const [, section = ''] = text.split('<section id="createCashIn">')
  for (const name of ['Location', 'Idempotent-Replayed'])
    assert.ok(section.includes(`<td><code>${name}</code></td>`), name)
})

test('[reference.9] each status is explained, in the document and on the page, and what a client does about it', async (t) => {
  const { read } = await served(t)
  const { text } = await read('/docs')
  const { components } = JSON.parse((await read('/openapi.json')).text)
  for (const machine of [cashIn, cashOut, refundIn]) {
    const title = `${machine.resource.replaceAll(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase())}Status`
    const [, section = ''] = text.split(`<h3 id="${title}">`)
    for (const state of machine.states) {
      assert.ok(section.split('</table>')[0]?.includes(`<td><code>${state}</code></td><td>`), `${title} ${state}`)
      assert.match(components.schemas[title].description, new RegExp(`\`${state}\`: [A-Z\`].+\\.`))
    }
    assert.ok(text.includes(`<a href="#${title}">`))
  }
})

/** The text of a page as its reader sees it. */
function unescaped(text: string): string {
  const characters: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }
  return text.replaceAll(/<[^>]+>/g, '').replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => characters[entity] ?? '')
}

/** What stands in the blocks of code of a page. */
function codeBlocks(page: string): readonly string[] {
  return [...page.matchAll(/<pre tabindex="0"><code>([\s\S]*?)<\/code><\/pre>/g)].map(([, text = '']) =>
    unescaped(text),
  )
}

test('[reference.10] [webhooks.8] a receiver that verifies as the page shows takes what is sent, and nothing else', async (t) => {
  const pix = await world(t)
  await pix.paid('10')
  await pix.receiver.arrived(1)
  const [{ headers, body } = assert.fail('nothing arrived')] = pix.receiver.received
  for (const name of webhookHeaders) assert.ok(name.name.toLowerCase() in headers, name.name)
  const page = await (await fetch(`${pix.url}/docs`)).text()
  const shown = codeBlocks(page).find((block) => block.includes('isAuthentic')) ?? ''
  const isAuthentic = (rawBody: Buffer) =>
    runInNewContext(`${shown.replace(/^import .*$/m, '')}\nisAuthentic`, {
      ...{ createPublicKey, verify, Buffer },
      ...{ request: { headers }, rawBody, pem },
    })
  const pem = await (await fetch(`${pix.url}/public-key`)).text()
  assert.equal(isAuthentic(body), true)
  assert.equal(isAuthentic(Buffer.concat([body, Buffer.from(' ')])), false)
})

test('[reference.4] the document that is served has no fault, and names what this process answers', async (t) => {
  for (const isSandbox of [true, false]) {
    const { read } = await served(t, isSandbox)
    const { text } = await read('/openapi.json')
    const found = await lintFromString({ source: text, config: await createConfig({ extends: ['recommended'] }) })
    assert.deepEqual(found, [])
    assert.equal('/sandbox/behavior' in JSON.parse(text).paths, isSandbox)
  }
})

test('[reference.5] the first steps work as the pages show them: a payment, and the statement of its day', async (t) => {
  const pix = await world(t)
  for (const path of ['/', '/docs']) {
    const [shown = ''] = codeBlocks(await (await fetch(pix.url + path)).text())
    const { stdout } = await promisify(execFile)('sh', [
      '-euc',
      shown.replace('PIXGATE_ADMIN_TOKEN=…', `PIXGATE_ADMIN_TOKEN=${ADMIN_TOKEN}`),
    ])
    const lines = stdout.trim().split('\n')
    assert.match(lines[0] ?? '', /^pix_test_/, path)
    assert.ok(
      lines.some((line) => line.includes('"status":"PAID"')),
      path,
    )
    assert.match(lines.at(-1) ?? '', /^[\d-]+,[\d:]+,Pix recebido,/, path)
  }
})

test('[reference.5] the TypeScript of every operation is the example of its method, which runs as a test', async (t) => {
  const { text } = await (await served(t)).read('/docs')
  // The process runs the examples without their types.
  const words = (code: string) => code.replaceAll('as const', '').replaceAll(/\s+/g, ' ').trim()
  const examples = { merchant: merchantExamples, operator: operatorExamples }
  for (const client of ['merchant', 'operator'] as const) {
    for (const [id, { name }] of Object.entries(surfaces[client])) {
      const ran = new Map<string, () => Promise<void>>(Object.entries(examples[client]))
      const [, body = ''] = /=> \{(.*)\}$/s.exec(String(ran.get(name))) ?? []
      const [, section = ''] = text.split(`<section id="${id}">`)
      const [, shown = ''] = section.split('</section>')[0]?.split('<figcaption>TypeScript</figcaption>') ?? []
      assert.equal(words(codeBlocks(shown)[0] ?? 'nothing'), words(body), id)
    }
  }
})

test('[operators.8] [reference.5] where operators have a port of their own, the first steps make their key there', async (t) => {
  const pix = await world(t, { PIXGATE_OPERATOR_PORT: '0' })
  const [shown = ''] = codeBlocks(await (await fetch(pix.url)).text())
  assert.ok(shown.includes(`PIXGATE_OPERATOR_URL=${pix.operatorUrl}\n`))
  const { stdout } = await promisify(execFile)('sh', [
    '-euc',
    shown.replace('PIXGATE_ADMIN_TOKEN=…', `PIXGATE_ADMIN_TOKEN=${ADMIN_TOKEN}`),
  ])
  assert.match(stdout, /"status":"PAID"/)
})

test('[operators.8] where operators have a port of their own, every document says so of what is answered there, and of nothing else', async (t) => {
  const operators = 'http://127.0.0.1:4711'
  for (const isSandbox of [true, false]) {
    const { read } = await served(t, isSandbox, operators)
    const { text: openApi } = await read('/openapi.json')
    const { paths } = JSON.parse(openApi)
    const found = await lintFromString({ source: openApi, config: await createConfig({ extends: ['recommended'] }) })
    assert.deepEqual(found, [])
    const [page, llms] = [(await read('/docs')).text, (await read('/llms.txt')).text]
    const collection = JSON.parse((await read('/collection.json')).text)
    const requests: readonly string[] = collection.item.flatMap(({ item }: Collected) =>
      item.map(({ request }) => `${request.method} ${request.url.raw}`),
    )
    for (const { id, method, path, auth, tag } of Object.values<Endpoint>(isSandbox ? endpoints : serviceEndpoints)) {
      const isApart = (auth === 'admin' && tag !== 'Health') || tag === 'Console'
      const { servers, 'x-codeSamples': samples } = paths[path][method.toLowerCase()]
      const at = isSandbox ? operators : 'https://{host}'
      assert.equal(servers?.[0].url, isApart ? at : undefined, id)
      const [, section = ''] = page.split(`<section id="${id}">`)
      const own = section.split('</section>')[0] ?? ''
      if (samples)
        for (const text of [samples[0].source, own]) assert.equal(text.includes('$PIXGATE_OPERATOR_URL'), isApart, id)
      assert.equal(own.includes('Answered at the operator’s port.'), isApart, id)
      assert.equal(new RegExp(`^- \`${method} ${path}\`: .+operator’s port`, 'm').test(llms), isApart, id)
      const elsewhere = `${method} {{${isApart ? 'baseUrl' : 'operatorUrl'}}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
      assert.ok(!requests.includes(elsewhere), elsewhere)
    }
    assert.deepEqual(
      collection.variable.find(({ key }: { key: string }) => key === 'operatorUrl'),
      { key: 'operatorUrl', value: isSandbox ? operators : '' },
    )
    for (const path of isSandbox ? [] : PATHS) assert.ok(!(await read(path)).text.includes('4711'), path)
  }
})

interface Collected {
  readonly item: readonly { readonly request: { readonly method: string; readonly url: { readonly raw: string } } }[]
}

test('[reference.5] the address is the one at which the service listens, whatever a request calls it', async (t) => {
  const { url, read } = await served(t)
  const { hostname, port } = new URL(url)
  for (const path of ['/', '/docs', '/collection.json']) {
    const request = httpRequest({ hostname, port, path, headers: { host: 'evil.example' } }).end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const first = await readText(response)
    assert.ok(first.includes(url), path)
    assert.ok(!first.includes('evil.example'), path)
    assert.equal((await read(path)).text, first)
  }
})

test('[reference.5] in production nothing leads to the controls of a sandbox, nor to an address of its own', async (t) => {
  const { url, read } = await served(t, false)
  for (const path of ['/', '/docs', '/collection.json']) {
    const { text } = await read(path)
    assert.ok(!text.includes('/sandbox/'), path)
    assert.ok(!text.includes('127.0.0.1') && !text.includes(url), path)
  }
  const { variable } = JSON.parse((await read('/collection.json')).text)
  assert.deepEqual(variable[0], { key: 'baseUrl', value: '' })
})

test('[reference.1] a key that is sent along is no fault', async (t) => {
  const { read } = await served(t)
  assert.equal((await read('/docs', { headers: good })).status, 200)
})
