import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { readConfig, serviceVariables } from '../../../packages/server/src/config.ts'
import { DRAIN_MS, ROLES } from '../../../packages/server/src/process.ts'
import { PRODUCTION } from '../../../packages/server/test/support/environment.ts'
import { ROOT } from '../../check/repository.ts'
import { buildContext } from './build-context.ts'

/**
 * No container engine runs here: all that the image does beyond copying is deploy/install.sh, which install.test.ts runs.
 * What is said to the engine is read.
 */

/** What this test reads of a service of `compose.yaml`. */
interface ComposedService {
  readonly image: string
  readonly command?: readonly string[]
  readonly env_file?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly secrets?: readonly string[]
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
  readonly volumes: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const instructions = read('Dockerfile')
  .split('\n')
  .filter((line) => /^[A-Z]/.test(line))
  .map((line) => [line.split(' ', 1).join(), line.slice(line.indexOf(' ') + 1)] as const)

const valuesOf = (name: string) => instructions.filter(([word]) => word === name).map(([, value]) => value)

const composition: Composition = parse(read('compose.yaml'), { merge: true })

test('the image is what the script installs, on Node.js 24, in two stages, as a user without privileges', () => {
  assert.match(valuesOf('FROM').join('\n'), /^node:24-\S+ AS build\nnode:24-\S+$/)
  assert.deepEqual(valuesOf('RUN'), ['sh deploy/install.sh /opt/pixgate'])
  assert.deepEqual(valuesOf('COPY'), ['. .', '--from=build /opt/pixgate /opt/pixgate'])
  assert.deepEqual(valuesOf('USER'), ['node'])
  assert.deepEqual(valuesOf('ENTRYPOINT'), ['["/opt/pixgate/bin/pixgate"]'])
  assert.ok(existsSync(join(ROOT, 'deploy/pixgate')))
  const [[role = ''] = []] = valuesOf('CMD').map((value) => JSON.parse(value) as string[])
  assert.ok(ROLES.some((known) => known === role))
})

test('the image sets only variables that are known, and no secret', () => {
  const [variables = ''] = valuesOf('ENV')
  const names = variables.split(' ').map((assignment) => assignment.split('=', 1).join())
  for (const name of names.filter((name) => name !== 'NODE_ENV')) {
    assert.ok(name in serviceVariables, name)
    assert.ok(!('secret' in serviceVariables[name as keyof typeof serviceVariables]), name)
  }
  assert.deepEqual(valuesOf('ARG'), [])
  assert.ok(variables.includes(`PORT=${valuesOf('EXPOSE').join()}`))
})

test('the image is healthy while /healthz answers, and not where nobody does', async () => {
  const [value = ''] = valuesOf('HEALTHCHECK')
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
    assert.equal(server.read_only, true)
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
  assert.ok(postgres?.healthcheck?.test?.includes('pg_isready'))
})

test('the composition has its secrets in files, keeps its data in a volume, and its database is one that production takes', () => {
  const { postgres, api } = composition.services
  assert.equal(postgres?.environment?.POSTGRES_PASSWORD_FILE, `/run/secrets/${postgres?.secrets?.join()}`)
  assert.ok(postgres?.secrets?.every((name) => name in composition.secrets))
  const mounted = Object.values(composition.services).flatMap(({ volumes = [] }) => volumes)
  for (const volume of mounted) assert.ok((volume.split(':')[0] ?? '') in composition.volumes, volume)
  assert.ok(postgres?.volumes?.some((volume) => volume.startsWith('database:')))
  for (const file of [api?.env_file, ...Object.values(composition.secrets).map(({ file }) => file)]) {
    const { status } = spawnSync('git', ['check-ignore', '--quiet', file ?? ''], { cwd: ROOT })
    assert.equal(status, 0, `${file} is never committed`)
  }

  const [, DATABASE_URL = ''] = /DATABASE_URL=(\S+)/.exec(read('compose.yaml')) ?? []
  assert.equal(readConfig({ ...PRODUCTION, DATABASE_URL }).databaseUrl, DATABASE_URL)
  const { username, hostname, pathname } = new URL(DATABASE_URL)
  assert.equal(`/${postgres?.environment?.POSTGRES_DB}`, pathname)
  assert.equal(postgres?.environment?.POSTGRES_USER, username)
  for (const service of [postgres, api]) {
    assert.ok(service?.volumes?.includes(`socket:${decodeURIComponent(hostname)}`))
  }
})
