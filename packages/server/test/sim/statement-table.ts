import { type EntryKey, MISSING, UNEXPLAINED } from '../../src/bank-statement/lines.ts'
import { keyOf, type OpenEntry, SUBJECT_KINDS, type Subject } from '../../src/bank-statement/rules.ts'
import type { Gap, StatementStore } from '../../src/bank-statement/store.ts'
import type { StatementEntry } from '../../src/banks/port.ts'
import { aboutLine, isHeld } from '../../src/cases/unexplained.ts'
import { isCashIn } from '../../src/cash-in/index.ts'
import { returnInDoubt } from '../../src/cash-in/returns.ts'
import type { Operation } from '../../src/engine/operation.ts'
import { bookedAt, type Tables } from './tables.ts'

/** What the bank's statement told, as far as differences are looked for in it. */
export type DifferenceStore = Pick<
  StatementStore,
  | 'keep'
  | 'keptTariffs'
  | 'reopenTariffs'
  | 'unreported'
  | 'reported'
  | 'isBooked'
  | 'oldestUnreportedAt'
  | 'settle'
  | 'noteAsked'
  | 'noteReported'
  | 'noteGaps'
  | 'fillGaps'
  | 'gapsToReport'
  | 'noteGapsReported'
>

/** An entry as it is kept. */
interface Row extends StatementEntry {
  readonly seenAt: number
  askedAt: number | null
  reportedAt: number | null
  settledAt: number | null
  outcome: string | null
}

interface GapRow extends Gap {
  filledAt: number | null
  reportedAt: number | null
}

/** The statement's tables in memory. */
export class StatementTable {
  readonly entries = new Map<string, Row>()
  readonly #gaps = new Map<string, GapRow>()
  readonly #tables: Tables
  #checked = 0

  constructor(tables: Tables) {
    this.#tables = tables
  }

  /** The reads and writes of it. */
  readonly store: DifferenceStore = {
    keep: async (entries, nowMs) => this.#keep(entries, nowMs),
    keptTariffs: async (entries) =>
      entries
        .flatMap(({ reference }) => this.entries.get(`out ${reference} TARIFF`) ?? [])
        .map(({ movementId, endToEndId, valueCents, occurredAt }) => ({
          reference: movementId,
          endToEndId,
          valueCents,
          occurredAt,
        })),
    reopenTariffs: async () => undefined,
    unreported: async (direction) =>
      this.#open((row) => row.reportedAt === null && row.direction === direction).sort(
        (one, other) => Number(other.valueCents - one.valueCents) || (one.movementId < other.movementId ? 1 : -1),
      ),
    reported: async () => this.#open((row) => row.reportedAt !== null),
    isBooked: async ({ direction, movementId }) => bookedAt(this.#tables, direction, movementId) !== undefined,
    oldestUnreportedAt: async () => null,
    settle: async (results, nowMs) => {
      for (const { entry, outcome } of results) this.#settle(entry, outcome, nowMs)
    },
    noteAsked: async (keys, nowMs) => this.#note(keys, (row) => (row.askedAt ??= nowMs)),
    noteReported: async (keys, nowMs) => this.#note(keys, (row) => (row.reportedAt ??= nowMs)),
    noteGaps: async (nowMs, bookedUntil) => this.#noteGaps(nowMs, bookedUntil),
    fillGaps: async (nowMs) => this.#fillGaps(nowMs),
    gapsToReport: async (missedBefore) =>
      [...this.#gaps.values()].filter(
        (gap) => gap.filledAt === null && gap.reportedAt === null && gap.missedAt < missedBefore,
      ),
    noteGapsReported: async (gaps, nowMs) => {
      for (const { direction, id } of gaps) {
        const gap = this.#gaps.get(`${direction} ${id}`)
        if (gap) gap.reportedAt = nowMs
      }
    },
  }

  /** Whether everything it told is settled, or a case. */
  get isDone(): boolean {
    return [...this.entries.values()].every(({ settledAt, reportedAt }) => settledAt !== null || reportedAt !== null)
  }

  #keep(entries: readonly StatementEntry[], nowMs: number) {
    return entries.flatMap((entry) => {
      const key = keyOfRow(entry)
      const known = this.entries.get(key)
      if (!known) {
        this.entries.set(key, {
          ...entry,
          seenAt: nowMs,
          askedAt: null,
          reportedAt: null,
          settledAt: null,
          outcome: null,
        })
        return []
      }
      const isSame =
        known.valueCents === entry.valueCents &&
        known.endToEndId === entry.endToEndId &&
        known.reference === entry.reference
      const booked = bookedAt(this.#tables, entry.direction, entry.movementId)
      return isSame ? [] : [{ entry, before: known, booked }]
    })
  }

