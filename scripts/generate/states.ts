import { type CaseKind, caseKinds, type Machine } from '@pixgate/spec'
import { type GeneratedDocument, markdown } from './document.ts'
import { linesTable, MACHINES, sentences } from './lines.ts'

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

function machineSection({ resource, states, meanings, reasons, lines, rows, guards }: Machine): string[] {
  return [
    `## ${resource}`,
    diagram({ rows, states }),
    ...sentences('States', ['state', 'what it means to a client'], meanings),
    'Lines that keep the state are in the table only.',
    linesTable(lines, (line, index) => {
      const isFirst = lines.findIndex(({ rule }) => rule === line.rule) === index
      return `${isFirst ? `<a id="${line.rule}"></a>` : ''}**[${line.rule}]** ${line.says}`
    }),
    ...sentences('Reasons of a doubt', ['reason', 'what it means'], reasons),
    ...sentences('Conditions', ['condition', 'holds when'], guards, (guard) => guard),
    ...sentences('Cases', ['case', 'what an operator reads'], casesOf(resource)),
  ]
}

function casesOf(resource: string): Record<string, string> {
  const kinds = Object.entries<CaseKind>(caseKinds).filter(([, { of }]) => of.some((one) => one === resource))
  return Object.fromEntries(kinds.map(([name, { meaning }]) => [name, meaning]))
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
