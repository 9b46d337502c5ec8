import assert from 'node:assert/strict'
import { type AccountCode, accounts, type JournalTemplate, journals, min } from '@pixgate/spec'
import type { Ids } from '../platform/ids.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import {
  AllowanceChanges,
  type AllowanceName,
  allowanceKey,
  type Recipient,
  type Used,
  usedBoth,
  usedSince,
} from './allowance.ts'
import { BatchCases } from './cases.ts'
import { reasonOf } from './follow.ts'
import { type Account, type Control, type LoadedState, movementKey } from './loader.ts'
import {
  type Audit,
  type BookedMovement,
  type CaseStep,
  type Command,
  type ControlName,
  created,
  type Decision,
  type Document,
  type EventOrder,
  type Identity,
  identityKeys,
  type Journal,
  type MovementId,
  moved,
  type Notification,
  type OpenCase,
  type Operation,
  type RecipientBound,
  type State,
} from './operation.ts'
import { type Entry, entriesOf, settledCents, sumOf } from './postings.ts'

/** Debts of the merchant by the operation that caused them, oldest first. @source rules#ledger.recover */
export class Debts {
  readonly #owedOf: Map<string, bigint>

  constructor(owedOf: ReadonlyMap<string, bigint>) {
    this.#owedOf = new Map(owedOf)
  }

