import assert from 'node:assert/strict'
import test from 'node:test'
import { SEED } from '../support/seed.ts'
import { chaos } from './chaos.ts'
import type { BankKind, ConnectorName } from './plan.ts'
import { isGood, reportText } from './report.ts'

/** Long enough for each kind of fault; `npm run chaos` takes longer. */
const FOR_MS = 7_000

const names: readonly (readonly [ConnectorName, BankKind, string])[] = [
  [
    'pixgate',
    'truthful',
    '[P1] killed, stopped and cut off beside a bank that is true: not a centavo is missing, nothing is held',
  ],
  ['pixgate', 'lying', '[P7] killed, stopped and lied to: what differs from the bank’s book to the centavo has a case'],
  [
    'pixgate',
    'lying-not-idempotent',
    '[P5] killed, stopped and lied to without idempotent orders: each is carried out once at most',
  ],
  [
    'efi',
    'truthful',
    '[api-pix.11] [P1] killed, stopped and cut off beside a bank of the standard, its callbacks lost, doubled, batched, forged and late: both books are equal',
  ],
  [
    'efi',
    'truthful-not-idempotent',
    '[api-pix.11] [P5] killed, stopped and cut off beside a bank of the standard, its callbacks lost, batched and forged, its orders not idempotent: both books are equal',
  ],
]

// They mostly wait, so they wait together.
test('[P4] a short run of chaos beside each kind of bank', { concurrency: true }, (t) =>
  Promise.all(
    names.map(([connector, bankKind, name]) =>
      t.test(name, async () => {
        const report = await chaos({ seed: SEED, connector, bankKind, forMs: FOR_MS })
        assert.ok(isGood(report), reportText(report))
      }),
    ),
  ).then(() => undefined),
)
