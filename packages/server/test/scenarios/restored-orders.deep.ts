import test from 'node:test'
import { type Connector, kindsAt, tellRestored } from '../support/restored-orders.ts'

/** Every bank, kind of order and way of restoring. */
const CONNECTORS: readonly Connector[] = ['pixgate', 'api-pix', 'efi']

for (const connector of CONNECTORS) {
  for (const kind of kindsAt(connector)) {
    for (const isNoticed of [true, false]) {
      for (const isOther of [false, true]) {
        const how = `${isNoticed ? 'noticed' : 'unnoticed'}, with ${isOther ? 'other' : 'the same'} terms`
        test(`[ids.4] [restored.4] [restored.5] [DB-46] at ${connector}: a forgotten ${kind} is ordered again, ${how}`, (t) =>
          tellRestored(t, { connector, kind, isNoticed, isOther }))
      }
    }
  }
}
