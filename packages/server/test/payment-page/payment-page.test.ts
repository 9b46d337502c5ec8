import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import { readConfig } from '../../src/config.ts'
import { textOn } from '../../src/payment-page/look.ts'
import { createPageTokens, createPaymentPageHandlers } from '../../src/payment-page/routes.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'
import type { RequestContext } from '../../src/platform/http/handler.ts'
import { capturedLog } from '../support/captured-log.ts'
import { databaseLink } from '../support/database-link.ts'
import { configFaults, PRODUCTION } from '../support/environment.ts'
import { ADMIN_TOKEN, type Answer, type World, world } from '../support/world.ts'
import { guessTokens } from './guesses.ts'

/** A token that was never given out. */
const NOBODY = 'AAAAAAAAAAAAAAAAAAAAAA'

const AS_OPERATOR = { authorization: `Bearer ${ADMIN_TOKEN}` }

const installation = statement<[], { id: string }>('test.installation', 'SELECT id FROM installation')

async function installationOf({ database }: World): Promise<string> {
  return (await database.rows(installation, []))[0]?.id ?? ''
}

function pathOf({ paymentUrl }: { readonly paymentUrl: string }): string {
  return new URL(paymentUrl).pathname
}

/** Asks again while a busy machine's database takes more than its second to connect, as 503 tells a client to. */
async function visit(pix: World, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  let answer = await pix.call('GET', path, undefined, headers)
  while (answer.status === 503) answer = await pix.call('GET', path, undefined, headers)
  return answer
}

/** The state that the page of a charge shows: of the page and of its script. */
async function shown(pix: World, path: string): Promise<string> {
  const { body } = await visit(pix, path)
  const { state } = (await visit(pix, `${path}/state`)).body
  assert.ok(body.includes(`data-state="${state}"`))
  return state
}

test('[payment-page.1] the page of a charge has its amount, code, QR code, description, expiry and the name of the merchant', async (t) => {
  const pix = await world(t)
  const charge = await pix.charge('1234.50', { description: 'Pedido <1> & "2"', expirationTime: 3600 })
  const { status, headers, body } = await visit(pix, pathOf(charge))
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
  for (const text of ['R$\u00a01.234,50', charge.pixCode, 'Loja Exemplo', 'Pedido &lt;1&gt; &amp; &quot;2&quot;']) {
    assert.ok(body.includes(text), text)
  }
  assert.match(body, /<svg role="img"/)
  assert.ok(body.includes(`datetime="${charge.expirationDate}"`))
})

test('[payment-page.1] without the setting there is no page, and the 201 has no paymentUrl', async (t) => {
  const pix = await world(t, { PIXGATE_PAYMENT_PAGE: 'false' })
  const charge = await pix.charge('1.00')
  assert.equal('paymentUrl' in charge, false)
  const other = await world(t)
  const answer = await fetch(pix.url + pathOf(await other.charge('1.00')))
  assert.match(await answer.text(), /"not_found"/)
  const { body } = await pix.call('GET', '/openapi.json')
  assert.equal(body.paths['/pay/{token}'], undefined)
})

test('[payment-page.2] a replay has the same paymentUrl, and the console shows it', async (t) => {
  const pix = await world(t, { PIXGATE_PAYMENT_PAGE_URL: 'https://pagar.loja.example/x/' })
  const body = { transaction: { value: 1, externalId: 'one' } }
  const create = () => pix.call('POST', '/api/pix/cash-in', body, { 'idempotency-key': 'one' })
  const [first, replayed] = [await create(), await create()]
  assert.equal(replayed.headers.get('idempotent-replayed'), 'true')
  assert.equal(replayed.body.paymentUrl, first.body.paymentUrl)
  assert.match(first.body.paymentUrl, /^https:\/\/pagar\.loja\.example\/x\/pay\/[\w-]{22}$/)
  const { body: shown } = await pix.call('GET', `/operator/operations/${first.body.id}`, undefined, AS_OPERATOR)
  assert.equal(shown.paymentUrl, first.body.paymentUrl)
})

