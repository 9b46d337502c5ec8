import { readConfig } from './config.ts'
import { createLogger } from './platform/log.ts'
import { runProcess } from './process.ts'
import { start } from './start.ts'

/** The server alone: whoever starts it brings a PostgreSQL and a bank. */
await runProcess({ configure: readConfig, openLog: ({ logLevel }) => createLogger(logLevel), start })
