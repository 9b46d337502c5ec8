import type { Engine } from '../engine/engine.ts'
import type { Command } from '../engine/operation.ts'
import type { Match, PartnerReferences, ReportedMovement } from '../engine/operation-store.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { IsAskedFirst } from './attempts.ts'
import type { OnLimitExceeded } from './caps.ts'
import type { DispatchBounds, Dispatcher } from './dispatcher.ts'
import type { Result } from './orders.ts'

export interface OrderModule<Input, Outcome> extends Dispatcher {
  apply(id: string, input: Input): Promise<Outcome | undefined>
  /** {@link apply} as a command, to be combined with others. */
  command(id: string, input: Input): Promise<Command<OrderResult> | undefined>
  /** All orders that each set of references matches. @source rules#refund-in.told.2 */
  match(references: readonly PartnerReferences[]): Promise<Match[][]>
  /** Id at the bank; `undefined` if the order does not exist. */
  orderIdOf(id: string): Promise<string | undefined>
  hasBooked(id: string, movement: ReportedMovement): Promise<boolean>
  exists(id: string): Promise<boolean>
  /** The bank supports queries of these orders, so reported failures can be verified. */
  readonly canAsk: boolean
}

export type OrderResult = { readonly result: Result } | undefined

export interface OrderModuleOptions {
  readonly engine: Engine
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly bounds: DispatchBounds
  readonly isAskedFirst?: IsAskedFirst
  readonly onLimitExceeded?: OnLimitExceeded
  /** Called when there is something to send or query at once. */
  readonly onReserved: () => void
}
