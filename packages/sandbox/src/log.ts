import { createLogger, type Logger } from '@pixgate/server'
import { prettyFactory } from 'pino-pretty'

/**
 * The server's log. On a terminal it is formatted for people, one line per entry.
 * @source rules#logs.1, rules#logs.4
 */
export function openLog(level: string, destination: NodeJS.WriteStream = process.stdout): Logger {
  if (!destination.isTTY) return createLogger(level, destination)
  const pretty = prettyFactory({
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    // Otherwise each field of an error-like object gets its own line, unescaped.
    errorLikeObjectKeys: [],
    messageFormat: (line, message) => String(line[message]).replace(CONTROL, escaped),
  })
  return createLogger(level, destination, (line) => pretty(line) ?? line)
}

/** Control characters to escape in the message. JSON already escapes those in the fields. */
const CONTROL = /\p{Cc}/gu

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
