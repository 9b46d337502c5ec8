import assert from 'node:assert/strict'
import { caseKind, cashIn, cashOut, type JournalTemplate, journals, refundIn } from '@pixgate/spec'
import type { Ids } from '../platform/ids.ts'
import type { Case, Document, OpenCase, Operation } from './operation.ts'

/** Case that the batch opens, and may close again. */
export type WrittenCase = Case & {
  readonly id: string
  /** All reports of it; the highest amount counts. */
  readonly reports: readonly Document[]
  readonly isClosed: boolean
}

/** Case that was open before the batch, stays open, and changes. */
export interface ChangedCase {
  readonly id: string
  readonly operationId: string | null
  /** New reports; the last one replaces its facts. */
  readonly reports: readonly Document[]
  /** Its operation changed in a way that decisions depend on. */
  readonly isTouched: boolean
}

type OpenedCase = Case & {
  readonly id: string
  facts: Case['facts']
  readonly reports: Document[]
  isClosed: boolean
}

type Name = Pick<OpenCase, 'kind' | 'reference'> & Pick<Case, 'operationId'>

/**
 * Cases of a batch, folded like everything that it writes: each is opened or closed once, and later decisions of the batch
 * see the cases that earlier ones leave open.
 * @source rules#engine.2, rules#engine.19
 */
export class BatchCases {
  readonly #operations: ReadonlyMap<string, Operation>
  readonly #ids: Ids
  readonly #opened: OpenedCase[] = []
  /** By id. */
  readonly #changed = new Map<
    string,
    { readonly operationId: string | null; reports: readonly Document[]; isTouched: boolean }
  >()
  /** By id; only cases that were read. */
  readonly #closed = new Map<string, (Name & Pick<OpenCase, 'version'>) | undefined>()
  readonly #openOf = new Map<string | null, readonly OpenCase[]>()

  /**
   * @param operations before the batch, with their open cases
   * @param openCases open cases without an operation that were read
   */
  constructor(operations: ReadonlyMap<string, Operation>, openCases: readonly OpenCase[], ids: Ids) {
    this.#operations = operations
    this.#openOf.set(null, openCases)
    this.#ids = ids
  }

  /** Cases to insert or reopen. */
  get opened(): readonly WrittenCase[] {
    return this.#opened
  }

  /** Open cases that were reported again, or whose operation changed. @source rules#cases.48, rules#engine.22 */
  get changed(): readonly ChangedCase[] {
    return [...this.#changed].map(([id, changed]) => ({ id, ...changed }))
  }

  get closedIds(): readonly string[] {
    return [...this.#closed.keys()]
  }

  get isEmpty(): boolean {
    return this.#opened.length === 0 && this.#closed.size === 0 && this.#changed.size === 0
  }

  /** Open cases of an operation of which the batch opened or closed one; otherwise `undefined`. */
  changedOf(operationId: string): readonly OpenCase[] | undefined {
    return this.#openOf.get(operationId)
  }

  /** Open cases of an operation; of `null`, those without one that were read or opened. */
  openOf(operationId: string | null): readonly OpenCase[] {
    return this.#openOf.get(operationId) ?? this.#operations.get(operationId ?? '')?.openCases ?? []
  }

  /**
   * Opens a case, or adds a report to an open one.
   * @returns whether it was opened
   */
  open(opening: Case): boolean {
    const { operationId, kind, reference } = opening
    const { rule } = opening.facts
    const open = this.openOf(operationId)
    const known = open.find((one) => isSame({ operationId, ...one }, opening))
    if (known) {
      this.#addReport(known.id, opening)
      return false
    }
    const { id, version } = this.#openAgain(opening) ?? { id: this.#openAnew(opening), version: 1 }
    this.#openOf.set(operationId, [...open, { id, kind, reference, rule, version }])
    return true
  }

  /**
   * Raises the versions of an operation's open cases, once per batch, so that decisions on the earlier versions are refused.
   * @source rules#engine.22
   */
  touch(operationId: string): void {
    for (const { id } of this.openOf(operationId)) {
      const changed = this.#change(id, operationId)
      if (changed) changed.isTouched = true
    }
  }

  /** Raises the version of a decided case without an operation that stays open. @source rules#cases.51 */
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
    // Opened in this batch: one row is written.
    this.#changed.delete(id)
    this.#openOf.set(
      operationId,
      open.filter((one) => one !== closing),
    )
  }

  /** Reopens a case that the batch has closed, with the next version. */
  #openAgain(opening: Case): Pick<OpenCase, 'id' | 'version'> | undefined {
    const opened = this.#opened.find((one) => isSame(one, opening))
    if (opened) opened.isClosed = false
    const [id, closed] = [...this.#closed].find(([, name]) => name && isSame(name, opening)) ?? []
    if (id !== undefined) this.#closed.delete(id)
    const again = opened?.id ?? id
    if (again === undefined) return undefined
    this.#addReport(again, opening)
    return { id: again, version: (closed?.version ?? 1) + 1 }
  }

