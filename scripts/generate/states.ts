import { adjustment, cashIn, cashOut, journals, type Line, type Machine, refundIn, releases } from '@pixgate/spec'
import { code, type GeneratedDocument, markdown, table } from './document.ts'

const MACHINES: readonly Machine[] = [cashIn, cashOut, refundIn, adjustment]

/** The life of each resource: a diagram of its moves, and its table with the sentence of each line. */
export function statesDocument(): GeneratedDocument {
  return markdown(
    'docs/generated/states.md',
    'States',
    'Lines of one state and trigger are tried in their order; the first whose conditions hold applies. Where no line ' +
      'applies nothing changes and what was said is kept as evidence; so it is where one says «ignored». `STATE:reason` is ' +
      'the state in doubt for that reason, `STATE:*` for whatever reason or none. Every line is a rule, under the name ' +
      'that stands before its sentence; rules that are no lines are in [rules.md](../rules.md).',
    ...MACHINES.flatMap(machineSection),
  )
}

/** What frees or credits the merchant's money: every line that posts such a journal, with all of its conditions. */
export function releasesDocument(): GeneratedDocument {
  const lines = MACHINES.flatMap(({ resource, lines }) => lines.map((line) => ({ resource, line })))
  const posting = (isReleasing: boolean) =>
    lines
      .filter(({ line: { posts } }) => posts !== undefined && releases[posts] === (isReleasing ? 'hold' : 'credit'))
      .map(({ resource, line }) => [resource, ...cells(line, ruleLink(line))])
  const header = ['resource', ...HEADER]
  return markdown(
    'docs/generated/releases.md',
    'What frees money',
    'No other line of any table makes what a merchant may spend grow. Each condition is explained in [States](states.md).',
    '## What was set aside becomes free again',
    table(header, posting(true)),
    '## Money is credited',
    table(header, posting(false)),
  )
}

const HEADER = ['from', 'trigger', 'conditions', 'to', 'does', 'rule'] as const

function machineSection({ resource, states, reasons, lines, rows, guards, cases }: Machine): string[] {
  return [
    `## ${resource}`,
    diagram({ rows, states }),
    'Lines that keep the state are in the table only.',
    table(
      HEADER,
      lines.map((line, index) => {
        const isFirst = lines.findIndex(({ rule }) => rule === line.rule) === index
        return cells(line, `${isFirst ? `<a id="${line.rule}"></a>` : ''}**[${line.rule}]** ${line.says}`)
      }),
    ),
    ...sentences('Reasons of a doubt', ['reason', 'what it means'], reasons),
    ...sentences('Conditions', ['condition', 'holds when'], guards, (guard) => guard),
    ...sentences('Cases', ['case', 'what an operator reads'], cases),
  ]
}

function sentences(
  title: string,
  header: readonly string[],
  told: Readonly<Record<string, string>>,
  nameOf: (name: string) => string = code,
): string[] {
  const rows = Object.entries(told).map(([name, sentence]) => [nameOf(name), sentence])
  return rows.length === 0 ? [] : [`### ${title}`, table(header, rows)]
}

function cells(line: Line, rule: string): string[] {
  const { from, on, when, unless, to, posts, emits, opens, asks } = line
  return [
    from === null ? '–' : listOf(from).map(code).join(', '),
    listOf(on).map(code).join(', '),
    [...listOf(when), ...listOf(unless).map((guard) => `not: ${guard}`)].join('; '),
    to === 'ignored' || to === 'same' ? to : code(to),
    [
      ...(posts === undefined ? [] : [`posts [${journals[posts].symbol}](ledger.md#${posts})`]),
      ...(emits === undefined ? [] : [`tells ${code(emits)}`]),
      ...(opens === undefined ? [] : [`opens ${code(opens)}`]),
      ...(asks ? ['asks the bank'] : []),
    ].join(', '),
    rule,
  ]
}

function ruleLink({ rule }: Line): string {
  return `[${rule}](states.md#${rule})`
}

function listOf<T>(given: T | readonly T[] | undefined): readonly T[] {
  if (given === undefined) return []
  return Array.isArray(given) ? given : [given as T]
}

function diagram({ rows }: Pick<Machine, 'rows' | 'states'>): string {
  const triggers = new Map<string, Set<string>>()
  for (const { from, on, to } of rows) {
    if (from === to) continue
    const arrow = `${from ?? '[*]'} --> ${to}`
    triggers.set(arrow, (triggers.get(arrow) ?? new Set()).add(on))
  }
  const arrows = [...triggers].map(([arrow, labels]) => `  ${arrow}: ${[...labels].join(', ')}`)
  return ['```mermaid', 'stateDiagram-v2', ...arrows, '```'].join('\n')
}
