import { type Line, type Machine, releases } from '@pixgate/spec'
import { type GeneratedDocument, markdown } from './document.ts'
import { linesTable, listOf, MACHINES, sentences } from './lines.ts'

/** Lines that release or credit the merchant's money, with their conditions. */
export function releasesDocument(): GeneratedDocument {
  const posting = (of: 'hold' | 'credit') => (line: Line) => line.posts !== undefined && releases[line.posts] === of
  return markdown(
    'docs/generated/releases.md',
    'What frees money',
    'No other line of any table makes what a merchant may spend grow. A line without ' +
      'conditions applies where no earlier line of its state and trigger did; [States](states.md) has all of them in their ' +
      'order. What is in `RECONCILIATION_REQUIRED:conflict` is freed by none: an operator decides.',
    ...answer(posting('hold'), {
      cash_out: 'Frees the money of a payout',
      refund_in: 'Frees the money of a refund',
      cash_in: 'Frees what is held for a return that nobody could explain',
    }),
    ...answer(posting('credit'), {
      cash_in: 'Credits a payment',
      cash_out: 'Credits what came back of a payout',
      adjustment: 'Credits an adjustment',
    }),
  )
}

/** Lines about sending an order, first and again. */
export function sendingDocument(): GeneratedDocument {
  return markdown(
    'docs/generated/sending.md',
    'When an order is sent again',
    'An order is sent only after its move `send.claimed` is committed, always under the same id. After five failures in a ' +
      'row nothing is sent for a while ([partner.6](../rules.md#partner.6)).',
    ...answer((line) => isOn(line, 'send.claimed'), {
      cash_out: 'A payout is sent',
      refund_in: 'A refund is sent',
    }),
    'Lines of one state and trigger are tried in their order; the first whose conditions hold applies.',
    ...answer(({ on }) => listOf(on).some((trigger) => trigger.startsWith('send.') && trigger !== 'send.claimed'), {
      cash_out: 'What an attempt to send a payout leads to',
      refund_in: 'What an attempt to send a refund leads to',
    }),
  )
}

/** Lines about the bank's events and answers. */
export function reportsDocument(): GeneratedDocument {
  return markdown(
    'docs/generated/reports.md',
    'What a report of the bank does',
    'The bank reports in an event, in the answer to a status query, and in its statement. An event that is not ' +
      'authenticated is no report: it only makes us ask the bank. Before any line is tried, what is in the books already, to ' +
      'the centavo, is ignored, and what is dated more than 300 s ahead of us is not believed.' +
      ' Lines of one state are tried in their order; the first whose conditions hold ' +
      'applies.',
    ...answer((line) => isOn(line, 'partner.confirmed'), {
      cash_in: 'A payment of a charge is confirmed',
      cash_out: 'A payout is confirmed',
      refund_in: 'A refund is confirmed',
    }),
    ...answer((line) => isOn(line, 'partner.failed'), {
      cash_in: 'A charge has failed',
      cash_out: 'A payout has failed',
      refund_in: 'A refund has failed',
    }),
    ...answer((line) => isOn(line, 'partner.not_found') || isOn(line, 'charge.not_found'), {
      cash_in: 'The bank does not know a charge',
      cash_out: 'The bank does not know a payout',
      refund_in: 'The bank does not know a refund',
    }),
    ...answer((line) => isOn(line, 'partner.returned'), {
      cash_out: 'A payout came back',
      refund_in: 'The bank gave a payment back by itself',
    }),
  )
}

function isOn({ on }: Line, trigger: string): boolean {
  return listOf(on).includes(trigger)
}

/**
 * Selected lines with their conditions, one section per machine.
 * @param titles of the sections, in their order, by resource
 */
function answer(isSelected: (line: Line) => boolean, titles: Readonly<Record<string, string>>): string[] {
  const selected = MACHINES.map((machine) => ({ ...machine, lines: machine.lines.filter(isSelected) }))
  const untitled = selected.filter(({ lines, resource }) => lines.length > 0 && !(resource in titles))
  if (untitled.length > 0) throw new Error(`no section for ${untitled.map(({ resource }) => resource)}`)
  return Object.entries(titles).flatMap(([name, title]) =>
    selected.filter(({ resource }) => resource === name).flatMap((machine) => answerSection(title, machine)),
  )
}

function answerSection(title: string, { lines, guards }: Machine): string[] {
  const named = new Set<string>(lines.flatMap(({ when, unless }) => [...listOf(when), ...listOf(unless)]))
  const conditions = Object.fromEntries(Object.entries(guards).filter(([guard]) => named.has(guard)))
  return [
    `## ${title}`,
    linesTable(lines, ({ rule, says }) => `[${rule}](states.md#${rule}) ${says}`),
    ...sentences('Conditions', ['condition', 'holds when'], conditions, (guard) => guard),
  ]
}
