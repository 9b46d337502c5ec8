import assert from 'node:assert/strict'
import test from 'node:test'
import { lockFileProblems, npmSettingProblems } from '../../check/lock-file.ts'

const INTEGRITY = `sha512-${'A'.repeat(86)}==`
const GOOD = { version: '1.2.3', integrity: INTEGRITY, license: 'MIT' }

/** What is said of a lock file with these packages, and of one that has an install script and is allowed it. */
function problems(packages: Record<string, object>, lockfileVersion = 3): string[] {
  const ours = { '': {}, 'packages/spec': {}, 'node_modules/@pixgate/spec': { resolved: 'packages/spec', link: true } }
  const manifest = JSON.stringify({ allowScripts: { allowed: true, denied: false } })
  return lockFileProblems(JSON.stringify({ lockfileVersion, packages: { ...ours, ...packages } }), manifest)
}

test('a lock file of the registry’s packages with their SHA-512 is right, with their addresses or without', () => {
  const host = 'https://registry.example'
  assert.deepEqual(
    problems({
      'node_modules/pg': GOOD,
      'node_modules/pg/node_modules/@types/node': { ...GOOD, resolved: `${host}/@types/node/-/node-1.2.3.tgz` },
      'node_modules/undici': { ...GOOD, resolved: `${host}/undici/-/undici-1.2.3.tgz` },
      'node_modules/allowed': { ...GOOD, hasInstallScript: true },
      'node_modules/choice': { ...GOOD, license: '(GPL-3.0 OR MIT)' },
      'node_modules/both': { ...GOOD, license: 'MIT AND ISC' },
      'node_modules/developed-with': { ...GOOD, license: 'GPL-3.0', dev: true },
    }),
    [],
  )
})

test('what is not the registry’s, or has no SHA-512, is a problem', () => {
  for (const resolved of [
    'git+ssh://git@host.example/pg.git#1',
    'http://registry.example/pg/-/pg-1.2.3.tgz',
    'https://registry.example/other/-/other-1.2.3.tgz',
    'https://registry.example/pg/-/pg-1.2.4.tgz',
    'https://user@registry.example/pg/-/pg-1.2.3.tgz',
    'file:../pg',
  ]) {
    assert.deepEqual(problems({ 'node_modules/pg': { ...GOOD, resolved } }), [`node_modules/pg comes from ${resolved}`])
  }
  for (const integrity of [undefined, '', 'sha1-AAAA', `sha512-${'A'.repeat(20)}==`]) {
    assert.deepEqual(problems({ 'node_modules/pg': { ...GOOD, integrity } }), ['node_modules/pg has no SHA-512'])
  }
  assert.deepEqual(problems({ 'node_modules/pg': { ...GOOD, name: 'evil' } }), [
    'node_modules/pg is evil under another name',
  ])
  assert.deepEqual(problems({ 'node_modules/pg': { ...GOOD, version: 'github:a/b' } }), [
    'node_modules/pg has no version of the registry: github:a/b',
  ])
  assert.deepEqual(problems({ 'node_modules/x': { resolved: '../elsewhere', link: true } }), [
    'node_modules/x is a link to ../elsewhere',
  ])
  const [one, other] = ['a', 'b'].map((name) => [
    `node_modules/${name}`,
    { ...GOOD, resolved: `https://${name}.example/${name}/-/${name}-1.2.3.tgz` },
  ]) as [[string, object], [string, object]]
  assert.deepEqual(problems(Object.fromEntries([one, other])), [
    'packages come from several hosts: a.example, b.example',
  ])
  assert.deepEqual(problems({}, 1), ['lockfileVersion is 1, not 3'])
})

test('an install script that nobody allowed, and a licence that asks for something, are problems', () => {
  for (const name of ['unknown', 'denied']) {
    assert.deepEqual(problems({ [`node_modules/${name}`]: { ...GOOD, hasInstallScript: true } }), [
      `node_modules/${name} has an install script that is not allowed`,
    ])
  }
  for (const license of ['AGPL-3.0', 'GPL-3.0 OR SSPL-1.0', 'MIT AND GPL-3.0', 'UNLICENSED', undefined]) {
    const [problem = '', ...more] = problems({ 'node_modules/pg': { ...GOOD, license } })
    assert.match(problem, /^node_modules\/pg has the licence .+, which is not in the list/)
    assert.deepEqual(more, [])
  }
})

test('npm is told to take no version of this week, and to run no script that nobody allowed', () => {
  assert.deepEqual(npmSettingProblems('# why\nmin-release-age=14\n\nstrict-allow-scripts=true\n'), [])
  assert.deepEqual(npmSettingProblems('min-release-age=1\n#strict-allow-scripts=true\n'), [
    '.npmrc: min-release-age must be at least 7',
    '.npmrc: strict-allow-scripts must be true',
  ])
})
