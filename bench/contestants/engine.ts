import { Refusal } from '@pixgate/spec'
import { pino } from 'pino'
import { createEngine, type Engine } from '../../packages/server/src/engine/engine.ts'
import type { Command } from '../../packages/server/src/engine/operation.ts'
import { createDatabaseClock } from '../../packages/server/src/platform/clock.ts'
import { APPLICATION_ROLE, type Database, openDatabase } from '../../packages/server/src/platform/db/database.ts'
import { createIds, type Ids } from '../../packages/server/src/platform/ids.ts'
import { realPause } from '../../packages/server/src/platform/jobs/pause.ts'
import { compete } from '../contestant.ts'
import { payout, VALUE_CENTS } from './reserve.ts'

/** An engine with the settings of the service. */
export function openEngine(url: string): { readonly engine: Engine; readonly ids: Ids; readonly database: Database } {
  const logger = pino({ level: 'warn' })
  const database = openDatabase({
    ...{ url, name: 'bench', connections: 1, logger, role: APPLICATION_ROLE },
    planCacheMode: 'force_generic_plan',
  })
  const clock = createDatabaseClock()
  const ids = createIds(clock)
  const engine = createEngine({ database, clock, ids, pause: realPause, logger })
  return { engine, ids, database }
}

/** The creation of one payout. */
export function reserve(ids: Ids): Command<void> {
  const operation = payout(ids.uuid())
  return {
    reads: [],
    creates: operation,
    decide: (state) => {
      if (state.balance('available') < VALUE_CENTS) throw new Refusal('insufficient_balance')
      return {
        creates: [{ operation }],
        journals: [
          { operationId: operation.id, kind: 'cash_out_reserved', reference: '', amounts: { v: VALUE_CENTS, f: 0n } },
        ],
        outcome: undefined,
      }
    },
  }
}

if (import.meta.main) {
  const { engine, ids } = openEngine(process.argv[2] as string)
  compete(() => engine.execute(reserve(ids)))
}
