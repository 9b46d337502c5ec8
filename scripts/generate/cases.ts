import { type CaseKind, caseKinds, decisionNames, decisionTriggers, type Machine, type Row } from '@pixgate/spec'
import { code, type GeneratedDocument, markdown, table } from './document.ts'
import { MACHINES } from './lines.ts'

/** Every kind of case, with the decisions that end it and what they lead to. */
export function casesDocument(): GeneratedDocument {
  const kinds = Object.entries<CaseKind>(caseKinds)
  return markdown(
    'docs/generated/cases.md',
    'Cases',
    'A kind says what an operator has to decide. The rule that opened the case stands in its facts as `rule`; the lines of ' +
      '[states.md](states.md) say under that name what happened. «As before» is the state that the operation had: where no other case ' +
      'keeps it in doubt, the doubt ends with the decision (`doubt.decided`), in the state and with the notification of that line. What asks ' +
      'the bank leaves the case open until the answer.',
    '## About an operation',
    table(
      ['case', 'of', 'what it means', 'its money', 'decision', 'ends in', 'notification', 'rule'],
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
    'The decisions book by an adjustment, of which nobody is notified; `book` hands over to an operation, whose own line notifies.',
    table(
      ['case', 'what it means', 'its money', 'decision', 'what it does'],
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
  difference: 'a difference to the bank',
  nothing: 'none waits',
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
    return asks ? `${place}, and the bank is asked` : place
  })
  const rules = rows.map(({ rule }) => `[${rule}](states.md#${rule})`)
  return [
    code(decision),
    [...new Set(ends)].join('; '),
    [...new Set(rows.flatMap(({ emits }) => emits ?? []))].map(code).join(', '),
    [...new Set(rules)].join(', '),
  ]
}
