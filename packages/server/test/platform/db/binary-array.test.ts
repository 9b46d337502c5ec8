import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { binaryArray, type Elements } from '../../../src/platform/db/arrays.ts'
import { statement } from '../../../src/platform/db/database.ts'
import { databaseError } from '../../../src/platform/db/errors.ts'
import { testDatabase } from '../../support/database.ts'

/** PostgreSQL stores no U+0000, and a text of half a pair of surrogates is none. */
const text = fc.string({ unit: 'grapheme' }).filter((it) => !it.includes('\0'))

const ELEMENTS: { readonly [Type in keyof Elements]: fc.Arbitrary<Elements[Type]> } = {
  uuid: fc.uuid(),
  smallint: fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }),
  integer: fc.integer(),
  bigint: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  boolean: fc.boolean(),
  timestamptz: fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9999, 11, 31) }),
  text,
  jsonb: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null))).map((it) => JSON.stringify(it)),
  bytea: fc.uint8Array(),
}

/** As the driver would write it. */
function asText(type: keyof Elements, element: unknown): unknown {
  if (type === 'timestamptz') return new Date(element as number).toISOString()
  return element instanceof Uint8Array ? Buffer.from(element) : element
}

for (const type of Object.keys(ELEMENTS) as (keyof Elements)[])
  test(`an array of ${type} in the binary format is what it is as text`, async (t) => {
    const { database } = await testDatabase(t)
    // A type in other words: what is given for it stays text.
    const same = statement<[binary: Buffer, text: unknown], { same: boolean }>(
      'test.same_array',
      `SELECT $1::${type}[] IS NOT DISTINCT FROM CAST($2 AS ${type}[]) AS same`,
    )
    const elements = fc.array(fc.option(ELEMENTS[type] as fc.Arbitrary<string>))
    await fc.assert(
      fc.asyncProperty(elements, async (given) => {
        const text = given.map((element) => (element === null ? null : asText(type, element)))
        const rows = await database.rows(same, [binaryArray<keyof Elements>(type, given), text])
        assert.deepEqual(rows, [{ same: true }])
      }),
      { numRuns: 60 },
    )
  })

const UUID = '01a218b3-e7af-7000-93de-6c03a7bc1266'

const WRONG: { readonly [Type in keyof Elements]: readonly unknown[] } = {
  uuid: [
    ...['', 'g'.repeat(36), UUID.replaceAll('-', ''), `${UUID}0`, UUID.replace('-', '0'), UUID.slice(1)],
    ...[`é${UUID.slice(1)}`, 1],
  ],
  smallint: [2 ** 15, 1.5, '1', 1n],
  integer: [2 ** 31, 1.5, '1', 1n],
  bigint: [2n ** 63n, 1.5, '', '1', true],
  boolean: ['false', 0],
  timestamptz: [Number.NaN, '2026-11-26T00:00:00.000Z'],
  text: [1, {}, Buffer.from('a')],
  jsonb: [1, {}],
  bytea: ['ab', [1]],
}

for (const [type, elements] of Object.entries(WRONG) as [keyof Elements, readonly never[]][])
  test(`what is no ${type} makes no array of it`, () => {
    for (const element of elements) assert.throws(() => binaryArray(type, [element]), Error, String(element))
  })

test('an array that is not what its statement says is sent as text, for the database to read or to refuse', async (t) => {
  const { database } = await testDatabase(t)
  const echo = statement<[unknown, unknown, unknown, unknown], object>(
    'test.echo',
    'SELECT $1::uuid[]::text AS ids, $2::bigint[]::text AS cents, $3::numeric[]::text AS rates, extract(epoch FROM ($4::timestamptz[])[1])::text AS at',
  )
  const echoed = [{ ids: `{${UUID},NULL}`, cents: '{1,2}', rates: '{1.5}', at: '1764115200.000000' }]
  const at = new Date(1_764_115_200_000)
  assert.deepEqual(await database.rows(echo, [[UUID, undefined], ['1', '2'], [1.5], [at.toISOString()]]), echoed)
  assert.deepEqual(await database.rows(echo, [[`{${UUID}}`, null], [1n, 2], ['1.5'], [at.getTime()]]), echoed)
  const refused = database.rows(echo, [['nobody'], [], [], []])
  await assert.rejects(refused, (error) => databaseError(error)?.code === '22P02')
})
