import { Refusal } from '@pixgate/spec'
import { ExclusiveKeyTaken } from '../engine/batch.ts'
import type { Engine } from '../engine/engine.ts'
import { type Command, type Decision, type Identity, mergeDecisions, type State } from '../engine/operation.ts'
import type { NewOrder } from '../operations/dispatcher.ts'
import type { SendClaim } from '../operations/inputs.ts'
import { askedBy, looksOf } from '../operations/limits/limits.ts'
import type { OnLimitExceeded } from '../operations/limits/report.ts'
import { replayedOf } from '../operations/replay.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import type { ApprovalInput } from './approval-input.ts'
import { type CashOut, type CashOutInput, type CashOutOutcome, isCashOut, movementsOf } from './cash-out.ts'
import {
  assertWorthDecoding,
  type CashOutRequest,
  type CashOutTerms,
  decideCreate,
  leavingOf,
  type UndecodedRequest,
} from './create.ts'
import { decideApproval, decideCashOut } from './rules.ts'

/** One function per intention; each goes through the engine. */
export interface CashOutCommands {
  /**
   * Sets value and fee aside, or finds the payout that the same `Idempotency-Key` made.
   * @param claim claims it with the same change, where it may be sent
   * @throws idempotency_key_reused (422) · duplicate_external_id · pix_code_in_use (409), and what `decideCreate` refuses
   * @source rules#cash-out.create.2
   */
  create(request: CashOutRequest, claim?: SendClaim): Promise<Created>
  /**
   * Looks up what a create would be known by, and judges what is known of it, before the bank is asked about its code.
   * @returns the payout that the same `Idempotency-Key` made
   * @throws idempotency_key_reused (422) · duplicate_external_id · pix_code_in_use (409), and what `assertWorthDecoding` refuses
   */
  findRepeated(request: CreateIdentity & UndecodedRequest): Promise<CashOut | undefined>
  /**
   * Takes what an operator says to a payout that was not sent; `undefined` where it does not exist.
   * @throws as `decideApproval` refuses · HoldersChanged
   * @source rules#cash-out.approval.3, rules#cash-out.approval.11
   */
  approve(cashOut: CashOut, input: ApprovalInput, live: LiveRequest): Promise<CashOut | undefined>
  /** Lets a cash-out take inputs, as one change; `undefined` where it does not exist. */
  apply(id: string, inputs: readonly CashOutInput[]): Promise<CashOutOutcome | undefined>
  /** The same as a command, to be carried out with another one. */
  command(id: string, inputs: readonly CashOutInput[]): Command<CashOutOutcome | undefined>
}

/** A payout that a request made, now or when it came before. */
export interface Created extends NewOrder<CashOut> {
  readonly cashOut: CashOut
  readonly isReplayed: boolean
}

/** What a create is known by. */
export type CreateIdentity = Pick<CashOutRequest, 'externalId' | 'idempotencyKey' | 'exclusiveKey' | 'bodyHash'>

/** Makes the commands of an engine. */
export function createCashOutCommands(
  engine: Engine,
  terms: CashOutTerms,
  onLimitExceeded?: OnLimitExceeded,
): CashOutCommands {
  /** The payout that was made before, by this request or another one; else the refusal. */
  function before(error: unknown, request: CreateIdentity & Pick<CashOutRequest, 'madeBy'>): CashOut {
    if (error instanceof Refusal && error.limit) onLimitExceeded?.(error.limit, request.madeBy)
    return repeated(error, request)
  }
  return {
    create: async (request, claim) => {
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
    findRepeated: async (request) => {
      try {
        await engine.execute(lookBeforeDecoding(request, terms))
        return undefined
      } catch (error) {
        return before(error, request)
      }
    },
    approve: ({ id, detail, facts }, input, live) =>
      engine.execute<CashOut | undefined>({
        reads: [id],
        controls: ['cash_out_switch', 'holders'],
        ...looksOf({ pixKey: detail.recipient.pixKey, ...askedBy(facts) }, terms.limits),
        request: live,
        decide: (state, now) => {
          const cashOut = state.operation(id)
          if (!isCashOut(cashOut)) return { outcome: undefined }
          const decision = decideApproval(cashOut, input, terms.limits, state, now)
          return { ...decision, outcome: decision.outcome.cashOut }
        },
      }),
    apply: (id, inputs) => engine.execute(commandOf(id, inputs)),
    command: commandOf,
  }
}

/** @returns what became of the claim: it is ignored where there is none */
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

/** Writes nothing. */
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

function identityOf({ externalId, idempotencyKey, exclusiveKey }: CreateIdentity): Identity {
  return { kind: 'cash_out', externalId, idempotencyKey, exclusiveKey }
}

/**
 * The payout that the same request made before; everything else is refused.
 * @source rules#external-id.2, rules#idempotency.2, rules#cash-out.qrcode.6
 */
function repeated(error: unknown, request: CreateIdentity): CashOut {
  if (error instanceof ExclusiveKeyTaken) {
    const { id, status } = error.operation
    throw new Refusal('pix_code_in_use', { existing: { id, status } })
  }
  return replayedOf(error, request, isCashOut, 'transaction.externalId')
}
