import { type JournalTemplate, journals, limits, Refusal } from '@pixgate/spec'
import { ExternalIdTaken, IdempotencyKeyTaken } from '../engine/duplicates.ts'
import type { Engine } from '../engine/engine.ts'
import type { Command, CountedCredit, Decision, State, UnverifiedCredit } from '../engine/operation.ts'
import type { Clock } from '../platform/clock.ts'
import { type CashIn, type CashInInput, type CashInOutcome, isCashIn, movementOf, statusAt } from './cash-in.ts'
import { type CashInRequest, type CashInTerms, decideCreate } from './create.ts'
import { decideCashIn } from './rules.ts'

/** One function per intention; each goes through the engine. */
export interface CashInCommands {
  /**
   * Commits the intent to create a charge, or finds the one that the same `Idempotency-Key` made.
   * @throws idempotency_key_reused (422) · request_in_progress · duplicate_external_id (409) · value_not_positive ·
   *   value_too_large · invalid_document (422)
   * @source rules#cash-in.create.4
   */
  create(request: CashInRequest): Promise<Created>
  /** Lets a cash-in take an input; `undefined` where it does not exist. */
  apply(id: string, input: CashInInput): Promise<CashInOutcome | undefined>
  /** The same as a command, to be carried out with another one, or only rehearsed. */
  command(id: string, input: CashInInput): Command<CashInOutcome | undefined>
}

/** A charge that a request made, now or when it came before. */
export interface Created {
  readonly cashIn: CashIn
  readonly isReplayed: boolean
}

/** Makes the commands of an engine. */
export function createCashInCommands(engine: Engine, clock: Clock, terms: CashInTerms): CashInCommands {
  return {
    create: async (request) => {
      try {
        const cashIn = await engine.execute({
          reads: [],
          creates: { kind: 'cash_in', externalId: request.externalId, idempotencyKey: request.idempotencyKey },
          // Only until the intent is committed: what follows has none (failure-modes#CI-11).
          request: request.live,
          decide: (_state, now) => decideCreate(request, terms, now),
        })
        return { cashIn, isReplayed: false }
      } catch (error) {
        const isTaken = error instanceof ExternalIdTaken || error instanceof IdempotencyKeyTaken
        if (!isTaken || !isCashIn(error.operation)) throw error
        if (error instanceof ExternalIdTaken) throw duplicate(error.operation, request, clock.now())
        return repeated(error.operation, request, clock.now())
      }
    },
    apply: (id, input) => engine.execute(commandOf(id, input)),
    command: commandOf,
  }
}

function commandOf(id: string, input: CashInInput): Command<CashInOutcome | undefined> {
  const credit = unverifiedCredit(id, input)
  return {
    reads: [id],
    movements: input.on === 'partner.confirmed' ? [movementOf(input.payment)] : [],
    looksAtUnverified: credit !== undefined,
    decide: (state, now) => {
      const cashIn = state.operation(id)
      if (!isCashIn(cashIn)) return { outcome: undefined }
      const decision = decideCashIn(cashIn, asTheStateTells(cashIn, input, credit, state), now)
      return credit && isBooked(credit, decision) ? { ...decision, unverifiedCredits: [credit] } : decision
    },
  }
}

/** What an input would credit on the word of an event; `undefined` where it would nothing, or is verified first. */
function unverifiedCredit(operationId: string, input: CashInInput): CountedCredit | undefined {
  if (input.on !== 'partner.confirmed' || typeof input.unverified !== 'object') return undefined
  const { endToEndId, valueCents } = input.payment
  return { operationId, endToEndId, valueCents, maxCents: input.unverified.maxCents }
}

/**
 * What of an input the state alone can tell: whether another operation has its payment, and whether that may be booked unverified. Nobody
 * else says that it may.
 */
function asTheStateTells(
  { id }: CashIn,
  input: CashInInput,
  credit: CountedCredit | undefined,
  state: State,
): CashInInput {
  if (input.on !== 'partner.confirmed') return input
  const booked = state.movement(movementOf(input.payment))
  const told = { ...input, isBookedElsewhere: booked !== undefined && booked.operationId !== id }
  if (input.unverified === undefined) return told
  const hasRoom = credit !== undefined && state.unverifiedCents() + credit.valueCents <= credit.maxCents
  return { ...told, unverified: hasRoom ? 'counted' : 'first' }
}

/** Whether a decision books the money, also where that goes to suspense: what it does not book takes nothing of the bound. */
function isBooked({ endToEndId }: UnverifiedCredit, { journals: posted = [] }: Decision<unknown>): boolean {
  return posted.some(({ kind, reference }) => {
    const { movement }: JournalTemplate = journals[kind]
    return movement === 'in' && reference === endToEndId
  })
}

/** A client whose 201 was lost finds its charge in `existing`. @source rules#external-id.2 */
function duplicate(existing: CashIn, request: CashInRequest, nowMs: number): Refusal {
  return new Refusal('duplicate_external_id', {
    fields: [{ field: 'transaction.externalId', code: 'duplicate', message: 'externalId was already used' }],
    existing: {
      id: existing.id,
      status: statusAt(existing, nowMs),
      samePayload: existing.bodyHash.equals(request.bodyHash),
    },
  })
}

/**
 * What a second request with the same key gets: the first one's 201, and nothing else is ever replayed.
 * @source rules#idempotency.2, rules#idempotency.3
 */
function repeated(cashIn: CashIn, request: CashInRequest, nowMs: number): Created {
  if (!cashIn.bodyHash.equals(request.bodyHash)) throw new Refusal('idempotency_key_reused')
  if (wasAnswered(cashIn)) return { cashIn, isReplayed: true }
  if (cashIn.status === 'FAILED') throw duplicate(cashIn, request, nowMs)
  if (nowMs < cashIn.createdAt + limits.abandonedIntentMs) throw new Refusal('request_in_progress')
  return { cashIn, isReplayed: true }
}

/** Whether the partner's word, or its silence, has already made the first request's answer. */
function wasAnswered({ facts }: CashIn): boolean {
  return facts.pixCode !== undefined || facts.payments !== undefined || (facts.questions ?? 0) > 0
}
