import { parseArgs } from 'node:util'
import { compareWithBank, isUndecided } from './ledger/verify/bank.ts'
import { reportJson, reportText, trialBalance, verify } from './ledger/verify/verifier.ts'
import { withSnapshot } from './platform/db/snapshot.ts'
import type { DatabaseProgram } from './programs.ts'

/**
 * The program `verify-ledger`: recomputes the books, compares them with the bank's statement and balance, and prints a
 * trial balance. `--at 2026-11-21T00:00:00Z` sets its time; `--json` prints JSON.
 * @returns the exit status: 0 without differences; 1 if the books have drifted, or differ from the bank without an
 * operator's decision; 2 if it could not run
 * @source rules#ledger.verify.3, rules#ledger.verify.6
 */
export const verifyLedger: DatabaseProgram = async (parameters, usage, open) => {
  const { at, json } = readParameters(parameters, usage)
  const { url } = await open()
  const [findings, totals] = await withSnapshot({ url, name: 'pixgate verify-ledger' }, async (queries) => [
    { ...(await verify(queries)), bank: await compareWithBank(queries) },
    await trialBalance(queries, at),
  ])
  const report = json ? reportJson : reportText
  console.log(report(findings, totals, at ?? findings.at))
  return findings.faults > 0 || isUndecided(findings.bank) ? 1 : 0
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/

/** @returns `at: null` for now. @throws Error with the usage */
function readParameters(args: readonly string[], usage: string) {
  const options = { at: { type: 'string' }, json: { type: 'boolean', default: false } } as const
  const { at: text, json } = parseArgs({ args: [...args], options }).values
  const at = text === undefined ? null : Date.parse(text)
  if (text !== undefined && (!INSTANT.test(text) || Number.isNaN(at))) {
    throw new Error(`${text} is no instant. Usage: ${usage} [--at 2026-11-21T00:00:00Z] [--json]`)
  }
  return { at, json }
}
