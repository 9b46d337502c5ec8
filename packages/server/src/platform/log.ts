import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

export type { Logger } from 'pino'

/** Fields that are never written, wherever they turn up. Bodies and headers are not logged at all. */
const SECRET_FIELDS = [
  'authorization',
  'apiKey',
  'token',
  'adminToken',
  'partnerToken',
  'secret',
  'partnerSecret',
  'encryptionKey',
  'password',
  'document',
  'payerDocument',
  'fullName',
  'name',
  'payerName',
  'payer',
  'pixKey',
  'pixCode',
  'body',
  'headers',
]

/**
 * The process's log: readable on a terminal, JSON lines elsewhere.
 * @source rules#logs.1
 */
export function createLogger(level: string, destination: NodeJS.WriteStream = process.stdout): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '***' },
    serializers: { err: harmless },
  }
  return destination.isTTY
    ? pino(options, pretty({ destination, translateTime: 'SYS:HH:MM:ss.l', sync: true }))
    : pino(options, destination)
}

/** Of an error what is known to be harmless: a driver's errors carry rows and parameters besides. */
function harmless({ name, code, message, stack }: Error & { readonly code?: unknown }) {
  return { type: name, code, message, stack }
}
