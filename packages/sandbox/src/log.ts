import { createLogger, type Logger } from '@pixgate/server'
import pretty from 'pino-pretty'

/**
 * The server's log, on a terminal readable for people, a line each.
 * @source rules#logs.1
 */
export function openLog(level: string, destination: NodeJS.WriteStream = process.stdout): Logger {
  if (!destination.isTTY) return createLogger(level, destination)
  return createLogger(level, pretty({ destination, translateTime: 'SYS:HH:MM:ss.l', singleLine: true, sync: true }))
}
