import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { world } from '../../server/test/support/world.ts'
import { everyTable } from '../../server/test/support/written.ts'
import { browser, skip } from './support/pages.ts'

/** Requests that a foreign page can make a browser send while an admin is logged in. */

/** Runs in the foreign page: tries everything on the console at `target`. @returns what it could read, by kind */
const ATTACK = `async (target, operatorBody) => {
  const read = {}
  const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
  const tries = {
    corsGet: async () => (await fetch(target + '/operator/operations', { credentials: 'include' })).text(),
    corsWithHeader: async () => (await fetch(target + '/operator/operations', { credentials: 'include', headers: { 'X-Pixgate-Console': '1' } })).text(),
    corsJson: async () => (await fetch(target + '/operator/operators', { method: 'POST', credentials: 'include', headers: { 'Content-Type': 'application/json', 'X-Pixgate-Console': '1' }, body: operatorBody })).text(),
    corsPut: async () => (await fetch(target + '/operator/cash-out-switch', { method: 'PUT', credentials: 'include', body: '{"enabled":false,"reason":"an attack"}' })).text(),
    corsDelete: async () => (await fetch(target + '/console/session', { method: 'DELETE', credentials: 'include' })).text(),
    noCorsText: async () => (await fetch(target + '/operator/operators', { method: 'POST', mode: 'no-cors', credentials: 'include', body: operatorBody })).text(),
    noCorsGet: async () => (await fetch(target + '/operator/audit', { mode: 'no-cors', credentials: 'include' })).text(),
    keepalive: async () => (await fetch(target + '/operator/operators', { method: 'POST', mode: 'no-cors', keepalive: true, credentials: 'include', body: operatorBody })).text(),
    xhr: () => new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open('GET', target + '/console/session')
      request.withCredentials = true
      request.onload = () => resolve(request.responseText)
      request.onerror = reject
      request.send()
    }),
    beacon: async () => { navigator.sendBeacon(target + '/operator/operators', new Blob([operatorBody], { type: 'text/plain' })) },
    logInAsOther: async () => { navigator.sendBeacon(target + '/console/session', new Blob(['{"token":"pix_op_test_0"}'], { type: 'text/plain' })) },
    webSocket: () => new Promise((resolve, reject) => {
      const socket = new WebSocket(target.replace('http', 'ws') + '/operator/changes')
      socket.onopen = () => resolve('opened')
      socket.onerror = reject
    }),
    eventSource: () => new Promise((resolve, reject) => {
      const source = new EventSource(target + '/operator/changes', { withCredentials: true })
      source.onmessage = ({ data }) => resolve(data)
      source.onerror = () => { source.close(); reject(new Error()) }
    }),
  }
  const element = (name, fields) => () => new Promise((resolve, reject) => {
    const made = Object.assign(document.createElement(name), fields)
    made.onload = () => {
      let text
      try { text = made.contentDocument?.body?.innerText } catch {}
      resolve(text || (name === 'iframe' ? '' : 'loaded'))
    }
    made.onerror = () => reject(new Error())
    document.body.append(made)
  })
  tries.image = element('img', { src: target + '/operator/cases' })
  tries.script = element('script', { src: target + '/operator/operations' })
  tries.style = element('link', { rel: 'stylesheet', href: target + '/operator/operations' })
  tries.frame = element('iframe', { src: target + '/console/' })
  tries.frameOfData = element('iframe', { src: target + '/operator/operations' })
  const form = (enctype, action, fields, to) => async () => {
    const made = Object.assign(document.createElement('form'), { method: 'POST', enctype, action: target + action, target: to })
    for (const [name, value] of Object.entries(fields)) made.append(Object.assign(document.createElement('input'), { name, value }))
    document.body.append(made)
    made.submit()
  }
  document.body.append(Object.assign(document.createElement('iframe'), { name: 'sink' }))
  tries.formOfText = form('text/plain', '/operator/operators', Object.fromEntries([[operatorBody.slice(0, -1) + ',"x":"', '"}']]), 'sink')
  tries.formOverride = form('application/x-www-form-urlencoded', '/console/session', { _method: 'DELETE' }, 'sink')
  tries.formOfParts = form('multipart/form-data', '/operator/operators', { name: 'Mallory', role: 'admin' }, 'sink')
  tries.sandboxedFrame = async () => {
    const made = document.createElement('iframe')
    made.sandbox = 'allow-scripts allow-forms'
    made.srcdoc = '<script>fetch(' + JSON.stringify(target + '/operator/operators') + ', { method: "POST", mode: "no-cors", credentials: "include", body: ' + JSON.stringify(operatorBody) + ' }).then((r) => r.text()).then((t) => parent.postMessage(t, "*"))</' + 'script>'
    document.body.append(made)
  }
  addEventListener('message', ({ data }) => { if (data) read.sandboxedFrame = data })
  tries.popup = async () => {
    const opened = open(target + '/console/')
    await after(300)
    try { return opened.document.title } finally { opened?.close() }
  }
  await Promise.all(Object.entries(tries).map(async ([kind, attempt]) => {
    const found = await Promise.race([attempt().catch(() => ''), after(2000)])
    if (found) read[kind] = found
  }))
  return { kinds: Object.keys(tries).length, read }
}`

async function startForeignSite(): Promise<{ port: number; stop: () => void }> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>foreign</title><body></body>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { port: (server.address() as AddressInfo).port, stop }
}

async function attack(page: Page, from: string, target: string): Promise<{ kinds: number; read: object }> {
  await page.goto(from)
  const body = JSON.stringify({ name: 'Mallory', role: 'admin' })
  return page.evaluate(`(${ATTACK})(${JSON.stringify(target)}, ${JSON.stringify(body)})`)
}

test('[console.2] no request of a foreign page changes or reads anything while an admin is logged in', {
  skip,
}, async (t) => {
  const foreign = await startForeignSite()
  t.after(foreign.stop)
  const pix = await world(t, {}, { isStepped: true })
  await pix.charge('10')
  const target = `http://localhost:${new URL(pix.operatorUrl).port}`
  const [ana] = await pix.service.sandboxOperators()
  const context = await browser.newContext()
  t.after(() => context.close())
  const console = await context.newPage()
  await console.goto(`${target}/console/#link=${ana?.link}`)
  await console.getByRole('navigation').first().waitFor()
  await console.goto('about:blank')
  const [cookie] = await context.cookies()
  const before = await everyTable(pix.database)
  for (const host of ['localhost', '127.0.0.1', 'foreign.localhost']) {
    const page = await context.newPage()
    const sent: string[] = []
    context.on('request', (request) => sent.push(request.url()))
    const { kinds, read } = await attack(page, `http://${host}:${foreign.port}/`, target)
    assert.deepEqual(read, {}, host)
    assert.ok(kinds >= 12 && sent.filter((url) => url.startsWith(target)).length >= 12, `${host}: ${sent.length}`)
    await page.close()
  }
  assert.deepEqual(await everyTable(pix.database), before)
  const [after] = await context.cookies()
  assert.equal(after?.value, cookie?.value)
  await console.goto(`${target}/console/`)
  await console.getByRole('navigation').first().waitFor()
  const { status } = (await console.evaluate(
    `fetch('/operator/operations', { headers: { 'X-Pixgate-Console': '1' } }).then(({ status }) => ({ status }))`,
  )) as { status: number }
  assert.equal(status, 200, 'the session is still good for its own page')
})
