import { type Database, statement } from '../../src/platform/db/database.ts'

const updateSwitch = statement<[value: string]>(
  'test.switch',
  `UPDATE control SET version = version + 1, value = $1::jsonb WHERE name = 'cash_out_switch'`,
)

/** What the operator's switch does. */
export async function switchPayouts(database: Database, enabled: boolean): Promise<void> {
  await database.rows(updateSwitch, [JSON.stringify({ enabled, reason: null })])
}
