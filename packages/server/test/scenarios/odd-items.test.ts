import assert from 'node:assert/strict'
import test from 'node:test'
import { openCases } from '../support/evidence.ts'
import type { Telling } from '../support/lying-bank.ts'
import { type LyingEfi, lyingEfi } from '../support/lying-efi.ts'

/** Odd items among the payments of a page, over the whole way from the bank to the books: the others are booked. */

const MINUTE_MS = 60_000

type Item = Record<string, unknown>

function withOdd(changes: ReadonlyMap<unknown, (item: Item) => unknown>): Telling {
  return ({ path, body }) => {
    if (!path.startsWith('/v2/pix?') || !Array.isArray(body?.pix)) return undefined
    return { body: { ...body, pix: body.pix.map((item: Item) => changes.get(item.txid)?.(item) ?? item) } }
  }
}

/** So many charges, paid at the bank, which sends no callback. */
async function paidUnheard(pix: LyingEfi, count: number) {
  await pix.bank('PUT', '/control/lies', { perThousand: { eventLost: 1_000 } })
  const made = []
  for (let one = 0; one < count; one++) {
    const { id } = await pix.charge(String(one + 1))
    await pix.bankAction(`charges/${id}/pay`)
    made.push({ id, txid: await pix.orderIdOf(id), path: `/api/pix/cash-in/${id}` })
  }
  return made
}

async function statuses(pix: LyingEfi, paths: readonly string[]) {
  return Promise.all(paths.map(async (path) => (await pix.get(path)).status))
}

/** As deep as the simulated bank can still write. */
const deep = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))

interface Odd {
  readonly name: string
  readonly change: (item: Item) => unknown
  /** `money of nobody` where it no longer names its charge. */
  readonly comesTo: 'a case' | 'PAID' | 'money of nobody'
}

const odds: readonly Odd[] = [
  { name: 'an amount too fine', change: (item) => ({ ...item, valor: 10.005 }), comesTo: 'a case' },
  { name: 'no amount', change: (item) => ({ ...item, valor: '0.00' }), comesTo: 'a case' },
  { name: 'text, cut amid a character', change: () => '😀'.repeat(3_000), comesTo: 'a case' },
  {
    name: 'a time before all',
    change: (item) => ({ ...item, horario: '0001-01-01T00:00:00+01:00' }),
    comesTo: 'a case',
  },
  {
    name: 'a time after all',
    change: (item) => ({ ...item, horario: '9999-12-31T23:59:59-03:00' }),
    comesTo: 'a case',
  },
  { name: 'a deep one', change: (item) => ({ ...item, valor: '?', more: deep(1_500) }), comesTo: 'a case' },
  {
    name: 'an unkeepable txid',
    change: (item) => ({ ...item, txid: `${item.txid}\u0000` }),
    comesTo: 'money of nobody',
  },
  { name: 'a long txid', change: (item) => ({ ...item, txid: 'x'.repeat(50_000) }), comesTo: 'money of nobody' },
  {
    name: 'an odd payer',
    change: (item) => ({ ...item, gnExtras: { pagador: { nome: 7 } }, chave: 7 }),
    comesTo: 'PAID',
  },
]

test('[api-pix.18] [statement.12] a page of 100 payments has some odd ones, each in another way, and all others are booked', async (t) => {
  const pix = await lyingEfi(t, { standard: 'api-pix' })
  const made = await paidUnheard(pix, 100)
  const odd = odds.map((one, index) => ({ ...one, ...(made[index * 12] as (typeof made)[number]) }))
  const changes = new Map(odd.map(({ txid, change }) => [txid, change]))
  pix.tell(withOdd(changes))
  await pix.pass(2 * MINUTE_MS, 10_000)
  const others = made.filter(({ txid }) => !changes.has(txid)).map(({ path }) => path)
  assert.deepEqual(new Set(await statuses(pix, others)), new Set(['PAID']))
  const inCases = odd.filter(({ comesTo }) => comesTo === 'a case')
  assert.deepEqual(
    (await openCases(pix.database)).filter((kind) => kind === 'statement_unreadable'),
    inCases.map(() => 'statement_unreadable'),
  )
  const read = odd.filter(({ comesTo }) => comesTo === 'PAID').map(({ path }) => path)
  assert.deepEqual(
    await statuses(pix, read),
    read.map(() => 'PAID'),
  )
  pix.tell()
  await pix.pass(65 * MINUTE_MS, 5 * MINUTE_MS)
  const readable = inCases.map(({ path }) => path)
  assert.deepEqual(
    await statuses(pix, readable),
    readable.map(() => 'PAID'),
  )
  assert.ok(!(await openCases(pix.database)).includes('statement_unreadable'))
})
