import assert from 'node:assert/strict'
import test from 'node:test'
import { apiKeyFormat, operatorTokenFormat } from '../../../packages/server/src/access/credentials.ts'
import { secretProblems } from '../../check/secrets.ts'

const SECRET = Buffer.alloc(32, 5)

function problems(text: string, path = 'docs/guide.md'): string[] {
  return secretProblems([{ path, text: `one\ntwo ${text} three` }])
}

test('[api-keys.2] [operators.2] a key or a token of ours in a file is found by its checksum, and not repeated', () => {
  for (const mode of ['sandbox', 'production'] as const) {
    for (const secret of [apiKeyFormat.format(mode, SECRET), operatorTokenFormat.format(mode, SECRET)]) {
      assert.deepEqual(problems(secret), ['docs/guide.md:2 has an API key or an operator’s token'])
      assert.deepEqual(problems(`"${secret}".`).length, 1)
      assert.deepEqual(problems(`${secret.slice(0, -1)}${secret.endsWith('0') ? 1 : 0}`), [], 'an example')
    }
  }
  assert.deepEqual(problems(apiKeyFormat.format('production', SECRET), 'packages/server/test/access/key.test.ts'), [])
})

test('what opens others’ doors is found by what it begins with', () => {
  // Put together here, so that this file has none.
  const dashes = '-'.repeat(5)
  for (const [text, what] of [
    [`${dashes}BEGIN PRIVATE KEY${dashes}\nMIGHAgEAMBMGByqGSM49`, 'a private key'],
    [`${dashes}BEGIN EC PRIVATE KEY${dashes}\nMIGHAgEAMBMGByqGSM49`, 'a private key'],
    [`ghp${'_'}${'a1'.repeat(18)}`, 'a token of GitHub'],
    [`npm${'_'}${'a1'.repeat(18)}`, 'a token of npm'],
    [`AKIA${'A1'.repeat(8)}`, 'a key of AWS'],
    [`xoxb${'-'}1234567890-abc`, 'a token of Slack'],
    [`eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`, 'a JSON Web Token'],
  ]) {
    assert.deepEqual(problems(text ?? ''), [`docs/guide.md:2 has ${what}`])
  }
  assert.deepEqual(problems(`${dashes}BEGIN PUBLIC KEY${dashes}\nMFkwEwYHKoZIzj0CAQYI`), [])
  assert.deepEqual(problems('the header -----BEGIN PRIVATE KEY----- and what is behind it'), [])
})