test('[payment-page.2] production wants the address that payers open, by HTTPS', () => {
  const faults = (more: object) => configFaults(readConfig, { ...PRODUCTION, ...more })
  const named = (more: object) => faults(more).some((fault) => fault.startsWith('PIXGATE_PAYMENT_PAGE'))
  assert.equal(named({}), false)
  assert.equal(readConfig(PRODUCTION).paymentPage, undefined)
  assert.ok(named({ PIXGATE_PAYMENT_PAGE: 'true' }))
  assert.ok(named({ PIXGATE_PAYMENT_PAGE: 'true', PIXGATE_PAYMENT_PAGE_URL: 'http://pagar.loja.example' }))
  assert.ok(named({ PIXGATE_PAYMENT_PAGE: 'true', PIXGATE_PAYMENT_PAGE_URL: 'https://pagar.loja.example/?a=1' }))
  assert.equal(named({ PIXGATE_PAYMENT_PAGE: 'true', PIXGATE_PAYMENT_PAGE_URL: 'https://pagar.loja.example' }), false)
})

test('[payment-page.3] a token is 128 bits, finds its charge at this installation alone, and survives the rotation of keys', async (t) => {
  const tokens = createPageTokens('2d7a9f66-5b5e-4b6c-8f0a-3f1d2c9a7e51')
  const others = createPageTokens('9c1e4f0b-7a3d-4e28-b6c5-0d9f8e7a6b5c')
  const id = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
  const token = tokens.of(id)
  assert.match(token, /^[\w-]{22}$/)
  assert.equal(tokens.idOf(token), id)
  assert.notEqual(others.idOf(token), id)
  const near = tokens.of('0198c0de-7a11-7000-8000-5f1d3c2b1a08')
  const differing = Buffer.from(token, 'base64url').filter((byte, at) => byte !== Buffer.from(near, 'base64url')[at])
  assert.ok(differing.length > 8, 'neighbours look alike')
  for (const wrong of [
    '',
    id,
    `${token}A`,
    token.slice(1),
    `${token}=`,
    `${token.slice(0, -1)}B`,
    '../../../etc/passwd',
  ]) {
    assert.equal(tokens.idOf(wrong), undefined, wrong)
  }
  const pix = await world(t)
  const charge = await pix.charge('1.00')
  assert.equal(pathOf(charge).includes(charge.id), false)
  const { body } = await visit(pix, pathOf(charge))
  assert.equal(body.includes(charge.id), false)
})

test('[payment-page.3] any text that is no token is the same page that there is none', async (t) => {
  const pix = await world(t)
  const charge = await pix.charge('1.00')
  await pix.balance(500)
  const payout = createPageTokens(await installationOf(pix)).of((await pix.cashOut({ value: 1 })).id)
  const unknown = await visit(pix, `/pay/${NOBODY}`)
  assert.equal(unknown.status, 404)
  assert.match(unknown.body, /^<!doctype html>/)
  for (const token of [charge.id, payout, 'x', 'a%2Fb', `${NOBODY}%00`, 'x'.repeat(4_000)]) {
    const { status, body } = await visit(pix, `/pay/${token}`)
    assert.deepEqual([status, body], [404, unknown.body], token)
    assert.equal((await visit(pix, `/pay/${token}/state`)).body.code, 'not_found')
  }
})

test('[payment-page.4] a waiting page learns of the payment as soon as it is booked', async (t) => {
  const pix = await world(t)
  const charge = await pix.charge('1.00')
  const state = async (after: string) => (await visit(pix, `${pathOf(charge)}/state?after=${after}`)).body
  // Any other state is answered at once.
  assert.deepEqual(await state('expired'), { state: 'waiting' })
  const seen = state('waiting')
  await pix.call('POST', `/sandbox/cash-in/${charge.id}/pay`)
  await pix.becomes(charge.id, 'PAID')
  const bookedAt = performance.now()
  assert.deepEqual(await seen, { state: 'paid' })
  assert.ok(performance.now() - bookedAt < (limits.paymentPageWaitSeconds * 1_000) / 2)
})

