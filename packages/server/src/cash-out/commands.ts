import { feeCents, fieldRefusal, limits, normaliseDocument, Refusal } from '@pixgate/spec'
import { ExclusiveKeyTaken } from '../engine/batch.ts'
import type { Engine } from '../engine/engine.ts'
import {
  type Command,
  type Create,
  created,
  type Decision,
  type Identity,
  mergeDecisions,
  type State,
} from '../engine/operation.ts'
import { OPERATION_COLUMNS, type OperationRow, operationsOf } from '../engine/rows.ts'
import {
  askedBy,
  keyCapsFact,
  type Leaving,
  type Limits,
  looksOf,
  type OnLimitExceeded,
  taken,
} from '../operations/caps.ts'
import type { NewOrder } from '../operations/dispatcher.ts'
import type { SendClaim } from '../operations/orders.ts'
import { type AskedBy, replayedOf } from '../operations/requests.ts'
import { createOrderStore, isEnabled } from '../operations/store.ts'
import { type Database, statement } from '../platform/db/database.ts'
import { orderId } from '../platform/ids.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import { type ApprovalInput, approvalFor } from './approval.ts'
import {
  type CashOut,
  type CashOutDetail,
  type CashOutInput,
  type CashOutOutcome,
  type CashOutRecipient,
  isCashOut,
  movementsOf,
} from './cash-out.ts'
import { decideApproval, decideCashOut } from './rules.ts'

export type CashOutCommands = ReturnType<typeof createCashOutCommands>

export interface Created extends NewOrder<CashOut> {
  readonly cashOut: CashOut
  readonly isReplayed: boolean
}

export type CreateIdentity = Pick<CashOutRequest, 'externalId' | 'idempotencyKey' | 'exclusiveKey' | 'bodyHash'>

export function createCashOutCommands(engine: Engine, terms: CashOutTerms, onLimitExceeded?: OnLimitExceeded) {
  /** The earlier payout, or the refusal. */
  function before(error: unknown, request: CreateIdentity & Pick<CashOutRequest, 'madeBy'>): CashOut {
    if (error instanceof Refusal && error.limit) onLimitExceeded?.(error.limit, request.madeBy)
    return repeated(error, request)
  }
  return {
    /**
     * Reserves value and fee, or returns the payout created under the same `Idempotency-Key`.
     * @param claim claims it in the same commit, if it may be sent
     * @throws idempotency_key_reused (422) · duplicate_external_id · pix_code_in_use (409) · as `decideCreate`
     * @source rules#cash-out.create.2
     */
    create: async (request: CashOutRequest, claim?: SendClaim): Promise<Created> => {
      try {
        const { result, cashOut } = await engine.execute({
          reads: [],
          controls: ['cash_out_switch'],
          ...looksOf(leavingOf(request), terms.limits),
          creates: identityOf(request),
          request: request.live,
          decide: (state, now) => decideCreated(request, claim, terms, state, now),
        })
        return { cashOut, isReplayed: false, claimed: result === 'APPLIED' ? cashOut : undefined }
      } catch (error) {
        return { cashOut: before(error, request), isReplayed: true, claimed: undefined }
      }
    },
    /**
     * Looks for an earlier payout and checks the request before the bank decodes its code.
     * @returns the payout created under the same `Idempotency-Key`
     * @throws idempotency_key_reused (422) · duplicate_external_id · pix_code_in_use (409) · as `assertWorthDecoding`
     */
    findRepeated: async (request: CreateIdentity & UndecodedRequest): Promise<CashOut | undefined> => {
      try {
        return await engine.execute(lookBeforeDecoding(request, terms))
      } catch (error) {
        return before(error, request)
      }
    },
    /**
     * Applies an operator's approval or refusal; `undefined` if the payout does not exist.
     * @throws as `decideApproval` · HoldersChanged
     * @source rules#cash-out.approval.3, rules#cash-out.approval.11
     */
    approve: (cashOut: CashOut, input: ApprovalInput, live: LiveRequest): Promise<CashOut | undefined> =>
      engine.execute(approvalOf(cashOut, input, terms, live)),
    apply: (id: string, inputs: readonly CashOutInput[]) => engine.execute(commandOf(id, inputs)),
    /** `apply` as a command, to be combined with others. */
    command: commandOf,
  }
}

/** @returns the outcome of the claim; `IGNORED` without one */
function decideCreated(
  request: CashOutRequest,
  claim: SendClaim | undefined,
  terms: CashOutTerms,
  state: State,
  now: number,
): Decision<CashOutOutcome> {
  const made = decideCreate(request, terms, state, now)
  return mergeDecisions(made, decideCashOut(made.outcome, claim ? [claim] : [], state, now))
}

