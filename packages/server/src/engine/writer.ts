import type { AccountCode } from '@pixgate/spec'
import type { DatabaseClock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import { DatabaseUnavailable, databaseError, isRetryableConflict, NoLongerWanted } from '../platform/db/errors.ts'
import type { Ids } from '../platform/ids.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import type { Logger } from '../platform/log.ts'
import { caseLine } from './cases.ts'
import type { Draft } from './draft.ts'
import type { Account, Cache, Control, LoadedState } from './loader.ts'
import type { Command, ControlName } from './operation.ts'
import { createLockingReader } from './reader.ts'
import { accountCode, accountId } from './rows.ts'
import {
  type AccountReply,
  abandonBatch,
  type BatchOutcome,
  type ControlReply,
  type Write,
  type WriteReply,
  writeOf,
} from './write.ts'

/** Result of a write. Failures changed nothing. */
export type WriteResult = 'committed' | 'stale' | Duplicate

export type Duplicate = 'external id taken' | 'idempotency key taken' | 'exclusive key taken'

const UNIQUE_VIOLATION = '23505'

/** The movement was booked since it was read: decide again. @source rules#engine.14 */
const MOVEMENT_TAKEN = 'movement_pkey'

/**
 * Violations that mean stale reads: the movement was booked, the proposal ended, or the decision's `Idempotency-Key` was used since.
 */
const OUTDATED: ReadonlySet<string | undefined> = new Set([
  MOVEMENT_TAKEN,
  'case_step_ends_proposal',
  'case_step_key_once',
  'case_step_key_once_noon',
])

/** Meaning of violated constraints; any other is a broken invariant. */
const TAKEN = new Map<string, Duplicate>([
  ['operation_external_id_key', 'external id taken'],
  // Derived from the external id.
  ['operation_order_id_key', 'external id taken'],
  ['operation_idempotency_key', 'idempotency key taken'],
  ['operation_idempotency_key_noon', 'idempotency key taken'],
  ['operation_exclusive_key', 'exclusive key taken'],
])

/** Wait between attempts to learn the outcome of a lost commit. */
const OUTCOME_RETRY_MS = 200

/** Observes the engine. Must not throw. */
export interface EngineObserver {
  /** A batch begins. @param waitsMs of its commands, milliseconds */
  onBatch(waitsMs: readonly number[]): void
  /** The database answered the statement of a batch. */
  onCommit(durationMs: number): void
  /** @param error unexpected error of the database; `undefined`: committed */
  onWrite(error: unknown): void
  /** A commit exceeded its time limit: its callers were answered 503. */
  onOverdue(): void
  /** An operation entered a state; called after the commit. */
  onMove(kind: string, status: string): void
  /** A case was opened; called after the commit. */
  onCase(kind: string): void
}

export interface WriterOptions {
  readonly database: Database
  readonly clock: DatabaseClock
  readonly ids: Ids
  readonly logger: Logger
  readonly pause: Pause
  /** Called after a commit with notifications. */
  readonly onNotifications?: () => void
  readonly observer?: EngineObserver
}

/** Sends drafts to the database and learns their outcome even if the connection fails. */
export class Writer {
  readonly #options: WriterOptions
  readonly #cache: Cache

  constructor(options: WriterOptions, cache: Cache) {
    this.#options = options
    this.#cache = cache
  }

  /**
   * Writes a draft in one statement.
   * @throws DatabaseUnavailable no connection; nothing was written
   */
  async write(draft: Draft): Promise<WriteResult> {
    const write = writeOf(draft, this.#options.ids)
    const { statement, values } = write
    const isWanted = () => !draft.requests.some((request) => request.hasLapsed())
    const startedAt = performance.now()
    const sending = this.#options.database
      .rows(statement, values, isWanted)
      .finally(() => this.#options.observer?.onCommit(performance.now() - startedAt))
      .catch((error) => this.#afterError(error, write))
    return this.#learn(await sending, draft)
  }

  #learn(result: WriteReply[] | WriteResult | 'committed unseen', draft: Draft): WriteResult {
    if (result === 'committed unseen') {
      this.#cache.clear()
      return this.#committed(draft)
    }
    return typeof result === 'string' ? result : this.#applyReply(result, draft)
  }

  /**
   * Decides and writes while holding the rows, for a command that keeps losing the comparison to a busier process. The last
   * resort, as it costs round trips with the accounts locked.
   * @returns `undefined`: nothing to write
   */
  async writeHolding(
    { reads, cases = [], movements = [], allowances = [], recipients = [] }: Command<unknown>,
    plan: (loaded: LoadedState) => Draft,
  ): Promise<WriteResult | undefined> {
    let held: { draft: Draft; write: Write } | undefined
    const decideAndSend = this.#options.database.transaction(async (queries) => {
      const reader = createLockingReader(queries)
      const { accounts } = await reader.accounts()
      const operations = new Map((await reader.operations(reads)).map((operation) => [operation.id, operation]))
      const draft = plan({
        accounts,
        operations,
        controls: await reader.controls(),
        openCases: await reader.openCases(cases),
        movements: await reader.movements(movements),
        allowances: await reader.allowances(allowances),
        recipients: await reader.recipients(recipients, this.#options.clock.now()),
        debts: await reader.debts(),
      })
      if (draft.isEmpty) return undefined
      held = { draft, write: writeOf(draft, this.#options.ids) }
      return queries.rows(held.write.statement, held.write.values)
    })
    const result = await decideAndSend.catch((error) =>
      held ? this.#afterError(error, held.write) : this.#refused(error),
    )
    return held && result ? this.#learn(result, held.draft) : undefined
  }

  /** An error from the database means that nothing was written; a lost answer does not. */
  async #afterError(error: unknown, { batchId }: Write): Promise<WriteResult | 'committed unseen'> {
    if (error instanceof DatabaseUnavailable && error.sent) return this.#resolve(batchId)
    return this.#refused(error)
  }

  #refused(error: unknown): WriteResult {
    const meaning = meaningOf(error)
    if (meaning !== undefined) return meaning
    this.#options.observer?.onWrite(error)
    throw error
  }

  /**
   * Learns the outcome of a lost commit. Its rows may be missing only because the old backend is still waiting, so the batch's
   * id is abandoned instead: if that succeeds, the old statement can only fail and everything is decided again; if the id
   * exists, the batch was committed.
   * @source rules#engine.13, failure-modes#DB-2
   */
  async #resolve(batchId: string): Promise<WriteResult | 'committed unseen'> {
    const line = { event: 'engine.commit_answer_lost', batch: batchId }
    this.#options.logger.warn(line, 'The answer to a commit was lost; looking up its outcome')
    for (;;) {
      const outcome = await this.#abandon(batchId)
      if (outcome === 'committed') return 'committed unseen'
      if (outcome === 'abandoned') {
        // Nothing was compared, so the cache may be stale.
        this.#cache.clear()
        return 'stale'
      }
      await this.#options.pause.jittered(OUTCOME_RETRY_MS)
    }
  }

  /** `undefined`: no answer, or the old statement is still open. */
  async #abandon(batchId: string): Promise<BatchOutcome | undefined> {
    try {
      return (await this.#options.database.rows(abandonBatch, [batchId]))[0]?.outcome
    } catch (error) {
      if (error instanceof DatabaseUnavailable || isRetryableConflict(error)) return undefined
      throw error
    }
  }

  #applyReply(reply: WriteReply[], draft: Draft): WriteResult {
    const [first] = reply
    if (!first) throw new Error('the statement gave no reply')
    this.#options.clock.observe(first.now)
    if (first.go) {
      this.#cache.putAccounts(accountsAfter(first.accounts ?? [], draft))
      this.#cache.putControls(controlsAfter(first.controls ?? [], draft))
      this.#cache.countAllowances(draft.allowances.changes)
      return this.#committed(draft)
    }
    this.#cache.putAccounts(accountsOf(first.accounts ?? []))
    this.#cache.putControls(controlsOf(first.controls ?? []))
    for (const id of draft.readVersions.keys()) this.#cache.drop(id)
    // Other processes may have used more.
    if (draft.allowances.headrooms.length > 0) this.#cache.dropAllowances()
    return 'stale'
  }

  #committed(draft: Draft): WriteResult {
    for (const id of [...draft.createdOperations.keys(), ...draft.movedOperations.keys()]) {
      const operation = draft.operation(id)
      if (operation) this.#cache.put(operation)
    }
    if (draft.notifications.length > 0) this.#options.onNotifications?.()
    for (const { operationId } of draft.cases.opened) {
      // A reopened case keeps its old id, which the cache does not know.
      if (operationId !== null) this.#cache.drop(operationId)
    }
    for (const { operationId, reports } of draft.cases.changed) {
      // Only the database knows whether a repeated report raised the version.
      if (operationId !== null && reports.length > 0) this.#cache.drop(operationId)
    }
    this.#report(draft)
    return 'committed'
  }

  /** @source rules#logs.3 */
  #report(draft: Draft): void {
    const { logger, observer } = this.#options
    observer?.onWrite(undefined)
    for (const { before, after } of draft.moves) {
      if (before?.status !== after.status) observer?.onMove(after.kind, after.status)
    }
    for (const opened of draft.cases.opened) {
      if (opened.isClosed) continue
      observer?.onCase(opened.kind)
      const operation = opened.operationId === null ? undefined : draft.operation(opened.operationId)
      logger.error(caseLine(opened, operation), 'case opened; operator action required')
    }
  }
}

