import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { createOperatorHandlers, type OperatorHandlers } from './api.ts'
import { createOperatorCommands, createOperatorStore, type OperatorDependencies } from './commands.ts'

export type { OperatorHandlers } from './api.ts'

export interface OperatorOptions extends Pick<OperatorDependencies, 'cases' | 'operators'> {
  readonly engine: Engine
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

export function createOperatorModule(options: OperatorOptions): { readonly handlers: OperatorHandlers } {
  const store = createOperatorStore(options.database)
  return { handlers: createOperatorHandlers(createOperatorCommands({ ...options, store }), store, options) }
}
