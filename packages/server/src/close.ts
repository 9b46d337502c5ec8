import { parseArgs } from 'node:util'
import { boundsOfClose, type Close, closeOfDay, closeView, isAudited } from './closes/closes.ts'
import { decimalText, statementCsv } from './closes/csv.ts'
import { statementOfx } from './closes/ofx.ts'
import type { Queries } from './platform/db/database.ts'
import { withSnapshot } from './platform/db/snapshot.ts'
import { isDay } from './platform/sao-paulo.ts'
import type { DatabaseProgram } from './programs.ts'

/**
 * The program `close`: prints the stored close of a day. `--day 2026-11-22`; `--format csv` or `ofx` (the day's statement
 * of the merchant's account) or `json` instead of text.
 * @returns the exit status: 0 if the day balances; 1 if it differs, or the audit trail has another close;
 * 2 if it could not run, the day is not closed, or the bank's balance is unknown
 * @source rules#close.9
 */
export const runClose: DatabaseProgram = async (parameters, usage, open) => {
  const { day, format } = readParameters(parameters, usage)
  const { url, ofxAccount } = await open()
  return withSnapshot({ url, name: 'pixgate close' }, async (queries) => {
    const close = await closeOfDay(queries, day)
    if (close === undefined) throw new Error(`${day} is not closed`)
    const isGenuine = await isAudited(queries, close)
    for await (const piece of filesOf(queries, close, format, ofxAccount)) process.stdout.write(piece)
    if (format === 'json') process.stdout.write(`${JSON.stringify({ ...closeView(close), isGenuine })}\n`)
    if (format === 'text') process.stdout.write(reportText(close))
    if (!isGenuine) console.error(`✘ the close of ${day} is not the one that the audit trail has`)
    const { status } = close.content
    if (isGenuine && status === 'UNCONFIRMED') return 2
    return isGenuine && status === 'BALANCED' ? 0 : 1
  })
}

const FORMATS = ['text', 'csv', 'ofx', 'json'] as const

/** @throws Error with the usage */
function readParameters(args: readonly string[], usage: string) {
  const options = { day: { type: 'string' }, format: { type: 'string', default: 'text' } } as const
  const { day = '', format: wanted } = parseArgs({ args: [...args], options }).values
  const format = FORMATS.find((candidate) => candidate === wanted)
  if (!isDay(day) || format === undefined) {
    throw new Error(`a day is needed. Usage: ${usage} --day 2026-11-22 [--format csv|ofx|json]`)
  }
  return { day, format }
}

function filesOf(queries: Queries, close: Close, format: (typeof FORMATS)[number], ofxAccount: string | undefined) {
  if (format === 'ofx') return statementOfx(queries, close, ofxAccount)
  return format === 'csv' ? statementCsv(queries, boundsOfClose(close.content), 'rfc4180') : []
}

function reportText({ day, madeAt, hash, content }: Close): string {
  const { accounts, journals, reservations, bank, booksCents, differenceCents, unexplainedCents } = content
  const { timing, kept, explained, status } = content
  const lines = [
    `${day}, closed at ${new Date(madeAt).toISOString()}: ${status}`,
    ...accounts.map(
      ({ account, openingCents, closingCents }) =>
        account.padEnd(14) + reais(openingCents).padStart(20) + reais(closingCents).padStart(20),
    ),
    ...journals.map(({ journal, count }) => `${journal} ${count}`),
    `open reservations ${reservations.count}, ${reais(reservations.cents)}`,
    `bank ${reais(bank?.closingCents ?? null)}, books ${reais(booksCents)}`,
    `difference ${reais(differenceCents)}, of which timing ${reais(timing.cents)}, kept ${reais(kept.cents)}, ` +
      `explained ${reais(explained.cents)}, unexplained ${reais(unexplainedCents)}`,
    ...explained.cases.map(({ kind, reference, cents }) => `case ${kind} ${reference}: ${reais(cents)}`),
    `hash ${hash}`,
  ]
  return `${lines.join('\n')}\n`
}

function reais(cents: number | null): string {
  return cents === null ? 'unknown' : decimalText(cents, '.')
}
