import { createLogger, type Logger } from '../../src/platform/log.ts'

/** A line of a log. */
export type Line = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string }

/** A real log, and what was written to it. */
export interface CapturedLog {
  readonly logger: Logger
  readonly lines: readonly Line[]
  /** Resolves with the first line whose sentence has this in it, and that has these fields, once it is written. */
  line(sentence: string, fields?: object): Promise<Line>
}

/** Captures a log, of this level and above. */
export function capturedLog(level = 'info'): CapturedLog {
  const lines: Line[] = []
  let waiting: (() => void)[] = []
  const write = (text: string) => {
    lines.push(JSON.parse(text))
    for (const look of waiting) look()
  }
  return {
    logger: createLogger(level, { write }),
    lines,
    line: (sentence, fields = {}) =>
      new Promise((resolve) => {
        const look = () => {
          const found = lines.find(({ msg, ...rest }) => msg.includes(sentence) && hasFields(rest, fields))
          if (!found) return
          waiting = waiting.filter((one) => one !== look)
          resolve(found)
        }
        waiting.push(look)
        look()
      }),
  }
}

function hasFields(line: Readonly<Record<string, unknown>>, fields: object): boolean {
  return Object.entries(fields).every(([field, value]) => line[field] === value)
}
