import { publishedPatterns } from '@pixgate/spec'

/** The schemas of a document that have names. */
export interface NamedSchemas {
  /** A schema as it stands in the document: where it has a title, a reference to the component of that name. */
  readonly write: (schema: unknown) => unknown
  /** Every component that was referred to, by its name. */
  readonly components: () => Readonly<Record<string, unknown>>
}

/**
 * Collects the components of a document from the titles of its schemas.
 * @throws Error where two different schemas have one title
 */
export function namedSchemas(): NamedSchemas {
  const components = new Map<string, unknown>()

  function write(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(write)
    if (typeof schema !== 'object' || schema === null) return schema
    const written = Object.fromEntries(Object.entries(published(schema)).map(([key, value]) => [key, write(value)]))
    // A field may be called so too; its value is a schema then.
    const { title, ...rest } = written
    return typeof title === 'string' ? name(title, rest) : written
  }

  function name(title: string, written: unknown): unknown {
    const known = components.get(title)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(written)) {
      throw new Error(`two schemas are called ${title}`)
    }
    components.set(title, written)
    return { $ref: `#/components/schemas/${title}` }
  }

  return {
    write,
    components: () => Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

interface JsonSchema {
  readonly enum?: unknown
  readonly type?: unknown
  readonly pattern?: unknown
}

/** Generators make a type of an enumeration only where it says what its values are, and read patterns in other languages. */
function published(schema: JsonSchema): object {
  const { enum: values, type, pattern } = schema
  const isText = Array.isArray(values) && type === undefined && values.every((value) => typeof value === 'string')
  const known = typeof pattern === 'string' ? publishedPatterns[pattern] : undefined
  return { ...(isText && { type: 'string' }), ...schema, ...(known && { pattern: known }) }
}
