/** A field of a body or a parameter, as a reader is told of it. */
export interface Field {
  /** Its path: `transaction.value`, `data[].id`. */
  readonly path: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
  /** The name of its schema, where it has one. */
  readonly schemaTitle?: string
}

/** What is read of a JSON Schema. */
export interface Schema {
  readonly type?: string
  readonly format?: string
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly default?: unknown
}

/** The fields of a schema, those within others behind them. */
export function fieldsOf(schema: Schema, path = ''): readonly Field[] {
  const inner = schema.items ?? schema.anyOf?.find(({ properties }) => properties !== undefined)
  if (schema.properties === undefined) {
    return inner === undefined ? [] : fieldsOf(inner, schema.items === undefined ? path : `${path}[]`)
  }
  const { properties, required = [] } = schema
  return Object.entries(properties).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    return [fieldOf(at, field, required.includes(name)), ...fieldsOf(field, at)]
  })
}

function fieldOf(path: string, schema: Schema, isRequired: boolean): Field {
  const value = schema.default === undefined ? '' : `Default: \`${String(schema.default)}\`.`
  const { description = '' } = schema.anyOf?.find((option) => option.description !== undefined) ?? schema
  const text = [description, value].filter(Boolean).join('. ')
  return {
    path,
    type: typeOf(schema),
    isRequired,
    description: text,
    ...(schema.title && { schemaTitle: schema.title }),
  }
}

/** A type in words: `string, 1 to 140 characters`, `one of PAID, FAILED`, `integer or null`. */
function typeOf(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.enum) return `${schema.enum.length > 1 ? 'one of' : 'always'} ${schema.enum.join(', ')}`
  if (schema.const !== undefined) return `always ${String(schema.const)}`
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`
  const bounds = schema.type === 'string' ? lengthOf(schema) : rangeOf(schema)
  const { type = 'anything', format } = schema
  return [type === 'string' ? (format ?? type) : type, bounds].filter(Boolean).join(', ')
}

function lengthOf({ format, minLength = 0, maxLength }: Schema): string {
  if (format !== undefined || maxLength === undefined) return ''
  return minLength > 0 ? `${minLength} to ${maxLength} characters` : `at most ${maxLength} characters`
}

/** The bounds of a number that is no amount: those are the largest that a client can read exactly. */
function rangeOf({ minimum, maximum }: Schema): string {
  if (minimum === undefined || maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return ''
  return `${minimum} to ${maximum}`
}
