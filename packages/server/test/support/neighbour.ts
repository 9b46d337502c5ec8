import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { createService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { Logger } from '../../src/platform/log.ts'
import { testPort } from './port.ts'
import { ENVIRONMENT, type World } from './world.ts'

/**
 * Another service on the database of a world, at the same time, with caches and connections of its own; without a bank.
 * @returns its address
 */
export async function neighbourOf(
  t: TestContext,
  { databaseUrl, clock }: World,
  environment: Readonly<Record<string, string>> = {},
  logger: Logger = pino({ level: 'silent' }),
): Promise<string> {
  const addresses = { DATABASE_URL: databaseUrl, PIXGATE_PARTNER_URL: 'http://127.0.0.1:9' }
  const config = readConfig({ ...ENVIRONMENT, ...addresses, ...environment })
  const service = await createService({ config, clock, pause: realPause, random: Math.random, logger })
  t.after(() => service.stop())
  const port = await testPort()
  await service.http.listen({ host: '127.0.0.1', port })
  return `http://127.0.0.1:${port}`
}
