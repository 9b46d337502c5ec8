import { type EventType, eventTypes, type JournalKind, journals } from '@pixgate/spec'
import type { Decision } from '../../src/engine/operation.ts'
import { entriesOf } from '../../src/engine/postings.ts'

/** What must come of an input: the specification's words, written by hand beside the situation that they are about. */
export interface Outcome {
  /** The state and the trigger that its situation begins with. */
  readonly from: string
  readonly on: string
  /** The rule that says so. */
  readonly rule: string
  readonly to: string
  readonly posts: JournalKind | undefined
  readonly emits: EventType | undefined
  readonly opens: string | undefined
}

/**
 * Reads a table of outcomes.
 * @param table «state trigger …what makes the difference» → «rule state journal event case», each where there is one
 */
export function outcomesOf(table: Readonly<Record<string, string>>): (readonly [situation: string, Outcome])[] {
  return Object.entries(table).map(([situation, words]) => {
    const [from = '', on = ''] = situation.split(' ')
    const [rule = '', to = '', ...effects] = words.split(' ')
    const posts = effects.find((word): word is JournalKind => word in journals)
    const emits = effects.find((word): word is EventType => eventTypes.some((type) => type === word))
    const opens = effects.find((word) => word !== posts && word !== emits)
    return [situation, { from, on, rule, to, posts, emits, opens }]
  })
}

/** What a row of the table is put to, and what must come of it besides what the row itself says. */
export interface SituationOf<Kind, Input> {
  readonly before?: Partial<Kind>
  readonly input?: Input
  /** What is known or recorded afterwards. */
  readonly learns?: Partial<Kind>
  readonly dueAt?: number | null
  /** What the operator of the row's case reads. */
  readonly evidence?: Readonly<Record<string, unknown>>
}

/** The situations that no outcome stands beside. */
export function withoutOutcome(situations: object, outcomes: Readonly<Record<string, string>>): string[] {
  return Object.keys(situations).filter((name) => outcomes[name] === undefined)
}

/** What a decision books: of each entry its account, centavos, and as what the merchant is shown it. */
export function journalsOf({ journals = [] }: Decision<unknown>) {
  return journals.map((journal) => ({
    kind: journal.kind,
    reference: journal.reference,
    entries: entriesOf(journal).map(({ account, amountCents, shown }) => [account, amountCents, shown]),
  }))
}
