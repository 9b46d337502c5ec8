import assert from 'node:assert/strict'
import { caseKind, cashIn, cashOut, type JournalTemplate, journals, refundIn } from '@pixgate/spec'
import type { Ids } from '../platform/ids.ts'
import type { Case, Document, OpenCase, Operation } from './operation.ts'

/** A case that was not open before the batch, and that the batch opens; it may close it again. */
export type WrittenCase = Case & {
  readonly id: string
  /** All that was told of it: it counts with the most. */
  readonly told: readonly Document[]
  readonly isClosed: boolean
}

/** A case that was open before the batch and still is, and that the batch changes. */
export interface ChangedCase {
  readonly id: string
  readonly operationId: string | null
  /** What was told of it again: the last is what it tells from now on. */
  readonly told: readonly Document[]
  /** Whether its operation changed in what a decision depends on. */
  readonly isTouched: boolean
}

type OpenedCase = Case & {
  readonly id: string
  facts: Case['facts']
  readonly told: Document[]
  isClosed: boolean
}

type Name = Pick<OpenCase, 'kind' | 'reference'> & Pick<Case, 'operationId'>

/**
 * The cases of a batch: like all that it writes they are folded, so that each is opened or closed once, and what follows
 * sees those that the decisions before leave open.
 * @source rules#engine.2, rules#engine.19
 */
export class BatchCases {
  readonly #operations: ReadonlyMap<string, Operation>
  readonly #ids: Ids
  readonly #opened: OpenedCase[] = []
  /** By id. */
  readonly #changed = new Map<
    string,
    { readonly operationId: string | null; told: readonly Document[]; isTouched: boolean }
  >()
  /** By id; one that was not read has no name here. */
  readonly #closed = new Map<string, (Name & Pick<OpenCase, 'version'>) | undefined>()
  readonly #openOf = new Map<string | null, readonly OpenCase[]>()

  /**
   * @param operations what is known before the batch, with the cases that are open then
   * @param openCases the same of cases without an operation, as far as they were read
   */
  constructor(operations: ReadonlyMap<string, Operation>, openCases: readonly OpenCase[], ids: Ids) {
    this.#operations = operations
    this.#openOf.set(null, openCases)
    this.#ids = ids
  }

  /** Cases to insert, or to open again where they were open and closed long before. */
  get opened(): readonly WrittenCase[] {
    return this.#opened
  }

  /** Cases that were open before and still are: told again, or of an operation that changed. @source rules#cases.48, rules#engine.22 */
  get changed(): readonly ChangedCase[] {
    return [...this.#changed].map(([id, changed]) => ({ id, ...changed }))
  }

  /** Cases that were open before, to close. */
  get closedIds(): readonly string[] {
    return [...this.#closed.keys()]
  }

  /** Whether there is anything to write. */
  get isEmpty(): boolean {
    return this.#opened.length === 0 && this.#closed.size === 0 && this.#changed.size === 0
  }

  /** An operation's open cases, where the batch opened or closed one; otherwise `undefined`. */
  changedOf(operationId: string): readonly OpenCase[] | undefined {
    return this.#openOf.get(operationId)
  }

  /** An operation's open cases; of `null` those without an operation that were read, or that the batch opened. */
  openOf(operationId: string | null): readonly OpenCase[] {
    return this.#openOf.get(operationId) ?? this.#operations.get(operationId ?? '')?.openCases ?? []
  }

  /**
   * Opens a case, or notes what was told of it again.
   * @returns whether it was not open
   */
  open(opening: Case): boolean {
    const { operationId, kind, reference } = opening
    const { rule } = opening.facts
    const open = this.openOf(operationId)
    const known = open.find((one) => isSame({ operationId, ...one }, opening))
    if (known) {
      this.#tellAgain(known.id, opening)
      return false
    }
    const { id, version } = this.#openAgain(opening) ?? { id: this.#openAnew(opening), version: 1 }
    this.#openOf.set(operationId, [...open, { id, kind, reference, rule, version }])
    return true
  }

  /**
   * Raises the versions of an operation's open cases, once in a batch: decisions that were made on the cases before see the change.
   * @source rules#engine.22
   */
  touch(operationId: string): void {
    for (const { id } of this.openOf(operationId)) {
      const changed = this.#change(id, operationId)
      if (changed) changed.isTouched = true
    }
  }

  /** Raises the version of a case without an operation that is decided and stays open. @source rules#cases.51 */
  touchCase(id: string): void {
    const changed = this.openOf(null).some((open) => open.id === id) ? this.#change(id, null) : undefined
    if (changed) changed.isTouched = true
  }

  /** Closes a case of this operation, or of none. */
  close(id: string, operationId: string | null): void {
    const open = this.openOf(operationId)
    const closing = open.find((one) => one.id === id)
    const opened = this.#opened.find((one) => one.id === id)
    if (opened) opened.isClosed = true
    else this.#closed.set(id, closing && { operationId, ...closing })
    // The row is written once.
    this.#changed.delete(id)
    this.#openOf.set(
      operationId,
      open.filter((one) => one !== closing),
    )
  }

  /** What the batch has closed is open again, under the next version. */
  #openAgain(opening: Case): Pick<OpenCase, 'id' | 'version'> | undefined {
    const opened = this.#opened.find((one) => isSame(one, opening))
    if (opened) opened.isClosed = false
    const [id, closed] = [...this.#closed].find(([, name]) => name && isSame(name, opening)) ?? []
    if (id !== undefined) this.#closed.delete(id)
    const again = opened?.id ?? id
    if (again === undefined) return undefined
    this.#tellAgain(again, opening)
    return { id: again, version: (closed?.version ?? 1) + 1 }
  }

  #tellAgain(id: string, { operationId, facts }: Case): void {
    const opened = this.#opened.find((one) => one.id === id)
    const changed = this.#change(id, operationId)
    if (changed) changed.told = [...changed.told, facts]
    const { rule } = facts
    const retold = (one: OpenCase) => (one.id === id ? { ...one, rule } : one)
    this.#openOf.set(operationId, this.openOf(operationId).map(retold))
    if (!opened) return
    opened.told.push(facts)
    opened.facts = facts
  }

