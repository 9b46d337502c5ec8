import { type AccountCode, caseKind, formatReais } from '@pixgate/spec'
import type { Clock } from '../../platform/clock.ts'
import { instantParameter, type Queries, statement as sql } from '../../platform/db/database.ts'
import { workAsApplication } from '../../platform/db/login.ts'
import { withSnapshot } from '../../platform/db/snapshot.ts'
import type { Pause } from '../../platform/jobs/pause.ts'
import type { Logger } from '../../platform/log.ts'
import type { BankComparison, BankDifference, ComparedBalance } from './bank.ts'
import { type Check, checks } from './checks.ts'

/**
 * Verifies the books. A check is an invariant, a fault a row that violates it, a drift a check with faults. A difference
 * is between the books and the bank.
 */

export interface Findings extends Verification {
  readonly bank: BankComparison
}

/** @source rules#ledger.verify.2, rules#ledger.verify.6 */
export function reportText(findings: Findings, totals: readonly AccountTotal[], balanceAt: number): string {
  const rows = [...totals.map((total) => [total.code, ...amountsOf(total)]), ['total', ...amountsOf(sumOf(totals))]]
  const table = [['account', 'debit', 'credit', 'balance'], ...rows]
  return [
    `Trial balance at ${instant(balanceAt)}`,
    ...aligned(table),
    '',
    ...checksText(findings),
    ...bankStatementText(findings.bank),
    ...balanceText(findings.bank),
  ].join('\n')
}

/** Amounts are centavos. @source rules#ledger.verify.3, rules#ledger.verify.6 */
export function reportJson(findings: Findings, totals: readonly AccountTotal[], balanceAt: number): string {
  const { faults, drifts, bank } = findings
  const { statement: bankStatement, differences, balance, adjustmentsSince } = bank
  return JSON.stringify({
    verifiedAt: instant(findings.at),
    faults,
    drifts,
    statement: {
      from: bankStatement && instant(bankStatement.from),
      until: bankStatement && instant(bankStatement.until),
      movements: bankStatement?.movements ?? 0,
      differences: differences.map(({ cents, openedAt, ...difference }) => ({
        ...difference,
        cents: cents === null ? null : Number(cents),
        openedAt: instant(openedAt),
      })),
    },
    bankBalance: {
      compared: balance && balanceJson(balance),
      adjustmentsSince: { count: adjustmentsSince.count, cents: Number(adjustmentsSince.cents) },
    },
    at: instant(balanceAt),
    trialBalance: [...totals, sumOf(totals)].map(({ code, debitCents, creditCents, balanceCents }) => ({
      account: code,
      debitCents: Number(debitCents),
      creditCents: Number(creditCents),
      balanceCents: Number(balanceCents),
    })),
  })
}

function balanceJson({ at, bankCents, booksCents, differenceCents, unexplainedCents, ...balance }: ComparedBalance) {
  return {
    ...balance,
    at: instant(at),
    bankCents: Number(bankCents),
    booksCents: Number(booksCents),
    differenceCents: Number(differenceCents),
    unexplainedCents: Number(unexplainedCents),
  }
}

