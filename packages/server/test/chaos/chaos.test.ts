import assert from 'node:assert/strict'
import test from 'node:test'
import { chaos } from './chaos.ts'
import { isGood, reportText } from './report.ts'

/** A short run; `npm run test:deep -- chaos` runs beside each kind of bank. */

test('[P1] [P4] three seconds of kills, stops and cut connections: not a centavo is missing', async () => {
  const report = await chaos({ seed: 1, connector: 'pixgate', bankKind: 'truthful', forMs: 3_000 })
  assert.ok(isGood(report), reportText(report))
})
