import type { AccountCode } from '@pixgate/spec'
import type { Recipient, Used } from './allowance.ts'
import type { BookedMovement, ControlName, Document, MovementId, OpenCase, Operation } from './operation.ts'

/** An account as it was when the batch began. */
export interface Account {
  readonly version: bigint
  readonly balanceCents: bigint
}

/** A control as it is or will be. */
export interface Control {
  readonly version: bigint
  readonly value: Document
}

/**
 * What is known before a batch: every operation it reads that exists, every case it decides, every account, every control, for each movement
 * that it may book where it was booked, or `null`, or that it was not looked up, and what was used of the allowances and paid
 * to the keys that it names.
 */
export interface LoadedState {
  readonly operations: ReadonlyMap<string, Operation>
  /** Cases without an operation that are decided, as far as they are open. */
  readonly openCases: readonly OpenCase[]
  readonly accounts: ReadonlyMap<AccountCode, Account>
  readonly controls: ReadonlyMap<ControlName, Control>
  /** By {@link movementKey}. */
  readonly movements: ReadonlyMap<string, BookedMovement | null | typeof PRESUMED_NEW>
  /** By {@link allowanceKey}. */
  readonly allowances: ReadonlyMap<string, Used>
  /** By their Pix keys. */
  readonly recipients: ReadonlyMap<string, Recipient>
  /** What the merchant owes, by the operation that made the debt, oldest first. */
  readonly debts: ReadonlyMap<string, bigint>
}

/**
 * What was not looked up, as nearly all movements are booked nowhere when they are first told of: whoever books it finds out in
 * the statement, and what does not book it may not rest on this.
 * @source rules#engine.14
 */
export const PRESUMED_NEW = 'presumed new'

/** Names a movement among all of a batch. */
export function movementKey({ direction, id }: MovementId): string {
  return `${direction} ${id}`
}