function instant(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

function checksText({ at, faults, drifts }: Verification): string[] {
  const verdict = faults === 0 ? 'no drift' : plural(faults, 'fault')
  return [
    `Books compared with themselves: ${checks.length} checks at ${instant(at)}: ${verdict}`,
    ...drifts.flatMap(({ name, meaning, count, examples }) => [
      `✘ ${name}: ${count}. Violated: ${meaning}`,
      ...examples.map((what) => `    ${what}`),
      ...(count > examples.length ? [`    … and ${count - examples.length} more`] : []),
    ]),
  ]
}

function bankStatementText({ statement: bankStatement, differences }: BankComparison): string[] {
  const verdict = differences.length === 0 ? 'no difference' : plural(differences.length, 'difference')
  return [
    bankStatement === null
      ? "Books not compared with the bank's statement: it was never read"
      : `Books compared with the bank's statement from ${instant(bankStatement.from)} to ${instant(bankStatement.until)}: ` +
        `${plural(bankStatement.movements, 'movement')}, ${verdict}`,
    ...[...Map.groupBy(differences, ({ kind }) => kind)].flatMap(([kind, ofKind]) => [
      `✘ ${kind}: ${ofKind.length}. ${caseKind(kind)?.meaning ?? BOOKED_TWICE}`,
      ...ofKind.map((difference) => `    ${differenceText(difference)}`),
    ]),
  ]
}

const BOOKED_TWICE = 'A movement of the bank is booked on two operations. One of the bookings is in suspense.'

function differenceText({ caseId, reference, operationId, cents, openedAt }: BankDifference): string {
  const of = operationId === null ? '' : ` of ${operationId}`
  const amount = cents === null ? 'unknown amount' : formatReais(cents)
  return `${amount}: ${reference}${of}, case ${caseId} open since ${instant(openedAt)}`
}

function balanceText({ balance, adjustmentsSince: { count, cents } }: BankComparison): string[] {
  const since = balance === null ? '' : ` since ${instant(balance.at)}`
  return [
    ...(balance === null
      ? ["Books not compared with the bank's balance: no daily close knows it"]
      : comparedText(balance)),
    ...(count === 0
      ? []
      : [`Not compared with the bank${since}: ${plural(count, 'adjustment')}, ${formatReais(cents)} together`]),
  ]
}

function comparedText(balance: ComparedBalance): string[] {
  const { day, at, bankCents, booksCents, differenceCents, unexplainedCents, caseId, isDecided } = balance
  const about = caseId === null ? '' : `, case ${caseId}`
  return [
    `Books compared with the bank's balance at the end of ${day} (${instant(at)}): bank ${formatReais(bankCents)}, ` +
      `books ${formatReais(booksCents)}, difference ${formatReais(differenceCents)}, unexplained ${formatReais(unexplainedCents)}`,
    ...(unexplainedCents === 0n
      ? []
      : [
          isDecided
            ? `An operator has decided what is unexplained${about}`
            : `✘ close_differs: ${formatReais(unexplainedCents)}${about}. ${caseKind('close_differs')?.meaning}`,
        ]),
  ]
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function sumOf(totals: readonly AccountTotal[]) {
  const sum = (amount: (total: AccountTotal) => bigint) => totals.reduce((all, total) => all + amount(total), 0n)
  return {
    code: 'total',
    debitCents: sum(({ debitCents }) => debitCents),
    creditCents: sum(({ creditCents }) => creditCents),
    balanceCents: sum(({ balanceCents }) => balanceCents),
  }
}

function amountsOf({ debitCents, creditCents, balanceCents }: Omit<AccountTotal, 'code'>): string[] {
  return [debitCents, creditCents, balanceCents].map(formatReais)
}

function aligned(table: readonly (readonly string[])[]): string[] {
  const widthOf = (column: number) => Math.max(...table.map((row) => row[column]?.length ?? 0))
  return table.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widthOf(0)) : cell.padStart(widthOf(column) + 2))).join(''),
  )
}

/** A check with faults. */
export interface Drift extends Pick<Check, 'name' | 'meaning'> {
  /** Number of faults. */
  readonly count: number
  /** Faults, at most {@link EXAMPLES_MAX}. */
  readonly examples: readonly string[]
}

export interface Verification {
  readonly at: number
  /** Number of faults: 0 if the books are right. */
  readonly faults: number
  readonly drifts: readonly Drift[]
}

/** Turnover and balance of an account. Credits are the positive amounts of the signed ledger. */
export interface AccountTotal {
  readonly code: AccountCode
  readonly debitCents: bigint
  readonly creditCents: bigint
  readonly balanceCents: bigint
}

/** Faults kept per check, as examples. */
export const EXAMPLES_MAX = 20

const selectNow = sql<[], { now: number }>(
  'ledger.verify.now',
  'SELECT floor(extract(epoch FROM transaction_timestamp()) * 1000)::float8 AS now',
)

const preparedChecks = checks.map((check) => ({
  ...check,
  findFaults: sql<[], { what: string; count: string }>(
    `ledger.verify.${check.name}`,
    `SELECT what, (count(*) OVER ())::text AS count FROM (${check.sql}) faults LIMIT ${EXAMPLES_MAX}`,
  ),
}))

/**
 * Runs all checks.
 * @param queries a snapshot: concurrent writes between queries would look like faults
 * @source rules#ledger.verify.1
 */
export async function verify(queries: Queries): Promise<Verification> {
  const [time] = await queries.rows(selectNow, [])
  if (!time) throw new Error('the database returned no time')
  const drifts: Drift[] = []
  for (const { name, meaning, findFaults } of preparedChecks) {
    const rows = await queries.rows(findFaults, [])
    const [first] = rows
    if (first) drifts.push({ name, meaning, count: Number(first.count), examples: rows.map(({ what }) => what) })
  }
  return { at: time.now, faults: drifts.reduce((sum, { count }) => sum + count, 0), drifts }
}

