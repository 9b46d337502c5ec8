import { createLogger, type Logger } from '@pixgate/server'
import { prettyFactory } from 'pino-pretty'

/**
 * The server's log, on a terminal readable for people, a line each.
 * @source rules#logs.1, rules#logs.4
 */
export function openLog(level: string, destination: NodeJS.WriteStream = process.stdout): Logger {
  if (!destination.isTTY) return createLogger(level, destination)
  const pretty = prettyFactory({
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    // Otherwise what is called an error would take a line for each of its own, as it is.
    errorLikeObjectKeys: [],
    messageFormat: (line, message) => String(line[message]).replace(CONTROL, escaped),
  })
  return createLogger(level, destination, (line) => pretty(line) ?? line)
}

/** Fields are written as JSON, which has none of these; a sentence is written as it is. */
const CONTROL = /\p{Cc}/gu

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
