import { readRole, runProcess } from '@pixgate/server'
import { readSandboxConfig } from './config.ts'
import { openLog } from './log.ts'
import { sandboxMigration } from './migration.ts'
import { startSandbox } from './start.ts'

/**
 * Entry point of `npm start`: the server, with a database and a bank if none are configured. In production it adds
 * nothing to the server.
 */
const role = readRole()
if (role === 'migrate') await runProcess(role, sandboxMigration)
else {
  await runProcess(role, {
    configure: readSandboxConfig,
    openLog: ({ given }) => openLog(given.PIXGATE_LOG_LEVEL),
    start: startSandbox,
  })
}
