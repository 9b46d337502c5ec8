import { readConfig } from './config.ts'
import { migration } from './migration.ts'
import { createLogger } from './platform/log.ts'
import { readRole, runProcess } from './process.ts'
import { start } from './start.ts'

/** The standalone server, with an external PostgreSQL and bank. */
const role = readRole()
if (role === 'migrate') await runProcess(role, migration)
else await runProcess(role, { configure: readConfig, openLog: ({ logLevel }) => createLogger(logLevel), start })
