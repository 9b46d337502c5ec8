import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { type AccountCode, accounts } from '@pixgate/spec'
import type { Draft, WrittenMovement } from '../../src/engine/draft.ts'
import { type Account, type Control, movementKey } from '../../src/engine/loader.ts'
import {
  type Case,
  type ControlName,
  identityKeys,
  type Notification,
  type OpenCase,
  type Operation,
} from '../../src/engine/operation.ts'
import type { Entry } from '../../src/engine/postings.ts'
import type { WriteResult } from '../../src/engine/writer.ts'
import { type InvariantName, Violation } from './violation.ts'

/**
 * The tables that money and status are kept in, in memory, with what the engine's statement compares and what the database
 * refuses: versions, floors, and everything that there is once.
 */

/** An entry as it is kept. */
export interface StoredEntry extends Entry {
  readonly version: number
  readonly at: number
}

/** A case as it is kept. */
export interface StoredCase extends Omit<OpenCase, 'version' | 'rule'> {
  version: number
  rule: string
  readonly operationId: string | null
  facts: Case['facts']
  readonly openedAt: number
  closedAt: number | null
}

/** What of the database a bug may lack. */
export interface Lacking {
  /** No constraint keeps two operations of one external id apart. */
  readonly uniqueExternalIds?: boolean
  /** Versions are not compared, as without the row lock. */
  readonly rowLocks?: boolean
}

/** Is told of each batch that was committed. */
export type OnCommit = (draft: Draft) => void

/** The tables. */
export class Tables {
  readonly operations = new Map<string, Operation>()
  readonly accounts = new Map<AccountCode, Account>()
  readonly controls = new Map<ControlName, Control>()
  readonly entries: StoredEntry[] = []
  readonly movements = new Map<string, WrittenMovement>()
  readonly cases = new Map<string, StoredCase>()
  readonly notifications = new Map<string, Notification>()
  readonly #journals = new Set<string>()
  readonly #identities = new Map<string, string>()
  readonly #caseIds = new Map<string, string>()
  readonly #casesOf = new Map<string, StoredCase[]>()
  /** What is owed, by the operation that made the debt, oldest first. */
  readonly debts = new Map<string, bigint>()
  readonly #dueAt = new Map<string, number>()
  readonly #lacking: Lacking
  readonly #onCommit: OnCommit

  constructor(onCommit: OnCommit, lacking: Lacking = {}) {
    this.#onCommit = onCommit
    this.#lacking = lacking
    for (const code of Object.keys(accounts) as AccountCode[]) {
      this.accounts.set(code, { version: 0n, balanceCents: 0n })
    }
    this.controls.set('cash_out_switch', { version: 1n, value: { enabled: true } })
    this.controls.set('holders', { version: 1n, value: {} })
  }

  /** An account's balance, centavos. */
  balance(code: AccountCode): bigint {
    return this.accounts.get(code)?.balanceCents ?? 0n
  }

  /** When work on an operation of this kind is due next, epoch milliseconds; infinity: none is. */
  nextDueOf(kind: string): number {
    const known = this.#dueAt.get(kind)
    if (known !== undefined) return known
    let next = Number.POSITIVE_INFINITY
    for (const operation of this.operations.values()) {
      if (operation.kind === kind && operation.dueAt !== null && operation.dueAt < next) next = operation.dueAt
    }
    this.#dueAt.set(kind, next)
    return next
  }

  /** An operation with its open cases, as the engine reads it. */
  operation(id: string): Operation | undefined {
    const operation = this.operations.get(id)
    return operation && { ...operation, openCases: this.openCasesOf(id) }
  }

