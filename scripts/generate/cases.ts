import { type CaseKind, caseKinds, decisionNames, decisionTriggers, type Machine, type Row } from '@pixgate/spec'
import { code, type GeneratedDocument, markdown, table } from './document.ts'
import { MACHINES } from './lines.ts'

/** All kinds of case with their decisions. */
export function casesDocument(): GeneratedDocument {
  const kinds = Object.entries<CaseKind>(caseKinds)
  return markdown(
    'docs/generated/cases.md',
    'Cases',
    'A kind says what an operator has to decide. The cause is the rule in the facts of the case (`rule`), a line of ' +
      '[states.md](states.md). «As before» keeps the state of the operation; if no other case causes its doubt, the doubt ' +
      'ends with the decision (`doubt.decided`), with the state and notification of that line. A decision that queries the ' +
      'bank leaves the case open until the answer.',
    '## About an operation',
    table(
      ['case', 'of', 'meaning', 'money', 'decision', 'ends in', 'notification', 'rule'],
      kinds.flatMap(([name, kind]) =>
        MACHINES.filter(({ resource }) => kind.of.some((one) => one === resource)).flatMap((machine) =>
          decisionsOf(machine, name).map((cells, index) =>
            index === 0
              ? [
                  `<a id="${name}-${machine.resource}"></a>${code(name)}`,
                  code(machine.resource),
                  kind.meaning,
                  MONEY[kind.holds],
                  ...cells,
                ]
              : ['', '', '', '', ...cells],
          ),
        ),
      ),
    ),
    '## About no operation',
    'These decisions book an adjustment, without a notification; `book` attributes to an operation, whose own line notifies.',
    table(
      ['case', 'meaning', 'money', 'decision', 'effect'],
      kinds.flatMap(([name, { meaning, holds, decisions = {} }]) =>
        Object.entries(decisions).map(([decision, says], index) => [
          ...(index === 0 ? [`<a id="${name}"></a>${code(name)}`, meaning, MONEY[holds]] : ['', '', '']),
          code(decision),
          says,
        ]),
      ),
    ),
  )
}

const MONEY: Readonly<Record<CaseKind['holds'], string>> = {
  suspense: 'in suspense',
  reserve: 'reserved',
  difference: 'difference to the bank',
  nothing: 'none',
}

function decisionsOf({ rows }: Machine, kind: string): string[][] {
  return decisionNames.flatMap((decision) => {
    const deciding = rows.filter(
      ({ on, decides = [] }) => on === decisionTriggers[decision] && decides.some((one) => one === kind),
    )
    return deciding.length === 0 ? [] : [cellsOf(decision, deciding)]
  })
}

function cellsOf(decision: string, rows: readonly Row[]): string[] {
  const ends = rows.map(({ from, to, reason, asks }) => {
    const place = from === to && reason === 'same' ? 'as before' : code(to)
    return asks ? `${place}, and the bank is queried` : place
  })
  const rules = rows.map(({ rule }) => `[${rule}](states.md#${rule})`)
  return [
    code(decision),
    [...new Set(ends)].join('; '),
    [...new Set(rows.flatMap(({ emits }) => emits ?? []))].map(code).join(', '),
    [...new Set(rules)].join(', '),
  ]
}
