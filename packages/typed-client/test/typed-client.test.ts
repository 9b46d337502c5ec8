import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { ADMIN_TOKEN, world } from '../../server/test/support/world.ts'
import { mistakes, program } from './program.ts'

const TSC = fileURLToPath(new URL('../../../node_modules/.bin/tsc', import.meta.url))

/** As strict as TypeScript can be. */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'dom'],
    module: 'nodenext',
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  },
}

/** A folder with the types of what a service serves as its document. */
async function generated(t: TestContext, url: string) {
  const folder = await mkdtemp(join(tmpdir(), 'pixgate-typed-client-'))
  t.after(() => rm(folder, { recursive: true }))
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const document = await (await fetch(`${url}/openapi.json`)).text()
  await write('api.ts', astToString(await openapiTypescript(document)))
  await write('package.json', '{ "type": "module" }')
  await write('tsconfig.json', JSON.stringify(TSCONFIG))
  /** What the compiler says; nothing where it is content. */
  const compile = () =>
    promisify(execFile)(TSC, ['-p', folder, '--pretty', 'false']).then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    )
  return { write, compile }
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
  assert.deepEqual(await pix.read(paid.id), paid)
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
