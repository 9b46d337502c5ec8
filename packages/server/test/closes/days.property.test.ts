import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { type JournalKind, type JournalTemplate, journals } from '@pixgate/spec'
import fc from 'fast-check'
import {
  BEFORE_KNOWN,
  BESIDE_MOVEMENTS,
  type CloseContent,
  contentOf,
  directionOf,
  readFigures,
} from '../../src/closes/figures.ts'
import { withSnapshot } from '../../src/platform/db/snapshot.ts'
import { boundsOf, dayAfter } from '../../src/platform/sao-paulo.ts'
import { administer, testDatabase } from '../support/database.ts'

/** Days of which everything comes in any order: what the closes of all of them say together. */

test('[close.3] every journal that books on the bank’s account says which movement of the bank it is of, or that it is of none', () => {
  const kinds = Object.keys(journals) as JournalKind[]
  const none: string[] = []
  for (const kind of kinds) {
    const template: JournalTemplate = journals[kind]
    const posting = template.postings.find(({ account }) => account === 'settlement')
    const direction = directionOf(kind)
    if (posting === undefined) {
      assert.equal(direction, null, `${kind} moves nothing at the bank`)
      continue
    }
    if (direction === null) none.push(kind)
    const [sign] = Object.values(posting.amount)
    const isUndoing = BEFORE_KNOWN.includes(`'${kind}'`) || kind === 'credit_reversed'
    const isUndone = isUndoing && (direction === 'out') === (sign === -1)
    if (direction !== null && !isUndone) assert.equal(direction, sign === -1 ? 'in' : 'out', kind)
  }
  assert.deepEqual(none.sort(), [
    'adjustment_credited',
    'adjustment_debited',
    'arrival_handed_over',
    'cash_in_attributed',
    'difference_borne',
    'difference_gained',
    'difference_lost',
    'tariff_deducted',
  ])
  for (const kind of Object.keys(BESIDE_MOVEMENTS) as JournalKind[]) {
    assert.ok(!('movement' in journals[kind]), `${kind} says it itself`)
  }
})

const FIRST_DAY = '2026-10-05'
const DAYS = 16
const START = boundsOf(FIRST_DAY).from
const END = boundsOf(dayAfter(FIRST_DAY, DAYS - 1)).to
const DAY_MS = 86_400_000

interface Happening {
  readonly at: number
  readonly sql: string
}

/** An entry that is to be found in exactly one close. */
interface Booked {
  readonly at: number
  readonly journal: JournalKind
  readonly cents: number
}

class Story {
  readonly happenings: Happening[] = []
  readonly booked: Booked[] = []

  /** Books on the bank's account, and the other side in suspense. @param cents with the sign that `settlement` gets */
  book(knownAt: number, journal: JournalKind, operation: string, reference: string, cents: number): void {
    this.booked.push({ at: knownAt, journal, cents })
    const entry = (code: string, amount: number, posting: number) => `
      WITH a AS (UPDATE account SET version = version + 1, balance_cents = balance_cents + ${amount}
                  WHERE code = '${code}' RETURNING id, version, balance_cents)
      INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference, posting, at)
      SELECT id, version, ${amount}, balance_cents, '${operation}', '${journal}', '${reference}', ${posting}, '${iso(knownAt)}' FROM a;`
    this.happens(knownAt, entry('settlement', cents, 0) + entry('suspense_in', -cents, 1))
  }

  own(knownAt: number, direction: string, id: string, operation: string, cents: number): void {
    this.happens(knownAt, `INSERT INTO movement VALUES ('${direction}', '${id}', '${operation}', ${cents});`)
  }

  /** The bank's statement has it; read a little later. */
  stated(knownAt: number, direction: string, id: string, kind: string, cents: number): void {
    this.happens(
      knownAt + 60_000,
      `INSERT INTO statement_entry (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at)
       VALUES ('${direction}', '${id}', '${kind}', '${id}', '${id}', ${cents}, '${iso(knownAt)}', '${iso(knownAt + 60_000)}');`,
    )
  }