  /** The change of a case that was open before the batch; `undefined` for one that the batch opens. */
  #change(id: string, operationId: string | null) {
    if (this.#opened.some((one) => one.id === id)) return undefined
    const known = this.#changed.get(id)
    if (known) return known
    const changed = { operationId, told: [] as readonly Document[], isTouched: false }
    this.#changed.set(id, changed)
    const raised = (one: OpenCase) => (one.id === id ? { ...one, version: one.version + 1 } : one)
    this.#openOf.set(operationId, this.openOf(operationId).map(raised))
    return changed
  }

  #openAnew(opening: Case): string {
    const id = this.#ids.uuid()
    this.#opened.push({ ...opening, id, told: [opening.facts], isClosed: false })
    return id
  }
}

/** A case is named by its operation, its kind and its reference. */
function isSame(one: Name, other: Name): boolean {
  return one.operationId === other.operationId && one.kind === other.kind && one.reference === other.reference
}

/**
 * What the log tells of a case that was opened: enough to know what happened to which money, without the database.
 * @param operation that it is of, as it is now
 * @source rules#logs.3
 */
export function caseLine(
  { kind, operationId, reference, facts }: Case,
  operation: Pick<Operation, 'kind' | 'valueCents'> | undefined,
): Document {
  const reportedCents = centsIn(facts)
  const expectedCents = centsIn(facts.booked ?? facts.before) ?? (operation && Number(operation.valueCents))
  return {
    case: kind,
    operationId,
    reference,
    ...(typeof facts.inboxId === 'string' ? { inboxId: facts.inboxId } : {}),
    ...(reportedCents === undefined
      ? {}
      : { reportedCents, ...(expectedCents === undefined ? {} : { expectedCents }) }),
    rule: facts.rule,
    meaning: caseKind(kind)?.meaning,
  }
}

/** Facts of a case that tell when, and not what: the same told with other ones is nothing new. @source rules#cases.51 */
export const CASE_TIMES = ['occurredAt', 'missedAt', 'deniedAt', 'since', 'readAt', 'askedAt'] as const

/** What facts tell of an amount. */
function centsIn(facts: unknown): number | undefined {
  const { valueCents } = (facts ?? {}) as { readonly valueCents?: unknown }
  return typeof valueCents === 'number' ? valueCents : undefined
}

/**
 * The amount that a case is about, centavos, whichever way it went: what was reported, or else the value of its operation.
 * @source rules#cases.30
 */
function caseCents(facts: Document, operation: Pick<Operation, 'valueCents'> | undefined): bigint | null {
  const reported = centsIn(facts) ?? centsIn(facts.event)
  return reported === undefined || !Number.isSafeInteger(reported)
    ? (operation?.valueCents ?? null)
    : BigInt(Math.abs(reported))
}

/** The most that each of several tellings of a case is about, centavos; `null`: none tells an amount. @source rules#cases.48 */
export function mostCents(
  told: readonly Document[],
  operation: Pick<Operation, 'valueCents'> | undefined,
): bigint | null {
  return told
    .map((facts) => caseCents(facts, operation))
    .reduce((most, cents) => (most === null || (cents !== null && cents > most) ? cents : most), null)
}

/**
 * Which of an operation's open cases a decision closes.
 * @returns their ids
 * @throws AssertionError where they are not known: the operation was not read to be decided
 * @source rules#engine.19
 */
export function openCaseIds({ id, openCases }: Operation, isMeant: (openCase: OpenCase) => boolean): readonly string[] {
  assert.ok(openCases, `the open cases of operation ${id} were not read`)
  return openCases.filter(isMeant).map((openCase) => openCase.id)
}

/** The rules that open a case about money in suspense, of whatever kind. @source rules#ledger.suspense */
const suspenseRules: ReadonlySet<string> = new Set(
  [...cashIn.lines, ...cashOut.lines, ...refundIn.lines].flatMap(({ posts, opens, rule }) =>
    posts !== undefined && opens !== undefined && movesSuspense(journals[posts]) ? [rule] : [],
  ),
)

function movesSuspense({ postings }: JournalTemplate): boolean {
  return postings.some(({ account }) => account === 'suspense_in' || account === 'suspense_out')
}

/** The rules that put an operation in doubt with a case. */
const doubtRules: ReadonlySet<string> = new Set(
  [...cashIn.lines, ...cashOut.lines, ...refundIn.lines].flatMap(({ to, opens, rule }) =>
    opens !== undefined && to.includes(':') ? [rule] : [],
  ),
)

const OF_OUTCOME: ReadonlySet<string> = new Set(['outcome_unknown', 'charge_unclear'])

/**
 * Open cases that the bank's answer closes with the doubt: about the outcome, or opened with a doubt. Money in suspense, and what
 * casts no doubt, stays to be decided.
 * @source rules#ledger.suspense
 */
export function doubtCaseIds(operation: Operation): readonly string[] {
  const isOfDoubt = ({ kind, rule }: OpenCase) =>
    doubtRules.has(rule) && caseKind(kind)?.holds !== 'suspense' && !suspenseRules.has(rule)
  return openCaseIds(operation, (open) => OF_OUTCOME.has(open.kind) || isOfDoubt(open))
}