test('[payment-page.4] waiting pages share one statement each half second', async (t) => {
  const pix = await world(t)
  const tokens = createPageTokens(await installationOf(pix))
  const charges = [await pix.charge('1.00'), await pix.charge('2.00'), await pix.charge('3.00')]
  const looks: { readonly ids: number; readonly at: number }[] = []
  const looked = Promise.withResolvers<void>()
  const rows: Database['rows'] = (query, parameters, ...more) => {
    if (query.name === 'payment_page.versions') looks.push({ ids: (parameters[0] as []).length, at: performance.now() })
    if (looks.length === 4) looked.resolve()
    return pix.database.rows(query, parameters, ...more)
  }
  let isDraining = false
  const { getPaymentState } = createPaymentPageHandlers({
    ...{ clock: pix.clock, tokens, merchant: { name: 'Loja' }, look: { color: '#000000', logo: undefined } },
    database: { ...pix.database, rows },
    isDraining: () => isDraining,
  })
  const context = { remoteAddress: '203.0.113.7' } as RequestContext
  const answers = charges.map(({ id }) =>
    getPaymentState({ params: { token: tokens.of(id) }, query: { after: 'waiting' }, body: undefined, context }),
  )
  await looked.promise
  isDraining = true
  assert.deepEqual(new Set((await Promise.all(answers)).map(({ body }) => body?.state)), new Set(['waiting']))
  const [, second, third, fourth] = looks
  assert.deepEqual([second?.ids, third?.ids], [charges.length, charges.length])
  assert.ok((fourth?.at ?? 0) - (second?.at ?? 0) >= 2 * limits.paymentPageLookMs - 20)
})

test('[payment-page.5] each state has its page', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const [paid, expired, cancelled, overpaid] = [
    await pix.charge('1.00'),
    await pix.charge('2.00', { expirationTime: 60 }),
    await pix.charge('3.00'),
    await pix.charge('4.00'),
  ]
  assert.equal(await shown(pix, pathOf(paid)), 'waiting')
  await pix.call('POST', `/sandbox/cash-in/${paid.id}/pay`, { payerName: 'Maria da Silva' })
  await pix.call('POST', `/api/pix/cash-in/${cancelled.id}/cancel`)
  await pix.bankAction(`charges/${overpaid.id}/pay`, { valueCents: 500 })
  await pix.becomes(paid.id, 'PAID')
  await pix.becomes(overpaid.id, 'RECONCILIATION_REQUIRED')
  pix.clock.advance(61_000)
  assert.equal(await shown(pix, pathOf(paid)), 'paid')
  assert.equal(await shown(pix, pathOf(expired)), 'expired')
  assert.equal(await shown(pix, pathOf(cancelled)), 'cancelled')
  assert.equal(await shown(pix, pathOf(overpaid)), 'in_review')
  await pix.refundIn(paid.id, 1)
  await pix.until(`/api/pix/cash-in/${paid.id}`, ({ refundedCents }) => refundedCents === 100)
  assert.equal(await shown(pix, pathOf(paid)), 'returned')
  await pix.behave({ cashIn: 'reject' })
  const refused = await pix.call('POST', '/api/pix/cash-in', { transaction: { value: 1, externalId: 'refused' } })
  const tokens = createPageTokens(await installationOf(pix))
  assert.equal(await shown(pix, `/pay/${tokens.of(refused.body.existing.id)}`), 'closed')
  await pix.behave({ cashIn: 'timeout' })
  assert.equal(await shown(pix, pathOf(await pix.charge('6.00'))), 'preparing')
})

test('[payment-page.5] a page shows nothing of the payer, and a code only while it can be paid', async (t) => {
  const pix = await world(t)
  const payer = { fullName: 'Maria da Silva', document: '529.982.247-25' }
  const transaction = { value: 1, externalId: 'order-with-payer' }
  const { body: charge } = await pix.call('POST', '/api/pix/cash-in', { transaction, payer })
  const open = (await visit(pix, pathOf(charge))).body
  assert.ok(open.includes(charge.pixCode))
  await pix.call('POST', `/sandbox/cash-in/${charge.id}/pay`, { payerName: 'Maria da Silva' })
  const { endToEndId } = await pix.becomes(charge.id, 'PAID')
  const paid = (await visit(pix, pathOf(charge))).body
  assert.equal(paid.includes(charge.pixCode), false)
  for (const text of ['Maria', '52998224725', '982.247', endToEndId, charge.id, charge.externalId]) {
    for (const page of [open, paid]) assert.equal(page.includes(text), false, text)
  }
})

