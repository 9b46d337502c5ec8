import { flushCompileCache } from 'node:module'
import { readConfig } from '../../src/config.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { createLogger } from '../../src/platform/log.ts'
import { SERVING_ROLES } from '../../src/process.ts'
import { start } from '../../src/start.ts'

/**
 * The service as a process whose clock is put forward by `argv[2]` milliseconds, and by as many more as it is sent: what
 * a dead process left can be taken up at once, as if its leases had been waited for. `argv[3]` is its role, `all` by
 * default. It does not outlive who started it.
 */
let aheadMs = Number(process.argv[2])
process.on('message', (ms) => {
  aheadMs += Number(ms)
  process.send?.('advanced')
})
process.on('disconnect', () => process.exit(1))
// The service itself has no channel that would keep it running.
process.channel?.unref()
const role = SERVING_ROLES.find((name) => name === process.argv[3]) ?? 'all'
const clock = createDatabaseClock()
const config = readConfig(process.env)
const dependencies = {
  clock: { ...clock, now: () => clock.now() + aheadMs },
  pause: realPause,
  random: Math.random,
  logger: createLogger(config.logLevel),
}
await start(role, config, dependencies, [])
// A process that is killed has no time to keep it for the next one.
flushCompileCache()
