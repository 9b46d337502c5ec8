import { type CloseContent, contentOf, type Figures } from '../../src/closes/figures.ts'
import { boundsOf, dayAfter, dayOf } from '../../src/platform/sao-paulo.ts'
import type { StoredEntry } from './tables.ts'
import { assertHolds } from './violation.ts'
import type { World } from './world.ts'

/**
 * The daily closes: their content is the service's own, the figures are read of tables in memory. Each day is closed when it is over,
 * and once more when all has come to rest.
 */

/** Until the statement of a day is known after its end, milliseconds. */
const KNOWN_AFTER_MS = 5 * 60_000

/** The closes of a world. */
export class Closes {
  readonly #world: World
  readonly #days: string[] = []
  #nextDay: string
  #dueAt: number

  constructor(world: World) {
    this.#world = world
    this.#nextDay = dayOf(world.now)
    this.#dueAt = boundsOf(this.#nextDay).to + KNOWN_AFTER_MS
  }

  /** Closes each day that is over. @throws Violation where a close contradicts itself */
  look(): void {
    while (this.#world.now >= this.#dueAt) {
      this.#make(this.#nextDay)
      this.#days.push(this.#nextDay)
      this.#nextDay = dayAfter(this.#nextDay)
      this.#dueAt = boundsOf(this.#nextDay).to + KNOWN_AFTER_MS
    }
  }

  /**
   * Closes every day once more, and the one that is not over.
   * @throws Violation where the closes together are not what the bank's book and the entries are
   */
  atRest(): void {
    this.#assertWhole([...this.#days, this.#nextDay].map((day) => this.#make(day)))
  }

  #make(day: string): CloseContent {
    const { bank } = this.#world
    const bounds = boundsOf(day)
    const content = contentOf({ day, ...bounds }, figuresOf(this.#world, bounds))
    for (const { account, openingCents, closingCents } of content.accounts) {
      const booked = content.journals.flatMap(({ accounts }) => accounts.filter((one) => one.account === account))
      const cents = booked.reduce((sum, one) => sum + one.cents, 0)
      const moved = closingCents - openingCents
      assertHolds(cents === moved, 'I13', () => `on ${day} ${account} moved by ${moved}, its journals by ${cents}`)
    }
    const had = bank.book.entries.filter(({ occurredAt }) => occurredAt < bounds.to)
    const cents = had.reduce(
      (sum, { direction, valueCents }) => sum + (direction === 'in' ? valueCents : -valueCents),
      0n,
    )
    assertHolds(
      BigInt(content.bank?.closingCents ?? 0) === cents,
      'I4',
      () => `the close of ${day} has another balance of the bank`,
    )
    return content
  }

  /** Each day begins with what the one before ended with, the last one ends with what there is, and nothing is unexplained. */
  #assertWhole(last: readonly CloseContent[]): void {
    const { tables } = this.#world
    for (const [index, { id: day, accounts, unexplainedCents, status }] of last.entries()) {
      for (const { account, openingCents, closingCents } of accounts) {
        const before = last[index - 1]?.accounts.find((one) => one.account === account)?.closingCents ?? 0
        assertHolds(
          openingCents === before,
          'I13',
          () => `${day} begins with ${openingCents} of ${account}, not ${before}`,
        )
        const isLast = index === last.length - 1
        const there = Number(tables.balance(account))
        assertHolds(
          !isLast || closingCents === there,
          'I13',
          () => `the last close has ${closingCents} of ${account}, not ${there}`,
        )
      }
      assertHolds(
        unexplainedCents === 0,
        'I4',
        () => `${unexplainedCents} of the close of ${day} (${status}) are unexplained`,
      )
    }
  }
}

/** What the database would read of a day: sums of entries, and each name of a movement as the bank and the books have it. */
function figuresOf(world: World, { from, to }: { readonly from: number; readonly to: number }): Figures {
  const { tables, bank } = world
  const closing = bank.book.entries
    .filter(({ occurredAt }) => occurredAt < to)
    .reduce((sum, { direction, valueCents }) => sum + (direction === 'in' ? valueCents : -valueCents), 0n)
  const { timing, kept, differences } = differencesOf(world, to)
  const open = tables.openCases()
  return {
    accounts: accountsOf(world, from, to),
    reservations: reservationsOf(tables.entries.filter(({ account, at }) => account === 'reserved' && at < to)),
    journals: journalsOf(tables.entries.filter(({ at }) => at >= from && at < to)),
    bank: { closingCents: Number(closing), setAsideCents: 0 },
    timing,
    kept,
    differences,
    openCases: {
      count: open.length,
      cases: open.map(({ id, kind, operationId }) => ({ id, kind, operationId, amountCents: null })),
    },
    carried: { cents: 0, count: 0, movedCents: 0 },
  }
}