test('[payment-page.6] an address has so many requests, then 429 with Retry-After; other addresses are not concerned', async (t) => {
  const pix = await world(t, { PIXGATE_TRUST_PROXY: '127.0.0.1' }, { isStepped: true })
  const path = pathOf(await pix.charge('1.00'))
  const from = (address: string) => ({ 'x-forwarded-for': address })
  for (let count = 0; count < limits.paymentPageBurst; count++) {
    assert.equal((await visit(pix, `/pay/${NOBODY}`, from('203.0.113.7'))).status, 404)
  }
  const page = await visit(pix, path, from('203.0.113.7'))
  assert.equal(page.status, 429)
  assert.match(page.body, /^<!doctype html>/)
  assert.ok(Number(page.headers.get('retry-after')) >= 1)
  const state = await visit(pix, `${path}/state`, from('203.0.113.7'))
  assert.equal(state.status, 429)
  assert.ok(Number(state.headers.get('retry-after')) >= 1)
  assert.equal((await visit(pix, path, from('203.0.113.8'))).status, 200)
  pix.clock.advance(60_000)
  assert.equal((await visit(pix, path, from('203.0.113.7'))).status, 200)
})

test('[payment-page.6] guessing finds nothing and is slowed', async (t) => {
  const { found, limited } = await guessTokens(await world(t), 2_000)
  assert.equal(found, 0)
  assert.ok(limited > 1_000, `${limited} of 2,000 were refused`)
})

test('[payment-page.9] while the database is away the page says so and tries again', async (t) => {
  const { reach, interrupt } = databaseLink(t)
  const pix = await world(t, {}, { isStepped: true, reach })
  const path = pathOf(await pix.charge('1.00'))
  interrupt()
  const { status, headers, body } = await pix.call('GET', path)
  assert.equal(status, 503)
  assert.ok(Number(headers.get('retry-after')) >= 1)
  assert.match(body, /data-state="busy".* data-live-ms="\d+"/)
})

test('[payment-page.7] text on any color has a contrast of at least 4.5, and a logo is an image of bounded size', (t) => {
  assert.deepEqual(['#000000', '#0d5c56', '#ffffff', '#ffd400', '#767676'].map(textOn), [
    '#ffffff',
    '#ffffff',
    '#000000',
    '#000000',
    '#000000',
  ])
  const directory = mkdtempSync(join(tmpdir(), 'pixgate-logo-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const isFault = (content: string | Buffer) => {
    const PIXGATE_PAYMENT_PAGE_LOGO = join(directory, 'logo')
    writeFileSync(PIXGATE_PAYMENT_PAGE_LOGO, content)
    return configFaults(readConfig, { ...PRODUCTION, PIXGATE_PAYMENT_PAGE_LOGO }).some((fault) =>
      fault.startsWith('PIXGATE_PAYMENT_PAGE_LOGO'),
    )
  }
  assert.equal(isFault('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"></svg>'), false)
  assert.equal(isFault(Buffer.from('89504e470d0a1a0a00', 'hex')), false)
  assert.ok(isFault('<html><svg></svg></html>'))
  assert.ok(isFault('<svg>'.padEnd(limits.paymentPageLogoMaxBytes + 1)))
  assert.ok(configFaults(readConfig, { ...PRODUCTION, PIXGATE_PAYMENT_PAGE_LOGO: directory }).length > 0)
  assert.ok(configFaults(readConfig, { ...PRODUCTION, PIXGATE_PAYMENT_PAGE_COLOR: 'red' }).length > 0)
})

test('[payment-page.8] every page is kept by nobody, indexed by nobody, framed by nobody, and its address goes to nobody', async (t) => {
  const pix = await world(t)
  for (const path of [pathOf(await pix.charge('1.00')), `/pay/${NOBODY}`]) {
    const { headers, body } = await visit(pix, path)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('x-robots-tag'), 'noindex, nofollow')
    assert.match(String(headers.get('content-security-policy')), /^default-src 'none';.*frame-ancestors 'none'/)
    assert.doesNotMatch(String(headers.get('content-security-policy')), /unsafe|\*|https?:/)
    assert.equal(headers.get('set-cookie'), null)
    assert.match(body, /<meta name="robots" content="noindex, nofollow">/)
    assert.doesNotMatch(body.replaceAll('http://www.w3.org/2000/svg', ''), /https?:\/\//)
  }
})

test('[payment-page.8] no line of the log has a token', async (t) => {
  const log = capturedLog('trace')
  const pix = await world(t, {}, { logger: log.logger })
  const path = pathOf(await pix.charge('1.00'))
  await visit(pix, path)
  await visit(pix, `${path}/state`)
  await visit(pix, `/pay/${NOBODY}`)
  await log.line('request', { route: '/pay/{token}', status: 404 })
  const lines = JSON.stringify(log.lines)
  for (const token of [path.slice('/pay/'.length), NOBODY]) assert.equal(lines.includes(token), false)
})
