import test from 'node:test'
import { type Connector, type Kind, kindsAt, tellRestored } from '../support/restored-orders.ts'

const CONNECTORS: readonly Connector[] = ['pixgate', 'api-pix', 'efi']

function othersOf(kind: Kind) {
  return kind === 'cash_out' ? ([undefined, 'amount', 'recipient'] as const) : ([undefined, 'amount'] as const)
}

for (const connector of CONNECTORS) {
  for (const kind of kindsAt(connector)) {
    for (const isNoticed of [true, false]) {
      for (const other of othersOf(kind)) {
        const how = `${isNoticed ? 'noticed' : 'unnoticed'}, with ${other === undefined ? 'the same terms' : `another ${other}`}`
        test(`[ids.4] [restored.4] [restored.5] [DB-46] at ${connector}: a forgotten ${kind} is ordered again, ${how}`, (t) =>
          tellRestored(t, { connector, kind, isNoticed, ...(other && { other }) }))
      }
    }
  }
}
