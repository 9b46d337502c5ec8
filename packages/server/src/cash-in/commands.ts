import { limits, Refusal } from '@pixgate/spec'
import { ExternalIdTaken, IdempotencyKeyTaken } from '../engine/batch.ts'
import type { Engine } from '../engine/engine.ts'
import type { Command, State } from '../engine/operation.ts'
import type { Clock } from '../platform/clock.ts'
import { type CashIn, type CashInInput, type CashInOutcome, isCashIn, movementOf, statusAt } from './cash-in.ts'
import { type CashInRequest, type CashInTerms, decideCreate } from './create.ts'
import { decideReversal, type ReversalOrder } from './decide-case.ts'
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
  /** The same as a command, to be carried out with another one. */
  command(id: string, input: CashInInput): Command<CashInOutcome | undefined>
  /** What takes back its credit, which the bank does not have. */
  reversal(id: string, order: ReversalOrder): Command<CashIn | undefined>
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
    reversal: (id, order) => ({
      reads: [id],
      decide: (state, now) => {
        const cashIn = state.operation(id)
        return isCashIn(cashIn) ? decideReversal(cashIn, order, state, now) : { outcome: undefined }
      },
    }),
  }
}

function commandOf(id: string, input: CashInInput): Command<CashInOutcome | undefined> {
  return {
    reads: [id],
    movements: input.on === 'partner.confirmed' ? [movementOf(input.payment)] : [],
    decide: (state, now) => {
      const cashIn = state.operation(id)
      return isCashIn(cashIn)
        ? decideCashIn(cashIn, asTheStateTells(cashIn, input, state), now)
        : { outcome: undefined }
    },
  }
}

/** The state alone tells whether another operation has the payment. */
function asTheStateTells({ id }: CashIn, input: CashInInput, state: State): CashInInput {
  if (input.on !== 'partner.confirmed') return input
  const booked = state.movement(movementOf(input.payment))
  return { ...input, isBookedElsewhere: booked !== undefined && booked.operationId !== id }
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
