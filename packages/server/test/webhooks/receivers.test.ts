import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'

const ROOT = new URL('../../../../', import.meta.url)

const VERIFIERS = {
  Python: 'examples/receivers/python/pixgate_signatures.py',
  Go: 'examples/receivers/go/pixgate/verifier.go',
}

for (const [heading, file] of Object.entries(VERIFIERS)) {
  test(`[webhooks.8] the receiver for ${heading} has the guide's verifier`, () => {
    const guide = readFileSync(new URL('docs/guides/webhook-receiver.md', ROOT), 'utf8')
    const block = guide.split(`### ${heading}\n`)[1]?.split('```')[1] ?? ''
    assert.equal(readFileSync(new URL(file, ROOT), 'utf8'), block.slice(block.indexOf('\n') + 1))
  })
}