  #note(keys: readonly EntryKey[], note: (row: Row) => void): void {
    for (const key of keys) {
      const row = this.entries.get(keyOfRow(key))
      if (row) note(row)
    }
  }

  #settle(entry: EntryKey, outcome: string, nowMs: number): void {
    const row = this.entries.get(keyOfRow(entry))
    if (!row || row.settledAt !== null) return
    row.settledAt = nowMs
    row.outcome = outcome
    this.#tables.closeLoose(UNEXPLAINED, keyOf(row), nowMs)
  }

  #open(is: (row: Row) => boolean): OpenEntry[] {
    return [...this.entries.values()]
      .filter((row) => row.settledAt === null && is(row))
      .map((row) => this.#openEntry(row))
  }

  #openEntry(row: Row): OpenEntry {
    const { direction, movementId, endToEndId, kind, reference } = row
    const arrived = kind === 'PAYMENT_TAKEN_BACK' ? bookedAt(this.#tables, 'in', endToEndId) : undefined
    const named = this.#tables.operations.get(reference)
    const payingKind = kind.startsWith('PAYOUT') ? 'cash_out' : 'cash_in'
    const paidBy = [...this.#tables.operations.values()].filter(
      (operation) => operation.endToEndId === endToEndId && operation.kind === payingKind,
    )
    const isArrivedOnCharge = arrived && this.#tables.operations.get(arrived.operationId)?.kind === 'cash_in'
    return {
      ...row,
      booked: bookedAt(this.#tables, direction, movementId),
      named: named && subjectOf(named),
      paidBy: paidBy.map(({ id }) => ({ id, kind: SUBJECT_KINDS[kind], endToEndId })),
      arrivedOn: isArrivedOnCharge ? { id: arrived.operationId, kind: 'cash_in' } : null,
      isInDoubt: isArrivedOnCharge === true && this.#isInDoubt(arrived.operationId, movementId),
      adjustmentId: null,
      heldBy: this.#heldBy(row),
      isOfHeld: false,
      takenBackFrom: null,
      isComeAndGone: this.#isComeAndGone(row),
    }
  }

  #heldBy(row: Row): OpenEntry['heldBy'] {
    const held = [...this.#tables.operations.values()].find(
      (operation) => isHeld(operation) && operation.detail.about === aboutLine(row),
    )
    return held ? { id: held.id, status: held.status } : null
  }

  #isInDoubt(chargeId: string, returnId: string): boolean {
    const charge = this.#tables.operations.get(chargeId)
    return isCashIn(charge) && returnInDoubt(charge, returnId) !== undefined
  }

  /** A payment of nobody's that the bank gave back whole, or such a return. */
  #isComeAndGone({ kind, endToEndId }: Row): boolean {
    const backs = [...this.entries.values()].filter(
      (one) => one.kind === 'PAYMENT_TAKEN_BACK' && one.endToEndId === endToEndId,
    )
    const payment = this.entries.get(`in ${endToEndId} PAYMENT_RECEIVED`)
    const isOurs = payment === undefined || this.#tables.operations.has(payment.reference)
    if (isOurs || backs.length === 0 || bookedAt(this.#tables, 'in', endToEndId)) return false
    const cents = backs.reduce((sum, { valueCents }) => sum + valueCents, 0n)
    if (kind === 'PAYMENT_RECEIVED') return cents === payment.valueCents
    return kind === 'PAYMENT_TAKEN_BACK' && cents <= payment.valueCents
  }

  #hasMovement({ direction, id }: { readonly direction: string; readonly id: string }): boolean {
    return [...this.entries.values()].some(
      (row) => row.direction === direction && row.movementId === id && row.kind !== 'TARIFF' && row.outcome !== 'KEPT',
    )
  }

  #noteGaps(nowMs: number, bookedUntil: number): void {
    for (; this.#checked < this.#tables.entries.length; this.#checked++) {
      const entry = this.#tables.entries[this.#checked]
      if (!entry || entry.at > bookedUntil) return
      if (entry.account !== 'settlement') continue
      const direction = entry.amountCents < 0n ? 'in' : 'out'
      const movement = bookedAt(this.#tables, direction, entry.reference)
      const isNamed =
        !entry.reference.startsWith('unnamed ') || ['cash_in_paid', 'cash_out_returned'].includes(entry.journal)
      if (!movement || movement.operationId !== entry.operationId || !isNamed || this.#hasMovement(movement)) continue
      const key = `${direction} ${movement.id}`
      if (!this.#gaps.has(key)) {
        this.#gaps.set(key, { ...movement, direction, missedAt: nowMs, filledAt: null, reportedAt: null })
      }
    }
  }

  #fillGaps(nowMs: number): void {
    for (const gap of this.#gaps.values()) {
      if (gap.filledAt !== null || !this.#hasMovement(gap)) continue
      gap.filledAt = nowMs
      this.#tables.closeLoose(MISSING, `${gap.direction} ${gap.id}`, nowMs)
    }
  }
}

function keyOfRow({ direction, movementId, kind }: EntryKey): string {
  return `${direction} ${movementId} ${kind}`
}

function subjectOf({ id, kind, endToEndId }: Operation): Subject {
  return { id, kind, endToEndId }
}
