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
  for (const line of [
    '@pixgate/sdk exports cents',
    'CashInsMethods has get(id: string, options?: RequestOptions): Promise<CashIn>',
    'CashIn has readonly payerName: string | null',
    "CashInStatus is 'PAID'",
  ]) {
    assert.ok(text.includes(`\n${line}\n`), line)
    assert.deepEqual(goneLines(text), [])
    assert.deepEqual(goneLines(text.replace(line, `${line}s`)), [`${line}s`])
  }
})
