import assert from 'node:assert/strict'
import test from 'node:test'
import { dependencyProblems } from '../../check/dependencies.ts'
import { readText } from '../../check/repository.ts'

const REASONS = [
  '| package | in | why |',
  '| `pg` 8 | server | SQL |',
  '| `typescript` 7, `@types/pg` | dev | types of `all` |',
  '| package | why not |',
  '| `leftpad` | too long |',
].join('\n')

test('every dependency has its reason and one version', () => {
  const manifest = JSON.stringify({
    dependencies: { '@pixgate/spec': '0.1.0', pg: '8.23.1' },
    devDependencies: { '@types/pg': '8.23.1' },
  })
  assert.deepEqual(dependencyProblems([manifest], REASONS), [])
})

test('one without a reason, and one of any version, is a problem', () => {
  const manifests = [
    { dependencies: { leftpad: '1.0.0' } },
    { devDependencies: { pg: '^8.23.1' } },
    { optionalDependencies: { fast: '1.0.0' } },
  ].map((it) => JSON.stringify(it))
  assert.deepEqual(dependencyProblems(manifests, REASONS), [
    'leftpad has no row in docs/adr/0003-dependencies.md',
    'pg: ^8.23.1 is not one version',
    'fast has no row in docs/adr/0003-dependencies.md',
  ])
})

test('what is installed for the server depends on fifteen packages of others at most', () => {
  const manifests = ['server', 'spec', 'brcode'].map((name) => readText(`packages/${name}/package.json`) ?? '{}')
  const names = new Set(
    manifests
      .flatMap((text) => Object.keys((JSON.parse(text) as { dependencies?: object }).dependencies ?? {}))
      .filter((name) => !name.startsWith('@pixgate/')),
  )
  assert.ok(names.size > 5 && names.size <= 15, [...names].join())
})
