import { formatReais } from '@pixgate/spec'
import { checks } from './checks.ts'
import type { AccountTotal, Verification } from './store.ts'

/** A verification and a trial balance as people read them. @source rules#ledger.verify.2 */
export function reportText(verification: Verification, totals: readonly AccountTotal[], balanceAt: number): string {
  const rows = [...totals.map((total) => [total.code, ...amountsOf(total)]), ['total', ...amountsOf(sumOf(totals))]]
  const table = [['account', 'debit', 'credit', 'balance'], ...rows]
  return [
    `Trial balance at ${new Date(balanceAt).toISOString()}`,
    ...aligned(table),
    '',
    ...findings(verification),
  ].join('\n')
}

/** The same as one JSON object. Amounts are centavos. @source rules#ledger.verify.3 */
export function reportJson(verification: Verification, totals: readonly AccountTotal[], balanceAt: number): string {
  const trialBalance = [...totals, sumOf(totals)].map(({ code, debitCents, creditCents, balanceCents }) => ({
    account: code,
    debitCents: Number(debitCents),
    creditCents: Number(creditCents),
    balanceCents: Number(balanceCents),
  }))
  const { faults, drifts } = verification
  const verifiedAt = new Date(verification.at).toISOString()
  return JSON.stringify({ verifiedAt, faults, drifts, at: new Date(balanceAt).toISOString(), trialBalance })
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
