import { formatReais } from '@pixgate/spec'
import { checks } from './checks.ts'
import type { AccountTotal, Unconfirmed, Verification } from './store.ts'

/** What was found out. */
export interface Findings extends Verification {
  /** Absent where it was not looked for. */
  readonly unconfirmed?: Unconfirmed
}

/** A verification and a trial balance as people read them. @source rules#ledger.verify.2, rules#ledger.verify.6 */
export function reportText(verification: Findings, totals: readonly AccountTotal[], balanceAt: number): string {
  const rows = [...totals.map((total) => [total.code, ...amountsOf(total)]), ['total', ...amountsOf(sumOf(totals))]]
  const table = [['account', 'debit', 'credit', 'balance'], ...rows]
  return [
    `Trial balance at ${new Date(balanceAt).toISOString()}`,
    ...aligned(table),
    '',
    ...findings(verification),
    ...(verification.unconfirmed ? statementFindings(verification.unconfirmed) : []),
  ].join('\n')
}

/** The same as one JSON object. Amounts are centavos. @source rules#ledger.verify.3 */
export function reportJson(verification: Findings, totals: readonly AccountTotal[], balanceAt: number): string {
  const trialBalance = [...totals, sumOf(totals)].map(({ code, debitCents, creditCents, balanceCents }) => ({
    account: code,
    debitCents: Number(debitCents),
    creditCents: Number(creditCents),
    balanceCents: Number(balanceCents),
  }))
  const { faults, drifts, unconfirmed } = verification
  const verifiedAt = new Date(verification.at).toISOString()
  const at = new Date(balanceAt).toISOString()
  const statement = unconfirmed && { statement: statementJson(unconfirmed) }
  return JSON.stringify({ verifiedAt, faults, drifts, ...statement, at, trialBalance })
}

function statementJson({ readAt, count, cents, examples }: Unconfirmed) {
  return { readAt: instantOrNull(readAt), unconfirmed: count, unconfirmedCents: Number(cents), examples }
}

function instantOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString()
}

/** A line of its own: that the books agree with themselves says nothing of the bank. */
function statementFindings({ readAt, count, cents, examples }: Unconfirmed): string[] {
  const until = instantOrNull(readAt)
  if (count === 0) {
    return [
      until === null ? "The bank's statement was never read" : `The bank's statement of ${until} confirms the books`,
    ]
  }
  return [
    `✘ bank: ${count}. The bank${until === null ? '' : `'s statement of ${until}`} does not confirm ${formatReais(cents)} of the books.`,
    ...examples.map((what) => `    ${what}`),
    ...(count > examples.length ? [`    … and ${count - examples.length} more`] : []),
  ]
}

function findings({ at, faults, drifts }: Verification): string[] {
  const verdict = faults === 0 ? 'no drift' : `${faults} ${faults === 1 ? 'fault' : 'faults'}`
  return [
    `${checks.length} checks at ${new Date(at).toISOString()}: ${verdict}`,
    ...drifts.flatMap(({ name, meaning, count, examples }) => [
      `✘ ${name}: ${count}. ${meaning}`,
      ...examples.map((what) => `    ${what}`),
      ...(count > examples.length ? [`    … and ${count - examples.length} more`] : []),
    ]),
  ]
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