  /** The open cases of an operation. */
  openCasesOf(operationId: string): OpenCase[] {
    return (this.#casesOf.get(operationId) ?? [])
      .filter(({ closedAt }) => closedAt === null)
      .map(({ id, kind, reference, rule, version }) => ({ id, kind, reference, rule, version }))
  }

  /** All cases of an operation, closed ones too. */
  casesOf(operationId: string): readonly StoredCase[] {
    return this.#casesOf.get(operationId) ?? []
  }

  /** Cases that are open. */
  openCases(): StoredCase[] {
    return [...this.cases.values()].filter(({ closedAt }) => closedAt === null)
  }

  /** The operation that has one of these names. */
  byIdentity(key: string): Operation | undefined {
    const id = this.#identities.get(key)
    return id === undefined ? undefined : this.operations.get(id)
  }

  /** Closes the case of no operation that has this name. */
  closeLoose(kind: string, reference: string, nowMs: number): void {
    const found = this.cases.get(this.#caseIds.get(caseName(null, kind, reference)) ?? '')
    if (found) found.closedAt ??= nowMs
  }

  /**
   * Writes a batch, whole or not at all.
   * @throws Violation where the database would refuse it for a reason that the engine does not know
   */
  commit(draft: Draft): WriteResult {
    if (!this.#isAsSeen(draft)) return 'stale'
    const taken = this.#taken(draft)
    if (taken) return taken
    for (const key of draft.movements.keys()) if (this.movements.has(key)) return 'stale'
    this.#assertOnce(draft)
    this.#write(draft)
    this.#onCommit(draft)
    return 'committed'
  }

  #isAsSeen(draft: Draft): boolean {
    for (const [id, version] of draft.readVersions) {
      if (!this.#lacking.rowLocks && this.operations.get(id)?.version !== version) return false
    }
    for (const name of draft.readControls) {
      if (this.controls.get(name)?.version !== draft.controlVersion(name)) return false
    }
    for (const [code, { exact, lowest }] of draft.accountChanges) {
      const account = this.accounts.get(code)
      if (!account || (exact && account.version !== draft.accountVersion(code))) return false
      if (accounts[code].bound === 'not negative' && account.balanceCents + lowest < 0n) return false
    }
    return true
  }

  #taken({ createdOperations }: Draft): WriteResult | undefined {
    for (const operation of createdOperations.values()) {
      const [external = '', ...others] = identityKeys(operation)
      if (!this.#lacking.uniqueExternalIds && this.#identities.has(external)) return 'external id taken'
      for (const key of others) {
        if (this.#identities.has(key)) return key.startsWith('key ') ? 'idempotency key taken' : 'exclusive key taken'
      }
    }
    return undefined
  }

  #assertOnce({ accountChanges, notifications }: Draft): void {
    const fresh = new Set<string>()
    for (const { entries } of accountChanges.values()) {
      for (const entry of entries) assertFresh('I5', entryKey(entry), fresh, this.#journals)
    }
    const sent = new Set<string>()
    for (const one of notifications) assertFresh('I7', notificationKey(one), sent, this.notifications)
  }

  #write(draft: Draft): void {
    this.#dueAt.clear()
    for (const operation of draft.createdOperations.values()) this.#putCreated(operation)
    for (const operation of draft.movedOperations.values()) this.#putMoved(operation)
    for (const [key, movement] of draft.movements) this.movements.set(key, movement)
    for (const [name, control] of draft.changedControls) this.controls.set(name, control)
    for (const [code, { entries, delta }] of draft.accountChanges) {
      const { version, balanceCents } = this.accounts.get(code) as Account
      for (const [index, entry] of entries.entries()) this.#append(entry, Number(version) + index + 1, draft.now)
      this.accounts.set(code, { version: version + BigInt(entries.length), balanceCents: balanceCents + delta })
    }
    for (const notification of draft.notifications) this.notifications.set(notificationKey(notification), notification)
    this.#writeCases(draft)
  }

  #append(entry: Entry, version: number, bookedAt: number): void {
    this.#journals.add(entryKey(entry))
    this.entries.push({ ...entry, version, at: bookedAt })
    if (entry.account !== 'receivable') return
    const owed = (this.debts.get(entry.operationId) ?? 0n) - entry.amountCents
    if (owed === 0n) this.debts.delete(entry.operationId)
    else this.debts.set(entry.operationId, owed)
  }

  #putCreated(operation: Operation): void {
    const { openCases: _, ...kept } = stored(operation)
    this.operations.set(operation.id, kept)
    for (const key of identityKeys(operation)) this.#identities.set(key, operation.id)
  }

  #putMoved(operation: Operation): void {
    const before = this.operations.get(operation.id)
    const { openCases: _, ...kept } = stored(operation)
    this.operations.set(operation.id, kept)
    if (before?.exclusiveKey && operation.exclusiveKey === null)
      this.#identities.delete(`exclusive ${before.exclusiveKey}`)
  }

