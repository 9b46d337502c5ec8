import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'node:test'
import { LINK } from '../../check/markdown.ts'
import { ROOT } from '../../check/repository.ts'
import { PUBLISHED } from '../../pack/package.ts'
import { projectWith } from './project.ts'

let project = ''
test.before(() => {
  project = projectWith(PUBLISHED)
})
test.after(() => rmSync(project, { recursive: true }))

const installed = (name: string) => join(project, 'node_modules/@pixgate', name)

for (const name of PUBLISHED) {
  test(`${name} is JavaScript, with types where others import it, says what it is, and depends on no file of the repository`, () => {
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
    const files = globSync('**/*.*', { cwd: installed(name) }).filter((path) => !path.startsWith('node_modules'))
    const rest = files.filter((file) => !/\.(?:d\.ts|js)$/.test(file)).sort()
    if (name === 'server') assert.ok(rest.includes('schema/01-roles.sql') && !rest.some((file) => file.endsWith('.ts')))
    else assert.deepEqual(rest, ['README.md', 'package.json'])
    const entries: (string | object)[] = Object.values(manifest.exports)
    const named = entries.flatMap((entry) => (typeof entry === 'string' ? entry : Object.values(entry)))
    for (const path of named) assert.ok(existsSync(join(installed(name), path)), path)
    assert.equal(existsSync(join(installed(name), manifest.types ?? 'none')), !['server', 'sandbox'].includes(name))
    assert.ok(readFileSync(join(installed(name), 'LICENSE'), 'utf8').includes('Apache License'))

    const known = Object.keys(manifest.dependencies ?? {})
    for (const file of globSync('src/**/*.{js,d.ts}', { cwd: installed(name) })) {
      for (const [, from = ''] of readFileSync(join(installed(name), file), 'utf8').matchAll(/ from ["'](.*?)["']/g)) {
        const isThere =
          /^\.{1,2}\/.*\.(?:js|json)$/.test(from) ||
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
  // Those of the SDK run at a sandbox: packages/sdk/test/package.deep.ts. The others are programs.
  const output = (['brcode', 'spec', 'bank-simulator'] as const).map((name) => {
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
      PIXGATE_SIMULATOR_DATA_DIR: join(project, 'bank'),
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
  const old = join(project, 'old.cjs')
  writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })")
  const program = join(project, 'node_modules/.bin/pixgate-bank-simulator')
  const { status, stderr } = spawnSync(process.execPath, ['--require', old, program], { env: {}, encoding: 'utf8' })
  assert.equal(status, 2)
  assert.match(stderr, /^bank-simulator: this is Node\.js v\S+, and Node\.js 24 or newer is needed: .+\n$/)
})