  /** Applies an entry of `receivable`. */
  note({ operationId, amountCents }: Pick<Entry, 'operationId' | 'amountCents'>): void {
    const owed = (this.#owedOf.get(operationId) ?? 0n) - amountCents
    if (owed === 0n) this.#owedOf.delete(operationId)
    else this.#owedOf.set(operationId, owed)
  }

  /** Copy with these entries applied. */
  after(entries: readonly Entry[]): Debts {
    const debts = new Debts(this.#owedOf)
    for (const entry of entries) if (entry.account === 'receivable') debts.note(entry)
    return debts
  }

  /** Repayments from an amount, the oldest debt first. */
  repayable(freeCents: bigint): { readonly operationId: string; readonly cents: bigint }[] {
    const repayments: { operationId: string; cents: bigint }[] = []
    let left = freeCents
    for (const [operationId, owed] of this.#owedOf) {
      if (left <= 0n) break
      const cents = left < owed ? left : owed
      repayments.push({ operationId, cents })
      left -= cents
    }
    return repayments
  }
}

export interface WrittenMove {
  readonly before: Operation | undefined
  readonly after: Operation
  readonly trigger: string
  readonly facts: Operation['facts']
  readonly evidence?: Document | undefined
}

export interface WrittenMovement extends MovementId, BookedMovement {}

export interface AccountChange {
  readonly entries: Entry[]
  delta: bigint
  /** Lowest running sum, which the account's balance must cover. */
  lowest: bigint
  exact: boolean
}

/**
 * State of a batch while it is decided. Decisions are applied in order to a copy of the state and folded into **one** final row
 * per operation and account: a statement that updates a row twice silently loses one update.
 * @source rules#engine.2
 */
export class Draft implements State {
  /** Created operations, after the batch. */
  readonly createdOperations = new Map<string, Operation>()
  /** Changed operations, after the batch. */
  readonly movedOperations = new Map<string, Operation>()
  /** Versions of operations that the commit compares. */
  readonly readVersions = new Map<string, number>()
  /** Versions of cases without an operation that the commit compares. */
  readonly readCases = new Map<string, number>()
  readonly accountChanges = new Map<AccountCode, AccountChange>()
  /** Controls whose version the commit compares. */
  readonly readControls = new Set<ControlName>()
  /** Changed controls, after the batch. */
  readonly changedControls = new Map<ControlName, Control>()
  readonly moves: WrittenMove[] = []
  /** New movements, by {@link movementKey}. */
  readonly movements = new Map<string, WrittenMovement>()
  readonly notifications: Notification[] = []
  readonly cases: BatchCases
  readonly allowances = new AllowanceChanges()
  /** Upper bound of the payments to each Pix key before the batch, and the batch's own, centavos. */
  readonly recipients = new Map<string, { paidCents: bigint; headroomCents: bigint }>()
  readonly audits: Audit[] = []
  readonly caseSteps: CaseStep[] = []
  readonly eventOrders: EventOrder[] = []
  readonly requests: LiveRequest[] = []
  /** Epoch milliseconds. */
  readonly now: number
  readonly #loaded: LoadedState
  readonly #identities = new Set<string>()
  readonly #debts: Debts

  constructor(loaded: LoadedState, now: number, ids: Ids) {
    this.#loaded = loaded
    this.cases = new BatchCases(loaded.operations, loaded.openCases, ids)
    this.#debts = new Debts(loaded.debts)
    this.now = now
  }

  operation(id: string): Operation | undefined {
    const operation = this.createdOperations.get(id) ?? this.movedOperations.get(id) ?? this.#loaded.operations.get(id)
    const openCases = this.cases.changedOf(id)
    return operation && openCases ? { ...operation, openCases } : operation
  }

  openCase(id: string): OpenCase | undefined {
    return this.cases.openOf(null).find((open) => open.id === id)
  }

  balance(code: AccountCode): bigint {
    return this.#account(code).balanceCents + (this.accountChanges.get(code)?.delta ?? 0n)
  }

  control(name: ControlName): Document {
    return (this.changedControls.get(name) ?? this.#control(name)).value
  }

  versionOf(name: ControlName): bigint {
    return (this.changedControls.get(name) ?? this.#control(name)).version
  }

  used(name: AllowanceName): Used {
    return usedBoth(this.#usedBefore(name), this.allowances.of(name))
  }

  usedSince(name: AllowanceName, since: number): bigint {
    return usedSince(this.#usedBefore(name), since) + usedSince(this.allowances.of(name), since)
  }

  recipient(pixKey: string): Recipient {
    const known = this.#loaded.recipients.get(pixKey)
    assert.ok(known, 'a recipient was not read')
    return { ...known, paidCents: known.paidCents + (this.recipients.get(pixKey)?.paidCents ?? 0n) }
  }

  movement(movement: MovementId): BookedMovement | undefined {
    const key = movementKey(movement)
    const known = this.#loaded.movements.get(key)
    assert.ok(known !== undefined, `movement ${key} was not read`)
    return this.movements.get(key) ?? known ?? undefined
  }

  repaidBy(journals: readonly Journal[]): readonly Journal[] {
    const entries = journals.flatMap(entriesOf)
    const free = this.balance('available') + sumOf(entries, 'available')
    return isRepaying(entries) ? repaymentsOf(entries, this.#debts.after(entries), free) : []
  }

  controlVersion(name: ControlName): bigint {
    return this.#control(name).version
  }

  accountVersion(code: AccountCode): bigint {
    return this.#account(code).version
  }

  /** The batch already creates an operation with the same external id or key. */
  isTaken(identity: Identity): boolean {
    return identityKeys(identity).some((key) => this.#identities.has(key))
  }

  get isEmpty(): boolean {
    return this.moves.length === 0 && this.cases.isEmpty && this.changedControls.size === 0
  }

  /**
   * Time of a notification, epoch milliseconds: now, or just after the operation's last move if a process with a faster clock made
   * it. Notifications of one operation stay in order; those of others keep their time.
   * @source rules#feed.1
   */
  notifiedAt(operationId: string): number {
    const readAt = this.#loaded.operations.get(operationId)?.updatedAt ?? 0
    return readAt > this.now ? readAt + 1 : this.now
  }

  /**
   * Applies a decision completely or not at all.
   * @throws AssertionError the decision breaks an invariant; the draft is unchanged
   */
  add(command: Command<unknown>, decision: Decision<unknown>): void {
    const entries = (decision.journals ?? []).flatMap(entriesOf)
    this.#assertBearable(entries)
    const changes = (decision.creates?.length ?? 0) + (decision.moves?.length ?? 0)
    assert.ok(changes > 0 || (entries.length === 0 && !decision.notifications?.length), 'money needs a move')

    const movements = (decision.journals ?? []).flatMap((journal) => this.#movementOf(journal) ?? [])
    const writes = this.#operationsAfter(decision)
    const closes = this.#closesOf(command, decision, writes)
    for (const id of command.reads) this.#noteRead(id)
    for (const id of command.cases ?? []) this.#noteCase(id)
    for (const write of writes) this.#applyMove(write)
    for (const [id, operationId] of closes) this.cases.close(id, operationId)
    const opened = (decision.cases ?? []).filter((one) => this.cases.open(one))
    const ofCases = [...closes.map(([, operationId]) => operationId), ...opened.map(({ operationId }) => operationId)]
    for (const id of changedOperations(decision, writes, ofCases)) this.cases.touch(id)
    for (const id of command.cases ?? []) this.cases.touchCase(id)
    for (const entry of entries) this.#applyEntry(entry)
    for (const movement of movements) this.movements.set(movementKey(movement), movement)
    for (const code of decision.exact ?? []) this.#change(code).exact = true
    for (const name of command.controls ?? []) this.readControls.add(name)
    for (const [name, value] of Object.entries(decision.controls ?? {}) as [ControlName, Document][]) {
      assert.ok(this.readControls.has(name), `control ${name} changes without having been looked at`)
      this.changedControls.set(name, { version: this.versionOf(name) + 1n, value })
    }
    this.#recoverDebts(entries)
    this.notifications.push(...(decision.notifications ?? []))
    for (const change of decision.allowances ?? []) this.allowances.add(change)
    for (const bound of decision.recipients ?? []) this.#bindRecipient(bound)
    this.audits.push(...(decision.audits ?? []))
    this.caseSteps.push(...(decision.caseSteps ?? []))
    this.eventOrders.push(...(decision.eventOrders ?? []))
    if (command.request) this.requests.push(command.request)
  }

  #bindRecipient({ pixKey, valueCents, maxCents }: RecipientBound): void {
    const { paidCents = 0n, headroomCents = maxCents } = this.recipients.get(pixKey) ?? {}
    const paid = paidCents + valueCents
    this.recipients.set(pixKey, { paidCents: paid, headroomCents: min(headroomCents, maxCents - paid) })
  }

  /**
   * Movement that a journal books; `undefined` if it books none.
   * @throws AssertionError it is booked already
   * @source rules#ledger.movements
   */
  #movementOf(journal: Journal): WrittenMovement | undefined {
    const template: JournalTemplate = journals[journal.kind]
    if (template.movement === undefined) return undefined
    const { operationId, reference: id } = journal
    const movement = { direction: template.movement, id }
    const booked = this.movement(movement)
    assert.ok(booked === undefined, `movement ${movementKey(movement)} is booked on ${booked?.operationId}`)
    return { ...movement, operationId, valueCents: settledCents(journal) }
  }

  /**
   * Cases that a decision closes, with their operations. Cases of an operation open and close with one of its moves, so its
   * version covers them.
   * @source rules#engine.19
   */
  #closesOf(
    { reads }: Command<unknown>,
    { cases = [], closes = [] }: Decision<unknown>,
    writes: readonly WrittenMove[],
  ): [id: string, operationId: string | null][] {
    if (cases.length === 0 && closes.length === 0) return []
    const moved = new Set(writes.map(({ after }) => after.id))
    for (const { operationId, kind } of cases) {
      assert.ok(operationId === null || moved.has(operationId), `case ${kind} opens without a move of its operation`)
    }
    return [...new Set(closes)].map((id) => {
      const isOwner = (operationId: string) => this.cases.openOf(operationId).some((open) => open.id === id)
      const operationId = [...moved, ...reads].find(isOwner) ?? null
      assert.ok(operationId === null || moved.has(operationId), `case ${id} closes without a move of its operation`)
      return [id, operationId]
    })
  }

  /**
   * Repays debts, the oldest first, whenever the merchant is credited or a debt arises: no balance is available while a debt
   * exists. The commit compares the debts.
   * @source rules#ledger.recover
   */
  #recoverDebts(entries: readonly Entry[]): void {
    if (!isRepaying(entries)) return
    this.#change('receivable').exact = true
    for (const repaid of repaymentsOf(entries, this.#debts, this.balance('available'))) {
      this.#change('available').exact = true
      for (const entry of entriesOf(repaid)) this.#applyEntry(entry)
    }
  }

  #usedBefore(name: AllowanceName): Used {
    const used = this.#loaded.allowances.get(allowanceKey(name))
    assert.ok(used, `allowance ${allowanceKey(name)} was not read`)
    return used
  }

  #control(name: ControlName): Control {
    const control = this.#loaded.controls.get(name)
    assert.ok(control, `control ${name} was not read`)
    return control
  }

  #account(code: AccountCode): Account {
    const account = this.#loaded.accounts.get(code)
    assert.ok(account, `account ${code} was not read`)
    return account
  }

  #operationsAfter(decision: Decision<unknown>): WrittenMove[] {
    const after = new Map<string, Operation>()
    const writes: WrittenMove[] = (decision.creates ?? []).map((create) => {
      const operation = created(create, this.now)
      assert.equal(this.operation(operation.id), undefined, `operation ${operation.id} exists`)
      after.set(operation.id, operation)
      return { before: undefined, after: operation, trigger: 'create', facts: operation.facts }
    })
    for (const move of decision.moves ?? []) {
      const before = after.get(move.operationId) ?? this.operation(move.operationId)
      assert.ok(before, `operation ${move.operationId} does not exist`)
      const operation = moved(before, move, this.now)
      after.set(operation.id, operation)
      const { trigger, evidence } = move
      writes.push({ before, after: operation, trigger, facts: move.facts ?? {}, evidence })
    }
    return writes
  }

  #noteCase(id: string): void {
    const known = this.#loaded.openCases.find((open) => open.id === id)
    if (known) this.readCases.set(id, known.version)
  }

  #noteRead(id: string): void {
    const known = this.#loaded.operations.get(id)
    if (known && !this.createdOperations.has(id)) this.readVersions.set(id, known.version)
  }

