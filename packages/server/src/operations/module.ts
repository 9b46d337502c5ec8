import type { Engine } from '../engine/engine.ts'
import type { Command } from '../engine/operation.ts'
import type { Match, PartnerReferences, ReportedMovement } from '../engine/operation-store.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { IsAskedFirst } from './attempts.ts'
import type { DispatchBounds, Dispatcher } from './dispatcher.ts'
import type { OnLimitExceeded } from './limits.ts'
import type { Result } from './orders.ts'

/** What other modules may do with a kind of order. */
export interface OrderModule<Input, Outcome> extends Dispatcher {
  /** Lets an order take an input; `undefined` where it does not exist. */
  apply(id: string, input: Input): Promise<Outcome | undefined>
  /** The same as a command, to be carried out with another one; `undefined` where it does not exist. */
  command(id: string, input: Input): Promise<Command<OrderResult> | undefined>
  /** For each set of references, every one that a reference names. @source rules#refund-in.told.2 */
  match(references: readonly PartnerReferences[]): Promise<Match[][]>
  /** The id at the bank of an operation; `undefined` where it does not exist. */
  orderIdOf(id: string): Promise<string | undefined>
  /** Whether this very movement was booked on an order. */
  hasBooked(id: string, movement: ReportedMovement): Promise<boolean>
  exists(id: string): Promise<boolean>
  /** Whether the bank can be asked about an order, so that a failure need not be believed unasked. */
  readonly canAsk: boolean
}

/** What became of an input; `undefined`: there is no such operation any more. */
export type OrderResult = { readonly result: Result } | undefined

/** What the module of any kind of order needs. */
export interface OrderModuleOptions {
  readonly engine: Engine
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly bounds: DispatchBounds
  /** By default no order is. */
  readonly isAskedFirst?: IsAskedFirst
  readonly onLimitExceeded?: OnLimitExceeded
  /** Called when there is something to send, or to ask at once. */
  readonly onReserved: () => void
}