  #writeCases(draft: Draft): void {
    const { cases, now } = draft
    for (const { isClosed, reports: _, ...opened } of cases.opened) {
      const name = caseName(opened.operationId, opened.kind, opened.reference)
      const known = this.cases.get(this.#caseIds.get(name) ?? '')
      if (known) {
        if (isClosed) continue
        known.closedAt = null
        known.facts = opened.facts
        known.rule = opened.facts.rule
        known.version += 1
        continue
      }
      const row: StoredCase = {
        ...opened,
        rule: opened.facts.rule,
        version: 1,
        openedAt: now,
        closedAt: isClosed ? now : null,
      }
      this.cases.set(row.id, row)
      this.#caseIds.set(name, row.id)
      if (row.operationId === null) continue
      const siblings = this.#casesOf.get(row.operationId) ?? []
      this.#casesOf.set(row.operationId, [...siblings, row])
    }
    for (const { id, reports, isTouched } of cases.changed) {
      const row = this.cases.get(id)
      if (!row) continue
      const facts = reports.at(-1)
      const isNew = facts !== undefined && !isDeepStrictEqual(facts, row.facts)
      if (isNew) Object.assign(row, { facts, rule: facts.rule })
      if (isTouched || isNew) row.version += 1
    }
    for (const id of cases.closedIds) {
      const row = this.cases.get(id)
      if (!row || row.closedAt !== null) continue
      row.closedAt = now
      row.version += 1
    }
    this.#assertVersions(draft)
  }

  /**
   * The engine knows which cases are open, and of none a lower version than was written: then a decision would not see a change.
   * Of one that was told again it may believe that it grew: such a decision is refused, and made again.
   */
  #assertVersions(draft: Draft): void {
    const anew = new Set(
      [...draft.cases.opened, ...draft.cases.changed.filter(({ reports }) => reports.length > 0)].map(
        ({ operationId }) => operationId,
      ),
    )
    for (const operationId of draft.movedOperations.keys()) {
      if (anew.has(operationId)) continue
      const believed = draft.operation(operationId)?.openCases ?? []
      const raised = this.openCasesOf(operationId).map((one) => {
        const known = believed.find(({ id }) => id === one.id)?.version ?? 0
        return { ...one, version: Math.max(one.version, known) }
      })
      assert.deepEqual(believed, raised, `open cases of ${operationId}`)
    }
  }
}

/** What there is once would be there twice: the database refuses the whole batch, and the engine should have known. */
function assertFresh(
  invariant: InvariantName,
  key: string,
  fresh: Set<string>,
  known: { has(key: string): boolean },
): void {
  if (fresh.has(key) || known.has(key)) throw new Violation(invariant, `there already: ${key}`)
  fresh.add(key)
}

/** As it comes back from the database: what is not known, and what JSON does not keep, is gone. */
function stored(operation: Operation): Operation {
  const facts = keptOf(operation.facts) as Record<string, unknown>
  for (const name in facts) if (facts[name] === null) delete facts[name]
  return { ...operation, facts: facts as Operation['facts'] }
}

/** A value as JSON keeps it, for it is not the one that was given. @throws for what JSON cannot say */
function keptOf(value: unknown): unknown {
  if (typeof value === 'bigint') throw new TypeError(`${value} is no JSON`)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(keptOf)
  const copy: Record<string, unknown> = {}
  for (const name in value) {
    const part = (value as Record<string, unknown>)[name]
    if (part !== undefined) copy[name] = keptOf(part)
  }
  return copy
}

function entryKey({ operationId, journal, reference, posting }: Entry): string {
  return `${operationId} ${journal} ${reference} ${posting}`
}

function notificationKey({ operationId, eventType, status, reference }: Notification): string {
  return `${operationId} ${eventType} ${status} ${reference}`
}

function caseName(operationId: string | null, kind: string, reference: string): string {
  return `${operationId} ${kind} ${reference}`
}

/** The movement that is booked under a bank's id. */
export function bookedAt(
  tables: Pick<Tables, 'movements'>,
  direction: 'in' | 'out',
  id: string,
): WrittenMovement | undefined {
  return tables.movements.get(movementKey({ direction, id }))
}
