import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, endpoints } from '../src/index.ts'
import { patternFaults } from '../src/patterns.ts'

test('[http.1] every pattern of what a client sends has a sentence, which is not the pattern', () => {
  const patterns = new Set(
    Object.values(endpoints).flatMap(({ params, query, body }: Endpoint) => patternsIn([params, query, body])),
  )
  assert.ok(patterns.size > 0)
  for (const pattern of patterns) assert.match(patternFaults[pattern] ?? '', /^must [^^$]+$/, pattern)
})

test('[http.1] [pix-key.1] a type of key is described as a choice', () => {
  assert.ok(Object.values(patternFaults).includes('must be one of cpf, cnpj, email, phone, evp'))
})

function patternsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]) =>
    key === 'pattern' && typeof value === 'string' ? [value] : patternsIn(value),
  )
}