function commandOf(id: string, inputs: readonly CashOutInput[]): Command<CashOutOutcome | undefined> {
  return {
    reads: [id],
    movements: movementsOf(inputs),
    controls: inputs.some(({ on }) => on === 'send.claimed') ? ['cash_out_switch'] : [],
    decide: (state, now) => {
      const cashOut = state.operation(id)
      return isCashOut(cashOut) ? decideCashOut(cashOut, inputs, state, now) : { outcome: undefined }
    },
  }
}

function lookBeforeDecoding(request: CreateIdentity & UndecodedRequest, terms: CashOutTerms): Command<undefined> {
  const { madeBy, caps, live } = request
  return {
    reads: [],
    controls: ['cash_out_switch'],
    ...looksOf({ pixKey: null, caller: madeBy.caller, caps }, terms.limits),
    creates: identityOf(request),
    request: live,
    decide: (state, now) => {
      assertWorthDecoding(request, terms, state, now)
      return { outcome: undefined }
    },
  }
}

function approvalOf(
  { id, detail, facts }: CashOut,
  input: ApprovalInput,
  { limits: bounds }: CashOutTerms,
  live: LiveRequest,
): Command<CashOut | undefined> {
  return {
    reads: [id],
    controls: ['cash_out_switch', 'holders'],
    ...looksOf({ pixKey: detail.recipient.pixKey, ...askedBy(facts) }, bounds),
    request: live,
    decide: (state, now) => {
      const cashOut = state.operation(id)
      if (!isCashOut(cashOut)) return { outcome: undefined }
      const decision = decideApproval(cashOut, input, bounds, state, now)
      return { ...decision, outcome: decision.outcome.cashOut }
    },
  }
}

function identityOf({ externalId, idempotencyKey, exclusiveKey }: CreateIdentity): Identity {
  return { kind: 'cash_out', externalId, idempotencyKey, exclusiveKey }
}

/**
 * The earlier payout of the same request; refuses everything else.
 * @source rules#external-id.2, rules#idempotency.2, rules#cash-out.qrcode.6
 */
function repeated(error: unknown, request: CreateIdentity): CashOut {
  if (error instanceof ExclusiveKeyTaken) {
    const { id, status } = error.operation
    throw new Refusal('pix_code_in_use', { existing: { id, status } })
  }
  return replayedOf(error, request, isCashOut, 'transaction.externalId')
}

/** A create request after validation of its shape. */
export interface CashOutRequest extends AskedBy {
  readonly id: string
  readonly valueCents: bigint
  readonly externalId: string
  readonly detail: Pick<CashOutDetail, 'description' | 'paymentType' | 'qrCode'> & {
    /** `null` if it does not match its type. */
    readonly recipient: Omit<CashOutRecipient, 'pixKey'> & { readonly pixKey: string | null }
  }
  /** A dynamic code, which only one payout at a time may pay. */
  readonly exclusiveKey: string | null
  readonly bodyHash: Buffer
}

export interface CashOutTerms {
  /** Order ids are derived from it. */
  readonly installation: string
  readonly fee: { readonly cents: bigint; readonly basisPoints: bigint }
  readonly maxValueCents: bigint
  readonly limits: Limits
  /** Payouts from this amount on need an approval; `null`: none. */
  readonly approvalFromCents: bigint | null
  readonly isUnsupported?: boolean
}

/**
 * Reserves the whole of value and fee, or stores nothing.
 * @throws not_supported_by_bank (422) · cash_out_suspended (503) · value_not_positive · value_too_large ·
 * pix_key_type_mismatch · invalid_document · limit_exceeded · receivable_outstanding · insufficient_balance (422)
 * @source rules#cash-out.create.3, rules#limits.1, rules#fees.3, rules#partner.10, failure-modes#PL-60
 */
export function decideCreate(
  request: CashOutRequest,
  terms: CashOutTerms,
  state: State,
  now: number,
): Decision<CashOut> {
  assertOpen(terms, state)
  const { valueCents } = request
  assertValue(valueCents, terms)
  const recipient = validRecipient(request.detail.recipient)
  const { fee, allowed } = affordable(leavingOf(request), terms, state, now)
  const approval = approvalFor(request, terms.approvalFromCents)
  const deadline = now + limits.unclaimedReleaseMs
  const create: Create<CashOut> = {
    operation: {
      id: request.id,
      kind: 'cash_out',
      externalId: request.externalId,
      orderId: orderId(terms.installation, { kind: 'cash_out', externalId: request.externalId }),
      status: 'RESERVED',
      valueCents,
      feeCents: fee,
      correlationId: request.correlationId,
      bodyHash: request.bodyHash,
      idempotencyKey: request.idempotencyKey,
      exclusiveKey: request.exclusiveKey,
      expiresAt: null,
      dueAt: approval ? deadline : now,
      plan: approval ? { step: 'release', changesAt: null } : { step: 'send', changesAt: deadline },
      transactionId: null,
      endToEndId: null,
      detail: { ...request.detail, recipient },
      facts: { madeBy: request.madeBy, ...keyCapsFact(request.caps), ...(approval ? { approval } : {}) },
    },
  }
  return {
    creates: [create],
    journals: [
      { operationId: request.id, kind: 'cash_out_reserved', reference: '', amounts: { v: valueCents, f: fee } },
    ],
    ...allowed,
    exact: ['receivable'],
    outcome: created(create, now),
  }
}

