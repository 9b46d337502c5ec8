import { type HashedClose, hashOfClose, NO_CLOSE } from '../../src/closes/chain.ts'
import {
  type AccountFigures,
  type CloseContent,
  contentOf,
  type DifferenceFigures,
  type Figures,
  type JournalFigures,
} from '../../src/closes/content.ts'
import { boundsOf, dayAfter, dayOf } from '../../src/platform/sao-paulo.ts'
import type { StoredEntry } from './tables.ts'
import { assertHolds } from './violation.ts'
import type { World } from './world.ts'

/**
 * The daily closes: their content and their chain are the service's own, the figures are read of tables in memory. Each day is
 * closed when it is over, and once more when all has come to rest.
 */

/** Until the statement of a day is known after its end, milliseconds. */
const KNOWN_AFTER_MS = 5 * 60_000

interface Made extends HashedClose {
  readonly hash: Buffer
  readonly parsed: CloseContent
}

/** The closes of a world. */
export class Closes {
  readonly #world: World
  readonly #made: Made[] = []
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
      this.#nextDay = dayAfter(this.#nextDay)
      this.#dueAt = boundsOf(this.#nextDay).to + KNOWN_AFTER_MS
    }
  }

  /**
   * Closes every day once more, and the one that is not over.
   * @throws Violation where the closes together are not what the bank's book and the entries are
   */
  atRest(): void {
    const days = [...new Set([...this.#made.map(({ day }) => day), this.#nextDay])]
    const last = days.map((day) => this.#make(day))
    this.#assertWhole(last)
    this.#assertChain()
  }

  #make(day: string): CloseContent {
    const { tables, bank, now } = this.#world
    const bounds = boundsOf(day)
    const same = this.#made.findLast((one) => one.day === day)
    const before = same && { version: same.version, content: same.parsed }
    const content = contentOf(day, bounds, figuresOf(this.#world, bounds), {
      same: before,
      carried: { cents: 0, moved: { count: 0, cents: 0n } },
    })
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
    this.#add(day, same, content, tables.entries.length, now)
    return content
  }

  #add(day: string, same: Made | undefined, content: CloseContent, entries: number, madeAt: number): void {
    const previousHash = this.#made.at(-1)?.hash ?? NO_CLOSE
    const close: HashedClose = {
      seq: BigInt(this.#made.length + 1),
      day,
      version: (same?.version ?? 0) + 1,
      supersedes: same?.seq ?? null,
      previousHash,
      audit: { seq: BigInt(entries), hash: NO_CLOSE },
      madeAt,
      content: JSON.stringify(content),
    }
    this.#made.push({ ...close, hash: hashOfClose(close), parsed: content })
  }

  /** Each day begins with what the one before ended with, the last one ends with what there is, and nothing is unexplained. */
  #assertWhole(last: readonly CloseContent[]): void {
    const { tables } = this.#world
    for (const [index, { day, accounts, unexplainedCents, status }] of last.entries()) {
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

  #assertChain(): void {
    for (const [index, close] of this.#made.entries()) {
      const previous = this.#made[index - 1]?.hash ?? NO_CLOSE
      const isLinked = close.previousHash.equals(previous) && hashOfClose(close).equals(close.hash)
      assertHolds(isLinked, 'I14', () => `close ${close.seq} does not follow the one before`)
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
    journals: journalsOf(tables.entries.filter(({ at }) => at >= from && at < to)),
    bank: { closingCents: closing, setAsideCents: 0n },
    timing,
    kept,
    differences,
    openCases: {
      count: open.length,
      cases: open.map(({ id, kind, operationId }) => ({ id, kind, operationId, amountCents: null })),
    },
  }
}

/** What an account has now, less what was booked since. */
function accountsOf({ tables }: World, from: number, to: number): AccountFigures[] {
  const since = new Map<string, bigint>()
  const during = new Map<string, bigint>()
  for (const { account, amountCents, at } of tables.entries) {
    const sums = at >= to ? since : at >= from ? during : undefined
    sums?.set(account, (sums.get(account) ?? 0n) + amountCents)
  }
  return [...tables.accounts].map(([account, { balanceCents }]) => {
    const closingCents = balanceCents - (since.get(account) ?? 0n)
    return { account, closingCents, openingCents: closingCents - (during.get(account) ?? 0n) }
  })
}

function journalsOf(entries: readonly StoredEntry[]): JournalFigures[] {
  return [...Map.groupBy(entries, ({ journal }) => journal)].map(([journal, ofIt]) => ({
    journal,
    count: new Set(ofIt.map(({ operationId, reference }) => `${operationId} ${reference}`)).size,
    accounts: [...Map.groupBy(ofIt, ({ account }) => account)].map(([account, ofAccount]) => ({
      account,
      cents: ofAccount.reduce((sum, { amountCents }) => sum + amountCents, 0n),
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
  const timing = { count: 0, cents: 0n }
  const kept = { count: 0, cents: 0n }
  const differences: DifferenceFigures[] = []
  for (const [name, { bankBy, bankNow, booksBy, booksNow }] of names) {
    const cents = bankBy - booksBy
    if (cents === 0n) continue
    const tally = bankNow === booksNow ? timing : keptIds.has(name) ? kept : undefined
    if (tally) {
      tally.count += 1
      tally.cents += cents
      continue
    }
    const standing = open.find(({ reference }) => reference === name || reference.endsWith(` ${name}`))
    differences.push({
      kind: standing?.kind ?? '',
      reference: name,
      cents,
      caseId: standing?.id ?? null,
      isOpen: standing !== undefined || isDifferent(statement, name),
    })
  }
  return { timing, kept, differences }
}

/** Whether the statement's entry was set aside as one that differs. */
function isDifferent({ entries }: World['statement'], name: string): boolean {
  return [...entries.values()].some(({ movementId, outcome }) => outcome === 'DIFFERS' && movementId === name)
}