  #addReport(id: string, { operationId, facts }: Case): void {
    const opened = this.#opened.find((one) => one.id === id)
    const changed = this.#change(id, operationId)
    if (changed) changed.reports = [...changed.reports, facts]
    const { rule } = facts
    const updated = (one: OpenCase) => (one.id === id ? { ...one, rule } : one)
    this.#openOf.set(operationId, this.openOf(operationId).map(updated))
    if (!opened) return
    opened.reports.push(facts)
    opened.facts = facts
  }

  /** Change of a case that was open before the batch; `undefined` if the batch opens it. */
  #change(id: string, operationId: string | null) {
    if (this.#opened.some((one) => one.id === id)) return undefined
    const known = this.#changed.get(id)
    if (known) return known
    const changed = { operationId, reports: [] as readonly Document[], isTouched: false }
    this.#changed.set(id, changed)
    const raised = (one: OpenCase) => (one.id === id ? { ...one, version: one.version + 1 } : one)
    this.#openOf.set(operationId, this.openOf(operationId).map(raised))
    return changed
  }

  #openAnew(opening: Case): string {
    const id = this.#ids.uuid()
    this.#opened.push({ ...opening, id, reports: [opening.facts], isClosed: false })
    return id
  }
}

/** A case is identified by operation, kind and reference. */
function isSame(one: Name, other: Name): boolean {
  return one.operationId === other.operationId && one.kind === other.kind && one.reference === other.reference
}

/**
 * Log fields of an opened case: enough to know the money and its fate without the database.
 * @param operation of the case, after the batch
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

/** Instants among the facts: a report that differs only in them is no change. @source rules#cases.51 */
export const CASE_TIMES = ['occurredAt', 'missedAt', 'deniedAt', 'since', 'readAt', 'askedAt'] as const

function centsIn(facts: unknown): number | undefined {
  const { valueCents } = (facts ?? {}) as { readonly valueCents?: unknown }
  return typeof valueCents === 'number' ? valueCents : undefined
}

/**
 * Amount of a case, centavos: the reported one, or else the value of its operation.
 * @source rules#cases.30
 */
function caseCents(facts: Document, operation: Pick<Operation, 'valueCents'> | undefined): bigint | null {
  const reported = centsIn(facts) ?? centsIn(facts.event)
  return reported === undefined || !Number.isSafeInteger(reported)
    ? (operation?.valueCents ?? null)
    : BigInt(Math.abs(reported))
}

/** Highest amount of several reports, centavos; `null`: none has one. @source rules#cases.48 */
export function mostCents(
  reports: readonly Document[],
  operation: Pick<Operation, 'valueCents'> | undefined,
): bigint | null {
  return reports
    .map((facts) => caseCents(facts, operation))
    .reduce((most, cents) => (most === null || (cents !== null && cents > most) ? cents : most), null)
}

/**
 * Ids of an operation's open cases that match.
 * @throws AssertionError the operation was read without its cases
 * @source rules#engine.19
 */
export function openCaseIds({ id, openCases }: Operation, isMeant: (openCase: OpenCase) => boolean): readonly string[] {
  assert.ok(openCases, `the open cases of operation ${id} were not read`)
  return openCases.filter(isMeant).map((openCase) => openCase.id)
}

/** Rules that open a case about money in suspense. @source rules#ledger.suspense */
const suspenseRules: ReadonlySet<string> = new Set(
  [...cashIn.lines, ...cashOut.lines, ...refundIn.lines].flatMap(({ posts, opens, rule }) =>
    posts !== undefined && opens !== undefined && movesSuspense(journals[posts]) ? [rule] : [],
  ),
)

function movesSuspense({ postings }: JournalTemplate): boolean {
  return postings.some(({ account }) => account === 'suspense_in' || account === 'suspense_out')
}

/** Rules that put an operation in doubt and open a case. */
const doubtRules: ReadonlySet<string> = new Set(
  [...cashIn.lines, ...cashOut.lines, ...refundIn.lines].flatMap(({ to, opens, rule }) =>
    opens !== undefined && to.includes(':') ? [rule] : [],
  ),
)

const OF_OUTCOME: ReadonlySet<string> = new Set(['outcome_unknown', 'charge_unclear'])

/**
 * Open cases that end with the doubt, by the bank's answer: about the outcome, or opened with a doubt. Cases of money in suspense,
 * and cases opened without a doubt, stay open.
 * @source rules#ledger.suspense
 */
export function doubtCaseIds(operation: Operation): readonly string[] {
  const isOfDoubt = ({ kind, rule }: OpenCase) =>
    doubtRules.has(rule) && caseKind(kind)?.holds !== 'suspense' && !suspenseRules.has(rule)
  return openCaseIds(operation, (open) => OF_OUTCOME.has(open.kind) || isOfDoubt(open))
}
