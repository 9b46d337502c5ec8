import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'

const PACKAGE = new URL('../', import.meta.url)

/** What a program that uses an entry loads for it, compressed, in bytes. */
async function compressed(entry: string): Promise<number> {
  const file = fileURLToPath(new URL(`src/${entry}.ts`, PACKAGE))
  const output = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: file, formats: ['es'] },
      rolldownOptions: { external: /^node:/ },
    },
  })
  const chunks = [output].flat().flatMap((one) => ('output' in one ? one.output : []))
  assert.ok(chunks.length > 0)
  return gzipSync(chunks.map((chunk) => ('code' in chunk ? chunk.code : '')).join('')).length
}

for (const [entry, most] of [
  ['index', 15_000],
  ['operator', 15_000],
  ['webhooks', 2_500],
] as const) {
  test(`[sdk.13] ${entry} has ${most} bytes at most`, async (t) => {
    const bytes = await compressed(entry)
    t.diagnostic(`${bytes} bytes`)
    assert.ok(bytes <= most, `${bytes}`)
  })
}

test('[sdk.13] it has no dependency', () => {
  const manifest = JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8'))
  const kinds = ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundledDependencies']
  assert.deepEqual(
    kinds.filter((kind) => kind in manifest),
    [],
  )
})
