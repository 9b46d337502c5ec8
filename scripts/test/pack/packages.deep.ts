import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'node:test'
import { LINK } from '../../check/markdown.ts'
import { ROOT } from '../../check/repository.ts'
import { PUBLISHED, packPackage } from '../../pack/package.ts'

/** Where the tarballs are, and an empty project that has installed them. */
const folder = mkdtempSync(join(tmpdir(), 'pixgate-packages-'))
const project = join(folder, 'project')

test.before(() => {
  const tarballs = PUBLISHED.map((name) => packPackage(name, folder))
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--silent']
  execFileSync('npm', ['install', ...options, ...tarballs], { cwd: project, stdio: 'inherit' })
})
test.after(() => rmSync(folder, { recursive: true }))

const installed = (name: string) => join(project, 'node_modules/@pixgate', name)

for (const name of PUBLISHED) {
  test(`${name} is JavaScript and types, says what it is, and depends on no file of the repository`, () => {
    const manifest = JSON.parse(readFileSync(join(installed(name), 'package.json'), 'utf8'))
    assert.deepEqual(
      [manifest.name, manifest.license, manifest.engines, manifest.repository.directory],
      [
        `@pixgate/${name}`,
        'Apache-2.0',
        { node: ['sdk', 'cli'].includes(name) ? '>=22.12' : '>=24' },
        `packages/${name}`,
      ],
    )
    for (const field of ['private', 'scripts', 'devDependencies', 'optionalDependencies'])
      assert.ok(!(field in manifest))
    const files = globSync('**/*.*', { cwd: installed(name) }).map((path) => basename(path))
    const rest = files.filter((file) => !/\.(?:d\.ts|js)$/.test(file)).sort()
    assert.deepEqual(rest, ['README.md', 'package.json'])
    assert.ok(readFileSync(join(installed(name), 'LICENSE'), 'utf8').includes('Apache License'))

    const known = Object.keys(manifest.dependencies ?? {})
    for (const file of globSync('**/*.{js,d.ts}', { cwd: installed(name) })) {
      for (const [, from = ''] of readFileSync(join(installed(name), file), 'utf8').matchAll(/ from ["'](.*?)["']/g)) {
        const isThere =
          /^\.{1,2}\/.*\.js$/.test(from) ||
          from.startsWith('node:') ||
          known.some((name) => from === name || from.startsWith(`${name}/`))
        assert.ok(isThere, `${file} imports ${from}`)
      }
    }
  })
}

const readmeOf = (name: string) => readFileSync(join(installed(name), 'README.md'), 'utf8')

test('the READMEs read for whoever has installed the packages: they lead to no file of the repository', () => {
  for (const name of PUBLISHED) {
    const targets = [...readmeOf(name).matchAll(LINK)].map(([, target = '']) => target)
    assert.deepEqual(
      targets.filter((target) => !/^(?:https:\/\/|#)/.test(target)),
      [],
      name,
    )
  }
})

test('what the READMEs show compiles in strict TypeScript against the types, and runs in plain Node.js', () => {
  // Those of the SDK run at a sandbox: packages/sdk/test/package.deep.ts. The command line shows commands.
  const output = PUBLISHED.filter((name) => !['sdk', 'cli'].includes(name)).map((name) => {
    const blocks = [...readmeOf(name).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code)
    assert.ok(blocks.length > 0, name)
    return compileAndRun(blocks).join('')
  })
  const [brcode = '', spec = '', simulator = ''] = output
  assert.equal(brcode, '123e4567-e12b-12d1-a456-426655440000 undefined\n')
  assert.match(spec, /^POST \/api\/pix\/cash-in$[\s\S]+PENDING[\s\S]+^404 \d+$/m)
  assert.match(simulator, /^201 000201\S.*\n15000\n$/)
})

/** Modules that use the packages. @returns what each printed @throws Error where one does not compile, or fails */
function compileAndRun(modules: readonly string[]): string[] {
  const names = modules.map((_, index) => `module-${index}`)
  for (const [index, code] of modules.entries()) writeFileSync(join(project, `${names[index]}.mts`), code)
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node']
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types')]
  const files = names.map((name) => `${name}.mts`)
  const compiler = join(ROOT, 'node_modules/.bin/tsc')
  execFileSync(compiler, ['--ignoreConfig', ...options, ...types, ...files], { cwd: project, stdio: 'inherit' })
  return names.map((name) => execFileSync(process.execPath, [`${name}.mjs`], { cwd: project, encoding: 'utf8' }))
}

test('the simulated bank is a program: it says when it is ready, and ends on SIGTERM with status 0', async () => {
  const bank = spawn(join(project, 'node_modules/.bin/pixgate-bank-simulator'), {
    env: {
      PATH: process.env.PATH,
      PIXGATE_SIMULATOR_PORT: '0',
      PIXGATE_SIMULATOR_DATA_DIR: join(folder, 'bank'),
      PIXGATE_SIMULATOR_EVENTS_URL: 'http://127.0.0.1:9',
      PIXGATE_PARTNER_TOKEN: 'the token',
      PIXGATE_PARTNER_SECRET: 'the secret',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(bank.stdout), 'line')
  assert.match(line, /^\{"ready":true,"port":\d+\}$/)
  bank.kill('SIGTERM')
  assert.deepEqual(await once(bank, 'exit'), [0, null])
})

test('on a Node.js that is too old the simulated bank says so in one sentence', () => {
  const old = join(folder, 'old.cjs')
  writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })")
  const program = join(project, 'node_modules/.bin/pixgate-bank-simulator')
  const { status, stderr } = spawnSync(process.execPath, ['--require', old, program], { env: {}, encoding: 'utf8' })
  assert.equal(status, 2)
  assert.match(stderr, /^bank-simulator: this is Node\.js v\S+, and Node\.js 24 or newer is needed: .+\n$/)
})
