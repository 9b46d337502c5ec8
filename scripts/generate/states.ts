import { type CaseKind, caseKinds, type Machine } from '@pixgate/spec'
import { type GeneratedDocument, markdown } from './document.ts'
import { linesTable, MACHINES, sentences } from './lines.ts'

/** The life of each resource: a diagram of its moves, and its table with the sentence of each line. */
export function statesDocument(): GeneratedDocument {
  return markdown(
    'docs/generated/states.md',
    'States',
    'Lines of one state and trigger are tried in order; the first line whose conditions hold applies. Without a line, or ' +
      'with «ignored», nothing changes and the input is kept as evidence. `STATE:reason` is the state in doubt for that ' +
      'reason, `STATE:*` the state with any reason or none. Every line is a rule under the name before its sentence; other ' +
      'rules are in [rules.md](../rules.md).',
    ...MACHINES.flatMap(machineSection),
  )
}

function machineSection({ resource, states, meanings, reasons, lines, rows, guards }: Machine): string[] {
  return [
    `## ${resource}`,
    diagram({ rows, states }),
    ...sentences('States', ['state', 'meaning for clients'], meanings),
    'The diagram omits lines that keep the state.',
    linesTable(lines, (line, index) => {
      const isFirst = lines.findIndex(({ rule }) => rule === line.rule) === index
      return `${isFirst ? `<a id="${line.rule}"></a>` : ''}**[${line.rule}]** ${line.says}`
    }),
    ...sentences('Reasons of a doubt', ['reason', 'meaning'], reasons),
    ...sentences('Conditions', ['condition', 'holds when'], guards, (guard) => guard),
    ...sentences('Cases', ['case', 'meaning'], casesOf(resource)),
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
