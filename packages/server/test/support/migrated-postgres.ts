import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../sandbox/src/postgres/embedded-postgres.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { administer } from './database.ts'
import { SHIFTED_SEARCH_PATH, shiftedClockSql } from './shifted-clock.ts'

/** Starts a PostgreSQL for one test alone, migrated, with the clock that all tests have. */
export async function migratedPostgres({ settings, ...options }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const clock = shiftedClockSql && { search_path: SHIFTED_SEARCH_PATH }
  const postgres = await startEmbeddedPostgres({ ...options, settings: { ...settings, ...clock } })
  if (shiftedClockSql) await administer(postgres.url, shiftedClockSql)
  await migrate(postgres.url, [cashIn, cashOut, refundIn, adjustment])
  return postgres
}
