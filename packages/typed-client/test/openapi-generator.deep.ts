import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { type World, world } from '../../server/test/support/world.ts'
import { programs } from './generated-programs.ts'

/**
 * Clients that OpenAPI Generator makes of the served document with its default options: they compile, and charge what they are told to.
 * `OPENAPI_GENERATOR` and `PYTHON` are the commands, where they are not on the path by their own names.
 */

const GENERATOR = (process.env.OPENAPI_GENERATOR ?? 'openapi-generator-cli').split(' ')
const PYTHON = process.env.PYTHON ?? 'python3'

/** Two of them are no float32, one is 0.29 × 100 = 28.999…, one is the largest. */
const CENTS = [29, 19_99, 524_288_13, 9_999_999_999_99]

const call = promisify(execFile)

async function isInstalled([command = '', ...args]: readonly string[]): Promise<boolean> {
  return call(command, args).then(
    () => true,
    () => false,
  )
}

/** The reason why a test cannot run here; `false`: it can. */
async function missing(...needs: readonly (readonly string[])[]): Promise<string | false> {
  for (const need of [[...GENERATOR, 'version'], ...needs]) {
    if (!(await isInstalled(need))) return `${need.join(' ')} does not run here`
  }
  return false
}

/** Generates a client. @returns its folder, which goes with the test */
async function generated(t: TestContext, { url }: World, generator: string, ...options: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pixgate-generated-'))
  t.after(() => rm(folder, { recursive: true }))
  const [command = '', ...args] = GENERATOR
  const asked = ['generate', '-i', `${url}/openapi.json`, '-g', generator, '-o', folder, ...options]
  await call(command, [...args, ...asked], { maxBuffer: 1e8 })
  return folder
}

/** Runs a program of the client, and compares what it read, and what the bank has, with what was ordered. */
async function sells(pix: World, cwd: string, [command = '', ...args]: readonly string[]): Promise<void> {
  for (const _ of [1, 2]) await pix.paid('9999999999.99')
  const { stdout } = await call(command, [...args, pix.url, pix.apiKey], { cwd })
  assert.deepEqual(JSON.parse(stdout), { charges: CENTS, payouts: CENTS })
  const { body: book } = await pix.bank('GET', '/control/book')
  const amounts = (items: readonly { readonly valueCents: number }[]) => items.map(({ valueCents }) => valueCents)
  assert.deepEqual(amounts(book.charges).slice(2), CENTS)
  assert.deepEqual(amounts(book.payouts).toSorted(byAmount), CENTS)
}

function byAmount(one: number, other: number): number {
  return one - other
}

async function add(folder: string, [name, text]: readonly [string, string]): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true })
  await writeFile(join(folder, name), text)
}

const LONG = { timeout: 600_000 }

test('[reference.12] a Go client compiles and charges exactly', LONG, async (t) => {
  const reason = await missing(['go', 'version'])
  if (reason) return t.skip(reason)
  const pix = await world(t)
  const folder = await generated(t, pix, 'go')
  await add(folder, programs.go)
  await sells(pix, folder, ['go', 'run', './shop'])
})

test('[reference.12] a Python client charges exactly', LONG, async (t) => {
  const reason = await missing([PYTHON, '-c', 'import pydantic, urllib3, dateutil'])
  if (reason) return t.skip(reason)
  const pix = await world(t)
  const folder = await generated(t, pix, 'python')
  await add(folder, programs.python)
  await sells(pix, folder, [PYTHON, 'shop.py'])
})

for (const library of ['native', 'okhttp-gson']) {
  test(`[reference.12] a Java client compiles: ${library}`, LONG, async (t) => {
    const reason = await missing(['mvn', '--version'])
    if (reason) return t.skip(reason)
    const folder = await generated(t, await world(t), 'java', '--library', library)
    await call('mvn', ['-q', '-DskipTests', 'compile'], { cwd: folder, maxBuffer: 1e8 })
  })
}

test('[reference.12] a PHP client has no fault', LONG, async (t) => {
  const reason = await missing(['php', '--version'])
  if (reason) return t.skip(reason)
  const folder = await generated(t, await world(t), 'php')
  await call('sh', ['-c', 'find lib -name "*.php" | xargs -n 1 php -l'], { cwd: folder, maxBuffer: 1e8 })
})

test('[reference.12] the other Python generator reads the document', LONG, async (t) => {
  const need = ['openapi-python-client', '--version']
  if (!(await isInstalled(need))) return t.skip(`${need.join(' ')} does not run here`)
  const { url } = await world(t)
  const folder = await mkdtemp(join(tmpdir(), 'pixgate-generated-'))
  t.after(() => rm(folder, { recursive: true }))
  const args = ['generate', '--url', `${url}/openapi.json`, '--output-path', join(folder, 'client')]
  const { stdout, stderr } = await call('openapi-python-client', args, { maxBuffer: 1e8 })
  // Files that are no JSON it leaves out, with a warning.
  assert.doesNotMatch(stdout + stderr, /^ERROR/m)
  await call(PYTHON, ['-m', 'compileall', '-q', folder])
})
