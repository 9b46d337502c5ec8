/** A status query that is requested at once, beyond the schedule; `in_flight` while the bank is being asked. */
export type StatusQuery = 'requested' | 'in_flight'

/** A status query as the database keeps it among the facts, in the words of the first version. @see docs/adr/0024 */
const STORED = { requested: 'wanted', in_flight: 'asked' } as const

/** The fact in which the database keeps it; `null` once it was answered, absent before the first. */
export type StatusQueryFact = {
  readonly question?: (typeof STORED)[StatusQuery] | null
}

/** The status query that an order has; `null`: none but those of its schedule. */
export function statusQueryOf({ question }: StatusQueryFact): StatusQuery | null {
  if (question === STORED.requested) return 'requested'
  return question === STORED.in_flight ? 'in_flight' : null
}

/** The fact to write. */
export function statusQueryFact(query: StatusQuery | null): StatusQueryFact {
  return { question: query === null ? null : STORED[query] }
}
