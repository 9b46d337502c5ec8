import { once } from 'node:events'
import { createServer } from 'node:net'
import { createLogger } from '../../src/platform/log.ts'
import { StartupError } from '../../src/platform/startup-error.ts'
import { readRole, runProcess } from '../../src/process.ts'

/** A program that leaves something open, and cannot stop one of the things that it started. As `api` it refuses to start. */
await runProcess(readRole(), {
  configure: () => undefined,
  openLog: () => createLogger('info'),
  start: async (role, _, { logger }, stops) => {
    await once(createServer().listen(0, '127.0.0.1'), 'listening')
    stops.push(async () => logger.info('the first was stopped'))
    stops.push(async () => {
      throw new Error('it sticks')
    })
    if (role === 'api') throw new StartupError('not today')
    logger.info('ready')
  },
})
