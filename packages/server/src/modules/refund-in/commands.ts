import { Refusal } from '@pixgate/spec'
import { type Engine, ExternalIdTaken, IdempotencyKeyTaken } from '../../engine/engine.ts'
import { sha256 } from '../../platform/crypto.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Result } from '../dispatch/index.ts'
import { cashInIn, decideCreate, decideReturn, type RefundInRequest } from './create.ts'
import { type BankReturn, movementOf, type RefundIn, type RefundInInput, type RefundInOutcome } from './refund-in.ts'
import { decideRefundIn } from './rules.ts'
import type { RefundInStore } from './store.ts'

/** One function per intention; each goes through the engine. */
export interface RefundInCommands {
  /**
   * Sets the amount aside, or finds the refund that the same `Idempotency-Key` made.
   * @throws idempotency_key_reused (422) · duplicate_external_id (409), and what `decideCreate` refuses
   * @source rules#refund-in.create.2
   */
  create(request: RefundInRequest): Promise<Created>
  /** Lets a refund take inputs, as one change; `undefined` where it does not exist. */
  apply(id: string, inputs: readonly RefundInInput[]): Promise<RefundInOutcome | undefined>
  /** Books what the bank took back of a cash-in by itself. */
  takeReturn(cashInId: string, returned: BankReturn): Promise<Result>
}

/** A refund that a request made, now or when it came before. */
export interface Created {
  readonly refund: RefundIn
  readonly isReplayed: boolean
}

/** What the commands need. */
export interface RefundInCommandsOptions {
  readonly engine: Engine
  readonly store: Pick<RefundInStore, 'get'>
  readonly ids: Ids
}

/** Makes the commands of an engine. */
export function createRefundInCommands({ engine, store, ids }: RefundInCommandsOptions): RefundInCommands {
  function takeReturn(cashInId: string, returned: BankReturn): Promise<Result> {
    const identity = { id: ids.uuid(), bodyHash: sha256(`${cashInId} ${returned.returnId}`) }
    return engine.execute<Result>({
      reads: [cashInId],
      movements: [movementOf(returned)],
      decide: (state, now) => {
        const cashIn = cashInIn(state, cashInId)
        return cashIn ? decideReturn(cashIn, returned, identity, state, now) : { outcome: 'UNEXPECTED' }
      },
    })
  }

  return {
    create: async (request) => {
      const { cashInId, externalId, idempotencyKey } = request
      try {
        const refund = await engine.execute({
          reads: cashInId === null ? [] : [cashInId],
          creates: { kind: 'refund_in', externalId, idempotencyKey },
          request: request.live,
          decide: (state, now) => decideCreate(request, state, now),
        })
        return { refund, isReplayed: false }
      } catch (error) {
        return { refund: repeated(error, request), isReplayed: true }
      }
    },
    apply: async (id, inputs) => {
      const known = await store.get(id)
      if (!known) return undefined
      const { cashInId } = known.detail
      const told = known.detail.origin === 'PARTNER' ? inputs.find(isConfirmation) : undefined
      if (told)
        return {
          result: await takeReturn(cashInId, { ...told.returned, transactionId: told.transactionId }),
          refund: known,
        }
      return engine.execute<RefundInOutcome | undefined>({
        reads: [id, cashInId],
        movements: inputs.filter(isConfirmation).map(({ returned }) => movementOf(returned)),
        decide: (state, now) => {
          const refund = state.operation(id) as RefundIn | undefined
          const cashIn = cashInIn(state, cashInId)
          return refund && cashIn ? decideRefundIn(refund, cashIn, inputs, state, now) : { outcome: undefined }
        },
      })
    },
    takeReturn,
  }
}

/** Another word about what the bank took by itself may be about another part of it: its cash-in knows. */
function isConfirmation(input: RefundInInput): input is Extract<RefundInInput, { on: 'partner.confirmed' }> {
  return input.on === 'partner.confirmed'
}

/**
 * The refund that the same request made before; everything else is refused.
 * @source rules#refund-in.create.6, rules#external-id.2, rules#idempotency.2
 */
function repeated(error: unknown, request: RefundInRequest): RefundIn {
  if (error instanceof IdempotencyKeyTaken) {
    if (!error.operation.bodyHash.equals(request.bodyHash)) throw new Refusal('idempotency_key_reused')
    return error.operation as RefundIn
  }
  if (error instanceof ExternalIdTaken) {
    const { id, status, bodyHash } = error.operation
    throw new Refusal('duplicate_external_id', {
      fields: [{ field: 'externalId', code: 'duplicate', message: 'externalId was already used' }],
      existing: { id, status, samePayload: bodyHash.equals(request.bodyHash) },
    })
  }
  throw error
}