  settled(knownAt: number, id: string, outcome: string, operation: string | null): void {
    this.happens(
      knownAt + 60_000,
      `UPDATE statement_entry SET outcome = '${outcome}', operation_id = ${operation === null ? 'NULL' : `'${operation}'`},
              settled_at = '${iso(knownAt + 60_000)}' WHERE id = '${id}';`,
    )
  }

  case(from: number, to: number, kind: string, reference: string, operation: string | null): void {
    const id = randomUUID()
    this.happens(
      from,
      `INSERT INTO "case" (id, operation_id, kind, reference, facts, opened_at)
       VALUES ('${id}', ${operation === null ? 'NULL' : `'${operation}'`}, '${kind}', '${reference}', '{}', '${iso(from)}');`,
    )
    this.happens(to, `UPDATE "case" SET closed_at = '${iso(to)}' WHERE id = '${id}';`)
  }

  private happens(knownAt: number, sql: string): void {
    this.happenings.push({ at: knownAt, sql })
  }
}

const iso = (epochMs: number) => new Date(epochMs).toISOString()

/** What may become of a movement. @param lag how long the books, or an operator, take */
type Plot = (story: Story, id: string, movedAt: number, lag: () => number, cents: number) => void

const plots: Readonly<Record<string, Plot>> = {
  'a payment is booked, before the statement has it or long after': (story, id, movedAt, lag, cents) => {
    const [operation, bookedAt] = [randomUUID(), movedAt + lag()]
    story.stated(movedAt, 'in', id, 'PAYMENT_RECEIVED', cents)
    story.book(bookedAt, 'cash_in_paid', operation, id, -cents)
    story.own(bookedAt, 'in', id, operation, cents)
    story.settled(Math.max(movedAt, bookedAt), id, 'MATCHED', operation)
  },
  'a payout is booked': (story, id, movedAt, lag, cents) => {
    const [operation, bookedAt] = [randomUUID(), movedAt + lag()]
    story.stated(movedAt, 'out', id, 'PAYOUT_SENT', cents)
    story.book(bookedAt, 'cash_out_confirmed', operation, id, cents)
    story.own(bookedAt, 'out', id, operation, cents)
    story.settled(Math.max(movedAt, bookedAt), id, 'MATCHED', operation)
  },
  'a payment in suspense is attributed to another charge': (story, id, movedAt, lag, cents) => {
    const [first, other] = [randomUUID(), randomUUID()]
    const bookedAt = movedAt + lag()
    const decidedAt = bookedAt + lag()
    story.stated(movedAt, 'in', id, 'PAYMENT_RECEIVED', cents)
    story.book(bookedAt, 'arrived_unattributed', first, id, -cents)
    story.own(bookedAt, 'in', id, first, cents)
    story.settled(Math.max(movedAt, bookedAt), id, 'MATCHED', first)
    story.book(decidedAt, 'arrival_handed_over', first, id, cents)
    story.book(decidedAt, 'cash_in_attributed', other, id, -cents)
  },
  'a movement that another operation has is a case beside the books': (story, id, movedAt, lag, cents) => {
    const [owner, other] = [randomUUID(), randomUUID()]
    const bookedAt = movedAt + lag()
    const reportedAt = bookedAt + lag()
    story.stated(movedAt, 'in', id, 'PAYMENT_RECEIVED', cents)
    story.book(bookedAt, 'cash_in_paid', owner, id, -cents)
    story.own(bookedAt, 'in', id, owner, cents)
    story.settled(Math.max(movedAt, bookedAt), id, 'MATCHED', owner)
    story.case(reportedAt, reportedAt + 1 + lag(), 'movement_elsewhere', id, other)
  },
  'a payment in suspense goes back to its payer, in part by an order': (story, id, movedAt, lag, cents) => {
    const [charge, refund] = [randomUUID(), randomUUID()]
    const backAt = movedAt + lag()
    const bookedAt = backAt + lag()
    const cents2 = Math.ceil(cents / 2)
    story.stated(movedAt, 'in', id, 'PAYMENT_RECEIVED', cents)
    story.book(movedAt, 'arrived_unattributed', charge, id, -cents)
    story.own(movedAt, 'in', id, charge, cents)
    story.settled(movedAt, id, 'MATCHED', charge)
    story.stated(backAt, 'out', `R${id}`, 'REFUND_SENT', cents2)
    story.book(bookedAt, 'refund_in_confirmed', refund, `R${id}`, cents2)
    story.own(bookedAt, 'out', `R${id}`, refund, cents2)
    story.settled(bookedAt, `R${id}`, 'MATCHED', refund)
  },
  'a return is held until it is known whose it is': (story, id, movedAt, lag, cents) => {
    const [charge, refund] = [randomUUID(), randomUUID()]
    const heldAt = movedAt + lag()
    const knownAt = heldAt + 1 + lag()
    story.stated(movedAt, 'out', id, 'PAYMENT_TAKEN_BACK', cents)
    story.case(heldAt, knownAt, 'return_unexplained', id, charge)
    story.book(heldAt, 'return_held', charge, id, cents)
    story.book(knownAt, 'return_known', charge, id, -cents)
    story.book(knownAt, 'taken_by_bank', refund, id, cents)
    story.own(knownAt, 'out', id, refund, cents)
    story.settled(Math.max(movedAt, knownAt), id, 'MATCHED', refund)
  },
  'the bank has another amount, and an operator books the difference': (story, id, movedAt, lag, cents) => {
    const [operation, decision] = [randomUUID(), randomUUID()]
    const bookedAt = movedAt + lag()
    const statedAt = Math.max(movedAt, bookedAt)
    const decidedAt = statedAt + 120_000 + lag()
    story.stated(movedAt, 'in', id, 'PAYMENT_RECEIVED', cents + 7)
    story.book(bookedAt, 'cash_in_paid', operation, id, -cents)
    story.own(bookedAt, 'in', id, operation, cents)
    story.settled(statedAt, id, 'DIFFERS', operation)
    story.case(statedAt + 60_000, decidedAt, 'line_differs', `PAYMENT_RECEIVED ${id}`, null)
    story.book(decidedAt, 'difference_gained', decision, '', -7)
  },
  'an adjustment explains what the statement has': (story, id, movedAt, lag, cents) => {
    const [adjustment, bookedAt] = [randomUUID(), movedAt + lag()]
    story.stated(movedAt, 'in', id, 'PAYMENT_RECEIVED', cents)
    story.book(bookedAt, 'adjustment_credited', adjustment, '', -cents)
    story.settled(Math.max(movedAt, bookedAt), id, 'KEPT', adjustment)
  },
  'the statement has what nobody knows, and an operator books it': (story, id, movedAt, lag, cents) => {
    const [decision, decidedAt] = [randomUUID(), movedAt + 120_000 + lag()]
    story.stated(movedAt, 'in', id, 'PAYMENT_RECEIVED', cents)
    story.case(movedAt + 60_000, decidedAt, 'unexplained_credit', `PAYMENT_RECEIVED ${id}`, null)
    story.book(decidedAt, 'arrived_unattributed', decision, id, -cents)
    story.own(decidedAt, 'in', id, decision, cents)
    story.settled(decidedAt, id, 'MATCHED', decision)
  },
}

