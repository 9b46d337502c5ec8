import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../check/repository.ts'

const GUARD = join(ROOT, 'packages/server/bin/node-version.cjs')

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

/** What the lock file says of an installed package. */
interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly hasInstallScript?: boolean
}

const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

function startWithVersion(version: string) {
  const program = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } }); require('${GUARD}')`
  return spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' })
}

test('a Node.js older than 24 ends with one sentence and status 2', () => {
  for (const version of ['0.10.48', '18.20.8', '20.20.2', '23.11.1']) {
    const { status, stderr } = startWithVersion(version)
    assert.equal(status, 2, version)
    assert.match(stderr, /^pixgate: this is Node\.js v\S+, and Node\.js 24 or newer is needed: .+\n$/)
  }
})

test('Node.js 24 and newer goes on, and says nothing', () => {
  for (const version of ['24.0.0', '26.10.0', '100.0.0']) {
    const { status, stderr } = startWithVersion(version)
    assert.deepEqual([status, stderr], [0, ''], version)
  }
})

test('every verb runs on the Node.js that came with the packages, and asks for the version first', () => {
  for (const [verb, command] of Object.entries(manifest.scripts)) {
    const isOfNpm = command.split(' && ').every((part) => /^npm /.test(part))
    assert.ok(isOfNpm ? verb === 'audit' : /^exec scripts\/node /.test(command), verb)
  }
  const found = spawnSync(join(ROOT, 'scripts/node'), ['-p', 'process.execArgv.join() + process.version'], {
    encoding: 'utf8',
  })
  assert.match(found.stdout, /node-version\.cjs.*v(?:2[4-9]|[3-9]\d)\./, found.stderr)
})

test('where no Node.js came with the packages the machine’s is used', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'pixgate-node-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const path of ['scripts/node', 'packages/server/bin/node-version.cjs'])
    cpSync(join(ROOT, path), join(root, path))
  const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`
  const { stdout } = spawnSync(join(root, 'scripts/node'), ['-p', 'process.execPath'], {
    encoding: 'utf8',
    env: { PATH },
  })
  assert.equal(realpathSync(stdout.trim()), realpathSync(process.execPath))
})

test('each runtime that comes with the project is named exactly, with its hash in the lock file and no install script', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const runtimes = Object.entries(manifest.optionalDependencies)
  assert.ok(runtimes.length > 0)
  for (const [name, version] of runtimes) {
    const locked: Locked = packages[`node_modules/${name}`]
    assert.match(version, /^24\.\d+\.\d+$/, name)
    assert.equal(locked.version, version)
    assert.match(locked.integrity ?? '', /^sha512-/, name)
    assert.ok(!locked.hasInstallScript, name)
  }
  assert.equal(packages['node_modules/node'], undefined)

  // The package for macOS has not had every version.
  const ofLinux = runtimes.filter(([name]) => name.startsWith('node-linux-')).map(([, version]) => version)
  assert.deepEqual([ofLinux.length, new Set(ofLinux).size], [2, 1], 'Linux has one version on all its machines')
})
