import { type EventType, eventTypes, type JournalKind, journals } from '@pixgate/spec'

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
