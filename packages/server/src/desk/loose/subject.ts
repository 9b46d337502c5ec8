import type { Document } from '../../engine/operation.ts'
import type { BookedStep, CaseSubject, StoredCase } from './case.ts'

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
      }
    | undefined
  /** The movement of the books that a case names, and whether the statement has it after all. */
  readonly movement:
    | { readonly direction: 'in' | 'out'; readonly valueCents: bigint; readonly isInStatement: boolean }
    | undefined
}

/** What adjustments of a case have in common. Cases about the same money have the same. */
export function aboutOf({ kind, reference }: Pick<StoredCase, 'kind' | 'reference'>): string {
  switch (kind) {
    case 'statement_unexplained':
      return `movement ${reference}`
    case 'statement_missing':
      return `missing ${reference}`
    case 'statement_differs':
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
    case 'statement_unexplained':
      return entry ? { is: 'movement', entry: entry.kind, ...movementOf(entry) } : { is: 'nothing' }
    case 'statement_missing':
      return { is: 'difference', cents: lackingCents(movement) - correctedCents(booked) }
    case 'statement_differs': {
      const cents = differenceCents(facts, movement)
      return cents === undefined ? { is: 'nothing' } : { is: 'difference', cents: cents - correctedCents(booked) }
    }
    case 'adjustment_requested':
      return { is: 'request', cents: requestedCents(facts) }
    case 'in_clearing':
      return { is: 'clearing', cents: clearingCents(booked) }
    case 'statement_corrected':
      return { is: 'decided', booked }
    default:
      return { is: 'nothing' }
  }
}

function requestedCents(facts: Document): bigint {
  const cents = centsIn(facts) ?? 0n
  return facts.direction === 'in' ? cents : -cents
}

function movementOf({ direction, id, valueCents, bookedOn }: NonNullable<KnownMoney['entry']>) {
  return { direction, movementId: id, valueCents, bookedOn }
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

/** What corrections added to the books, so that they are as the bank's statement. */
export function correctedCents(booked: readonly BookedStep[]): bigint {
  return sumOf(booked, 'CLEARING_ADDED') - sumOf(booked, 'CLEARING_REMOVED')
}

/** What adjustments left in clearing. */
export function clearingCents(booked: readonly BookedStep[]): bigint {
  const came = sumOf(booked, 'CLEARING_ARRIVED') - sumOf(booked, 'CLEARING_LEFT') + correctedCents(booked)
  return came - merchantCents(booked) - gainedCents(booked)
}

/** What the merchant has of it. */
export function merchantCents(booked: readonly BookedStep[]): bigint {
  return sumOf(booked, 'CLEARING_CREDITED') - sumOf(booked, 'CLEARING_DEBITED')
}

/** What was gained by it. */
export function gainedCents(booked: readonly BookedStep[]): bigint {
  return sumOf(booked, 'CLEARING_GAINED') - sumOf(booked, 'CLEARING_LOST')
}

function sumOf(booked: readonly BookedStep[], wanted: BookedStep['status']): bigint {
  return booked.reduce((sum, { status, valueCents }) => (status === wanted ? sum + valueCents : sum), 0n)
}
