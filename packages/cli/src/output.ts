import type { Surroundings } from './command.ts'
import type { Failure } from './failure.ts'
import { EXITS } from './failure.ts'

/** Control and bidirectional characters, with which a payer's name could rewrite a terminal. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** Prints results: text and tables for people, JSON for programs. @source rules#cli.4 */
export class Output {
  readonly isJson: boolean
  readonly #surroundings: Surroundings
  readonly #hasColour: boolean
  #secrets: readonly string[] = []

  constructor(surroundings: Surroundings, isJson: boolean) {
    this.#surroundings = surroundings
    this.isJson = isJson
    this.#hasColour = surroundings.isTerminal && !surroundings.env.NO_COLOR && !isJson
  }

  /** Secrets that nothing printed from now on contains. @source rules#cli.5 */
  hide(secrets: readonly (string | undefined)[]): void {
    this.#secrets = [...this.#secrets, ...secrets.flatMap((secret) => (secret && secret.length >= 8 ? [secret] : []))]
  }

  /** A value as a document, or as lines for people. @param fields those shown to people; by default all */
  show(value: object, fields?: readonly string[]): void {
    if (this.isJson) this.#write(JSON.stringify(value, null, 2))
    else if (Array.isArray(value)) this.#table(value, fields ?? Object.keys(value[0] ?? {}))
    else this.#fields(value, fields ?? Object.keys(value))
  }

  /** An item of a stream: a line. */
  item(value: object, text: string): void {
    this.#write(this.isJson ? JSON.stringify(value) : text)
  }

  /** Prints for people; nothing with `--json`. */
  say(text: string): void {
    if (!this.isJson) this.#write(text)
  }

  /** The bytes as they are, such as a script. */
  raw(text: string): void {
    this.#write(text)
  }

  /** Progress and warnings, on standard error. */
  note(text: string): void {
    this.#surroundings.warn(`${this.#safe(text)}\n`)
  }

  fail({ message, details }: Failure): void {
    const { code, fix, command, errors, correlationId, exit } = details
    if (this.isJson) {
      const error = { code, message, fix, command, errors, correlationId, exitCode: EXITS[exit] }
      this.#surroundings.warn(`${this.#withoutSecrets(JSON.stringify({ error }))}\n`)
      return
    }
    const lines = [
      `pixgate: ${message}`,
      ...(fix ? [fix] : []),
      ...(exit === 'outcomeUnknown' ? [`The outcome is unknown. Do not repeat it under another name; find out:`] : []),
      ...(command ? [`  ${command}`] : []),
    ]
    this.note(lines.join('\n'))
  }

  #table(rows: readonly object[], fields: readonly string[]): void {
    if (rows.length === 0) {
      this.#write('none')
      return
    }
    const cells = rows.map((row) => fields.map((field) => this.#cell(field, field.split('.').reduce(within, row))))
    const heads = fields.map(headOf)
    const widths = heads.map((head, column) => Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)))
    const line = (row: readonly string[]) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd()
    this.#write([this.#dim(line(heads)), ...cells.map(line)].join('\n'))
  }

  #fields(value: object, fields: readonly string[]): void {
    const shown = fields
      .map((field) => [headOf(field), this.#cell(field, field.split('.').reduce(within, value))] as const)
      .filter(([, cell]) => cell !== '–')
    const width = Math.max(...shown.map(([head]) => head.length))
    this.#write(shown.map(([head, cell]) => `${this.#dim(head.padEnd(width))}  ${cell}`).join('\n'))
  }

  #cell(field: string, value: unknown): string {
    if (value === null || value === undefined || value === '') return '–'
    if (/cents$/i.test(field) && typeof value === 'number') return reaisOf(value)
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    return text.replaceAll(UNSAFE, escaped)
  }

  #dim(text: string): string {
    return this.#hasColour ? `\u001b[2m${text}\u001b[22m` : text
  }

  #write(text: string): void {
    this.#surroundings.write(`${this.#withoutSecrets(text)}\n`)
  }

  #safe(text: string): string {
    const parts = this.#withoutSecrets(text).split('\n')
    return parts.map((part) => part.replaceAll(UNSAFE, escaped)).join('\n')
  }

  #withoutSecrets(text: string): string {
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text)
  }
}

/** Text from outside, on one line and without control characters. */
export function safeText(text: string): string {
  return text.replaceAll(UNSAFE, escaped)
}

function escaped(letter: string): string {
  return `\\u${(letter.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}

/** `valueCents` is an amount. */
function headOf(field: string): string {
  return field.replace(/\.?_?cents$/i, '') || 'amount'
}

function within(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name]
}

/** `1234.56` */
function reaisOf(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
