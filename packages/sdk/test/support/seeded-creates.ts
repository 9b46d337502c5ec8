import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { world } from '../../../server/test/support/world.ts'
import { cents, Pixgate, PixgateError, type RequestOptions } from '../../src/index.ts'
import { type Fate, faultyProxy } from './faulty-proxy.ts'

/** Parts of a hundred requests. */
const FATES: readonly (readonly [parts: number, kind: Fate['kind']])[] = [
  [8, 'cut request'],
  [18, 'cut answer'],
  [4, 'silence'],
  [4, 'late'],
  [8, 'refuse'],
  [5, 'hide'],
  [6, 'double request'],
  [4, 'double answer'],
  [4, 'foreign answer'],
]

/** Longer than a create takes, so that most time-outs are those that the proxy makes. */
const TIMEOUT_MS = 200

type Kind = 'cashIns' | 'cashOuts' | 'refunds'

/** What a merchant knows of a create when its call has ended. */
type Known =
  | { readonly is: 'created' | 'existing'; readonly id: string }
  | { readonly is: 'refused' | 'open'; readonly error: PixgateError }

interface Run {
  readonly kind: Kind
  readonly externalId: string
  readonly known: Known
}

/** Numbers from 0 to 1 for a name (FNV-1a, mulberry32). */
function chance(name: string): () => number {
  let state = [...name].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193), 0x811c9dc5)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function fateOf(random: () => number): Fate {
  let left = random() * 100
  for (const [parts, kind] of FATES) {
    left -= parts
    if (left >= 0) continue
    if (kind === 'cut request' || kind === 'cut answer') return { kind, at: random() }
    if (kind === 'refuse') return { kind, status: ([429, 502, 503] as const)[Math.floor(random() * 3)] ?? 503 }
    return { kind }
  }
  return { kind: 'pass' }
}

/** How often each end was reached. */
export type Ends = Record<Known['is'], number>

/**
 * Creates charges, payouts and refunds at a real server behind a faulty proxy, eight at a time. Asserts that nothing was made
 * twice, and that what the SDK said of each call is true.
 */
export async function seededCreates(t: TestContext, seed: number, runs: number): Promise<Ends> {
  const pix = await world(t)
  const { id: chargeId } = await pix.paid('5000000')
  // The faults of a run do not depend on what runs beside it.
  const requests = new Map<string, number>()
  const proxy = await faultyProxy(t, pix.url, (request) => {
    const [name = ''] = /seeded-\d+/.exec(request) ?? /^GET \S+/.exec(request) ?? []
    requests.set(name, (requests.get(name) ?? 0) + 1)
    return fateOf(chance(`${seed} ${name} ${requests.get(name)}`))
  })
  const random = chance(`${seed}`)
  const runtime = { now: pix.clock.now, random, sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) }
  const options = { url: proxy.url, apiKey: pix.apiKey, timeoutMs: TIMEOUT_MS, runtime }
  const faulty = new Pixgate(options)
  const straight = new Pixgate({ ...options, url: pix.url, timeoutMs: 30_000 })

  const done: Run[] = []
  let started = 0
  const work = async () => {
    while (started < runs) {
      started += 1
      done.push(await run(faulty, straight, chargeId, `seeded-${started}`, started))
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  await proxy.settled()
  await assertTrue(straight, done)
  await assertOnceAtTheBank(pix, done.length)
  const count = (is: Known['is']) => done.filter(({ known }) => known.is === is).length
  return { created: count('created'), existing: count('existing'), refused: count('refused'), open: count('open') }
}

async function run(
  faulty: Pixgate,
  straight: Pixgate,
  chargeId: string,
  externalId: string,
  number: number,
): Promise<Run> {
  const kind = (['cashOuts', 'cashOuts', 'cashOuts', 'cashIns', 'refunds'] as const)[number % 5] ?? 'cashOuts'
  const create = (pixgate: Pixgate, rest?: RequestOptions) => {
    // Each amount is of one run, so that the bank's book tells them apart.
    const value = cents(number)
    if (kind === 'cashIns') return pixgate.cashIns.create({ externalId, value }, rest)
    if (kind === 'refunds') return pixgate.refunds.create(chargeId, { externalId, refundValue: value }, rest)
    const pixKeyType = number % 25 === 0 ? 'cpf' : 'email'
    return pixgate.cashOuts.create({ externalId, value, recipient: { pixKey: 'ana@example.com', pixKeyType } }, rest)
  }
  const known = await knownOf(create(faulty, { maxRetries: number % 4 }))
  // Half of the merchants make the same call again, as the error says.
  if ('error' in known && known.error.isSafeToRetry && number % 2 === 0) {
    const again = await knownOf(create(straight))
    assert.ok(again.is !== 'open', 'without faults nothing is open')
    return { kind, externalId, known: again }
  }
  return { kind, externalId, known }
}

async function knownOf(call: Promise<{ readonly id: string; readonly replayed: boolean }>): Promise<Known> {
  try {
    const { id, replayed } = await call
    return { is: replayed ? 'existing' : 'created', id }
  } catch (error) {
    if (!(error instanceof PixgateError)) throw error
    // It exists, and could not be read.
    if (error.code === 'duplicate_external_id') return { is: 'existing', id: error.existing.id }
    if (error.outcome === 'unknown') assert.ok(error.ask?.includes('external_id'), String(error))
    return { is: error.outcome === 'unknown' ? 'open' : 'refused', error }
  }
}

/** What was created is there, what was refused is not, and of what is open there is one or none. */
async function assertTrue(pixgate: Pixgate, done: readonly Run[]): Promise<void> {
  for (const { kind, externalId, known } of done) {
    const { data } = await pixgate[kind].list({ external_id: externalId }).page()
    const found: readonly { readonly id: string }[] = data
    if ('id' in known)
      assert.deepEqual(
        found.map(({ id }) => id),
        [known.id],
        externalId,
      )
    else if (known.is === 'refused') assert.deepEqual(found, [], `${externalId}: ${known.error}`)
    else assert.ok(found.length <= 1, externalId)
  }
}

/** The bank was told of each amount once at most. */
async function assertOnceAtTheBank(pix: Awaited<ReturnType<typeof world>>, runs: number): Promise<void> {
  const open = async () => {
    for (const [kind, status] of [
      ['cash-out', 'RESERVED'],
      ['cash-out', 'DISPATCHED'],
      ['refund', 'PENDING'],
    ] as const) {
      const { data } = await pix.get(`/api/pix/${kind}?status=${status}&limit=1`)
      if (data.length > 0) return true
    }
    return false
  }
  while (await open()) await new Promise((resolve) => setImmediate(resolve))
  const { body: book } = await pix.bank('GET', '/control/book')
  for (const items of [book.payouts, book.refunds, book.charges] as readonly { readonly valueCents: number }[][]) {
    const amounts = items.map(({ valueCents }) => valueCents).filter((amount) => amount <= runs)
    assert.equal(new Set(amounts).size, amounts.length)
  }
}
