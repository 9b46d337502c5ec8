import { type AccountCode, accounts } from '@pixgate/spec'
import { accountId } from '../account-id.ts'
import type { AccountChange, Draft } from '../draft.ts'
import type { ControlName } from '../operation.ts'
import { boundsOf } from './bounds.ts'
import { jsonOrNull, type Parameters } from './parameters.ts'
import type { Batch } from './part.ts'

/**
 * Lock and compare. `ac` locks the accounts in id order, `oc` the operations after them, `cc` the controls last, so that
 * no two batches can wait for each other in a circle. `go` holds where every operation and control still has the version
 * its decision saw and every account can bear the batch; deltas commute, so two processes never conflict on an account
 * as such. What was used of allowances is read behind the accounts' locks, which everything that takes of them waits for.
 *
 * Operations are compared as sets, which are hashed: joined, each was held against each other one of the batch, as the planner
 * knows no sizes, and 64 took 0.45 of 3.1 ms.
 * @source rules#engine.5, rules#engine.8
 */
export function locks(batch: Batch, p: Parameters): string {
  const { draft } = batch
  const bounds = boundsOf(draft)
  return `${wantedRows(draft, p)},
  ac AS MATERIALIZED (
    SELECT id, version, balance_cents FROM account
     WHERE id IN (SELECT id FROM wanted_account) ORDER BY id FOR UPDATE
  ),
  oc AS MATERIALIZED (
    SELECT id, version FROM operation
     WHERE id IN (SELECT id FROM wanted_operation) AND (SELECT count(*) FROM ac) >= 0 ORDER BY id FOR UPDATE
  ),
  cc AS MATERIALIZED (
    SELECT name, version, value FROM control
     WHERE name IN (SELECT name FROM wanted_control) AND (SELECT count(*) FROM oc) >= 0 ORDER BY name FOR UPDATE
  )${bounds.map((bound) => `,${bound.sql(batch, p)}`).join('')},
  go AS (
    SELECT NOT EXISTS (SELECT id, version FROM wanted_operation EXCEPT SELECT id, version FROM oc)
       AND NOT EXISTS (SELECT FROM wanted_control w JOIN cc USING (name) WHERE cc.version <> w.version)
       AND NOT EXISTS (
             SELECT FROM wanted_account w JOIN ac USING (id)
              WHERE (w.exact AND ac.version <> w.version) OR (w.floored AND ac.balance_cents + w.lowest < 0)
           )
${bounds.map(({ name }) => `\n       AND NOT EXISTS (SELECT FROM ${name} WHERE used > headroom)`).join('')} AS yes
  )`
}

/** What must be as it was seen, and what becomes of accounts and controls. */
function wantedRows(draft: Draft, p: Parameters): string {
  const changes = [...draft.accountChanges]
  const reads = [...draft.readVersions]
  // Whoever tells of cases of no operation holds it, whatever its version.
  const held: readonly ControlName[] = draft.cases.areLooseReported ? ['loose_cases'] : []
  const controls = [...new Set([...draft.readControls, ...held])]
  const each = <Value>(value: (code: AccountCode, change: AccountChange) => Value) =>
    changes.map(([code, change]) => value(code, change))
  return `
  wanted_account AS (
    SELECT * FROM ${p.rows('w', {
      id: ['smallint', each(accountId)],
      version: ['bigint', each((code) => draft.accountVersion(code))],
      exact: ['boolean', each((_, { exact }) => exact)],
      floored: ['boolean', each((code) => accounts[code].bound === 'not negative')],
      lowest: ['bigint', each((_, { lowest }) => lowest)],
      delta: ['bigint', each((_, { delta }) => delta)],
      added: ['bigint', each((_, { entries }) => entries.length)],
    })}
  ),
  wanted_operation AS (
    SELECT * FROM ${p.rows('w', {
      id: ['uuid', reads.map(([id]) => id)],
      version: ['integer', reads.map(([, version]) => version)],
    })}
  ),
  wanted_control AS (
    SELECT * FROM ${p.rows('w', {
      name: ['text', controls],
      version: ['bigint', controls.map((name) => (draft.readControls.has(name) ? draft.controlVersion(name) : null))],
      next: ['bigint', controls.map((name) => draft.changedControls.get(name)?.version ?? null)],
      changed: ['jsonb', controls.map((name) => jsonOrNull(draft.changedControls.get(name)?.value))],
    })}
  )`
}
