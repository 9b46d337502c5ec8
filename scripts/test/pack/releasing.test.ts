import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../check/repository.ts'
import { PUBLISHED } from '../../pack/package.ts'
import { blocksOf } from '../deploy/guide.ts'

test('the workflow of a release publishes all packages, each after those that it needs', () => {
  const [workflow = ''] = blocksOf('Publishing', 'yaml', 'docs/releasing.md')
  const names = (/for name in (.*); do/.exec(workflow)?.[1] ?? '').split(' ')
  assert.deepEqual(names, PUBLISHED)
  for (const [place, name] of names.entries()) {
    const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'))
    const ours = Object.keys(dependencies).filter((one) => one.startsWith('@pixgate/'))
    assert.deepEqual(
      ours.filter((one) => !names.slice(0, place).includes(one.slice(9))),
      [],
      name,
    )
  }
})

/** None that this repository has ever had. */
const NEXT = '97.0.1'

test('the lines of a release give all packages its version, also where one needs another', (t) => {
  const checkout = mkdtempSync(join(tmpdir(), 'pixgate-release-'))
  t.after(() => rmSync(checkout, { recursive: true }))
  const manifests = ['package.json', ...globSync('packages/*/package.json', { cwd: ROOT })]
  for (const path of [...manifests, 'package-lock.json']) {
    mkdirSync(join(checkout, dirname(path)), { recursive: true })
    copyFileSync(join(ROOT, path), join(checkout, path))
  }
  const [lines = ''] = blocksOf('Before', 'sh', 'docs/releasing.md')
  execFileSync('/bin/sh', ['-euc', lines.replaceAll('0.2.0', NEXT)], {
    cwd: checkout,
    stdio: ['ignore', 'ignore', 'pipe'],
  })

  const { packages } = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8'))
  for (const path of manifests) {
    const manifest = JSON.parse(readFileSync(join(checkout, path), 'utf8'))
    for (const { version, dependencies = {} } of [manifest, packages[path === 'package.json' ? '' : dirname(path)]]) {
      assert.equal(version, NEXT, path)
      for (const [name, wanted] of Object.entries(dependencies)) {
        assert.equal(wanted === NEXT, name.startsWith('@pixgate/'), `${path}: ${name}`)
      }
    }
  }
  assert.deepEqual(globSync('**/*.before', { cwd: checkout }), [])
})
