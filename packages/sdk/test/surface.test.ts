import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { endpoints } from '@pixgate/spec'
import { surface } from '../../../scripts/generate/sdk-surface.ts'
import { goneLines, SURFACE } from '../../../scripts/generate/sdk-surface-text.ts'

test('[sdk.1] every operation has a line, and no line is of another', () => {
  assert.deepEqual(Object.keys(surface).toSorted(), Object.keys(endpoints).toSorted())
})

test('[sdk.14] a public name, field or member that is gone is noticed', () => {
  const text = readFileSync(new URL(`../../../${SURFACE}`, import.meta.url), 'utf8')
  const lines = [
    '@pixgate/sdk exports cents',
    'CashInsMethods has get(id: string, options?: RequestOptions): Promise<CashIn>',
    'CashIn has readonly payerName: string | null',
    "CashInStatus is 'PAID'",
  ]
  for (const line of lines) assert.ok(text.includes(`\n${line}\n`), line)
  assert.deepEqual(goneLines(text), [])
  const gone = lines.map((line) => `${line}s`)
  assert.deepEqual(goneLines([text, ...gone].join('\n')), gone)
})
