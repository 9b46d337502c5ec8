import { caseKind, formatReais } from '@pixgate/spec'
import type { BankComparison, BankDifference, ComparedBalance } from './bank.ts'
import { checks } from './checks.ts'
import type { AccountTotal, Verification } from './store.ts'

/** What was found out. */
export interface Findings extends Verification {
  readonly bank: BankComparison
}

/** A verification and a trial balance as people read them. @source rules#ledger.verify.2, rules#ledger.verify.6 */
export function reportText(findings: Findings, totals: readonly AccountTotal[], balanceAt: number): string {
  const rows = [...totals.map((total) => [total.code, ...amountsOf(total)]), ['total', ...amountsOf(sumOf(totals))]]
  const table = [['account', 'debit', 'credit', 'balance'], ...rows]
  return [
    `Trial balance at ${instant(balanceAt)}`,
    ...aligned(table),
    '',
    ...checksText(findings),
    ...statementText(findings.bank),
    ...balanceText(findings.bank),
  ].join('\n')
}

/** The same as one JSON object. Amounts are centavos. @source rules#ledger.verify.3, rules#ledger.verify.6 */
export function reportJson(findings: Findings, totals: readonly AccountTotal[], balanceAt: number): string {
  const { faults, drifts, bank } = findings
  const { statement, differences, balance, adjustmentsSince } = bank
  return JSON.stringify({
    verifiedAt: instant(findings.at),
    faults,
    drifts,
    statement: {
      from: statement && instant(statement.from),
      until: statement && instant(statement.until),
      movements: statement?.movements ?? 0,
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
  const verdict = faults === 0 ? 'no drift' : counted(faults, 'fault')
  return [
    `Books compared with themselves: ${checks.length} checks at ${instant(at)}: ${verdict}`,
    ...drifts.flatMap(({ name, meaning, count, examples }) => [
      `✘ ${name}: ${count}. ${meaning}`,
      ...examples.map((what) => `    ${what}`),
      ...(count > examples.length ? [`    … and ${count - examples.length} more`] : []),
    ]),
  ]
}

function statementText({ statement, differences }: BankComparison): string[] {
  const verdict = differences.length === 0 ? 'no difference' : counted(differences.length, 'difference')
  return [
    statement === null
      ? "Books not compared with the bank's statement: it was never read"
      : `Books compared with the bank's statement from ${instant(statement.from)} to ${instant(statement.until)}: ` +
        `${counted(statement.movements, 'movement')}, ${verdict}`,
    ...[...Map.groupBy(differences, ({ kind }) => kind)].flatMap(([kind, those]) => [
      `✘ ${kind}: ${those.length}. ${caseKind(kind)?.meaning ?? BOOKED_TWICE}`,
      ...those.map((difference) => `    ${differenceText(difference)}`),
    ]),
  ]
}

/** The one kind that is a case of an operation. */
const BOOKED_TWICE = 'A movement of the bank is booked on two operations. One of the bookings is in suspense.'

function differenceText({ caseId, reference, operationId, cents, openedAt }: BankDifference): string {
  const of = operationId === null ? '' : ` of ${operationId}`
  const amount = cents === null ? 'unknown amount' : formatReais(cents)
  return `${amount}: ${reference}${of}, case ${caseId} open since ${instant(openedAt)}`
}

function balanceText({ balance, adjustmentsSince: { count, cents } }: BankComparison): string[] {
  const isAll = balance === null ? '' : ` since ${instant(balance.at)}`
  return [
    ...(balance === null
      ? ["Books not compared with the bank's balance: no daily close knows it"]
      : comparedText(balance)),
    ...(count === 0
      ? []
      : [`Not compared with the bank${isAll}: ${counted(count, 'adjustment')}, ${formatReais(cents)} together`]),
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

function counted(count: number, noun: string): string {
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

/** The first column to the left, amounts to the right. */
function aligned(table: readonly (readonly string[])[]): string[] {
  const widthOf = (column: number) => Math.max(...table.map((row) => row[column]?.length ?? 0))
  return table.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widthOf(0)) : cell.padStart(widthOf(column) + 2))).join(''),
  )
}