/** Meaning of a database error by the violated constraint; `undefined`: unexpected. */
export function meaningOf(error: unknown): Exclude<WriteResult, 'committed'> | undefined {
  if (isRetryableConflict(error) || error instanceof NoLongerWanted) return 'stale'
  const known = databaseError(error)
  const constraint = known?.code === UNIQUE_VIOLATION ? known.constraint : undefined
  return OUTDATED.has(constraint) ? 'stale' : TAKEN.get(constraint ?? '')
}

function accountsOf(replies: readonly AccountReply[]): Map<AccountCode, Account> {
  return new Map(
    replies.map(({ id, version, balance_cents }) => [
      accountCode(id),
      { version: BigInt(version), balanceCents: BigInt(balance_cents) },
    ]),
  )
}

function accountsAfter(replies: readonly AccountReply[], draft: Draft): Map<AccountCode, Account> {
  const after = accountsOf(replies)
  for (const [code, { delta, entries }] of draft.accountChanges) {
    const locked = after.get(code)
    if (!locked) throw new Error(`account ${code} (${accountId(code)}) is missing from the reply`)
    after.set(code, {
      version: locked.version + BigInt(entries.length),
      balanceCents: locked.balanceCents + delta,
    })
  }
  return after
}

function controlsOf(replies: readonly ControlReply[]): Map<ControlName, Control> {
  return new Map(replies.map(({ name, version, value }) => [name, { version: BigInt(version), value }]))
}

function controlsAfter(replies: readonly ControlReply[], draft: Draft): Map<ControlName, Control> {
  const after = controlsOf(replies)
  for (const [name, control] of draft.changedControls) after.set(name, control)
  return after
}
