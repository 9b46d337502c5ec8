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

/** The settings of one unit. One that is set several times is not expected. */
function settingsOf(file: string): Readonly<Record<string, string>> {
  const lines = readFileSync(join(FOLDER, file), 'utf8').split('\n')
  return Object.fromEntries(
    lines.flatMap((line) => [...line.matchAll(/^(\w+)=(.*)$/g)].map(([, key, value]) => [key, value])),
  )
}

const files = readdirSync(FOLDER).sort()

test('there is a unit for each role that runs by itself, with the program and the file of the guide', () => {
  assert.deepEqual(files, ['pixgate-api.service', 'pixgate-migrate.service', 'pixgate-worker.service'])
  const guide = blocksOf('Starting it for real', 'sh').join('')
  for (const file of files) {
    const { ExecStart = '', EnvironmentFile = '', Type } = settingsOf(file)
    const role = /^pixgate-(\w+)\.service$/.exec(file)?.[1]
    assert.ok(ROLES.some((known) => known === role))
    assert.equal(ExecStart, `/opt/pixgate/bin/pixgate ${role}`)
    assert.ok(guide.includes(`${ExecStart}\n`), ExecStart)
    assert.ok(guide.includes(EnvironmentFile), EnvironmentFile)
    assert.equal(Type, role === 'migrate' ? 'oneshot' : 'exec')
  }
})

test('each unit is hardened, starts again, and has time to end what is under way', () => {
  for (const file of files) {
    const settings = settingsOf(file)
    const wanted = {
      DynamicUser: 'yes',
      NoNewPrivileges: 'yes',
      ProtectSystem: 'strict',
      ProtectHome: 'yes',
      PrivateTmp: 'yes',
      CapabilityBoundingSet: '',
      KillSignal: 'SIGTERM',
      Restart: 'on-failure',
      RestartPreventExitStatus: '2',
    }
    for (const [name, value] of Object.entries(wanted)) assert.equal(settings[name], value, `${file}: ${name}`)
    assert.ok(Number(settings.TimeoutStopSec) * 1_000 > DRAIN_MS, file)
    assert.notEqual(settings.MemoryDenyWriteExecute, 'yes', 'V8 compiles')
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
  const [, port] = /^PIXGATE_WORKER_PORT=(\d+)$/.exec(settingsOf('pixgate-worker.service').Environment ?? '') ?? []
  const readme = readFileSync(join(ROOT, 'deploy/README.md'), 'utf8')
  const [, targets = ''] = /targets: \[([^\]]+)\]/.exec(readme) ?? []
  assert.equal(targets, `'127.0.0.1:8080', '127.0.0.1:${port}'`)
})
