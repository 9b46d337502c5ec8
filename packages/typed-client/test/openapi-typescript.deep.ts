import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { ADMIN_TOKEN, world } from '../../server/test/support/world.ts'
import { type ClientFolder, clientFolder } from './client-folder.ts'
import { mistakes, program } from './openapi-typescript-program.ts'

/** A folder with the types of what a service serves as its document. */
async function generated(t: TestContext, url: string): Promise<ClientFolder> {
  const folder = await clientFolder(t)
  const document = await (await fetch(`${url}/openapi.json`)).text()
  await folder.write('api.ts', astToString(await openapiTypescript(document)))
  return folder
}

test('[reference.4] a client of generated types compiles as strict as can be, and sells something', async (t) => {
  const pix = await world(t)
  const { write, compile } = await generated(t, pix.url)
  const file = await write('client.ts', program)
  assert.equal(await compile(), '')
  const { sell, createClient } = await import(pathToFileURL(file).href)
  const paid = await sell(pix.url, ADMIN_TOKEN)
  assert.equal(paid.status, 'PAID')
  assert.equal(paid.valueCents, 15025)
  assert.equal((await pix.read(paid.id)).endToEndId, paid.endToEndId)
  const wrong = createClient(pix.url)('get', '/api/pix/cash-in/{id}', { token: pix.apiKey, id: 'nothing' })
  await assert.rejects(wrong, ({ problem }) => problem.code === 'not_found')
})

test('[reference.4] what the document does not say does not compile', async (t) => {
  const pix = await world(t)
  const { write, compile } = await generated(t, pix.url)
  for (const [name, { code, complaint }] of Object.entries(mistakes)) {
    await write('client.ts', `import type { components } from './api.ts'\n${code}\n`)
    assert.match(await compile(), complaint, name)
  }
})
