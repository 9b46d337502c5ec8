import { runProcess } from '@pixgate/server'
import { readSandboxConfig } from './config.ts'
import { openLog } from './log.ts'
import { startSandbox } from './start.ts'

/**
 * What `npm start` runs: the server, with a database and a bank where none are configured. In production it brings
 * nothing and adds nothing.
 */
await runProcess({
  configure: readSandboxConfig,
  openLog: ({ given }) => openLog(given.PIXGATE_LOG_LEVEL),
  start: startSandbox,
})