/** A QR-code payout before the bank has decoded the code. */
export interface UndecodedRequest extends Pick<AskedBy, 'madeBy' | 'caps' | 'live'> {
  /** By the client or the code; `null`: only the bank knows. */
  readonly valueCents: bigint | null
  readonly document: string | null
  /** @throws if the code alone rules the payment out */
  readonly assertPayable: () => void
}

/**
 * Refuses, in the order of {@link decideCreate}, a payout that no decoding could make acceptable, so it costs no bank
 * call. Reserves nothing; everything is decided again after the decoding.
 * @throws as {@link decideCreate} · pix_code_not_payable · pix_code_value_mismatch (422)
 * @source rules#cash-out.qrcode.8
 */
function assertWorthDecoding(
  { valueCents, document, assertPayable, madeBy, caps }: UndecodedRequest,
  terms: CashOutTerms,
  state: State,
  now: number,
): void {
  assertOpen(terms, state)
  assertPayable()
  if (valueCents !== null) assertValue(valueCents, terms)
  validDocument(document)
  // One centavo is the least that a code can request. The key is unknown yet.
  const leaving = { valueCents: valueCents ?? 1n, pixKey: null, caller: madeBy.caller, caps }
  affordable(leaving, terms, state, now)
}

function leavingOf({ valueCents, detail, madeBy, caps }: CashOutRequest): Leaving {
  return { valueCents, pixKey: detail.recipient.pixKey, caller: madeBy.caller, caps }
}

function assertOpen({ isUnsupported }: CashOutTerms, state: State): void {
  if (isUnsupported) throw new Refusal('not_supported_by_bank')
  if (!isEnabled(state)) throw new Refusal('cash_out_suspended')
}

/**
 * Checks caps, debts and the balance.
 * @returns the fee and the used allowances
 */
function affordable(leaving: Leaving, terms: CashOutTerms, state: State, now: number) {
  const fee = feeCents(leaving.valueCents, terms.fee)
  const allowed = taken(leaving, terms.limits, state, now)
  if (state.balance('receivable') < 0n) throw new Refusal('receivable_outstanding')
  if (state.balance('available') < leaving.valueCents + fee) throw new Refusal('insufficient_balance')
  return { fee, allowed }
}

function assertValue(valueCents: bigint, { maxValueCents }: CashOutTerms): void {
  if (valueCents <= 0n) throw fieldRefusal('value_not_positive', 'transaction.value', 'not_positive')
  if (valueCents > maxValueCents) throw fieldRefusal('value_too_large', 'transaction.value', 'too_large')
}

function validRecipient({ pixKey, document, ...rest }: CashOutRequest['detail']['recipient']): CashOutRecipient {
  if (pixKey === null) throw fieldRefusal('pix_key_type_mismatch', 'recipient.pixKey', 'pix_key_type_mismatch')
  return { ...rest, pixKey, document: validDocument(document) }
}

function validDocument(document: string | null): string | null {
  const normalised = document === null ? null : normaliseDocument(document)
  if (document !== null && normalised === null) {
    throw fieldRefusal('invalid_document', 'recipient.document', 'invalid_document')
  }
  return normalised
}

export type CashOutStore = ReturnType<typeof createCashOutStore>

// UUIDv7 ids sort by creation time.
const selectAwaiting = statement<[after: string | null, limit: number], OperationRow>(
  'cash_out.awaiting_approval',
  `SELECT ${OPERATION_COLUMNS} FROM operation
    WHERE kind = 'cash_out' AND status = 'RESERVED' AND facts ? 'approval' AND NOT facts ? 'approvedAt'
      AND ($1::uuid IS NULL OR id > $1)
    ORDER BY id LIMIT $2`,
)

export function createCashOutStore(database: Database) {
  return {
    ...createOrderStore(database, 'cash_out', isCashOut),
    /** Payouts awaiting approval after the given id, oldest first. */
    awaitingApproval: async (after: string | undefined, limit: number): Promise<CashOut[]> =>
      operationsOf(await database.rows(selectAwaiting, [after ?? null, limit]), isCashOut),
  }
}
