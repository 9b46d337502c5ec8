import type { Document } from '../../engine/operation.ts'
import { correctedCents } from './bookings.ts'
import type { BookedStep, CaseSubject, LooseDifference, StoredCase } from './case.ts'

/** What a case of no operation is about, computed from what is stored. Pure. */

/** What the bank and the books have of what a case names. */
export interface KnownMoney {
  /** The entry of the statement that a case names, and where its movement is booked. */
  readonly entry:
    | {
        readonly kind: string
        readonly direction: 'in' | 'out'
        readonly id: string
        readonly valueCents: bigint
        readonly bookedOn: string | null
        readonly takenBackFrom: string | null
      }
    | undefined
  /** The movement of the books that a case names, and whether the statement has it after all. */
  readonly movement:
    | {
        readonly direction: 'in' | 'out'
        readonly valueCents: bigint
        readonly isInStatement: boolean
        /** The charge on which it is booked; `null`: it is no charge's. */
        readonly chargeId: string | null
      }
    | undefined
}

/** What adjustments of a case have in common. Cases about the same money have the same. */
export function aboutOf({ kind, reference }: Pick<StoredCase, 'kind' | 'reference'>): string {
  switch (kind) {
    case 'unexplained_credit':
    case 'unexplained_debit':
      return `movement ${reference}`
    case 'line_missing':
      return `missing ${reference}`
    case 'line_differs':
      return `difference ${reference.replace(/ again \d+$/, '')}`
    default:
      return reference
  }
}

/** What a case is about that is of no event. @source rules#desk.53, rules#desk.54 */
export function moneyOf(
  { kind, facts }: Pick<StoredCase, 'kind' | 'facts'>,
  booked: readonly BookedStep[],
  { entry, movement }: KnownMoney,
): CaseSubject {
  switch (kind) {
    case 'unexplained_credit':
    case 'unexplained_debit':
      return entry ? { is: 'movement', entry: entry.kind, ...movementOf(entry) } : { is: 'nothing' }
    case 'line_missing':
      return lacking(movement, booked)
    case 'line_differs': {
      const cents = differenceCents(facts, movement)
      return cents === undefined ? { is: 'nothing' } : { is: 'difference', cents: cents - correctedCents(booked) }
    }
    case 'adjustment_requested':
      return { is: 'request', cents: requestedCents(facts) }
    default:
      return { is: 'nothing' }
  }
}

function requestedCents(facts: Document): bigint {
  const cents = centsIn(facts) ?? 0n
  return facts.direction === 'in' ? cents : -cents
}

function movementOf({ direction, id, valueCents, bookedOn, takenBackFrom }: NonNullable<KnownMoney['entry']>) {
  return { direction, movementId: id, valueCents, bookedOn, takenBackFrom }
}

function lacking(movement: KnownMoney['movement'], booked: readonly BookedStep[]): LooseDifference {
  const cents = lackingCents(movement) - correctedCents(booked)
  return { is: 'difference', cents, ...(movement?.chargeId && cents < 0n && { chargeId: movement.chargeId }) }
}

/** What the bank has more than the books have of a movement that only these have. */
function lackingCents(movement: KnownMoney['movement']): bigint {
  if (!movement || movement.isInStatement) return 0n
  return movement.direction === 'in' ? -movement.valueCents : movement.valueCents
}

/**
 * The same of one that the statement has otherwise than the books, or, where these do not have it yet, told otherwise before. What was
 * told before is not what the books have: of an entry that was otherwise from the first on it would count the difference twice. `undefined`:
 * it is no difference of one movement.
 */
function differenceCents(facts: Document, movement: KnownMoney['movement']): bigint | undefined {
  const [told, known] = [centsIn(facts), movement?.valueCents ?? centsIn(facts.booked ?? facts.before)]
  if (told === undefined || known === undefined) return undefined
  return facts.direction === 'in' ? told - known : known - told
}

/** The amount that facts tell, centavos; `undefined`: none. */
export function centsIn(facts: unknown): bigint | undefined {
  const { valueCents } = (facts ?? {}) as { readonly valueCents?: unknown }
  return typeof valueCents === 'number' && Number.isSafeInteger(valueCents) ? BigInt(valueCents) : undefined
}
