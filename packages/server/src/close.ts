import { parseArgs } from 'node:util'
import { type CloseFault, closeKeys, verifyCloses } from './closes/chain.ts'
import { closeView, contentOfClose } from './closes/content.ts'
import { closeCsv, decimalText, statementOfx } from './closes/export.ts'
import { type Close, closeOfDay } from './closes/store.ts'
import type { Queries } from './platform/db/database.ts'
import { withSnapshot } from './platform/db/snapshot.ts'
import { boundsOf, isDay } from './platform/sao-paulo.ts'
import type { OpenAuditDatabase } from './verify-audit.ts'

/**
 * The program `close`: prints the stored close of a day. `--day 2026-11-22`; `--format csv`, `ofx` (the day's statement
 * of the merchant's account) or `json` instead of text.
 * @param open opens the database
 * @returns the exit status: 0 if the day balances; 1 if it differs, or the close was altered; 2 if it could not run,
 * the day is not closed, or the bank's balance is unknown
 * @source rules#close.9
 */
export async function runClose(
  parameters: readonly string[],
  usage: string,
  open: () => Promise<OpenAuditDatabase>,
): Promise<number> {
  try {
    return await printClose(readParameters(parameters, usage), await open())
  } catch (error) {
    console.error(`close: ${(error as Error).message}`)
    return 2
  }
}

const FORMATS = ['text', 'csv', 'ofx', 'json'] as const

interface Parameters {
  readonly day: string
  readonly format: (typeof FORMATS)[number]
}

/** @throws Error with the usage */
function readParameters(args: readonly string[], usage: string): Parameters {
  const options = { day: { type: 'string' }, format: { type: 'string', default: 'text' } } as const
  const { day = '', format: wanted } = parseArgs({ args: [...args], options }).values
  const format = FORMATS.find((candidate) => candidate === wanted)
  if (!isDay(day) || format === undefined) {
    throw new Error(`a day is needed. Usage: ${usage} --day 2026-11-22 [--format csv|ofx|json]`)
  }
  return { day, format }
}

async function printClose({ day, format }: Parameters, database: OpenAuditDatabase): Promise<number> {
  const { url, encryptionKeys, stop } = database
  const keys = encryptionKeys === undefined ? [] : closeKeys(encryptionKeys)
  try {
    return await withSnapshot({ url, name: 'pixgate close' }, async (queries) => {
      const close = await closeOfDay(queries, day)
      if (close === undefined) throw new Error(`${day} is not closed`)
      const { faults } = await verifyCloses(queries, keys)
      const wrong = faults.filter(({ seq }) => seq <= close.seq)
      if (format === 'ofx') await printOfx(queries, close)
      else process.stdout.write(textOf(close, format, wrong))
      for (const { seq, what } of wrong) console.error(`✘ close ${seq} ${what}`)
      return statusOf(close, wrong)
    })
  } finally {
    await stop()
  }
}

async function printOfx(queries: Queries, { day, madeAt }: Close): Promise<void> {
  for await (const piece of statementOfx(queries, boundsOf(day), madeAt)) process.stdout.write(piece)
}

function statusOf(close: Close, wrong: readonly CloseFault[]): number {
  const { status } = contentOfClose(close)
  if (wrong.length > 0) return 1
  if (status === 'UNCONFIRMED') return 2
  return status === 'BALANCED' ? 0 : 1
}

function textOf(close: Close, format: Exclude<Parameters['format'], 'ofx'>, wrong: readonly CloseFault[]): string {
  switch (format) {
    case 'csv':
      return closeCsv(close, contentOfClose(close))
    case 'json':
      return `${JSON.stringify({ ...closeView(close), isGenuine: wrong.length === 0 })}\n`
    case 'text':
      return reportText(close)
  }
}

function reportText(close: Close): string {
  const content = contentOfClose(close)
  const { accounts, journals, bank, booksCents, differenceCents, unexplainedCents } = content
  const { timing, kept, explained, status } = content
  const rows = [
    ...accounts.map(({ account, openingCents, closingCents }) => [account, reais(openingCents), reais(closingCents)]),
  ]
  const lines = [
    `${close.day}, version ${close.version}, closed at ${new Date(close.madeAt).toISOString()}: ${status}`,
    ...rows.map(
      ([name = '', opening = '', closing = '']) => name.padEnd(14) + opening.padStart(20) + closing.padStart(20),
    ),
    ...journals.map(({ journal, count }) => `${journal} ${count}`),
    `bank ${bank === null ? 'unknown' : reais(bank.closingCents)}, books ${reais(booksCents)}`,
    `difference ${reais(differenceCents)}, of which timing ${reais(timing.cents)}, kept ${reais(kept.cents)}, ` +
      `explained ${reais(explained.cents)}, unexplained ${reais(unexplainedCents)}`,
    ...explained.cases.map(({ kind, reference, cents }) => `case ${kind} ${reference}: ${reais(cents)}`),
    `hash ${close.hash.toString('hex')}`,
  ]
  return `${lines.join('\n')}\n`
}

function reais(cents: number | null): string {
  return cents === null ? 'unknown' : decimalText(BigInt(cents), '.')
}
