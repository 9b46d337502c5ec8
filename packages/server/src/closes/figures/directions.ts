import { type JournalKind, type JournalTemplate, journals } from '@pixgate/spec'

/**
 * Which movement of the bank an entry of `settlement` is of. Most journals book one and say so; of the others it is told here.
 */

/** Kinds of journals that book on the account that stands for the bank. */
type OfSettlement = {
  [Kind in JournalKind]: Extract<(typeof journals)[Kind]['postings'][number], { account: 'settlement' }> extends never
    ? never
    : Kind
}[JournalKind]

/** Those of them that say themselves which way the money moved. */
type OfMovement = {
  [Kind in JournalKind]: (typeof journals)[Kind] extends { movement: 'in' | 'out' } ? Kind : never
}[JournalKind]

/**
 * The others, each with the direction in which the statement has what they name: a journal that is added without a word here does not
 * compile. `null`: they stand for no movement.
 */
export const BESIDE_MOVEMENTS: Readonly<Record<Exclude<OfSettlement, OfMovement>, 'in' | 'out' | null>> = {
  // What went back is held before it is known whose it is; then that is undone, and it is booked as what it is.
  return_held: 'out',
  return_known: 'out',
  // Handed over and attributed in the same instant: where it was booked first it stands for the movement still.
  arrival_handed_over: null,
  cash_in_attributed: null,
  // These are found by the operation and by the tariff's name.
  tariff_deducted: null,
  adjustment_credited: null,
  adjustment_debited: null,
  // Incoming money that nothing explains, under its id, until it is booked as what it is.
  held_arrived: 'in',
  held_explained: 'in',
  // A credit that the bank does not have, under its own id.
  credit_reversed: 'in',
  // Differences: their cases tell of them.
  difference_borne: null,
  difference_gained: null,
  difference_lost: null,
}

/** The direction that the statement has a journal's movement in; `null` where it stands for none. */
export function directionOf(kind: JournalKind): 'in' | 'out' | null {
  const { movement }: JournalTemplate = journals[kind]
  return movement ?? (Object.hasOwn(BESIDE_MOVEMENTS, kind) ? BESIDE_MOVEMENTS[kind as OfBeside] : null)
}

type OfBeside = keyof typeof BESIDE_MOVEMENTS

/** The same in SQL, of an entry `e`. */
export const DIRECTION = `CASE WHEN e.journal IN (${listOf('in')}) THEN 'in' WHEN e.journal IN (${listOf('out')}) THEN 'out' END`

/** Journals, in SQL, that are booked before it is known which operation has the movement. */
export const BEFORE_KNOWN = `'return_held', 'return_known', 'held_arrived', 'held_explained'`

function listOf(direction: 'in' | 'out'): string {
  const kinds = Object.keys(journals) as JournalKind[]
  return kinds
    .filter((kind) => directionOf(kind) === direction)
    .map((kind) => `'${kind}'`)
    .join(', ')
}
