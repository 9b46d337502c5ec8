import type { FieldError } from '@pixgate/spec'
import type { TSchema } from 'typebox'
import { compileValidator, refuseFaults } from './validation.ts'

/** A query as it was split: text, or several texts where a parameter was repeated. */
export type QueryText = Readonly<Record<string, string | readonly string[]>>

/** One spelling per number, within what a double holds exactly. */
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/
const BOOLEAN = /^(?:true|false)$/

/**
 * Compiles the reader of an endpoint's query. Text becomes an integer or a boolean where the schema wants one and the
 * text is its only spelling; any other text stays text, and the schema refuses it.
 * @returns a reader that throws Refusal `validation_error`, also for a repeated parameter
 * @source rules#http.7
 */
export function compileQueryReader(schema: TSchema): (query: QueryText) => unknown {
  const validate = compileValidator(schema, 'parameter')
  const { properties } = schema as { properties: Readonly<Record<string, { type?: string }>> }
  return (query) => {
    const repeated = Object.keys(query).filter((name) => typeof query[name] !== 'string')
    refuseFaults(repeated.map(repetitionOf))
    const values = Object.fromEntries(
      Object.entries(query).map(([name, text]) => [name, typedValue(String(text), properties[name]?.type)]),
    )
    refuseFaults(validate(values))
    return values
  }
}

function typedValue(text: string, type: string | undefined): string | number | boolean {
  if (type === 'integer' && INTEGER.test(text)) return Number(text)
  if (type === 'boolean' && BOOLEAN.test(text)) return text === 'true'
  return text
}

function repetitionOf(field: string): FieldError {
  return { field, code: 'duplicate', message: `${field} must be given once` }
}
