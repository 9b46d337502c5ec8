import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { readConfig, serviceVariables } from '../../../packages/server/src/config.ts'
import { readMigrationConfig } from '../../../packages/server/src/migration.ts'
import { DRAIN_MS, ROLES } from '../../../packages/server/src/process.ts'
import { CANARY, PRODUCTION } from '../../../packages/server/test/support/environment.ts'
import { ROOT } from '../../check/repository.ts'
import { buildContext } from './build-context.ts'
import { blocksOf } from './guide.ts'
import { placeProgram } from './installation.ts'

/**
 * No container engine runs here: all that the image does beyond copying is deploy/install.sh, which install.test.ts runs.
 * What is said to the engine is read.
 */

/** A file of the composition, and where a container finds it. */
interface Mounted {
  readonly source: string
  readonly target: string
}

/** What this test reads of a service of `compose.yaml`. */
interface ComposedService {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly secrets?: readonly (string | Mounted)[]
  readonly configs?: readonly Mounted[]
  readonly init?: boolean
  readonly ports?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly stop_grace_period?: string
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

interface Composition {
  readonly services: Readonly<Record<string, ComposedService>>
  readonly networks: {
    readonly default: { readonly ipam: { readonly config: readonly { readonly gateway: string }[] } }
  }
  readonly volumes: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly configs: Readonly<Record<string, { readonly content: string }>>
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** A stage of the Dockerfile: its instructions, by their words. */
type Stage = Readonly<Record<string, readonly string[] | undefined>>

const [build = {}, image = {}, ...more]: Stage[] = read('Dockerfile')
  .split(/^(?=FROM )/m)
  .slice(1)
  .map((stage) => {
    const instructions = [...stage.matchAll(/^([A-Z]+) (.+)$/gm)]
    const words = new Set(instructions.map(([, word = '']) => word))
    const valuesOf = (word: string) =>
      instructions.filter(([, other]) => other === word).map(([, , value = '']) => value)
    return Object.fromEntries([...words].map((word) => [word, valuesOf(word)]))
  })

const composition: Composition = parse(read('compose.yaml'), { merge: true })

test('the image is what the script installs, on Node.js 24, in two stages, as a user without privileges', () => {
  const [from = ''] = image.FROM ?? []
  assert.match(from, /^node:24-\S+$/)
  assert.deepEqual(build, {
    FROM: [`${from} AS build`],
    WORKDIR: ['/checkout'],
    COPY: ['. .'],
    RUN: ['sh deploy/install.sh /opt/pixgate'],
  })
  assert.deepEqual(more, [])
  const { FROM, ENV, EXPOSE, HEALTHCHECK, CMD, ...rest } = image
  assert.deepEqual(rest, {
    COPY: ['--from=build /opt/pixgate /opt/pixgate'],
    WORKDIR: ['/opt/pixgate'],
    USER: ['node'],
    STOPSIGNAL: ['SIGTERM'],
    ENTRYPOINT: ['["/opt/pixgate/bin/pixgate"]'],
  })
  assert.ok(existsSync(join(ROOT, 'deploy/pixgate')))
  const [[role = ''] = []] = (CMD ?? []).map((value) => JSON.parse(value) as string[])
  assert.ok(ROLES.some((known) => known === role))
})

test('its lines give the settings as the file that the server reads itself, and a process 1 that hands signals on', () => {
  const [, run = ''] = /^# +(docker run .+)$/m.exec(read('Dockerfile')) ?? []
  const [workingDirectory] = image.WORKDIR ?? []
  assert.ok(run.includes(`-v "$PWD/pixgate.env:${workingDirectory}/.env:ro"`), run)
  for (const option of ['--init', '--read-only']) assert.ok(run.includes(` ${option} `), option)
  // It hands quotes over as a part of the value.
  assert.ok(!run.includes('--env-file'))
})

test('the image sets only variables that are known, and no secret', () => {
  const [variables = ''] = image.ENV ?? []
  const names = variables.split(' ').map((assignment) => assignment.split('=', 1).join())
  for (const name of names.filter((name) => name !== 'NODE_ENV')) {
    assert.ok(name in serviceVariables, name)
    assert.ok(!('secret' in serviceVariables[name as keyof typeof serviceVariables]), name)
  }
  assert.ok(variables.includes(`PORT=${image.EXPOSE?.join()}`))
})

test('the image is healthy while /healthz answers, and not where nobody does', async () => {
  const [value = ''] = image.HEALTHCHECK ?? []
  const [, ...parameters]: string[] = JSON.parse(value.slice(value.indexOf('[')))
  const program = `require('node:http').createServer((_, answer) => answer.end()).listen(0, '127.0.0.1', function () {
    const check = require('node:child_process').spawn(process.execPath, ${JSON.stringify(parameters)}, { env: { PORT: this.address().port } })
    check.on('exit', (code) => process.exit(code))
  })`
  assert.equal(spawnSync(process.execPath, ['-e', program]).status, 0)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  assert.equal(spawnSync(process.execPath, parameters, { env: { PORT: String(port) } }).status, 1)
})

test('what is sent to build the image has no tests, settings or history, and nothing of the sandbox', () => {
  const sent = buildContext()
  assert.ok(sent.includes('deploy/install.sh'))
  assert.deepEqual(
    sent.filter((path) => /\/test\/|\.env|^\.git|node_modules|sandbox\/src/.test(path)),
    [],
  )
})

test('the composition runs each role once, hardened, with time to stop, after the migration', () => {
  const { postgres, ...servers } = composition.services
  assert.deepEqual(Object.keys(servers), ['migrate', 'api', 'worker'])
  for (const [name, server] of Object.entries(servers)) {
    assert.deepEqual(server.command, [name])
    assert.ok(ROLES.some((role) => role === name))
    assert.deepEqual([server.read_only, server.init], [true, true])
    assert.deepEqual([server.cap_drop, server.security_opt], [['ALL'], ['no-new-privileges:true']])
    assert.ok(Number.parseInt(server.stop_grace_period ?? '', 10) * 1_000 > DRAIN_MS)
    assert.equal(server.healthcheck?.disable ?? false, name === 'migrate')
    const waitsFor =
      name === 'migrate' ? ['postgres', 'service_healthy'] : ['migrate', 'service_completed_successfully']
    const [[awaited, { condition } = { condition: '' }] = ['']] = Object.entries(server.depends_on ?? {})
    assert.deepEqual([awaited, condition], waitsFor)
  }
  assert.deepEqual(servers.api?.ports, ['127.0.0.1:8080:8080'])
  const { PIXGATE_WORKER_PORT, PORT } = servers.worker?.environment ?? {}
  assert.deepEqual(servers.worker?.ports, [`127.0.0.1:${PIXGATE_WORKER_PORT}:${PIXGATE_WORKER_PORT}`])
  assert.equal(PORT, PIXGATE_WORKER_PORT, 'the check of the image asks at PORT')
  assert.equal(postgres?.ports, undefined)
})

test('the composition’s PostgreSQL is healthy when it is process 1, not while the image prepares the database', (t) => {
  const PGDATA = mkdtempSync(join(tmpdir(), 'pixgate-pgdata-'))
  t.after(() => rmSync(PGDATA, { recursive: true }))
  placeProgram(join(PGDATA, 'pg_isready'), 'exit 0')
  const [kind, check = ''] = composition.services.postgres?.healthcheck?.test ?? []
  assert.equal(kind, 'CMD-SHELL')
  const env = { PGDATA, PATH: `${PGDATA}:/usr/bin:/bin` }
  const isHealthy = () => spawnSync('/bin/sh', ['-c', check.replaceAll('$$', '$')], { env }).status === 0
  assert.ok(!isHealthy())
  writeFileSync(join(PGDATA, 'postmaster.pid'), '57\n/var/lib/postgresql/18/docker\n')
  assert.ok(!isHealthy())
  writeFileSync(join(PGDATA, 'postmaster.pid'), '1\n/var/lib/postgresql/18/docker\n')
  assert.ok(isHealthy())
  placeProgram(join(PGDATA, 'pg_isready'), 'exit 2')
  assert.ok(!isHealthy())
})

test('the composition keeps its data in a volume and its secrets in files, which no environment has', () => {
  const { postgres, ...servers } = composition.services
  const mounted = Object.values(composition.services).flatMap(({ volumes = [] }) => volumes)
  for (const volume of mounted) assert.ok((volume.split(':')[0] ?? '') in composition.volumes, volume)
  assert.ok(postgres?.volumes?.some((volume) => volume.startsWith('database:')))
  assert.equal(postgres?.environment?.POSTGRES_PASSWORD_FILE, '/run/secrets/postgres_password')
  assert.deepEqual(postgres?.secrets, ['postgres_password', 'server_password'])
  for (const name of ['postgres_password', 'server_password']) assert.ok(name in composition.secrets, name)
  for (const [name, server] of Object.entries(servers)) {
    // The owner's login is where the schema is migrated, and nowhere else.
    const source = name === 'migrate' ? 'migration_env' : 'pixgate_env'
    assert.deepEqual(server.secrets, [{ source, target: `${image.WORKDIR}/.env` }])
    assert.ok(!('env_file' in server))
    const names = Object.keys(server.environment ?? {})
    assert.ok(!names.some((name) => 'secret' in (serviceVariables[name as keyof typeof serviceVariables] ?? {})))
  }
  for (const { file } of Object.values(composition.secrets)) {
    const { status } = spawnSync('git', ['check-ignore', '--quiet', file], { cwd: ROOT })
    assert.equal(status, 0, `${file} is never committed`)
  }
})

test('production takes the image’s address with the proxy that the composition’s head names, and not without', () => {
  const [, proxy = ''] = /PIXGATE_TRUST_PROXY='(\S+)'/.exec(read('compose.yaml')) ?? []
  const [network] = composition.networks.default.ipam.config
  assert.equal(proxy, network?.gateway)
  const [, HOST = ''] = /HOST=(\S+)/.exec(image.ENV?.join() ?? '') ?? []
  assert.deepEqual(readConfig({ ...PRODUCTION, HOST, PIXGATE_TRUST_PROXY: proxy }).trustProxy, [proxy])
  assert.throws(() => readConfig({ ...PRODUCTION, HOST }), /HOST may be reached by others/)
})

test('the composition’s database is the guide’s, with an owner who is no superuser, and one that production takes', () => {
  const { postgres, api } = composition.services
  const [, DATABASE_URL = ''] = /DATABASE_URL='(\S+)'/.exec(read('compose.yaml')) ?? []
  const chosen = DATABASE_URL.replace('PASSWORD', CANARY)
  assert.equal(readConfig({ ...PRODUCTION, DATABASE_URL: chosen }).databaseUrl, chosen)
  const [, PIXGATE_MIGRATION_URL = ''] = /PIXGATE_MIGRATION_URL='(\S+)'/.exec(read('compose.yaml')) ?? []
  const { login } = readMigrationConfig(
    { PIXGATE_MODE: 'production', PIXGATE_MIGRATION_URL: PIXGATE_MIGRATION_URL.replace('PASSWORD', CANARY) },
    new Map(),
  )
  assert.equal(login.url, chosen.replace('pixgate_server', 'pixgate_owner'))
  const { hostname } = new URL(DATABASE_URL)
  for (const service of [postgres, api]) {
    assert.ok(service?.volumes?.includes(`socket:${decodeURIComponent(hostname)}`))
  }
  const [statements = ''] = blocksOf('Starting it for real', 'sql')
  const contentAt = (target: string) =>
    composition.configs[postgres?.configs?.find((config) => config.target === target)?.source ?? '']?.content ?? ''
  const owner = contentAt('/docker-entrypoint-initdb.d/owner.sql')
  const made = statements.replace("'choose-one'", ":'password'").replace("'choose-another'", ":'server_password'")
  assert.ok(owner.includes(made), owner)
  assert.ok(owner.includes('\\set server_password `cat /run/secrets/server_password`\n'), owner)
  assert.equal(postgres?.environment?.POSTGRES_USER, undefined)
  const [hbaFile = ''] = postgres?.command?.filter((word) => word.startsWith('hba_file=')) ?? []
  // Nobody comes to the superuser by the socket with a password, and nobody else without one.
  assert.equal(contentAt(hbaFile.replace('hba_file=', '')), 'local all postgres peer\nlocal all all scram-sha-256\n')
})
