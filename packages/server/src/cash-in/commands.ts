import { type CashInStatus, feeCents, fieldRefusal, limits, normaliseDocument, Refusal } from '@pixgate/spec'
import { ExternalIdTaken, IdempotencyKeyTaken } from '../engine/batch.ts'
import type { Engine } from '../engine/engine.ts'
import { type Command, type Create, created, type Decision, type State } from '../engine/operation.ts'
import { type Condition, createOperationStore, statusIs } from '../engine/operation-store.ts'
import { OPERATION_COLUMNS, type OperationRow, operationsOf } from '../engine/rows.ts'
import type { AskedBy } from '../operations/requests.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import { orderId } from '../platform/ids.ts'
import {
  type CashIn,
  type CashInDetail,
  type CashInInput,
  type CashInOutcome,
  isCashIn,
  movementOf,
  statusAt,
} from './cash-in.ts'
import { decideReversal, type ReversalOrder } from './decide-case.ts'
import { decideCashIn } from './rules.ts'

export type CashInCommands = ReturnType<typeof createCashInCommands>

export interface Created {
  readonly cashIn: CashIn
  readonly isReplayed: boolean
}

export function createCashInCommands(engine: Engine, clock: Clock, terms: CashInTerms) {
  return {
    /**
     * Commits the intent to create a charge, or returns the one created under the same `Idempotency-Key`.
     * @throws idempotency_key_reused (422) · request_in_progress · duplicate_external_id (409) · value_not_positive ·
     * value_too_large · invalid_document (422)
     * @source rules#cash-in.create.4
     */
    create: async (request: CashInRequest): Promise<Created> => {
      try {
        const cashIn = await engine.execute({
          reads: [],
          creates: { kind: 'cash_in', externalId: request.externalId, idempotencyKey: request.idempotencyKey },
          // The deadline applies until the intent is committed only (failure-modes#CI-11).
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
    apply: (id: string, input: CashInInput) => engine.execute(commandOf(id, input)),
    /** `apply` as a command, to be combined with others. */
    command: commandOf,
    /** Reverses a credit that the bank's statement lacks. @source rules#cash-in.cases.16 */
    reversal: (id: string, order: ReversalOrder): Command<CashIn | undefined> => ({
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

/** Only the loaded state knows whether another operation booked the payment. */
function asTheStateTells({ id }: CashIn, input: CashInInput, state: State): CashInInput {
  if (input.on !== 'partner.confirmed') return input
  const booked = state.movement(movementOf(input.payment))
  return { ...input, isBookedElsewhere: booked !== undefined && booked.operationId !== id }
}

/** Returns the existing charge in `existing`, for a client whose 201 was lost. @source rules#external-id.2 */
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

/** Replays the first request's 201, and no other answer. @source rules#idempotency.2, rules#idempotency.3 */
function repeated(cashIn: CashIn, request: CashInRequest, nowMs: number): Created {
  if (!cashIn.bodyHash.equals(request.bodyHash)) throw new Refusal('idempotency_key_reused')
  if (wasAnswered(cashIn)) return { cashIn, isReplayed: true }
  if (cashIn.status === 'FAILED') throw duplicate(cashIn, request, nowMs)
  if (nowMs < cashIn.createdAt + limits.abandonedIntentMs) throw new Refusal('request_in_progress')
  return { cashIn, isReplayed: true }
}

/** The bank's answer, or its silence, has determined the first response. */
function wasAnswered({ facts }: CashIn): boolean {
  return facts.pixCode !== undefined || facts.payments !== undefined || (facts.questions ?? 0) > 0
}

/** A create request after validation of its shape. */
export interface CashInRequest extends AskedBy {
  readonly id: string
  readonly valueCents: bigint
  readonly externalId: string
  readonly description: string | null
  readonly expirationSeconds: number
  readonly generateQrCode: boolean
  readonly payer: { readonly fullName: string; readonly document: string } | null
  readonly bodyHash: Buffer
}

export interface CashInTerms {
  /** Order ids are derived from it. */
  readonly installation: string
  readonly merchant: CashInDetail['merchant']
  readonly fee: { readonly cents: bigint; readonly basisPoints: bigint }
  readonly maxValueCents: bigint
  readonly isUnsupported?: boolean
}

/**
 * @throws not_supported_by_bank · value_not_positive · value_too_large · invalid_document (422)
 * @source rules#cash-in.create.2, rules#fees.2, rules#partner.10, failure-modes#PL-60
 */
export function decideCreate(request: CashInRequest, terms: CashInTerms, now: number): Decision<CashIn> {
  if (terms.isUnsupported) throw new Refusal('not_supported_by_bank')
  if (request.valueCents <= 0n) throw fieldRefusal('value_not_positive', 'transaction.value', 'not_positive')
  if (request.valueCents > terms.maxValueCents) {
    throw fieldRefusal('value_too_large', 'transaction.value', 'too_large')
  }
  const detail: CashInDetail = {
    description: request.description,
    generateQrCode: request.generateQrCode,
    payer: request.payer && { ...request.payer, document: validDocument(request.payer.document) },
    merchant: terms.merchant,
  }
  const fee = feeCents(request.valueCents, terms.fee)
  const create: Create<CashIn> = {
    operation: {
      id: request.id,
      kind: 'cash_in',
      externalId: request.externalId,
      orderId: orderId(terms.installation, { kind: 'cash_in', externalId: request.externalId }),
      status: 'PENDING',
      valueCents: request.valueCents,
      feeCents: fee < request.valueCents ? fee : request.valueCents,
      correlationId: request.correlationId,
      bodyHash: request.bodyHash,
      idempotencyKey: request.idempotencyKey,
      exclusiveKey: null,
      expiresAt: now + request.expirationSeconds * 1_000,
      dueAt: now + limits.abandonedIntentMs,
      transactionId: null,
      endToEndId: null,
      detail,
      facts: { madeBy: request.madeBy },
    },
  }
  return { creates: [create], outcome: created(create, now) }
}

function validDocument(text: string): string {
  const document = normaliseDocument(text)
  if (document === null) throw fieldRefusal('invalid_document', 'payer.document', 'invalid_document')
  return document
}

export type CashInStore = ReturnType<typeof createCashInStore>

const selectDue = statement<[now: string, limit: number], OperationRow>(
  'cash_in.due',
  `SELECT ${OPERATION_COLUMNS} FROM cash_in WHERE due_at <= $1 ORDER BY due_at LIMIT $2`,
)

/** Filters by the status that clients see, in which an overdue charge is `EXPIRED`. @source rules#cash-in.list.2 */
export function statusConditionAt(status: CashInStatus, nowMs: number): Condition {
  const now = instantParameter(nowMs)
  if (status === 'PENDING') {
    return { key: status, sql: (p) => `status = 'PENDING' AND expires_at >= ${p}::timestamptz`, value: now }
  }
  if (status === 'EXPIRED') {
    const sql = (p: string) => `(status = 'EXPIRED' OR (status = 'PENDING' AND expires_at < ${p}::timestamptz))`
    return { key: status, sql, value: now }
  }
  return statusIs(status)
}

export function createCashInStore(database: Database) {
  return {
    ...createOperationStore(database, 'cash_in', isCashIn),
    due: async (nowMs: number, limit: number): Promise<CashIn[]> =>
      operationsOf(await database.rows(selectDue, [instantParameter(nowMs), limit]), isCashIn),
  }
}
