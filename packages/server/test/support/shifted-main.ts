import { flushCompileCache } from 'node:module'
import { readConfig } from '../../src/config.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { createLogger } from '../../src/platform/log.ts'
import { start } from '../../src/start.ts'

/**
 * The service as a process whose clock is put forward by `argv[2]` milliseconds, and by as many more as it is sent: what
 * a dead process left can be taken up at once, as if its leases had been waited for.
 */
let aheadMs = Number(process.argv[2])
process.on('message', (ms) => {
  aheadMs += Number(ms)
  process.send?.('advanced')
})
const clock = createDatabaseClock()
const config = readConfig(process.env)
const surroundings = {
  clock: { ...clock, now: () => clock.now() + aheadMs },
  pause: realPause,
  random: Math.random,
  logger: createLogger(config.logLevel),
}
await start('all', config, surroundings, [])
// A process that is killed has no time to keep it for the next one.
flushCompileCache()
