import assert from 'node:assert/strict'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Endpoint, endpoints, errors, serviceEndpoints } from '@pixgate/spec'
import { builtSite } from '../../src/reference/site.ts'
import { world } from '../support/world.ts'
import { served } from './served.ts'

/** Addresses that a page names in an attribute. */
function addressesIn(text: string, ...attributes: readonly string[]): string[] {
  return [...text.matchAll(new RegExp(` (?:${attributes.join('|')})="([^"]*)"`, 'g'))].map(([, to = '']) => to)
}

test('[reference.2] the policy of the pages allows their own files alone; beside the console they have no origin', async (t) => {
  const shared = (await (await served(t)).read('/docs')).headers
  const apart = (await (await served(t, true, 'http://127.0.0.1:4711')).read('/docs')).headers
  for (const [headers, isShared] of [
    [shared, true],
    [apart, false],
  ] as const) {
    const policy = (headers.get('content-security-policy') ?? '').split('; ')
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "trusted-types 'none'"])
      assert.ok(policy.includes(rule), rule)
    assert.equal(policy.includes('sandbox allow-scripts'), isShared)
    assert.doesNotMatch(policy.join(), /unsafe|blob:|https?:/)
    assert.equal(headers.get('access-control-allow-origin'), isShared ? '*' : null)
  }
})

test('[reference.1] [operators.8] the operators’ port serves no documents', async (t) => {
  const pix = await world(t, { PIXGATE_OPERATOR_PORT: '0' })
  for (const path of ['/', '/docs', '/docs/errors', '/openapi.json'])
    assert.equal((await fetch(pix.operatorUrl + path)).status, 404, path)
})

test('[reference.13] every link of every page leads to a page and a place in it, in the sandbox and in production', async (t) => {
  for (const isSandbox of [true, false]) {
    const { read } = await served(t, isSandbox)
    const answered = Object.values<Endpoint>(isSandbox ? endpoints : serviceEndpoints).map(({ path }) => path)
    const pages = new Map<string, string>()
    const [waiting, links] = [['/'], new Set<string>()]
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const { status, text } = await read(path)
      assert.equal(status, 200, path)
      pages.set(path, text)
      for (const address of addressesIn(text, 'href', 'src', 'data-index')) {
        if (/^(?:https?|mailto|data):/.test(address)) continue
        const { pathname, hash } = new URL(address, `http://pixgate.example${path}`)
        links.add(pathname + hash)
        if (!answered.includes(pathname) && !pages.has(pathname) && !waiting.includes(pathname)) waiting.push(pathname)
      }
    }
    const ids = new Map([...pages].map(([path, text]) => [path, new Set(addressesIn(text, 'id'))]))
    const lost = [...links].filter((link) => {
      const [path = '', id] = link.split('#')
      return id !== undefined && !ids.get(path)?.has(decodeURIComponent(id))
    })
    assert.deepEqual(lost, [])
    const { pages: built } = builtSite()
    for (const { path, group } of built) if (group) assert.ok(pages.has(path), path)
  }
})

test('[reference.13] a repeated id would make its link ambiguous', async (t) => {
  const { read } = await served(t)
  for (const path of ['/docs', '/docs/errors', ...builtSite().pages.map(({ path }) => path)]) {
    const ids = addressesIn((await read(path)).text, 'id')
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
      path,
    )
  }
})

test('[reference.14] the first page is at most 100 kB compressed, with its script and style, which may be kept for ever', async (t) => {
  const { read } = await served(t)
  const { text } = await read('/docs')
  const assets = addressesIn(text, 'src', 'href').filter((address) => address.startsWith('/docs/assets/'))
  assert.equal(assets.length, 2)
  const texts = [text]
  for (const path of assets) {
    const { headers, text: asset } = await read(path)
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(headers.get('content-encoding'), 'gzip')
    texts.push(asset)
  }
  const bytes = texts.reduce((sum, one) => sum + gzipSync(one).length, 0)
  assert.ok(bytes <= 100_000, `${bytes} bytes`)
})

test('[reference.1] who takes no gzip gets the same text', async (t) => {
  const { read } = await served(t)
  const plain = await read('/docs', { headers: { 'accept-encoding': 'identity' } })
  const zipped = await read('/docs', { headers: { 'accept-encoding': 'gzip' } })
  assert.equal(plain.headers.get('content-encoding'), null)
  assert.equal(zipped.headers.get('content-encoding'), 'gzip')
  assert.equal(plain.text, zipped.text)
  assert.notEqual(plain.headers.get('etag'), zipped.headers.get('etag'))
})

test('[reference.13] raw HTML of a document is text, and no page names a file of another address', async (t) => {
  const { read } = await served(t)
  for (const { path } of builtSite().pages) {
    const { text } = await read(path)
    assert.equal(text.match(/<script/g)?.length, 1, path)
    for (const address of addressesIn(text, 'src')) assert.match(address, /^\/docs\/assets\//)
  }
})

test('[reference.15] the search index has every operation, error and guide, each language its own', async (t) => {
  const { read } = await served(t)
  for (const [language, errorsPage, guide] of [
    ['en', '/docs/errors', '/docs/guides/operator'],
    ['pt-BR', '/docs/erros', '/docs/guides/operator.pt-BR'],
  ] as const) {
    const entries: readonly { readonly url: string }[] = JSON.parse((await read(`/docs/search/${language}.json`)).text)
    const urls = new Set(entries.map(({ url }) => url))
    for (const id of Object.keys(endpoints)) assert.ok(urls.has(`/docs#${id}`), id)
    for (const code of Object.keys(errors)) assert.ok(urls.has(`${errorsPage}#${code}`), code)
    assert.ok(urls.has(guide))
    assert.ok(!urls.has(language === 'en' ? '/docs/guides/operator.pt-BR' : '/docs/guides/operator'))
  }
})