function reservationsOf(entries: readonly StoredEntry[]): Figures['reservations'] {
  const held = [...Map.groupBy(entries, ({ operationId }) => operationId).values()]
    .map((ofIt) => ofIt.reduce((sum, { amountCents }) => sum + amountCents, 0n))
    .filter((cents) => cents !== 0n)
  return { count: held.length, cents: Number(held.reduce((sum, cents) => sum + cents, 0n)) }
}

/** What an account has now, less what was booked since. */
function accountsOf({ tables }: World, from: number, to: number): Figures['accounts'] {
  const since = new Map<string, bigint>()
  const during = new Map<string, bigint>()
  for (const { account, amountCents, at } of tables.entries) {
    const sums = at >= to ? since : at >= from ? during : undefined
    sums?.set(account, (sums.get(account) ?? 0n) + amountCents)
  }
  return [...tables.accounts].map(([account, { balanceCents }]) => {
    const closingCents = balanceCents - (since.get(account) ?? 0n)
    const openingCents = closingCents - (during.get(account) ?? 0n)
    return { account, openingCents: Number(openingCents), closingCents: Number(closingCents) }
  })
}

function journalsOf(entries: readonly StoredEntry[]): Figures['journals'] {
  return [...Map.groupBy(entries, ({ journal }) => journal)].map(([journal, ofIt]) => ({
    journal,
    count: new Set(ofIt.map(({ operationId, reference }) => `${operationId} ${reference}`)).size,
    accounts: [...Map.groupBy(ofIt, ({ account }) => account)].map(([account, ofAccount]) => ({
      account,
      cents: Number(ofAccount.reduce((sum, { amountCents }) => sum + amountCents, 0n)),
    })),
  }))
}

interface Named {
  bankBy: bigint
  bankNow: bigint
  booksBy: bigint
  booksNow: bigint
}

/** Name by name: what differs at the end of the day and does not any more is a matter of time, anything else a difference. */
function differencesOf(
  { tables, bank, statement }: World,
  to: number,
): Pick<Figures, 'timing' | 'kept' | 'differences'> {
  const names = new Map<string, Named>()
  const named = (name: string): Named => {
    const known = names.get(name) ?? { bankBy: 0n, bankNow: 0n, booksBy: 0n, booksNow: 0n }
    names.set(name, known)
    return known
  }
  for (const { kind, direction, movementId, valueCents, reference, occurredAt } of bank.book.entries) {
    const one = named(kind === 'TARIFF' ? `tariff ${reference}` : movementId)
    const cents = direction === 'in' ? valueCents : -valueCents
    one.bankNow += cents
    if (occurredAt < to) one.bankBy += cents
  }
  for (const { account, journal, operationId, reference, amountCents, at } of tables.entries) {
    if (account !== 'settlement') continue
    const one = named(journal === 'tariff_deducted' ? `tariff ${operationId}` : reference)
    one.booksNow -= amountCents
    if (at < to) one.booksBy -= amountCents
  }
  const open = tables.openCases()
  const keptIds = new Set(
    [...statement.entries.values()].filter(({ outcome }) => outcome === 'KEPT').map(({ movementId }) => movementId),
  )
  const timing = { count: 0, cents: 0 }
  const kept = { count: 0, cents: 0 }
  const differences: Figures['differences'] = []
  for (const [name, { bankBy, bankNow, booksBy, booksNow }] of names) {
    const cents = Number(bankBy - booksBy)
    if (cents === 0) continue
    const tally = bankNow === booksNow ? timing : keptIds.has(name) ? kept : undefined
    if (tally) {
      tally.count += 1
      tally.cents += cents
      continue
    }
    const standing = open.find(({ reference }) => reference === name || reference.endsWith(` ${name}`))
    if (standing === undefined && !isDifferent(statement, name)) continue
    differences.push({ caseId: standing?.id ?? null, kind: standing?.kind ?? '', reference: name, cents })
  }
  return { timing, kept, differences }
}

/** Whether the statement's entry was set aside as one that differs. */
function isDifferent({ entries }: World['statement'], name: string): boolean {
  return [...entries.values()].some(({ movementId, outcome }) => outcome === 'DIFFERS' && movementId === name)
}
