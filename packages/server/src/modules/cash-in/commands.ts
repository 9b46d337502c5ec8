import { Refusal } from '@pixgate/spec'
import { type Engine, ExternalIdTaken } from '../../engine/engine.ts'
import type { Clock } from '../../platform/clock.ts'
import {
  type CashIn,
  type CashInInput,
  type CashInOutcome,
  type CashInRequest,
  type CashInTerms,
  decideCashIn,
  decideCreate,
  statusAt,
} from './rules.ts'

/** One function per intention; each goes through the engine. */
export interface CashInCommands {
  /**
   * Commits the intent to create a charge.
   * @throws duplicate_external_id (409) · value_not_positive · value_too_large · invalid_document (422)
   * @source rules#cash-in.create.4
   */
  create(request: CashInRequest): Promise<CashIn>
  /** Lets a cash-in take an input; `undefined` where it does not exist. */
  apply(id: string, input: CashInInput): Promise<CashInOutcome | undefined>
}

/** Makes the commands of an engine. */
export function createCashInCommands(engine: Engine, clock: Clock, terms: CashInTerms): CashInCommands {
  return {
    create: async (request) => {
      try {
        return await engine.execute({
          reads: [],
          creates: { kind: 'cash_in', externalId: request.externalId },
          decide: (_state, now) => decideCreate(request, terms, now),
        })
      } catch (error) {
        throw error instanceof ExternalIdTaken ? duplicate(error, request, clock.now()) : error
      }
    },
    apply: (id, input) =>
      engine.execute<CashInOutcome | undefined>({
        reads: [id],
        decide: (state, now) => {
          const cashIn = state.operation(id) as CashIn | undefined
          return cashIn ? decideCashIn(cashIn, input, now) : { outcome: undefined }
        },
      }),
  }
}

/** A client whose 201 was lost finds its charge in `existing`. @source rules#external-id.2 */
function duplicate({ operation }: ExternalIdTaken, request: CashInRequest, at: number): Refusal {
  return new Refusal('duplicate_external_id', {
    fields: [{ field: 'transaction.externalId', code: 'duplicate', message: 'externalId was already used' }],
    existing: {
      id: operation.id,
      status: statusAt(operation, at),
      samePayload: operation.bodyHash.equals(request.bodyHash),
    },
  })
}
