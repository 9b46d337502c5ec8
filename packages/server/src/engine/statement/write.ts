import { type Statement, statement } from '../../platform/db/database.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Draft } from '../draft.ts'
import type { ControlName, Document } from '../operation.ts'
import { returnedAllowances, takenAllowances } from './allowances.ts'
import { audits } from './audits.ts'
import { boundsOf } from './bounds.ts'
import { caseSteps } from './case-steps.ts'
import { changedCases, closedCases, openedCases } from './cases.ts'
import { controls } from './controls.ts'
import { entries } from './entries.ts'
import { eventOrders } from './event-orders.ts'
import { fence } from './fence.ts'
import { lockedBy, locks } from './locks.ts'
import { movements } from './movements.ts'
import { moves } from './moves.ts'
import { notifications } from './notifications.ts'
import { createdOperations, movedOperations } from './operations.ts'
import { Parameters } from './parameters.ts'
import type { Part } from './part.ts'

/**
 * The one statement through which money and status change: lock, compare, rebase, append.
 *
 * Everything behind the locks writes only where `go` holds. Nothing reads a table except through the locked sets: all
 * parts of a statement share the snapshot from before the lock wait.
 * @source rules#engine.2
 */
const parts: readonly Part[] = [
  createdOperations,
  movedOperations,
  moves,
  movements,
  controls,
  takenAllowances,
  returnedAllowances,
  entries,
  notifications,
  openedCases,
  changedCases,
  audits,
  closedCases,
  caseSteps,
  eventOrders,
]

/** A locked account, as the reply tells it: numbers in text, so that none is rounded. */
export interface AccountReply {
  readonly id: number
  readonly version: string
  readonly balance_cents: string
}

/** A locked control, as the reply tells it. */
export interface ControlReply {
  readonly name: ControlName
  readonly version: string
  readonly value: Document
}

/** The reply: whether all was as decided, and what the locked accounts and controls were. */
export interface WriteReply {
  readonly go: boolean
  readonly now: number
  readonly accounts: AccountReply[] | null
  readonly controls: ControlReply[] | null
}

const ACCOUNTS_REPLY = `(SELECT json_agg(json_build_object('id', id, 'version', version::text, 'balance_cents', balance_cents::text))
          FROM ac)`
const CONTROLS_REPLY = `(SELECT json_agg(json_build_object('name', name, 'version', version::text, 'value', value)) FROM cc)`

/** @param locked the kinds of rows that are: there are no others to tell of */
function replyOf(locked: string): string {
  return `
SELECT go.yes AS go, clock_timestamp() AS now,
       ${locked.includes('A') ? ACCOUNTS_REPLY : 'NULL::json'} AS accounts,
       ${locked.includes('C') ? CONTROLS_REPLY : 'NULL::json'} AS controls
  FROM go`
}

/** A batch as something to send. */
export interface Write {
  readonly batchId: string
  readonly statement: Statement<readonly unknown[], WriteReply>
  readonly values: readonly unknown[]
}

/**
 * Turns a draft into the statement that writes it. What a batch does not do is left out: an array of each column and a
 * plan to write a table cost something even where nothing is written. Batches that do the same have the same text, and
 * its name says what.
 */
export function writeOf(draft: Draft, ids: Ids): Write {
  const batch = { id: ids.uuid(), draft, ids }
  const parameters = new Parameters()
  const wanted = parts.filter((part) => part.isWanted(draft))
  const expressions = [
    locks(batch, parameters),
    fence(batch, parameters),
    ...wanted.map((part) => part.sql(batch, parameters)),
  ]
  // Without dots, so that all of them together are no longer than a name may be.
  const locked = lockedBy(draft)
  const name = `engine.write.${locked}${[...boundsOf(draft), ...wanted].map((part) => part.name).join('')}`
  const text = `WITH ${expressions.join(',')}${replyOf(locked)}`
  return { batchId: batch.id, statement: statement(name, text), values: parameters.values }
}
