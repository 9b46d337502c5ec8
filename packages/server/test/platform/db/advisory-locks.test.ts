import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

const SOURCE = join(import.meta.dirname, '../../../src')

test('[database.9] no two things are locked by the same number', () => {
  const texts = globSync('**/*.ts', { cwd: SOURCE }).map((file) => readFileSync(join(SOURCE, file), 'utf8'))
  const numbers = texts.flatMap((text) => [...text.matchAll(/\b7046741\d{3}\b/g)].map(([number]) => number))
  assert.ok(numbers.length >= 3)
  assert.deepEqual(numbers, [...new Set(numbers)])
})
