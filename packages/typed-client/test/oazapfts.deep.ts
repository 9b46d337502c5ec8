import assert from 'node:assert/strict'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { generateSource } from 'oazapfts'
import { ADMIN_TOKEN, world } from '../../server/test/support/world.ts'
import { clientFolder } from './client-folder.ts'
import { program } from './oazapfts-program.ts'

/** The generator's own runtime passes `undefined` for what may be absent. */
const ITS_OWN = { exactOptionalPropertyTypes: false }

test('[reference.4] a client of generated functions compiles, and sells something dear', async (t) => {
  const pix = await world(t)
  const { write, compile } = await clientFolder(t, ['@oazapfts/runtime'], ITS_OWN)
  await write('api.ts', await generateSource(`${pix.url}/openapi.json`, { optimistic: true, argumentStyle: 'object' }))
  const file = await write('client.ts', program)
  assert.equal(await compile(), '')
  const { sell, read } = await import(pathToFileURL(file).href)
  const paid = await sell(pix.url, ADMIN_TOKEN)
  assert.deepEqual([paid.status, paid.valueCents], ['PAID', 3_000_000_000])
  assert.equal((await read(pix.url, pix.apiKey, paid.id)).endToEndId, paid.endToEndId)
  await assert.rejects(
    read(pix.url, pix.apiKey, 'nothing'),
    ({ status, data }) => status === 404 && data.code === 'not_found',
  )
})
