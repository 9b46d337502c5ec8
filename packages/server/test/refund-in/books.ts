import assert from 'node:assert/strict'
import type { AccountCode } from '@pixgate/spec'
import { created, type Decision, type Journal, moved, type Operation, type State } from '../../src/engine/operation.ts'
import { entriesOf } from '../../src/engine/postings.ts'
import { NOTHING_USED } from '../support/limits.ts'

/** What the merchant has before anything happens. */
export const BEGINNING_CENTS = 120_00n

/** What is there, as one batch after the other would leave it. */
export class Books implements State {
  readonly operations = new Map<string, Operation>()
  readonly balances = new Map<AccountCode, bigint>([['available', BEGINNING_CENTS]])
  readonly journals: Journal[] = []
  /** The operations that the merchant was told of. */
  readonly notified: string[] = []
  readonly cases: string[] = []

  operation(id: string) {
    return this.operations.get(id)
  }

  openCase() {
    return undefined
  }

  versionOf() {
    return 1n
  }

  movement() {
    return undefined
  }

  balance(code: AccountCode) {
    return this.balances.get(code) ?? 0n
  }

  control() {
    return { enabled: true }
  }

  used = NOTHING_USED.used
  usedSince = NOTHING_USED.usedSince
  recipient = NOTHING_USED.recipient
  repaidBy = NOTHING_USED.repaidBy

  apply(decision: Decision<unknown>, nowMs: number): void {
    for (const create of decision.creates ?? []) this.operations.set(create.operation.id, created(create, nowMs))
    for (const move of decision.moves ?? []) {
      const before = this.operations.get(move.operationId)
      assert.ok(before)
      this.operations.set(before.id, moved(before, move, nowMs))
    }
    for (const journal of decision.journals ?? []) {
      this.journals.push(journal)
      for (const { account, amountCents } of entriesOf(journal))
        this.balances.set(account, this.balance(account) + amountCents)
    }
    this.notified.push(...(decision.notifications ?? []).map(({ operationId }) => operationId))
    this.cases.push(...(decision.cases ?? []).map(({ kind }) => kind))
  }
}