  #applyMove(move: WrittenMove): void {
    const { before, after } = move
    this.moves.push(move)
    if (before === undefined || this.createdOperations.has(after.id)) {
      this.createdOperations.set(after.id, after)
      for (const key of identityKeys(after)) this.#identities.add(key)
    } else {
      this.#noteRead(after.id)
      this.movedOperations.set(after.id, after)
    }
  }

  #applyEntry(entry: Entry): void {
    const change = this.#change(entry.account)
    change.entries.push(entry)
    change.delta += entry.amountCents
    if (change.delta < change.lowest) change.lowest = change.delta
    if (entry.account === 'receivable') this.#debts.note(entry)
  }

  #change(code: AccountCode): AccountChange {
    let change = this.accountChanges.get(code)
    if (!change) {
      change = { entries: [], delta: 0n, lowest: 0n, exact: false }
      this.accountChanges.set(code, change)
    }
    return change
  }

  /** Safety net: decisions refuse overdrafts themselves. */
  #assertBearable(entries: readonly Entry[]): void {
    const running = new Map<AccountCode, bigint>()
    for (const { account, amountCents } of entries) {
      const balance = (running.get(account) ?? this.balance(account)) + amountCents
      running.set(account, balance)
      const { bound } = accounts[account]
      assert.ok(bound !== 'not negative' || balance >= 0n, `${account} would go below zero`)
      assert.ok(bound !== 'not positive' || balance <= 0n, `${account} would go above zero`)
    }
  }
}

