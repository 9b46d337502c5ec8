import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { PUBLISHED } from './codes.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))

test('[brcode.package] what is published runs in plain node, has its types and depends on nothing', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'brcode-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const installed = build(folder)

  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  for (const field of ['dependencies', 'devDependencies', 'peerDependencies', 'scripts']) assert(!(field in manifest))
  assert.deepEqual(
    globSync('*', { cwd: installed })
      .filter((file) => !/\.(?:d\.ts|js)$/.test(file))
      .toSorted(),
    ['LICENSE', 'README.md', 'package.json'],
  )
  for (const file of globSync('*.js', { cwd: installed })) {
    const imports = [...readFileSync(join(installed, file), 'utf8').matchAll(/from '(.*)'/g)].map(([, from]) => from)
    for (const from of imports) assert.match(from ?? '', /^\.\/[a-z0-9-]+\.js$/, file)
  }

  const consumer = join(folder, 'consumer')
  writeFileSync(
    join(consumer, 'index.mts'),
    `import { parseBrCode, type BrCode } from '@pixgate/brcode'
    const code: BrCode = parseBrCode('${PUBLISHED.manualStatic}')
    console.log(code.kind === 'static' && code.pixKey)`,
  )
  const tsc = join(repository, 'node_modules/.bin/tsc')
  execFileSync(tsc, ['--ignoreConfig', '--strict', '--module', 'nodenext', '--target', 'es2024', 'index.mts'], {
    cwd: consumer,
  })
  const output = execFileSync(process.execPath, ['index.mjs'], { cwd: consumer, encoding: 'utf8' })
  assert.equal(output, '123e4567-e12b-12d1-a456-426655440000\n')
})

/** Builds a copy of the package under `folder` and installs it for a consumer there. @returns where it is installed */
function build(folder: string): string {
  const copied = join(folder, 'packages/brcode')
  for (const path of ['tsconfig.json', 'LICENSE', 'packages/brcode']) {
    cpSync(join(repository, path), join(folder, path), { recursive: true })
  }
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  execFileSync('npm', ['run', 'build', '--silent'], { cwd: copied })
  const installed = join(folder, 'consumer/node_modules/@pixgate/brcode')
  cpSync(join(copied, 'dist'), installed, { recursive: true })
  return installed
}
