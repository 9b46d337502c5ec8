import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { DRAIN_MS, ROLES } from '../../../packages/server/src/process.ts'
import { ROOT } from '../../check/repository.ts'
import { blocksOf } from './guide.ts'

const FOLDER = join(ROOT, 'deploy/systemd')

/** The settings of one unit, by section. One that is set several times is not expected. */
function sectionsOf(file: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const sections = readFileSync(join(FOLDER, file), 'utf8').split(/^(?=\[\w+\]$)/m)
  return Object.fromEntries(
    sections.map((section) => {
      const [head = '', ...lines] = section.split('\n')
      const settings = lines.flatMap((line) =>
        [...line.matchAll(/^(\w+)=(.*)$/g)].map(([, key, value]) => [key, value]),
      )
      return [head.slice(1, -1), Object.fromEntries(settings)]
    }),
  )
}

const files = readdirSync(FOLDER).sort()

test('there is a unit for each role that runs by itself, with the program and the file of the guide', () => {
  assert.deepEqual(files, ['pixgate-api.service', 'pixgate-migrate.service', 'pixgate-worker.service'])
  const guide = blocksOf('Starting it for real', 'sh').join('')
  for (const file of files) {
    const { ExecStart = '', EnvironmentFile = '', Type } = sectionsOf(file).Service ?? {}
    const role = /^pixgate-(\w+)\.service$/.exec(file)?.[1]
    assert.ok(ROLES.some((known) => known === role))
    assert.equal(ExecStart, `/opt/pixgate/bin/pixgate ${role}`)
    assert.match(guide, new RegExp(`${ExecStart}\\)?\n`), ExecStart)
    assert.equal(EnvironmentFile, `/etc/pixgate/${role === 'migrate' ? 'migration' : 'pixgate'}.env`)
    assert.ok(guide.includes(EnvironmentFile), EnvironmentFile)
    assert.equal(Type, role === 'migrate' ? 'oneshot' : 'exec')
  }
})

test('each unit is hardened, starts again, and has time to end what is under way', () => {
  for (const file of files) {
    const settings = sectionsOf(file).Service ?? {}
    const wanted = {
      DynamicUser: 'yes',
      NoNewPrivileges: 'yes',
      ProtectSystem: 'strict',
      ProtectHome: 'yes',
      PrivateTmp: 'yes',
      CapabilityBoundingSet: '',
      // A core would hold keys.
      LimitCORE: '0',
      KillSignal: 'SIGTERM',
      Restart: settings.Type === 'oneshot' ? 'on-failure' : 'always',
      // A wrong configuration; no Node.js that this user can run; none in its path.
      RestartPreventExitStatus: '2 126 127',
    }
    for (const [name, value] of Object.entries(wanted)) assert.equal(settings[name], value, `${file}: ${name}`)
    assert.ok(Number(settings.TimeoutStopSec) * 1_000 > DRAIN_MS, file)
    assert.notEqual(settings.MemoryDenyWriteExecute, 'yes', 'V8 compiles')
  }
})

test('what serves starts with the machine, after the network and the migration, which nothing else starts', () => {
  for (const file of files) {
    const { Unit, Install } = sectionsOf(file)
    const serves = file !== 'pixgate-migrate.service'
    const before = ['network-online.target', ...(serves ? ['pixgate-migrate.service'] : [])]
    assert.deepEqual(Unit?.Wants?.split(' '), before, file)
    assert.deepEqual(Unit?.After?.split(' ').sort(), [...before, 'postgresql.service'].sort(), file)
    // As often as it takes: what it waits for comes back by itself.
    assert.equal(Unit?.StartLimitIntervalSec, '0', file)
    // The owner's login may be kept elsewhere.
    assert.equal(Unit?.ConditionPathExists, serves ? undefined : '/etc/pixgate/migration.env', file)
    assert.equal(Install?.WantedBy, serves ? 'multi-user.target' : undefined, file)
  }
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test('systemd finds nothing wrong with the units', { skip: !hasSystemd && 'there is no systemd-analyze' }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pixgate-units-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const file of files) {
    // It looks for the program, which is not installed here.
    const unit = readFileSync(join(FOLDER, file), 'utf8').replace('/opt/pixgate/bin/pixgate', '/bin/true')
    writeFileSync(join(folder, file), unit)
  }
  const paths = files.map((file) => join(folder, file))
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8' })
  assert.deepEqual([status, stderr.split('\n').filter((line) => line.includes('pixgate'))], [0, []])
})

test('[health.6] workers answer how they fare where the example of Prometheus looks for them', () => {
  const [, port] =
    /^PIXGATE_WORKER_PORT=(\d+)$/.exec(sectionsOf('pixgate-worker.service').Service?.Environment ?? '') ?? []
  const readme = readFileSync(join(ROOT, 'deploy/README.md'), 'utf8')
  const [, targets = ''] = /targets: \[([^\]]+)\]/.exec(readme) ?? []
  assert.equal(targets, `'127.0.0.1:8080', '127.0.0.1:${port}'`)
})
