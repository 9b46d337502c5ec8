import { adjustment, cashIn, cashOut, journals, type Machine, refundIn } from '@pixgate/spec'
import { code, type GeneratedDocument, markdown, table } from './document.ts'

/** The life of each resource: a diagram of its moves and the table of its rows. */
export function statesDocument(): GeneratedDocument {
  const machines: readonly Machine[] = [cashIn, cashOut, refundIn, adjustment]
  return markdown(
    'docs/generated/states.md',
    'States',
    'Rows of one state and trigger are tried in their order; the first whose condition holds applies. Where no row ' +
      'applies nothing changes and what was said is kept as evidence. The rules are in [rules.md](../rules.md).',
    ...machines.flatMap(machineSection),
  )
}

function machineSection(machine: Machine): string[] {
  const { resource, states, rows, guards, cases } = machine
  const rowsByState = [null, ...states].flatMap((state) => rows.filter(({ from }) => from === state))
  return [
    `## ${resource}`,
    diagram(machine),
    'Rows that keep the state are in the table only.',
    table(['from', 'trigger', 'condition', 'to', 'journal', 'event', 'case', 'rule'], rowsByState.map(rowCells)),
    ...sentences('Conditions', ['condition', 'holds when'], Object.entries(guards)),
    ...sentences(
      'Cases',
      ['case', 'what an operator reads'],
      Object.entries(cases).map(([kind, sentence]) => [code(kind), sentence]),
    ),
  ]
}

function sentences(title: string, header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : [`### ${title}`, table(header, rows)]
}

function rowCells({ from, on, when, to, posts, emits, opens, source }: Machine['rows'][number]): string[] {
  const rule = source.replace('rules#', '')
  return [
    from === null ? '–' : code(from),
    code(on),
    when ?? '',
    code(to),
    posts === undefined ? '' : `[${journals[posts].symbol}](ledger.md#${posts})`,
    code(emits),
    code(opens),
    `[${rule}](../rules.md#${rule})`,
  ]
}

function diagram({ rows }: Machine): string {
  const triggers = new Map<string, Set<string>>()
  for (const { from, on, to } of rows) {
    if (from === to) continue
    const arrow = `${from ?? '[*]'} --> ${to}`
    triggers.set(arrow, (triggers.get(arrow) ?? new Set()).add(on))
  }
  const arrows = [...triggers].map(([arrow, labels]) => `  ${arrow}: ${[...labels].join(', ')}`)
  return ['```mermaid', 'stateDiagram-v2', ...arrows, '```'].join('\n')
}