/**
 * Operations that changed in a way that decisions about their cases depend on: status, reason, journal, opened or closed case,
 * another attempt. Queries and ids do not count.
 * @param ofCases operations of the cases that opened or closed
 * @source rules#engine.22
 */
function changedOperations(
  { journals: posted = [] }: Decision<unknown>,
  writes: readonly WrittenMove[],
  ofCases: readonly (string | null)[],
): ReadonlySet<string> {
  const named = new Set([...posted.map(({ operationId }) => operationId), ...ofCases])
  const changed = writes.filter(
    ({ before, after, trigger }) =>
      before !== undefined && (named.has(after.id) || hasTurned(before, after) || DECISIVE.test(trigger)),
  )
  return new Set(changed.map(({ after }) => after.id))
}

/** Attempts, decisions except queries, and outcomes of refunds: they change what can be decided even if they post nothing here. */
const DECISIVE = /^(?:send\.claimed|operator\.(?!asked_again)|refund\.(?:reserved|confirmed|released|taken))/

function hasTurned(before: Operation, after: Operation): boolean {
  return before.status !== after.status || reasonOf(before) !== reasonOf(after)
}

/** The entries credit the merchant or create a debt. */
function isRepaying(entries: readonly Entry[]): boolean {
  return sumOf(entries, 'available') > 0n || sumOf(entries, 'receivable') < 0n
}

function repaymentsOf([first]: readonly Entry[], debts: Debts, freeCents: bigint): Journal[] {
  if (!first) return []
  const reference = `${first.journal} ${first.operationId} ${first.reference}`.trim()
  return debts.repayable(freeCents).map(({ operationId, cents }) => ({
    operationId,
    kind: 'debt_recovered',
    reference,
    amounts: { x: cents },
  }))
}