const selectTotals = sql<[at: string | null], { code: AccountCode; debit: string; credit: string; balance: string }>(
  'ledger.verify.trial_balance',
  `SELECT a.code, coalesce(e.debit, 0)::text AS debit, coalesce(e.credit, 0)::text AS credit,
          coalesce(e.credit - e.debit, 0)::text AS balance
     FROM account a
     LEFT JOIN (SELECT account_id, -coalesce(sum(amount_cents) FILTER (WHERE amount_cents < 0), 0) AS debit,
                       coalesce(sum(amount_cents) FILTER (WHERE amount_cents > 0), 0) AS credit
                  FROM entry WHERE $1::timestamptz IS NULL OR at <= $1
                 GROUP BY account_id) e ON e.account_id = a.id
    ORDER BY a.id`,
)

/**
 * Recomputes every account from its entries.
 * @param untilMs epoch milliseconds, inclusive; `null`: all entries
 * @source rules#ledger.verify.2
 */
export async function trialBalance(queries: Queries, untilMs: number | null): Promise<AccountTotal[]> {
  const rows = await queries.rows(selectTotals, [untilMs === null ? null : instantParameter(untilMs)])
  return rows.map(({ code, debit, credit, balance }) => ({
    code,
    debitCents: BigInt(debit),
    creditCents: BigInt(credit),
    balanceCents: BigInt(balance),
  }))
}

export interface VerifierOptions {
  readonly databaseUrl: string
  readonly logger: Logger
  readonly pause: Pause
  readonly clock: Clock
  /** Called after each verification, and awaited before the next. */
  readonly onVerified?: (verification: Verification) => Promise<void>
}

/** Delay of the first verification, to spare the start of a process. */
const FIRST_AFTER_MS = 60_000

/** @source rules#ledger.verify.4 */
const EVERY_MS = 60 * 60 * 1_000

/** Delay after a database failure. @source rules#ledger.verify.4 */
const AGAIN_AFTER_MS = 60_000

/**
 * Verifies the books periodically. Holds no connection between verifications, and its own one during a verification.
 * @source rules#ledger.verify.4
 */
export function createLedgerVerifier({ databaseUrl, logger, pause, clock, onVerified }: VerifierOptions) {
  const stopping = new AbortController()
  const { signal } = stopping
  let last: Verification | undefined
  let startedAt: number | undefined
  let finished = Promise.resolve()

  /** Logs every fault as an error. @throws if the database does not answer */
  async function verifyOnce(): Promise<void> {
    last = await withSnapshot({ url: databaseUrl, name: 'pixgate verify', signal }, async (queries) => {
      await workAsApplication(queries)
      return verify(queries)
    })
    for (const { name, meaning, count, examples } of last.drifts) {
      for (const what of examples) logger.error({ check: name, what }, `the ledger has drifted, violated: ${meaning}`)
      if (count > examples.length)
        logger.error({ check: name, count }, 'More faults of this check exist than were logged.')
    }
    await onVerified?.(last)
  }

  /** @returns whether the books were verified */
  async function tryToVerify(): Promise<boolean> {
    try {
      await verifyOnce()
      return true
    } catch (error) {
      // A stop cancels the queries of a running verification.
      if (!signal.aborted)
        logger.error({ reason: String(error) }, 'the ledger could not be verified; it is tried again in a minute')
      return false
    }
  }

  async function verifyUntilStopped(): Promise<void> {
    await waitUnlessAborted(pause, FIRST_AFTER_MS, signal)
    while (!signal.aborted) {
      const isVerified = await tryToVerify()
      await waitUnlessAborted(pause, isVerified ? EVERY_MS : AGAIN_AFTER_MS, signal)
    }
  }

  return {
    /** Before the first verification, the start of the verifier; `undefined` if it was not started. */
    standing: () => last ?? (startedAt === undefined ? undefined : { at: startedAt, faults: undefined }),
    start: () => {
      startedAt = clock.now()
      finished = verifyUntilStopped()
    },
    /** Cancels a running verification, which only reads. */
    stop: () => {
      stopping.abort()
      return finished
    },
  }
}

/** Waits; returns early, without an error, when the signal aborts. */
async function waitUnlessAborted(pause: Pause, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await pause.for(ms, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
