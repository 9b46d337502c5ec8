import type { Person } from './store.ts'

/** Who stands behind a decision for which it takes two people. Pure. */

/** Somebody was deactivated since it was read who holds keys and tokens: they are to be read again. */
export class HoldersChanged extends Error {}

/** Whether they may approve now what others ordered. */
export function isApprover({ role, isActive }: Person): boolean {
  return isActive && role === 'approver'
}

/**
 * Whether two operators are one person: a token is exchanged by making the person again, under the same name.
 * @source rules#cash-out.approval.2
 */
export function isSamePerson(person: Person, id: string, people: readonly Person[]): boolean {
  return people.some((other) => other.id === id && foldedName(other.name) === foldedName(person.name))
}

/**
 * Whether an operator made another one, or somebody who did: whoever shows a token to somebody has seen it. It tells nothing of two whom
 * the same admin made: that one has seen the tokens of both, and no row says whether they kept them.
 * @param id of whom it is asked: whether they, under whichever token, made `person`
 * @source rules#desk.41
 */
export function isMadeBy({ madeBy }: Person, id: string, people: readonly Person[]): boolean {
  if (madeBy === null) return false
  const maker = people.find((person) => person.id === madeBy)
  if (madeBy === id || maker === undefined) return madeBy === id
  return isSamePerson(maker, id, people) || isMadeBy(maker, id, people)
}

/**
 * A name without its case, its needless spaces and invisible characters; letters that differ in form only are one. Each step down
 * and up folds letters that the one before leaves apart: `ẞ` and `SS`, `İ` and `I`.
 */
function foldedName(name: string): string {
  const visible = name.normalize('NFKC').replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '')
  const folded = visible.toLowerCase().toUpperCase().toLowerCase().replaceAll('i\u0307', 'i')
  return folded.normalize('NFKC').replace(/\s+/g, ' ').trim()
}