/** Mostly at once; sometimes after days, and after more than a week. */
function lagOf(random: () => number): number {
  const kind = random()
  if (kind < 0.4) return Math.floor(random() * 60_000)
  if (kind < 0.8) return Math.floor(random() * 2 * DAY_MS)
  return Math.floor((7 + random() * 3) * DAY_MS)
}

test('[close.2] [close.3] no movement is in two closes and none in none, however late it is booked, and a day told again is told the same', async (t) => {
  const { url } = await testDatabase(t)
  const numbers = fc.sample(fc.noBias(fc.nat(999_999)), { numRuns: 2_000 }).values()
  const random = () => (numbers.next().value ?? 0) / 1_000_000
  const story = new Story()
  const names = Object.values(plots)
  for (let n = 0; n < 120; n += 1) {
    const at = START + Math.floor(random() * (DAYS - 2) * DAY_MS)
    names[n % names.length]?.(story, `E${n}`, at, () => lagOf(random), 100 + Math.floor(random() * 10_000))
  }
  // Each also at the end of a day, booked before its close is made, and decided a day later.
  const lateMs = boundsOf(FIRST_DAY).to - 30_000
  for (const [n, plot] of names.entries()) {
    const lags = [60_000]
    plot(story, `M${n}`, lateMs, () => lags.shift() ?? DAY_MS, 100 + n)
  }
  const happenings = story.happenings.toSorted((a, b) => a.at - b.at)
  const figures = (day: string) => {
    const next = { day, ...boundsOf(day) }
    return withSnapshot({ url, name: 'test' }, async (queries) => contentOf(next, await readFigures(queries, next)))
  }

  const days = Array.from({ length: DAYS }, (_, index) => dayAfter(FIRST_DAY, index))
  const closes: CloseContent[] = []
  let happened = 0
  for (const day of days) {
    const until = boundsOf(day).to
    const due = happenings.filter(({ at }, index) => index >= happened && at < until + 600_000)
    happened += due.length
    const mark = `UPDATE statement_mark SET matched_until = '${iso(until + 600_000)}';
      INSERT INTO bank_balance (read_at, as_of, available_cents, set_aside_cents)
      SELECT '${iso(until + 300_000)}', '${iso(until + 300_000)}',
             coalesce(sum(CASE direction WHEN 'in' THEN value_cents ELSE -value_cents END), 0), 0
        FROM statement_entry WHERE occurred_at <= '${iso(until + 300_000)}';`
    await administer(url, `SET session_replication_role = replica; ${due.map(({ sql }) => sql).join('\n')} ${mark}`)
    closes.push(await figures(day))
  }
  for (const [index, close] of closes.entries()) {
    assert.equal(close.unexplainedCents, 0, `${close.id}: ${JSON.stringify(close.explained)}`)
    const before = closes[index - 1]
    if (before) assert.deepEqual(openings(close), closings(before), close.id)
  }
  const known = story.booked.filter(({ at }) => at < END)
  assert.deepEqual(tallied(closes), tallyOf(known), 'every entry is in exactly one close')
  assert.ok(known.length < story.booked.length, 'and some come after the last day')

  const rest = happenings.slice(happened)
  await administer(url, `SET session_replication_role = replica; ${rest.map(({ sql }) => sql).join('\n')}`)
  const again = await Promise.all(days.map(figures))
  for (const [index, close] of again.entries()) {
    assert.equal(close.unexplainedCents, 0, `${close.id} told again: ${JSON.stringify(close)}`)
    assert.deepEqual([close.accounts, close.journals], [closes[index]?.accounts, closes[index]?.journals])
  }
})

const openings = ({ accounts }: CloseContent) => accounts.map(({ account, openingCents }) => [account, openingCents])
const closings = ({ accounts }: CloseContent) => accounts.map(({ account, closingCents }) => [account, closingCents])

/** How many journals of each kind there are, and what they add to `settlement`. */
type Tally = Record<string, { count: number; cents: number }>

function tallied(closes: readonly CloseContent[]): Tally {
  const rows = closes.flatMap(({ journals: kinds }) =>
    kinds.map(({ journal, count, accounts }) => ({
      journal,
      count,
      cents: accounts.find(({ account }) => account === 'settlement')?.cents ?? 0,
    })),
  )
  return sum(rows)
}

function tallyOf(booked: readonly Booked[]): Tally {
  return sum(booked.map(({ journal, cents }) => ({ journal, count: 1, cents })))
}

function sum(rows: readonly { journal: string; count: number; cents: number }[]): Tally {
  const tally: Tally = {}
  for (const { journal, count, cents } of rows) {
    const before = tally[journal] ?? { count: 0, cents: 0 }
    tally[journal] = { count: before.count + count, cents: before.cents + cents }
  }
  return tally
}
