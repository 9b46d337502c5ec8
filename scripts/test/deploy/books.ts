import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { cashInRequest, payment, testEngine } from '../../../packages/server/test/support/engine.ts'
import { ROOT } from '../../check/repository.ts'

/** Books so many payments of charges, as the service does. */
export async function pay(t: TestContext, url: string, count: number): Promise<void> {
  const { cashIns, ids } = testEngine(t, url)
  for (let paid = 0; paid < count; paid++) {
    const id = ids.uuid()
    await cashIns.create(cashInRequest({ id, externalId: id }))
    const endToEndId = `E${randomUUID().replaceAll('-', '').slice(1)}`
    await cashIns.apply(id, { on: 'partner.confirmed', payment: payment({ endToEndId }), transactionId: id })
  }
}

/** What `pixgate verify-ledger` says the accounts have, after it has found no drift. */
export function totals(url: string): unknown {
  const program = [join(ROOT, 'packages/server/bin/pixgate.mjs'), 'verify-ledger', '--json']
  const { status, stdout, stderr } = spawnSync(process.execPath, program, {
    env: { DATABASE_URL: url },
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
  return JSON.parse(stdout).trialBalance
}
