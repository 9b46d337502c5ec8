/**
 * What an operator may decide about a case. Each is a trigger of the machines; a line that `decides` a kind of case says
 * what the decision does.
 * @source rules#desk.1, rules#desk.10
 */
export const deskTriggers = {
  accept: 'operator.accepted',
  return_to_payer: 'operator.returned_to_payer',
  credit: 'operator.credited',
  debit: 'operator.debited',
  book: 'operator.attributed',
  executed: 'operator.executed',
  not_executed: 'operator.not_executed',
  write_off: 'operator.written_off',
  ask_again: 'operator.asked_again',
  close: 'operator.explained',
} as const

/** A decision about a case, as the API names it. */
export type DeskDecision = keyof typeof deskTriggers

/** Every decision, in the order of the documentation. */
export const deskDecisionNames = Object.keys(deskTriggers) as DeskDecision[]

/** What a decision may need besides its name: proof of the bank, another operation, or an amount. */
export const evidenceFields = ['endToEndId', 'returnId', 'operationId', 'amountCents'] as const

/** See {@link evidenceFields}. */
export type EvidenceField = (typeof evidenceFields)[number]

/** Conditions of decisions, whatever the case is of. Each with the sentence that explains it. */
export const leftGuards = {
  'another case is open': 'another case that keeps it in doubt is open',
  'money that left is in suspense':
    'of the payment or return that the case is about, money that left is in suspense now',
  'its movement is known':
    'the end-to-end id, or return id, that the operator names was booked before, here or elsewhere',
  'no answer settles it': 'the case is only to be looked at: no further answer of the bank changes it',
} as const

/** The same where money may arrive, too. */
export const deskGuards = {
  ...leftGuards,
  'money that arrived is in suspense':
    'of the payment or return that the case is about, money that arrived is in suspense now',
} as const

/** See {@link deskGuards}. */
export type DeskGuard = keyof typeof deskGuards
